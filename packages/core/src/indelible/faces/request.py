"""What a recall or search is asked for, checked before anything is read."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from indelible.base.canonical import check_text
from indelible.base.record import Record
from indelible.embed.onnx_reranker import bundled_reranker
from indelible.embed.reranker import reads_query
from indelible.errors import InvalidInput
from indelible.faces.arguments import check_choice, check_many, check_optional_whole, check_whole
from indelible.faces.indexing import packed
from indelible.faces.memory import check_key
from indelible.search.arguments import shown
from indelible.search.filter_tree import Filter
from indelible.search.filters import parse_filter
from indelible.search.priors import FeedbackSettings, parse_feedback

if TYPE_CHECKING:
    from indelible.embed.reranker import Reranker

Mode = Literal["semantic", "keyword", "hybrid"]
MODES = ("semantic", "keyword", "hybrid")
FilterOn = Literal["metadata", "value"]
POOL = 1000
"""How many of the best hits priors reorder; more if more are asked for."""
FILTER_ON = ("metadata", "value")
"""What conditions may be about; a value that is no object has nothing that a condition could find."""
_SHORT, _LONG = 1e-30, 3e38
"""Lengths of vectors that need no closer look: single precision goes from 1e-45 to 3.4e38."""
FEEDBACK_VARIABLE = "MEMORY_FEEDBACK_RERANK"
MOST_RERANKED = 1000


@dataclass(frozen=True, slots=True)
class Recency:
    """Lets what happened lately move up.

    Attributes:
        weight: the greatest shift, in units of the score, 0 to 1.
        half_life: the age at which half of it is left.

    Raises:
        InvalidInput: a value out of range or of another type.
    """

    weight: float = 0.1
    half_life: timedelta = timedelta(days=30)

    def __post_init__(self) -> None:
        if _checked_number(self.weight, "the weight of recency", 0.0, 1.0) is None:
            raise InvalidInput("the weight of recency must be a number from 0.0 to 1.0, got None")
        if not isinstance(self.half_life, timedelta) or self.half_life <= timedelta(0):
            raise InvalidInput(f"half_life must be a timedelta above 0, got {shown(self.half_life)}")


@dataclass(frozen=True, slots=True)
class Mmr:
    """Trades nearness for variety (maximal marginal relevance).

    Attributes:
        balance: 1 for nearness alone, 0 for variety alone. 0.9 parts what repeats itself and costs no answers; 0.5 costs many.
        pool: how many of the nearest are chosen from; what lies beyond follows in order of nearness.

    Raises:
        InvalidInput: a value out of range or of another type.
    """

    balance: float = 0.9
    pool: int = 1000

    def __post_init__(self) -> None:
        if _checked_number(self.balance, "the balance of mmr", 0.0, 1.0) is None:
            raise InvalidInput("the balance of mmr must be a number from 0.0 to 1.0, got None")
        check_whole(self.pool, "the pool of mmr")


@dataclass(frozen=True, slots=True)
class Rerank:
    """A second look at the best: a model reads the query and each text together, and puts them in its own order.

    ``Hit.rank_score`` is then the model's score, from 0 to 1, and beyond the pool 0 or less; ``Hit.score`` stays the cosine.

    Attributes:
        pool: how many of the best are read, 1 to 1000; what lies beyond follows in the order it had. Each costs time.
        reranker: reads them; the bundled one, of the extra ``rerank``, when omitted.

    Raises:
        InvalidInput: a value out of range or of another type.
    """

    pool: int = 20
    reranker: Reranker | None = None

    def __post_init__(self) -> None:
        if not 1 <= check_whole(self.pool, "the pool of rerank") <= MOST_RERANKED:
            raise InvalidInput(f"the pool of rerank must be from 1 to {MOST_RERANKED}, got {shown(self.pool)}")
        if self.reranker is not None and not _is_reranker(self.reranker):
            raise InvalidInput(f"a reranker must have a method score(query, texts), got {type(self.reranker).__name__}")


Accept = Callable[[Record], bool]
"""Says whether a record may be found, from all there is of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of a selection, checked."""

    query: str | None
    vector: Sequence[float] | None
    mode: Mode
    limit: int | None
    offset: int
    filters: Filter | None
    min_score: float | None
    mmr: Mmr | None
    recency: Recency | None
    feedback: FeedbackSettings | None
    match: Literal["all", "any"]
    accept: Accept | None = None
    filter_on: FilterOn = "metadata"
    unscored: bool = False
    keys: tuple[str, ...] | None = None
    parent: str | None = None
    balance: float | None = None
    rerank: Rerank | None = None

    @classmethod
    def of(
        cls,
        query: object,
        *,
        mode: object,
        vector: object = None,
        limit: object = None,
        offset: object = 0,
        filters: object = None,
        min_score: object = None,
        mmr: object = None,
        recency: object = None,
        feedback: object = None,
        match: object = "all",
        accept: object = None,
        filter_on: object = "metadata",
        unscored: object = False,
        keys: object = None,
        parent: object = None,
        balance: object = None,
        rerank: object = None,
    ) -> Request:
        """Check the arguments of a recall or search.

        Raises:
            InvalidInput: one of them is refused.
        """
        if query is not None and not isinstance(query, str):
            raise InvalidInput(f"a query must be a str, got {type(query).__name__}")
        if isinstance(query, str) and not query.strip():
            raise InvalidInput("the query is empty: give at least one word, or list the records instead")
        if mode is None:
            mode = "keyword" if vector is None else "semantic"
        chosen = check_choice(mode, "mode", MODES)
        if query is None and (vector is None or chosen != "semantic") and not (query is None and vector is None):
            raise InvalidInput(f"mode {chosen!r} needs a query")
        return cls(
            query=query,
            vector=None if vector is None else _checked_vector(vector),
            mode=chosen,
            limit=check_optional_whole(limit, "limit"),
            offset=check_whole(offset, "offset"),
            filters=parse_filter(filters),
            min_score=_checked_number(min_score, "min_score", -1.0, 1.0),
            mmr=_checked_mmr(mmr),
            recency=_checked_recency(recency),
            feedback=_checked_feedback(feedback),
            match=check_choice(match, "match", ("all", "any")),
            accept=checked_accept(accept),
            filter_on=check_choice(filter_on, "filter_on", FILTER_ON),
            unscored=bool(unscored),
            keys=checked_keys(keys),
            parent=checked_parent(parent),
            balance=_checked_balance(balance, chosen),
            rerank=_checked_rerank(rerank, query),
        )

    @property
    def depth(self) -> int | None:
        """How many hits the cut can need."""
        return None if self.limit is None else self.offset + self.limit

    @property
    def most(self) -> int | None:
        """How many of the best a channel has to give: those that are asked for, and those that priors reorder."""
        return None if self.depth is None else max(self.depth, self.pool) if self.has_priors else self.depth

    @property
    def pool(self) -> int:
        """How many of the best hits priors reorder."""
        return max(POOL, self.depth or 0, self.mmr.pool if self.mmr is not None else 0)

    @property
    def has_priors(self) -> bool:
        """Whether anything may change the order in which the channels put the hits."""
        return self.rerank is not None or self.has_shifts

    @property
    def has_shifts(self) -> bool:
        """Whether anything but a reranker may."""
        return self.recency is not None or self.feedback is not None or self.mmr is not None

    def cut(self, hits: list[Any]) -> list[Any]:
        return hits[self.offset :] if self.limit is None else hits[self.offset : self.offset + self.limit]


def checked_keys(value: object) -> tuple[str, ...] | None:
    """Keys that an answer is narrowed to; ``None`` for all.

    Raises:
        InvalidInput: not a list of text.
    """
    return None if value is None else tuple(check_key(key) for key in check_many(value, "keys"))


def checked_parent(value: object) -> str | None:
    """The parent that an answer is narrowed to; ``None`` for all.

    Raises:
        InvalidInput: not text, or empty.
    """
    return None if value is None else check_text(value, "parent", empty=False)


def _checked_balance(value: object, mode: str) -> float | None:
    if value is not None and mode != "hybrid":
        raise InvalidInput(f"balance weighs meaning against words: it needs mode='hybrid', got mode={mode!r}")
    return _checked_number(value, "balance", 0.0, 1.0)


def _checked_vector(vector: object) -> Sequence[float]:
    if isinstance(vector, str | bytes | Mapping) or not isinstance(vector, Iterable):
        raise InvalidInput(f"vector must be a sequence of numbers, got {type(vector).__name__}")
    numbers = list(vector)
    try:
        length = math.hypot(*numbers)
    except (TypeError, ValueError, OverflowError):
        length = math.nan
    if _SHORT <= length <= _LONG:
        # No number is longer than that, and one is not much shorter: all are finite in single precision as well, and not all of them 0.
        return numbers
    packed(numbers)
    return [float(number) for number in numbers]


def _checked_number(value: object, name: str, least: float, most: float) -> float | None:
    if value is None:
        return None
    if type(value) not in (int, float) or not least <= value <= most:  # type: ignore[operator]  # a number by then
        raise InvalidInput(f"{name} must be a number from {least} to {most}, got {shown(value)}")
    return float(value)  # type: ignore[arg-type]  # checked above


def _checked_mmr(value: object) -> Mmr | None:
    if value is None or isinstance(value, Mmr):
        return value
    balance = _checked_number(value, "mmr", 0.0, 1.0)
    return None if balance is None else Mmr(balance)


def _is_reranker(value: object) -> TypeGuard[Reranker]:
    return not isinstance(value, type) and callable(getattr(value, "score", None))


def checked_rerank(value: object) -> Rerank | None:
    """How to rerank; ``None`` for not at all.

    Raises:
        InvalidInput: neither ``True`` nor a ``Rerank`` nor a reranker.
    """
    if value is None or value is False:
        return None
    if value is True:
        return Rerank()
    if isinstance(value, Rerank):
        return value
    if not _is_reranker(value):
        raise InvalidInput(f"rerank must be True, a Rerank, or a reranker with a method score(query, texts), got {shown(value)}")
    return Rerank(reranker=value)


def _checked_rerank(value: object, query: str | None) -> Rerank | None:
    wanted = checked_rerank(value)
    if wanted is None:
        return None
    if query is None:
        raise InvalidInput("rerank reads the query beside each text: give a query, not a vector alone")
    return wanted if reads_query(bundled_reranker() if wanted.reranker is None else wanted.reranker, query) else None


def checked_accept(value: object) -> Accept | None:
    """A function that says whether a record may be found.

    Raises:
        InvalidInput: it cannot be called.
    """
    if value is not None and not callable(value):
        raise InvalidInput(f"accept must be a function of a record, got {type(value).__name__}")
    return value


def _checked_recency(value: object) -> Recency | None:
    if value is None or value is False:
        return None
    if value is True:
        return Recency()
    if isinstance(value, Recency):
        return value
    weight = _checked_number(value, "recency", 0.0, 1.0)
    return None if weight is None else Recency(weight)


def _checked_feedback(value: object) -> FeedbackSettings | None:
    if value is None:
        return parse_feedback(os.environ.get(FEEDBACK_VARIABLE))
    if isinstance(value, bool):
        return FeedbackSettings() if value else None
    if not isinstance(value, FeedbackSettings):
        raise InvalidInput(f"feedback must be True, False or FeedbackSettings, got {type(value).__name__}")
    return value
