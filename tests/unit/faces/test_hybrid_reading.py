"""S40: hybrid recall listens to meaning as far as the model reads the question."""

from __future__ import annotations

import math

import pytest

from indelible import Collection, MemoryStore
from indelible.embed import Embedder
from indelible.search.fusion import clear_balance
from indelible.testing import HashEmbedder

KOREAN = {
    "kimchi": "나는 김치를 정말 좋아해",
    "tea": "아침마다 녹차를 마셔",
    "cat": "우리 고양이는 하루 종일 자",
    "busan": "부산에서 회를 먹었고 김치를 조금 샀어",
    "rain": "비가 오는 날에는 집에서 책을 읽는 것이 좋아",
    "soup": "김치를 넣은 찌개를 어제 저녁에 끓여서 가족과 나눠 먹었다",
    "ford": "Ford 자동차를 샀다",
    "work": "회사에 지하철로 다녀",
}
QUESTION = "어떤 김치를 좋아해?"


def filled(model: str | Embedder) -> Collection:
    notes: Collection = MemoryStore(":memory:").collection("notes", model=model)
    for key, text in KOREAN.items():
        notes.put(key, text)
    return notes


@pytest.mark.parametrize("model", ["bge-256", "static", "static-query"])
def test_a_question_that_no_bundled_model_reads_is_answered_by_its_words(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is that of bm25; what holds no word of the question comes after, with 0. The cosines alone would say something."""
    monkeypatch.setenv("MEMORY_FTS5_BM25", "1")
    store = MemoryStore(":memory:", embedder=model)
    store.remember_many(list(KOREAN.values()))
    words = [hit.content for hit in store.search(QUESTION, match="any", limit=20)]
    hybrid = store.recall(QUESTION, mode="hybrid", limit=20)
    assert len(words) >= 3
    assert [hit.content for hit in hybrid][: len(words)] == words
    assert [hit.rank_score for hit in hybrid][len(words) :] == [0.0] * (len(KOREAN) - len(words))
    assert clear_balance([hit.score or 0.0 for hit in store.recall(QUESTION, limit=20)]) > 0


def test_a_question_of_two_languages_lies_between() -> None:
    """Four letters of ten are read: so meaning counts for four tenths of what it would."""
    notes = filled("static")
    question = "Ford 자동차를샀다"
    clear = clear_balance([hit.score or 0.0 for hit in notes.search(question, mode="semantic", limit=20)])
    assert 0 < 0.4 * clear < clear
    found = notes.search(question, mode="hybrid", limit=20)
    assert [hit.rank_score for hit in found] == pytest.approx(
        [hit.rank_score for hit in notes.search(question, mode="hybrid", balance=0.4 * clear, limit=20)]
    )


def test_a_vector_of_the_callers_counts_whole() -> None:
    """Whoever brings the question's vector has read it with whatever model that was."""
    notes = filled("static")
    vector = [1 / math.sqrt(256)] * 256
    clear = clear_balance([hit.score or 0.0 for hit in notes.search(vector=vector, limit=20)])
    assert clear > 0
    assert notes.search(QUESTION, vector=vector, mode="hybrid", limit=20) == notes.search(
        QUESTION, vector=vector, mode="hybrid", balance=clear, limit=20
    )


def test_a_model_that_does_not_say_is_believed_to_read_everything() -> None:
    notes = filled(HashEmbedder())
    clear = clear_balance([hit.score or 0.0 for hit in notes.search(QUESTION, mode="semantic", limit=20)])
    assert clear > 0
    assert notes.search(QUESTION, mode="hybrid", limit=20) == notes.search(QUESTION, mode="hybrid", balance=clear, limit=20)
