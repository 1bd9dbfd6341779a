"""S81: somebody deletes, renames or replaces the database or its side files while a store has them open.

No write may be acknowledged that the files under the store's name do not have; what was acknowledged before stays; and nothing is made
up in place of what is gone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from indelible import IndelibleError, IntegrityFailure, MemoryStore, StoreUnavailable
from tests.crash.checker import damage
from tests.crash.children import Say, run
from tests.crash.engine import contents, open_engine, put

Deed = Callable[[Path], None]


def copy(file: Path, target: Path) -> None:
    """By another program: opening the file here would drop the locks of this process, and a fork would close its connections."""
    subprocess.run(["cp", str(file), str(target)], check=True)


def deleted(file: Path) -> None:
    file.unlink()


def renamed(file: Path) -> None:
    file.rename(f"{file}.old")


def replaced_by_a_copy(file: Path) -> None:
    """As a sync client does: write the new file beside it and put it in place."""
    copy(file, Path(f"{file}.new"))
    Path(f"{file}.new").rename(file)


def replaced_by_nothing(file: Path) -> None:
    Path(f"{file}.new").touch()
    Path(f"{file}.new").rename(file)


DEEDS: list[Deed] = [deleted, renamed, replaced_by_a_copy, replaced_by_nothing]


@pytest.mark.usefixtures("_can_fork")
@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_no_write_is_acknowledged_into_the_void(tmp_path: Path, suffix: str, deed: Deed) -> None:
    """S81: the first write after it is refused, whatever was done to whichever file."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])
        deed(Path(f"{path}{suffix}"))
        with pytest.raises(IntegrityFailure, match="replaced while in use"):
            backend.append([put("during", "during")])


@pytest.mark.usefixtures("_can_fork")
@pytest.mark.parametrize("deed", [deleted, renamed, replaced_by_nothing])
@pytest.mark.parametrize("suffix", ["-wal", "-shm"])
def test_side_files_may_go_without_a_loss(tmp_path: Path, suffix: str, deed: Deed) -> None:
    """S81: the refused write can be repeated through the same object, and everything acknowledged before is still there."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])
        deed(Path(f"{path}{suffix}"))
        with pytest.raises(IntegrityFailure):
            backend.append([put("during", "during")])
        backend.append([put("after", "after")])
        assert {"before", "after"} <= set(contents(backend))
    assert not damage(path, {"before", "after"})


@pytest.mark.parametrize("deed", [deleted, renamed])
def test_a_database_that_is_gone_is_not_made_up(tmp_path: Path, deed: Deed) -> None:
    """S81: while it is gone every write is an error of ours and no empty file appears in its place; once it is back, all is as before."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])
        kept = tmp_path / "kept.db"
        backend.vacuum()  # the copy below is of the one file
        copy(path, kept)
        deed(path)
        with pytest.raises(IntegrityFailure):
            backend.append([put("during", "during")])
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                backend.append([put("during", "during")])
            assert not path.exists()
        for side in ("-wal", "-shm"):
            with suppress(FileNotFoundError):
                Path(f"{path}{side}").unlink()
        kept.rename(path)
        backend.append([put("after", "after")])
        assert set(contents(backend)) == {"before", "after"}
        assert backend.verify().ok
    assert not damage(path, {"before", "after"})


def test_a_reader_is_told_too(tmp_path: Path) -> None:
    """A store that only reads gets an error of ours or the state it had; never another program's data as its own."""
    path, other = tmp_path / "store.db", tmp_path / "other.db"
    with MemoryStore(other) as store:
        store.memory().remember("foreign", 1)
    with MemoryStore(path) as store:
        store.memory().remember("mine", 1)
        assert store.memory().keys() == ["mine"]
        other.rename(path)
        with suppress(IndelibleError):
            assert store.memory().keys() == ["mine"]


@pytest.mark.usefixtures("_can_fork")
def test_the_lock_file_may_go(tmp_path: Path) -> None:
    """The lock keeps order; without it, or with two of them, SQLite's own lock still keeps writers apart."""
    path = tmp_path / "store.db"
    with closing(open_engine(path)) as backend:
        backend.append([put("before", "before")])
        Path(f"{path}.lock").unlink()

        def others(say: Say) -> None:
            with closing(open_engine(path)) as own:
                for number in range(50):
                    own.append([put(f"theirs-{number}", f"theirs-{number}")])

        def mine(say: Say) -> None:
            for number in range(50):
                backend.append([put(f"mine-{number}", f"mine-{number}")])

        run(others, mine)
        backend.append([put("after", "after")])
    assert not damage(path, {"before", "after"} | {f"{who}-{number}" for who in ("mine", "theirs") for number in range(50)})


@pytest.mark.usefixtures("_can_fork")
def test_opening_and_closing_elsewhere_is_no_replacement(tmp_path: Path) -> None:
    """Control: other processes that open, write, vacuum and close the file never trip the fence."""
    path = tmp_path / "store.db"

    def visitor(say: Say) -> None:
        for number in range(5):
            with closing(open_engine(path)) as own:
                own.append([put(f"visit-{number}", f"visit-{number}")])
                own.vacuum()

    with closing(open_engine(path)) as backend:
        for number in range(3):
            backend.append([put(f"mine-{number}", f"mine-{number}")])
            if number == 1:
                run(visitor)
    assert not damage(path, {f"mine-{number}" for number in range(3)} | {f"visit-{number}" for number in range(5)})
