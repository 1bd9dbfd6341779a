"""The bundled reranker: a cross-encoder, run by onnxruntime on the processor."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from indelible.embed.bundle import RerankerBundle
from indelible.embed.extra import needs_rerank_extra
from indelible.embed.once import OncePerProcess
from indelible.embed.reranker import checked_pairs
from indelible.embed.sessions import checked_workers, open_session, run_each
from indelible.errors import ModelError

QUERY_TOKENS = 64
PAIR_TOKENS = 320
"""Of query and text with the three marks between them: a whole window of the embedder fits behind a query. The model's limit is 512."""
CHARACTERS = 4096
"""Read of a text at most: more than its tokens take in any prose, so that a megabyte costs no more to cut than a page."""
_PACKAGES = ("numpy", "tokenizers", "onnxruntime")
Pair = tuple[list[int], list[int]]


class OnnxReranker:
    """ms-marco-MiniLM-L-12-v2 in int8: English, 35 MB, about 10 ms for a short turn of a conversation.

    Nothing is loaded before the first call. Each pair is run alone and without padding: int8 scales are measured per run, so in a
    padded batch a score would depend on the other texts. Several pairs use several threads instead.

    Attributes:
        id: ``"minilm-l12-rerank"``.
    """

    id = "minilm-l12-rerank"

    def __init__(self, folder: str | os.PathLike[str] | None = None, *, workers: int | None = None) -> None:
        """Name the model; load nothing.

        Args:
            folder: where the weights, the tokenizer and their manifest lie; the installed package ``indelible_reranker`` when omitted.
            workers: most texts scored at the same time; as many as the process has processors, at most 4, when omitted.

        Raises:
            InvalidInput: ``workers`` is not a positive int.
        """
        self._workers = checked_workers(workers)
        bundle = RerankerBundle(folder)
        self._weights = ("indelible_reranker",) if folder is None else ()
        self._tokenizer = OncePerProcess(lambda: _PairPieces(bundle.file("tokenizer.json")))
        self._session = OncePerProcess(lambda: _session(bundle))

    def __repr__(self) -> str:
        return f"OnnxReranker({self.id!r})"

    def check_installed(self) -> None:
        """Make sure that what it needs is there; load nothing.

        Raises:
            MissingExtra: a package is not installed.
        """
        for package in (*_PACKAGES, *self._weights):
            with needs_rerank_extra(package):
                if find_spec(package) is None:
                    raise ModuleNotFoundError(f"No module named {package!r}", name=package)

    def reads(self, query: str) -> bool:
        """Whether it can judge anything by this query: not if most of its letters are of another script than Latin.

        The model was trained on English. Of queries in Chinese its order is far worse than the one that it is given.
        """
        letters = [letter for letter in query[:CHARACTERS] if letter.isalpha()]
        return 2 * sum(map(_is_latin, letters)) >= len(letters)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Say how well each text answers the query: the sigmoid of the model's logit, from 0 to 1.

        Of the query the first 64 word pieces are read, of a text as many as make 320 together with it.

        Raises:
            InvalidInput: something is not a ``str``, or holds a lone surrogate.
            MissingExtra: the model's packages are not installed.
            ModelNotFound: its weights are not where they should be.
            IntegrityFailure: its weights are not those of the manifest.
            ModelError: onnxruntime failed.
        """
        query, texts = checked_pairs(query, texts)
        with needs_rerank_extra("numpy"):
            import numpy as np
        if not texts:
            return []
        tokenizer, session = self._tokenizer.get(), self._session.get()
        pairs = tokenizer.pairs(query, texts)

        def one(pair: Pair) -> float:
            ids, segments = (np.array([row], np.int64) for row in pair)
            try:
                given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": segments}
                return float(session.run(["logit"], given)[0][0, 0])
            except Exception as error:  # onnxruntime has no common root for its errors
                raise ModelError(f"the model {self.id} failed on a pair of {ids.shape[1]} tokens: {error}") from error

        return [_sigmoid(logit) for logit in run_each(one, pairs, min(self._workers, len(pairs)))]


class _PairPieces:
    """Token ids and segments of pairs of query and text: BERT's uncased word pieces."""

    def __init__(self, path: Path) -> None:
        with needs_rerank_extra("tokenizers"):
            from tokenizers import Tokenizer
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
            self._tokenizer.no_padding()
            self._tokenizer.no_truncation()
            self._tokenizer.encode_special_tokens = True  # "[SEP]" in a text is three ordinary pieces, not a command
            first, last = self._tokenizer.token_to_id("[CLS]"), self._tokenizer.token_to_id("[SEP]")
        except Exception as error:  # the library raises bare Exception
            raise ModelError(f"the tokenizer in {path} cannot be loaded: {error}") from error
        if first is None or last is None:
            raise ModelError(f"the tokenizer in {path} has no [CLS] and [SEP]: it is not the reranker's")
        self._first: int = first
        self._last: int = last

    def pairs(self, query: str, texts: Sequence[str]) -> list[Pair]:
        """[CLS] query [SEP] text [SEP], of at most 320 pieces."""
        head = [self._first, *self._ids(query)[:QUERY_TOKENS], self._last]
        found = []
        for text in texts:
            tail = [*self._ids(text)[: PAIR_TOKENS - len(head) - 1], self._last]
            found.append(([*head, *tail], [0] * len(head) + [1] * len(tail)))
        return found

    def _ids(self, text: str) -> list[int]:
        # `encode`, not `encode_batch`: the latter starts threads of its own, which a later fork would have to fear
        ids: list[int] = self._tokenizer.encode(text[:CHARACTERS], add_special_tokens=False).ids
        return ids


@functools.cache
def bundled_reranker() -> OnnxReranker:
    """The one that all stores of the process share; nothing of it is loaded yet."""
    return OnnxReranker()


def _session(bundle: RerankerBundle) -> Any:
    return open_session(bundle.file(f"{OnnxReranker.id}.onnx"), needs_rerank_extra)


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00"  # up to Latin Extended-B, and Latin Extended Additional


def _sigmoid(logit: float) -> float:
    if logit >= 0.0:
        return 1.0 / (1.0 + math.exp(-logit))
    odds = math.exp(logit)  # of the negative side only, so that nothing overflows
    return odds / (1.0 + odds)
