"""S44: the fast way to the nearest vectors finds exactly what the plain one does, near-ties and several parts included."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.backend.interface import VectorRow
from indelible.faces.vectors import DECIMALS, NEVER, Vectors, rearrange
from tests.unit.facts.vector_arrays import arranged_rows, arrays

DIM = 32
KINDS = ["random", "ties", "near ties", "one direction", "opposite"]


def matrix(kind: str, rows: int, random: np.random.Generator) -> npt.NDArray[np.float32]:
    """Unit vectors of a kind that is hard to order."""
    base = random.normal(size=DIM)
    if kind == "random":
        made = random.normal(size=(rows, DIM))
    elif kind == "ties":
        made = np.repeat(random.normal(size=(rows // 7 + 1, DIM)), 7, axis=0)[:rows]
    elif kind == "near ties":
        made = base + random.normal(size=(rows, DIM)) * 10.0 ** -float(random.integers(3, 9))
    else:
        made = base * random.choice([-1.0, 1.0] if kind == "opposite" else [1.0], size=(rows, 1))
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def arranged(vectors: npt.NDArray[np.float32], parts: int) -> Vectors:
    """Records of so many parts each; the last may have fewer."""
    return arranged_rows(
        [
            VectorRow(
                (1 + number // parts).to_bytes(16, "big"), 1 + (7 * (number // parts)) % 10_007, f"p{number % parts}", row.tobytes(), None
            )
            for number, row in enumerate(vectors)
        ],
        DIM,
    )


def plainly(
    vectors: Vectors, query: npt.NDArray[np.float32], wanted: npt.NDArray[np.bool_], least: float | None
) -> list[tuple[int, float, str]]:
    """Version, cosine and part of every wanted record, in order, one at a time."""
    found = []
    ends = [*vectors.starts[1:], len(vectors.rows)]
    cosines = np.round(np.clip(np.einsum("ij,j->i", vectors.rows, query), -1, 1).astype(np.float64), DECIMALS)
    for number, (start, end) in enumerate(zip(vectors.starts, ends, strict=True)):
        best = max(range(start, end), key=lambda row: (cosines[row], -row))
        if wanted[number] and (least is None or cosines[best] >= least):
            found.append((int(vectors.versions[number]), float(cosines[best]), vectors.parts[best]))
    return sorted(found, key=lambda hit: (-hit[1], -hit[0]))


@given(
    kind=st.sampled_from(KINDS),
    rows=st.integers(1, 700),
    parts=st.sampled_from([1, 1, 2, 5]),
    most=st.sampled_from([None, 0, 1, 3, 10]),
    least=st.sampled_from([None, None, 0.2]),
    share=st.sampled_from([0.0, 0.02, 0.5, 1.0, 1.0]),
    seed=st.integers(0, 10_000),
)
def test_the_nearest_are_exactly_the_nearest(
    kind: str, rows: int, parts: int, most: int | None, least: float | None, share: float, seed: int
) -> None:
    """Same records, same order, same cosines to the last bit, same part."""
    random = np.random.default_rng(seed)
    vectors = arranged(matrix(kind, rows, random), parts)
    query = matrix("random", 1, random)[0] if seed % 2 else vectors.rows[seed % rows].copy()
    wanted = random.random(len(vectors.records)) < share
    order, cosines, best = vectors.nearest(query, most=most, least=least, wanted=wanted)
    found = [(int(vectors.versions[at]), float(cosine), vectors.parts[row]) for at, cosine, row in zip(order, cosines, best, strict=True)]
    assert found == plainly(vectors, query, wanted, least)[:most]


@pytest.mark.parametrize("kind", KINDS)
def test_few_are_looked_at_twice(kind: str) -> None:
    """The fast way is taken: of many random vectors next to none come into question, of ties all that tie."""
    random = np.random.default_rng(1)
    vectors = arranged(matrix(kind, 5000, random), 1)
    possible = vectors._possible(matrix("random", 1, random)[0], None, 10)
    assert len(possible) >= 10
    if kind == "random":
        assert len(possible) < 30


def test_vectors_of_any_length_become_unit_vectors() -> None:
    """A caller's may be long, short or zero; a model's are not copied."""
    long = np.array([[3.0, 4.0], [1e-30, 0.0], [0.0, 0.0], [1e30, 1e30]], np.float32)
    rows = arranged_rows([VectorRow(bytes([number] * 16), number, "", row.tobytes(), None) for number, row in enumerate(long)], 2).rows
    assert np.allclose(rows, np.array([[0.6, 0.8], [1.0, 0.0], [0.0, 0.0], [2**-0.5, 2**-0.5]]))
    unit = matrix("random", 9, np.random.default_rng(2))
    assert np.array_equal(arranged(unit, 1).rows, unit)


def test_a_record_scores_the_same_beside_any_other() -> None:
    """S41: that a vector beside it must be brought to length 1 changes no bit of one that need not."""
    nearly = np.array([[0.6 * (1 + 9e-7), 0.8 * (1 + 9e-7)], [3.0, 4.0]], np.float32)
    rows = [VectorRow(bytes([number] * 16), number, "", row.tobytes(), None) for number, row in enumerate(nearly)]
    assert np.array_equal(arranged_rows(rows, 2).rows[:1], arranged_rows(rows[:1], 2).rows)
    assert np.array_equal(arranged_rows(rows, 2).rows[1:], arranged_rows(rows[1:], 2).rows)


RECORDS = st.dictionaries(
    st.integers(1, 12), st.tuples(st.integers(1, 99), st.integers(1, 3), st.sampled_from([1.0, 3.0]), st.sampled_from([None, 5]))
)


def rows_of(records: dict[int, tuple[int, int, float, int | None]]) -> list[VectorRow]:
    """The rows of records: their version, how many parts, how long the vectors, and when they expire."""
    return [
        VectorRow(
            number.to_bytes(16, "big"),
            version,
            f"p{part}",
            (length * matrix("random", 1, np.random.default_rng([number, version, part]))[0]).astype("<f4").tobytes(),
            expires,
        )
        for number, (version, parts, length, expires) in sorted(records.items())
        for part in range(parts)
    ]


@given(st.lists(st.integers(1, 90), max_size=5), st.sampled_from([1, 1, 2]))
def test_what_is_added_leaves_alone_what_there_was(added: list[int], parts: int) -> None:
    """Rows are put behind those that somebody may be reading just now: each state stays what it was when later ones are made of it."""
    total = matrix("random", 3 + sum(added), np.random.default_rng(sum(added)))
    rows = [
        VectorRow((1 + n // parts).to_bytes(16, "big"), 1 + n // parts, f"p{n % parts}", row.tobytes(), None)
        for n, row in enumerate(np.repeat(total, parts, axis=0))
    ]
    ends = [3, *(3 + sum(added[: n + 1]) for n in range(len(added)))]
    states = [arranged_rows(rows[: 3 * parts], DIM)]
    for start, end in pairwise(ends):
        states.append(rearrange(states[-1], set(), *arrays(rows[start * parts : end * parts])))
    other = rearrange(states[0], set(), *arrays(rows[3 * parts :])) if added else states[0]
    for state, end in [*zip(states, ends, strict=True), (other, ends[-1])]:
        plain = arranged_rows(rows[: end * parts], DIM)
        assert np.array_equal(state.rows, plain.rows)
        assert (state.starts.tolist(), state.versions.tolist()) == (plain.starts.tolist(), plain.versions.tolist())
        assert (state.records, state.parts) == (plain.records, plain.parts)


@given(st.lists(st.integers(1, 40), unique=True, max_size=30), st.lists(st.integers(0, 45), max_size=30))
def test_places_of_versions(there: list[int], asked: list[int]) -> None:
    """Each version where it stands, and -1 for what is not there."""
    vectors = arranged_rows([VectorRow(n.to_bytes(16, "big"), version, "", bytes(4 * DIM), None) for n, version in enumerate(there)], DIM)
    found = vectors.places(np.array(asked, np.int64)).tolist()
    assert found == [there.index(version) if version in there else -1 for version in asked]


@given(RECORDS, RECORDS, st.sets(st.integers(1, 12)))
def test_what_changed_is_put_in_its_place(
    before: dict[int, tuple[int, int, float, int | None]], after: dict[int, tuple[int, int, float, int | None]], changed: set[int]
) -> None:
    """Records that came, went or changed: the same as arranging all of them anew."""
    fresh = {number: about for number, about in after.items() if number in changed}
    left = {number: about for number, about in before.items() if number not in changed}
    plain = arranged_rows(rows_of(left | fresh), DIM)
    made = rearrange(arranged_rows(rows_of(before), DIM), {number.to_bytes(16, "big") for number in changed}, *arrays(rows_of(fresh)))
    assert (made.parts, made.records) == (plain.parts, plain.records)
    for name in ("rows", "starts", "versions", "expires"):
        one, other = getattr(made, name), getattr(plain, name)
        assert np.array_equal(one, other)
        assert one.dtype == other.dtype
    assert all(number in (5, NEVER) for number in made.expires.tolist())
