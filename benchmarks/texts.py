"""Texts to measure with: the same in every run, about as long as a remembered sentence, with few common and many rare words."""

from __future__ import annotations

import random

WORDS = 15
_SYLLABLES = "ba co di fu ga he ki lo mu na pe ri so tu va we xi yo za ter lin mon dra sel".split()
_VOCABULARY = [a + b + c for a in _SYLLABLES for b in _SYLLABLES for c in ("", "n", "s", "r")]


def sentences(number: int, *, seed: int = 0) -> list[str]:
    """Sentences of made-up words, common ones often and rare ones seldom, as in a language.

    Args:
        number: how many.
        seed: another seed, other sentences.
    """
    chance = random.Random(seed)
    weights = [1 / rank for rank in range(1, len(_VOCABULARY) + 1)]
    words = chance.choices(_VOCABULARY, weights=weights, k=number * WORDS)
    return [" ".join(words[start : start + WORDS]) for start in range(0, number * WORDS, WORDS)]
