"""What coding loses is within its bound, whatever the vectors are, and the product of codes is exact, whoever forms it."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from indelible.search import codes as coding
from indelible.search.codes import CodedQuery, nearly_unit, plain_product, quantise, simd_product
from indelible.search.floor import Floor, greatest
from tests.conftest import Require

Matrix = npt.NDArray[np.float32]
KINDS = ["random", "one number", "few numbers", "near ties", "halves", "mixed scales"]


def unit(rows: npt.NDArray[np.floating[Any]]) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0), np.float32)


def made(kind: str, rows: int, dim: int, random: np.random.Generator) -> Matrix:
    """Unit vectors of a kind that is hard to code."""
    found: npt.NDArray[np.floating[Any]] = random.normal(size=(rows, dim))
    if kind == "one number":
        found = np.where(np.arange(dim) == random.integers(0, dim, (rows, 1)), 1.0, 0.0) * random.choice([-1.0, 1.0], (rows, 1))
    elif kind == "few numbers":
        found *= random.random((rows, dim)) < 0.05
    elif kind == "near ties":
        found = random.normal(size=dim) + found * 1e-7
    elif kind == "halves":
        # Every number but the greatest lies half way between two codes.
        found = (random.integers(-126, 126, (rows, dim)) + 0.5) / 127.0
        found[:, 0] = 1.0
    elif kind == "mixed scales":
        found *= 10.0 ** random.integers(-9, 1, (rows, dim))
    return unit(found)


@given(st.sampled_from(KINDS), st.sampled_from(KINDS), st.integers(1, 300), st.integers(1, 40), st.integers(0, 10_000))
def test_the_exact_product_lies_within_the_bound(kind: str, asked: str, dim: int, rows: int, seed: int) -> None:
    """Of the codes' product, and of the question itself with the codes."""
    random = np.random.default_rng(seed)
    vectors, query = made(kind, rows, dim, random), made(asked, 1, dim, random)[0]
    if seed % 3 == 0:
        query = vectors[seed % rows]
    codes, scales = np.empty((rows, dim), np.int8), np.empty(rows)
    errors = quantise(vectors, codes, scales)
    exact = vectors.astype(np.float64) @ query.astype(np.float64)
    plain = np.einsum("ij,j->i", vectors, query).astype(np.float64)
    coded = CodedQuery(query, 0.0)
    left = np.linalg.norm(vectors.astype(np.float64) - scales[:, None] * codes, axis=1)
    assert (left <= errors).all()
    for product, within in (
        (coded.products(codes) * scales * coded.scale, coded.within(errors)),
        (coded.closer_products(codes) * scales, coded.closer_within(errors)),
    ):
        assert (np.abs(product - exact) <= within).all()
        assert (np.abs(product - plain) <= within).all()


def test_the_bound_is_no_wider_than_need_be() -> None:
    """Of random vectors it is a small part of what tells them apart; and some numbers do come near it."""
    random = np.random.default_rng(0)
    vectors = made("random", 500, 256, random)
    codes, scales = np.empty(vectors.shape, np.int8), np.empty(500)
    errors = quantise(vectors, codes, scales)
    assert CodedQuery(vectors[0], 1e-6).within(errors).max() < 0.03
    left = (vectors - scales[:, None] * codes).astype(np.float32)
    worst = unit(left.astype(np.float64))
    off = [abs(float(row @ remainder)) / error for row, remainder, error in zip(worst, left, errors, strict=True)]
    assert min(off) > 0.9


@given(arrays.arrays(np.int8, st.tuples(st.integers(1, 20), st.integers(1, 300)), elements=st.integers(-127, 127)))
def test_products_of_codes_are_exact(codes: npt.NDArray[np.int8]) -> None:
    for product in filter(None, (plain_product, simd_product())):
        assert product(codes[0].copy(), codes).tolist() == (codes.astype(np.int64) @ codes[0].astype(np.int64)).tolist()


