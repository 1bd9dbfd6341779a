"""A process that has one store, reads requests line by line and answers: ``python -m benchmarks.speed.worker NAME FOLDER SIZE USERS``."""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import IO, Any

from benchmarks.speed.data import Corpus, Rows
from benchmarks.speed.engine import Engine
from benchmarks.speed.engines import engine_class
from benchmarks.speed.rows import AGAIN, ROWS, WARM

ADDED_AT_ONCE = 10
OTHERS = 100_000
"""From this number on, questions are asked to touch their users, and not timed."""
TOUCHES = 6
"""So often: by then a store has kept whatever it keeps of a user."""
Answer = dict[str, Any]


def main() -> None:
    """Answer until there is nothing more to read."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a store prints is no answer
    name, folder, size, users = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    try:
        worker = Worker(engine_class(name)(folder, max(1, size // users)), Corpus(size, users))
    except ImportError as error:
        _say(answers, {"reason": f"not installed: {error}"})
        return
    _say(answers, {"version": worker.engine.version})
    for line in sys.stdin:
        request = json.loads(line)
        do: Callable[..., Answer] = getattr(worker, request.pop("do"))
        try:
            _say(answers, do(**request))
        except NotImplementedError:
            _say(answers, {"reason": "cannot"})
        except Exception as error:  # whatever another store raises: the row is left out, and says so
            _say(answers, {"reason": f"{type(error).__name__}: {error}"[:300]})


def _say(answers: IO[str], answer: Answer) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


class Worker:
    """What can be asked of it, a method each."""

    def __init__(self, engine: Engine, corpus: Corpus) -> None:
        self.engine, self._corpus = engine, corpus
        engine.folder.mkdir(parents=True, exist_ok=True)
        engine.load()

    def fill(self) -> Answer:
        """Keep the whole corpus, piece by piece, then close; the time of making it does not count."""
        self.engine.folder.mkdir(parents=True, exist_ok=True)
        self.engine.open()
        spent = 0.0
        for rows in self._corpus.pieces():
            began = time.perf_counter()
            self.engine.add(rows)
            spent += time.perf_counter() - began
        began = time.perf_counter()
        self.engine.settle()
        settled = time.perf_counter() - began
        self.engine.close()
        return {"seconds": spent, "settled": settled, "rss": memory()["peak"]}

    def first(self, what: str) -> Answer:
        """Open and ask once."""
        row = ROWS[what]
        if row.needs in self.engine.cannot:
            return {"reason": self.engine.cannot[row.needs]}
        asked = row.question(self._corpus, 0)
        began = time.perf_counter()
        self.engine.open()
        found = row.call(self.engine)(asked)
        return {"ms": [1000 * (time.perf_counter() - began)], "found": len(found)}

    def open(self) -> Answer:
        """Open."""
        self.engine.open()
        return {}

    def ask(self, what: str, start: int, stop: int, first_user: int | None = None) -> Answer:
        """Ask questions by their numbers.

        Args:
            what: of ``ROWS``.
            start, stop: the numbers.
            first_user: of another user each, this one and those after it; ``None``: of the users whom the questions name.
        """
        row = ROWS[what]
        if row.needs in self.engine.cannot:
            return {"reason": self.engine.cannot[row.needs]}
        call, corpus = row.call(self.engine), self._corpus
        users = [None if first_user is None else (first_user + number) % corpus.users for number in range(start, stop)]
        asked = [row.question(corpus, number, user) for number, user in zip(range(start, stop), users, strict=True)]
        if row.touch == AGAIN:
            for turn in range(TOUCHES):
                for number, question in enumerate(asked):
                    other = row.question(corpus, OTHERS * (1 + turn) + start + number)
                    call(replace(other, user=question.user))
        spent, found = [], []
        with _quiet():
            for question in asked:
                took, hits = self.engine.timed(call, question)
                spent.append(1000 * took)
                found.append([number for number, _ in hits])
        aside = self.engine.aside.get(row.needs)
        return {"ms": spent, "found": found, **({"aside": aside} if aside else {})}

    def add_one(self, start: int, stop: int) -> Answer:
        """Add single records."""
        rows = self._corpus.fresh(0)
        return self._timed([rows.part(number, number + 1) for number in range(start, stop)])

    def add_many(self, piece: int) -> Answer:
        """Add a whole piece at once."""
        return self._timed([self._corpus.fresh(1 + piece)])

    def add_ten(self, turn: int) -> Answer:
        """Add ten records, for another process to see."""
        return self._timed([self._ten(turn)])

    def see(self, turn: int) -> Answer:
        """Ask for the last of the ten that another process added, in its user's slice."""
        rows = self._ten(turn)
        place = len(rows.texts) - 1
        vector = rows.vectors[place]
        row = ROWS[WARM]
        asked = row.question(self._corpus, turn)
        asked = type(asked)(rows.users[place], asked.words, vector, [float(x) for x in vector])
        began = time.perf_counter()
        hits = row.call(self.engine)(asked)
        took = 1000 * (time.perf_counter() - began)
        return {"ms": [took], "seen": bool(hits) and hits[0][0] == rows.numbers[place]}

    def _ten(self, turn: int) -> Rows:
        return self._corpus.fresh(100).part(turn * ADDED_AT_ONCE, (turn + 1) * ADDED_AT_ONCE)

    def corpus(self) -> Answer:
        """What the records are: other records have another digest."""
        return {"digest": self._corpus.digest()}

    def parts(self) -> Answer:
        """Bytes on disk."""
        return {"parts": self.engine.parts()}

    def memory(self) -> Answer:
        """Bytes of memory."""
        return dict(memory())

    def fill_versions(self, folder: str) -> Answer:
        """Keep as many versions as the corpus has records, ten of each, in an own folder."""
        from benchmarks.speed.ours import Versions

        Path(folder).mkdir(parents=True, exist_ok=True)
        store = Versions(Path(folder), self._corpus)
        store.fill()
        store.close()
        return {}

    def versions(self, folder: str, rounds: int) -> Answer:
        """Those records, as they were and are."""
        from benchmarks.speed.ours import Versions

        store = Versions(Path(folder), self._corpus)
        found: dict[str, list[float]] = {}
        with _quiet():
            for number in range(-min(rounds, 5), rounds):
                asked = self._corpus.question(abs(number))
                for within, user in (("one user", asked.user), ("everything", None)):
                    for percent in (None, 10, 50, 90):
                        began = time.perf_counter()
                        store.ask(asked, percent, user)
                        took = 1000 * (time.perf_counter() - began)
                        if number >= 0:
                            when = "now" if percent is None else f"at {percent} % of the log"
                            found.setdefault(f"{VERSIONED}, {within}, {when}", []).append(took)
        store.close()
        return {"found": found}

    def _timed(self, batches: list[Rows]) -> Answer:
        spent = []
        with _quiet():
            for rows in batches:
                began = time.perf_counter()
                self.engine.add(rows)
                spent.append(1000 * (time.perf_counter() - began))
        return {"ms": spent}


VERSIONED = "ten versions a record"


class _quiet:
    def __enter__(self) -> None:
        gc.collect()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        gc.enable()


def memory() -> dict[str, int]:
    """Bytes of this process in memory, now (where the system says so) and at most."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    now = peak
    status = Path("/proc/self/status")
    if status.exists():
        lines = (line.split() for line in islice(status.read_text().splitlines(), 60))
        now = next((int(words[1]) * 1024 for words in lines if words and words[0] == "VmRSS:"), peak)
    return {"now": now, "peak": peak}


if __name__ == "__main__":
    main()
