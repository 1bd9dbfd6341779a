"""How good recall is, on conversations with questions: LongMemEval's evidence turns and distractors pooled into one index.

Reads the folder ``longmemeval_pool`` of the folder that ``INDELIBLE_DATA`` names; without it, the sample that lies in the examples, which
is smaller and so easier.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.measuring import Measurement, Plan
from indelible import Hit, MemoryStore

SAMPLE = Path(__file__).resolve().parents[1] / "examples" / "data" / "longmemeval_sample"
DEPTH = 10
MODELS = {"bundled model": None, "static model": "static"}


def run(plan: Plan) -> list[Measurement]:
    """Remember every turn, ask every question in each mode, count where the first answering turn stands."""
    folder = plan.data / "longmemeval_pool" if plan.data is not None else SAMPLE
    turns = _lines(folder / "corpus.jsonl")
    answers: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        asked, answering = line.split("\t")
        answers[asked].add(answering)
    questions = [q for q in _lines(folder / "queries.jsonl") if not q.get("abstention") and q["id"] in answers]
    questions = questions[: plan.times(len(questions), least=min(20, len(questions)))]
    by_luck = sum(1 - (1 - len(answers[q["id"]]) / len(turns)) ** 5 for q in questions) / len(questions)
    luck = f"five of {len(turns)} turns drawn by lot"
    found = []
    for name, embedder in MODELS.items():
        with MemoryStore(":memory:", embedder=embedder) as store:
            store.remember_many([{"content": turn["text"], "metadata": {"turn": turn["id"]}} for turn in turns])
            for mode in ("keyword", "semantic", "hybrid") if embedder is None else ("semantic", "hybrid"):
                ranks, covered = [], 0.0
                for question in questions:
                    hits = [str(hit.metadata["turn"]) for hit in _ask(store, question["text"], mode)]
                    wanted = answers[question["id"]]
                    ranks.append(next((rank for rank, found_turn in enumerate(hits, 1) if found_turn in wanted), 0))
                    covered += len(wanted & set(hits)) / len(wanted)
                way = "keyword, any word, bm25" if mode == "keyword" else f"{mode}, {name}"
                found += _scores(f"{way}, {len(questions)} questions", ranks, covered / len(questions), by_luck, luck)
    return found


def _ask(store: MemoryStore, text: str, mode: str) -> list[Hit]:
    if mode == "keyword":
        os.environ["MEMORY_FTS5_BM25"] = "1"  # a whole question is mostly words that every text has: counting them alone says nothing
        return store.search(text, match="any", limit=DEPTH)
    return store.recall(text, mode=mode, limit=DEPTH)


def _scores(way: str, ranks: list[int], covered: float, by_luck: float, luck: str) -> list[Measurement]:
    def share(most: int) -> float:
        return 100 * sum(0 < rank <= most for rank in ranks) / len(ranks)

    reciprocal = 100 * sum(1 / rank for rank in ranks if rank) / len(ranks)
    return [
        Measurement(f"{way}: hit@1", share(1), "%", better="more"),
        Measurement(f"{way}: hit@5", share(5), "%", 100 * by_luck, luck, better="more"),
        Measurement(f"{way}: recall@10", 100 * covered, "%", better="more"),
        Measurement(f"{way}: MRR@10", reciprocal, "%", better="more"),
    ]


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
