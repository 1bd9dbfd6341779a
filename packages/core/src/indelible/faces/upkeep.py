"""Health, advice, backups and space: the verbs on the file rather than on memories."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from indelible._version import __version__
from indelible.backend.interface import Report, Vacuumed
from indelible.base.clock import Clock, SystemClock
from indelible.errors import UnsupportedOperation
from indelible.faces.arguments import check_path
from indelible.faces.engine import MEMORY_PATH, Engine, TextIndexer
from indelible.faces.location import store_path

SAFE_ENGINES = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""SQLite releases without the WAL-reset bug: this one and later, or later within the same minor release."""
LARGE_WAL = 64 << 20


@dataclass(frozen=True, slots=True)
class Health:
    """Numbers about a store; no content.

    Attributes:
        ok: it can be read.
        path, version: the file and its newest version.
        live, expired, forgotten, purged: records by how they stand.
        bytes: size on disk, write-ahead log included.
        vectors: how many, by model.
        settings: what was set in the environment.
    """

    ok: bool
    path: str
    version: int
    live: int
    expired: int
    forgotten: int
    purged: int
    bytes: int
    vectors: dict[str, int]
    settings: dict[str, str]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What ``doctor`` sees.

    Attributes:
        release, python, engine: of this library, the interpreter and SQLite.
        pragmas: SQLite's settings, read back.
        risks: what is not as it should be, each with advice; empty is good.
    """

    release: str
    python: str
    engine: str
    pragmas: dict[str, Any] = field(default_factory=dict)
    risks: tuple[str, ...] = ()


class Upkeep:
    """Verbs of a store on its file."""

    _engine: Engine
    _path: str

    def health(self) -> Health:
        """Whether the store answers, and its numbers."""
        found = self._engine.backend.statistics()
        settings = {name: value for name, value in sorted(os.environ.items()) if name.startswith("MEMORY_")}
        names = ("version", "live", "expired", "forgotten", "purged", "bytes", "vectors")
        return Health(ok=True, path=self._path, settings=settings, **{name: found[name] for name in names})

    def doctor(self) -> Diagnosis:
        """Engine, settings, risks and what to do about them."""
        found = self._engine.backend.statistics()
        risks = [*_engine_risks(), *_file_risks(self._path)]
        return Diagnosis(__version__, platform.python_version(), str(found["engine"]), dict(found["pragmas"]), tuple(risks))

    def vacuum(self) -> Vacuumed:
        """Checkpoint, and give free space back to the system. Never changes an answer, a version or a history."""
        return self._engine.backend.vacuum()

    def backup(self, path: str | os.PathLike[str]) -> Report:
        """Copy the store, consistently and while others use it, to a new file, and verify the copy.

        The copy is marked: opened as a store it takes a device identity of its own before it writes.

        Raises:
            InvalidInput: the file exists.
            IntegrityFailure: the copy does not verify.
        """
        return self._engine.backend.backup(check_path(path))


def restore_backup(backup: str | os.PathLike[str], path: str | os.PathLike[str] | None, clock: Clock | None) -> str:
    """Make a store of a backup under a path where nothing stands, verified.

    Returns:
        The path.
    """
    from indelible.backend.sqlite.backend import restore_file

    target = store_path() if path is None else check_path(path)
    if target == MEMORY_PATH:
        raise UnsupportedOperation("a backup is restored to a file: give a path")
    restore_file(check_path(backup), target, TextIndexer(), clock or SystemClock())
    return target


def _engine_risks() -> list[str]:
    found = sqlite3.sqlite_version_info
    newest, *older = SAFE_ENGINES
    if found >= newest or any(found[:2] == safe[:2] and found >= safe for safe in older):
        return []
    return [
        f"SQLite {sqlite3.sqlite_version} has the WAL-reset bug: a checkpoint of a program that does not take this library's writer lock "
        "may lose a commit. Programs that use this library exclude each other; do not write to the file with other tools, or upgrade SQLite"
    ]


def _file_risks(path: str) -> list[str]:
    risks: list[str] = []
    if path == MEMORY_PATH or not os.path.exists(path):
        return risks
    checks: tuple[tuple[Callable[[], bool], str], ...] = (
        (lambda: bool(stat.S_IMODE(os.stat(path).st_mode) & 0o077), f"others may read {path}: chmod 600 it"),
        (lambda: os.path.exists(path + "-wal") and os.stat(path + "-wal").st_size > LARGE_WAL, "the write-ahead log is large: a reader has "
         "been holding an old snapshot for long, or vacuum() is due"),
        (lambda: _is_synced(path), f"{path} lies in a folder that a cloud client replaces files in: move it to a local folder, and keep "
         "backups there instead"),
        (lambda: _is_remote(path), f"{path} lies on a network or shared file system, where locks and the write-ahead log are not safe: "
         "move it to a local disk"),
    )  # fmt: skip
    for check, advice in checks:
        if check():
            risks.append(advice)
    return risks


def _is_synced(path: str) -> bool:
    folders = set(os.path.realpath(path).lower().split(os.sep))
    return bool(folders & {"dropbox", "onedrive", "google drive", "icloud drive", "mobile documents"})


def _is_remote(path: str) -> bool:
    remote = {"nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "vboxsf", "fuse.sshfs", "prl_fs"}
    try:
        with open("/proc/self/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split(" ") for line in file]
    except OSError:
        return False
    real = os.path.realpath(path)
    holding = [mount for mount in mounts if len(mount) > 2 and (real + os.sep).startswith(mount[1].rstrip("/") + os.sep)]
    return bool(holding) and max(holding, key=lambda mount: len(mount[1]))[2] in remote
