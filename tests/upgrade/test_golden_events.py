"""Ten events with their hashes, written down once. What they hash to never changes, or no chain of any store would verify any more.

``golden_events.json`` is never edited. The test follows the written description of the hash and not the library's own code, and then
asks the library the same.
"""

from __future__ import annotations

import json
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from indelible.base.event import CHAIN_START, Event, Op, Payload, event_hash, payload_commitment
from indelible.testing import FakeClock
from tests.crash.engine import open_engine

FILE = Path(__file__).with_name("golden_events.json")
GOLDEN: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
DIGEST = "b457c83d446ba13972c751a81039b3dfc70b589db3cdf77e6267e4600037fb2e"
"""SHA-256 of the file: whoever has to change this line is breaking every store there is."""


def canonical(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


def test_the_file_is_untouched() -> None:
    """Ten events of two devices, of every kind, byte for byte as they were written down."""
    assert sha256(FILE.read_bytes()).hexdigest() == DIGEST
    assert len(GOLDEN) == 10
    assert {event["op"] for event in GOLDEN} == set(Op)
    assert len({event["device"] for event in GOLDEN}) == 2


@pytest.mark.parametrize("event", GOLDEN, ids=lambda event: f"{event['device'][:4]}-{event['seq']}")
def test_the_hash_is_as_described(event: dict[str, Any]) -> None:
    """Hashed: format, device, seq, previous, clock, op, record, commitments, expiry, as canonical JSON, behind a prefix."""
    commitments = [] if event["commitment"] is None else [event["commitment"]]
    fields = [
        1, event["device"], event["seq"], event["previous"], event["clock"], event["op"], event["record"], commitments, event["expires_at"]
    ]  # fmt: skip
    assert sha256(b"indelible/1/event" + canonical(fields)).hexdigest() == event["hash"]


@pytest.mark.parametrize("event", GOLDEN, ids=lambda event: f"{event['device'][:4]}-{event['seq']}")
def test_the_commitment_is_as_described(event: dict[str, Any]) -> None:
    """Committed to: the salt and the payload's canonical text, behind another prefix."""
    if event["body"] is None:
        assert event["commitment"] is None
        return
    salt = bytes.fromhex(event["salt"])
    assert sha256(b"indelible/1/payload" + salt + event["body"].encode()).hexdigest() == event["commitment"]
    assert canonical(json.loads(event["body"])).decode() == event["body"]


@pytest.mark.parametrize("event", GOLDEN, ids=lambda event: f"{event['device'][:4]}-{event['seq']}")
def test_the_library_agrees(event: dict[str, Any]) -> None:
    """The library's own hash and commitment are those."""
    known = event_of(event)
    assert known.computed_hash() == known.hash
    assert known.payload_matches()
    if known.payload is not None:
        assert payload_commitment(known.payload.salt, known.payload.body) == known.commitment


def event_of(event: dict[str, Any]) -> Event:
    commitment = None if event["commitment"] is None else bytes.fromhex(event["commitment"])
    payload = None if event["body"] is None else Payload(bytes.fromhex(event["salt"]), event["body"])
    return Event(
        version=1,
        txn=1,
        recorded_at=0,
        device=bytes.fromhex(event["device"]),
        seq=event["seq"],
        previous=bytes.fromhex(event["previous"]),
        clock=event["clock"],
        op=Op(event["op"]),
        record=bytes.fromhex(event["record"]),
        commitment=commitment,
        expires_at=event["expires_at"],
        hash=bytes.fromhex(event["hash"]),
        payload=payload,
    )


def test_a_store_takes_them(tmp_path: Path) -> None:
    """S87: imported, they verify, and their hashes are the same in the new store; what was purged comes without its text."""
    with closing(open_engine(tmp_path / "store.db", clock=FakeClock())) as backend:
        assert backend.ingest([event_of(event) for event in GOLDEN]) == (10, 0)
        assert backend.verify().ok
        stored = backend.events()
    assert [event.hash.hex() for event in stored] == [event["hash"] for event in GOLDEN]
    purged = {event["record"] for event in GOLDEN if event["op"] == "purge"}
    kept = {event.record.hex() for event in stored if event.payload is not None and event.op is not Op.PURGE}
    assert purged
    assert not purged & kept


def test_the_chains_hold() -> None:
    """Each device's events follow one another."""
    heads: dict[str, tuple[int, str, int]] = {}
    for event in GOLDEN:
        seq, previous, clock = heads.get(event["device"], (0, CHAIN_START.hex(), 0))
        assert (event["seq"], event["previous"]) == (seq + 1, previous)
        assert event["clock"] > clock
        heads[event["device"]] = (event["seq"], event["hash"], event["clock"])


def test_any_change_is_noticed() -> None:
    """Control: every field of the skeleton takes part in the hash."""
    base: dict[str, Any] = {
        "device": bytes(16), "seq": 1, "previous": bytes(32), "clock": 1, "op": "remember", "record": bytes(16), "commitment": bytes(32),
        "expires_at": 1,
    }  # fmt: skip
    others: dict[str, Any] = {
        "device": b"\1" * 16, "seq": 2, "previous": b"\1" * 32, "clock": 2, "op": "revise", "record": b"\1" * 16, "commitment": None,
        "expires_at": None,
    }  # fmt: skip
    hashes = {event_hash(**base)} | {event_hash(**{**base, name: other}) for name, other in others.items()}
    assert len(hashes) == 1 + len(others)
