"""S13, S85: what lies on disk, and who may read it."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from indelible.backend.sqlite import SqliteBackend
from indelible.backend.sqlite.files import identity, place
from tests.crash.engine import contents, open_engine, put

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX file modes")


@pytest.fixture(autouse=True)
def _generous_umask() -> None:
    """A umask that would make everything readable by all: the library must not rely on it."""
    os.umask(0o000)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_are_for_the_owner_alone(tmp_path: Path) -> None:
    """S13: the database, its side files and the lock are 0600, folders made on the way 0700."""
    path = tmp_path / "deep" / "deeper" / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("a", "one")])
        backend.backup(str(tmp_path / "backups" / "copy.db"))
        files = {file.name: mode(file) for file in path.parent.iterdir()}
        assert files == {"store.db": 0o600, "store.db-wal": 0o600, "store.db-shm": 0o600, "store.db.lock": 0o600}
    assert mode(tmp_path / "deep") == mode(tmp_path / "deep" / "deeper") == mode(tmp_path / "backups") == 0o700
    assert {file.name: mode(file) for file in (tmp_path / "backups").iterdir()} == {"copy.db": 0o600}


def test_a_folder_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """Folders of others are theirs."""
    tmp_path.chmod(0o755)
    open_engine(tmp_path / "store.db").close()
    assert mode(tmp_path) == 0o755


def test_a_closed_store_is_one_file_and_its_lock(path: Path, backend: SqliteBackend) -> None:
    """After the last close nothing is left in side files: the database can be copied."""
    backend.append([put("a", "one")])
    backend.close()
    assert {file.name for file in path.parent.iterdir()} == {"store.db", "store.db.lock"}


def test_a_store_follows_its_file_and_not_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path means the folder at the time of opening, also for connections made later."""
    (tmp_path / "here").mkdir()
    (tmp_path / "there").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with closing(open_engine("store.db")) as backend:
        monkeypatch.chdir(tmp_path / "there")
        backend.append([put("a", "one")])
        assert set(contents(backend)) == {"a"}
    assert not list((tmp_path / "there").iterdir())


@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_the_file_it_points_to(tmp_path: Path, dangling: bool) -> None:
    """Opened through a link, the store, its side files and its lock are those of the real file, so both ways exclude each other."""
    real, link = tmp_path / "real" / "store.db", tmp_path / "link.db"
    if not dangling:
        open_engine(real).close()
    link.symlink_to(real)
    with closing(open_engine(link)) as one, closing(open_engine(real)) as other:
        one.append([put("a", "one")])
        other.append([put("b", "two")])
        assert set(contents(one)) == set(contents(other)) == {"a", "b"}
        assert None not in identity(one.path)
        assert one.verify().ok
    assert {file.name for file in tmp_path.iterdir()} == {"real", "link.db"}
    assert mode(real) == 0o600


@pytest.mark.parametrize(
    "name", ["with space.db", "50%.db", "a?b#c.db", "ünïcode-日本.db", "quote'\".db", "-dash.db", "file:x.db", "\udcff.db"]
)
def test_any_name_is_just_a_name(tmp_path: Path, name: str) -> None:
    """Names that mean something in a URL or to a shell are only names, and only that file is made."""
    with closing(open_engine(os.path.join(tmp_path, name))) as backend:
        backend.append([put("a", "one")])
        assert set(contents(backend)) == {"a"}
    assert {os.fsdecode(file) for file in os.listdir(tmp_path)} == {name, name + ".lock"}


def test_a_place_is_a_machine_a_path_and_a_file(tmp_path: Path) -> None:
    """Device identity hangs on this: another path or another file at the path is another place."""
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"")
    two.write_bytes(b"")
    here = place(str(one))
    assert here == place(str(one))
    assert here != place(str(two))
    two.rename(one)
    assert here != place(str(one))
