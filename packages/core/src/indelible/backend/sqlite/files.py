"""The database file and its neighbours on disk.

Nothing here opens the database, ``-wal`` or ``-shm`` for reading or writing: on POSIX, closing such a handle would drop the locks
that SQLite holds in this process, and acknowledged writes of others could be lost. Only ``stat`` and exclusive creation are used.
"""

from __future__ import annotations

import os
import platform
from hashlib import sha256

from indelible.errors import StoreUnavailable

SIDE_FILES = ("", "-wal", "-shm")
_MACHINE_ID = "/etc/machine-id"

Identity = tuple[tuple[int, int] | None, ...]


def create_file(path: str) -> bool:
    """Create an empty file with mode 0600, and missing parents with 0700.

    Returns:
        Whether it was created now.

    Raises:
        StoreUnavailable: the folder cannot be made or written, or the path is a folder.
    """
    if os.path.isdir(path):
        raise StoreUnavailable(f"{path} is a folder: give the path of a file in it")
    try:
        _create_parents(os.path.dirname(path) or ".")
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreUnavailable(f"cannot create {path}: {error.strerror}; give a path in a folder that can be written") from error
    # Nobody else can have it open yet, so closing this handle drops no lock.
    os.close(handle)
    return True


def _create_parents(folder: str) -> None:
    missing = []
    while folder and not os.path.isdir(folder):
        missing.append(folder)
        folder = os.path.dirname(folder)
    for path in reversed(missing):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            if not os.path.isdir(path):
                raise


def identity(path: str) -> Identity:
    """Which files stand under the database's name and its side files' names now."""
    found: list[tuple[int, int] | None] = []
    for suffix in SIDE_FILES:
        try:
            status = os.stat(path + suffix)
        except OSError:
            found.append(None)
        else:
            found.append((status.st_dev, status.st_ino))
    return tuple(found)


def place(path: str) -> str:
    """A fingerprint of where a file lies: machine, path and inode.

    A copy or a restored backup has another one, and must not go on under the device identity it carries.
    """
    status = os.stat(path)
    text = f"{_machine()}\n{os.path.realpath(path)}\n{status.st_ino}"
    return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _machine() -> str:
    try:
        with open(_MACHINE_ID, encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        return platform.node()


def sync_folder(path: str) -> None:
    """Make a rename in a folder survive a power cut."""
    if os.name == "nt":
        return
    handle = os.open(path or ".", os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
