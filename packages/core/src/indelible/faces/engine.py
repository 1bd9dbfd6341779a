"""What every face of one store shares: its backend, clock and models."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from indelible.backend.interface import Backend
from indelible.base.canonical import check_fits
from indelible.base.clock import Clock, SystemClock, ms_from_datetime
from indelible.base.ids import IdSource, uuid7
from indelible.base.plan import Draft, Setting, Written
from indelible.base.record import Namespace
from indelible.errors import InvalidInput
from indelible.faces import document_cache, filter_cache, large_vectors, vector_cache, word_cache
from indelible.faces.arguments import When, check_whole
from indelible.faces.document_cache import DocumentCache
from indelible.faces.filter_cache import FilterCache
from indelible.faces.large_vectors import LargeVectors
from indelible.faces.vector_cache import VectorCache
from indelible.faces.word_cache import WordCache
from indelible.search.arguments import shown
from indelible.search.keyword import index_tokens, marked_stem
from indelible.search.normalise import NORMALISER_VERSION

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder

DEFAULT_TIMEOUT_S = 30.0
MAX_TIMEOUT_S = 1_000_000.0
MAX_POSITIONS = 10_000
"""So many positions in the log are remembered."""
MEMORY_PATH = ":memory:"
CACHE_VARIABLE = "MEMORY_CACHE_BYTES"
DEFAULT_CACHE_BYTES: int = sum(module.MAX_BYTES for module in (vector_cache, large_vectors, word_cache, filter_cache, document_cache))
_LONGEST_NUMBER = 18


class TextIndexer:
    """The one normaliser, as backends use it."""

    version = NORMALISER_VERSION

    def words(self, text: str) -> str:
        # Compatibility characters may stand for eighteen others, and a context may bring the texts of many records.
        check_fits("the text of a record with its parts and its context", text)
        found = index_tokens(text)
        check_fits("what is indexed of a record with its parts and its context", found)
        return found

    def stem(self, word: str) -> str:
        return marked_stem(word)


def check_sources(clock: object, new_id: object) -> Clock:
    """The clock to use; ``None`` for the machine's.

    Raises:
        InvalidInput: a clock without ``now_us``, or a source of ids that cannot be called.
    """
    if clock is None:
        clock = SystemClock()
    if not callable(getattr(clock, "now_us", None)):
        raise InvalidInput(f"clock must have a method now_us, got {type(clock).__name__}")
    if not callable(new_id):
        raise InvalidInput(f"new_id must be a function, got {type(new_id).__name__}")
    return clock  # type: ignore[return-value]  # what has the method is a clock


def checked_cache_bytes(value: object) -> int:
    """How much memory what was read may take; ``None`` for what the environment says, else the default.

    Raises:
        InvalidInput: no positive number of bytes.
    """
    if value is not None:
        return check_whole(value, "cache_bytes", least=1)
    text = os.environ.get(CACHE_VARIABLE, "").strip()
    if not text:
        return DEFAULT_CACHE_BYTES
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER and int(text)):
        raise InvalidInput(f"{CACHE_VARIABLE} must be a number of bytes above 0, got {shown(text)}")
    return int(text)


def open_backend(path: str, clock: Clock, new_id: IdSource = uuid7, timeout_s: float = DEFAULT_TIMEOUT_S) -> Backend:
    """Open the embedded backend at a path."""
    from indelible.backend.sqlite import SqliteBackend

    return SqliteBackend(path, TextIndexer(), clock=clock, new_id=new_id, timeout_s=timeout_s)


class Engine:
    """A backend with its clock and, once needed, its embedder.

    Args:
        backend: the log.
        clock: wall time; must be the backend's own.
        embedder: as the store was given it.
        new_id: makes the ids of records that are named before they are written.
        cache_bytes: what was read of slices takes about so many bytes at most, all kinds together.
    """

    def __init__(
        self,
        backend: Backend,
        clock: Clock | None = None,
        embedder: object = None,
        new_id: IdSource = uuid7,
        cache_bytes: int = DEFAULT_CACHE_BYTES,
    ) -> None:
        self.backend = backend
        self.new_id = new_id
        self.clock = clock or SystemClock()
        self._embedder_given = embedder
        self._embedder: Embedder | None = None
        self._positions: dict[int, tuple[int, int]] = {}
        self.settled: dict[tuple[Namespace, tuple[str, int]], Setting] = {}
        """What was seen in the settings when a namespace was held to a vector space, by where they are kept."""
        self._lock = threading.RLock()
        self.cache_bytes = cache_bytes
        self.vector_cache = VectorCache(backend, self._share(vector_cache.MAX_BYTES))
        self.large_vectors = LargeVectors(backend, self._share(large_vectors.MAX_BYTES))
        self.word_cache = WordCache(backend, self._share(word_cache.MAX_BYTES))
        self.filter_cache = FilterCache(backend, self._share(filter_cache.MAX_BYTES))
        self.document_cache = DocumentCache(backend, self._share(document_cache.MAX_BYTES))

    def _share(self, of_default: int) -> int:
        return of_default * self.cache_bytes // DEFAULT_CACHE_BYTES

    @property
    def embedder_is_default(self) -> bool:
        """Whether nobody chose the model; then memories may be written before it is installed."""
        return self._embedder_given is None

    def now_ms(self) -> int:
        return self.clock.now_us() // 1000

    def write(self, *drafts: Draft) -> list[Written]:
        return self.backend.append(drafts)

    def write_one(self, draft: Draft) -> Written:
        return self.backend.append([draft])[0]

    def embedder(self) -> Embedder:
        """The store's model, resolved on first use."""
        with self._lock:
            if self._embedder is None:
                from indelible.embed import resolve_embedder

                self._embedder = resolve_embedder(self._embedder_given)
            return self._embedder

    def use_embedder(self, embedder: Embedder) -> None:
        """Go on with another model."""
        with self._lock:
            self._embedder_given = self._embedder = embedder

    def position(self, when: When | None) -> tuple[int | None, int]:
        """The version to read at (``None`` for now) and the time at which expiry is judged there."""
        if when is None:
            return None, self.now_ms()
        if isinstance(when, int):
            known = self._positions.get(when)
            if known is None:
                if when > self.backend.mark().version:
                    return None, self.now_ms()
                mark = self.backend.position(version=when)
                if len(self._positions) >= MAX_POSITIONS:
                    self._positions.clear()
                # The log only grows: what transaction a version lies in stays so.
                known = self._positions[when] = mark.version, mark.recorded_at
            return known
        at_ms = ms_from_datetime(when, "as_of")
        return self.backend.position(at_ms=at_ms).version, at_ms
