"""Records as documents, and conditions on documents as conditions of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langchain_core.documents import Document

from indelible import Filter, Hit, InvalidInput, Record
from langchain_indelible.filters import parse_filter

DocumentFilter = Mapping[str, Any] | Filter | Callable[[Document], bool]
"""Conditions on metadata, or a function of the document."""


def document_of(record: Record) -> Document:
    """A record as a document: its key (else its id), its content, and exactly the metadata it was given."""
    return Document(id=record.id if record.key is None else record.key, page_content=record.content, metadata=record.metadata)


def with_provenance(hit: Hit) -> Document:
    """A hit as a document that also says, under ``"indelible"``, which version of what it is and why it was found."""
    record = hit.record
    about = {
        "id": record.id,
        "version": record.version,
        "source": record.source,
        "occurred_at": record.occurred_at.isoformat(),
        "score": hit.score,
        "rank_score": hit.rank_score,
        "why": list(hit.why),
    }
    document = document_of(record)
    document.metadata = document.metadata | {"indelible": about}
    return document


def search_conditions(filter: object) -> dict[str, Any]:
    """The arguments with which a search of the core applies a filter, before it ranks.

    Args:
        filter: ``None``; a mapping as ``langchain_indelible.filters`` describes it; a filter built with ``indelible.where``; or a function
            that is shown the whole document.

    Raises:
        InvalidInput: an unknown operator or another type. A filter is never quietly wider than it was meant.
    """
    if isinstance(filter, Filter):
        return {"filters": filter}
    if filter is None or isinstance(filter, Mapping):
        return {"filters": parse_filter(filter)}
    if callable(filter):
        return {"accept": lambda record: filter(document_of(record))}
    raise InvalidInput(f"a filter must be a mapping, a function of a document or built with where(...), got {type(filter).__name__}")


def score_of(hit: Hit) -> float:
    """The cosine of a hit; of one that was found by its words alone, what it is ranked by."""
    return hit.rank_score if hit.score is None else hit.score


def listed(values: Iterable[Any], what: str, length: int | None = None) -> list[Any]:
    """A list of values, of the length of what they belong to.

    Raises:
        InvalidInput: one text where several were meant, or another length.
    """
    if isinstance(values, str):
        raise InvalidInput(f"{what} must be several, got one str: put it into a list")
    found = list(values)
    if length is not None and len(found) != length:
        raise InvalidInput(f"there are {len(found)} {what} for {length} documents: give one for each")
    return found
