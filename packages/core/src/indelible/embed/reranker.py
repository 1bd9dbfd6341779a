"""What a reranker is: something that reads a query and a text together and says how well the text answers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from indelible.embed.checks import checked_text
from indelible.errors import IndelibleError, InvalidInput, ModelError


class Reranker(Protocol):
    """Scores texts for a query.

    It may also have a method ``reads(query) -> bool``: where that is false, recall is as if no reranker had been asked for.

    Implementations are safe to call from several threads, give a text the same score whatever stands beside it, and open no
    socket unless the caller's own model does.
    """

    @property
    def id(self) -> str:
        """Which model it is, for messages."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Say how well each text answers the query.

        Returns:
            One number per text in the same order, from 0 (not at all) to 1. A model that gives logits is to send them through
            a sigmoid.
        """


def checked_scores(reranker: Reranker, query: str, texts: Sequence[str]) -> list[float]:
    """Ask a reranker, and make sure of what it answers.

    Raises:
        ModelError: it failed, or did not give one number from 0 to 1 per text; errors of this library pass as they are.
    """
    name = f"reranker {_name_of(reranker)}"
    try:
        raw = reranker.score(query, list(texts))
        if inspect.iscoroutine(raw):
            raw.close()
            raise ModelError(f"{name} returned a coroutine: give its synchronous form")
        # Arrays too, of whichever library: their numbers turn into floats. A text of digits is no number.
        found = [float(value) if not isinstance(value, str | bytes) else math.nan for value in _listed(raw)]
    except IndelibleError:
        raise
    except Exception as error:  # whatever a foreign model raises
        raise ModelError(f"{name} failed on {len(texts)} texts: {type(error).__name__}: {error}") from error
    if len(found) != len(texts):
        raise ModelError(f"{name} returned {len(found)} scores for {len(texts)} texts")
    for place, value in enumerate(found):
        if not 0.0 <= value <= 1.0:  # false for NaN
            raise ModelError(f"{name} returned {value!r} for text {place} of {len(texts)}: scores go from 0 to 1, a logit wants a sigmoid")
    return found


def reads_query(reranker: Reranker, query: str) -> bool:
    """Whether a reranker is to be asked about a query; one that does not say is.

    Raises:
        ModelError: its ``reads`` failed; errors of this library pass as they are.
    """
    try:
        reads = getattr(reranker, "reads", None)
        return not callable(reads) or bool(reads(query))
    except IndelibleError:
        raise
    except Exception as error:  # whatever a foreign model raises
        raise ModelError(f"reranker {_name_of(reranker)} failed on the query: {type(error).__name__}: {error}") from error


def checked_pairs(query: object, texts: object) -> tuple[str, list[str]]:
    """A query and texts that a tokenizer can read.

    Raises:
        InvalidInput: something is not a ``str``, or holds a lone surrogate.
    """
    if isinstance(texts, str) or not isinstance(texts, Sequence):
        raise InvalidInput(f"score takes a list of str, not {type(texts).__name__}: for one text give [text]")
    return checked_text(query), [checked_text(text) for text in texts]


def _listed(raw: object) -> list[Any]:
    if isinstance(raw, str | bytes) or not isinstance(raw, Iterable):
        raise TypeError(f"a list of numbers was due, not {type(raw).__name__}")
    return list(raw)


def _name_of(reranker: object) -> str:
    try:
        return str(getattr(reranker, "id", type(reranker).__name__))
    except Exception:  # a foreign property
        return type(reranker).__name__
