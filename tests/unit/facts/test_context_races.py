"""Neighbours that change while a memory is being embedded together with them: no vector outlives the text it was made from.

Embedding happens before the write lock is taken. The embedder here lets a rival write from inside ``embed_documents``, through a store of
its own on the same medium, so each interleaving happens exactly as named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from indelible import MemoryStore, ModelError, Record
from indelible.backend.interface import Selection
from indelible.base.event import Op
from indelible.base.ids import id_bytes
from indelible.base.plan import Draft
from indelible.base.standing import FOREVER
from indelible.faces.engine import TextIndexer
from indelible.testing import FakeClock, HashEmbedder, ReferenceBackend
from indelible.testing.reference_log import Medium
from tests.unit.facts.stores import open_store, other_process

Act = Callable[[], object]
Opener = Callable[[object], MemoryStore]
SECRET = "zebra questions"


class RivalEmbedder(HashEmbedder):
    """Lets somebody else act while it embeds.

    Attributes:
        acts: what happens during each of the next calls, ``None`` for nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.acts: list[Act | None] = []

    def embed_documents(self, texts: Sequence[str]) -> Any:
        act = self.acts.pop(0) if self.acts else None
        if act is not None:
            act()
        return super().embed_documents(texts)


class Race:
    """Two stores on one medium: the one under test, and the rival's."""

    def __init__(self, opener: Opener) -> None:
        self.embedder = RivalEmbedder()
        self.store = opener(self.embedder)
        self.rival = opener(HashEmbedder())
        self.first = self.store.remember(SECRET)
        self.second = self.store.remember("plain reply", context=[self.first.id, "2025-06-01"])

    def during(self, *acts: str | None) -> None:
        """What the rival does during the next calls of the embedder."""
        self.embedder.acts = [None if act is None else RIVALS[act](self) for act in acts]

    def vectors(self) -> dict[tuple[bytes, int, int, str], bytes]:
        """Every vector of every state that can be read, now or in the past."""
        backend = self.store._engine.backend
        rows = backend.select(Selection(expiry="all", every_version=True))
        return {
            (row.standing.record, row.standing.version, row.standing.live_to, vector.part): vector.data
            for row in rows
            for vector in backend.stored_vectors(row.doc)
        }

    def check(self) -> None:
        """What is stored is what making every vector anew gives."""
        assert self.embedder.acts == [], "every rival write took place"
        kept = self.vectors()
        backend = self.store._engine.backend
        backend.drop_vectors(Selection(expiry="all", every_version=True), backend.models())
        assert self.vectors() == {}
        self.store.reindex()
        made = self.vectors()
        assert {place: made.get(place) for place in kept} == kept, "no vector was made with a text that no longer is"
        missing = {place for place in set(made) - set(kept) if place[2] == FOREVER}
        assert missing == set(), "and what stands has all its vectors"
        assert self.store.verify().ok


RIVALS: dict[str, Callable[[Race], Act]] = {
    "edits": lambda race: lambda: race.rival.edit(race.first.id, content="okapi answers"),
    "edits again": lambda race: lambda: race.rival.edit(race.first.id, content="tapir answers"),
    "forgets": lambda race: lambda: race.rival.forget(race.first.id),
    "edits and dies": lambda race: (
        lambda: race.rival._engine.write_one(
            Draft(Op.REVISE, record=id_bytes(race.first.id), fields={"content": '"gnu"'}, vectors=race.rival._indexing.vectors((), "gnu"))
        )
    ),
    "restores": lambda race: lambda: race.rival.undo(race.first.id),
    "purges": lambda race: lambda: race.rival.purge(race.first.id),
    "edits the dependent": lambda race: lambda: race.rival.edit(race.second.id, metadata={"a": 1}),
}

VERBS: dict[str, Callable[[Race], object]] = {
    "remember": lambda race: race.store.remember("third", context=[race.first]),
    "remember under a key": lambda race: race.store.remember("third", key="k", context=[race.first, race.second]),
    "remember_many": lambda race: race.store.remember_many(["third", "fourth"], context=[race.first]),
    "remember_turns": lambda race: race.store.remember_turns(
        [("user", "third"), {"role": "user", "content": "x", "context": [race.first]}]
    ),
    "edit": lambda race: race.store.edit(race.second.id, content="other reply"),
    "reindex": lambda race: race.store.reindex(),
}


@pytest.fixture(params=["file", "reference"])
def race(request: pytest.FixtureRequest, path: Path, clock: FakeClock) -> Iterator[Race]:
    medium = Medium()

    def opener(embedder: object) -> MemoryStore:
        if request.param == "file":
            return open_store(path, clock=clock, embedder=embedder)
        return open_store(clock=clock, embedder=embedder, backend=ReferenceBackend(medium, TextIndexer(), clock=clock))

    found = Race(opener)
    yield found
    found.store.close()
    found.rival.close()


def near(store: MemoryStore, query: str) -> float:
    return store.recall(query)[0].score or 0.0


def parts(store: MemoryStore, record: Record) -> set[str]:
    found = store.get(record.id, with_vectors=True)
    return set(found.vectors or {}) if found is not None else set()


