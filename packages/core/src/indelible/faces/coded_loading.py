"""Reading the vectors of a large selection, and keeping them fresh."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from indelible.backend.interface import Backend, Selection
from indelible.backend.large import Documents, VectorChunk, places_of
from indelible.faces.coded_store import BYTES_BESIDE, CodedStore
from indelible.faces.coded_vectors import CodedVectors, rows_at_a_time
from indelible.faces.vectors import first_rows, rows_of

if TYPE_CHECKING:
    from indelible.faces.vectors import Integers, Mask

DEAD_SHARE = 0.2
"""With a larger share of records that are no longer part of it, a selection is read anew."""
_SPARE = 16
"""One in so many records may still come before what is known of all has to be moved."""
_AHEAD = 65_536
"""For fewer documents a thread that reads ahead costs more than it gains."""


def load(
    backend: Backend,
    selection: Selection,
    models: Sequence[str],
    dim: int,
    make_room: Callable[[int], None] | None = None,
    whole_bytes: int = 0,
) -> CodedVectors:
    """Read a selection whole.

    Args:
        backend: what is read.
        selection: with expired records, without order and bounds.
        models: whose vectors.
        dim: of the vectors.
        make_room: is told about how many bytes it will take, before it takes them.
        whole_bytes: if its vectors take no more than this as they are, they are kept beside their codes.
    """
    found = backend.documents(selection)
    most_whole = whole_bytes // (4 * dim)
    if make_room is not None:
        make_room(len(found.docs) * (dim + BYTES_BESIDE + (4 * dim if len(found.docs) <= most_whole else 0)))
    store = CodedStore(dim, most_whole if len(found.docs) <= most_whole else 0, len(found.docs))
    store.reserve(len(found.docs) + len(found.docs) // _SPARE + _SPARE)
    missing = _append(store, backend, found, models)
    seen = _seen(store, backend, tuple(models), None, missing)
    # Looked at one by one: what has a vector at all is known by now.
    linked = backend.linked()
    seen.lacking, seen.unchecked = tuple({*missing.values(), *linked}), bool(linked)
    return seen


def refreshed(kept: CodedVectors, changed: set[bytes], selection: Selection) -> CodedVectors | None:
    """How a selection stands, given how it stood before some records changed.

    What appears is appended, what is gone is marked; ``kept`` stays as it is for those who are reading it.

    Args:
        kept: how it stood.
        changed: records that it may no longer show right.
        selection: these records of it.

    Returns:
        ``None`` if it has to be read whole: too much of it is gone, or what appeared does not come last.
    """
    import numpy as np

    backend, store = kept.backend, kept.store
    ever = Selection(namespace=None, records=tuple(changed), every_version=True, hidden=True, expiry="all")
    were = backend.documents(ever).docs
    found = backend.documents(selection)
    places, _ = _places(kept, were)
    gone = places[~np.isin(kept.docs[places], found.docs)]
    stays, is_known = _places(kept, found.docs)
    # Vectors that were missing do not come without a new epoch.
    missing = np.fromiter(kept.missing, np.int64, len(kept.missing))
    new = ~is_known & ~np.isin(found.docs, missing)
    fresh = found.only(new)
    after = len(kept.docs) and len(fresh.docs) and fresh.docs[0] < kept.docs.max()
    back = kept.alive is not None and not kept.alive[stays].all()
    if store.count != len(kept.docs) or after or back or not np.array_equal(kept.versions[stays], found.versions[is_known]):
        return None
    alive = kept.alive
    if len(gone):
        alive = np.ones(len(kept.docs), bool) if alive is None else alive.copy()
        alive[gone] = False
        if np.count_nonzero(alive) < (1 - DEAD_SHARE) * len(alive):
            return None
    due = kept.expires[stays] != found.expires[is_known]
    if due.any():
        store.set_expires(stays[due], found.expires[is_known][due])
    gone_missing = set(were.tolist()).difference(found.docs.tolist())
    still = {doc: record for doc, record in kept.missing.items() if doc not in gone_missing}
    new_missing = _append(store, backend, fresh, kept.models)
    seen = _seen(store, backend, kept.models, alive, still | new_missing)
    return replace(seen, parts=kept.parts, lacking=tuple({*kept.lacking, *new_missing.values()}), unchecked=kept.unchecked)


def _places(kept: CodedVectors, docs: Integers) -> tuple[Integers, Mask]:
    """The places of those of some documents that are there, and which of them are."""
    at = kept.store.docs.places(kept.docs, docs)
    known = at >= 0
    return at[known], known


def _seen(store: CodedStore, backend: Backend, models: tuple[str, ...], alive: Mask | None, missing: dict[int, bytes]) -> CodedVectors:
    import numpy as np

    if alive is not None:
        alive = np.append(alive, np.ones(store.count - len(alive), bool))
    documents, errors = store.columns()
    return CodedVectors(store, backend, models, store.blocks(), *documents, errors, store.soonest, alive, missing)


def _append(store: CodedStore, backend: Backend, found: Documents, models: Sequence[str]) -> dict[int, bytes]:
    """Add documents with their vectors; answers those that have none, with their records."""
    import numpy as np

    there = np.zeros(len(found.docs), bool)
    chunks = backend.vector_chunks(found.docs, models, rows_at_a_time(store.dim))
    for chunk in _ahead(chunks) if len(found.docs) > _AHEAD else chunks:
        starts = first_rows(chunk.docs)
        at = places_of(found.docs, chunk.docs[starts])
        there[at] = True
        store.append(found.only(at), starts, rows_of(chunk, store.dim), named=chunk.parts is not None)
    lacking = found.only(~there)
    return dict(zip(lacking.docs.tolist(), map(bytes, lacking.records), strict=True))


def _ahead(chunks: Iterator[VectorChunk]) -> Iterator[VectorChunk]:
    """Chunks, each read by another thread while the one before is coded."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, "indelible-read-ahead") as reader:
        following = reader.submit(next, chunks, None)
        while (chunk := following.result()) is not None:
            following = reader.submit(next, chunks, None)
            yield chunk
