"""What a batch is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from indelible.base.record import Namespace, Part


@dataclass(frozen=True, slots=True)
class Get:
    """Read a key. In a batch it sees the version before the batch.

    Attributes:
        key: which.
        namespace: labels below the collection's own.
    """

    key: str
    namespace: Namespace = ()


@dataclass(frozen=True, slots=True)
class Put:
    """Write a key; of several in a batch for one key, the last counts. Fields as in ``Collection.put``."""

    key: str
    content: str = ""
    value: Any = None
    metadata: Mapping[str, Any] | None = None
    parts: Sequence[Part] | None = None
    parent: str | None = None
    source: str | None = None
    ttl_ms: int | None = None
    expires_at: datetime | None = None
    expected_version: int | None = None
    namespace: Namespace = field(default=())


@dataclass(frozen=True, slots=True)
class Delete:
    """Forget a key."""

    key: str
    expected_version: int | None = None
    namespace: Namespace = ()


Operation = Get | Put | Delete
