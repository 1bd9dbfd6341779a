"""Export and import: the whole log as lines of JSON."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from indelible.backend.interface import Backend, Ingested
from indelible.base.canonical import dumps, loads_foreign
from indelible.base.event import HASH_BYTES, SALT_BYTES, Event, Op, Payload
from indelible.base.ids import ID_BYTES
from indelible.base.plan import PartVector
from indelible.errors import IndelibleError, InvalidInput, StoreUnavailable

FORMAT = "indelible-log/1"
_CHUNK = 2000
_INT64 = 1 << 63


def export_log(backend: Backend, path: str) -> int:
    """Write every event, oldest first, one JSON object a line. The file appears only once it is whole, readable by its owner only.

    Args:
        backend: the log.
        path: a file that does not exist.

    Returns:
        How many events were written.

    Raises:
        InvalidInput: the file exists.
        StoreUnavailable: it cannot be written.
    """
    if os.path.lexists(path):
        raise InvalidInput(f"{path} exists: give a name that is free, an export overwrites nothing")
    partial = path + ".partial"
    try:
        handle = os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            count = _write(backend, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        if isinstance(error, IndelibleError):
            raise
        raise StoreUnavailable(f"cannot write {path}: {error.strerror}") from error
    finally:
        if os.path.lexists(partial):
            os.unlink(partial)
    return count


def _write(backend: Backend, file: IO[str]) -> int:
    file.write(dumps({"format": FORMAT}) + "\n")
    count = after = 0
    until = backend.mark().version
    while after < until:
        events = backend.events(after=after, limit=min(_CHUNK, until - after))
        for event in events:
            file.write(dumps(_line(backend, event)) + "\n")
        count += len(events)
        after = events[-1].version
    return count


def _line(backend: Backend, event: Event) -> dict[str, Any]:
    line: dict[str, Any] = {
        "device": event.device.hex(),
        "seq": event.seq,
        "previous": event.previous.hex(),
        "clock": event.clock,
        "op": str(event.op),
        "record": event.record.hex(),
        "commitment": None if event.commitment is None else event.commitment.hex(),
        "expires_at": event.expires_at,
        "hash": event.hash.hex(),
    }
    if event.payload is not None:
        line["salt"] = event.payload.salt.hex()
        line["body"] = event.payload.body
        vectors = backend.stored_vectors(event.version)
        if vectors:
            line["vectors"] = [[vector.part, vector.model, base64.b64encode(vector.data).decode("ascii")] for vector in vectors]
    return line


def import_log(backend: Backend, path: str) -> Ingested:
    """Take the events of an export. Idempotent, in any order of several files, all or nothing.

    Raises:
        InvalidInput: the file is no export, or a line of it is not what it should be; the message names the line.
        IntegrityFailure: a hash or a chain does not hold.
        StoreUnavailable: the file cannot be read.
    """
    vectors: list[tuple[bytes, int, PartVector]] = []
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            return backend.ingest(list(_read(file, path, vectors)), vectors)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        if isinstance(error, IndelibleError):
            raise
        raise StoreUnavailable(f"cannot read {path}: {error.strerror}") from error


def is_export(path: str) -> bool:
    """Whether a file begins as an export does."""
    try:
        with Path(path).open("rb") as file:
            return file.readline(200).strip() == dumps({"format": FORMAT}).encode()
    except OSError as error:
        raise StoreUnavailable(f"cannot read {path}: {error.strerror}") from error


def _read(file: IO[str], path: str, vectors: list[tuple[bytes, int, PartVector]]) -> Iterator[Event]:
    for number, text in enumerate(file, 1):
        what = f"line {number} of {path}"
        if not text.strip():
            continue
        line = loads_foreign(text, what)
        if not isinstance(line, dict):
            raise InvalidInput(f"{what} is not a JSON object")
        if number == 1:
            if line.get("format") != FORMAT:
                raise InvalidInput(f"{path} is not an export of this library: its first line should say {dumps({'format': FORMAT})}")
            continue
        event = _event(line, what)
        yield event
        for part, model, data in _vectors(line, what):
            vectors.append((event.device, event.seq, PartVector(part, model, data)))


def _event(line: dict[str, Any], what: str) -> Event:
    try:
        body, salt = line.get("body"), line.get("salt")
        payload = None if body is None else Payload(_hex(salt, SALT_BYTES), _canonical_body(body, what))
        commitment = None if line["commitment"] is None else _hex(line["commitment"], HASH_BYTES)
        expires_at = None if line["expires_at"] is None else _whole(line["expires_at"])
        return Event(
            0, 0, 0, _hex(line["device"], ID_BYTES), _whole(line["seq"]), _hex(line["previous"], HASH_BYTES), _whole(line["clock"]),
            Op(line["op"]), _hex(line["record"], ID_BYTES), commitment, expires_at, _hex(line["hash"], HASH_BYTES), payload,
        )  # fmt: skip
    except (KeyError, ValueError, TypeError) as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{what} is not an event: {error}") from error


def _canonical_body(body: object, what: str) -> str:
    if not isinstance(body, str):
        raise InvalidInput(f"{what}: the body must be text")
    fields = loads_foreign(body, f"the body in {what}")
    if not isinstance(fields, dict) or dumps(fields) != body:
        raise InvalidInput(f"{what}: the body is not canonical JSON")
    return body


def _vectors(line: dict[str, Any], what: str) -> Iterator[tuple[str, str, bytes]]:
    try:
        for part, model, data in line.get("vectors", ()):
            space = json.loads(model)
            raw = base64.b64decode(data, validate=True)
            if not isinstance(part, str) or len(space) != 3 or len(raw) != 4 * space[1]:
                raise ValueError("a vector does not fit its space")
            yield part, model, raw
    except (ValueError, TypeError, binascii.Error) as error:
        raise InvalidInput(f"{what}: {error}") from error


def _hex(text: object, size: int) -> bytes:
    if not isinstance(text, str):
        raise ValueError("expected hex text")
    raw = bytes.fromhex(text)
    if len(raw) != size:
        raise ValueError(f"expected {size} bytes, got {len(raw)}")
    return raw


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < _INT64:
        raise ValueError(f"expected a whole number, got {value!r}")
    return value
