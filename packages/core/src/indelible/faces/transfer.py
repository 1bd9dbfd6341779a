"""Export and import: the whole log as lines of JSON."""

from __future__ import annotations

import base64
import errno
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from indelible.backend.interface import Backend, Ingested
from indelible.base.canonical import dumps, loads_foreign
from indelible.base.event import HASH_BYTES, SALT_BYTES, Event, Op, Payload
from indelible.base.ids import ID_BYTES
from indelible.base.plan import PartVector
from indelible.errors import IndelibleError, IntegrityFailure, InvalidInput, StorageFull, StoreUnavailable
from indelible.faces.foreign import check_event
from indelible.faces.indexing import packed, unpacked
from indelible.search.arguments import shown

FORMAT = "indelible-log/1"
_CHUNK = 2000
_INT64 = 1 << 63
_OWN_FILES = ("", "-wal", "-shm", ".lock")


def export_log(backend: Backend, path: str) -> int:
    """Write every event, oldest first, one JSON object a line. The file appears only once it is whole, readable by its owner only.

    Args:
        backend: the log.
        path: a file that does not exist.

    Returns:
        How many events were written.

    Raises:
        InvalidInput: the file exists.
        StorageFull, StoreUnavailable: it cannot be written.
    """
    partial = path + ".partial"
    for taken in (path, partial):
        if os.path.lexists(taken):
            raise InvalidInput(f"{taken} exists: give a name that is free, an export overwrites nothing")
    try:
        handle = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                count = _write(backend, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, path)
        except BaseException:
            os.unlink(partial)
            raise
    except OSError as error:
        if isinstance(error, IndelibleError):
            raise
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise StorageFull(f"no space left for {path}: free some and export again") from error
        raise StoreUnavailable(f"cannot write {path}: {error.strerror}") from error
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
    at: list[int] = []
    try:
        with Path(path).open(encoding="utf-8", newline="\n") as file:
            lines = list(_read(file, path, vectors))
        return backend.ingest(_noting(lines, at), vectors)
    except IntegrityFailure as error:
        if not at:
            raise
        raise IntegrityFailure(f"line {at[0]} of {path}: {error}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error
    except OSError as error:
        if isinstance(error, IndelibleError):
            raise
        raise StoreUnavailable(f"cannot read {path}: {error.strerror}") from error


def is_file_of(path: str, store: str) -> bool:
    """Whether a path leads to one of a store's own files, which must not be opened while the store is: closing them drops its locks."""
    return any(os.path.exists(own) and os.path.exists(path) and os.path.samefile(path, own) for own in (store + s for s in _OWN_FILES))


def is_export(path: str) -> bool:
    """Whether a file begins as an export does."""
    try:
        with Path(path).open("rb") as file:
            return file.readline(200).strip() == dumps({"format": FORMAT}).encode()
    except OSError as error:
        raise StoreUnavailable(f"cannot read {path}: {error.strerror}") from error


def _noting(lines: Iterable[tuple[int, Event]], at: list[int]) -> Iterator[Event]:
    """The events, with the number of the line that is being looked at in ``at``; nothing in it once all were seen."""
    for number, event in lines:
        at[:] = [number]
        yield event
    at.clear()


def _read(file: IO[str], path: str, vectors: list[tuple[bytes, int, PartVector]]) -> Iterator[tuple[int, Event]]:
    number = 0
    for number, text in enumerate(file, 1):
        what = f"line {number} of {path}"
        if not text.strip() and number > 1:
            continue
        line = loads_foreign(text, what)
        if not isinstance(line, dict):
            raise InvalidInput(f"{what} is not a JSON object")
        if number == 1:
            if line.get("format") != FORMAT:
                raise InvalidInput(f"{what} should say {dumps({'format': FORMAT})}: this is not an export of this library")
            continue
        event = _event(line, what)
        yield number, event
        for part, model, data in _vectors(line, what):
            vectors.append((event.device, event.seq, PartVector(part, model, data)))
    if number == 0:
        raise InvalidInput(f"{path} is empty: this is not an export of this library")


def _event(line: dict[str, Any], what: str) -> Event:
    try:
        body, salt = line.get("body"), line.get("salt")
        payload = None if body is None else Payload(_hex(salt, SALT_BYTES), _canonical_body(body))
        commitment = None if line["commitment"] is None else _hex(line["commitment"], HASH_BYTES)
        expires_at = None if line["expires_at"] is None else _whole(line["expires_at"])
        event = Event(
            0, 0, 0, _hex(line["device"], ID_BYTES), _whole(line["seq"], least=1), _hex(line["previous"], HASH_BYTES),
            _whole(line["clock"]), Op(line["op"]), _hex(line["record"], ID_BYTES), commitment, expires_at, _hex(line["hash"], HASH_BYTES),
            payload,
        )  # fmt: skip
        check_event(event)
    except KeyError as error:
        raise InvalidInput(f"{what} is not an event: it has no {error}") from error
    except (ValueError, TypeError) as error:
        raise InvalidInput(f"{what} is not an event: {error}") from error
    return event


def _canonical_body(body: object) -> str:
    if not isinstance(body, str):
        raise InvalidInput("its body must be text")
    fields = loads_foreign(body, "its body")
    if not isinstance(fields, dict) or dumps(fields) != body:
        raise InvalidInput("its body is not canonical JSON")
    return body


def _vectors(line: dict[str, Any], what: str) -> Iterator[tuple[str, str, bytes]]:
    try:
        for part, model, data in line.get("vectors", ()):
            space = json.loads(model)
            raw = base64.b64decode(data, validate=True)
            if not isinstance(part, str) or len(space) != 3 or len(raw) != 4 * space[1]:
                raise ValueError("a vector does not fit its space")
            packed(unpacked(raw))  # refuses what is not finite, or all zero
            yield part, model, raw
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidInput(f"{what}: {error}") from error


def _hex(text: object, size: int) -> bytes:
    if not isinstance(text, str):
        raise ValueError("expected hex text")
    raw = bytes.fromhex(text)
    if len(raw) != size:
        raise ValueError(f"expected {size} bytes, got {len(raw)}")
    return raw


def _whole(value: object, *, least: int = 0) -> int:
    if type(value) is not int or not least <= value < _INT64:
        raise ValueError(f"expected a whole number of at least {least}, got {shown(value)}")
    return value
