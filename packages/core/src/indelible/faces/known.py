"""What of a memory is shown to a model: chosen for a question, distinct, and no more than was asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indelible.base.record import Hit, Record
from indelible.errors import InvalidInput
from indelible.faces.arguments import check_optional_whole
from indelible.faces.collection import Collection
from indelible.faces.facts_read import FactReads
from indelible.faces.memory import Memory
from indelible.faces.persistent import PastMemory, PersistentMemory
from indelible.faces.prompt import block, fact_line, tagged, value_line
from indelible.faces.request import Rerank, checked_rerank
from indelible.search.budget import approximate_tokens, fit
from indelible.search.mmr import drop_near_duplicates
from indelible.search.normalise import tokens

if TYPE_CHECKING:
    from indelible.embed.reranker import Reranker

DEFAULT_LIMIT = 20
AnyMemory = Memory | PersistentMemory | PastMemory | FactReads | Collection
Counter = Callable[[str], int]
RECALLED = 200
"""How many memories a prompt draws on, if the limit is not greater, before near-duplicates are dropped."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is shown of a memory.

    Attributes:
        lines: one per memory, each unable to end its block.
        used: what they show: keys of a key/value memory, records of a store.
        left_out: how many more matched and are not shown.
    """

    lines: tuple[str, ...] = ()
    used: tuple[str | Record, ...] = ()
    left_out: int = 0

    @property
    def text(self) -> str:
        """The lines under their header; empty if there are none."""
        return block(self.lines, self.left_out)

    @property
    def tagged(self) -> str:
        """The text in a tag that no memory can know, for a place beside instructions; empty if there is none."""
        return tagged(self.text)


def memory_block(
    query: str | None,
    memory: AnyMemory,
    *,
    limit: int | None = DEFAULT_LIMIT,
    max_tokens: int | None = None,
    count_tokens: Counter = approximate_tokens,
    rerank: bool | Rerank | Reranker | None = None,
) -> Known:
    """What a memory knows for a question, for a system prompt or any other place that is not the question itself.

    As in ``ask_with_memory`` a key/value memory is shown whole, and of a store what hybrid recall finds.

    Args:
        query: the question; ``None`` or blank for what was written last.
        memory: a memory, a store, a view of one, a collection, or any of them ``.at(...)`` a version or time.
        limit: most memories shown of a store; ``None`` for all that match.
        max_tokens: most tokens of ``Known.tagged``, header and tag included; memories that do not fit are left out, and if not even the
            header fits, there is no text at all. A key/value memory is never cut.
        count_tokens: counts them; by default an estimate of four characters a token.
        rerank: ``True``, ``Rerank(pool=...)`` or a reranker of yours, as for ``recall`` of a store.

    Raises:
        InvalidInput: a query that is not text, or something that is not a memory of this library.
    """
    if query is not None and not isinstance(query, str):
        raise InvalidInput(f"a query must be a str or None, got {type(query).__name__}")
    found = known(query, memory, limit, max_tokens, count_tokens, latest=True, rerank=rerank)
    if max_tokens is None or not isinstance(memory, FactReads | Collection):
        return found
    # The frame counts as well, and not every counter is additive: what is measured is what is sent.
    while found.lines and count_tokens(found.tagged) > max_tokens:
        found = replace(found, lines=found.lines[:-1], used=found.used[:-1], left_out=found.left_out + 1)
    return found if count_tokens(found.tagged) <= max_tokens else Known()


def known(
    query: str | None,
    memory: object,
    limit: int | None,
    max_tokens: int | None,
    count_tokens: Counter,
    *,
    latest: bool = False,
    rerank: object = None,
) -> Known:
    """What of a memory is shown for a question.

    Args:
        query, memory, limit, count_tokens, rerank: as for ``memory_block``.
        max_tokens: most tokens of the lines.
        latest: whether a blank question shows what was written last, and not nothing.
    """
    if isinstance(memory, Memory | PersistentMemory | PastMemory):
        entries = memory.items()
        return Known(tuple(value_line(key, value) for key, value in entries), tuple(key for key, _ in entries))
    if not isinstance(memory, FactReads | Collection):
        raise InvalidInput(f"memory must be a Memory, PersistentMemory, MemoryStore or a view of one, got {type(memory).__name__}")
    most = check_optional_whole(limit, "limit")
    budget = check_optional_whole(max_tokens, "max_tokens")
    found, unseen = _recalled(query or "", memory, most, latest, checked_rerank(rerank))
    records = _distinct(found)
    lines = [fact_line(record) for record in records[:most]]
    shown = fit(lines, budget, count_tokens)
    return Known(tuple(lines[:shown]), tuple(records[:shown]), len(records) - shown + unseen)


def _recalled(
    query: str, memory: FactReads | Collection, most: int | None, latest: bool, rerank: Rerank | None
) -> tuple[list[Record], int]:
    """What matches, best first, as far as it can be needed, and how much more there is."""
    if not query.strip():
        return (_latest(memory), 0) if latest else ([], 0)
    if isinstance(memory, Collection) and not memory.has_model:
        # By words alone, any of them: a question is seldom made of the words of its answer.
        return _records(memory.search(query, mode="hybrid", balance=0.0, limit=None, rerank=rerank)), 0
    # By meaning everything matches, more or less.
    matching = memory.count() if isinstance(memory, FactReads) else sum(bool(r.content.strip()) for r in memory.list(prefix=True))
    depth = matching if most is None else max(RECALLED, most)
    find = memory.recall if isinstance(memory, FactReads) else memory.search
    hits = find(query, mode="hybrid", limit=depth, rerank=rerank)
    return _records(hits), max(matching - len(hits), 0)


def _latest(memory: FactReads | Collection) -> list[Record]:
    if isinstance(memory, FactReads):
        return memory.list(order="updated", descending=True)
    return memory.list(prefix=True, order="updated", descending=True)


def _records(hits: Sequence[Hit]) -> list[Record]:
    return [hit.record for hit in hits]


def _distinct(records: Sequence[Record]) -> list[Record]:
    kept = drop_near_duplicates([(index, tokens(record.content)) for index, record in enumerate(records)])
    return [records[index] for index in kept if records[index].content.strip()]
