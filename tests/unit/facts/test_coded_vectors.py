"""S44: the nearest among coded vectors are exactly those among the vectors themselves, near-ties, parts and odd lengths included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.backend.interface import VectorRow
from indelible.backend.large import Documents, VectorChunk
from indelible.faces import coded_store, coded_vectors
from indelible.faces.coded_store import CodedStore, Lookup
from indelible.faces.coded_vectors import CodedVectors
from indelible.faces.vectors import NEVER, Vectors
from indelible.search import codes
from indelible.testing.reference import ReferenceBackend
from tests.unit.facts.vector_arrays import arranged_rows

Matrix = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
KINDS = ["random", "ties", "near ties", "nearer ties", "one direction", "opposite", "zero", "any length", "nearly unit"]
Found = list[tuple[int, float, str]]


class Shelf(ReferenceBackend):
    """Vectors by document; it notes how many were read."""

    def __init__(self, rows: dict[int, list[tuple[str, bytes]]]) -> None:
        super().__init__()
        self.by_doc = rows
        self.read = 0

    def vector_chunks(self, docs: Integers, models: Sequence[str], rows: int) -> Iterator[VectorChunk]:
        assert (np.diff(docs) > 0).all()
        for start in range(0, len(docs), 50):
            found = [(doc, *row) for doc in sorted(docs[start : start + 50].tolist(), key=str) for row in self.by_doc.get(doc, ())]
            self.read += len(found)
            parts = [part for _, part, _ in found]
            numbers = np.array([doc for doc, _, _ in found], np.int64)
            yield VectorChunk(numbers, parts if any(parts) else None, b"".join(data for _, _, data in found))


@contextmanager
def small_blocks(rows: int, *, plain: bool = False) -> Iterator[None]:
    """Blocks of few rows; ``plain``: without the package for the processor's own instructions."""
    before, product = coded_store.BLOCK_ROWS, codes.simd_product
    coded_store.BLOCK_ROWS = rows
    if plain:
        codes.simd_product = lambda: None  # type: ignore[assignment]  # as where it is not installed
    try:
        yield
    finally:
        coded_store.BLOCK_ROWS, codes.simd_product = before, product


