"""What a batch is made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from indelible.base.record import Namespace, Part

if TYPE_CHECKING:
    from indelible.faces.collection import Collection


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
    """Forget a key.

    Attributes:
        key: which.
        expected_version: only if the record is at this version.
        namespace: labels below the collection's own.
        source: who says so.
    """

    key: str
    expected_version: int | None = None
    namespace: Namespace = ()
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Touch:
    """Move a key's expiry to a time to live from now, as reading through a cache does. See ``Collection.touch``.

    Attributes:
        key: which; one that is not there, has expired, or is written in the same batch is left alone.
        ttl_ms: the time to live.
        version: only while the record is at this version; ``None`` whatever it is.
        namespace: labels below the collection's own.
        expires_at: the expiry that the caller saw; if moving that is not worth an event, nothing is asked of the log.
    """

    key: str
    ttl_ms: int
    version: int | None = None
    namespace: Namespace = ()
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Ask anything of the collection as it stood before the batch.

    Attributes:
        function: gets the collection, and may be called again with a read-only view of it if others wrote meanwhile; what it
            returned last is the result.
    """

    function: Callable[[Collection], Any]


Operation = Get | Put | Delete | Touch | Read
