"""Where files lie by default."""

from __future__ import annotations

import os
import re
import sys
import sysconfig

from indelible.errors import InvalidInput, StoreUnavailable
from indelible.search.arguments import shown

MEMORY_DIR_VARIABLE = "SENSE_MEMORY_DIR"
DB_PATH_VARIABLE = "MEMORY_DB_PATH"
DEFAULT_DB_PATH = "~/.memory/default.db"
_SUFFIX = ".sense_memory.db"
_FOLDER = ".sense_memory"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
_LIBRARY = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + os.sep


def check_memory_name(name: object) -> str:
    """A memory's name.

    Raises:
        InvalidInput: not a letter or underscore followed by at most 63 letters, digits, ``_`` or ``-``.
    """
    if not isinstance(name, str) or not _NAME.match(name):
        raise InvalidInput(
            f"a memory's name is a letter or underscore and then up to 63 letters, digits, '_' or '-', got {shown(name)}: "
            "it becomes a file name"
        )
    return name


def memory_path(name: str, anchor: str | None) -> str:
    """The default file of a persistent memory: the variable's folder, else beside the declaring file, else the current folder.

    Args:
        name: a checked name.
        anchor: the declaring file, if the caller said so.

    Raises:
        StoreUnavailable: the declaring file belongs to an installed package or its folder cannot be written.
    """
    folder = os.environ.get(MEMORY_DIR_VARIABLE)
    if folder:
        return os.path.join(os.path.expanduser(folder), name + _SUFFIX)
    declaring = anchor if anchor is not None else _declaring_file()
    if declaring is None:
        return os.path.abspath(name + _SUFFIX)
    beside = os.path.dirname(os.path.realpath(declaring))
    if _is_installed(beside):
        raise StoreUnavailable(
            f"{declaring} belongs to an installed package, which is no place for data: give path=, or set {MEMORY_DIR_VARIABLE} to a folder"
        )
    path = os.path.join(beside, _FOLDER, name + _SUFFIX)
    if not _can_write(os.path.dirname(path)):
        raise StoreUnavailable(f"{beside} cannot be written: give path=, or set {MEMORY_DIR_VARIABLE} to a folder that can")
    return path


def _declaring_file() -> str | None:
    """The file of the first frame outside this library, if it is a real one (a shell or notebook cell is not)."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not os.path.realpath(file).startswith(_LIBRARY):
            return file if not file.startswith("<") and os.path.isfile(file) else None
        if frame.f_back is None:
            return None
        frame = frame.f_back
    return None


def _is_installed(folder: str) -> bool:
    roots = {os.path.realpath(sysconfig.get_path(name)) for name in ("purelib", "platlib", "stdlib")}
    parts = set(folder.split(os.sep))
    return bool(parts & {"site-packages", "dist-packages"}) or any(folder == root or folder.startswith(root + os.sep) for root in roots)


def _can_write(folder: str) -> bool:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return os.access(folder, os.W_OK | os.X_OK)


def store_path() -> str:
    """The default file of a store: the variable, else one in the home folder."""
    return os.path.expanduser(os.environ.get(DB_PATH_VARIABLE) or DEFAULT_DB_PATH)
