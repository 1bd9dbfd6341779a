"""What the store has beyond LangGraph's interface: history, and whole namespaces."""

from __future__ import annotations

from langgraph.store.base import GetOp, PutOp

from indelible import Collection, Delete
from indelible.faces.threads import on_a_thread
from langchain_indelible.store.items import ItemChange, change_of
from langchain_indelible.store.namespaces import Namespace, check_namespace


class Versions:
    """Verbs on everything that was ever put."""

    _collection: Collection

    def history(self, namespace: Namespace, key: str) -> list[ItemChange]:
        """Everything that ever happened to an item, oldest first; ``[]`` for one that was never there or was purged."""
        check_namespace(GetOp(namespace, key))
        depth = len(self._collection.namespace)
        return [change_of(change, depth) for change in self._collection.below(*namespace).history(str(key))]

    async def ahistory(self, namespace: Namespace, key: str) -> list[ItemChange]:
        """``history``, on a worker thread."""
        return await on_a_thread(lambda: self.history(namespace, key))

    def delete_namespace(self, namespace: Namespace) -> int:
        """Delete every item of a namespace and of those below it, in one transaction; their history stays.

        Returns:
            How many there were.

        Raises:
            InvalidNamespaceError: one that no item can be in, ``()`` included.
        """
        check_namespace(PutOp(namespace, "", {}))
        depth = len(self._collection.namespace)
        records = self._collection.below(*namespace).list(prefix=True, include_expired=True)
        return sum(self._collection.batch([Delete(r.key, namespace=r.namespace[depth:]) for r in records if r.key is not None]))

    async def adelete_namespace(self, namespace: Namespace) -> int:
        """``delete_namespace``, on a worker thread."""
        return await on_a_thread(lambda: self.delete_namespace(namespace))
