"""How a collection's text becomes vectors, and which vector space it lives in."""

from __future__ import annotations

import json
import math
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from indelible.backend.interface import ContextRead, Mark, Row, Selection
from indelible.base.canonical import loads
from indelible.base.plan import CONTEXT_PART, ContextTexts, PartVector, Setting
from indelible.base.record import Namespace, Part
from indelible.errors import EmbedderMismatch, InvalidInput, MissingExtra
from indelible.faces.contexts import contexts_of, embedded_texts, has_text
from indelible.faces.engine import Engine

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder, Vectors

SPACE_SETTING = "space"
CALLER_SPACE = "caller"
"""The space of vectors that callers bring without naming a model."""
_ROUNDS = 5
"""How often a context is embedded again because somebody changed a neighbour meanwhile."""
_CHUNK = 256
_MAX_SETTLED = 1000
MAX_VECTORS = 1 << 18
"""So many vectors of one model a record may have: a backend numbers them, those of several models together, within 2^20."""
_SHORT = 200
"""Most texts fit any model's window; only longer ones need its tokenizer."""
_PACKED_TOGETHER = 1024


class Space(NamedTuple):
    """A vector space: what may be compared with what."""

    name: str
    dim: int

    def model(self, identity: str) -> str:
        """The name under which a model's vectors are kept: space, dimension, model."""
        return _model_name(self, identity)

    def models(self, engine: Engine) -> list[str]:
        """Every model here whose vectors lie in this space."""
        return [name for name in engine.backend.models() if json.loads(name)[:2] == [self.name, self.dim]]


@lru_cache(maxsize=256)
def _model_name(space: Space, identity: str) -> str:
    return json.dumps([*space, identity], separators=(",", ":"))


def _stored_text(space: Space) -> str:
    return json.dumps(list(space))


@lru_cache(maxsize=256)
def _space(stored: str) -> Space:
    return Space(*json.loads(stored))


