"""The int8 reference: what it multiplies is nearly what it was given, with and without simsimd."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.speed.data import DIM, Corpus
from benchmarks.speed.int8 import BLOCK, Int8, in_blocks, quantised, simd


@given(st.lists(st.lists(st.floats(-1e6, 1e6, width=32), min_size=4, max_size=4), min_size=1, max_size=5))
def test_rounding_is_off_by_half_a_step_at_most(rows: list[list[float]]) -> None:
    given_rows = np.array(rows, np.float32)
    whole, scales = quantised(given_rows)
    assert np.abs(whole.astype(int)).max() <= 127
    off = np.abs(whole * scales[:, None].astype(np.float64) - given_rows)
    assert (off <= 0.51 * scales[:, None] + 1e-30).all()


def test_blocks_give_exact_products() -> None:
    """Of more rows than a block has; float32 holds them: 256 products of 127 times 127 are below two to the 24th."""
    chance = np.random.default_rng(0)
    matrix = chance.integers(-127, 128, (BLOCK + 7, DIM)).astype(np.int8)
    asked = chance.integers(-127, 128, DIM).astype(np.int8)
    exact = matrix.astype(np.int64) @ asked.astype(np.int64)
    ways = [in_blocks] if (found := simd()) is None else [in_blocks, found[0]]
    for multiply in ways:
        products = np.empty(len(matrix), np.float32)
        multiply(matrix, asked, products)
        assert products.tolist() == exact.tolist()


def test_it_finds_nearly_the_nearest_and_times_the_pass_alone(tmp_path: Path) -> None:
    corpus = Corpus(500, 5)
    engine = Int8(tmp_path / "int8", 100)
    engine.load()
    engine.open()
    for rows in corpus.pieces():
        engine.add(rows)
    engine.close()
    engine.open()
    vectors = corpus.piece(0).part(0, 500).vectors
    for number in range(5):
        asked = corpus.question(number)
        took, timed = engine.timed(lambda _: [], asked)
        found = engine.semantic(asked, None)
        exact = np.argsort(-(vectors @ asked.vector))[:10].tolist()
        assert took > 0
        assert timed == found
        assert len({place for place, _ in found} & set(exact)) >= 8
        assert found[0][0] in exact[:3]
    with pytest.raises(NotImplementedError):
        engine.semantic(asked, asked.user)
    engine.close()
