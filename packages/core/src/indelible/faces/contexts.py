"""What is embedded of a stored memory: its own text, and together with it the text that stands for its context."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from indelible.backend.interface import Backend, Row, Selection
from indelible.base.canonical import loads
from indelible.base.ids import id_bytes, id_text
from indelible.base.plan import CONTEXT_PART, ContextTexts
from indelible.base.record import Namespace, Part, Scope
from indelible.base.standing import FOREVER


def contexts_of(backend: Backend, rows: Sequence[Row]) -> list[ContextTexts]:
    """What stands for the contexts of stored records, each as its document has it."""
    entries = [loads(row.body).get("context", ()) if '"context":' in row.body else () for row in rows]
    current = [names for row, names in zip(rows, entries, strict=True) if row.standing.live_to == FOREVER]
    now = _contents(backend, [name for names in current for name in names])
    found: list[ContextTexts] = []
    for row, names in zip(rows, entries, strict=True):
        slice_ = row.standing.namespace, row.standing.scope
        contents = now if row.standing.live_to == FOREVER or not names else _contents(backend, names, row.standing.live_from)
        found.append(tuple((name, _entry_text(name, slice_, contents)) for name in names))
    return found


def context_texts(
    backend: Backend, entries: Sequence[str], namespace: Namespace, scope: Scope, known: Mapping[str, str] | None = None
) -> ContextTexts:
    """What stands for a context now: dates as they are, records of the same slice by their content.

    Args:
        entries: ids and dates.
        namespace, scope: the slice.
        known: content of neighbours that are not written yet, by id.
    """
    contents = _contents(backend, [entry for entry in entries if entry not in (known or {})])
    contents |= {(entry, namespace, scope): text for entry, text in (known or {}).items()}
    return tuple((entry, _entry_text(entry, (namespace, scope), contents)) for entry in entries)


def _contents(backend: Backend, entries: Iterable[str], version: int | None = None) -> dict[tuple[str, Namespace, Scope], str]:
    """The content of records, now or as it was."""
    wanted = tuple({raw for entry in entries if (raw := id_bytes(entry)) is not None})
    if not wanted:
        return {}
    rows = backend.select(Selection(namespace=None, version=version, expiry="all", records=wanted))
    return {(id_text(row.standing.record), row.standing.namespace, row.standing.scope): loads(row.body).get("content", "") for row in rows}


def embedded_texts(row: Row, context: ContextTexts) -> tuple[str, Sequence[Part]]:
    """What of a stored record is embedded: its content, or its parts; with context, also all of it together."""
    fields = loads(row.body)
    content = fields.get("content", "")
    parts = [Part(part["name"], part["text"]) for part in fields.get("parts", ())]
    return content, parts or context_parts(content, context)


def has_text(row: Row) -> bool:
    """Whether there is anything of a stored record to embed."""
    content, parts = embedded_texts(row, ())
    return bool(content.strip()) or any(part.text.strip() for part in parts)


def context_parts(content: str, context: ContextTexts) -> list[Part]:
    """A memory alone, and together with its context."""
    texts = [text for _, text in context if text]
    return [Part("", content), Part(CONTEXT_PART, "\n".join((*texts, content)))] if texts else []


def _entry_text(entry: str, place: tuple[Namespace, Scope], contents: Mapping[tuple[str, Namespace, Scope], str]) -> str:
    return entry if id_bytes(entry) is None else contents.get((entry, *place), "")
