"""Random lives of a store, from few words, scopes and times so that they meet, and everything it can be asked. No test of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from indelible import Hit, MemoryStore, Record, where
from indelible.errors import RecordNotFound
from indelible.faces.facts_read import FactReads
from indelible.testing import FakeClock, SequentialIds
from tests.unit.facts.stores import open_store
from tests.unit.search.filter_strategies import METADATA

WORDS = ("tea", "Tea", "café", "cafe", "茶", "茶葉", "server", "running", "runs", "the", "100%")
SCOPES: tuple[dict[str, Any], ...] = (
    {"agent_id": "a", "user_id": "u"},
    {"agent_id": "a", "user_id": "u", "workspace_id": "w"},
    {"agent_id": "A", "user_id": "u"},
    {"agent_id": "a", "user_id": "%", "org_id": "o"},
)
QUERIES = ("the cafe tea", "茶葉 running")
TTL = 1000

TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)


@dataclass(frozen=True)
class Step:
    """One thing done to a store: ``pick`` says which record, ``where`` which scope, ``flag`` which of two ways."""

    op: str
    pick: int
    where: int
    text: str
    metadata: dict[str, Any]
    ttl_ms: int | None
    flag: bool


WRITES = ("remember", "remember", "keyed", "many", "edit", "edit", "forget", "undo", "restore", "vote", "withdraw", "expired", "wait")


def steps(*more: str, ops: Sequence[str] = WRITES, most: int = 14) -> st.SearchStrategy[list[Step]]:
    """Lists of steps of these kinds."""
    step = st.builds(
        Step,
        op=st.sampled_from([*ops, *more]),
        pick=st.integers(0, 7),
        where=st.integers(0, len(SCOPES) - 1),
        text=TEXTS,
        metadata=METADATA,
        ttl_ms=st.sampled_from([None, None, TTL, 3 * TTL]),
        flag=st.booleans(),
    )
    return st.lists(step, min_size=1, max_size=most)


class Life:
    """A store while steps are taken, closed at the end; steps that find nothing to act on do nothing.

    Args:
        store: by default an empty one in memory, whose ids count up.
        clock: the store's.
    """

    def __init__(self, store: MemoryStore | None = None, clock: FakeClock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.store = store or open_store(clock=self.clock, new_id=SequentialIds())
        self.made: list[str] = []

    def __enter__(self) -> Life:
        return self

    def __exit__(self, *exc: object) -> None:
        self.store.close()

    def take(self, *script: Step) -> None:
        for step in script:
            with suppress(RecordNotFound):
                getattr(self, f"_{step.op}")(step)

    def _picked(self, step: Step) -> str:
        if not self.made:
            raise RecordNotFound("nothing was made yet")
        return self.made[step.pick % len(self.made)]

    def _note(self, *records: Record) -> None:
        self.made += [record.id for record in records if record.id not in self.made]

    def _remember(self, step: Step) -> None:
        source = "left" if step.flag else "right"
        self._note(self.store.remember(step.text, metadata=step.metadata, ttl_ms=step.ttl_ms, source=source, **SCOPES[step.where]))

    def _keyed(self, step: Step) -> None:
        key = f"key-{step.pick % 2}"
        self._note(self.store.remember(step.text, metadata=step.metadata, ttl_ms=step.ttl_ms, key=key, **SCOPES[step.where]))

    def _beside(self, step: Step) -> None:
        context = [self._picked(step), self.made[step.where % len(self.made)], "2026-01-01"]
        self._note(self.store.remember(step.text, context=context, ttl_ms=step.ttl_ms, **SCOPES[step.where]))

    def _many(self, step: Step) -> None:
        self._note(
            *self.store.remember_many([step.text, {"content": step.text + " again", "metadata": step.metadata}], **SCOPES[step.where])
        )

    def _edit(self, step: Step) -> None:
        if step.flag:
            self.store.edit(self._picked(step), content=step.text)
        else:
            self.store.edit(self._picked(step), metadata=step.metadata, ttl_ms=step.ttl_ms)

    def _forget(self, step: Step) -> None:
        self.store.forget(self._picked(step))

    def _undo(self, step: Step) -> None:
        self.store.undo(self._picked(step))

    def _restore(self, step: Step) -> None:
        states = [change.version for change in self.store.history(self._picked(step)) if change.record is not None]
        if states:
            self.store.restore(self._picked(step), states[step.where % len(states)])

    def _vote(self, step: Step) -> None:
        self.store.feedback(self._picked(step), "up" if step.flag else "down")

    def _withdraw(self, step: Step) -> None:
        self.store.withdraw("left" if step.flag else "right")

    def _expired(self, step: Step) -> None:
        self.store.forget_expired()

    def _purge(self, step: Step) -> None:
        self.store.purge(self._picked(step))

    def _wait(self, step: Step) -> None:
        self.clock.advance(ms=TTL // 2 * (step.pick + 1))


def seen(found: Iterable[Hit | Record]) -> list[tuple[Any, ...]]:
    """What must be equal of answers: who, what, in which order, with which scores."""
    return [
        (item.id, item.content, item.score, round(item.rank_score, 6), item.why)
        if isinstance(item, Hit)
        else (item.id, item.version, item.content, item.metadata, item.created_at, item.updated_at, item.expires_at)
        for item in found
    ]


def answers(reads: FactReads, made: Sequence[str]) -> dict[str, Any]:
    """Everything a store or view says, by question."""
    found: dict[str, Any] = {}
    scopes: list[dict[str, Any]] = [{}, {"agent_id": "a", "user_id": "u"}]
    for query in QUERIES:
        for number, scope in enumerate(scopes):
            name = f"{query} {number}"
            found[f"recall {name}"] = seen(reads.recall(query, limit=4, **scope))
            found[f"hybrid {name}"] = seen(reads.recall(query, mode="hybrid", limit=4, feedback=True, **scope))
            found[f"search {name}"] = seen(reads.search(query, **scope))
            found[f"any {name}"] = seen(reads.search(query, match="any", recency=True, **scope))
    found["filtered"] = seen(reads.recall("tea", filters=where("a").exists(), limit=4))
    found["listed"] = seen(reads.list())
    found["backwards"] = seen(reads.list(order="updated", descending=True, include_expired=True))
    found["records"] = seen(record for record in map(reads.get, made) if record is not None)
    found["count"] = reads.count()
    return found
