"""Undoing a session: everything it did to memories, files and what was kept aside, in one call."""

from __future__ import annotations

from datetime import datetime

from indelible.faces.store import ScopedView
from indelible.tools.files import NAMESPACE as FILES
from indelible.tools.quarantine import NAMESPACE as QUARANTINED


def withdraw(view: ScopedView, source: str, *, since: int | datetime | None = None) -> int:
    """Undo what a session did with tools: to facts, to files, and to calls of it that still wait.

    What the session began is forgotten; what it changed or forgot says again what it said before. Nothing is destroyed: the history
    shows both, and a withdrawal can itself be undone, record by record.

    Args:
        view: whose memories; a whole store for everybody's.
        source: the session's name, as given to ``Toolbox``.
        since: only what was written at or after this version or time.

    Returns:
        How many records were put back or forgotten.

    Raises:
        InvalidInput: an argument is refused.
    """
    return sum(view.scope(namespace=where).withdraw(source, since, restore=True) for where in ((), FILES, QUARANTINED))