class Indexing:
    """Makes the vectors of one collection.

    Args:
        engine: the store's.
        embedder: gives the model, loaded on first use; ``None`` for a collection without one, whose vectors, if any, its callers bring.
        optional: whether records may be written without vectors while the model's packages are not installed; recall makes them later.
        home: the namespace whose vector space is that of every one below it; without it each namespace has its own.
    """

    def __init__(
        self, engine: Engine, embedder: Callable[[], Embedder] | None, *, optional: bool = False, home: Namespace | None = None
    ) -> None:
        self._engine = engine
        self._embedder = embedder
        self._optional = optional
        self._home = home
        self._models: dict[tuple[Namespace, Space], tuple[Mark, list[str]]] = {}

    @property
    def default_mode(self) -> str | None:
        """How a search without a mode goes: by meaning where there is a model."""
        return "semantic" if self._embedder is not None else None

    def embedder(self) -> Embedder:
        """The collection's model.

        Raises:
            InvalidInput: it has none.
        """
        if self._embedder is None:
            raise InvalidInput("this collection has no model: search with mode='keyword', give vector=, or name one with model=")
        return self._embedder()

    def space(self, vector: Sequence[float] | None = None) -> Space:
        """The space in which to compare."""
        if self._embedder is not None:
            model = self._embedder()
            return Space(model.space, model.dim)
        if vector is None:
            self.embedder()
        return Space(CALLER_SPACE, len(vector or ()))

    def settle(self, namespace: Namespace, space: Space) -> None:
        """Hold a namespace to one vector space.

        Raises:
            EmbedderMismatch: it already lives in another.
        """
        if self._settled(namespace, space) is None:
            self.resettle(namespace, space)

    def _settled(self, namespace: Namespace, space: Space) -> Space | None:
        """The space of a namespace, ``None`` while it has none.

        Raises:
            EmbedderMismatch: it is another one.
        """
        stored = self._engine.backend.setting(SPACE_SETTING, namespace=namespace if self._home is None else self._home)
        if stored is None:
            return None
        there = _space(stored)
        if there != space:
            raise EmbedderMismatch(
                f"the vectors here were made in the space {there.name!r} ({there.dim} dimensions), not {space.name!r} ({space.dim}): "
                "open the store with the old embedder, or move it to the new one with reindex()"
            )
        return there

    def settling(self, namespace: Namespace, *, anew: bool = False) -> Setting:
        """Hold a namespace to the model's space like ``settle``; a write can require what this gives, in place of having it read anew.

        Args:
            namespace: which.
            anew: whether what was seen before is known to be so no more.

        Raises:
            EmbedderMismatch: it already lives in another.
        """
        space, settled = self.space(), self._engine.settled
        where = namespace if self._home is None else self._home
        known = settled.get((where, space))
        if anew or known is None:
            self.settle(namespace, space)
            # As it stands there, which need not be as this release writes it.
            text = self._engine.backend.setting(SPACE_SETTING, namespace=where) or _stored_text(space)
            if len(settled) >= _MAX_SETTLED:
                settled.clear()
            known = settled[where, space] = Setting(SPACE_SETTING, where, text)
        return known

    def elsewhere(self, namespaces: Iterable[Namespace], above: Namespace) -> set[Namespace]:
        """Those of some namespaces below another that a collection with a model of another space holds."""
        found = set()
        for namespace in namespaces:
            for length in range(len(above) + 1, len(namespace) + 1):
                stored = self._engine.backend.setting(SPACE_SETTING, namespace=namespace[:length])
                if stored is not None and _space(stored) != self.space():
                    found.add(namespace)
        return found

    def models(self, namespace: Namespace, space: Space, mark: Mark) -> list[str]:
        """The models whose vectors a search in a space compares.

        Args:
            namespace: where is searched.
            space: in which.
            mark: where the store is; what was found out is remembered until something is written.

        Raises:
            EmbedderMismatch: the namespace lives in another space.
        """
        known = self._models.get((namespace, space))
        if known is None or known[0] != mark:
            self._settled(namespace, space)
            known = self._models[namespace, space] = (mark, space.models(self._engine))
        return known[1]

    def resettle(self, namespace: Namespace, space: Space) -> None:
        """Move a namespace to another space, after a reindex."""
        where = namespace if self._home is None else self._home
        self._engine.backend.setting(SPACE_SETTING, _stored_text(space), namespace=where)

    def vectors(self, namespace: Namespace, content: str, parts: Sequence[Part] = ()) -> tuple[PartVector, ...]:
        """The vectors of one record."""
        return self.vectors_many(namespace, [(content, parts)])[0]

    def vectors_many(
        self, namespace: Namespace, texts: Sequence[tuple[str, Sequence[Part]]], *, settle: bool = True
    ) -> list[tuple[PartVector, ...]]:
        """The vectors of many records, embedded together.

        Args:
            namespace: where they will be kept.
            texts: per record its content, and its parts if it has any.
            settle: hold the namespace to the model's space; not while it is being moved to another.

        Raises:
            EmbedderMismatch: the namespace lives in another space.
            InvalidInput: a vector that is not finite, zero, or of another dimension; or a text that its model cuts into too many windows.
            ModelError, ModelNotFound, MissingExtra: the model cannot be used.
        """
        found: list[list[PartVector]] = [[] for _ in texts]
        pending: list[tuple[int, str, str]] = []
        given: set[Space] = set()
        for index, (content, parts) in enumerate(texts):
            if not parts:
                if self._embedder is not None and content.strip():
                    if len(content) < _SHORT:
                        pending.append((index, "", content))
                    else:
                        pending.extend((index, name, window) for name, window in self._windows("", content))
                continue
            for part in parts:
                if part.vector is not None:
                    found[index].append(self._given(given, part.name, part.vector))
                elif self._embedder is not None and part.text.strip():
                    pending.extend((index, name, window) for name, window in self._windows(part.name, part.text))
        if len(pending) > MAX_VECTORS:
            _check_number(pending)
        for space in given:
            self.settle(namespace, space)
        if pending:
            self._embed(namespace if settle else None, pending, found)
        return [tuple(vectors) for vectors in found]

    def _windows(self, name: str, text: str) -> list[tuple[str, str]]:
        if len(text) < _SHORT:
            return [(name, text)]
        try:
            windows = self.embedder().windows(text)
        except MissingExtra:
            if self._optional:
                return [(name, text)]
            raise
        return [(name, text)] if len(windows) == 1 else [(f"{name}#{number}", window) for number, window in enumerate(windows)]

    def _embed(self, namespace: Namespace | None, pending: list[tuple[int, str, str]], found: list[list[PartVector]]) -> None:
        model = self.embedder()
        try:
            made = model.embed_documents([text for _, _, text in pending])
        except MissingExtra:
            if self._optional:
                return
            raise
        space = Space(model.space, model.dim)
        if namespace is not None:
            self.settle(namespace, space)
        name = space.model(model.id)
        for (index, part, _), data in zip(pending, _rows(made), strict=True):
            found[index].append(PartVector(part, name, data))

    def _given(self, spaces: set[Space], part: str, vector: Sequence[float]) -> PartVector:
        data = packed(vector)
        if self._embedder is None:
            space, identity = Space(CALLER_SPACE, len(vector)), CALLER_SPACE
        else:
            model = self._embedder()
            space, identity = Space(model.space, model.dim), model.id
            if len(vector) != model.dim:
                raise InvalidInput(f"the vector of part {part!r} has {len(vector)} numbers, this collection's model makes {model.dim}")
        spaces.add(space)
        return PartVector(part, space.model(identity), data)

    def stored_vectors(self, row: Row) -> dict[str, tuple[float, ...]]:
        """The vectors of a record's state, by part name."""
        kept = self._engine.backend.stored_vectors(row.doc)
        if self._embedder is not None:
            space = self.space()
            kept = [vector for vector in kept if json.loads(vector.model)[:2] == [space.name, space.dim]] or kept
        return {vector.part: unpacked(vector.data) for vector in kept}

    def embed_rows(self, rows: Sequence[Row], namespace: Namespace, models: Collection[str], *, settle: bool = True) -> list[int]:
        """Make the vectors of stored records, except of those that have no text, or lack nothing but a context that says nothing by now.

        Args:
            rows: as they were read; whose context changes meanwhile gets no vector of it.
            namespace: where they will be kept.
            models: whose vectors they may have already.
            settle: as for ``vectors_many``.

        Returns:
            The documents that got vectors.
        """
        todo = [(row, context, embedded_texts(row, context)) for row, context in self.pending(rows, models)]
        self._put(todo, self.vectors_many(namespace, [texts for _, _, texts in todo], settle=settle))
        return [row.doc for row, _, _ in todo]

    def pending(self, rows: Sequence[Row], models: Collection[str]) -> list[tuple[Row, ContextTexts]]:
        """Of records that lack vectors those that have something to make them from, with their contexts."""
        contexts = zip(rows, contexts_of(self._engine.backend, rows), strict=True)
        return [
            (row, context)
            for row, context in contexts
            if has_text(row) and (not context or any(text for _, text in context) or not self._has_vectors(row, models))
        ]

    def _put(self, rows: Sequence[tuple[Row, ContextTexts, tuple[str, Sequence[Part]]]], made: Sequence[tuple[PartVector, ...]]) -> None:
        if rows:
            read = {row.doc: ContextRead(row.standing.record, context) for row, context, _ in rows if context}
            found = [(row.doc, vector) for (row, _, _), vectors in zip(rows, made, strict=True) for vector in vectors]
            self._engine.backend.put_vectors(found, read)

    def _has_vectors(self, row: Row, models: Collection[str], prefix: str = "") -> bool:
        kept = self._engine.backend.stored_vectors(row.doc)
        return any(vector.model in models and vector.part.startswith(prefix) for vector in kept)

    def lacks_context(self, row: Row) -> bool:
        """Whether a stored record has context and no vector that embeds it."""
        if '"context":' not in row.body or "context" not in loads(row.body):
            return False
        return not any(vector.part.startswith(CONTEXT_PART) for vector in self._engine.backend.stored_vectors(row.doc))

    def refresh_context(self, changed: Sequence[bytes], own: Sequence[bytes] = ()) -> None:
        """Embed with their context the memories that have it and, since a neighbour or they themselves changed, no vector of it.

        Others may write meanwhile: what is overtaken is not kept, and is embedded again here, or else by the next recall.

        Args:
            changed: records whose text others may be indexed with.
            own: records whose own context may have changed.
        """
        if self._embedder is None or not (changed or own):
            return
        for _ in range(_ROUNDS):
            rows = self._without_context(changed, own)
            todo = [
                (row, context, ("", [part])) for row, context in zip(rows, contexts_of(self._engine.backend, rows), strict=True)
                for part in embedded_texts(row, context)[1] if part.name == CONTEXT_PART
            ]  # fmt: skip
            if not todo:
                return
            for namespace in {row.standing.namespace for row, _, _ in todo}:
                here = [item for item in todo if item[0].standing.namespace == namespace]
                for start in range(0, len(here), _CHUNK):
                    chunk = here[start : start + _CHUNK]
                    self._put(chunk, self.vectors_many(namespace, [texts for _, _, texts in chunk]))

    def _without_context(self, changed: Sequence[bytes], own: Sequence[bytes]) -> list[Row]:
        rows = self._engine.backend.dependents(changed) if changed else []
        if own:
            rows += self._engine.backend.select(Selection(namespace=None, expiry="all", records=tuple(own)))
        rows = [row for row in {row.doc: row for row in rows}.values() if '"context":' in row.body]
        # What has no vectors at all gets all of them from the next recall.
        rows = [row for row in rows if self._engine.backend.stored_vectors(row.doc)]
        if not rows:
            return []
        models = self.space().models(self._engine)
        return [row for row in rows if not self._has_vectors(row, models, CONTEXT_PART)]


