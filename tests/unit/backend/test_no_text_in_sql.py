"""S45, S60, S84: what users write is bound, never part of a statement, and reaches no other scope."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from indelible.backend.interface import CacheEntry, Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps
from indelible.base.event import Op
from indelible.base.plan import Draft, PartVector
from indelible.base.record import Namespace, Scope, ScopeFilter
from indelible.search.keyword import find_tokens, parse_query
from tests.crash.engine import SteppingClock, contents, open_engine, put
from tests.unit.backend.hostile_texts import HOSTILE

PLAIN = "plain"
CANARY = "canary-in-another-scope"
STRANGER = Scope("stranger", "stranger", "stranger", "stranger")


class _Noted(sqlite3.Connection):
    """A connection that keeps the text of every statement it is given."""

    texts: set[str]

    def execute(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        self.texts.add(sql)
        return super().execute(sql, *arguments)

    def executemany(self, sql: str, *arguments: Any) -> sqlite3.Cursor:
        self.texts.add(sql)
        return super().executemany(sql, *arguments)

    def cursor(self, *arguments: Any) -> Any:
        raise AssertionError("statements must go where they are noted")


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Every statement from here on."""
    _Noted.texts = set()
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: connect(*args, **{**kwargs, "factory": _Noted}))
    return _Noted.texts


def exercise(backend: SqliteBackend, text: str, seen: list[object]) -> None:
    """Give ``text`` to every parameter of every verb that takes any; what reads returned goes to ``seen``."""
    # Labels hold no control characters; the length keeps texts apart that differ in nothing else.
    label = "".join(character for character in text if character >= " ") + f"|{len(text)}|{text[:2].encode().hex()}"
    namespace: Namespace = (label, "below")
    scope = Scope(*[text or "nothing"] * 4)
    fields = {name: dumps(text) for name in ("content", "source", "note")} | {
        "metadata": dumps({text: text}),
        "parts": dumps([{"name": text, "text": text}]),
        "parent": dumps(text),
    }
    draft = Draft(
        Op.REMEMBER, namespace, scope, key=text, fields=fields, idempotency_key=text, vectors=(PartVector(text, text, b"\0" * 8),)
    )
    first = backend.append([draft])[0]
    assert backend.append([draft])[0].version == first.version
    record = first.record
    assert record is not None
    backend.append(
        [
            Draft(Op.REVISE, namespace, scope, key=text, fields={"value": dumps(text)}),
            Draft(Op.VOTE, None, record=record, fields={"vote": dumps(text), "note": dumps(text)}),
            Draft(Op.FORGET, namespace, scope, key=text),
            Draft(Op.RESTORE, namespace, scope, key=text),
        ]
    )
    selections = [
        Selection(namespace=namespace),
        Selection(namespace=(label,), prefix=True),
        Selection(namespace=namespace, scope=ScopeFilter(*scope)),
        Selection(namespace=namespace, keys=(text,), parent=text),
        Selection(namespace=namespace, equals=(((text,), text),)),
    ]
    for selection in selections:
        rows = backend.select(selection)
        assert [row.standing.record for row in rows] == [record]
        seen += [row.body for row in rows]
        seen += backend.slices(selection)
        backend.corpus(selection)
        seen += backend.vectors(selection, [text])
        assert list(map(bytes, backend.embedded(selection, [text]).documents.records)) == [record]
        if text.strip():
            for query in (parse_query(text), parse_query(text, match="any"), parse_query(text, stemmed=True)):
                found = backend.find(selection, find_tokens(query), match=query.match)
                assert [item.record for item in found] == ([record] if query.terms else [])
                seen += found
    seen += [event.payload.body for event in backend.events(key=(namespace, scope, text)) if event.payload]
    assert [row.standing.record for row in backend.rows([record])] == [record]
    assert backend.votes([record])[record] == [text]
    backend.setting(text, text)
    assert backend.setting(text) == text
    backend.cache_put((label,), [CacheEntry(text, b"x", 1, None)], [f"{text} gone"])
    assert [entry.key for entry in backend.cache_get((label,), [text], 0)] == [text]
    assert [entry.key for entry in backend.cache_get((label,), None, 0)] == [text]


@pytest.fixture
def guarded(path: Path, texts: set[str]) -> Iterator[SqliteBackend]:
    """A store with a stranger's records, whose statements are noted."""
    with closing(open_engine(path, clock=SteppingClock())) as backend:
        backend.append([put(CANARY, CANARY, namespace=("canary",), scope=STRANGER)])
        yield backend


def test_statements_do_not_depend_on_what_is_written(guarded: SqliteBackend, texts: set[str]) -> None:
    """S84: after plain text has been through every parameter, hostile text brings not one new statement."""
    exercise(guarded, PLAIN, [])
    guarded.verify()
    known = set(texts)
    assert len(known) > 50
    for text in HOSTILE:
        exercise(guarded, text, [])
        assert texts == known, text[:80]
    assert guarded.verify().ok


def test_no_text_reaches_a_stranger(guarded: SqliteBackend) -> None:
    """S60, S62: whatever is asked, another scope's text is not in the answer, and it is unchanged afterwards."""
    before = contents(guarded, namespace=("canary",))
    for text in HOSTILE:
        seen: list[object] = []
        exercise(guarded, text, seen)
        assert seen
        assert "canary" not in repr(seen), text[:80]
    assert contents(guarded, namespace=("canary",)) == before == {CANARY: before[CANARY]}


def test_the_canary_can_be_seen(guarded: SqliteBackend) -> None:
    """Control: a read that does reach the stranger's scope shows it."""
    assert CANARY in repr(guarded.select(Selection(namespace=("canary",))))
    found = guarded.find(Selection(namespace=None), find_tokens(parse_query(CANARY)), match="all")
    assert CANARY.replace("-", " ") in repr(found)


def test_the_note_can_fail(guarded: SqliteBackend, texts: set[str]) -> None:
    """Control: a statement with a value in its text would be noted."""
    with guarded._connections.read() as connection:
        connection.execute(f"SELECT '{PLAIN}'")
    assert any(PLAIN in text for text in texts)


@pytest.mark.parametrize("other", ["users", "user%", "user_", "User", "USER", "use", " user", "user ", "ｕser"])
def test_scopes_are_compared_exactly(path: Path, other: str) -> None:
    """S60: never by prefix, pattern or case."""
    with closing(open_engine(path)) as backend:
        backend.append([put("mine", "mine", scope=Scope(user_id="user")), put("theirs", "theirs", scope=Scope(user_id=other))])
        rows = backend.select(Selection(namespace=("notes",), scope=ScopeFilter(user_id="user")))
        assert [row.standing.key for row in rows] == ["mine"]


@pytest.mark.parametrize("other", [("a", "b"), ("ab",), ("a%",), ("a_",), ("A",), ("b", "a")])
def test_prefixes_are_of_labels(path: Path, other: Namespace) -> None:
    """S60: below ("a",) is what begins with the label "a", not with the letter."""
    with closing(open_engine(path)) as backend:
        backend.append([put("own", "x", namespace=("a",)), put("other", "x", namespace=other)])
        rows = backend.select(Selection(namespace=("a",), prefix=True))
        assert {row.standing.key for row in rows} == {"own"} | ({"other"} if other[0] == "a" else set())
