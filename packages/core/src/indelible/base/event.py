"""The event: skeleton, payload, and the hashes that bind them.

The skeleton (numbers, op, clock, device, commitment, hashes) is kept for ever. The payload is the clear text, as one canonical JSON
object, next to a random salt; a purge deletes both and nothing else does. The skeleton commits to the payload by a hash over salt and
text, so without the salt not even a short secret can be guessed back from what remains, and the chain of hashes still verifies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from indelible.base.canonical import loads
from indelible.base.clock import datetime_from_ms

FORMAT = 1
EVENT_PREFIX = b"indelible/1/event"
PAYLOAD_PREFIX = b"indelible/1/payload"
HASH_BYTES = 32
SALT_BYTES = 16
CHAIN_START = bytes(HASH_BYTES)
"""What the first event of a device names as its previous hash."""


class Op(StrEnum):
    """What an event does."""

    REMEMBER = "remember"
    REVISE = "revise"
    RESTORE = "restore"
    FORGET = "forget"
    VOTE = "vote"
    TOUCH = "touch"
    PURGE = "purge"
    DEVICE = "device"


STATE_OPS = frozenset({Op.REMEMBER, Op.REVISE, Op.RESTORE, Op.FORGET})
"""The ops that decide what a record is; votes and touches never do."""


class PurgeReason(StrEnum):
    """Why a record was destroyed: a code, so that no text can leak what it was."""

    REQUEST = "request"
    EXPIRED = "expired"
    LEGAL = "legal"
    SECRET = "secret"
    POISONED = "poisoned"
    MISTAKE = "mistake"


def event_hash(
    device: bytes, seq: int, previous: bytes, clock: int, op: str, record: bytes, commitment: bytes | None, expires_at: int | None
) -> bytes:
    """The hash of an event's skeleton.

    Hashed, as a canonical JSON array in this order: format number, device, sequence, previous hash, clock, op, record, commitments,
    expiry. Not hashed: version, transaction and arrival time, which belong to the store and not to the event.
    """
    # Every field is a number, hex or a fixed word, so the canonical text can be put together without an encoder.
    commitments = f'["{commitment.hex()}"]' if commitment is not None else "[]"
    expiry = "null" if expires_at is None else expires_at
    text = f'[{FORMAT},"{device.hex()}",{seq},"{previous.hex()}",{clock},"{op}","{record.hex()}",{commitments},{expiry}]'
    return sha256(EVENT_PREFIX + text.encode()).digest()


def payload_commitment(salt: bytes, body: str) -> bytes:
    """The hash by which a skeleton commits to its payload."""
    return sha256(PAYLOAD_PREFIX + salt + body.encode()).digest()


@dataclass(frozen=True, slots=True)
class Payload:
    """The clear text of an event.

    Attributes:
        salt: 16 random bytes that die with the text.
        body: one canonical JSON object; fields that are absent have no value.
    """

    salt: bytes
    body: str

    @property
    def fields(self) -> dict[str, Any]:
        """The body, read."""
        return loads(self.body)  # type: ignore[no-any-return]  # a body is always an object


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the log.

    Attributes:
        version: position in this store's order of arrival, from 1, without gaps.
        txn: the last version of the transaction that brought it.
        recorded_at: arrival, UTC milliseconds, never decreasing.
        device, seq: who wrote it, and the how-manieth of that device it is.
        previous: hash of that device's event before, zeros for its first.
        clock: the hybrid clock, microseconds.
        op: what it does.
        record: the 16 bytes of the record's id.
        commitment: hash that binds the payload; ``None`` if the event has none.
        expires_at: UTC milliseconds, ``None`` for never.
        hash: ``event_hash`` of the above.
        payload: the clear text; ``None`` after a purge.
    """

    version: int
    txn: int
    recorded_at: int
    device: bytes
    seq: int
    previous: bytes
    clock: int
    op: Op
    record: bytes
    commitment: bytes | None
    expires_at: int | None
    hash: bytes
    payload: Payload | None = None

    def computed_hash(self) -> bytes:
        """The hash this skeleton should have."""
        return event_hash(self.device, self.seq, self.previous, self.clock, self.op, self.record, self.commitment, self.expires_at)

    def payload_matches(self) -> bool:
        """Whether the payload, if still there, is the one the skeleton committed to."""
        if self.payload is None:
            return True
        return self.commitment is not None and payload_commitment(self.payload.salt, self.payload.body) == self.commitment

    @property
    def arrived(self) -> datetime:
        """``recorded_at`` as an aware ``datetime``."""
        return datetime_from_ms(self.recorded_at)

    @property
    def order(self) -> tuple[int, bytes, int]:
        """The order across devices: the greatest state event of a record wins."""
        return self.clock, self.device, self.seq


def compose_body(fields: Mapping[str, str]) -> str:
    """A payload's canonical text from the canonical text of its fields.

    Args:
        fields: JSON text by field name; names are plain words, values have passed the gate.
    """
    return "{" + ",".join([f'"{name}":{text}' for name, text in sorted(fields.items())]) + "}"
