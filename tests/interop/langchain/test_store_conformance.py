"""The conformance kit, on our store and, for the differences, on LangGraph's in-memory store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langgraph.store.base import BaseStore, IndexConfig, TTLConfig
from langgraph.store.memory import InMemoryStore

from indelible.testing import FakeClock
from langchain_indelible import IndelibleStore
from langchain_indelible.testing import StoreConformance


class TestIndelibleStore(StoreConformance):
    """Every law holds; there are no differences."""

    clock: FakeClock

    @contextmanager
    def open_store(self, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> Iterator[BaseStore]:
        self.clock = FakeClock()
        with IndelibleStore(":memory:", index=index, ttl=ttl, clock=self.clock) as store:
            yield store

    def advance(self, minutes: float) -> None:
        self.clock.advance(ms=round(minutes * 60_000))


class TestInMemoryStore(StoreConformance):
    """LangGraph's own store for tests, and where it differs."""

    has_ttl = False

    @contextmanager
    def open_store(self, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> Iterator[BaseStore]:
        yield InMemoryStore(index=index)
