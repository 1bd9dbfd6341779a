"""What a store adds to the bundled model: one fact at a time, many at once, and the memory that one large call takes."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

from benchmarks.measuring import Measurement, Plan, each_in_turn, median, percentile
from benchmarks.texts import sentences
from indelible import MemoryStore
from indelible.embed import resolve_embedder

ROUNDS = 300
MANY, PER_CALL = 2000, 500
FACTS = 10_000, 40_000
"""In one call each; what the second takes more is what a fact takes."""
ADDED_BAR_MS = 0.5
SHARE_BAR = 90.0

_ONE_CALL = """
import resource, sys
from pathlib import Path
from benchmarks.texts import sentences
from indelible import MemoryStore
from indelible.testing import HashEmbedder
with MemoryStore(Path(sys.argv[1]), embedder=HashEmbedder()) as store:
    store.remember("something to begin with")
    store.remember_many(iter(sentences(int(sys.argv[2]))))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def run(plan: Plan) -> list[Measurement]:
    """Remember with the model and embed without a store, in turn, each round another text for each."""
    return [*_one_by_one(plan), *_many(plan), *_memory(plan)]


def _one_by_one(plan: Plan) -> list[Measurement]:
    rounds, warm_up = plan.times(ROUNDS), 20
    texts, others = (sentences(rounds + warm_up, seed=seed) for seed in (21, 22))
    model = resolve_embedder()
    with MemoryStore(plan.folder / "model-one.db", embedder=model) as store:
        spent = each_in_turn(
            {
                "alone": lambda number: model.embed_documents([others[number]]),
                "kept": lambda number: store.remember(texts[number]),
            },
            rounds,
            warm_up=warm_up,
        )
    found = []
    for percent in (50, 95):
        alone, kept = (1000 * percentile(spent[way], percent) for way in ("alone", "kept"))
        against = f"the bundled model alone, one text, p{percent}"
        found += [Measurement(against, alone, "ms"), Measurement(f"store.remember with it, p{percent}", kept, "ms", alone, against)]
        if percent == 50:
            found.append(Measurement("which is more by", max(kept - alone, 1e-6), "ms", bar=ADDED_BAR_MS))
    return found


def _many(plan: Plan) -> list[Measurement]:
    number = plan.times(MANY, least=20)
    step = min(PER_CALL, number)
    model = resolve_embedder()
    rounds = max(1, number // step)
    texts, others = (sentences(rounds * step, seed=seed) for seed in (23, 24))
    with MemoryStore(plan.folder / "model-many.db", embedder=model) as store:
        store.remember("something to begin with")
        spent = each_in_turn(
            {
                "alone": lambda turn: model.embed_documents(others[turn * step : (turn + 1) * step]),
                "kept": lambda turn: store.remember_many(texts[turn * step : (turn + 1) * step]),
            },
            rounds,
        )
    alone, kept = (step / median(spent[way]) for way in ("alone", "kept"))
    against = f"the bundled model alone, {step} texts a call"
    return [
        Measurement(against, alone, "texts/s", better="more"),
        Measurement("remember_many with it", kept, "events/s", alone, against, better="more"),
        Measurement("which is", 100 * kept / alone, "%", bar=SHARE_BAR, better="more"),
    ]


def _memory(plan: Plan) -> list[Measurement]:
    few, many = (plan.times(number, least=100) for number in FACTS)
    peaks = [max(map(partial(_peak, plan, number), range(2))) for number in (few, many)]
    a_fact = max((peaks[1] - peaks[0]) / (many - few), 1.0)
    against = "its text and its vector"
    size = len(sentences(1)[0]) + 4 * 256
    return [
        Measurement(f"memory of one call of remember_many, hash vectors, at most, {many:,} facts", peaks[1] / 2**20, "MiB"),
        Measurement("of which a fact takes, with the record that is returned", a_fact, "bytes", size, against),
    ]


def _peak(plan: Plan, number: int, turn: int) -> int:
    path = plan.folder / f"model-peak-{number}-{turn}.db"
    done = subprocess.run(
        [sys.executable, "-c", _ONE_CALL, str(path), str(number)], capture_output=True, text=True, timeout=600, check=True
    )
    return int(done.stdout)