def matrix(kind: str, rows: int, dim: int, random: np.random.Generator) -> Matrix:
    base = random.normal(size=dim)
    made = random.normal(size=(rows, dim))
    if kind == "ties":
        made = made[random.integers(0, rows // 7 + 1, rows)]
    elif kind == "near ties":
        made = base + made * 10.0 ** -float(random.integers(3, 9))
    elif kind == "nearer ties":
        made = base + made * 10.0 ** random.uniform(-9, -5, (rows, 1))
    elif kind in ("one direction", "opposite"):
        made = base * random.choice([-1.0, 1.0] if kind == "opposite" else [1.0], size=(rows, 1))
    made /= np.maximum(np.linalg.norm(made, axis=1, keepdims=True), 1e-300)
    if kind == "zero":
        made *= random.random((rows, 1)) < 0.5
    elif kind == "any length":
        made *= 10.0 ** random.integers(-36, 36, (rows, 1)).astype(float)
    elif kind == "nearly unit":
        made *= 1 + random.uniform(-3e-5, 3e-5, (rows, 1))
    return np.asarray(made, np.float32)


def both(vectors: Matrix, counts: Sequence[int], parted: bool, shuffled: int = 1, whole: int = 0) -> tuple[Vectors, CodedVectors, Shelf]:
    """The same records, as they are and coded; of as many rows each as the counts say, in turn."""
    rows: dict[int, list[tuple[str, bytes]]] = {}
    number = 0
    while number < len(vectors):
        doc = len(rows) + 1
        count = counts[doc % len(counts)]
        names = [f"p{part}" if parted or count > 1 else "" for part in range(count)][::-1]
        rows[doc] = [(name, row.tobytes()) for name, row in zip(names, vectors[number : number + count], strict=False)]
        number += count
    shelf = Shelf(rows)
    plain = arranged_rows(
        [VectorRow(doc.to_bytes(16, "big"), doc, part, data, None) for doc, there in rows.items() for part, data in sorted(there)],
        vectors.shape[1],
    )
    store = CodedStore(vectors.shape[1], whole)
    # Documents come in the order in which their vectors lie together.
    docs = np.array(sorted(rows, key=lambda doc: (doc % shuffled, doc)), np.int64)
    for some in np.array_split(docs, 3):
        if len(some):
            lengths = np.array([len(rows[doc]) for doc in some.tolist()], np.int64)
            data = b"".join(data for doc in some.tolist() for _, data in rows[doc])
            read = np.frombuffer(data, "<f4").reshape(-1, vectors.shape[1])
            named = any(name for doc in some.tolist() for name, _ in rows[doc])
            store.append(documents(some), np.cumsum(lengths) - lengths, read, named=named)
    columns = store.columns()
    return plain, CodedVectors(store, shelf, ("m",), store.blocks(), *columns.documents, columns.errors, NEVER, None, {}), shelf


def documents(numbers: Integers) -> Documents:
    """Documents of these numbers that never expire, and are named after them."""
    ids = np.frombuffer(b"".join(number.to_bytes(16, "big") for number in numbers.tolist()), np.uint8).reshape(-1, 16)
    return Documents(numbers, numbers, np.full(len(numbers), NEVER, np.int64), ids)


def asked(
    vectors: Vectors | CodedVectors, query: Matrix, most: int | None, least: float | None, wanted: npt.NDArray[np.bool_] | None
) -> Found:
    places, cosines, rows = vectors.nearest(query, most=most, least=least, wanted=wanted)
    names = [vectors.parts[row] for row in rows.tolist()]
    assert vectors.records_at(places) == [int(version).to_bytes(16, "big") for version in vectors.versions[places]]
    return list(zip(vectors.versions[places].tolist(), cosines.tolist(), names, strict=True))


@given(
    kind=st.sampled_from(KINDS),
    rows=st.integers(1, 400),
    dim=st.integers(1, 300),
    counts=st.sampled_from([[1], [1], [2], [1, 3], [5]]),
    most=st.sampled_from([None, 0, 1, 3, 10, 100]),
    least=st.sampled_from([None, None, 0.2, -0.5, 1.0, -1.0]),
    share=st.sampled_from([None, None, 0.0, 0.02, 0.5]),
    block=st.sampled_from([5, 64, 1000]),
    length=st.sampled_from([1.0, 1.0, 1.0, 0.3, 40.0]),
    whole=st.sampled_from([0, 100, 100_000]),
    seed=st.integers(0, 10_000),
)
def test_the_nearest_are_exactly_the_nearest(
    kind: str,
    rows: int,
    dim: int,
    counts: list[int],
    most: int | None,
    least: float | None,
    share: float | None,
    block: int,
    length: float,
    whole: int,
    seed: int,
) -> None:
    """Same records, same order, same cosines to the last bit, same part; with and without the processor's own product."""
    random = np.random.default_rng(seed)
    vectors = matrix(kind, rows, dim, random)
    query = matrix("random", 1, dim, random)[0] if seed % 2 else vectors[seed % rows]
    query = np.asarray(query / np.linalg.norm(query.astype(np.float64)) if np.any(query) else query, np.float32) * np.float32(length)
    with small_blocks(block):
        plain, coded, _ = both(vectors, counts, parted=seed % 5 == 0, shuffled=seed % 4 + 1, whole=whole)
        # Where each stands in the other.
        at = coded.versions - 1
        wanted = None if share is None else random.random(len(plain.records)) < share
        ours_wanted = None if wanted is None else wanted[at]
        found = asked(coded, query, most, least, ours_wanted)
        # Of all, and then cut: the plain vectors' own way to a few is for queries of length 1.
        assert found == asked(plain, query, None, least, wanted)[:most]
    with small_blocks(block, plain=True):
        assert asked(coded, query, most, least, ours_wanted) == found
    chosen = np.flatnonzero(random.random(len(plain.records)) < 0.5)
    ours, theirs = coded.cosines(query, chosen), plain.cosines(query, at[chosen])
    assert ours[0].tolist() == theirs[0].tolist()
    assert [coded.parts[row] for row in ours[1].tolist()] == [plain.parts[row] for row in theirs[1].tolist()]
    estimated, error = coded.estimates(query)
    estimates = estimated[np.arange(len(estimated))]
    exact = np.einsum("ij,j->i", plain.rows, query)
    assert (np.abs(estimates - np.maximum.reduceat(exact, plain.starts)[at]) <= error).all()
    versions = random.permutation(np.arange(-3, len(plain.records) + 5))
    there = coded.versions.tolist()
    assert coded.places(versions).tolist() == [there.index(version) if version in there else -1 for version in versions.tolist()]


@pytest.mark.parametrize("counts", [[1], [3]])
def test_few_are_read_again(counts: list[int]) -> None:
    """Of many random vectors only about those that are wanted."""
    random = np.random.default_rng(1)
    vectors = matrix("random", 9000, 64, random)
    plain, coded, shelf = both(vectors, counts, parted=False)
    query = matrix("random", 1, 64, random)[0]
    assert asked(coded, query, 10, None, None) == asked(plain, query, 10, None, None)
    assert 10 <= shelf.read < 80 * counts[0]


def test_where_vectors_are_kept_none_is_read_again() -> None:
    """As long as they are few enough and without names; who reads them keeps them when they are let go."""
    random = np.random.default_rng(1)
    vectors = matrix("random", 3000, 64, random)
    query = matrix("random", 1, 64, random)[0]
    plain, coded, shelf = both(vectors, [1], parted=False, shuffled=3, whole=3000)
    assert asked(coded, query, 10, None, None) == asked(plain, query, 10, None, None)
    assert shelf.read == 0
    assert coded.nbytes > vectors.nbytes
    coded.store.append(documents(np.array([5000])), np.zeros(1, np.int64), vectors[:1])
    assert all(block.vectors is None for block in coded.store.blocks())
    assert asked(coded, query, 10, None, None) == asked(plain, query, 10, None, None)
    assert shelf.read == 0
    for parted, counts in ((True, [1]), (False, [2])):
        plain, coded, shelf = both(vectors, counts, parted=parted, whole=3000)
        assert asked(coded, query, 10, None, None) == asked(plain, query, 10, None, None)
        assert shelf.read


@pytest.mark.parametrize("most", [2, None])
def test_what_was_purged_meanwhile_leaves_room(most: int | None) -> None:
    """What is gone from the file is no hit, and what comes after it is."""
    random = np.random.default_rng(2)
    vectors = matrix("near ties", 500, 16, random)
    plain, coded, shelf = both(vectors, [1], parted=False)
    best = asked(plain, vectors[0], None, None, None)
    for version, _, _ in best[:40]:
        del shelf.by_doc[version]
    assert asked(coded, vectors[0], most, None, None) == best[40:][:most]


def test_vectors_that_are_not_finite_hide_nothing() -> None:
    """None such is written; one in a damaged file changes no answer about the others."""
    random = np.random.default_rng(3)
    vectors = matrix("random", 300, 16, random)
    vectors[7, 3], vectors[100, 0] = np.nan, np.inf
    query = matrix("random", 1, 16, random)[0]
    with np.errstate(invalid="ignore"):
        plain, coded, _ = both(vectors, [1], parted=False)
        wanted = np.ones(300, bool)
        wanted[[7, 100]] = False
        assert asked(coded, query, 10, None, wanted) == asked(plain, query, 10, None, wanted)


def test_readers_see_what_they_saw() -> None:
    """Appending, and a change of when something expires, change nothing for those who are reading."""
    store = CodedStore(4)
    rows = matrix("random", 8, 4, np.random.default_rng(4))
    numbers = np.arange(1, 9)

    def append(some: slice) -> None:
        store.append(documents(numbers[some]), np.arange(len(numbers[some])), rows[some])

    with small_blocks(5):
        append(slice(0, 3))
        blocks, columns = store.blocks(), store.columns()
        before = [blocks[0].codes.tolist(), columns.documents.docs.tolist(), columns.documents.expires.tolist()]
        append(slice(3, 8))
        store.set_expires(np.array([1]), np.array([5]))
    assert [blocks[0].codes.tolist(), columns.documents.docs.tolist(), columns.documents.expires.tolist()] == before
    assert [block.records for block in store.blocks()] == [5, 3]
    assert store.columns().documents.expires.tolist() == [NEVER, 5, *[NEVER] * 6]
    assert (store.soonest, store.count) == (5, 8)
    assert coded_vectors.rows_at_a_time(1 << 16) == 16


@given(st.lists(st.lists(st.integers(-40, 40), max_size=8), max_size=8), st.lists(st.integers(-45, 45), max_size=20))
def test_numbers_are_found_in_any_order(pieces: list[list[int]], values: list[int]) -> None:
    """In a column that grows, at whatever length: where each stands, and -1 for what is not there, or not yet."""
    column = list(dict.fromkeys(number for piece in pieces for number in piece))
    with patch.object(coded_store, "_UNSORTED", 3):
        lookup = Lookup()
        whole = np.array(column, np.int64)
        for length in (0, *np.cumsum([len(piece) for piece in pieces]).tolist(), 1, len(column), 2):
            seen = column[:length]
            found = lookup.places(whole[:length], np.array(values, np.int64)).tolist()
            assert found == [seen.index(value) if value in seen else -1 for value in values]
