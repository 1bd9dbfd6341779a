"""Files that are no export, or no longer the export they were: each a clear error that names the line, and nothing is imported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from indelible import IndelibleError, IntegrityFailure, InvalidInput, MemoryStore
from indelible.backend.interface import Ingested
from indelible.base.canonical import dumps
from indelible.testing import FakeClock, HashEmbedder
from indelible.testing.fakes import DEFAULT_START_US
from tests.unit.faces.exports import HEADER, chained, changed, event, lines_of, write_lines

DAY_US = 86_400_000_000
FACT = dumps({"content": "fact"})


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of an export: a header and five events, the third forgetting the first, the fifth purging the fourth."""
    path = tmp_path_factory.mktemp("export") / "good.jsonl"
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=FakeClock()) as store:
        tea = store.remember("Ada likes tea", user_id="ada")
        store.remember("Bob likes coffee", metadata={"a": [1, None]}, ttl_ms=10**9)
        store.forget(tea.id)
        secret = store.remember("swordfish")
        store.purge(secret.id)
        store.export(path)
    return lines_of(path)


@pytest.fixture
def target(folder: Path, clock: FakeClock) -> Iterator[MemoryStore]:
    """A store with something in it, which must be there afterwards and nothing else."""
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as opened:
        opened.remember("mine")
        yield opened
        assert [record.content for record in opened.list()] == ["mine"]
        assert [found.op for found in opened.iter_events()] == ["remember"]
        assert opened.verify().ok


def refused(target: MemoryStore, path: Path, kind: type[IndelibleError], said: str) -> str:
    """What the import of a file says as it refuses it."""
    with pytest.raises(kind, match=said) as raised:
        target.import_(path)
    assert type(raised.value) is kind
    return str(raised.value)


# Not an export


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\n", "line 1 .* not valid JSON"),
        (b"hello\n", "line 1 .* not valid JSON"),
        (b"\xef\xbb\xbf" + HEADER.encode() + b"\n", "line 1 .* not valid JSON"),
        (b"[]\n", "line 1 .* not a JSON object"),
        (b"null\n", "line 1 .* not a JSON object"),
        (b"{}\n", "line 1 .* should say .*indelible-log/1"),
        (b'{"format":"indelible-log/2"}\n', "line 1 .* should say .*indelible-log/1"),
        (b'{"format":["indelible-log/1"]}\n', "line 1 .* should say .*indelible-log/1"),
        (b'{"format":"indelible-log/1","format":"indelible-log/1"}\n', "line 1 .* repeated key"),
        (b"SQLite format 3\0\x10\0\x01\x01\0\xff\xfe", "not UTF-8"),
        (b"[" * 100_000, "line 1 .* not valid JSON"),
    ],
)
def test_what_is_no_export(target: MemoryStore, folder: Path, content: bytes, said: str) -> None:
    """InvalidInput that says what is wrong with the first line."""
    path = folder / "log.jsonl"
    path.write_bytes(content)
    assert str(path) in refused(target, path, InvalidInput, said)


def test_an_export_without_its_header(target: MemoryStore, folder: Path, good: list[str]) -> None:
    """The header is missing, or not in its place."""
    for lines in (good[1:], ["", *good], [*good[1:], good[0]]):
        refused(target, write_lines(folder / "log.jsonl", lines), InvalidInput, "line 1 ")


# A line that is no event

