"""What a server is started with: whose memories it reaches and what it lets a model do."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from indelible.base.record import ANY_SCOPE, ScopeFilter
from indelible.errors import InvalidInput


def _new_source() -> str:
    return f"mcp-{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True, slots=True)
class Options:
    """How a server is started.

    Attributes:
        scope: what every call is bound to; a field that is ``UNSET`` is the caller's to say, or the environment's.
        read_only: nothing is written.
        allow_prune: ``memory_prune`` may forget, and not only count.
        allow_purge: ``memory_prune`` may destroy as well.
        rerank: the bundled reranker reads the query beside each of the best that are found by meaning.
        source: noted on whatever is written; ``withdraw(source)`` takes it all back. By default a new one each run.
        max_writes: how many writing calls this run may make; ``None`` for any number.

    Raises:
        InvalidInput: they contradict each other.
    """

    scope: ScopeFilter = ANY_SCOPE
    read_only: bool = False
    allow_prune: bool = False
    allow_purge: bool = False
    rerank: bool = False
    source: str = field(default_factory=_new_source)
    max_writes: int | None = None

    def __post_init__(self) -> None:
        if self.read_only and (self.allow_prune or self.allow_purge):
            raise InvalidInput("a read-only server cannot prune: leave out --allow-prune and --allow-purge, or --read-only")
        if self.allow_purge and not self.allow_prune:
            raise InvalidInput("--allow-purge lets memory_prune destroy: it needs --allow-prune as well")
