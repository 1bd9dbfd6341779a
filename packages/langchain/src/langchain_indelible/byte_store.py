"""A key/value store of bytes, for LangChain's caches and its stores of parent documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from langchain_core.stores import ByteStore

from indelible import InvalidInput, MemoryStore
from langchain_indelible.labels import labels_of


class IndelibleByteStore(ByteStore):
    """Bytes by key, in a cache of the store: **not memory**. Setting a key replaces its value, and no version of it is kept.

    Args:
        store: where.
        namespace: a label or several, which keeps several apart.
        ttl_ms: milliseconds until a value is no longer there.
    """

    def __init__(self, store: MemoryStore, *, namespace: str | Sequence[str] = ("bytes",), ttl_ms: int | None = None) -> None:
        self._cache = store.collection(*labels_of(namespace), cache=True)
        self._ttl_ms = ttl_ms

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """The values of keys, in their order, ``None`` where there is none."""
        values: list[bytes | None] = self._cache.get_many(list(keys))
        return values

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]]) -> None:
        """Set keys, in one transaction.

        Raises:
            InvalidInput: a key that is no text, or a value that is no bytes; nothing was set.
        """
        for key, value in key_value_pairs:
            if not isinstance(key, str):
                raise InvalidInput(f"a key must be a str, got {type(key).__name__}")
            if not isinstance(value, bytes):
                raise InvalidInput(f"the value of {key!r} must be bytes, got {type(value).__name__}")
        self._cache.put_many(dict(key_value_pairs), ttl_ms=self._ttl_ms)

    def mdelete(self, keys: Sequence[str]) -> None:
        """Remove keys, in one transaction. What is not there is fine."""
        self._cache.delete_many(keys)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Keys that begin with a text, sorted, as they are at the first step."""
        yield from self._cache.keys(prefix or "")
