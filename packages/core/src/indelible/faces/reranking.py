"""A second look at the best of a recall: which text of each is read, and the order that its scores make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from indelible.backend.interface import Row
from indelible.base.canonical import loads
from indelible.base.plan import CONTEXT_PART
from indelible.embed.onnx_reranker import bundled_reranker
from indelible.embed.reranker import checked_scores
from indelible.errors import IndelibleError
from indelible.faces.request import Request, Rerank

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder

Ranked = Sequence[tuple[int, float]]
_SURELY_WHOLE = 1000
"""Characters that a reranker reads of a text in any case, so that no embedder has to cut it first."""


def reranked(
    request: Request, wanted: Rerank, ranked: Ranked, rows: Mapping[int, Row], parts: Mapping[int, str], embedder: Callable[[], Embedder]
) -> list[tuple[int, float]]:
    """Put the best of a ranking in a reranker's order.

    Their scores become the reranker's, from 0 to 1; ties keep the order they had. Beyond the pool nothing moves, and a score is how far
    it is below the first there: 0 or less, whatever the scale it was on, so that the whole is still one order by score.

    Args:
        request: what was asked.
        wanted: how.
        ranked: version and score, best first.
        rows: of the pool, by version; one that is not there cannot be shown, and goes to the pool's end.
        parts: names of the parts that matched best, by version.
        embedder: gives what cut the texts into windows.

    Raises:
        ModelError: the reranker failed.
        MissingExtra: it is the bundled one, which is not installed.
    """
    pool, rest = ranked[: wanted.pool], ranked[wanted.pool :]
    first = rest[0][1] if rest else 0.0
    beyond = [(version, score - first) for version, score in rest]
    if request.offset >= wanted.pool and not request.has_shifts:
        return [*pool, *beyond]  # no hit of this page was to be read
    read = {version: _passage(rows[version], parts.get(version), embedder) for version, _ in pool if version in rows}
    texts = {version: text for version, text in read.items() if text.strip()}
    scores: dict[int, float] = {}
    if texts:
        reranker = bundled_reranker() if wanted.reranker is None else wanted.reranker
        scores = dict(zip(texts, checked_scores(reranker, request.query or "", list(texts.values())), strict=True))
    # A record without text answers nothing.
    return [*sorted(((version, scores.get(version, 0.0)) for version, _ in pool), key=lambda hit: -hit[1]), *beyond]


def _passage(row: Row, part: str | None, embedder: Callable[[], Embedder]) -> str:
    """What of a record is read: the part that matched best, of a long text the window; where no vector took part, the beginning."""
    fields = loads(row.body)
    texts = {given["name"]: given["text"] for given in fields.get("parts", ())}
    content: str = fields.get("content", "")
    texts |= {"": content, CONTEXT_PART: content} if not texts else {}
    if part is None or part in texts:
        own = str(texts.get(part or "", content))
        return own if own.strip() else content  # the text of a part may be empty
    name, mark, number = part.rpartition("#")
    text = str(texts.get(name, content))
    # Together with its context a text is cut elsewhere: then its own beginning is read.
    if not mark or name == CONTEXT_PART or len(text) <= _SURELY_WHOLE:
        return text
    try:
        return embedder().windows(text)[int(number)]
    except (IndelibleError, LookupError, ValueError):  # cut by another model than the one that is here now
        return text
