"""From text to words: the one normaliser behind every keyword index and every keyword query.

A text is brought to NFKC, case-folded and stripped of accents, then cut into tokens: whole words of letters, marks and digits, each
symbol (category So, most emoji) by itself, and each character of a script that writes no spaces between words by itself.

Rules that are ours:

* An accent is a mark whose canonical combining class says that it sits above, below or across its base, or that it is a Hebrew,
  Arabic or Syriac vowel point (1, 10 to 36, 200 and up), and any enclosing mark. Vowel signs, viramas, nuktas, voicing marks and the
  tones of Thai and Lao have other classes and stay. Unicode promises never to change these classes.
* Four letters that decompose are letters of their own and stay: Cyrillic short i and short u, Arabic waw and yeh with hamza.
* Letters with a stroke lose it, and the dotless i is an i, so that case-folding agrees with itself in Turkish.
* Invisible characters (soft hyphen, zero-width ones, variation selectors, tags) are dropped before anything else, so that they
  neither split a word nor hide one. The trade mark sign is a space: its NFKC form would grow onto the word before it.

Tokens hold no ASCII but ``0-9`` and ``a-z``, and no white space; the tokens of tokens joined by spaces are the same tokens.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from snowballstemmer.english_stemmer import EnglishStemmer

NORMALISER_VERSION: int = 1
"""Rises whenever ``tokens`` or ``stem`` gives another answer for some text; an index made under another number is rebuilt."""

MAX_STEMMED_LENGTH = 40
"""Longer words are left as they are: no English word is, and the stemmer's time grows with the length."""

STOP_WORDS: frozenset[str] = frozenset(
    "a about an and any are as at be been but by can could d did do does doing don for from had has have having he her him his how i if "
    "in into is it its ll m me my of on or our re s she should so t than that the their them then there these they this those to too "
    "us ve was we were what when where which who whom why will with would you your".split()
)
"""English words that say little about what is meant, with what is left of them when an apostrophe is cut."""

_ASCII = bytes(byte | 0x20 if 65 <= byte <= 90 else byte if chr(byte).isalnum() and byte < 128 else 0x20 for byte in range(256))

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u30ff\u31f0-\u31ff\U0001aff0-\U0001b16f"  # Hiragana, Katakana
)
_WORD_OR_CHARACTER = re.compile(f"[{_UNSPACED}]|[^ {_UNSPACED}]+").findall
_WORD_OR_RUN = re.compile(f"[{_UNSPACED}]+|[^ {_UNSPACED}]+").findall
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")

# Unicode's default-ignorable code points.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_SIGNS = re.compile("[\u2120\u2122]")  # service mark, trade mark
_OWN_LETTERS = frozenset("\u0439\u045e\u0624\u0626")
_STROKES = {"\u0131": "i", "\u00f8": "o", "\u0142": "l", "\u0111": "d"}


def tokens(text: str) -> list[str]:
    """The words of a text, in order.

    Args:
        text: any text; surrogates, NUL and other controls separate words.
    """
    if text.isascii():
        return text.encode("ascii").translate(_ASCII).decode("ascii").split()
    return _tokens_of_any(text)


def _tokens_of_any(text: str) -> list[str]:
    found: list[str] = _WORD_OR_CHARACTER(_folded(text))
    return found


def runs(text: str) -> list[str]:
    """Like ``tokens``, but neighbouring characters of scripts without spaces stay together, as they stand in the text."""
    if text.isascii():
        return tokens(text)
    found: list[str] = _WORD_OR_RUN(_folded(text))
    return found


def is_unspaced(character: str) -> bool:
    """Whether a character belongs to a script whose characters are indexed one by one."""
    return _UNSPACED_CHARACTER.match(character) is not None


def count_unspaced(text: str) -> int:
    """How many characters of a text belong to such scripts."""
    return 0 if text.isascii() else len(_UNSPACED_CHARACTER.findall(text))


def _folded(text: str) -> str:
    """The normalised text, with spaces where something separates words and around symbols."""
    visible = _SIGNS.sub(" ", _INVISIBLE.sub("", text))
    folded = unicodedata.normalize("NFKC", visible).casefold().translate(_FOLDS)
    # Dropping a mark may leave two characters that compose.
    return unicodedata.normalize("NFC", folded)


class _Folds(dict[int, str]):
    """What each code point becomes, worked out when it is first met: the table of all of Unicode would take a second to make."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = _fold(character)
        # Unassigned and private code points are not kept: a hostile text of all of them would fill the memory for good.
        if unicodedata.category(character) not in ("Cn", "Co"):
            self[code] = folded
        return folded


_FOLDS = _Folds()


def _fold(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "So":
        return f" {character} "
    if kind[0] not in "LMN":
        return " "
    if character in _OWN_LETTERS:
        return character
    kept = "".join(part for part in unicodedata.normalize("NFD", character) if not _is_accent(part))
    return unicodedata.normalize("NFC", _STROKES.get(kept, kept))


def _is_accent(part: str) -> bool:
    place = unicodedata.combining(part)
    return place == 1 or 10 <= place <= 36 or place >= 200 or unicodedata.category(part) == "Me"


def stem(word: str) -> str:
    """The English stem of a word as ``tokens`` gives it, by the Snowball algorithm.

    Words with anything but ASCII letters, and very long ones, are their own stem.
    """
    if word.isascii() and word.isalpha() and len(word) <= MAX_STEMMED_LENGTH:
        return _english_stem(word)
    return word


@lru_cache(maxsize=65_536)
def _english_stem(word: str) -> str:
    stemmed: str = _stemmer().stemWord(word)
    return stemmed


# A stemmer keeps the word it works on in itself, so each thread has its own.
_of_thread = threading.local()


def _stemmer() -> EnglishStemmer:
    try:
        return _of_thread.stemmer
    except AttributeError:
        # Not snowballstemmer.stemmer("english"): where PyStemmer is installed that is another release of the algorithm.
        from snowballstemmer.english_stemmer import EnglishStemmer

        _of_thread.stemmer = EnglishStemmer()
        return _of_thread.stemmer
