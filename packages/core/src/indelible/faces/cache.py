"""A cache collection: values of other systems, outside the log."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from indelible.backend.interface import CacheEntry
from indelible.base.canonical import MAX_VALUE_BYTES, encode, loads
from indelible.base.clock import expiry_from_ttl
from indelible.base.record import Namespace
from indelible.errors import InvalidInput, UnsupportedOperation
from indelible.faces.arguments import check_many
from indelible.faces.engine import Engine
from indelible.faces.memory import check_key

_BYTES, _JSON = b"b", b"j"


class CacheCollection:
    """Keys and values for embedding and ingestion caches: **not memory**.

    It lives outside the log in a table of its own: no versions, no history, no search, no time travel; putting a key again replaces the
    value. Values are ``bytes`` or JSON and come back as they were.

    Args:
        engine: the store's.
        namespace: keeps caches apart.
    """

    def __init__(self, engine: Engine, namespace: Namespace) -> None:
        self._engine = engine
        self._namespace = namespace

    def put(self, key: str, value: Any, *, ttl_ms: int | None = None) -> None:
        """Set a key."""
        self.put_many({check_key(key): value}, ttl_ms=ttl_ms)

    def put_many(self, values: Mapping[str, Any], *, ttl_ms: int | None = None) -> None:
        """Set many keys in one transaction.

        Raises:
            InvalidInput: a key that is not text, or a value that is neither ``bytes`` nor JSON.
        """
        if not isinstance(values, Mapping):
            raise InvalidInput(f"values must be a dict, got {type(values).__name__}")
        now_ms = self._engine.now_ms()
        expires_at = expiry_from_ttl(ttl_ms, now_ms)
        entries = [CacheEntry(check_key(key), _packed(value), now_ms, expires_at) for key, value in values.items()]
        self._engine.backend.cache_put(self._namespace, entries)

    def get(self, key: str) -> Any:
        """The value of a key, ``None`` if there is none."""
        return self.get_many([key])[0]

    def get_many(self, keys: Sequence[str]) -> builtins.list[Any]:
        """The values of keys, in their order, ``None`` where there is none."""
        wanted = [check_key(key) for key in check_many(keys, "keys")]
        found = {entry.key: entry for entry in self._engine.backend.cache_get(self._namespace, wanted, self._engine.now_ms())}
        return [_unpacked(found[key].value) if key in found else None for key in wanted]

    def delete(self, key: str) -> None:
        """Remove a key; one that is not there is fine."""
        self.delete_many([key])

    def delete_many(self, keys: Iterable[str]) -> None:
        """Remove many keys in one transaction."""
        self._engine.backend.cache_put(self._namespace, [], [check_key(key) for key in check_many(keys, "keys")])

    def keys(self, prefix: str = "") -> builtins.list[str]:
        """Keys that begin with a text, sorted."""
        check_key(prefix)
        entries = self._engine.backend.cache_get(self._namespace, None, self._engine.now_ms())
        return [entry.key for entry in entries if entry.key.startswith(prefix)]

    def list(self) -> builtins.list[tuple[str, Any]]:
        """Keys and values, sorted by key."""
        entries = self._engine.backend.cache_get(self._namespace, None, self._engine.now_ms())
        return [(entry.key, _unpacked(entry.value)) for entry in entries]

    def _refuse(self, *args: object, **kwargs: object) -> NoReturn:
        """Not offered: a cache has no past and no search."""
        raise UnsupportedOperation("a cache keeps no versions and is not searched: use a collection without cache=True")

    history = undo = restore = purge = at = search = batch = namespaces = _refuse

    def __repr__(self) -> str:
        return f"<CacheCollection {'/'.join(self._namespace) or '()'}>"


def _packed(value: object) -> bytes:
    if isinstance(value, bytes):
        if len(value) > MAX_VALUE_BYTES:
            raise InvalidInput(f"the value has {len(value)} bytes, the limit is {MAX_VALUE_BYTES}")
        return _BYTES + value
    return _JSON + encode(value, "value").encode()


def _unpacked(raw: bytes) -> Any:
    return raw[1:] if raw[:1] == _BYTES else loads(raw[1:].decode())
