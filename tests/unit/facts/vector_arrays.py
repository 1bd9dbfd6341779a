"""Vectors as a backend gives them, made of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from indelible.backend.interface import VectorRow
from indelible.backend.large import Documents, VectorChunk
from indelible.faces.vectors import NEVER, Vectors, arrange


def arrays(rows: Sequence[VectorRow]) -> tuple[Documents, VectorChunk]:
    """Rows as arrays, documents numbered in no order that follows from their records, and their vectors in yet another."""
    of_record: dict[bytes, list[VectorRow]] = {}
    for row in rows:
        of_record.setdefault(row.record, []).append(row)
    numbers = {record: (7 * place + 3) % 10_007 for place, record in enumerate(of_record)}
    about = [(doc, of_record[record][0]) for record, doc in sorted(numbers.items(), key=lambda item: item[1])]
    documents = Documents(
        np.array([doc for doc, _ in about], np.int64),
        np.array([row.version for _, row in about], np.int64),
        np.array([NEVER if row.expires_at is None else row.expires_at for _, row in about], np.int64),
        np.frombuffer(b"".join(row.record for _, row in about), np.uint8).reshape(-1, 16),
    )
    laid = [(doc, row) for doc, first in sorted(about, key=lambda item: item[0] % 5) for row in reversed(of_record[first.record])]
    parts = [row.part for _, row in laid]
    docs = np.array([doc for doc, _ in laid], np.int64)
    return documents, VectorChunk(docs, parts if any(parts) else None, b"".join(row.data for _, row in laid))


def arranged_rows(rows: Sequence[VectorRow], dim: int) -> Vectors:
    """The vectors of rows."""
    return arrange(*arrays(rows), dim)
