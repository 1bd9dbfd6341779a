"""A record is as large as a row may be: beyond that the caller hears what is too large, what was given and what the limit is.

The limits are made small, so that nothing here takes memory; their proportions stay.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from indelible import AsyncMemoryStore, InvalidInput, MemoryStore, Part, Put
from indelible.backend.sqlite import pragmas
from indelible.base import canonical
from indelible.testing import FakeClock, HashEmbedder, ReferenceBackend
from tests.unit.facts.stores import open_store

RECORD, ROW = 1 << 16, 1 << 17
TOO_LARGE = re.compile(r"takes? \d+ bytes.*the limit is 65536: ")
WIDE = "\ufdfa"
"""One character of three bytes that is indexed as eighteen characters of thirty-three."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canonical, "MAX_RECORD_BYTES", RECORD)
    monkeypatch.setattr("indelible.backend.sqlite.selection.MAX_RECORD_BYTES", RECORD)
    monkeypatch.setitem(pragmas._LIMITS, sqlite3.SQLITE_LIMIT_LENGTH, ROW)


@pytest.fixture(params=["sqlite", "reference"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[MemoryStore]:
    if request.param == "sqlite":
        with open_store(tmp_path / "memory.db", clock=clock) as opened:
            yield opened
    else:
        with open_store(clock=clock, backend=ReferenceBackend(clock=clock)) as opened:
            yield opened


def parts(count: int, size: int = 10_000) -> list[Part]:
    return [Part(f"p{number}", "x" * size) for number in range(count)]


WRITES: dict[str, Callable[[MemoryStore], object]] = {
    "many parts": lambda store: store.collection("notes", model="store").put("k", parts=parts(7)),
    "parts without a model": lambda store: store.collection("notes").put("k", parts=parts(7)),
    "parts and a value": lambda store: store.collection("notes").put("k", value="v" * 40_000, parts=parts(3)),
    "content and a value": lambda store: store.collection("notes").put("k", "x" * 40_000, value="v" * 40_000),
    "a batch": lambda store: store.collection("notes").batch([Put("a", "fine"), Put("k", value="v" * 70_000)]),
    "content in JSON": lambda store: store.remember("x" + "\x01" * 11_000),
    "content": lambda store: store.remember("x" * 70_000),
    "one of many": lambda store: store.remember_many(["fine", "x" * 70_000]),
    "turns": lambda store: store.remember_turns([{"role": "user", "content": "fine"}, {"role": "user", "content": "x" * 70_000}]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_too_large_is_said_and_nothing_is_written(store: MemoryStore, write: Callable[[MemoryStore], object]) -> None:
    before = store.version
    with pytest.raises(InvalidInput, match=TOO_LARGE):
        write(store)
    assert store.version == before
    assert store.remember("fine").content == "fine"
    assert store.verify().ok


def test_what_fits_is_kept(store: MemoryStore) -> None:
    """Up to the limit, to the byte; found, edited, brought back, purged."""
    notes = store.collection("notes")
    notes.put("k", value="")
    beside = len(json.dumps({"namespace": ["notes"], "key": "k", "value": ""}, separators=(",", ":"))) + 200
    notes.put("k", value="v" * (RECORD - beside))
    for size in range(RECORD - beside, RECORD):
        try:
            notes.put("k", value="v" * size)
        except InvalidInput as error:
            given = int(re.search(r"takes (\d+) bytes", str(error))[1])  # type: ignore[index]
            assert given == RECORD + 1
            break
    assert len(notes.get("k").value) == size - 1
    assert store.verify().ok
    store.rebuild()
    assert store.verify().ok


def test_a_text_may_be_longer_in_the_index(tmp_path: Path) -> None:
    with open_store(tmp_path / "memory.db") as store:
        with pytest.raises(InvalidInput, match=r"what is indexed of .* takes 9\d{4} bytes, the limit is 65536"):
            store.remember(WIDE * 3000)
        assert store.version == 0
        store.remember(WIDE * 1000)


def test_a_context_brings_the_texts_of_others(tmp_path: Path) -> None:
    """Refused where they are too much together, also when a neighbour grows later; then the neighbour stays as it was."""
    with open_store(tmp_path / "memory.db") as store:
        large = [store.remember(f"{number} " + "x" * 10_000) for number in range(7)]
        with pytest.raises(InvalidInput, match=r"context takes \d+ bytes"):
            store.remember("all of them", context=large)
        together = store.remember("six of them", context=large[:6])
        with pytest.raises(InvalidInput, match=r"context takes \d+ bytes"):
            store.edit(large[0].id, "x" * 30_000)
        assert store.get(large[0].id) == large[0]
        assert [hit.id for hit in store.search("six")] == [together.id]
        assert store.verify().ok


def test_an_import_names_the_line(tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as generous, open_store(tmp_path / "large.db", clock=clock) as store:
        generous.setattr(canonical, "MAX_RECORD_BYTES", ROW)
        store.remember("fine")
        store.remember("x" * 70_000)
        store.export(tmp_path / "export")
    with open_store(tmp_path / "small.db", clock=clock) as store:
        with pytest.raises(InvalidInput, match=r"line 3 of .*its text takes 7\d+ bytes, the limit is 65536"):
            store.import_(tmp_path / "export")
        assert store.version == 0


def test_many_long_keys_are_written_together(tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many: they are looked up in pieces. To ask for them all at once is refused."""
    monkeypatch.setattr("indelible.backend.sqlite.transaction._KEYS_TOGETHER", 30)
    keys = [f"{number:04}" + "k" * 1000 for number in range(150)]
    with open_store(tmp_path / "memory.db", clock=clock) as store:
        for cache in (False, True):
            notes: Any = store.collection("cache" if cache else "notes", cache=cache)
            if cache:
                notes.put_many({key: key for key in keys})
            else:
                notes.batch([Put(key, value=1) for key in keys])
                notes.batch([Put(key, value=2) for key in keys])
                assert notes.get(keys[0]).value == 2
                with pytest.raises(InvalidInput, match=r"150 keys take \d+ bytes as one list, the limit is 65536"):
                    notes.list(keys=keys)
                with pytest.raises(InvalidInput, match="150 keys take"):
                    notes.search("x", keys=keys)
            with pytest.raises(InvalidInput, match="150 keys take"):
                notes.get_many(keys)
            assert len(notes.get_many(keys[:50])) == 50


def test_whatever_else_sqlite_finds_too_large(tmp_path: Path, clock: FakeClock) -> None:
    """A vector: the caller's doing as well, and no reason to try again."""
    with open_store(tmp_path / "memory.db", clock=clock) as store:
        store.remember("tea", metadata={"a": "b"})
        with pytest.raises(InvalidInput, match=f"takes {canonical.MAX_ROW_BYTES} bytes in one piece and no more"):
            store.collection("notes").put("k", parts=[Part("", "", (0.5,) * 40_000)])
        assert store.list({"a": "b"})[0].content == "tea"
        assert store.verify().ok


async def test_the_async_face(tmp_path: Path) -> None:
    async with AsyncMemoryStore(tmp_path / "memory.db", embedder=HashEmbedder()) as store:
        with pytest.raises(InvalidInput, match=TOO_LARGE):
            await store.collection("notes").put("k", parts=parts(7))


def test_seventy_parts_of_a_megabyte(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the limits as they are: refused before anything is embedded or written."""
    monkeypatch.undo()
    megabyte = "x" * (1 << 20)
    with open_store() as store, pytest.raises(InvalidInput, match="takes 73400320 bytes, the limit is 67043328"):
        store.collection("notes", model=Nothing()).put("k", parts=[Part(f"p{number}", megabyte) for number in range(70)])


class Nothing(HashEmbedder):
    """Embeds nothing."""

    def embed_documents(self, texts: Any) -> Any:
        raise AssertionError("embedded")
