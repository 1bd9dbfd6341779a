"""The coroutines of the document store: each is the plain call on a worker thread, so both always do the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from llama_index.core.schema import BaseNode
from llama_index.core.storage.docstore.types import BaseDocumentStore, RefDocInfo

from indelible.faces.threads import on_a_thread


class AsyncDocumentStore(BaseDocumentStore):
    """For each plain verb its coroutine."""

    async def async_add_documents(
        self, docs: Sequence[BaseNode], allow_update: bool = True, batch_size: int | None = None, store_text: bool = True
    ) -> None:
        """See ``add_documents``."""
        await on_a_thread(partial(self.add_documents, docs, allow_update, store_text=store_text))

    async def aget_document(self, doc_id: str, raise_error: bool = True) -> BaseNode | None:
        """See ``get_document``."""
        return await on_a_thread(partial(self.get_document, doc_id, raise_error))

    async def adelete_document(self, doc_id: str, raise_error: bool = True) -> None:
        """See ``delete_document``."""
        await on_a_thread(partial(self.delete_document, doc_id, raise_error))

    async def adocument_exists(self, doc_id: str) -> bool:
        """See ``document_exists``."""
        return await on_a_thread(partial(self.document_exists, doc_id))

    async def aset_document_hash(self, doc_id: str, doc_hash: str) -> None:
        """See ``set_document_hash``."""
        await on_a_thread(partial(self.set_document_hash, doc_id, doc_hash))

    async def aset_document_hashes(self, doc_hashes: dict[str, str]) -> None:
        """See ``set_document_hashes``."""
        await on_a_thread(partial(self.set_document_hashes, doc_hashes))

    async def aget_document_hash(self, doc_id: str) -> str | None:
        """See ``get_document_hash``."""
        return await on_a_thread(partial(self.get_document_hash, doc_id))

    async def aget_all_document_hashes(self) -> dict[str, str]:
        """See ``get_all_document_hashes``."""
        return await on_a_thread(self.get_all_document_hashes)

    async def aget_ref_doc_info(self, ref_doc_id: str) -> RefDocInfo | None:
        """See ``get_ref_doc_info``."""
        return await on_a_thread(partial(self.get_ref_doc_info, ref_doc_id))

    async def aget_all_ref_doc_info(self) -> dict[str, RefDocInfo] | None:
        """See ``get_all_ref_doc_info``."""
        return await on_a_thread(self.get_all_ref_doc_info)

    async def adelete_ref_doc(self, ref_doc_id: str, raise_error: bool = True) -> None:
        """See ``delete_ref_doc``."""
        await on_a_thread(partial(self.delete_ref_doc, ref_doc_id, raise_error))