@pytest.mark.parametrize("dim", [1040, 1041, 5000])
def test_long_products_of_codes_are_exact(dim: int) -> None:
    """The greatest that can be, and odd sums beyond what single precision holds."""
    codes = np.full((3, dim), 127, np.int8)
    codes[1, ::2], codes[2, 0] = -127, 126
    for product in filter(None, (plain_product, simd_product())):
        assert product(codes[0].copy(), codes).tolist() == (codes.astype(np.int64) @ codes[0].astype(np.int64)).tolist()


def test_the_processor_is_used_where_it_can_be(require: Require) -> None:
    """And as often as one likes: a package that gives away a None which it does not own ends the process at last."""
    require(importlib.util.find_spec("simsimd") is not None, "simsimd: pip install 'simsimd>=6.5,<7'")
    product = simd_product()
    assert product is not None
    codes = np.ones((2, 3), np.int8)
    before = sys.getrefcount(None)
    for _ in range(1000):
        product(codes[0], codes)
    assert abs(sys.getrefcount(None) - before) < 100


class Wrong:
    """A package whose product is wrong, or refuses its arguments."""

    def __init__(self, error: type[Exception] | None) -> None:
        self.error = error

    def cdist(self, query: object, rows: npt.NDArray[np.int8], metric: str) -> npt.NDArray[np.float64]:
        if self.error is not None:
            raise self.error("no")
        return np.ones((1, len(rows)))


@pytest.mark.parametrize("error", [None, TypeError, ValueError, ImportError])
def test_a_package_that_is_wrong_is_not_used(error: type[Exception] | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> Wrong:
        if error is ImportError:
            raise ImportError(name)
        return Wrong(error)

    monkeypatch.setattr(coding, "import_module", found)
    simd_product.cache_clear()
    try:
        assert simd_product() is None
        codes = np.ones((2, 3), np.int8)
        assert CodedQuery(np.ones(3, np.float32), 0.0).products(codes).tolist() == [381.0, 381.0]
    finally:
        simd_product.cache_clear()


def test_what_is_not_finite_may_be_anything() -> None:
    """Its error is infinite, so that it is always looked at; the others are as without it."""
    rows = np.array([[1, 0, 0], [np.nan, 1, 0], [np.inf, 0, 0], [0, 0, 0], [0.6, -0.8, 0]], np.float32)
    codes, scales = np.empty(rows.shape, np.int8), np.empty(5)
    errors = quantise(rows, codes, scales)
    assert np.isfinite(scales).all()
    assert np.isinf(errors).tolist() == [False, True, True, False, False]
    assert errors[[0, 3]].max() < 1e-6


@given(st.integers(1, 300), st.floats(-2e-5, 2e-5), st.integers(0, 1000))
def test_nearly_unit_vectors_are(dim: int, off: float, seed: int) -> None:
    row = made("random", 1, dim, np.random.default_rng(seed)) * np.float32(1 + off)
    near, lost = nearly_unit(row)
    if near[0]:
        assert abs(np.linalg.norm(row.astype(np.float64)) - 1) <= lost
    else:
        assert abs(off) > 1e-6
    assert not nearly_unit(np.array([[0.0], [3e38], [1e-30], [2.0]], np.float32))[0].any()


@given(st.lists(st.sampled_from([-np.inf, *np.linspace(-1, 1, 9).tolist()]), min_size=1, max_size=200), st.integers(1, 12), st.booleans())
def test_so_many_reach_the_greatest(scores: list[float], most: int, long: bool) -> None:
    numbers = np.array(scores * (90 if long else 1))
    low = greatest(numbers, most)
    assert most > len(numbers) or np.count_nonzero(numbers >= low) >= most
    floor = Floor(most)
    floor.take(numbers[::2])
    floor.take(numbers[1::2])
    best = np.sort(numbers)[::-1][:most]
    assert floor.value <= best[-1] or floor.value == -np.inf or len(best) < most
    if len(numbers) < most:
        assert floor.value == low == -np.inf
