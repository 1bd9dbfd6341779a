"""How much of a text the bundled models read, and what becomes of what a foreign model says of that."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.embed import CallableEmbedder, OnnxEmbedder, Reading, StaticEmbedder, StaticQueryEmbedder
from indelible.errors import InvalidInput, ModelError
from indelible.testing import HashEmbedder

HANGUL = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1)
HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


@pytest.mark.parametrize(
    "text",
    [
        "What did I tell you about my travel plans?",
        "I don't like working out, right?",
        "On May 4th I ran 5 km at 7 a.m.",
        "Déjà vu in a café",
        "a",
        "snake_case [SEP] (again)",
    ],
)
def test_plain_english_is_read_whole(static: StaticEmbedder, text: str) -> None:
    assert static.coverage(text) == pytest.approx(1.0, abs=0.15 if "SEP" in text else 0.0)


@pytest.mark.parametrize("text", ["나는 김치를 좋아해", "我", "我喜欢北京", "أين المكتبة", "ที่ไหน", "कहाँ है", "какой", "🎉", "?!", " ", ""])
def test_what_was_never_learnt_is_not_read(static: StaticEmbedder, text: str) -> None:
    assert static.coverage(text) == 0.0


def test_a_mixed_text_lies_between_by_its_letters(static: StaticEmbedder) -> None:
    """Four letters of ten are a word that the model knows."""
    assert static.coverage("ford 나는김치를요") == pytest.approx(0.4)
    assert static.coverage("나는김치를요, FORD!") == static.coverage("ford 나는김치를요")


def test_a_word_in_pieces_is_read_and_a_lone_letter_of_it_is_not(static: StaticEmbedder) -> None:
    assert static.coverage("restaurants") == 1.0
    assert static.coverage("xylophone") == pytest.approx(8 / 9)  # x, ##yl, ##ophone


@given(TEXTS)
def test_a_share_and_always_the_same(text: str) -> None:
    share = MODEL.coverage(text)
    assert 0.0 <= share <= 1.0
    assert MODEL.coverage(text) == StaticEmbedder().coverage(text) == share


@given(st.one_of(HANGUL, HAN), TEXTS)
def test_more_of_what_is_not_read_never_raises_it(unread: str, text: str) -> None:
    assert MODEL.coverage(unread) == 0.0
    assert MODEL.coverage(f"{text} {unread}") <= MODEL.coverage(text) + 1e-12


def test_the_part_that_is_read_counts(static: StaticEmbedder) -> None:
    """Beyond 254 word pieces a model reads nothing."""
    english = "hello " * 300
    assert static.coverage(english + "나는김치를" * 300) == 1.0
    assert static.coverage("나는김치를 " * 300 + english) == 0.0


def test_the_models_agree(onnx: OnnxEmbedder, static: StaticEmbedder) -> None:
    """They share a tokenizer; of two models in one the one that reads the question answers."""
    text = "ford 나는김치를요"
    assert onnx.coverage(text) == static.coverage(text) == StaticQueryEmbedder(onnx, static).coverage(text)
    with pytest.raises(InvalidInput, match="surrogate"):
        static.coverage("\ud800")
    with pytest.raises(InvalidInput, match="must be a str"):
        onnx.coverage(7)  # type: ignore[arg-type]  # on purpose


def test_what_is_remembered_of_a_text_is_its_own(static: StaticEmbedder) -> None:
    """Threads that ask one model for vectors and coverage of different texts do not see each other's."""
    texts = ["hello there", "나는 김치를", "ford 나는김치를", ""] * 50
    expected = {text: (static.coverage(text), static.embed_query(text).tolist()) for text in texts}
    wrong: list[str] = []

    def ask(order: list[str]) -> None:
        wrong.extend(text for text in order if (static.coverage(text), static.embed_query(text).tolist()) != expected[text])

    threads = [threading.Thread(target=ask, args=(texts[shift:] + texts[:shift],)) for shift in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@dataclass
class Stating(HashEmbedder):
    """An embedder that states a coverage."""

    stated: object

    def __post_init__(self) -> None:
        super().__init__()

    def coverage(self, text: str) -> object:
        if isinstance(self.stated, Exception):
            raise self.stated
        return self.stated


@pytest.mark.parametrize("stated", [0, 0.25, 1, 1.0])
def test_an_embedder_may_say(stated: float) -> None:
    wrapped = CallableEmbedder(Stating(stated))
    assert isinstance(wrapped, Reading)
    assert wrapped.coverage("text") == stated


@pytest.mark.parametrize("stated", [-0.1, 1.5, float("nan"), "much", None, ValueError("no")])
def test_what_is_no_share_is_refused(stated: object) -> None:
    with pytest.raises(ModelError, match="hash-64"):
        CallableEmbedder(Stating(stated)).coverage("text")


def test_who_does_not_say_reads_everything() -> None:
    """Of objects that are no ``Embedder``, whatever they call coverage is something of their own."""

    def function(texts: list[str]) -> list[list[float]]:
        return [[1.0] for _ in texts]

    function.coverage = lambda _text: 0.0  # type: ignore[attr-defined]  # on purpose
    for model in (HashEmbedder(), function):
        assert CallableEmbedder(model).coverage("나는") == 1.0
        with pytest.raises(InvalidInput):
            CallableEmbedder(model).coverage("\ud800")


MODEL = StaticEmbedder()
