"""JSON on a terminal, and the JSON forms of what the store answers with."""

from __future__ import annotations

import json

from indelible.base.canonical import dumps
from indelible.faces.documents import change_document, hit_document, record_document, time_text

__all__ = ["change_document", "hit_document", "json_text", "record_document", "time_text"]


def json_text(document: object, *, unicode: bool = True) -> str:
    """One line of JSON that is safe to print: what a terminal might obey is written as an escape.

    Args:
        document: what canonical JSON can hold.
        unicode: write printable characters of every script as they are.
    """
    text = dumps(document)
    if text.isprintable() and (unicode or text.isascii()):
        return text
    return "".join(c if c.isprintable() and (unicode or c.isascii()) else json.dumps(c)[1:-1] for c in text)
