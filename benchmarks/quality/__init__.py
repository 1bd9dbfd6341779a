"""How good recall is: sets of questions with judged answers, asked in every way and of other stores.

``python -m benchmarks.quality --data FOLDER`` prints everything; ``run`` is the short form among the other benchmarks.
"""

from __future__ import annotations

import os
import platform
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measuring import Measurement, Plan

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "data" / "longmemeval_sample"
"""Smaller and so easier than the set that it is taken from."""
SHOWN = ("any@1", "any@5", "recall@10", "MRR")


def run(plan: Plan) -> list[Measurement]:
    """LongMemEval's evidence turns and distractors in one index: remember every turn, ask every question in each mode."""
    # Here, so that `python -m benchmarks` can list its names without numpy and a model.
    from benchmarks.quality.metrics import measures
    from benchmarks.quality.sets import read_folder
    from benchmarks.quality.stores import FilledStore
    from indelible.embed.onnx_embedder import OnnxEmbedder
    from indelible.embed.static_embedder import StaticEmbedder

    asked = read_folder(plan.data / "longmemeval_pool" if plan.data is not None else SAMPLE)
    questions = asked.questions[: plan.times(len(asked.questions), least=min(20, len(asked.questions)))]
    asked = replace(asked, questions=questions)
    by_luck = sum(1 - (1 - len(question.relevant) / len(asked.documents)) ** 5 for question in questions) / len(questions)
    luck = f"five of {len(asked.documents)} turns drawn by lot"
    found: list[Measurement] = []
    for name, embedder in (("bundled model", OnnxEmbedder()), ("static model", StaticEmbedder())):
        with closing(FilledStore(asked, embedder)) as store:
            ways = {f"{mode}, {name}": [store.recall(question, mode) for question in questions] for mode in ("semantic", "hybrid")}
            if not found:
                ways = {"keyword, any word, bm25": [store.search(question, bm25=True) for question in questions], **ways}
        for way, rankings in ways.items():
            rows = [measures(ranking, question.relevant) for ranking, question in zip(rankings, questions, strict=True)]
            for measure in SHOWN:
                value = 100 * sum(row[measure] for row in rows) / len(rows)
                reference, against = (100 * by_luck, luck) if measure == "any@5" else (None, "")
                found.append(Measurement(f"{way}, {len(rows)} questions: {measure}", value, "%", reference, against, better="more"))
    return found


def machine() -> dict[str, Any]:
    """What it ran on, and with what."""
    packages = ("indelible", "numpy", "onnxruntime", "tokenizers")
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        **{name: version(name) for name in packages},
    }
