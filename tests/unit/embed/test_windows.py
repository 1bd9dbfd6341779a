"""Long texts are cut so that nothing is lost and nothing grows without bound."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indelible.embed import StaticEmbedder
from indelible.embed.windows import Word, cut_by_bytes, cut_by_tokens
from indelible.embed.word_pieces import MAX_WINDOWS, OVERLAP_TOKENS, WINDOW_TOKENS, short

EMBEDDER = StaticEmbedder()
MIB = 1 << 20


def covers(text: str, windows: list[str]) -> bool:
    """Say whether the windows, in order, lie in the text without a gap from its beginning to its end."""
    reached = 0
    for place, window in enumerate(windows):
        last = 0 if place == 0 else reached  # a window begins where the one before ends, or earlier
        start = text.rfind(window, 0, last + len(window))
        if start < 0 or start + len(window) < reached:
            return False
        reached = start + len(window)
    return reached == len(text)


def test_covers_itself_tells_a_gap() -> None:
    assert covers("abcdef", ["abc", "cdef"])
    assert not covers("abcdef", ["abc", "ef"])
    assert not covers("abcdef", ["bc", "cdef"])
    assert not covers("abcdef", ["abc", "cde"])


@st.composite
def distinct_words(draw: st.DrawFn) -> tuple[str, list[Word]]:
    """A text in which no character occurs twice, so that a window has one place only, and its words."""
    lengths = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.integers(1, 12)), max_size=60))
    words, length = [], 0
    for gap, characters, tokens in lengths:
        words.append(Word(length + gap, tokens))
        length += gap + characters
    length += draw(st.integers(0, 3))
    return "".join(chr(0x4E00 + place) for place in range(length)), words


@given(given_words=distinct_words(), size=st.integers(2, 30), share=st.floats(0, 0.9), most=st.integers(1, 80))
def test_token_windows_cover_the_text_within_their_limits(given_words: tuple[str, list[Word]], size: int, share: float, most: int) -> None:
    text, words = given_words
    overlap = int(size * share)
    windows = cut_by_tokens(text, words, size=size, overlap=overlap, most=most)
    assert covers(text, windows)
    assert len(windows) <= most
    starts = [text.index(window) if window else 0 for window in windows]
    ends = [start + len(window) for start, window in zip(starts, windows, strict=True)]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends)), "every window reads something that the one before did not"
    unbounded = cut_by_tokens(text, words, size=size, overlap=overlap, most=10**6)
    if len(unbounded) <= most:
        assert windows == unbounded
        for start, end in zip(starts, ends, strict=True):
            held = [word.tokens for word in words if start <= word.start < end]
            assert sum(held) <= size or len(held) == 1
        for end, start in zip(ends, starts[1:], strict=False):
            assert sum(word.tokens for word in words if start <= word.start < end) <= overlap


@given(text=st.text(alphabet=st.one_of(st.characters(codec="utf-8"), st.sampled_from(" \n")), max_size=600), size=st.integers(16, 64))
def test_byte_windows_cover_the_text_within_their_limits(text: str, size: int) -> None:
    windows = cut_by_bytes(text, size=size, overlap=size // 8)
    assert covers(text, windows)
    assert all(len(window.encode()) <= size for window in windows)
    assert len(windows) <= 1 + len(text.encode()) // (size - size // 4 - size // 8 - 4)


def test_byte_windows_break_at_spaces_and_overlap() -> None:
    text = " ".join(f"word{number}" for number in range(1000))
    windows = cut_by_bytes(text)
    assert len(windows) > 5
    for before, after in itertools.pairwise(windows):
        assert before.endswith(" ")
        assert after.startswith("word")
        repeated = next(length for length in range(len(before), 0, -1) if after.startswith(before[-length:]))
        assert 64 < repeated <= 128


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(
        st.one_of(st.text(max_size=30), st.sampled_from(["the quick brown fox ", "\n\n", "각한국어", "x" * 130, "[SEP]", "e\u0301"])),
        max_size=400,
    ).map("".join)
)
def test_model_windows_cover_any_text_and_fit_the_model(text: str) -> None:
    windows = EMBEDDER.windows(text)
    assert covers(text, windows)
    assert all(len(EMBEDDER._pieces.get().ids(window)) <= WINDOW_TOKENS + 2 for window in windows)
    if short(text):
        assert windows == [text] == EMBEDDER._pieces.get().windows(text)


def test_a_window_reads_the_same_tokens_as_the_whole() -> None:
    pieces = EMBEDDER._pieces.get()
    text = " ".join(f"Sentence number {number} says something about gardening." for number in range(120))
    whole = pieces._tokenizer.encode(text, add_special_tokens=False).ids
    read: list[int] = []
    for window in EMBEDDER.windows(text):
        ids = pieces.ids(window)[1:-1]
        repeated = next(length for length in range(OVERLAP_TOKENS, -1, -1) if read[len(read) - length :] == ids[:length])
        assert repeated > OVERLAP_TOKENS // 2 or not read
        read += ids[repeated:]
    assert read == whole


def test_a_short_text_is_its_only_window_and_loads_nothing() -> None:
    fresh = StaticEmbedder()
    assert fresh.windows("Ada likes blue.") == ["Ada likes blue."]
    assert fresh.windows("") == [""]
    assert not fresh._pieces.loaded


@pytest.mark.parametrize(
    ("name", "most"),
    [("prose", 1150), ("punctuation", MAX_WINDOWS), ("one word", 1), ("Korean", MAX_WINDOWS), ("hexadecimal", MAX_WINDOWS)],
)
def test_a_megabyte_makes_a_bounded_number_of_windows(name: str, most: int) -> None:
    generator = random.Random(3)
    text = {
        "prose": "It was the best of times, it was the worst of times, it was the age of wisdom. " * (MIB // 80),
        "punctuation": "!" * MIB,
        "one word": "a" * MIB,
        "Korean": "한국어 " * (MIB // 10),
        "hexadecimal": " ".join(f"{generator.getrandbits(320):080x}" for _ in range(MIB // 81)),
    }[name]
    windows = EMBEDDER.windows(text)
    assert 1 <= len(windows) <= most
    assert covers(text, windows)
