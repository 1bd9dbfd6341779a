"""The tokenizer of both bundled models: BERT's uncased word pieces."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from indelible.embed.extra import needs_embed_extra
from indelible.embed.windows import Word, cut_by_tokens
from indelible.errors import ModelError

MAX_TOKENS = 256  # of one text, [CLS] and [SEP] included; what the projection and the static table were made with
WINDOW_TOKENS = MAX_TOKENS - 2
OVERLAP_TOKENS = 32  # about a sentence, so that what a cut divides is whole in one of two windows
MAX_WINDOWS = 1200  # 1 MiB of English prose makes about 1,100
_REMEMBERED = 1000  # characters of a text whose pieces are kept until the next
_RUNS = re.compile(r"[^\W_]+").finditer  # letters and digits between all else


class WordPieces:
    """Token ids and windows of a text."""

    def __init__(self, path: Path) -> None:
        with needs_embed_extra("tokenizers"):
            from tokenizers import Tokenizer
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()  # it would also hide the rest of a long text from `windows`
            self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is three ordinary pieces, not a command
        except Exception as error:  # the library raises bare Exception
            raise ModelError(f"the tokenizer in {path} cannot be loaded: {error}") from error
        self._unknown = self._tokenizer.token_to_id("[UNK]")
        self._last: tuple[str, Any] = ("", self._tokenizer.encode(""))

    def ids(self, text: str) -> list[int]:
        """Give the ids of at most 256 tokens, [CLS] first and [SEP] last."""
        ids: list[int] = self._encoded(text).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]

    def coverage(self, text: str) -> float:
        """Give the share of a text's letters and digits that stand in pieces of two or more; 0 where it has none.

        What the vocabulary lacks is cut down to single characters, or to nothing known at all. Those say next to nothing of what is
        meant, and a word of Hangul, Han or Arabic is made of nothing else. A character that stands alone is a word in ASCII only:
        "I", "a", a digit. Of a text longer than the model reads, the part that it reads counts.
        """
        encoding = self._encoded(text)
        pieces = list(zip(encoding.ids, encoding.offsets, strict=True))[1:-1][:WINDOW_TOKENS]  # without [CLS] and [SEP]
        runs = [run.span() for run in _RUNS(text, 0, pieces[-1][1][1])] if pieces else []
        if not runs:
            return 0.0
        words = {start for start, end in runs if end - start == 1 and text[start].isascii()}
        known = [span for piece, span in pieces if piece != self._unknown]
        read: int = sum(end - start for start, end in known if end - start > 1 or start in words)
        return min(1.0, read / sum(end - start for start, end in runs))

    def _encoded(self, text: str) -> Any:
        """Cut a text, or remember how: a question is asked for its vector and for its coverage."""
        last, encoding = self._last
        if text != last:
            # `encode`, not `encode_batch`: the latter starts threads of its own, which a later fork would have to fear
            encoding = self._tokenizer.encode(text)
            if len(text) <= _REMEMBERED:
                self._last = text, encoding
        return encoding

    def windows(self, text: str) -> list[str]:
        """Cut a text into windows of at most 254 tokens, which with [CLS] and [SEP] is what a model reads.

        Cuts fall between words, and a word's pieces do not depend on its neighbours, so a window alone has the same tokens as
        in the whole. At most 1,200 windows: beyond about 300,000 tokens, which no megabyte of prose has, they become longer.
        """
        return cut_by_tokens(text, self._words(text), size=WINDOW_TOKENS, overlap=OVERLAP_TOKENS, most=MAX_WINDOWS)

    def _words(self, text: str) -> list[Word]:
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        word_of, offsets = encoding.word_ids, encoding.offsets
        first = [place for place in range(len(word_of)) if place == 0 or word_of[place] != word_of[place - 1]]
        after = [*first[1:], len(word_of)]
        return [Word(start=offsets[place][0], tokens=end - place) for place, end in zip(first, after[: len(first)], strict=True)]


def short(text: str) -> bool:
    """Say whether a text surely fits one window, without loading the tokenizer: it makes at most one token of a UTF-8 byte."""
    return len(text) <= WINDOW_TOKENS and len(text.encode("utf-8")) <= WINDOW_TOKENS
