"""The fastest int8 product of a matrix and a vector at hand: the second physical reference, approximate, timed alone."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.speed.data import DIM, Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits

Int8s: TypeAlias = npt.NDArray[np.int8]
Floats: TypeAlias = npt.NDArray[np.float32]
BLOCK = 1024
"""Rows that numpy makes floats of at a time: a megabyte, which stays in the processor's cache."""


def quantised(rows: npt.NDArray[np.float32]) -> tuple[Int8s, Floats]:
    """Rows as whole numbers from -127 to 127, and what each row has to be multiplied with to be what it was."""
    scales = np.maximum(np.abs(rows).max(axis=1), np.finfo(np.float32).tiny).astype(np.float32) / np.float32(127)
    whole: Int8s = np.rint(rows / scales[:, None]).astype(np.int8)
    return whole, scales


def in_blocks(matrix: Int8s, asked: Int8s, products: Floats) -> None:
    """All products by numpy alone, whose own int8 product is many times slower than that of floats and overflows."""
    floats = asked.astype(np.float32)
    for start in range(0, len(matrix), BLOCK):
        products[start : start + BLOCK] = matrix[start : start + BLOCK].astype(np.float32) @ floats


def simd() -> tuple[Callable[[Int8s, Int8s, Floats], object], str] | None:
    """The product of simsimd, on one thread, and its version; ``None`` where it is not installed."""
    try:
        simsimd: Any = importlib.import_module("simsimd")
    except ImportError:
        return None

    def multiply(matrix: Int8s, asked: Int8s, products: Floats) -> None:
        simsimd.cdist(asked[None], matrix, "dot", out=products[None])

    return multiply, f"simsimd {simsimd.__version__}"


class Int8(Engine):
    """One resident matrix. What it finds is approximate: it is no store, and only to be divided by."""

    def load(self) -> None:
        self._multiply, self.version = simd() or (in_blocks, f"numpy {np.__version__} in blocks of float32, for want of simsimd")

    def open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files = ExitStack()
        self._rows, self._lengths = (
            self._files.enter_context((self.folder / name).open("a+b", buffering=0)) for name in ("rows.i8", "scales.f32")
        )
        self._matrix = np.fromfile(self.folder / "rows.i8", np.int8).reshape(-1, DIM)
        self._scales = np.fromfile(self.folder / "scales.f32", np.float32)
        self._products = np.empty(len(self._matrix), np.float32)

    def close(self) -> None:
        self._files.close()

    def add(self, rows: Rows) -> None:
        """Append to the files; the matrix has them when it is opened again."""
        whole, scales = quantised(rows.vectors)
        self._rows.write(whole.tobytes())
        self._lengths.write(scales.tobytes())

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        """The ten nearest of everything, by their places, which are their numbers."""
        if user is not None or field is not None:
            raise NotImplementedError
        self._multiply(self._matrix, quantised(asked.vector[None])[0][0], self._products)
        return self._best()

    def timed(self, call: Callable[[Question], Hits], asked: Question) -> tuple[float, Hits]:
        """The pass alone: neither rounding the question nor scaling the products and choosing ten of them is in its time."""
        question = quantised(asked.vector[None])[0][0]
        began = time.perf_counter()
        self._multiply(self._matrix, question, self._products)
        return time.perf_counter() - began, self._best()

    def _best(self) -> Hits:
        scores = self._products * self._scales
        best = np.argpartition(scores, -LIMIT)[-LIMIT:] if len(scores) > LIMIT else np.arange(len(scores))
        return [(place, "") for place in best[np.argsort(-scores[best])].tolist()]
