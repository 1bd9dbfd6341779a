"""A conformance kit for LangGraph stores: what every ``BaseStore`` should do, one law per test. It needs pytest.

A store is put to it by a subclass in a test module::

    class TestMyStore(StoreConformance):
        @contextmanager
        def open_store(self, *, index=None, ttl=None):
            with MyStore.from_conn_string(":memory:", index=index, ttl=ttl) as store:
                yield store

Each law is a test whose docstring states it. What a store does otherwise by design is listed in ``differences``, with the reason; such a
law must then fail, so that the list cannot grow stale. What a store cannot do is declared (``has_ttl = False``), and it must refuse it.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("langchain_indelible.testing.laws")

from langchain_indelible.testing.conformance import StoreConformance as StoreConformance  # noqa: E402 - the rewrite has to be registered first
from langchain_indelible.testing.embeddings import RecordingEmbeddings as RecordingEmbeddings  # noqa: E402 - likewise
from langchain_indelible.testing.laws.base import StoreLaws as StoreLaws  # noqa: E402 - likewise

__all__ = ["RecordingEmbeddings", "StoreConformance", "StoreLaws"]