@pytest.mark.parametrize("act", ["edits", "forgets", "purges"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_neighbour_changes_during_a_write(race: Race, verb: str, act: str) -> None:
    """S74, S80: what was embedded with the old text is left out, and embedded again with the new."""
    race.during(act)
    VERBS[verb](race)
    race.check()


@pytest.mark.parametrize("acts", [("edits", "purges"), ("edits", "edits again", "forgets"), ("purges", None), ("forgets", "purges")])
@pytest.mark.parametrize("verb", VERBS)
def test_it_changes_again_while_that_is_made_good(race: Race, verb: str, acts: Sequence[str | None]) -> None:
    """Until nobody writes in between."""
    race.during(*acts)
    VERBS[verb](race)
    race.embedder.acts = []
    race.check()


@pytest.mark.parametrize("act", ["edits", "forgets", "purges", "edits the dependent"])
@pytest.mark.parametrize("verb", ["undo", "restore"])
def test_a_neighbour_changes_while_an_old_state_comes_back(race: Race, verb: str, act: str) -> None:
    """An old state comes back without the vectors of its context, which are made after the write."""
    race.store.edit(race.second.id, content="other reply")
    race.during(act)
    _ = race.store.undo(race.second.id) if verb == "undo" else race.store.restore(race.second.id, 2)
    race.check()


@pytest.mark.parametrize(
    "acts", [("edits again",), ("edits and dies",), ("edits and dies", "purges"), ("forgets",), ("purges",), ("edits the dependent",)]
)
@pytest.mark.parametrize("own", ["edit", "key"])
def test_a_neighbour_changes_while_its_dependents_are_embedded(race: Race, own: str, acts: Sequence[str]) -> None:
    """After a change of ours those that are indexed with it are embedded anew; somebody else changes it at that very moment."""
    if own == "key":
        race.first = race.store.remember("first", key="k")
        race.second = race.store.remember("plain reply", context=[race.first])
        race.during(None, *acts)
        race.store.remember("okapi answers", key="k")
    else:
        race.during(None, *acts)
        race.store.edit(race.first.id, content="okapi answers")
    race.check()


@pytest.mark.parametrize("act", ["restores", "purges", "edits the dependent"])
def test_what_was_forgotten_changes_while_its_dependents_are_embedded(race: Race, act: str) -> None:
    """They are embedded without it, unless it is back by then."""
    race.during(act)
    race.store.forget(race.first.id)
    race.check()


@pytest.mark.parametrize("act", ["edits", "forgets", "purges"])
def test_a_neighbour_changes_while_recall_makes_what_is_missing(race: Race, act: str) -> None:
    """The answer of that recall may lack a vector; none is wrong, and the next recall makes it."""
    backend = race.store._engine.backend
    backend.drop_vectors(Selection(expiry="all", every_version=True), backend.models())
    race.during(act)
    race.store.recall("plain reply")
    race.store.recall("plain reply")
    race.check()


@pytest.mark.parametrize("own", ["remember", "edit"])
def test_recall_makes_good_what_a_program_left_that_died(race: Race, own: str) -> None:
    """Overtaken, and then cut off before it could embed again: every later recall finds the context missing and makes it."""
    race.embedder.acts = [RIVALS["edits"](race), _die]
    with pytest.raises(ModelError):
        VERBS[own](race)
    newest = race.store.list()[-1] if own == "remember" else race.second
    assert parts(race.store, newest) == {""}
    race.store.recall("okapi")
    assert parts(race.store, newest) == {"", "context"}
    race.check()


@pytest.mark.parametrize("own", ["remember", "edit", "undo"])
def test_a_program_that_had_read_everything_makes_it_good_too(race: Race, own: str) -> None:
    """A write without its vectors raises the epoch, so that whoever keeps vectors in memory looks whether any is missing."""

    def act() -> None:
        RIVALS["edits"](race)()
        race.rival.recall("anything")

    race.embedder.acts = [act, _die]
    if own == "undo":
        race.store.edit(race.second.id, metadata={"a": 1})
        race.rival.recall("anything")
        race.embedder.acts = [_die]
    with pytest.raises(ModelError):
        _ = race.store.undo(race.second.id) if own == "undo" else VERBS[own](race)
    newest = race.store.list()[-1] if own == "remember" else race.second
    assert parts(race.rival, newest) == {""}
    race.rival.recall("anything")
    assert parts(race.rival, newest) == {"", "context"}
    race.check()


def _die() -> None:
    raise OSError


def test_the_context_itself_changes_meanwhile(race: Race) -> None:
    """A rival writes the memory anew, under its key, with another context, while it is being edited."""
    mine = race.store.remember("mine", key="k", context=[race.first])
    race.embedder.acts = [lambda: race.rival.remember("mine", key="k", context=["2024-02-29"])]
    race.store.edit(mine.id, content="still mine")
    race.check()
    other = race.store.remember("other", key="o")
    race.embedder.acts = [lambda: race.rival.remember("other", key="o", context=[race.first])]
    race.store.edit(other.id, content="still other")
    assert parts(race.store, other) == {"", "context"}
    race.check()


def test_a_memory_that_is_its_own_neighbour(race: Race) -> None:
    """It lends itself the text that it has, not the one that it had."""
    mine = race.store.remember("mine", key="k")
    race.store.remember("mine again", key="k", context=[mine])
    race.store.edit(mine.id, content="mine at last")
    race.check()


def test_another_process_purges_during_the_embedding(path: Path, clock: FakeClock) -> None:
    """The purge is acknowledged before the write; nothing of its text is in the file's vectors afterwards."""
    embedder = RivalEmbedder()
    with open_store(path, clock=clock, embedder=embedder) as store:
        first = store.remember(SECRET)
        embedder.acts = [lambda: other_process(path, f'assert store.purge("{first.id}") == 1')]
        second = store.remember("plain reply", context=[first])
        found = store.get(second.id, with_vectors=True)
        assert found is not None
        assert set(found.vectors or {}) == {""}
        assert near(store, "plain reply") == pytest.approx(1.0, abs=1e-5)
        assert near(store, SECRET) < 0.5
