"""Fill every store with the same, ask all of them in turn, and say what came out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.measuring import median
from benchmarks.speed.engines import INT8, OURS, PHYSICAL
from benchmarks.speed.figures import Cell, cell, right
from benchmarks.speed.keep import Kept
from benchmarks.speed.process import Process, Unable
from benchmarks.speed.rows import EVERYTHING, FIRST, FIRST_TOUCHES, ROWS

BLOCK = 10
"""Questions that one store is asked before the next has its turn."""
WARM_UP = 3
OPENINGS = 3
COLD_USERS = 30
FRESH_TURNS = 10
FIRST_OF_ALL = {
    "opening to the first keyword hit, one user": "keyword, one user, first touch",
    "opening to the first hit, everything": EVERYTHING,
}
ONE, MANY, FRESH = "one durable remember", "remember_many of 1,000", "recall after ten writes by another process"
FILLING, DISK, MEMORY, VERSIONED = "filling, a record", "on disk, a record", "memory after all this", "ten versions a record"


@dataclass(slots=True)
class Run:
    """One corpus, several stores.

    Attributes:
        folder: an empty one on the disk to be measured.
        size, users: of the corpus.
        pythons: the interpreter of each store, by its name.
        rounds: questions a row.
        budget: seconds that a store may spend on a row; it is asked ``BLOCK`` questions at least.
        wanted: whether a row is to be measured.
        say: told what is being done.
        keep: filled stores of earlier runs, and for later ones.
        rows: what was found: the cells of each row by store.
        parts: bytes a record on disk, by store and by what they are for.
        versions: of the stores.
        skipped: why a store is not there at all.
        kept: stores that an earlier run filled, and on which day.
    """

    folder: Path
    size: int
    users: int
    pythons: Mapping[str, Path]
    rounds: int
    budget: float
    wanted: Callable[[str], bool]
    say: Callable[[str], object]
    keep: Kept | None = None
    rows: dict[str, dict[str, Cell]] = field(default_factory=dict)
    parts: dict[str, dict[str, float]] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    kept: dict[str, str] = field(default_factory=dict)
    _places: dict[str, Path] = field(default_factory=dict)

    def all(self) -> None:
        """Everything, in an order in which nothing spoils what comes after it."""
        self.fill()
        self.openings()
        with ExitStack() as stack:
            open_ones = self._open(stack)
            self.questions(open_ones)
            open_ones.pop(INT8, None)
            self.remember(open_ones)
            self.fresh(open_ones)
        if OURS in self.versions and self.wanted(VERSIONED):
            self.as_of()

    def as_json(self) -> dict[str, Any]:
        """What was found."""
        kept = {name: getattr(self, name) for name in ("size", "users", "versions", "skipped", "kept", "rows", "parts")}
        return {**kept, "rows": {what: cells for what, cells in self.rows.items() if cells}}

    def fill(self) -> None:
        """Each store in turn, in a process that ends then."""
        for name in self.pythons:
            if name == INT8 and not self.wanted(EVERYTHING):
                continue
            try:
                took = self._filled(name)
            except Unable as error:
                self.skipped[name] = str(error)
                continue
            if name == INT8:
                continue
            sizes = took["parts"]
            self._keep(FILLING, name, cell([1000 * (took["seconds"] + took["settled"]) / self.size], unit="ms"))
            self.parts[name] = {part: size / self.size for part, size in sizes.items()}
            self._keep(DISK, name, cell([sum(sizes.values()) / self.size], unit="bytes"))

    def _filled(self, name: str) -> dict[str, Any]:
        """Fill a store, or take one that is kept; a copy of it if this run writes, so that the next one finds it as it was."""
        place = self._places[name] = self.keep.place(name) if self.keep else self.folder / name
        with self._process(name) as process:
            digest = process("corpus")["digest"]
            took = self.keep.known(name, process.version, digest) if self.keep else None
            if took is not None:
                self.say(f"{self.size:,}: {name} is filled already")
                self.kept[name] = took["day"]
            else:
                self.say(f"{self.size:,}: filling {name}")
                if self.keep:
                    self.keep.begin(name)
                took = process("fill")
                took["parts"] = process("parts")["parts"]
                if self.keep:
                    self.keep.finish(name, process.version, digest, took)
            version = process.version
        if self.keep and any(map(self.wanted, (ONE, MANY, FRESH))):
            self._places[name] = self.folder / name
            shutil.copytree(place, self._places[name])
        self.versions[name] = version
        return took

    def openings(self) -> None:
        """Fresh processes that open and ask once; imports do not count, and the disk's cache is warm."""
        for what, row in FIRST_OF_ALL.items():
            if not self.wanted(what):
                continue
            self.say(f"{self.size:,}: {what}")
            spent: dict[str, list[float]] = {}
            for _ in range(OPENINGS):
                for name in self._stores():
                    try:
                        with self._process(name) as process:
                            took = process("first", what=row)["ms"]
                            spent.setdefault(name, []).extend(took)
                    except Unable as error:
                        self._keep(what, name, {"reason": str(error)})
            for name, times in spent.items():
                self._keep(what, name, cell(times))

    def questions(self, everyone: Mapping[str, Process]) -> None:
        """All the rows of ``ROWS``."""
        open_ones = {name: process for name, process in everyone.items() if name != INT8}
        for what in ROWS:
            if not self.wanted(what):
                continue
            self.say(f"{self.size:,}: {what}")
            if ROWS[what].touch == FIRST:
                # As many users for each of these rows as there are, and none of them twice if there are enough.
                several = max(2, min(COLD_USERS + 1, self.users // len(FIRST_TOUCHES)))
                self._row(what, open_ones, several - 1, first_user=several * FIRST_TOUCHES.index(what))
            else:
                self._row(what, everyone if what == EVERYTHING else open_ones, self.rounds)
        for name, process in open_ones.items():
            if (found := self._try(process, "memory")) and self.wanted(MEMORY):
                self._keep(MEMORY, name, cell([found["now"] / 2**20], unit="MiB"))

    def _row(self, what: str, open_ones: Mapping[str, Process], rounds: int, *, first_user: int | None = None) -> None:
        times: dict[str, list[float]] = {name: [] for name in open_ones}
        found: dict[str, list[list[int]]] = {name: [] for name in open_ones}
        more: dict[str, dict[str, str]] = {}
        left = dict(open_ones)
        warm_up = WARM_UP if first_user is None else 1
        for start in range(0, warm_up + rounds, BLOCK):
            for name, process in list(left.items()):
                try:
                    answer = process("ask", what=what, start=start, stop=min(start + BLOCK, warm_up + rounds), first_user=first_user)
                except Unable as error:
                    self._keep(what, name, {"reason": str(error)})
                    del left[name], times[name]
                    continue
                cut = warm_up if start == 0 else 0
                times[name] += answer["ms"][cut:]
                found[name] += answer["found"]
                more[name] = {"aside": answer["aside"]} if "aside" in answer else {}
                if sum(times[name]) > 1000 * self.budget:
                    del left[name]
        exact = found.get(PHYSICAL, []) if ROWS[what].needs == "semantic" else []
        for name, spent in times.items():
            if spent:
                share = {"recall": right(found[name], exact)} if exact and name != PHYSICAL else {}
                self._keep(what, name, cell(spent, **more.get(name, {}), **share))

    def remember(self, open_ones: Mapping[str, Process]) -> None:
        """One by one, and a thousand at once."""
        for what, do, times in ((ONE, "add_one", self.rounds), (MANY, "add_many", 5)):
            if not self.wanted(what):
                continue
            self.say(f"{self.size:,}: {what}")
            spent: dict[str, list[float]] = {}
            step = BLOCK if do == "add_one" else 1
            for start in range(0, times, step):
                arguments = {"start": start, "stop": start + step} if do == "add_one" else {"piece": start}
                for name, process in open_ones.items():
                    if answer := self._try(process, do, what, name, **arguments):
                        spent.setdefault(name, []).extend(answer["ms"])
            for name, numbers in spent.items():
                self._keep(what, name, cell(numbers))

    def fresh(self, open_ones: Mapping[str, Process]) -> None:
        """Another process writes ten, the next recall must have the last of them first."""
        if not self.wanted(FRESH):
            return
        self.say(f"{self.size:,}: {FRESH}")
        for name, process in open_ones.items():
            try:
                with self._process(name) as writer:
                    writer("open")
                    answers = []
                    for turn in range(FRESH_TURNS):
                        process("see", turn=turn)  # not there yet: the slice is warm then
                        writer("add_ten", turn=turn)
                        answers.append(process("see", turn=turn))
            except Unable as error:
                self._keep(FRESH, name, {"reason": str(error)})
                continue
            seen = sum(answer["seen"] for answer in answers)
            aside = {} if seen == FRESH_TURNS else {"aside": f"seen {seen} times of {FRESH_TURNS}"}
            self._keep(FRESH, name, cell([answer["ms"][0] for answer in answers], **aside))

    def as_of(self) -> None:
        """Ours alone: no peer has earlier versions of everything. Each number stands beside that of now."""
        self.say(f"{self.size:,}: {VERSIONED}")
        try:
            with self._process(OURS) as process:
                folder = self._versioned(process)
                found = process("versions", folder=str(folder), rounds=max(BLOCK, self.rounds // 2))["found"]
        except Unable as error:
            self._keep(VERSIONED, OURS, {"reason": str(error)})
            return
        for what, times in found.items():
            now = median(found[what.rsplit(", ", 1)[0] + ", now"])
            self._keep(what, OURS, cell(times, to_now=median(times) / now))

    def _versioned(self, process: Process) -> Path:
        """The folder of the store with ten versions a record, which is only read: filled now, or kept."""
        if self.keep is None:
            folder, known = self.folder / "versions", None
        else:
            digest = process("corpus")["digest"]
            folder, known = self.keep.place("versions"), self.keep.known("versions", process.version, digest)
            if known is None:
                self.keep.begin("versions")
        if known is None:
            process("fill_versions", folder=str(folder))
            if self.keep:
                self.keep.finish("versions", process.version, digest, {})
        return folder

    def _stores(self) -> list[str]:
        return [name for name in self.versions if name != INT8]

    def _open(self, stack: ExitStack) -> dict[str, Process]:
        opened = {}
        for name in self.versions:
            try:
                process = stack.enter_context(self._process(name))
                process("open")
                opened[name] = process
            except Unable as error:
                self.skipped[name] = str(error)
        return opened

    def _process(self, name: str) -> Process:
        return Process(self.pythons[name], name, self._places[name], self.size, self.users)

    def _try(self, process: Process, do: str, what: str = "", name: str = "", **arguments: Any) -> dict[str, Any] | None:
        try:
            return process(do, **arguments)
        except Unable as error:
            if what:
                self._keep(what, name, {"reason": str(error)})
            return None

    def _keep(self, what: str, name: str, found: Cell) -> None:
        self.rows.setdefault(what, {})[name] = found
