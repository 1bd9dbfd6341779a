"""Part two of the demo: questions about the conversations, by each way of searching, and how good and fast each is."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from demo_claims import chapter, claim, one_line, say, table
from demo_conversation import Session

from indelible import Hit, MemoryStore
from indelible.embed import resolve_embedder
from indelible.search.normalise import tokens

MOST_QUESTIONS = 100
SHOWN_QUESTIONS = 4


def ask(session: Session) -> None:
    """Several questions, with what each way of searching finds."""
    chapter("Questions: by meaning, fused, and by words")
    say("hybrid: fused ranks. semantic: cosine. keyword: bm25, any word of the question. ★ marks a turn that answers.")
    shown = ("hybrid", "semantic", "keyword, bm25")
    embedder = resolve_embedder(None)
    cosines_agree = words_are_there = in_order = True
    for question in session.chance.sample(session.source.questions, min(SHOWN_QUESTIONS, len(session.source.questions))):
        text = question["text"]
        found = {name: way(text) for name, way in ways(session.store).items()}
        columns = [[cell(session, question, hit) for hit in found[name][:3]] for name in shown]
        rows = [[column[row] if row < len(column) else "" for column in columns] for row in range(3)]
        table(f"{one_line(text)}  (answer: {one_line(str(question.get('answer', '?')))})", shown, rows, wide=[0, 1, 2])
        vector = embedder.embed_query(text)
        for hit in found["semantic"]:
            record = session.store.get(hit.id, with_vectors=True)
            vectors = record.vectors if record is not None and record.vectors else {}
            best = max((sum(a * float(b) for a, b in zip(v, vector, strict=True)) for v in vectors.values()), default=9.0)
            cosines_agree &= hit.score is not None and abs(hit.score - best) < 1e-4
        for hits in found.values():
            in_order &= [hit.rank_score for hit in hits] == sorted((hit.rank_score for hit in hits), reverse=True)
        words_are_there &= all(set(tokens(text)) & set(tokens(hit.content)) for hit in found["keyword"] + found["keyword, bm25"])
    claim("every semantic score is the cosine of the question and the memory's best part, computed here again", cosines_agree)
    claim("every keyword hit holds a word of its question", words_are_there)
    claim("every answer is in the order of its scores", in_order)


Way = Callable[[str], list[Hit]]


def ways(store: MemoryStore) -> dict[str, Way]:
    """The ways of searching that are compared."""
    return {
        "hybrid": lambda text: store.recall(text, mode="hybrid"),
        "semantic": lambda text: store.recall(text),
        "keyword": lambda text: store.search(text, match="any", limit=5),
        "keyword, bm25": lambda text: _by_bm25(store, text),
    }


def _by_bm25(store: MemoryStore, text: str) -> list[Hit]:
    with bm25():
        return store.search(text, match="any", limit=5)


@contextmanager
def bm25() -> Iterator[None]:
    """Let keyword search score by bm25, as a user would ask for it."""
    os.environ["MEMORY_FTS5_BM25"] = "1"
    try:
        yield
    finally:
        del os.environ["MEMORY_FTS5_BM25"]


def cell(session: Session, question: dict[str, Any], hit: Hit) -> str:
    """A hit in a table: its mark, score and text."""
    mark = "★" if session.answers(question, hit) else "·"
    return f"{mark} {hit.rank_score:.3f} {one_line(hit.content)}"


def measure(session: Session, *, bundled: bool) -> None:
    """How often each way finds an answering turn among its first five, and how long it takes."""
    chapter("How good and how fast, over the questions")
    questions = session.chance.sample(session.source.questions, min(MOST_QUESTIONS, len(session.source.questions)))
    by_luck = statistics.mean(_luck(len(session.source.turns), len(session.source.evidence[q["id"]])) for q in questions)
    rows, share = [], {}
    for name, way in ways(session.store).items():
        found, spent = 0, []
        for question in questions:
            began = time.perf_counter()
            hits = way(question["text"])
            spent.append(time.perf_counter() - began)
            found += any(session.answers(question, hit) for hit in hits)
        share[name] = found / len(questions)
        rows.append([name, f"{100 * share[name]:.1f} %", f"{1000 * statistics.median(spent):.1f} ms"])
        session.measured[f"{name}: hit@5, time p50"] = f"{rows[-1][1]}, {rows[-1][2]}"
    rows.append(["five turns drawn by lot", f"{100 * by_luck:.1f} %", ""])
    table(f"{len(questions)} questions, {len(session.source.turns)} turns", ["way", "answer among the first 5", "time, p50"], rows)
    if len(questions) >= 20 and len(session.source.turns) >= 50:
        claim("hybrid recall finds an answer more often than a lot would", share["hybrid"] > by_luck)
    if bundled:
        claim("hybrid recall finds an answer among its first five for at least 85 of 100 questions", share["hybrid"] >= 0.85)


def _luck(turns: int, answering: int) -> float:
    """The chance that five turns drawn by lot hold an answering one."""
    miss = 1.0
    for drawn in range(min(5, turns)):
        miss *= max(0, turns - answering - drawn) / (turns - drawn)
    return 1 - miss
