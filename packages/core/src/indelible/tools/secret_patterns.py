"""What secrets look like: forms of keys that their issuers document, and words that announce one."""

from __future__ import annotations

import math
import re
from collections import Counter

_KNOWN = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"  # Amazon
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bsk-[A-Za-z0-9_-]{16,}|\b[sr]k_live_[A-Za-z0-9]{10,}"
    r"|\bxox[abeprs]-[A-Za-z0-9-]{10,}"  # Slack
    r"|\bAIza[0-9A-Za-z_-]{30,}"  # Google
    r"|\b(?:hf|npm)_[A-Za-z0-9]{20,}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"  # JSON web token
    r"|\b[a-z][a-z0-9+.-]{0,30}://[^\s/:@]+:[^\s/@]{3,}@"  # a URL with a password
)
# After the word, something that no sentence goes on with: it holds a digit or a sign.
_ANNOUNCED = re.compile(
    r"(?i)\b(?:pass(?:word|wd|phrase|code)|pwd|secret|api[ _-]?key|access[ _-]?key|(?:auth|access|bearer|api)[ _-]?token|pin|cvv|cvc)\b"
    r"(?:\s+(?:code|number|for\s+\S+(?:\s+\S+)?))?\s*(?:is|are|was|[:=]){1,8}\s*[\"'`]?(?=\S{0,200}[\d!@#$%^&*])[^\s\"'`,;]{3,}"
)
_CARD = re.compile(r"(?<![\d.-])(?:\d[ -]?){12,18}\d(?![\d-])")
_CARD_STARTS = ("3", "4", "5", "6")
_SOCIAL_SECURITY = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_TOKEN = re.compile(r"[A-Za-z0-9+/_=-]{32,}")
_LEAST_ENTROPY = 4.2
"""Bits per character, in a token of mixed letters and digits; words and hexadecimal numbers stay below."""


def looks_like_secret(text: str) -> bool:
    """Whether a text seems to hold a key, a password, or the number of a card or person."""
    if _KNOWN.search(text) or _ANNOUNCED.search(text) or _SOCIAL_SECURITY.search(text):
        return True
    if any(_is_card(found.group()) for found in _CARD.finditer(text)):
        return True
    return any(_is_random(found.group()) for found in _TOKEN.finditer(text))


def _is_card(digits: str) -> bool:
    """Whether the check digit of a card's number holds (Luhn)."""
    numbers = [int(c) for c in digits if c.isdigit()]
    if str(numbers[0]) not in _CARD_STARTS:
        return False
    total = sum(sum(divmod(2 * n, 10)) if position % 2 else n for position, n in enumerate(reversed(numbers)))
    return total % 10 == 0


def _is_random(token: str) -> bool:
    if not (re.search("[a-z]", token) and re.search("[A-Z]", token) and re.search("[0-9]", token)):
        return False
    counts = Counter(token)
    return -sum(n / len(token) * math.log2(n / len(token)) for n in counts.values()) >= _LEAST_ENTROPY
