"""Facts on their way into one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from indelible.base.ids import id_text
from indelible.base.plan import Draft
from indelible.base.record import Part, Record, Scope
from indelible.errors import InvalidInput
from indelible.faces.facts_read import FactReads


@dataclass(slots=True)
class Prepared:
    """A fact on its way: everything but its vectors.

    Attributes:
        draft, content, parts: what will be written and embedded.
        existing: the record that it is, once there is one.
        same_as: the one before it in its batch that it repeats.
    """

    draft: Draft
    content: str
    parts: Sequence[Part]
    existing: Record | None = None
    same_as: Prepared | None = None

    @property
    def id(self) -> str:
        """The id of what has its id settled already."""
        if self.same_as is not None:
            return self.same_as.id
        return self.existing.id if self.existing is not None else id_text(self.draft.record or b"")

    @property
    def record(self) -> Record:
        """The record, after the write."""
        found = self.same_as.record if self.same_as is not None else self.existing
        if found is None:
            raise InvalidInput("this fact was not written")
        return found


class Batch:
    """The facts of one transaction, in order."""

    def __init__(self, reads: FactReads) -> None:
        self.items: list[Prepared] = []
        self._reads = reads
        self._stored: dict[Scope, dict[str, Record]] = {}
        self._first: dict[tuple[Scope, str], Prepared] = {}
        self._keys: set[tuple[Scope, str | None]] = set()

    def add(self, item: Prepared, *, unique: bool) -> None:
        """Take in a fact; a unique one stands for an older one with the very same text, in the store or in this batch."""
        if unique:
            if item.draft.key is not None or item.draft.idempotency_key is not None:
                raise InvalidInput(
                    "dedup cannot be combined with key or idempotency_key: each of them says by itself which memory is meant"
                )
            item.existing = self._unrevised(self._texts(item.draft.scope).get(item.content))
            if item.existing is None:
                item.same_as = self._first.get((item.draft.scope, item.content))
        if item.draft.key is not None:
            self._revise(item)
        self._first.setdefault((item.draft.scope, item.content), item)
        self.items.append(item)

    def _unrevised(self, existing: Record | None) -> Record | None:
        """An older record, unless this batch gives it another text."""
        return None if existing is None or (existing.scope, existing.key) in self._keys else existing

    def _revise(self, item: Prepared) -> None:
        """Under this key the text of before will be gone; one that this batch wrote there no longer stands for others."""
        place = (item.draft.scope, item.draft.key)
        self._keys.add(place)
        for earlier in self.items:
            if earlier.existing is not None and (earlier.existing.scope, earlier.existing.key) == place:
                earlier.existing = None
        self._first = {text: first for text, first in self._first.items() if (first.draft.scope, first.draft.key) != place}

    def _texts(self, scope: Scope) -> dict[str, Record]:
        if scope not in self._stored:
            # Backwards, so that of several the oldest stays.
            self._stored[scope] = {record.content: record for record in reversed(self._reads.list(**scope._asdict()))}
        return self._stored[scope]
