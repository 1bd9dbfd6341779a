"""A key/value store for LlamaIndex, every version kept; or a cache, of which none is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from llama_index.core.storage.kvstore.types import DEFAULT_BATCH_SIZE, DEFAULT_COLLECTION, BaseKVStore

from indelible import Delete, InvalidInput, MemoryStore, Put
from indelible.faces.threads import on_a_thread
from llama_index_indelible.opening import Kept, PathLike


class IndelibleKVStore(Kept, BaseKVStore):
    """Dicts of JSON by key, in collections. What is read is a copy; every write is on disk when it returns.

    Args:
        path: the file; without it and without ``store`` the default one.
        store: where the values live, in place of a path.
        namespace: a label or several.
        cache: keep no versions: for ingestion and embedding caches, which are **not memory** and which purging a person does not reach.
        agent_id, user_id, org_id, workspace_id: whose values these are, matched exactly.
    """

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        store: MemoryStore | None = None,
        namespace: str | Sequence[str] = ("kv",),
        cache: bool = False,
        agent_id: str | None = None,
        user_id: str | None = None,
        org_id: str | None = None,
        workspace_id: str | None = None,
    ) -> None:
        super().__init__(path, store, namespace, agent_id=agent_id, user_id=user_id, org_id=org_id, workspace_id=workspace_id)
        self.cache = cache

    def collection(self, name: str = DEFAULT_COLLECTION) -> Any:
        """The collection of the core that holds a collection: its history, and its past."""
        if not self.cache:
            return self.store.collection(*self.namespace, name, **self.scope)
        whose = [f"{field}={value}" for field, value in self.scope.items() if value is not None]
        return self.store.collection(*self.namespace, *whose, name, cache=True)

    def put(self, key: str, val: dict[str, Any], collection: str = DEFAULT_COLLECTION) -> None:
        """Set a key.

        Raises:
            InvalidInput: a value that is no dict of JSON.
        """
        self.put_all([(key, val)], collection)

    def put_all(
        self, kv_pairs: Sequence[tuple[str, dict[str, Any]]], collection: str = DEFAULT_COLLECTION, batch_size: int = DEFAULT_BATCH_SIZE
    ) -> None:
        """Set keys in one transaction, whatever the batch size: all or none."""
        pairs = [(key, _checked(key, value)) for key, value in kv_pairs]
        if self.cache:
            self.collection(collection).put_many(dict(pairs))
        else:
            self.collection(collection).batch([Put(key, value=value) for key, value in pairs])

    def get(self, key: str, collection: str = DEFAULT_COLLECTION) -> dict[str, Any] | None:
        """The value of a key, ``None`` if there is none."""
        found = self.collection(collection).get(key)
        value: dict[str, Any] | None = found if self.cache or found is None else found.value
        return value

    def get_all(self, collection: str = DEFAULT_COLLECTION) -> dict[str, dict[str, Any]]:
        """Keys and values: of a cache by key, else in the order in which the keys came."""
        found = self.collection(collection).list()
        return dict(found) if self.cache else {record.key or "": record.value for record in found}

    def delete(self, key: str, collection: str = DEFAULT_COLLECTION) -> bool:
        """Remove a key, and say whether it was there."""
        where = self.collection(collection)
        if not self.cache:
            return bool(where.delete(key))
        there = where.get(key) is not None
        where.delete(key)
        return there

    def delete_all(self, keys: Sequence[str], collection: str = DEFAULT_COLLECTION) -> None:
        """Remove keys in one transaction; those that are not there are fine."""
        if self.cache:
            self.collection(collection).delete_many(keys)
        else:
            self.collection(collection).batch([Delete(key) for key in keys])

    async def aput(self, key: str, val: dict[str, Any], collection: str = DEFAULT_COLLECTION) -> None:
        """See ``put``."""
        await on_a_thread(partial(self.put, key, val, collection))

    async def aput_all(
        self, kv_pairs: Sequence[tuple[str, dict[str, Any]]], collection: str = DEFAULT_COLLECTION, batch_size: int = DEFAULT_BATCH_SIZE
    ) -> None:
        """See ``put_all``."""
        await on_a_thread(partial(self.put_all, kv_pairs, collection, batch_size))

    async def aget(self, key: str, collection: str = DEFAULT_COLLECTION) -> dict[str, Any] | None:
        """See ``get``."""
        return await on_a_thread(partial(self.get, key, collection))

    async def aget_all(self, collection: str = DEFAULT_COLLECTION) -> dict[str, dict[str, Any]]:
        """See ``get_all``."""
        return await on_a_thread(partial(self.get_all, collection))

    async def adelete(self, key: str, collection: str = DEFAULT_COLLECTION) -> bool:
        """See ``delete``."""
        return await on_a_thread(partial(self.delete, key, collection))

    async def adelete_all(self, keys: Sequence[str], collection: str = DEFAULT_COLLECTION) -> None:
        """See ``delete_all``."""
        await on_a_thread(partial(self.delete_all, keys, collection))

    def _state(self) -> dict[str, Any]:
        return {**super()._state(), "cache": self.cache}


def _checked(key: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"the value of {key!r} must be a dict, got {type(value).__name__}")
    try:
        plain: dict[str, Any] = _plain(value)
    except RecursionError:
        raise InvalidInput(f"the value of {key!r} is nested too deeply, or contains itself") from None
    return plain


def _plain(value: Any) -> Any:
    """The value with LlamaIndex's enums as the text that they are, and tuples as lists, as JSON would have them."""
    if isinstance(value, dict):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return str.__str__(value) if isinstance(value, str) else value
