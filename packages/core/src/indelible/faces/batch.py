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

    def add(self, item: Prepared, *, unique: bool) -> None:
        """Take in a fact; a unique one stands for an older one with the very same text, in the store or in this batch."""
        if unique:
            item.existing = self._texts(item.draft.scope).get(item.content)
            if item.existing is None:
                item.same_as = self._first.get((item.draft.scope, item.content))
        self._first.setdefault((item.draft.scope, item.content), item)
        self.items.append(item)

    def _texts(self, scope: Scope) -> dict[str, Record]:
        if scope not in self._stored:
            # Backwards, so that of several the oldest stays.
            self._stored[scope] = {record.content: record for record in reversed(self._reads.list(**scope._asdict()))}
        return self._stored[scope]
