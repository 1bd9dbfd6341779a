"""S83: a machine that has run out of something: space, file sizes, descriptors."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from indelible import MemoryStore, StorageFull
from tests.crash.children import Say, run
from tests.crash.trouble import answers, error_of, write

pytestmark = pytest.mark.usefixtures("_can_fork")


@pytest.fixture
def small_disk(open_folder: Path) -> Iterator[Path]:
    """A file system of 2 MiB. Where none may be mounted, the test of file size limits below has to do."""
    place = open_folder / "disk"
    place.mkdir()
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if not _succeeds([*prefix, "mount", "-t", "tmpfs", "-o", f"size=2m,uid={os.geteuid()}", "tmpfs", str(place)]):
        pytest.skip("needs the right to mount a tmpfs: run as root or with sudo")
    try:
        yield place
    finally:
        assert _succeeds([*prefix, "umount", str(place)])


def _succeeds(command: list[str]) -> bool:
    return shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0


def fill_up(folder: Path) -> Path:
    """Take all the space there is."""
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


def test_a_full_disk_is_named_and_survived(small_disk: Path) -> None:
    """S83: StorageFull, the old data can be read, nothing half-written; with space the same object goes on. Other processes too."""
    path = small_disk / "store.db"
    with MemoryStore(path) as store:
        memory = store.memory()
        memory.remember("kept", "as it was")
        ballast = fill_up(small_disk)
        for verb in (
            lambda: memory.remember("big", "x" * 300_000),
            lambda: store.collection("notes").put("big", "y" * 300_000),
            lambda: store.backup(small_disk / "copy.db"),
            lambda: store.export(small_disk / "log.jsonl"),
        ):
            with pytest.raises(StorageFull, match="space"):
                verb()
        assert memory.recall("kept") == "as it was"
        assert memory.recall("big") is None
        assert store.version == 1
        run(lambda say: say(error_of(lambda: write(path, "store"))))
        ballast.unlink()
        memory.remember("after", 1)
        assert memory.keys() == ["kept", "after"] or memory.keys() == ["kept", "new", "after"]
        assert store.verify().ok
    assert not list(small_disk.glob("copy*")) + list(small_disk.glob("log*")), "no half copy and no half export stays"
    answers(path)


def test_a_disk_that_is_full_from_the_start(small_disk: Path) -> None:
    """S83: a store that cannot even be made says why, and can be made later."""
    ballast = fill_up(small_disk)
    path = small_disk / "store.db"
    with pytest.raises(StorageFull, match="space"):
        MemoryStore(path)
    ballast.unlink()
    write(path, "store")


def test_a_limit_on_file_sizes_is_survived(filled: Path) -> None:
    """S83: writes beyond what the system lets a file grow to are refused and leave nothing."""

    def work(say: Say) -> None:
        with MemoryStore(filled) as store:
            memory = store.memory()
            resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
            say(error_of(lambda: memory.remember("big", "x" * 500_000)))
            say(str(memory.recall("big")))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            memory.remember("after", 1)

    [[error, found]] = run(work)
    assert error in ("StorageFull", "StoreUnavailable False")
    assert found == "None"
    answers(filled)


def test_running_out_of_descriptors_is_survived(filled: Path) -> None:
    """A process that may open no more files gets an error of ours from opening, reading and writing, and goes on when it may."""

    def work(say: Say) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        store = MemoryStore(filled)
        lowest = os.dup(0)
        os.close(lowest)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest, hard))
        for verb in (
            lambda: MemoryStore(filled),
            lambda: store.memory().remember("new", 1),
            lambda: store.backup(filled.parent / "copy.db"),
        ):
            say(error_of(verb))
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        store.memory().remember("after", 1)
        store.close()

    [said] = run(work)
    assert set(said) <= {"StoreUnavailable False", "StoreUnavailable True", "no error"}
    assert "StoreUnavailable False" in said
    answers(filled)
