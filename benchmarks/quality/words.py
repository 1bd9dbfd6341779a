"""Ways of finding by words that need no store: what anybody has at hand, and the word channel of the hybrid by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from indelible.search.bm25 import Bm25
from indelible.search.keyword import parse_query, rank
from indelible.search.normalise import tokens

Ranker = Callable[[str], list[int]]
"""From a question to positions of texts, best first."""

_WORDS = re.compile(r"\w+").findall


def grep(texts: Sequence[str]) -> Ranker:
    """Texts by how many different words of the question stand somewhere in them, in any case: ``grep -i -F`` for each word. Ties: the
    later text first."""
    lowered = [text.lower() for text in texts]

    def ranked(question: str) -> list[int]:
        words = set(_WORDS(question.lower()))
        found = [sum(word in text for word in words) for text in lowered]
        return sorted((place for place, count in enumerate(found) if count), key=lambda place: (-found[place], -place))

    return ranked


def bm25_unsegmented(texts: Sequence[str]) -> Ranker:
    """BM25 over words as spaces and punctuation part them, whatever the script."""
    bags = [Counter(_WORDS(text.lower())) for text in texts]
    lengths = [bag.total() for bag in bags]
    mean = sum(lengths) / max(len(lengths), 1)
    frequencies = Counter(word for bag in bags for word in bag)

    def ranked(question: str) -> list[int]:
        words = list(dict.fromkeys(word for word in _WORDS(question.lower()) if word in frequencies))
        score = Bm25(len(bags), mean, tuple(frequencies[word] for word in words)).score
        scored = [
            (score([bag[word] for word in words], length), place) for place, (bag, length) in enumerate(zip(bags, lengths, strict=True))
        ]
        return [place for points, place in sorted(scored, reverse=True) if points > 0]

    return ranked


def word_channel(texts: Sequence[str]) -> Ranker:
    """The word channel of the hybrid: stems, no stop words, any word, BM25 over our own segmentation."""
    documents = [(place, tokens(text)) for place, text in enumerate(texts)]

    def ranked(question: str) -> list[int]:
        query = parse_query(question, stemmed=True)
        return [place for place, _ in rank(query, documents, scoring="bm25")]

    return ranked


def reciprocal_ranks(rankings: Sequence[Sequence[str]], k: int) -> list[str]:
    """Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009), as a comparison: it knows ranks and no scores."""
    points: dict[str, float] = {}
    for ranking in rankings:
        for place, document in enumerate(ranking, 1):
            points[document] = points.get(document, 0.0) + 1 / (k + place)
    return sorted(points, key=lambda document: -points[document])