Mutate = Callable[[str], str]
NO_EVENTS: dict[str, Mutate] = {
    "not JSON": lambda line: "nonsense",
    "cut off": lambda line: line[:-10],
    "cut off in a character": lambda line: line[: len(line) // 2],
    "an array": lambda line: "[]",
    "a header": lambda line: HEADER,
    "a repeated key": lambda line: line[:-1] + ',"seq":2}',
    "NaN": lambda line: line[:-1] + ',"x":NaN}',
    "no device": lambda line: dumps({k: v for k, v in json.loads(line).items() if k != "device"}),
    "no expires_at": lambda line: dumps({k: v for k, v in json.loads(line).items() if k != "expires_at"}),
    "no salt": lambda line: dumps({k: v for k, v in json.loads(line).items() if k != "salt"}),
    "seq 0": lambda line: changed(line, seq=0),
    "a negative seq": lambda line: changed(line, seq=-1),
    "a fraction as seq": lambda line: changed(line, seq=2.0),
    "true as seq": lambda line: changed(line, seq=True),
    "an endless seq": lambda line: changed(line, seq=10**5000),
    "a clock that no file holds": lambda line: changed(line, clock=2**63),
    "an unknown op": lambda line: changed(line, op="remember "),
    "no hex": lambda line: changed(line, record="x" * 32),
    "a short id": lambda line: changed(line, record="00"),
    "a number as id": lambda line: changed(line, record=5),
    "a number as body": lambda line: changed(line, body=5),
    "a body that is no object": lambda line: changed(line, body="[]"),
    "a body that is no JSON": lambda line: changed(line, body="{"),
    "a body with spaces": lambda line: changed(line, body='{"content": "fact"}'),
    "a body with a repeated key": lambda line: changed(line, body='{"content":"a","content":"b"}'),
    "a body with a lone surrogate": lambda line: changed(line, body='{"content":"\\ud800"}'),
    "vectors that are no list": lambda line: changed(line, vectors=5),
    "vectors of no space": lambda line: changed(line, vectors=[["", "5", "AAAA"]]),
    "vectors of another size": lambda line: changed(line, vectors=[["", '["s",2,"m"]', "AACAPw=="]]),
    "vectors that are no base64": lambda line: changed(line, vectors=[["", '["s",1,"m"]', "!!!!"]]),
    "vectors with NaN": lambda line: changed(line, vectors=[["", '["s",1,"m"]', "AADAfw=="]]),
}


@pytest.mark.parametrize("what", NO_EVENTS)
def test_a_line_that_is_no_event(target: MemoryStore, folder: Path, good: list[str], what: str) -> None:
    """InvalidInput that names the line; the good lines around it are not imported either."""
    lines = [*good[:2], NO_EVENTS[what](good[2]), *good[3:]]
    refused(target, write_lines(folder / "log.jsonl", lines), InvalidInput, "line 3 ")


# Events that do not hold

BROKEN: dict[str, tuple[Callable[[list[str]], list[str]], int]] = {
    "another text": (lambda good: [*good[:2], good[2].replace("coffee", "cocoa"), *good[3:]], 3),
    "another salt": (lambda good: [*good[:2], changed(good[2], salt="00" * 16), *good[3:]], 3),
    "another commitment": (lambda good: [*good[:2], changed(good[2], commitment="00" * 32), *good[3:]], 3),
    "another hash": (lambda good: [*good[:2], changed(good[2], hash="00" * 32), *good[3:]], 3),
    "another previous hash": (lambda good: [*good[:2], changed(good[2], previous="00" * 32), *good[3:]], 3),
    "another clock": (lambda good: [*good[:2], changed(good[2], clock=DEFAULT_START_US + 5), *good[3:]], 3),
    "another op": (lambda good: [*good[:2], changed(good[2], op="revise"), *good[3:]], 3),
    "another record": (lambda good: [*good[:2], changed(good[2], record="00" * 16), *good[3:]], 3),
    "another expiry": (lambda good: [*good[:2], changed(good[2], expires_at=10**13), *good[3:]], 3),
    "no expiry": (lambda good: [*good[:2], changed(good[2], expires_at=None), *good[3:]], 3),
    "another device": (lambda good: [*good[:2], changed(good[2], device="00" * 16), *good[3:]], 3),
    "a gap": (lambda good: [*good[:2], *good[3:]], 3),
    "no beginning": (lambda good: [good[0], *good[2:]], 2),
    "two lines exchanged": (lambda good: [good[0], good[2], good[1], *good[3:]], 2),
    "two events with one number": (lambda good: [*good[:3], changed(good[2], hash="11" * 32), *good[3:]], 4),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_chain_that_does_not_hold(target: MemoryStore, folder: Path, good: list[str], what: str) -> None:
    """IntegrityFailure that names the line and the event."""
    mutate, line = BROKEN[what]
    said = refused(target, write_lines(folder / "log.jsonl", mutate(good)), IntegrityFailure, f"line {line} of ")
    assert "device" in said


def test_a_text_that_is_missing_without_a_purge(target: MemoryStore, folder: Path, good: list[str]) -> None:
    """A purged event has no text; one that nothing purged must have it."""
    assert "body" not in json.loads(good[4])
    robbed = dumps({name: value for name, value in json.loads(good[2]).items() if name not in ("body", "salt")})
    refused(target, write_lines(folder / "log.jsonl", [*good[:2], robbed, *good[3:]]), IntegrityFailure, "without its text")
    refused(target, write_lines(folder / "log.jsonl", good[:5]), IntegrityFailure, "without its text")


def test_a_clock_in_the_future(target: MemoryStore, folder: Path) -> None:
    """Two honest clocks differ by less than a day; what is further ahead would win over everything written since."""
    ahead = chained([event("remember", FACT), event("remember", FACT, record=bytes(16), clock=DEFAULT_START_US + DAY_US + 10)])
    refused(target, write_lines(folder / "log.jsonl", ahead), IntegrityFailure, "line 3 of .* future")


# Events whose hashes hold, and which nobody should have written

ILL_TYPED: list[dict[str, Any]] = [
    {"content": 5}, {"content": "x", "metadata": [1]}, {"content": "x", "metadata": None}, {"content": "x", "namespace": "abc"},
    {"content": "x", "namespace": [1]}, {"content": "x", "namespace": [["a"]]}, {"content": "x", "namespace": [""]},
    {"content": "x", "namespace": ["a\x1fb"]}, {"content": "x", "agent_id": 5}, {"content": "x", "user_id": ""},
    {"content": "x", "org_id": None}, {"content": "x", "key": 5}, {"content": "x", "parent": 5}, {"content": "x", "source": ["a"]},
    {"content": "x", "occurred_at": "now"}, {"content": "x", "occurred_at": 10**30}, {"content": "x", "occurred_at": True},
    {"content": "x", "context": "id"}, {"content": "x", "context": [5]}, {"content": "x", "parts": 5}, {"content": "x", "parts": [5]},
    {"content": "x", "parts": [{"name": "a"}]}, {"content": "x", "parts": [{"name": 1, "text": "t"}]},
    {"content": "x", "idempotency_key": 5},
    {"content": "a\0b"}, {"value": "a\0b"}, {"content": "x" * (1 << 20) + "x"},
]  # fmt: skip


@pytest.mark.parametrize("fields", ILL_TYPED, ids=[repr(fields)[:60] for fields in ILL_TYPED])
def test_a_text_of_another_type_is_refused(target: MemoryStore, folder: Path, fields: dict[str, Any]) -> None:
    """The log keeps what it takes for ever, so what reads would stumble over is not let in, whatever its hashes say."""
    lines = chained([event("remember", FACT), event("revise", dumps(fields))])
    refused(target, write_lines(folder / "log.jsonl", lines), InvalidInput, "line 3 .* not an event")


@pytest.mark.parametrize("body", [{}, {"vote": "sideways"}, {"vote": 5}, {"vote": "up", "note": 5}])
def test_a_vote_that_is_none(target: MemoryStore, folder: Path, body: dict[str, Any]) -> None:
    """Votes are counted at every recall."""
    lines = chained([event("remember", FACT), event("vote", dumps(body))])
    refused(target, write_lines(folder / "log.jsonl", lines), InvalidInput, "line 3 .* not an event")


def test_an_event_without_a_text_or_with_an_endless_life(target: MemoryStore, folder: Path) -> None:
    """A state needs a text; an expiry must be a time."""
    for bad in (event("remember", None), event("forget", None), event("remember", FACT, expires_at=2**62)):
        refused(target, write_lines(folder / "log.jsonl", chained([bad])), InvalidInput, "line 2 .* not an event")


def test_fields_of_a_later_release_are_let_through(folder: Path, clock: FakeClock) -> None:
    """What is not known is kept, not judged: the same file helper makes exports that are taken."""
    lines = chained([event("remember", dumps({"content": "fact", "mood": {"good": True}})), event("touch", None, expires_at=10**13)])
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=clock) as store:
        assert store.import_(write_lines(folder / "log.jsonl", lines)) == Ingested(2, 0)
        assert [record.content for record in store.list()] == ["fact"]
        assert store.verify().ok


# Any damage


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_single_change_is_noticed_or_harmless(good: list[str], folder: Path, data: st.DataObject) -> None:
    """One character replaced, left out or put in, anywhere: an error of the library and an untouched store, or an import that verifies."""
    line = data.draw(st.integers(0, len(good) - 1))
    place = data.draw(st.integers(0, len(good[line]) - 1))
    put_in = data.draw(st.sampled_from(["", "0", "a", '"', "\\", "{", "}", ",", " ", "\n", "\u2028", "é"]))
    text = good[line][:place] + put_in + good[line][place + data.draw(st.integers(0, 1)) :]
    path = write_lines(folder / "log.jsonl", [*good[:line], text, *good[line + 1 :]])
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=FakeClock()) as store:
        try:
            store.import_(path)
        except IndelibleError:
            assert store.version == 0
        else:
            assert [record.content for record in store.list()] == ["Bob likes coffee"]
        assert store.verify().ok
