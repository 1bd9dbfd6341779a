"""Find the files of the bundled models, and make sure they are the ones of the manifest."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from indelible.embed.extra import needs_embed_extra
from indelible.errors import IndelibleError, IntegrityFailure, ModelNotFound

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_CHUNK = 1 << 20
_REINSTALL = 'reinstall it with: pip install --force-reinstall "indelible[embed]"'


class Bundle:
    """A folder of model files with a ``manifest.json``: the installed package ``indelible_models``, or one laid out like it."""

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = None if folder is None else Path(folder)

    def file(self, name: str) -> Path:
        """Give a file whose bytes were checked just now against the manifest.

        Raises:
            MissingExtra: ``indelible_models`` is not installed.
            ModelNotFound: the file is not there, or cannot be read or unpacked.
            IntegrityFailure: it is not the file that the manifest describes.
        """
        sha256 = self._expected(name)
        entry = self._entry(name)
        if not isinstance(entry, Path):
            return _unpacked(entry, name, sha256)
        with _using(entry):
            found = _digest(entry)
        if found != sha256:
            raise IntegrityFailure(f"{entry} is damaged: its sha256 is {found}, the manifest says {sha256}; {_REINSTALL}")
        return entry

    def _entry(self, name: str) -> Traversable:
        if self._folder is not None:
            return self._folder / name
        with needs_embed_extra("indelible-models"):
            import indelible_models
        try:
            return indelible_models.path(name)
        except OSError as error:
            raise ModelNotFound(f"the installed package indelible-models has no {name}: {_REINSTALL}") from error

    def _expected(self, name: str) -> str:
        manifest = self._entry("manifest.json")
        with _using(manifest):
            text = manifest.read_bytes()
        try:
            sha256 = json.loads(text)["files"][name]["sha256"]
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityFailure(f"{manifest} does not describe {name}; {_REINSTALL}") from error
        return str(sha256)


@contextmanager
def _using(entry: Traversable) -> Iterator[None]:
    """Around work on a file: what goes wrong becomes an error of ours."""
    try:
        yield
    except IndelibleError:  # one of ours may also be an OSError
        raise
    except FileNotFoundError as error:
        raise ModelNotFound(f"there is no file {entry}: {_REINSTALL}") from error
    except OSError as error:
        raise ModelNotFound(f"{entry} cannot be read or written: {error}") from error
    except Exception as error:  # zipfile, zlib and foreign loaders each have their own
        raise IntegrityFailure(f"{entry} cannot be read out of its archive ({error}): {_REINSTALL}") from error


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unpacked(entry: Traversable, name: str, sha256: str) -> Path:
    """Copy an entry of an archive into the platform's cache, once; the copy's name holds the checksum."""
    import tempfile

    try:
        folder = cache_folder() / "models"
        target = folder / f"{sha256[:16]}-{name}"
        with suppress(FileNotFoundError):
            if _digest(target) == sha256:
                return target
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".unpacking-", dir=folder)
    except (OSError, RuntimeError) as error:  # RuntimeError: there is no home directory
        raise ModelNotFound(
            f"{name} lies in an archive and cannot be unpacked into the cache ({error}): "
            "install indelible-models as a real folder, or make the cache writable"
        ) from error
    try:
        found = _copy(entry, handle, target)
        if found != sha256:
            raise IntegrityFailure(f"{entry} is damaged: its sha256 is {found}, the manifest says {sha256}; {_REINSTALL}")
        with _using(target):
            os.replace(temporary, target)  # whole or not at all, also when two processes unpack at once
    finally:
        with suppress(OSError):
            os.unlink(temporary)
    return target


def _copy(entry: Traversable, handle: int, target: Path) -> str:
    digest = hashlib.sha256()
    with _using(target), os.fdopen(handle, "wb") as out:
        for chunk in _chunks(entry):
            digest.update(chunk)
            out.write(chunk)
    return digest.hexdigest()


def _chunks(entry: Traversable) -> Iterator[bytes]:
    with _using(entry), entry.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def cache_folder() -> Path:
    """Say where this platform keeps what a program can make again.

    ``%LOCALAPPDATA%\\indelible\\Cache`` on Windows, ``~/Library/Caches/indelible`` on macOS, elsewhere
    ``$XDG_CACHE_HOME/indelible`` with ``~/.cache`` as the default (XDG Base Directory Specification: a relative value is ignored).
    """
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "indelible" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "indelible"
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (given if given.is_absolute() else Path.home() / ".cache") / "indelible"
