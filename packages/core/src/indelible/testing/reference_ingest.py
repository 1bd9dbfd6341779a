"""What an import must be like to be let in: the rules, over plain lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from indelible.base.clock import from_future
from indelible.base.event import CHAIN_START, Event, Op
from indelible.errors import IntegrityFailure


def accepted(log: Sequence[Event], events: Iterable[Event], now_us: int) -> tuple[list[Event], int]:
    """The events that are new here, with their place in this log, and how many are not.

    Raises:
        IntegrityFailure: a device's events have a gap, do not follow from each other, were written twice under one number or in the
            future; or a payload is not the one committed to, or missing although nothing purged its record.
    """
    chains: dict[bytes, list[Event]] = {}
    for event in log:
        chains.setdefault(event.device, []).append(event)
    new: list[Event] = []
    known = 0
    for event in events:
        chain = chains.setdefault(event.device, [])
        if event.seq <= len(chain):
            if chain[event.seq - 1].hash != event.hash:
                raise IntegrityFailure(f"device {event.device.hex()} wrote two different events with number {event.seq}")
            known += 1
            continue
        _check_next(event, chain, now_us)
        chain.append(event)
        new.append(event)
    purged = {event.record for event in [*log, *new] if event.op is Op.PURGE}
    for event in new:
        if event.payload is None and event.commitment is not None and event.record not in purged:
            raise IntegrityFailure(f"record {event.record.hex()} comes without its text, and nothing purged it: import a full export")
    return _placed(log, new, now_us), known


def _check_next(event: Event, chain: Sequence[Event], now_us: int) -> None:
    name = f"event {event.seq} of device {event.device.hex()}"
    if event.seq != len(chain) + 1:
        raise IntegrityFailure(f"{name} is here, but events before it are missing: import a full export")
    if event.previous != (chain[-1].hash if chain else CHAIN_START) or event.computed_hash() != event.hash:
        raise IntegrityFailure(f"{name} does not follow from the one before it: the chain is broken, nothing was imported")
    if not event.payload_matches():
        raise IntegrityFailure(f"the text of {name} is not the one its hash commits to: nothing was imported")
    if from_future(event.clock, now_us):
        raise IntegrityFailure(f"{name} was written more than a day in the future: set this machine's clock, or that one's, right")


def _placed(log: Sequence[Event], new: Sequence[Event], now_us: int) -> list[Event]:
    first = len(log) + 1
    recorded_at = max(log[-1].recorded_at if log else 0, now_us // 1000)
    txn = len(log) + len(new)
    return [replace(event, version=first + place, txn=txn, recorded_at=recorded_at) for place, event in enumerate(new)]
