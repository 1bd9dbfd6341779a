"""Plain numpy: vectors in memory, appended to a file. The physical reference, and the exact answers."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from typing import ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from benchmarks.speed.data import DIM, FILTERS, Matrix, Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits

ROW = DIM * 4
Places: TypeAlias = npt.NDArray[np.int64]


class Numpy(Engine):
    """One product of a matrix and a vector, and the ten greatest."""

    cannot: ClassVar[dict[str, str]] = {"keyword": "has no words", "hybrid": "has no words"}

    def load(self) -> None:
        self.version = f"numpy {np.__version__}"

    def open(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._files = ExitStack()
        names = ("vectors.f32", "rows.jsonl")
        self._vectors, self._lines = (self._files.enter_context((self.folder / name).open("a+b")) for name in names)
        self._matrix: Matrix = np.empty((0, DIM), np.float32)
        self._count = 0
        self._texts: list[str] = []
        self._numbers: list[int] = []
        self._slices: dict[str, tuple[Places, Matrix]] = {}
        self._users: dict[str, list[int]] = {}
        self._masks: dict[str, list[int]] = {field: [] for field in FILTERS}
        self._chosen: dict[str, npt.NDArray[np.bool_]] = {}
        self._lines_read = 0
        self._read_on()

    def close(self) -> None:
        self._files.close()

    def add(self, rows: Rows) -> None:
        lines = "".join(json.dumps([*row]) + "\n" for row in zip(rows.numbers, rows.texts, rows.users, rows.metadata, strict=True))
        for file, data in ((self._vectors, rows.vectors.tobytes()), (self._lines, lines.encode())):
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._read_on()

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        self._read_on()
        if user is not None:
            places, matrix = self._slice(user)
            return self._best(matrix @ asked.vector, places)
        scores = self._matrix[: self._count] @ asked.vector
        if field is not None:
            if field not in self._chosen:
                self._chosen[field] = np.array(self._masks[field], bool)
            places = np.flatnonzero(self._chosen[field])
            return self._best(scores[places], places)
        return self._best(scores, None)

    def _slice(self, user: str) -> tuple[Places, Matrix]:
        if user not in self._slices:
            places = np.array(self._users.get(user, []), np.int64)
            self._slices[user] = places, self._matrix[places]
        return self._slices[user]

    def _best(self, scores: npt.NDArray[np.float32], places: Places | None) -> Hits:
        best = np.argpartition(scores, -LIMIT)[-LIMIT:] if len(scores) > LIMIT else np.arange(len(scores))
        found = best[np.argsort(-scores[best])].tolist()
        where = found if places is None else places[found].tolist()
        return [(self._numbers[place], self._texts[place]) for place in where]

    def _read_on(self) -> None:
        """What was appended, by whomever; the vectors are read where the lines are complete."""
        if os.fstat(self._vectors.fileno()).st_size == self._count * ROW:
            return
        self._lines.seek(self._lines_read)
        for line in self._lines:
            self._lines_read += len(line)
            number, text, user, fields = json.loads(line)
            self._users.setdefault(user, []).append(len(self._texts))
            self._slices.pop(user, None)
            self._texts.append(text)
            self._numbers.append(number)
            for field, mask in self._masks.items():
                mask.append(fields[field])
        self._chosen.clear()
        if len(self._texts) > len(self._matrix):
            grown = np.empty((max(1024, int(1.5 * len(self._texts))), DIM), np.float32)
            grown[: self._count] = self._matrix[: self._count]
            self._matrix = grown
        self._vectors.seek(self._count * ROW)
        self._matrix[self._count : len(self._texts)] = np.frombuffer(
            self._vectors.read((len(self._texts) - self._count) * ROW), np.float32
        ).reshape(-1, DIM)
        self._count = len(self._texts)
