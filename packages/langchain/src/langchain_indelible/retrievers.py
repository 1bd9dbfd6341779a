"""A retriever over facts or a collection, now or in the past."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Annotated, Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import run_in_executor
from pydantic import Field, Strict, StrictInt

from indelible import Collection, Hit, InvalidInput
from indelible.base.record import UNSET, Unset
from indelible.faces.facts_read import FactReads
from langchain_indelible.documents import document_of, search_conditions, with_provenance


class IndelibleRetriever(BaseRetriever):
    """Finds memories for a query, by meaning and by words.

    ``k``, ``mode``, ``filter``, ``as_of`` and ``rerank`` may also be given to ``invoke``, where they win.

    Attributes:
        memory: a store, a view of one (``store.scope(...)``, ``store.at(...)``) or a collection.
        k: how many documents at most.
        mode: ``"hybrid"`` (default; by words alone where there is no model), ``"semantic"`` or ``"keyword"`` (every word must occur).
        filter: as for the vector store.
        as_of: a version or time: what would have been found then.
        rerank: ``True``, a ``Rerank`` or a reranker, as for ``MemoryStore.recall``: a model reads the query beside each of the best.
        agent_id, user_id, org_id, workspace_id: only this scope of a store; ``None`` for "not set". A collection has one of its own.
        provenance: whether documents say, under ``metadata["indelible"]``, which version of what they are and why they were found;
            otherwise metadata is exactly what was stored.
    """

    memory: FactReads | Collection
    k: int = Field(default=5, ge=0, strict=True)
    mode: str | None = None
    filter: Any = None
    as_of: StrictInt | Annotated[datetime, Strict()] | None = None  # neither a flag nor a float is a version
    rerank: Any = None
    agent_id: str | None | Unset = UNSET
    user_id: str | None | Unset = UNSET
    org_id: str | None | Unset = UNSET
    workspace_id: str | None | Unset = UNSET
    provenance: bool = False

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
        mode: str | None = None,
        filter: Any = None,
        as_of: int | datetime | None = None,
        rerank: Any = None,
    ) -> list[Document]:
        hits = self._hits(
            query,
            limit=self.k if k is None else k,
            mode=mode or self.mode,
            as_of=self.as_of if as_of is None else as_of,
            rerank=self.rerank if rerank is None else rerank,
            **search_conditions(self.filter if filter is None else filter),
        )
        return [with_provenance(hit) if self.provenance else document_of(hit.record) for hit in hits]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        # The inherited one takes no options.
        return await run_in_executor(None, partial(self._get_relevant_documents, query, run_manager=run_manager.get_sync(), **options))

    def _hits(self, query: str, *, mode: str | None, **options: Any) -> list[Hit]:
        scope = {name: getattr(self, name) for name in ("agent_id", "user_id", "org_id", "workspace_id")}
        given = {name: value for name, value in scope.items() if value is not UNSET}
        if isinstance(self.memory, FactReads):
            return self.memory.recall(query, mode=mode or "hybrid", **options, **given)
        if given:
            raise InvalidInput(f"a collection has a scope of its own: give {next(iter(given))} to store.collection(...)")
        if mode in (None, "hybrid") and not self.memory.has_model:
            return self.memory.search(query, mode="hybrid", balance=0.0, **options)
        return self.memory.search(query, mode=mode or "hybrid", **options)
