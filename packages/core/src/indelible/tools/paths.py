"""Virtual paths below ``/memories``: names in a store, never of the file system."""

from __future__ import annotations

import re
from unicodedata import category, normalize

from indelible.errors import InvalidInput

ROOT = "/memories"
LONGEST = 1024
DEEPEST = 32
# What other programs take for a separator or a dot, in forms that NFKC leaves alone.
_SLASHES = frozenset("\\\u2044\u2215\u2216\u2571\u2572\u27cb\u27cd\u29f5\u29f8\u29f9\ufe68\uff0f\uff3c")
_DOTS = frozenset("\u2024\u2025\u2026\u3002\ufe52\uff0e\uff61")
_ENCODED = re.compile(r"%(?:25)*[0-9a-fA-F]{2}|&#|\\[ux]")


def key_of(path: object) -> str:
    """The name of a file or directory below the root; ``""`` for the root itself.

    Raises:
        InvalidInput: the path is not below ``/memories``, or is written so that another program might take it for something else: with
            ``.`` or ``..``, backslashes, percent encoding, invisible characters, or look-alikes of any of these.
    """
    if not isinstance(path, str):
        raise InvalidInput(f"a path must be text, got {type(path).__name__}")
    if len(path) > LONGEST:
        raise InvalidInput(f"the path has {len(path)} characters, the limit is {LONGEST}")
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        raise InvalidInput(f"Path must start with {ROOT}, got: {path}")
    composed = normalize("NFC", path)
    _check_characters(composed, path)
    key = composed[len(ROOT) + 1 :].removesuffix("/")
    if not key:
        return ""
    names = key.split("/")
    if len(names) > DEEPEST:
        raise InvalidInput(f"the path {path} has {len(names)} names, the limit is {DEEPEST}")
    for name in names:
        if not name.strip(". "):
            raise InvalidInput(f"Path {path} would escape {ROOT} directory")
        if name != name.strip(" "):
            raise InvalidInput(f"the path {path} has a name that begins or ends with a space: leave it out")
    return key


def path_of(key: str) -> str:
    """The path of a key."""
    return f"{ROOT}/{key}" if key else ROOT


def _check_characters(composed: str, path: str) -> None:
    if _ENCODED.search(composed) or _SLASHES & set(composed) or _DOTS & set(composed):
        raise InvalidInput(f"Path {path} would escape {ROOT} directory: write it plainly, without encoded or look-alike characters")
    if normalize("NFKC", composed) != composed:
        raise InvalidInput(f"the path {path} holds a character that has a plainer form: use that")
    for character in composed:
        if character != " " and category(character)[0] in "CZ":
            raise InvalidInput(f"the path {path} holds a character that cannot be seen (U+{ord(character):04X}): leave it out")
