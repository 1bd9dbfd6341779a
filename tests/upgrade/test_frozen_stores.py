"""A store of every release lies here, and of every schema before its first.

Each opens, verifies, says what it said when it was written, and goes on.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indelible import MemoryStore, Op, __version__
from indelible.backend.sqlite.schema import SCHEMA_VERSION
from indelible.testing import FakeClock
from tests.upgrade.answers import answers, opened
from tests.upgrade.make_fixture import STORES, fill

RELEASES = sorted(folder.name for folder in STORES.iterdir())


@pytest.fixture(params=RELEASES)
def frozen(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a release's store, with its answers beside it."""
    release: str = request.param
    shutil.copytree(STORES / release, tmp_path / "frozen")
    return tmp_path / "frozen" / "store.db"


def written_down(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.with_name("answers.json").read_text(encoding="ascii"))
    return found


def as_json(store: MemoryStore) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(json.dumps(answers(store)))
    return found


def test_this_release_is_frozen_too() -> None:
    """Whoever raises the version freezes a store: ``python -m tests.upgrade.make_fixture``."""
    assert __version__ in RELEASES


def test_it_opens_and_verifies(frozen: Path) -> None:
    """Hashes, views and the engine's own check."""
    with opened(frozen) as store:
        report = store.verify()
    assert report.problems == ()
    assert report.events == len(written_down(frozen)["events"])


def test_it_says_what_it_said(frozen: Path) -> None:
    """Every answer, also as of every version."""
    expected = written_down(frozen)
    with opened(frozen) as store:
        found = as_json(store)
    assert found.keys() == expected.keys()
    for question, answer in expected.items():
        assert found[question] == answer, question


def test_reading_changes_nothing(frozen: Path) -> None:
    """A store that is only read says the same to the next reader, and has no event more."""
    for _ in range(2):
        with opened(frozen) as store:
            assert as_json(store) == written_down(frozen)


def test_its_views_can_be_made_anew(frozen: Path) -> None:
    """This release derives from the log what that one did."""
    with opened(frozen) as store:
        store.rebuild()
        assert store.verify().ok
        assert as_json(store) == written_down(frozen)


def test_it_takes_writes(frozen: Path) -> None:
    """The log goes on where it ended; being a copy here, under a device of its own that says so."""
    with opened(frozen) as store:
        before = store.version
        record = store.remember("a new fact about tea", user_id="ada")
        store.memory().remember("new", 2**200)
        store.collection("notes").put("a", "third")
        assert [str(event.op) for event in store.iter_events(before)] == [Op.DEVICE, Op.REMEMBER, Op.REMEMBER, Op.REVISE]
        assert record.id in [hit.id for hit in store.recall("a new fact about tea", user_id="ada")]
        assert store.memory().recall("new") == 2**200
        assert store.verify().ok
    with opened(frozen) as store:
        assert store.version == before + 4
        assert answers(store)["events"][:before] == written_down(frozen)["events"]


def test_it_survives_export_and_import(frozen: Path, tmp_path: Path) -> None:
    """S87: what it says is all in its log and vectors; only what never was memory, a cache, stays behind."""
    with opened(frozen) as store, opened(tmp_path / "new.db") as new:
        store.export(tmp_path / "log.jsonl")
        new.import_(tmp_path / "log.jsonl")
        assert new.verify().ok
        found, expected = as_json(new), written_down(frozen)
    for different in ("cache", "events", "past"):
        found.pop(different)
        expected.pop(different)
    for question in ("memory", "named memory"):
        found[question].pop("past")
        expected[question].pop("past")
    assert found == expected


def test_no_purged_word_is_in_it(frozen: Path) -> None:
    """S74: not in what is published either."""
    data = frozen.read_bytes()
    assert b"zephyrine" not in data
    assert b"quixotic" not in data


def test_its_schema_is_known(frozen: Path) -> None:
    """A release's store is never newer than the code that opens it."""
    with closing(sqlite3.connect(frozen)) as connection:
        assert 0 < connection.execute("PRAGMA user_version").fetchone()[0] <= SCHEMA_VERSION


def test_this_release_is_frozen_with_its_schema(tmp_path: Path) -> None:
    """A schema that changed after the store was frozen would go out untested: freeze it again, or raise the version."""
    shutil.copy(STORES / __version__ / "store.db", tmp_path / "frozen.db")
    opened(tmp_path / "new.db").close()
    frozen, new = (tmp_path / name for name in ("frozen.db", "new.db"))
    assert schema_of(frozen) == schema_of(new)


def schema_of(path: Path) -> set[tuple[str, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema").fetchall()
    return {(kind, name, table, " ".join(sql.split())) for kind, name, table, sql in rows}


def test_the_same_program_makes_the_same_answers(tmp_path: Path) -> None:
    """The program that made this release's store makes it again with the same answers: what is frozen is not out of date."""
    fill(tmp_path / "again.db", FakeClock())
    shutil.copy(tmp_path / "again.db", tmp_path / "copy.db")
    with opened(tmp_path / "copy.db") as store:
        found = as_json(store)
    expected = written_down(STORES / __version__ / "store.db")
    for events in (found["events"], expected["events"]):
        for event in events:
            event.pop()  # hashes hang on random devices and salts
    assert found == expected
