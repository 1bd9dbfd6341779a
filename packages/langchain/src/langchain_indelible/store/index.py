"""Which texts of an item are embedded, and by what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig, ensure_embeddings, get_text_at_path, tokenize_path

from indelible import Part, Rerank
from indelible.embed import CallableEmbedder
from indelible.errors import InvalidInput

WHOLE: Final = "$"
"""The path of the whole value, as JSON."""
Vectors = Mapping[str, Sequence[float]]
"""Vectors by text."""


class ItemIndex:
    """What an ``IndexConfig`` asks for.

    Without ``embed`` the core's own model is used, as the store was opened with. Fields are paths; each text at a path gets a vector,
    and search takes an item's best one.

    Args:
        config: ``embed``, ``dims``, ``fields``; all may be left out. ``None`` for a store that does not embed.
        rerank: how the best items for a query are looked at once more.

    Raises:
        InvalidInput: ``dims`` or ``fields`` are of another type.
        ValueError: ``embed`` is a name that cannot be resolved.
    """

    def __init__(self, config: IndexConfig | None, rerank: Rerank | None = None) -> None:
        self.config = config
        self.rerank = rerank
        self.model: object = None
        self.embeddings: Embeddings | None = None
        self._fields: list[str] = []
        if config is None:
            return
        self._fields = _checked_fields(config.get("fields") or [WHOLE])
        embed = config.get("embed")
        if embed is None:
            self.model = "store"
        else:
            self.embeddings = ensure_embeddings(embed)
            self.model = _Model(self.embeddings, _identity(embed), config.get("dims"))

    def texts(self, value: Mapping[str, Any], index: Literal[False] | list[str] | None) -> dict[str, str]:
        """The texts to embed, by the name of their part.

        Args:
            value: of an item, plain JSON.
            index: the put's own: ``False`` for none, paths in place of the configured ones.
        """
        if self.config is None or index is False:
            return {}
        fields = self._fields if index is None else _checked_fields(index)
        found: dict[str, str] = {}
        for path in fields:
            # The tokenizer knows no whole: it would look for a field named "$".
            texts = get_text_at_path(value, WHOLE if path == WHOLE else tokenize_path(path))
            for number, text in enumerate(texts):
                if text.strip():
                    found[path if len(texts) == 1 else f"{path}.{number}"] = text
        return found

    def parts(self, texts: Mapping[str, str], vectors: Vectors) -> list[Part]:
        """The parts of a record: with vectors, or without for the core's own model. A vector of zeros has no direction and is left out."""
        if self.embeddings is None:
            return [Part(name, text) for name, text in texts.items()]
        return [Part(name, text, tuple(vectors[text])) for name, text in texts.items() if any(vectors[text])]

    def embed(self, texts: Iterable[str]) -> dict[str, Sequence[float]]:
        """Embed texts of items, each distinct one once."""
        wanted = list(dict.fromkeys(texts))
        if self.embeddings is None or not wanted:
            return {}
        return self._matched(wanted, self.embeddings.embed_documents(wanted))

    async def aembed(self, texts: Iterable[str]) -> dict[str, Sequence[float]]:
        wanted = list(dict.fromkeys(texts))
        if self.embeddings is None or not wanted:
            return {}
        return self._matched(wanted, await self.embeddings.aembed_documents(wanted))

    def embed_queries(self, queries: Iterable[str]) -> dict[str, Sequence[float]]:
        """Embed queries, each distinct one once, as queries: some models treat them differently from documents."""
        if self.embeddings is None:
            return {}
        return {query: self._learned(self.embeddings.embed_query(query)) for query in dict.fromkeys(queries)}

    async def aembed_queries(self, queries: Iterable[str]) -> dict[str, Sequence[float]]:
        if self.embeddings is None:
            return {}
        return {query: self._learned(await self.embeddings.aembed_query(query)) for query in dict.fromkeys(queries)}

    def _matched(self, texts: list[str], vectors: list[list[float]]) -> dict[str, Sequence[float]]:
        if len(vectors) != len(texts):
            raise InvalidInput(f"the embedding function returned {len(vectors)} vectors for {len(texts)} texts: nothing was written")
        return {text: self._learned(vector) for text, vector in zip(texts, vectors, strict=True)}

    def _learned(self, vector: Sequence[float]) -> Sequence[float]:
        # Arrays hold numbers of their own kind, each of which takes longer to convert than the whole.
        plain = getattr(vector, "tolist", None)
        numbers: Sequence[float] = plain() if callable(plain) else vector
        if isinstance(self.model, _Model):
            self.model.learn(len(numbers))
        return numbers


class _Model:
    """LangChain's embeddings as an embedder of the core. Texts are embedded whole, as LangGraph's other stores do."""

    def __init__(self, embeddings: Embeddings, identity: str, dims: int | None) -> None:
        if dims is not None and (type(dims) is not int or dims < 1):
            raise InvalidInput(f"dims must be a positive int, got {dims!r}")
        self._embeddings = embeddings
        self._dims = dims
        self.id = self.space = identity

    def learn(self, dims: int) -> None:
        if self._dims is None:
            self._dims = dims
        if dims != self._dims:
            raise InvalidInput(f"the embedding function made a vector of {dims} numbers, {self._dims} were due: check `dims` of the index")

    @property
    def dim(self) -> int:
        return len(self._embeddings.embed_query("dimensions")) if self._dims is None else self._dims

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return self._embeddings.embed_documents(list(texts))

    def embed_query(self, text: str) -> list[float]:
        return self._embeddings.embed_query(text)

    def windows(self, text: str) -> list[str]:
        return [text]


def _identity(embed: object) -> str:
    """What tells this model from another; kept with the vectors, so that opening a store with another model is an error."""
    if isinstance(embed, str):
        return embed
    try:
        return CallableEmbedder(embed).id
    except InvalidInput:
        return type(embed).__qualname__  # a lambda or partial has no name of its own


def _checked_fields(fields: object) -> list[str]:
    if not isinstance(fields, list | tuple) or not all(isinstance(field, str) for field in fields):
        raise InvalidInput(f"index fields must be a list of paths, got {fields!r}")
    return list(fields)
