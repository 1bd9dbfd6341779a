"""What all groups of laws share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, ClassVar

import pytest
from langgraph.store.base import BaseStore, IndexConfig, SearchItem, TTLConfig

from langchain_indelible.testing.embeddings import RecordingEmbeddings

NAMESPACE = ("laws",)


class StoreLaws:
    """Base of the groups; subclass ``StoreConformance`` and implement ``open_store``.

    Attributes:
        differences: laws that do not hold here, and why, by the name of their test: ``"test_x"`` for all of its cases,
            ``"test_x[case]"`` for one.
        has_ttl: whether items can expire; then ``advance`` must be implemented too.
    """

    differences: ClassVar[Mapping[str, str]] = {}
    has_ttl: ClassVar[bool] = True

    def open_store(self, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> AbstractContextManager[BaseStore]:
        """A new, empty store, closed at the end of the block."""
        raise NotImplementedError

    def advance(self, minutes: float) -> None:
        """Let time pass for every store that was opened."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _expect_differences(self, request: pytest.FixtureRequest) -> None:
        name = getattr(request.node, "originalname", None) or request.node.name
        reason = self.differences.get(request.node.name, self.differences.get(name))
        if reason is not None:
            request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))

    @pytest.fixture
    def store(self) -> Iterator[BaseStore]:
        with self.open_store() as store:
            yield store

    @pytest.fixture
    def embeddings(self) -> RecordingEmbeddings:
        return RecordingEmbeddings()

    @pytest.fixture
    def indexed(self, embeddings: RecordingEmbeddings) -> Iterator[BaseStore]:
        """A store that embeds the field ``text``."""
        with self.open_store(index={"dims": embeddings.dims, "embed": embeddings, "fields": ["text"]}) as store:
            yield store

    @pytest.fixture
    def ttl_store(self) -> Iterator[BaseStore]:
        """A store with time to live, nothing set."""
        self.needs_ttl()
        with self.open_store(ttl={"refresh_on_read": True, "omit_expired": True}) as store:
            yield store

    def needs_ttl(self) -> None:
        if not self.has_ttl:
            pytest.skip("this store declares that its items never expire")


def keys_of(items: list[SearchItem]) -> list[str]:
    return [item.key for item in items]


def fill(store: BaseStore, count: int, namespace: tuple[str, ...] = NAMESPACE, **fields: Any) -> list[str]:
    """Put items ``k00``, ``k01``, ..., each with its number and a text, and give their keys."""
    keys = [f"k{number:02}" for number in range(count)]
    for number, key in enumerate(keys):
        store.put(namespace, key, {"n": number, "text": f"text number {number}", **fields})
    return keys


def pages(store: BaseStore, size: int, *, namespace: tuple[str, ...] = NAMESPACE, query: str | None = None) -> list[list[str]]:
    """The keys of every page up to the first short one; a store that never gives one is stopped after a hundred."""
    found: list[list[str]] = []
    while len(found) < 100 and (not found or len(found[-1]) == size):
        found.append(keys_of(store.search(namespace, query=query, limit=size, offset=size * len(found))))
    return found


def flat(found: list[list[str]]) -> list[str]:
    """All pages as one list."""
    return [key for page in found for key in page]
