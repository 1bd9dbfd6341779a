"""Candidates from the full-text index. User text never reaches its syntax: every word is quoted."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Literal

from indelible.backend.interface import Found, Selection
from indelible.backend.sqlite.selection import slice_conditions, state_conditions

MAX_SLICE_TOKENS = 64
MAX_WORDS = 64
"""More words than this are looked for in several queries."""


def find_candidates(
    connection: sqlite3.Connection, selection: Selection, terms: Sequence[Sequence[Sequence[str]]], match: Literal["all", "any"]
) -> list[Found]:
    """Documents of a selection that hold the words of the terms; phrases are checked by the caller."""
    if not terms:
        return []
    scope = _slice_filter(connection, selection)
    if scope is None:
        return []
    where = state_conditions(selection)
    join = "JOIN payload p ON p.version = s.version" if selection.equals else ""
    sql = (
        "SELECT s.record, s.version, k.words, k.stems FROM keyword_index i JOIN keyword k ON k.doc = i.rowid "
        "JOIN state s ON s.record = k.record AND s.doc = k.doc "
        f"{join} WHERE keyword_index MATCH ? AND {where.sql}"
    )
    found: dict[tuple[bytes, int], Found] = {}
    # One conjunction is enough to find a superset; alternatives are spread over as many queries as they need.
    pieces = [terms[:MAX_WORDS]] if match == "all" else [terms[i : i + MAX_WORDS] for i in range(0, len(terms), MAX_WORDS)]
    for piece in pieces:
        joined = (" AND " if match == "all" else " OR ").join(_term(term) for term in piece)
        for row in connection.execute(sql, (f"{scope}{{words stems}} : ({joined})", *where.values)):
            found[row[0], row[1]] = Found(*row)
    return list(found.values())


def _slice_filter(connection: sqlite3.Connection, selection: Selection) -> str | None:
    """A condition of the index on the selection's slices: ``""`` when there are too many to name, ``None`` when there are none."""
    slices = slice_conditions(selection)
    if not slices.values and slices.sql == "1":
        return ""
    rows = connection.execute(f"SELECT id FROM slice WHERE {slices.sql} LIMIT {MAX_SLICE_TOKENS + 1}", slices.values).fetchall()
    if not rows:
        return None
    if len(rows) > MAX_SLICE_TOKENS:
        return ""
    return "slice : (" + " OR ".join(f'"{row[0]}"' for row in rows) + ") AND "


def _term(alternatives: Sequence[Sequence[str]]) -> str:
    return "(" + " OR ".join("(" + " AND ".join(_quoted(word) for word in words) + ")" for words in alternatives[:MAX_WORDS]) + ")"


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'
