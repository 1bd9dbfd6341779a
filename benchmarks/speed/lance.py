"""LanceDB: columns in files; vectors without an index, which is exact, a full-text index and a scalar index on the user."""

from __future__ import annotations

import importlib
from datetime import timedelta
from typing import Any

import numpy as np

from benchmarks.speed.data import DIM, FILTERS, Question, Rows
from benchmarks.speed.engine import LIMIT, Engine, Hits


class Lance(Engine):
    """A table. Every read looks for what others wrote, as the other stores do."""

    def load(self) -> None:
        self._lance, self._arrow = importlib.import_module("lancedb"), importlib.import_module("pyarrow")
        self._queries: Any = importlib.import_module("lancedb.query")
        self._reranker = importlib.import_module("lancedb.rerankers").RRFReranker()
        self.version = f"lancedb {self._lance.__version__}"

    def open(self) -> None:
        connection = self._lance.connect(str(self.folder), read_consistency_interval=timedelta(0))
        arrow = self._arrow
        schema = arrow.schema(
            [("number", arrow.int64()), ("text", arrow.string()), ("user", arrow.string())]
            + [(field, arrow.int8()) for field in FILTERS]
            + [("vector", arrow.list_(arrow.float32(), DIM))]
        )
        self._table = connection.create_table("bench", schema=schema, exist_ok=True)

    def close(self) -> None:
        self._table = None

    def add(self, rows: Rows) -> None:
        arrow = self._arrow
        vectors = arrow.FixedSizeListArray.from_arrays(arrow.array(np.ascontiguousarray(rows.vectors).reshape(-1)), DIM)
        fields = {field: arrow.array([marks[field] for marks in rows.metadata], arrow.int8()) for field in FILTERS}
        self._table.add(arrow.table({"number": list(rows.numbers), "text": rows.texts, "user": rows.users, **fields, "vector": vectors}))

    def settle(self) -> bool:
        self._table.create_scalar_index("user")
        self._table.create_fts_index("text")
        self._table.optimize(cleanup_older_than=timedelta(0))
        return True

    def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
        return _hits(self._table.search(asked.vector, query_type="vector").distance_type("cosine"), user, field)

    def keyword(self, asked: Question, user: str | None) -> Hits:
        return _hits(self._table.search(self._queries.MatchQuery(asked.words, "text"), query_type="fts"), user)

    def hybrid(self, asked: Question, user: str | None) -> Hits:
        words = self._queries.MatchQuery(asked.words, "text")
        return _hits(self._table.search(query_type="hybrid").vector(asked.vector).text(words).rerank(self._reranker), user)


def _hits(search: Any, user: str | None, field: str | None = None) -> Hits:
    if user is not None:
        search = search.where(f"user = '{user}'", prefilter=True)
    if field is not None:
        search = search.where(f"{field} = 1", prefilter=True)
    found = search.limit(LIMIT).to_arrow()
    return list(zip(found["number"].to_pylist(), found["text"].to_pylist(), strict=True))
