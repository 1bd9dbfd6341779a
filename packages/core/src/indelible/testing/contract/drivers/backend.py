"""The driver straight on a backend: drafts in, rows out, no face between."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from indelible.backend.interface import Backend, Selection
from indelible.base.canonical import check_text, dumps, encode
from indelible.base.clock import expiry_from_ttl, ms_from_datetime
from indelible.base.draft import Draft
from indelible.base.event import Op, Payload
from indelible.base.record import NO_SCOPE, Scope, ScopeFilter
from indelible.faces.arguments import check_when
from indelible.faces.fields import changes_of
from indelible.faces.transfer import export_log, import_log
from indelible.testing.contract.driver import Driver, Happened, Power, Reader, When
from indelible.testing.contract.drivers.base import PlacedDriver, happened

NAMESPACE = ("contract",)


class BackendReader(Reader):
    """Rows of a backend, now or in the past."""

    backend: Backend
    scope: Scope = NO_SCOPE

    def position(self) -> tuple[int | None, int]:
        """The version to read at, and the time at which expiry is judged."""
        raise NotImplementedError

    def get(self, key: str) -> str | None:
        texts = self._texts(keys=(check_text(key, "a key"),))
        return texts[0][1] if texts else None

    def keys(self) -> list[str]:
        return [key for key, _ in self._texts()]

    def _texts(self, **more: Any) -> list[tuple[str, str]]:
        version, now_ms = self.position()
        rows = self.backend.select(Selection(NAMESPACE, scope=ScopeFilter(*self.scope), version=version, now_ms=now_ms, **more))
        return [(row.standing.key or "", str(Payload(b"", row.body).fields.get("content", ""))) for row in rows]


class PastBackend(BackendReader):
    """A backend at a version or time."""

    def __init__(self, now: BackendVerbs, when: When) -> None:
        self.backend, self.scope = now.backend, now.scope
        if isinstance(when, datetime):
            at_ms = ms_from_datetime(when, "when")
            self._position: tuple[int | None, int] = (self.backend.position(at_ms=at_ms).version, at_ms)
        elif when > self.backend.mark().version:
            self._position = now.position()
        else:
            mark = self.backend.position(version=when)
            self._position = mark.version, mark.recorded_at

    def position(self) -> tuple[int | None, int]:
        return self._position


class BackendVerbs(BackendReader, Driver):
    """Drafts for a backend."""

    def position(self) -> tuple[int | None, int]:
        return None, self.clock.now_us() // 1000

    def _draft(self, op: Op, key: str, text: str | None = None, **more: Any) -> Draft:
        fields = {} if text is None else {"content": encode(text, "content")}
        return Draft(op, NAMESPACE, self.scope, key=check_text(key, "a key"), fields=fields, **more)

    def _write(self, op: Op, key: str, text: str | None = None, **more: Any) -> None:
        self.backend.append([self._draft(op, key, text, **more)])

    def remember(self, key: str, text: str) -> None:
        self._write(Op.REMEMBER, key, text)

    def forget(self, key: str) -> None:
        self._write(Op.FORGET, key, if_missing="ignore")

    def remember_value(self, key: str, value: Any) -> None:
        draft = Draft(Op.REMEMBER, NAMESPACE, self.scope, key=key, fields={"value": encode(value, "value")})
        self.backend.append([draft])

    def value(self, key: str) -> Any:
        rows = self.backend.select(Selection(NAMESPACE, scope=ScopeFilter(*self.scope), now_ms=self.position()[1], keys=(key,)))
        return Payload(b"", rows[0].body).fields.get("value") if rows else None

    def version(self) -> int:
        return self.backend.mark().version

    def history(self, key: str) -> list[Happened]:
        return happened(changes_of(self.backend.events(key=(NAMESPACE, self.scope, key))))

    def at(self, when: When) -> Reader:
        return PastBackend(self, check_when(when))

    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self._write(Op.REMEMBER, key, text, expires_at=expiry_from_ttl(ttl_ms, self.position()[1]))

    def get_expired(self, key: str) -> str | None:
        texts = self._texts(keys=(key,), expiry="all")
        return texts[0][1] if texts else None

    def forget_expired(self) -> int:
        scope, now_ms = ScopeFilter(*self.scope), self.position()[1]
        rows = self.backend.select(Selection(NAMESPACE, scope=scope, now_ms=now_ms, expiry="expired"))
        return len(self.backend.append([Draft(Op.FORGET, NAMESPACE, record=row.standing.record) for row in rows]))

    def compare_and_set(self, key: str, text: str, expected: int) -> None:
        self._write(Op.REMEMBER, key, text, expected_version=expected)

    def undo(self, key: str) -> None:
        self._write(Op.RESTORE, key)

    def restore(self, key: str, version: int) -> None:
        self._write(Op.RESTORE, key, restore_version=version)

    def remember_all(self, items: Sequence[tuple[str, str]]) -> None:
        self.backend.append([self._draft(Op.REMEMBER, key, text) for key, text in items])

    def remember_once(self, text: str, idempotency_key: str) -> str:
        fields = {"content": encode(text, "content")}
        draft = Draft(Op.REMEMBER, NAMESPACE, self.scope, fields=fields, idempotency_key=idempotency_key)
        return (self.backend.append([draft])[0].record or b"").hex()

    def vote(self, key: str, vote: str) -> None:
        self.backend.append([Draft(Op.VOTE, NAMESPACE, self.scope, key=key, fields={"vote": dumps(vote)})])

    def purge(self, key: str) -> int:
        return int(self.backend.append([self._draft(Op.PURGE, key)])[0].changed)


_POWERS = frozenset(
    {
        Power.ORDER,
        Power.VALUES,
        Power.VERSION,
        Power.HISTORY,
        Power.PAST,
        Power.EXPIRY,
        Power.SWEEP,
        Power.COMPARE_AND_SET,
        Power.UNDO,
        Power.RESTORE,
        Power.BATCH,
        Power.RETRY,
        Power.VOTES,
        Power.SCOPES,
        Power.PURGE,
    }
)


class BackendDriver(BackendVerbs, PlacedDriver):
    """A backend on its place."""

    face_powers = _POWERS | {Power.VERIFY, Power.TRANSFER}

    def open(self) -> None:
        self.backend = self.place.open(self.clock)

    def close(self) -> None:
        self.backend.close()

    def within(self, whose: str) -> Driver:
        return _ScopedBackend(self, whose)

    def export(self, path: Path) -> None:
        export_log(self.backend, str(path))

    def import_(self, path: Path) -> None:
        import_log(self.backend, str(path))

    def problems(self) -> Sequence[str]:
        return self.backend.verify().problems

    def rebuild(self) -> None:
        self.backend.rebuild()

    def vacuum(self) -> None:
        self.backend.vacuum()


class _ScopedBackend(BackendVerbs):
    """The same backend for one user."""

    powers = _POWERS - {Power.SCOPES}

    def __init__(self, whole: BackendDriver, whose: str) -> None:
        self.clock = whole.clock
        self.backend = whole.backend
        self.scope = Scope(user_id=whose)
        self._whole = whole

    def close(self) -> None:
        self._whole.close()