def _check_number(pending: Sequence[tuple[int, str, str]]) -> None:
    most = max(Counter(index for index, _, _ in pending).values())
    if most > MAX_VECTORS:
        raise InvalidInput(f"a text is cut into {most} windows by its model, the limit is {MAX_VECTORS}: split it into several memories")


def _rows(vectors: Vectors) -> Iterator[bytes]:
    """Each row as ``packed`` makes it; many are turned into bytes together, which takes a third of the time."""
    for start in range(0, len(vectors), _PACKED_TOGETHER):
        some = vectors[start : start + _PACKED_TOGETHER]
        data = some.astype("<f4", copy=False).tobytes()
        size = len(data) // len(some)
        for place in range(0, len(data), size):
            yield data[place : place + size]


def packed(vector: Sequence[float]) -> bytes:
    """A vector as little-endian float32.

    Raises:
        InvalidInput: not numbers, empty, not finite in float32, or all zero.
    """
    try:
        numbers = array("f", [float(number) for number in vector])
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput(f"a vector must be a sequence of numbers: {error}") from None
    if not numbers or not all(map(math.isfinite, numbers)) or not any(numbers):
        raise InvalidInput("a vector must have finite numbers, not all of them 0")
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def unpacked(data: bytes) -> tuple[float, ...]:
    """The numbers of a stored vector."""
    numbers = array("f")
    numbers.frombytes(data)
    if sys.byteorder == "big":
        numbers.byteswap()
    return tuple(numbers)
