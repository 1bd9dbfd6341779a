"""Hashes of events and payloads."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.base.canonical import dumps
from indelible.base.event import CHAIN_START, Event, Op, Payload, compose_body, event_hash, payload_commitment

ids = st.binary(min_size=16, max_size=16)
hashes = st.binary(min_size=32, max_size=32)
numbers = st.integers(0, 2**63 - 1)


@given(ids, numbers, hashes, numbers, st.sampled_from(Op), ids, st.none() | hashes, st.none() | numbers)
def test_the_hash_is_that_of_a_canonical_json_array(
    device: bytes, seq: int, previous: bytes, clock: int, op: Op, record: bytes, commitment: bytes | None, expires_at: int | None
) -> None:
    """What anybody can compute with any JSON library: the fields in their order, after the prefix."""
    commitments = [] if commitment is None else [commitment.hex()]
    array = [1, device.hex(), seq, previous.hex(), clock, str(op), record.hex(), commitments, expires_at]
    expected = sha256(b"indelible/1/event" + json.dumps(array, separators=(",", ":")).encode()).digest()
    assert event_hash(device, seq, previous, clock, op, record, commitment, expires_at) == expected


BODY = compose_body({"content": dumps("the kettle is green")})
SALT = bytes(range(16))
EVENT = Event(
    version=3,
    txn=4,
    recorded_at=7,
    device=b"d" * 16,
    seq=2,
    previous=CHAIN_START,
    clock=5,
    op=Op.REMEMBER,
    record=b"r" * 16,
    commitment=payload_commitment(SALT, BODY),
    expires_at=9,
    hash=b"",
    payload=Payload(SALT, BODY),
)
OTHER = {
    "device": b"e" * 16,
    "seq": 3,
    "previous": b"p" * 32,
    "clock": 6,
    "op": Op.REVISE,
    "record": b"s" * 16,
    "commitment": None,
    "expires_at": None,
}


@pytest.mark.parametrize("name", [field.name for field in fields(Event)])
def test_what_is_hashed(name: str) -> None:
    """What belongs to the event changes its hash; what belongs to this store (version, transaction, arrival) does not."""
    if name in OTHER:
        assert replace(EVENT, **{name: OTHER[name]}).computed_hash() != EVENT.computed_hash()  # type: ignore[arg-type]  # one field of many types
    else:
        changed = replace(EVENT, version=30, txn=40, recorded_at=70, hash=b"h", payload=None)
        assert changed.computed_hash() == EVENT.computed_hash()


def test_a_commitment_binds_salt_and_text() -> None:
    """Another salt or another text is another commitment."""
    assert payload_commitment(SALT, BODY) == sha256(b"indelible/1/payload" + SALT + BODY.encode()).digest()
    assert len({payload_commitment(SALT, BODY), payload_commitment(bytes(16), BODY), payload_commitment(SALT, BODY + " ")}) == 3


def test_a_payload_is_checked_against_its_commitment() -> None:
    """A changed text is noticed; one that was purged is not missed; one that nobody committed to is noticed too."""
    assert EVENT.payload_matches()
    assert replace(EVENT, payload=None).payload_matches()
    assert not replace(EVENT, payload=Payload(SALT, BODY.replace("green", "red"))).payload_matches()
    assert not replace(EVENT, commitment=None).payload_matches()


@given(st.dictionaries(st.sampled_from(["content", "key", "value", "agent_id"]), st.text(st.characters(exclude_categories=["Cs"]))))
def test_a_body_is_canonical_json(given_fields: dict[str, str]) -> None:
    """Put together from pieces, it is what the encoder would write of the whole, and reads back."""
    body = compose_body({name: dumps(value) for name, value in given_fields.items()})
    assert body == dumps(given_fields)
    assert Payload(SALT, body).fields == given_fields
