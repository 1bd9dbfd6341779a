"""Where LlamaIndex keeps what an index is."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.storage.index_store.keyval_index_store import KVIndexStore

from indelible import Collection, MemoryStore
from llama_index_indelible.kvstore import IndelibleKVStore
from llama_index_indelible.opening import PathLike


class IndelibleIndexStore(KVIndexStore):
    """Index structs in a store, each on disk when its call returns.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where they live, in place of a path.
        namespace: a label or several.
        agent_id, user_id, org_id, workspace_id: whose they are, matched exactly.
    """

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: MemoryStore | None = None,
        namespace: str | Sequence[str] = ("indexes",),
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
    ) -> None:
        self.kvstore = IndelibleKVStore(
            path, store=store, namespace=namespace, agent_id=agent_id, user_id=user_id, org_id=org_id, workspace_id=workspace_id
        )
        super().__init__(self.kvstore, namespace="structs")

    @property
    def collection(self) -> Collection:
        """The collection of the core that holds the structs: their history, and their past."""
        found: Collection = self.kvstore.collection(self._collection)
        return found
