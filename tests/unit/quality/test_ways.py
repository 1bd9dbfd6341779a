"""Every way is asked every question, and what comes out can be shown."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.quality.embedding import Matrix, Remembering
from benchmarks.quality.metrics import NAMES
from benchmarks.quality.report import as_json, comparisons, markdown, show
from benchmarks.quality.sets import Document, Question, QuestionSet
from benchmarks.quality.ways import BM25, HYBRID, RERANKED, SEMANTIC, WORDS, Results, merged, run_all
from indelible.testing import HashEmbedder

INSTALLED = find_spec("indelible_reranker") is not None
TURNS = [
    "I bought a red kettle",
    "a kettle for green tea",
    "the cat sleeps all day",
    " ",
    "my sister moved to Oslo",
    "Oslo is cold in winter",
]


def conversation(group: str) -> QuestionSet:
    """One session, one question about its first turns, in which each way can find an answer."""
    day = datetime(2024, 5, 1, tzinfo=UTC)
    documents = [Document(f"{group}{n}", text, group, f"{group}/1", day, "user") for n, text in enumerate(TURNS)]
    return QuestionSet(f"talk {group}", documents, [Question(f"{group}?", "which red kettle", {f"{group}0": 1.0, f"{group}1": 1.0}, group)])


@pytest.fixture(scope="module")
def results() -> Results:
    return run_all(conversation("a"), Remembering(HashEmbedder()), Remembering(HashEmbedder()), None, lambda _doing: None)


def test_every_way_finds_what_is_plain(results: Results) -> None:
    """With each prior, context and model, and without; blank turns are left out and groups kept apart."""
    assert {"grep", WORDS, BM25, SEMANTIC, HYBRID, "hybrid + recency", "semantic + MMR", "hybrid, context previous and date"} <= set(
        results.values
    )
    assert len(results.values) == 25 + len(RERANKED) * INSTALLED
    for way, values in results.values.items():
        assert tuple(values) == NAMES
        assert values["any@5"].tolist() == [100.0], way


def test_only_what_is_wanted_is_asked() -> None:
    found = run_all(conversation("a"), Remembering(HashEmbedder()), Remembering(HashEmbedder()), None, lambda _doing: None, "^hybrid$|MMR")
    assert set(found.values) == {HYBRID, "hybrid + MMR", "semantic + MMR"}
    assert [(what, measure) for what, measure, _ in comparisons(found)] == [("hybrid + MMR - hybrid", "recall@20")]


def test_the_second_look_is_asked_for_where_it_is_installed() -> None:
    """Its rows come with a difference and with what they cost, on a terminal and in Markdown."""
    found = run_all(
        conversation("a"), Remembering(HashEmbedder()), Remembering(HashEmbedder()), None, lambda _doing: None, "^hybrid($| . rerank)"
    )
    assert set(found.values) == {HYBRID, *(RERANKED if INSTALLED else ())}
    assert [(what, measure) for what, measure, _ in comparisons(found)] == [
        (f"{way} - {HYBRID}", "nDCG@10") for way in RERANKED if INSTALLED
    ]
    console = Console(record=True, width=240, file=io.StringIO())
    show(console, found)
    for text in (console.export_text(), markdown(json.loads(json.dumps(as_json(found))))):
        assert text.count("ms a question more than hybrid") == len(RERANKED) * INSTALLED


def test_sets_are_merged_question_by_question(results: Results) -> None:
    other = run_all(conversation("b"), Remembering(HashEmbedder()), Remembering(HashEmbedder()), None, lambda _doing: None, "hybrid")
    both = merged("both", [results, other])
    assert set(both.values) == set(other.values)
    assert [question.id for question in both.asked.questions] == ["a?", "b?"]
    assert both.values[HYBRID]["MRR"].tolist() == [*results.values[HYBRID]["MRR"], *other.values[HYBRID]["MRR"]]


def test_it_can_be_shown_and_written(results: Results) -> None:
    """The tables on a terminal and in Markdown have a row for each way and each comparison."""
    console = Console(record=True, width=240, file=None, quiet=True)
    show(console, results)
    written = json.loads(json.dumps(as_json(results)))
    assert written["ways"].keys() == results.values.keys()
    table = markdown(written)
    differences = list(comparisons(results))
    assert len(differences) == len(written["differences"]) > 10
    assert table.count("\n| ") == 1 + len(results.values) + 1 + len(differences)
    assert f"| {HYBRID} | 100.0 | 100.0 [100.0, 100.0] |" in table


class Counting(HashEmbedder):
    """Notes what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.made: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Matrix:
        self.made += texts
        return super().embed_documents(texts)


def test_texts_are_embedded_once(tmp_path: Path) -> None:
    """Also by the embedder that does not cut them, and by the next one that reads the file."""
    counting = Counting()
    embedder = Remembering(counting, tmp_path / "kept" / "vectors.npz")
    first = embedder.embed_documents(["tea", "milk", "tea"])
    assert counting.made == ["tea", "milk"]
    assert np.array_equal(embedder.without_windows().embed_query("tea"), first[0])
    assert embedder.without_windows().windows("tea " * 5000) == ["tea " * 5000]
    assert embedder.embed_documents([]).shape == (0, embedder.dim)
    embedder.save()
    again = Remembering(counting, tmp_path / "kept" / "vectors.npz")
    assert np.array_equal(again.embed_documents(["milk"])[0], first[1])
    assert counting.made == ["tea", "milk"]
