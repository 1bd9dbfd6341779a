"""A state machine: random steps on a store and on the model, which must agree after each of them. Needs hypothesis and pytest."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from indelible.errors import IndelibleError, VersionConflict
from indelible.testing.contract.driver import Driver, Power
from indelible.testing.model import Model

KEYS = ("a", "b", "c", "")
SHARED_MEMORY = Path("/dev/shm")
"""Where there is one: a file there needs no disk, and what a power cut leaves is for other tests."""

keys = st.sampled_from(KEYS)
texts = st.sampled_from(["one", "two", "three", "four", "five"])


def _needs(power: Power) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A step that is taken only where a store has a power."""
    return precondition(lambda machine: power in machine.POWERS)


class StoreMachine(RuleBasedStateMachine):
    """Steps on a store of keys and texts. Subclasses say which by ``make``.

    Attributes:
        make: makes a driver in a folder of its own; the driver has all of ``POWERS``.
        model_of: makes the model that it must agree with.
        POWERS: what is tried; a subclass leaves out what its store cannot do.
    """

    make: Callable[[Path], Driver]
    model_of: Callable[[], Model] = Model
    POWERS = frozenset(
        {
            Power.ORDER,
            Power.VERSION,
            Power.HISTORY,
            Power.PAST,
            Power.EXPIRY,
            Power.COMPARE_AND_SET,
            Power.UNDO,
            Power.RESTORE,
            Power.BATCH,
            Power.PURGE,
            Power.REOPEN,
            Power.TRANSFER,
            Power.VERIFY,
        }
    )

    @initialize()
    def open(self) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None))
        self.stores = 0
        self.model = type(self).model_of()
        self.driver = self._new_store()
        self.model.now_ms = self._now_ms()

    def _new_store(self) -> Driver:
        self.stores += 1
        folder = self.folder / str(self.stores)
        folder.mkdir()
        driver = type(self).make(folder)
        assert driver.powers >= self.POWERS
        return driver

    def _now_ms(self) -> int:
        return self.driver.clock.now_us() // 1000

    # Writing

    @rule(key=keys, text=texts)
    def remember(self, key: str, text: str) -> None:
        self.driver.remember(key, text)
        self.model.remember(key, text)

    @_needs(Power.EXPIRY)
    @rule(key=keys, text=texts, ttl_ms=st.sampled_from([1, 1000, 5000]))
    def remember_for(self, key: str, text: str, ttl_ms: int) -> None:
        self.driver.remember_for(key, text, ttl_ms)
        self.model.remember(key, text, ttl_ms)

    @_needs(Power.BATCH)
    @rule(items=st.lists(st.tuples(keys, texts), min_size=1, max_size=3, unique_by=lambda item: item[0]))
    def remember_all(self, items: list[tuple[str, str]]) -> None:
        self.driver.remember_all(items)
        self.model.remember_all(items)

    @_needs(Power.COMPARE_AND_SET)
    @rule(key=keys, text=texts, guess=st.integers(0, 40), right=st.booleans())
    def compare_and_set(self, key: str, text: str, guess: int, right: bool) -> None:
        if right:
            refusal = self.model.compare_and_set(key, text, -1)
            guess = refusal.actual if refusal is not None else 0
        refused = self.model.compare_and_set(key, text, guess)
        actual = None
        try:
            self.driver.compare_and_set(key, text, guess)
        except VersionConflict as conflict:
            actual = conflict.actual
        assert actual == (None if refused is None else refused.actual)

    @rule(key=keys)
    def forget(self, key: str) -> None:
        self.driver.forget(key)
        self.model.forget(key)

    @_needs(Power.UNDO)
    @rule(key=keys)
    def undo(self, key: str) -> None:
        self._same_fate(lambda: self.driver.undo(key), self.model.undo(key) is not None)

    @_needs(Power.RESTORE)
    @rule(key=keys, version=st.integers(1, 40))
    def restore(self, key: str, version: int) -> None:
        self._same_fate(lambda: self.driver.restore(key, version), self.model.restore(key, version) is not None)

    def _same_fate(self, write: Callable[[], None], refused: bool) -> None:
        try:
            write()
        except IndelibleError:
            assert refused
        else:
            assert not refused

    @_needs(Power.PURGE)
    @rule(key=keys)
    def purge(self, key: str) -> None:
        assert self.driver.purge(key) == self.model.purge(key)

    # The world around

    @rule(ms=st.sampled_from([1, 999, 1000, 4000]))
    def time_passes(self, ms: int) -> None:
        self.driver.advance_clock(ms)
        self.model.now_ms = self._now_ms()

    @_needs(Power.REOPEN)
    @rule()
    def reopen(self) -> None:
        self.driver.reopen()

    @_needs(Power.VERIFY)
    @rule()
    def rebuild(self) -> None:
        self.driver.rebuild()

    @_needs(Power.TRANSFER)
    @rule()
    def import_what_is_known(self) -> None:
        self._export_from(self.driver, "known")
        self.driver.import_(self.folder / "known")

    @precondition(lambda self: self.stores < 4)
    @_needs(Power.TRANSFER)
    @rule()
    def move_by_export(self) -> None:
        """Go on in an empty store that imports everything."""
        self._export_from(self.driver, "all")
        moved = self._new_store()
        moved.clock.advance(ms=self._now_ms() - moved.clock.now_us() // 1000)
        moved.import_(self.folder / "all")
        self.driver.close()
        self.driver = moved
        self.model.arrived_elsewhere()

    def _export_from(self, driver: Driver, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)
        driver.export(self.folder / name)

    # Reading

    @rule(version=st.integers(-1, 60))
    def look_back(self, version: int) -> None:
        """The past reads as it was: each key, and all of them in order."""
        view = self.driver.at(version)
        assert view.look(KEYS) == ([self.model.get(key, version) for key in KEYS], self.model.keys(version))

    @rule(key=keys)
    def read_history(self, key: str) -> None:
        assert self.driver.history(key) == self.model.history(key)

    @_needs(Power.VERIFY)
    @rule()
    def verify(self) -> None:
        assert list(self.driver.problems()) == []

    @invariant()
    def now_is_the_same(self) -> None:
        if not hasattr(self, "driver"):
            return
        assert self.driver.version() == self.model.version
        assert self.driver.look(KEYS) == ([self.model.get(key) for key in KEYS], self.model.keys())

    def teardown(self) -> None:
        """At the end the whole past is compared once more, at every third version and the last, and all histories."""
        if not hasattr(self, "driver"):
            return
        try:
            for version in range(self.model.version % 3, self.model.version + 2, 3):
                self.look_back(version)
            for key in KEYS:
                self.read_history(key)
            if Power.VERIFY in self.POWERS:
                self.verify()
        finally:
            self.driver.close()
            shutil.rmtree(self.folder)
