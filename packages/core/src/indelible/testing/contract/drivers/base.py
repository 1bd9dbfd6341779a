"""What the drivers of our own faces have in common: a place, and how to open and leave it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from indelible.base.record import Change
from indelible.faces.store import MemoryStore
from indelible.testing.contract.doors import run_python
from indelible.testing.contract.driver import BackDoor, Driver, Happened, Power, refuse
from indelible.testing.contract.drivers.places import Place
from indelible.testing.embedder import HashEmbedder
from indelible.testing.fakes import FakeClock

_OPS = {"remember": "remember", "revise": "remember", "restore": "remember"}


class PlacedDriver(Driver):
    """A driver of a face on a place. Subclasses say how to open and close it, and what another process would run.

    Attributes:
        face_powers: what the face can do, wherever it lies.
        elsewhere_program: run with path, clock, key and text as its arguments.
    """

    face_powers: frozenset[Power] = frozenset()
    elsewhere_program = ""

    def __init__(self, place: Place, clock: FakeClock | None = None) -> None:
        self.place = place
        self.clock = clock or FakeClock()
        powers = place.powers if self.elsewhere_program else place.powers - {Power.PROCESSES}
        self.powers = self.face_powers | powers
        self.open()

    def open(self) -> None:
        raise NotImplementedError

    def reopen(self) -> None:
        self._check(Power.REOPEN)
        self.close()
        self.open()

    def another(self) -> Driver:
        self._check(Power.SHARE)
        return type(self)(self.place, self.clock)

    def elsewhere(self, key: str, text: str) -> None:
        self._check(Power.PROCESSES)
        run_python(self.elsewhere_program, self.place.path, str(self.clock.now_us()), key, text)

    def back_door(self) -> BackDoor:
        self._check(Power.BACK_DOOR)
        self.close()
        return self.place.door()

    def copied(self) -> Driver:
        self._check(Power.COPY)
        self.close()
        copy = type(self)(self.place.copied(), self.clock)
        self.open()
        return copy

    def _check(self, power: Power) -> None:
        if power not in self.powers:
            refuse(self, power)


class StoreDriver(PlacedDriver):
    """A driver of a face that lies in a ``MemoryStore``."""

    store: MemoryStore
    store_powers = frozenset({Power.VERSION, Power.VERIFY, Power.TRANSFER})

    def open(self) -> None:
        self.store = MemoryStore(self.place.path, embedder=HashEmbedder(), clock=self.clock, backend=self.place.open(self.clock))

    def close(self) -> None:
        self.store.close()

    def version(self) -> int:
        return self.store.version

    def export(self, path: Path) -> None:
        self.store.export(path)

    def import_(self, path: Path) -> None:
        self.store.import_(path)

    def problems(self) -> Sequence[str]:
        return self.store.verify().problems

    def rebuild(self) -> None:
        self.store.rebuild()

    def vacuum(self) -> None:
        self.store.vacuum()


def happened(changes: Sequence[Change]) -> list[Happened]:
    """A history in the words of the suite; touches are nobody's business."""
    told = [change for change in changes if change.op != "touch"]
    return [
        Happened(change.version, _OPS.get(change.op, change.op), None if change.record is None else change.record.content)
        for change in told
    ]
