"""The backend as the tests of this folder and of ``tests/unit/backend`` open it, and drafts for it."""

from __future__ import annotations

from itertools import count

from indelible.backend.interface import Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps
from indelible.base.clock import Clock
from indelible.base.event import Op
from indelible.base.ids import IdSource, uuid7
from indelible.base.plan import Draft
from indelible.base.record import NO_SCOPE, Namespace, Scope
from indelible.faces.engine import TextIndexer

NOTES: Namespace = ("notes",)
FIRST_US = 1_750_000_000_000_000
"""Where the tests' clocks begin: in June 2025."""


class SteppingClock:
    """A clock that moves a millisecond with every look at it."""

    def __init__(self, start_us: int = FIRST_US, step_us: int = 1000) -> None:
        self._ticks = count(start_us, step_us)

    def now_us(self) -> int:
        return next(self._ticks)


def counting_ids() -> IdSource:
    """Ids 1, 2, 3, ..."""
    numbers = count(1)
    return lambda clock_us: next(numbers).to_bytes(16, "big")


def open_engine(path: object, *, clock: Clock | None = None, new_id: IdSource = uuid7, timeout_s: float = 30.0) -> SqliteBackend:
    return SqliteBackend(str(path), TextIndexer(), clock=clock, new_id=new_id, timeout_s=timeout_s)


def put(key: str, content: str, *, namespace: Namespace = NOTES, scope: Scope = NO_SCOPE, expected_version: int | None = None) -> Draft:
    """A write of a keyed text."""
    return Draft(Op.REMEMBER, namespace, scope, key=key, fields={"content": dumps(content)}, expected_version=expected_version)


def remember(content: str, *, scope: Scope = NO_SCOPE, **fields: str) -> Draft:
    """A new fact; other payload fields as text."""
    texts = {name: dumps(value) for name, value in fields.items()}
    return Draft(Op.REMEMBER, (), scope, fields={"content": dumps(content), **texts})


def contents(backend: SqliteBackend, *, namespace: Namespace | None = NOTES) -> dict[str, str]:
    """What keyed records hold now."""
    rows = backend.select(Selection(namespace=namespace, expiry="all"))
    return {row.standing.key: row.body for row in rows if row.standing.key is not None}
