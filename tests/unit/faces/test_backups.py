"""``backup`` and ``restore_backup`` (line 87 of the semantics): consistent, verified, and a device of their own."""

from __future__ import annotations

import shutil
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from indelible import (
    IndelibleError,
    IntegrityFailure,
    InvalidInput,
    MemoryStore,
    Op,
    SchemaMismatch,
    StoreUnavailable,
    UnsupportedOperation,
)
from indelible.testing import FakeClock, HashEmbedder


@pytest.fixture
def made(store: MemoryStore, tmp_path: Path) -> Path:
    """A backup of a store with a little history."""
    tea = store.remember("Ada likes green tea", user_id="ada")
    store.edit(tea.id, "Ada likes black tea")
    store.memory().remember("color", "blue")
    store.backup(tmp_path / "made.db")
    return tmp_path / "made.db"


def restored(backup: Path, path: Path | None, clock: FakeClock) -> MemoryStore:
    return MemoryStore.restore_backup(backup, path, embedder=HashEmbedder(), clock=clock)


def test_a_backup_is_a_verified_copy(store: MemoryStore, tmp_path: Path, clock: FakeClock) -> None:
    """S87: the report is about the copy; log and answers of what is restored from it are equal."""
    store.remember("Ada likes tea")
    report = store.backup(tmp_path / "backup.db")
    assert (report.ok, report.events, report.heads) == (True, 1, store.verify().heads)
    with restored(tmp_path / "backup.db", tmp_path / "again.db", clock) as again:
        assert list(again.iter_events()) == list(store.iter_events())
        assert again.recall("tea") == store.recall("tea")
        assert (again.path, again.verify().ok) == (str(tmp_path / "again.db"), True)


def test_a_backup_is_one_private_file(store: MemoryStore, folder: Path) -> None:
    """Missing folders are made; mode 0600; nothing else is left, and it can be read where nothing can be written."""
    store.remember("fact")
    store.backup(folder / "deep" / "er" / "backup.db")
    (found,) = (folder / "deep" / "er").iterdir()
    assert stat.S_IMODE(found.stat().st_mode) == 0o600
    with closing(sqlite3.connect(f"file:{found}?mode=ro&immutable=1", uri=True)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        assert connection.execute("SELECT count(*) FROM event").fetchone() == (1,)


def test_a_store_in_memory_can_be_backed_up(tmp_path: Path, clock: FakeClock) -> None:
    """That is how it is kept after all."""
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as store:
        store.remember("fact")
        assert store.backup(tmp_path / "backup.db").events == 1
    with restored(tmp_path / "backup.db", tmp_path / "again.db", clock) as again:
        assert [record.content for record in again.list()] == ["fact"]


def test_a_restored_store_is_another_device(store: MemoryStore, made: Path, tmp_path: Path, clock: FakeClock) -> None:
    """S87: before its first write it says so, and goes on from where the other had got to."""
    with restored(made, tmp_path / "again.db", clock) as again:
        assert again.version == store.version == 3
        again.remember("new")
        old, new = store.verify().heads, again.verify().heads
        assert set(old) < set(new)
        added = list(again.iter_events(after=3))
        assert [event.op for event in added] == [Op.DEVICE, Op.REMEMBER]
        assert {event.device for event in added} != {event.device for event in store.iter_events()}
        again.remember("newer")
        assert [event.op for event in again.iter_events()].count(Op.DEVICE) == 1


def test_a_backup_that_is_opened_or_copied_is_another_device_too(store: MemoryStore, made: Path, tmp_path: Path, clock: FakeClock) -> None:
    """S87: whoever goes around ``restore_backup`` does not go on under the identity of the original."""
    shutil.copy(made, tmp_path / "copied.db")
    own = {event.device for event in store.iter_events()}
    devices = []
    for path in (made, tmp_path / "copied.db"):
        with MemoryStore(path, embedder=HashEmbedder(), clock=clock) as opened:
            opened.remember("new")
            devices.append({event.device for event in opened.iter_events()} - own)
            assert opened.verify().ok
    assert [len(found) for found in devices] == [1, 1]
    assert devices[0] != devices[1]


def test_a_backup_while_others_write(store: MemoryStore, tmp_path: Path, clock: FakeClock) -> None:
    """S87: a moment of the log without a hole, and writers go on."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            store.remember_many([f"fact {number}", f"pair {number}"])
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        reports = [store.backup(tmp_path / f"{number}.db") for number in range(3)]
    finally:
        stop.set()
        writer.join()
    assert all(report.ok and report.events % 2 == 0 for report in reports)
    assert [report.events for report in reports] == sorted(report.events for report in reports)
    assert store.verify().ok


def a_file(path: Path) -> None:
    path.write_text("mine", encoding="utf-8")


def a_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


@pytest.mark.parametrize("make", [a_file, a_dangling_link, Path.mkdir])
@pytest.mark.parametrize("suffix", ["", ".partial"])
def test_nothing_is_overwritten(
    store: MemoryStore, made: Path, tmp_path: Path, clock: FakeClock, make: Callable[[Path], None], suffix: str
) -> None:
    """InvalidInput for a backup or a restore to a name that is taken, also by a copy that was cut off."""
    (tmp_path / "taken").mkdir()
    taken = tmp_path / "taken" / f"x.db{suffix}"
    make(taken)
    for copy in (lambda: store.backup(tmp_path / "taken" / "x.db"), lambda: restored(made, tmp_path / "taken" / "x.db", clock)):
        with pytest.raises((InvalidInput, StoreUnavailable)) as raised:
            copy()
        assert str(taken) in str(raised.value)
    assert [file.name for file in (tmp_path / "taken").iterdir()] == [taken.name]


def damaged(path: Path) -> None:
    """Somebody rewrote a text, and the triggers that forbid it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DROP TRIGGER payload_is_never_updated")
        connection.execute("UPDATE payload SET body = replace(body, 'black', 'white')")


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-4096])


