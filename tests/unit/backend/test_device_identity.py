"""S87: a copied, restored or moved file goes on under a device identity of its own, and says from where."""

from __future__ import annotations

import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from indelible import MemoryStore
from indelible.backend.sqlite import SqliteBackend
from indelible.base.event import Event, Op
from indelible.errors import IntegrityFailure, InvalidInput
from tests.crash.engine import NOTES, contents, open_engine, put


def filled(path: Path, *keys: str) -> None:
    with closing(open_engine(path)) as backend:
        for key in keys:
            backend.append([put(key, key)])


def device_events(events: list[Event]) -> list[Event]:
    return [event for event in events if event.op is Op.DEVICE]


def test_a_store_keeps_its_device(path: Path) -> None:
    """Reopening in place is no reason for another identity."""
    filled(path, "a")
    filled(path, "b")
    with closing(open_engine(path)) as backend:
        events = backend.events()
    assert len({event.device for event in events}) == 1
    assert [event.seq for event in events] == [1, 2]


@pytest.mark.parametrize("how", ["copied", "moved", "backed up", "restored"])
def test_a_file_in_another_place_takes_a_new_device_when_it_writes(path: Path, tmp_path: Path, how: str) -> None:
    """S87: the first write of a copy is preceded, in the same transaction, by a device event that names the chain it goes on from."""
    filled(path, "a", "b")
    there = tmp_path / "there.db"
    if how == "copied":
        shutil.copy(path, there)
    elif how == "moved":
        path.rename(there)
    else:
        copy = there if how == "backed up" else tmp_path / "backup.db"
        with closing(open_engine(path)) as backend:
            backend.backup(str(copy))
        if how == "restored":
            MemoryStore.restore_backup(copy, there).close()
    with closing(open_engine(there)) as backend:
        old = backend.events()[-1]
        assert not device_events(backend.events()), "reading changes nothing"
        backend.append([put("c", "c")])
        backend.append([put("d", "d")])
        *_, device, first, second = backend.events()
        assert device.op is Op.DEVICE
        assert device.device == first.device == second.device == device.record != old.device
        assert device.txn == first.txn == first.version
        assert [event.seq for event in (device, first, second)] == [1, 2, 3]
        assert device.payload is not None
        assert json.loads(device.payload.body) == {"device": old.device.hex(), "seq": old.seq, "hash": old.hash.hex()}
        assert backend.verify().ok
        assert set(contents(backend)) == {"a", "b", "c", "d"}


def test_a_copy_that_is_refused_says_nothing(path: Path, tmp_path: Path) -> None:
    """A write that changes nothing leaves no device event; the next one that does, has it."""
    filled(path, "a")
    there = tmp_path / "there.db"
    shutil.copy(path, there)
    with closing(open_engine(there)) as backend:
        with pytest.raises(Exception, match="expected version 9"):
            backend.append([put("a", "x", expected_version=9)])
        assert len(backend.events()) == 1
    with closing(open_engine(there)) as backend:
        backend.append([put("b", "b")])
        assert len(device_events(backend.events())) == 1


def test_two_copies_and_their_origin_merge(path: Path, tmp_path: Path) -> None:
    """S87: copy a store, write to all, import each into each: nothing refused, nothing lost, equal current state."""
    filled(path, "a")
    places = [path, tmp_path / "one.db", tmp_path / "two.db"]
    for there in places[1:]:
        shutil.copy(path, there)
    for number, there in enumerate(places):
        filled(there, f"own-{number}", "shared")
    logs = []
    for there in places:
        with closing(open_engine(there)) as backend:
            logs.append(backend.events())
    states = []
    for there in places:
        with closing(open_engine(there)) as backend:
            for log in logs:
                backend.ingest(log)
            assert backend.verify().ok
            states.append(contents(backend))
    assert states[0] == states[1] == states[2]
    assert set(states[0]) == {"a", "own-0", "own-1", "own-2", "shared"}


@pytest.mark.parametrize("side_files", ["left", "removed"])
def test_a_copy_laid_over_an_open_store_is_another_device(path: Path, tmp_path: Path, side_files: str) -> None:
    """An older copy put in place of the file while the store is open must not go on numbering as if it were the newer one."""
    with closing(open_engine(path)) as backend:
        backend.append([put("a", "a")])
        backend.backup(str(tmp_path / "old.db"))
        backend.append([put("b", "b")])
        said = {(event.device, event.seq): event.hash for event in backend.events()}
        (tmp_path / "old.db").rename(path)
        if side_files == "removed":
            for suffix in ("-wal", "-shm"):
                Path(f"{path}{suffix}").unlink()
        with pytest.raises(IntegrityFailure, match="replaced"):
            backend.append([put("c", "c")])
        backend.append([put("d", "d")])
        assert backend.verify().ok
        after = {(event.device, event.seq): event.hash for event in backend.events()}
        assert all(after[number] == said[number] for number in after.keys() & said.keys()), "one number, two events"
        assert [event.op for event in backend.events()[-2:]] == [Op.DEVICE, Op.REMEMBER]


def test_a_backup_overwrites_nothing(path: Path, tmp_path: Path, backend: SqliteBackend) -> None:
    """A name that is taken, also by a folder or a dangling link, is refused and left alone."""
    backend.append([put("a", "a")])
    file, folder, link = tmp_path / "file", tmp_path / "folder", tmp_path / "link"
    file.write_text("mine")
    folder.mkdir()
    link.symlink_to(tmp_path / "nowhere")
    for target in (file, folder, link, path):
        with pytest.raises(InvalidInput, match="exists"):
            backend.backup(str(target))
    assert file.read_text() == "mine"
    assert backend.verify().ok


def test_a_backup_is_whole_while_others_write(path: Path, tmp_path: Path, backend: SqliteBackend) -> None:
    """The copy is one snapshot: it verifies, and holds what was there when it was made."""
    for number in range(5):
        backend.append([put(f"k{number}", "x")])
        report = backend.backup(str(tmp_path / f"copy-{number}.db"))
        assert report.ok
        assert report.events == number + 1
    assert sorted(file.name for file in tmp_path.glob("copy*")) == [f"copy-{number}.db" for number in range(5)]
    with closing(open_engine(tmp_path / "copy-2.db")) as copy:
        assert set(contents(copy, namespace=NOTES)) == {"k0", "k1", "k2"}


def test_a_broken_store_is_not_backed_up(path: Path, tmp_path: Path, backend: SqliteBackend) -> None:
    """A copy that does not verify is not given out as a backup."""
    backend.append([put("a", "a")])
    with backend._connections.write() as connection:
        connection.execute("UPDATE state SET key = 'z'")
    with pytest.raises(IntegrityFailure, match="does not verify"):
        backend.backup(str(tmp_path / "copy.db"))
    assert not list(tmp_path.glob("copy*"))
