"""Which records a read reaches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from indelible.base.record import ANY_SCOPE, Namespace, ScopeFilter


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records a read reaches, applied before any ranking or limit.

    Attributes:
        namespace: exactly this one, or (``prefix``) it and all below; ``None`` for all.
        scope: per field a value, "not set", or any.
        version: the log's position to read at; ``None`` for now.
        now_ms: the time at which expiry is judged.
        expiry: ``"live"`` leaves out what has expired, ``"all"`` does not, ``"expired"`` takes nothing else.
        records, keys, parent: only these.
        equals: conditions that every wanted record meets, ``(path, value)``; a backend may use them to skip records.
        equals_on: what they are about.
        every_version: also states that no longer stand.
        hidden: also records that are forgotten or superseded, as they stand now.
        order: by creation or by latest change; ties are impossible within a store's own writes and broken by id after a merge.
        descending, limit, offset: of the answer.
    """

    namespace: Namespace | None = ()
    prefix: bool = False
    scope: ScopeFilter = ANY_SCOPE
    version: int | None = None
    now_ms: int = 0
    expiry: Literal["live", "all", "expired"] = "live"
    records: tuple[bytes, ...] | None = None
    keys: tuple[str, ...] | None = None
    parent: str | None = None
    equals: tuple[tuple[tuple[str, ...], Any], ...] = ()
    equals_on: Literal["metadata", "value"] = "metadata"
    every_version: bool = False
    hidden: bool = False
    order: Literal["created", "updated"] = "created"
    descending: bool = False
    limit: int | None = None
    offset: int = 0
