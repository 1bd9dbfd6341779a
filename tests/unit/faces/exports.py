"""Exports taken apart and put together again, with hashes that hold. No test of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from indelible.base.canonical import dumps
from indelible.base.event import CHAIN_START, event_hash, payload_commitment
from indelible.testing.fakes import DEFAULT_START_US

HEADER = '{"format":"indelible-log/1"}'
Line = dict[str, Any]
RECORD = bytes(range(16))
_DEVICE = b"a foreign device"
_SALT = b"sixteen bytes..."


def lines_of(path: Path) -> list[str]:
    """The lines; other characters that end a line somewhere are text here."""
    return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")


def write_lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def changed(line: str, **fields: Any) -> str:
    """A line with other fields, its hash as it was."""
    return dumps({**json.loads(line), **fields})


def event(op: str, body: str | None, *, record: bytes = RECORD, expires_at: int | None = None, clock: int = DEFAULT_START_US) -> Line:
    """What an event says, before it has its place in a chain."""
    return {"op": op, "body": body, "record": record, "expires_at": expires_at, "clock": clock}


def chained(events: Iterable[Line], device: bytes = _DEVICE) -> list[str]:
    """The lines of an export of events that anybody might have written: every hash is right."""
    previous = CHAIN_START
    lines = [HEADER]
    for seq, line in enumerate(events, 1):
        body, record, clock = line["body"], line["record"], line["clock"] + seq
        commitment = None if body is None else payload_commitment(_SALT, body)
        digest = event_hash(device, seq, previous, clock, line["op"], record, commitment, line["expires_at"])
        skeleton = {
            "device": device.hex(),
            "seq": seq,
            "previous": previous.hex(),
            "clock": clock,
            "op": line["op"],
            "record": record.hex(),
            "commitment": None if commitment is None else commitment.hex(),
            "expires_at": line["expires_at"],
            "hash": digest.hex(),
        }
        lines.append(dumps(skeleton if body is None else {**skeleton, "body": body, "salt": _SALT.hex()}))
        previous = digest
    return lines
