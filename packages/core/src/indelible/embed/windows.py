"""Cut long text into overlapping windows. Pure: no model, no tokenizer, only numbers and slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BYTES = 1024  # of a window for a model whose tokenizer is unknown: about 256 English tokens
BYTES_OVERLAP = 128


@dataclass(frozen=True)
class Word:
    """One word of a text, as a tokenizer sees it."""

    start: int  # where it begins, in characters
    tokens: int  # how many tokens it takes


def cut_by_tokens(text: str, words: Sequence[Word], *, size: int, overlap: int, most: int) -> list[str]:
    """Cut between words so that a window has at most ``size`` tokens and repeats at most ``overlap`` of the one before.

    What stands before the first word belongs to the first window, what follows a word up to the next one goes with that word:
    every character is in some window. A single word of more than ``size`` tokens is a window of its own.

    The number of windows is bounded by ``most``. A text that would need more is cut anew without overlap and, only where that
    does not suffice, into longer windows of equal share, of which a model then reads the beginning.

    Args:
        text: what to cut.
        words: its words in order.
        size: most tokens in a window.
        overlap: most tokens repeated from one window in the next, less than ``size``.
        most: most windows.
    """
    total = sum(word.tokens for word in words)
    if total <= size:
        return [text]
    spans = _spans(words, size, overlap)
    if len(spans) > most:
        longest = max(word.tokens for word in words)
        # each window but the last then holds at least total/most tokens: the next word would not have fitted otherwise
        spans = _spans(words, max(size, math.ceil(total / most) + longest - 1), 0)
    edges = [0, *(word.start for word in words[1:]), len(text)]
    return [text[edges[first] : edges[end]] for first, end in spans]


def _spans(words: Sequence[Word], size: int, overlap: int) -> list[tuple[int, int]]:
    """Give the windows as (first word, word after the last)."""
    spans = []
    first = 0
    while True:
        end, held = first + 1, words[first].tokens
        while end < len(words) and held + words[end].tokens <= size:
            held += words[end].tokens
            end += 1
        spans.append((first, end))
        if end == len(words):
            return spans
        repeated, start = 0, end
        # stop where the window would not reach past this one: a long word may leave no room for any overlap
        while start - 1 > first and repeated + words[start - 1].tokens <= min(overlap, size - words[end].tokens):
            start -= 1
            repeated += words[start].tokens
        first = start


def cut_by_bytes(text: str, *, size: int = BYTES, overlap: int = BYTES_OVERLAP) -> list[str]:
    """Cut so that a window has at most ``size`` UTF-8 bytes and repeats at most ``overlap`` of the one before.

    Bytes stand in for the tokens of an unknown tokenizer: they follow its count over scripts better than characters do. A cut
    falls after a space or a line break where the last quarter of a window has one, never inside a character.
    """
    data = text.encode("utf-8")
    if len(data) <= size:
        return [text]
    windows = []
    start = 0
    while True:
        end = start + size
        if end >= len(data):
            windows.append(data[start:].decode("utf-8"))
            return windows
        blank = max(data.rfind(mark, end - size // 4, end) for mark in (b" ", b"\n"))
        end = blank + 1 if blank >= 0 else _character_start(data, end)
        windows.append(data[start:end].decode("utf-8"))
        back = end - overlap
        blank = min((at for mark in (b" ", b"\n") if (at := data.find(mark, back, end - 1)) >= 0), default=-1)
        start = blank + 1 if blank >= 0 else _character_end(data, back)


def _character_start(data: bytes, place: int) -> int:
    while data[place] & 0xC0 == 0x80:  # a continuation byte
        place -= 1
    return place


def _character_end(data: bytes, place: int) -> int:
    while data[place] & 0xC0 == 0x80:
        place += 1
    return place
