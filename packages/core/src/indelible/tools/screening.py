"""Looking for what should not stand in a memory unseen: secrets, and text that talks to a model instead of stating a fact.

Heuristics: they miss things, and are wrong at times. That is why what they find is kept aside and not dropped, and why nothing relies
on them alone: a memory that slips through still stands as data in its line of the prompt.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator
from unicodedata import category, normalize
from urllib.parse import unquote

from indelible.tools.instruction_patterns import LOOK_ALIKES, instructions
from indelible.tools.secret_patterns import looks_like_secret

_DEPTH = 2
"""How many layers of encoding are undone."""
_MOST_DECODED = 16
"""How many encoded pieces of one text are looked into."""
_LONGEST = 200_000
"""Characters looked at from each end; a policy's size cap is far below."""

# Tag characters spell the flags of some countries after a black flag: those alone are ordinary text.
_FLAG = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_TAGS = re.compile("[\U000e0000-\U000e007f]")
_SELECTORS = re.compile("[\U000e0100-\U000e01ef\ufe00-\ufe0f]{3,}")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_HIDDEN_IN_WORD = re.compile("[A-Za-z0-9<>/|\\[\\]:][\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u180e]+[A-Za-z0-9<>/|\\[\\]:]")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\U000e0000-\U000e01ef]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,}")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_SPACED = re.compile(r"(?:\b\w\b[ ._*-]+){6,}\w\b")


def screen(text: str) -> list[str]:
    """Why a text should be kept aside until a person has seen it; empty if nothing was found.

    Returns:
        Reasons in a few words each, without any of the text.
    """
    if len(text) > 2 * _LONGEST:
        text = text[:_LONGEST] + "\n" + text[-_LONGEST:]
    return list(dict.fromkeys([*_hidden(text), *_spoken(text, 0)]))


def _hidden(text: str) -> Iterator[str]:
    """What a reader would not see."""
    if _TAGS.search(_FLAG.sub("", text)) or _SELECTORS.search(text):
        yield "invisible characters that spell text"
    if _DIRECTION.search(text):
        yield "characters that change the direction of text"
    if _HIDDEN_IN_WORD.search(text):
        yield "invisible characters inside words"
    if _CONTROL.search(text):
        yield "control characters"


def _spoken(text: str, depth: int) -> Iterator[str]:
    """What a reader would see, here or under an encoding."""
    if looks_like_secret(text):
        yield "looks like a secret" if not depth else "looks like an encoded secret"
    plain = _plain(text)
    for reason, pattern in instructions():
        if pattern.search(plain):
            yield reason if not depth else f"{reason}, encoded"
    if depth < _DEPTH:
        for inner in _decoded(text):
            yield from _spoken(inner, depth + 1)


def _plain(text: str) -> str:
    """Text as a model may read it: compatible forms unified, look-alikes taken for what they look like, nothing invisible."""
    unified = normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    bare = "".join(c for c in normalize("NFD", unified) if category(c) != "Mn")
    # Letters set apart lose the gaps between their words, too: every reading counts.
    spaced = _SPACED.sub(lambda found: "".join(c for c in found.group() if c.isalnum()), bare)
    return "\n".join(dict.fromkeys([bare, bare.translate(LOOK_ALIKES), spaced]))


def _decoded(text: str) -> Iterator[str]:
    """What encoded pieces of a text say."""
    for change in (unquote, html.unescape, _unescaped, _tagged):
        changed = change(text)
        if changed != text:
            yield changed
    for number, found in enumerate([*_BASE64.finditer(text), *_HEX.finditer(text)]):
        if number >= _MOST_DECODED:
            return
        for inner in (_from_base64(found.group()), _from_hex(found.group())):
            if inner is not None:
                yield inner


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1] or found[2], 16)), text)


def _tagged(text: str) -> str:
    """Text with tag characters read as the letters that they stand for."""
    return "".join(chr(ord(c) - 0xE0000) if 0xE0020 <= ord(c) <= 0xE007E else c for c in text)


def _from_base64(piece: str) -> str | None:
    unified = piece.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(unified + "=" * (-len(unified) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_hex(piece: str) -> str | None:
    try:
        return _readable(bytes.fromhex(re.sub("[ :]", "", piece)))
    except ValueError:
        return None


def _readable(data: bytes) -> str | None:
    """Bytes as text, if they are text that somebody might have written."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text and sum(c.isprintable() or c.isspace() for c in text) >= 0.9 * len(text) else None
