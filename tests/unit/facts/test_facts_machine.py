"""Facts against a plain Python model: a state machine over random histories, on the file and on the reference backend.

The model is a dict of what stands and a list of what stood after each write. After every step the store and its views of two users must
say the same as the model: listing, counting, keyword search, recall by meaning, histories, and the past at a version drawn at random.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from indelible import MemoryStore, RecordNotFound
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, HashEmbedder, ReferenceBackend

WORDS = ("tea", "coffee", "kettle", "train", "paris", "green")
USERS = ("ada", "bob")
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
FULL = bool(os.environ.get("CI"))
EMBEDDER = HashEmbedder()


def cosines(query: str, texts: list[str]) -> list[float]:
    if not texts:
        return []
    rows = np.asarray(EMBEDDER.embed_documents(texts), np.float64) @ np.asarray(EMBEDDER.embed_query(query), np.float64)
    return [float(value) for value in rows]


class FactsMachine(RuleBasedStateMachine):
    """Rules are what callers do; invariants are what they then see."""

    on_file: ClassVar[bool] = True

    def __init__(self) -> None:
        super().__init__()
        self.close_after = ExitStack()
        self.clock = FakeClock()
        self.folder = Path(self.close_after.enter_context(tempfile.TemporaryDirectory()))
        self.store = self.opened()
        self.live: dict[str, tuple[str, str, int | None]] = {}  # id -> text, user, expiry in ms
        self.states: dict[str, list[str | None]] = {}  # id -> texts, None where forgotten
        self.past: list[dict[str, tuple[str, str, int | None]]] = [{}]
        self.times: list[int] = [0]

    def opened(self) -> MemoryStore:
        if self.on_file:
            return MemoryStore(self.folder / "facts.db", clock=self.clock, embedder=EMBEDDER)
        return MemoryStore(":memory:", clock=self.clock, embedder=EMBEDDER, backend=ReferenceBackend(None, TextIndexer(), clock=self.clock))

    def wrote(self) -> None:
        """A write was one event: note what stands after it."""
        self.past.append(dict(self.live))
        self.times.append(self.now)
        assert self.store.version == len(self.past) - 1

    @property
    def now(self) -> int:
        return self.clock.now_us() // 1000

    def picked(self, number: int) -> str:
        return sorted(self.states)[number % len(self.states)]

    def is_live(self, id: str) -> bool:
        return id in self.live and not self.expired(self.live[id], self.now)

    @staticmethod
    def expired(state: tuple[str, str, int | None], now: int) -> bool:
        return state[2] is not None and now >= state[2]

    # What callers do

    @rule(text=TEXTS, user=st.sampled_from(USERS), ttl_ms=st.none() | st.integers(1, 5000))
    def remember(self, text: str, user: str, ttl_ms: int | None) -> None:
        record = self.store.remember(text, user_id=user, ttl_ms=ttl_ms)
        self.live[record.id] = (text, user, None if ttl_ms is None else self.now + ttl_ms)
        self.states[record.id] = [text]
        self.wrote()

    @precondition(lambda self: self.states)
    @rule(number=st.integers(0, 99), text=TEXTS, through=st.sampled_from((None, *USERS)))
    def edit(self, number: int, text: str, through: str | None) -> None:
        id = self.picked(number)
        view: Any = self.store if through is None else self.store.scope(user_id=through)
        if self.is_live(id) and through in (None, self.live[id][1]):
            view.edit(id, content=text)
            self.live[id] = (text, *self.live[id][1:])
            self.states[id].append(text)
            self.wrote()
        else:
            with pytest.raises(RecordNotFound):
                view.edit(id, content=text)

    @precondition(lambda self: self.states)
    @rule(number=st.integers(0, 99), through=st.sampled_from((None, *USERS)))
    def forget(self, number: int, through: str | None) -> None:
        id = self.picked(number)
        view: Any = self.store if through is None else self.store.scope(user_id=through)
        known = id in self.live and through in (None, self.live[id][1])
        assert view.forget(id) is known
        if known:
            del self.live[id]
            self.states[id].append(None)
            self.wrote()

    @precondition(lambda self: self.live)
    @rule(number=st.integers(0, 99), vote=st.sampled_from(("up", "down")))
    def vote(self, number: int, vote: Any) -> None:
        id = self.picked(number)
        if self.is_live(id):
            self.store.feedback(id, vote)
            self.wrote()
        else:
            with pytest.raises(RecordNotFound):
                self.store.feedback(id, vote)

    @precondition(lambda self: self.states)
    @rule(number=st.integers(0, 99))
    def purge(self, number: int) -> None:
        id = self.picked(number)
        assert self.store.purge(id) == 1
        self.live.pop(id, None)
        del self.states[id]
        for state in self.past:
            state.pop(id, None)
        self.wrote()

    @rule(ms=st.integers(1, 4000))
    def time_passes(self, ms: int) -> None:
        self.clock.advance(ms=ms)

    @rule()
    def forget_expired(self) -> None:
        gone = [id for id, state in self.live.items() if self.expired(state, self.now)]
        assert self.store.forget_expired() == len(gone)
        for id in gone:
            self.states[id].append(None)
            del self.live[id]
        for _ in gone:  # one transaction: none of its versions shows half of it
            self.past.append(dict(self.live))
            self.times.append(self.now)
        if gone:
            for offset in range(2, len(gone) + 1):
                self.past[-offset] = dict(self.past[-len(gone) - 1])
                self.times[-offset] = self.times[-len(gone) - 1]

    @precondition(lambda self: self.on_file)
    @rule(rebuild=st.booleans())
    def reopen(self, rebuild: bool) -> None:
        self.store.close()
        self.store = self.opened()
        if rebuild:
            self.store.rebuild()

    # What they then see

    @invariant()
    def lists_and_counts(self) -> None:
        for user in USERS:
            wanted = sorted(text for text, owner, expiry in self.live.values() if owner == user and (expiry is None or self.now < expiry))
            view = self.store.scope(user_id=user)
            assert sorted(record.content for record in view.list()) == wanted
            assert view.count() == len(wanted)

    @rule(word=st.sampled_from(WORDS), user=st.sampled_from(USERS))
    def search(self, word: str, user: str) -> None:
        hits = self.store.search(word, user_id=user, limit=1000)
        wanted = {id: state[0] for id, state in self.live.items() if state[1] == user and self.is_live(id) and word in state[0].split()}
        assert {hit.id for hit in hits} == set(wanted)
        assert [hit.rank_score for hit in hits] == sorted((float(text.split().count(word)) for text in wanted.values()), reverse=True)

    @rule(query=TEXTS, user=st.sampled_from(USERS))
    def recall(self, query: str, user: str) -> None:
        hits = self.store.recall(query, user_id=user, limit=3)
        wanted = [state[0] for id, state in self.live.items() if state[1] == user and self.is_live(id)]
        best = sorted(cosines(query, wanted), reverse=True)[:3]
        assert [hit.score for hit in hits] == pytest.approx(best, abs=1e-5)
        assert all(hit.content in wanted for hit in hits)

    @rule(data=st.data())
    def look_back(self, data: st.DataObject) -> None:
        version = data.draw(st.integers(1, len(self.past) - 1)) if len(self.past) > 1 else 1
        if version >= len(self.past):
            return
        then, at = self.past[version], self.times[version]
        wanted = sorted(state[0] for state in then.values() if not self.expired(state, at))
        assert sorted(record.content for record in self.store.at(version).list()) == wanted

    @precondition(lambda self: self.states)
    @rule(number=st.integers(0, 99))
    def history(self, number: int) -> None:
        id = self.picked(number)
        changes = [change for change in self.store.history(id) if str(change.op) in ("remember", "revise", "forget")]
        assert [None if change.record is None else change.record.content for change in changes] == self.states[id]

    def teardown(self) -> None:
        report = self.store.verify()
        self.store.close()
        self.close_after.close()
        assert report.ok, report.problems


class OnReference(FactsMachine):
    """The same on the in-memory reference."""

    on_file = False


@pytest.mark.parametrize("machine", [FactsMachine, OnReference])
def test_facts_say_what_the_model_says(machine: type[FactsMachine]) -> None:
    """200 histories of 50 steps each on CI, fewer on a laptop."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=200 if FULL else 20,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
        ),
    )
