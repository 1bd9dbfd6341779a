"""LangGraph's verbs that take more here: versions to read at, and versions to write over."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Literal, cast

from langgraph.store.base import NOT_PROVIDED, BaseStore, GetOp, NotProvided, Op, PutOp, SearchOp

from indelible.faces.threads import on_a_thread
from langchain_indelible.store.items import CheckedPut, IndelibleItem, IndelibleSearchItem
from langchain_indelible.store.namespaces import Namespace
from langchain_indelible.store.operations import StoreBatch

When = int | datetime
"""A version, or a time with its timezone."""


class Verbs(BaseStore):
    """``get``, ``search``, ``put`` and ``delete`` with their twins for ``await``."""

    @abstractmethod
    def _prepared(self, ops: Iterable[Op], as_of: When | None = None) -> StoreBatch:
        """Operations, checked, on the store as it is or was."""

    @property
    def _refreshes(self) -> bool:
        return (self.ttl_config or {}).get("refresh_on_read", True)

    def get(self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None, as_of: When | None = None) -> IndelibleItem | None:
        """The item of a key, ``None`` if there is none.

        Args:
            namespace, key: which.
            refresh_ttl: whether its time to live begins anew; when omitted, as configured. The past is never refreshed.
            as_of: a version or time, for the item as it was.
        """
        op = GetOp(namespace, key, self._refresh(refresh_ttl, as_of))
        return cast("IndelibleItem | None", self._prepared([op], as_of).run()[0])

    async def aget(
        self, namespace: Namespace, key: str, *, refresh_ttl: bool | None = None, as_of: When | None = None
    ) -> IndelibleItem | None:
        """``get``, on a worker thread."""
        op = GetOp(namespace, key, self._refresh(refresh_ttl, as_of))
        return cast("IndelibleItem | None", (await on_a_thread(self._prepared([op], as_of).run))[0])

    def search(  # type: ignore[override]  # a list of items that have a version besides
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        as_of: When | None = None,
    ) -> list[IndelibleSearchItem]:
        """Items of a namespace and those below it.

        Args:
            namespace_prefix: labels; each must be met whole. ``()`` for all.
            query: text to be near to, where the store embeds; ignored otherwise.
            filter: conditions on fields, see ``langchain_indelible.filters``.
            limit, offset: of the answer, in an order that pages do not change.
            refresh_ttl: whether the time to live of what is found begins anew; when omitted, as configured.
            as_of: a version or time, for what would have been found then.
        """
        op = SearchOp(namespace_prefix, filter, limit, offset, query, self._refresh(refresh_ttl, as_of))
        return cast("list[IndelibleSearchItem]", self._prepared([op], as_of).embed().run()[0])

    async def asearch(  # type: ignore[override]  # a list of items that have a version besides
        self,
        namespace_prefix: Namespace,
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
        as_of: When | None = None,
    ) -> list[IndelibleSearchItem]:
        """``search``, with the embeddings' own coroutine and on a worker thread."""
        op = SearchOp(namespace_prefix, filter, limit, offset, query, self._refresh(refresh_ttl, as_of))
        prepared = await self._prepared([op], as_of).aembed()
        return cast("list[IndelibleSearchItem]", (await on_a_thread(prepared.run))[0])

    def put(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | None | NotProvided = NOT_PROVIDED,
        expected_version: int | None = None,
    ) -> None:
        """Put an item; what the key held before stays in its history.

        Args:
            namespace, key: where.
            value: plain JSON, or mappings and tuples of it.
            index: ``False`` to embed nothing, or paths to embed in place of the configured ones.
            ttl: minutes until it expires, ``None`` for never; when omitted, as configured.
            expected_version: put only if the item is at this version, 0 for "must not exist".

        Raises:
            InvalidNamespaceError, InvalidInput: an argument is refused; nothing was written.
            VersionConflict: ``expected_version`` does not hold; nothing was written.
        """
        self.batch([self._put_op(namespace, key, value, index, ttl, expected_version)])

    async def aput(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | None | NotProvided = NOT_PROVIDED,
        expected_version: int | None = None,
    ) -> None:
        """``put``, with the embeddings' own coroutine and on a worker thread."""
        await self.abatch([self._put_op(namespace, key, value, index, ttl, expected_version)])

    def delete(self, namespace: Namespace, key: str, *, expected_version: int | None = None) -> None:
        """Delete an item; its history stays. One that is not there is fine, unless ``expected_version`` says otherwise."""
        self.batch([self._put_op(namespace, key, None, None, None, expected_version)])

    async def adelete(self, namespace: Namespace, key: str, *, expected_version: int | None = None) -> None:
        """``delete``, on a worker thread."""
        await self.abatch([self._put_op(namespace, key, None, None, None, expected_version)])

    def _put_op(
        self,
        namespace: Namespace,
        key: str,
        value: Mapping[str, Any] | None,
        index: Literal[False] | list[str] | None,
        ttl: float | None | NotProvided,
        expected_version: int | None,
    ) -> PutOp:
        minutes = (self.ttl_config or {}).get("default_ttl") if isinstance(ttl, NotProvided) else ttl
        if expected_version is None:
            return PutOp(namespace, key, value, index, minutes)
        return CheckedPut(namespace, key, value, index, minutes, expected_version=expected_version)

    def _refresh(self, refresh_ttl: bool | None, as_of: When | None) -> bool:
        return as_of is None and (self._refreshes if refresh_ttl is None else refresh_ttl)