def of_a_newer_release(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")


def no_database(path: Path) -> None:
    path.write_text("Dear diary,\n" * 1000, encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "kind"),
    [
        (damaged, IntegrityFailure),
        (cut_off, IntegrityFailure),
        (of_a_newer_release, SchemaMismatch),
        (no_database, SchemaMismatch),
        (Path.unlink, StoreUnavailable),
    ],
)
def test_a_backup_that_is_not_whole_is_not_restored(
    made: Path, folder: Path, tmp_path: Path, clock: FakeClock, damage: Callable[[Path], None], kind: type[IndelibleError]
) -> None:
    """S87: verified first; nothing is left where the store should have been, and the backup stays as it is."""
    damage(made)
    before = made.read_bytes() if made.exists() else None
    with pytest.raises(kind):
        restored(made, tmp_path / "new" / "again.db", clock)
    assert not (tmp_path / "new").exists() or list((tmp_path / "new").iterdir()) == []
    assert (made.read_bytes() if made.exists() else None) == before


def test_a_backup_is_not_changed_by_a_restore(made: Path, tmp_path: Path, clock: FakeClock) -> None:
    """One backup serves any number of times."""
    before = made.read_bytes()
    for number in range(2):
        with restored(made, tmp_path / f"{number}.db", clock) as again:
            again.remember("new")
    assert made.read_bytes() == before
    assert not made.with_name("made.db-wal").exists()


def test_a_backup_is_restored_to_a_file(made: Path, tmp_path: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not to memory; without a path to where the store would be by default."""
    with pytest.raises(UnsupportedOperation, match="give a path"):
        restored(made, Path(":memory:"), clock)
    monkeypatch.setenv("MEMORY_DB_PATH", str(tmp_path / "default.db"))
    with restored(made, None, clock) as again:
        assert again.path == str(tmp_path / "default.db")
        assert again.memory().recall("color") == "blue"
