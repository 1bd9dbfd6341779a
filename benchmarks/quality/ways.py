"""Every way of answering the questions of a set: the rows of the table."""

from __future__ import annotations

import re
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.quality.embedding import Remembering
from benchmarks.quality.metrics import DEPTH, NAMES, Values, measures
from benchmarks.quality.peers import peer_rankings
from benchmarks.quality.sets import Question, QuestionSet
from benchmarks.quality.stores import PRIORS, Context, FilledStore
from benchmarks.quality.words import Ranker, bm25_unsegmented, grep, reciprocal_ranks, word_channel
from indelible import Rerank

HYBRID, SEMANTIC, WORDS, BM25, SPACES = "hybrid", "semantic", "bm25 over stems", "bm25", "bm25, cut at spaces"
RERANKED = {f"{HYBRID} + rerank {pool}": pool for pool in (20, 50)}
"""With the bundled reranker over so many of the best, where it is installed."""
Answer = Callable[[Question], list[str]]


@dataclass(slots=True)
class Results:
    """What every way scored on a set.

    Attributes:
        asked: the set.
        values: by way, by measure, one number for each question, 0 to 100.
        versions: of the peers.
        milliseconds: by way, of one question, the median; the question's vector is there already.
    """

    asked: QuestionSet
    values: dict[str, dict[str, Values]] = field(default_factory=dict)
    versions: str = ""
    milliseconds: dict[str, float] = field(default_factory=dict)

    def add(self, way: str, rankings: list[list[str]]) -> None:
        """Score what a way answered."""
        rows = [measures(ranking, question.relevant) for ranking, question in zip(rankings, self.asked.questions, strict=True)]
        self.values[way] = {name: 100 * np.array([row[name] for row in rows]) for name in NAMES}


def merged(name: str, parts: list[Results]) -> Results:
    """Several sets' results as those of one: all their questions, in the ways that each of them was asked in."""
    documents = [document for part in parts for document in part.asked.documents]
    questions = [question for part in parts for question in part.asked.questions]
    shared = [way for way in parts[0].values if all(way in part.values for part in parts)]
    values = {way: {name: np.concatenate([part.values[way][name] for part in parts]) for name in NAMES} for way in shared}
    return Results(QuestionSet(name, documents, questions), values, parts[0].versions)


def run_all(
    asked: QuestionSet, full: Remembering, static: Remembering, python: Path | None, say: Callable[[str], None], wanted: str = ""
) -> Results:
    """Ask every question in every way.

    Args:
        asked: the set.
        full, static: the bundled models.
        python: the peers' interpreter; ``None`` leaves them out.
        say: told what is being done.
        wanted: only the ways whose names this matches, a regular expression.
    """
    results = Results(asked)

    def ask(way: str, answer: Answer) -> None:
        if not re.search(wanted, way):
            return
        say(f"{asked.name}: {way}")
        rankings, times = [], []
        for question in asked.questions:
            start = time.perf_counter()
            rankings.append(answer(question))
            times.append(1000 * (time.perf_counter() - start))
        results.add(way, rankings)
        results.milliseconds[way] = statistics.median(times)

    for way, answer in _by_words(asked):
        ask(way, answer)
    with closing(FilledStore(asked, full)) as store:
        ask("keyword, counts", partial(store.search, bm25=False))
        ask(BM25, partial(store.search, bm25=True))
        ask(SEMANTIC, _recalling(store, SEMANTIC))
        ask(HYBRID, _recalling(store, HYBRID))
        if find_spec("indelible_reranker") is not None:
            for way, pool in RERANKED.items():
                ask(way, _recalling(store, HYBRID, rerank=Rerank(pool)))
        words = _rankers(asked, word_channel)
        for k in (10, 60):
            ask(f"reciprocal ranks, k={k}", partial(_by_ranks, store, words, k))
        store.cast_votes()
        for name, prior in PRIORS.items():
            if name != "recency" or asked.has_dates:
                for mode in (HYBRID, SEMANTIC):
                    ask(f"{mode} + {name}", _recalling(store, mode, **prior))
    for context in _contexts(asked):
        with closing(FilledStore(asked, full, context)) as store:
            for mode in (SEMANTIC, HYBRID):
                ask(f"{mode}, context {context}", _recalling(store, mode))
    for name, embedder in (("no windows", full.without_windows()), ("static model", static)):
        with closing(FilledStore(asked, embedder)) as store:
            for mode in (SEMANTIC, HYBRID):
                ask(f"{mode}, {name}", _recalling(store, mode))
    if python is not None:
        say(f"{asked.name}: peers")
        answers, results.versions = peer_rankings(python, asked, full)
        for way, rankings in answers.items():
            results.add(way, rankings)
    return results


def _recalling(store: FilledStore, mode: str, **priors: Any) -> Answer:
    return lambda question: store.recall(question, mode, **priors)


def _by_ranks(store: FilledStore, words: Answer, k: int, question: Question) -> list[str]:
    return reciprocal_ranks([words(question), store.recall(question, SEMANTIC, depth=1000)], k)[:DEPTH]


def _contexts(asked: QuestionSet) -> tuple[Context, ...]:
    if asked.has_sessions:
        return ("previous", "date", "previous and date") if asked.has_dates else ("previous",)
    return ("date",) if asked.has_dates else ()


def _by_words(asked: QuestionSet) -> Iterator[tuple[str, Answer]]:
    for way, make in (("grep", grep), (SPACES, bm25_unsegmented), (WORDS, word_channel)):
        yield way, _rankers(asked, make)


def _rankers(asked: QuestionSet, make: Callable[[list[str]], Ranker]) -> Answer:
    """A ranker for each group of a set."""
    ids: dict[str, list[str]] = defaultdict(list)
    texts: dict[str, list[str]] = defaultdict(list)
    for document in asked.documents:
        ids[document.group].append(document.id)
        texts[document.group].append(document.text)
    rankers = {group: make(found) for group, found in texts.items()}

    def answer(question: Question) -> list[str]:
        return [ids[question.group][place] for place in rankers[question.group](question.text)[:1000]]

    return answer
