"""Any other model as an embedder: a function, a LangChain or LlamaIndex object, or an ``Embedder`` written elsewhere."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from indelible.embed.checks import checked_text, checked_texts, unit_vectors
from indelible.embed.protocol import Reading
from indelible.embed.windows import cut_by_bytes
from indelible.errors import IndelibleError, InvalidInput, ModelError

if TYPE_CHECKING:
    from indelible.embed.protocol import Embedder, Vector, Vectors

_FORMS = (
    "a function from a list of str to a list of vectors or from a str to a vector, an object with embed_documents and "
    "embed_query (LangChain) or with get_text_embedding_batch and get_query_embedding (LlamaIndex)"
)
_NAME_FIELDS = ("model_name", "model", "model_id")  # where the frameworks' classes keep which model they call


class CallableEmbedder:
    """Wraps a model of the caller's. Whatever it returns is checked and brought to unit length; its failures become ``ModelError``.

    Frameworks are recognised by their methods and never imported. The model is called from whichever thread asks.

    Attributes:
        wrapped: the object given.
    """

    def __init__(self, model: object, *, id: str | None = None, dim: int | None = None, space: str | None = None) -> None:
        """Wrap; call nothing yet.

        Args:
            model: a function from a list of str to a list of vectors or from a str to a vector (which of the two is found out at
                the first call), an object with LangChain's ``embed_documents`` and ``embed_query``, with LlamaIndex's
                ``get_text_embedding_batch`` and ``get_query_embedding``, or an ``Embedder``.
            id: the model's identity, recorded with each vector. When omitted: the ``id`` of an ``Embedder``, else the class and the
                model's name as in ``OpenAIEmbeddings:text-embedding-3-small``, or a function's full name.
            dim: numbers in a vector; when omitted, those of the first vector seen.
            space: name of the vector space; ``id`` when omitted.

        Raises:
            InvalidInput: ``model`` is none of these, or a lambda or partial without ``id``, whose name would not tell two models apart.
        """
        if isinstance(model, type):
            raise InvalidInput(f"an embedder must be an object, not the class {model.__name__}: give {model.__name__}(...)")
        self.wrapped = model
        self._documents, self._query = _verbs(model)
        self._windows: Callable[[str], list[str]] = cut_by_bytes
        if is_embedder(model):
            self._windows = model.windows
            id = model.id if id is None else id
            space = model.space if space is None else space
        self._id = _named("id", _identity(model) if id is None else id)
        self._space = _named("space", self._id if space is None else space)
        if dim is not None and (type(dim) is not int or dim < 1):
            raise InvalidInput(f"dim must be a positive int or None, not {dim!r}")
        self._dim = dim

    def __repr__(self) -> str:
        return f"CallableEmbedder({self._id!r})"

    @property
    def id(self) -> str:
        """The model's identity, recorded with each vector."""
        return self._id

    @property
    def space(self) -> str:
        """Name of the vector space."""
        return self._space

    @property
    def dim(self) -> int:
        """Numbers in a vector: as given, as an ``Embedder`` states them, or those of the first vector.

        If nothing told them yet, the model is called for one vector. Raises ``ModelError`` as that call does.
        """
        if self._dim is None and is_embedder(self.wrapped):
            stated = self._called(lambda model: model.dim, self.wrapped)
            if type(stated) is not int or stated < 1:
                raise ModelError(f"embedder {self._id} states the dim {stated!r}: it must be a positive int")
            self._dim = stated
        return int(self.embed_query("dimension").shape[0]) if self._dim is None else self._dim

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Make one vector per text. See ``Embedder``."""
        texts = checked_texts(texts)
        if not texts:
            import numpy as np

            return np.zeros((0, self.dim), dtype=np.float32)
        return self._checked(self._called(self._documents, texts), len(texts))

    def embed_query(self, text: str) -> Vector:
        """Make the vector of a query. See ``Embedder``."""
        vector: Vector = self._checked(self._called(self._query, checked_text(text)), 1)[0]
        return vector

    def windows(self, text: str) -> list[str]:
        """Cut a long text. See ``Embedder``.

        An ``Embedder`` is asked for its own windows. Otherwise the tokenizer is unknown, and a window has at most 1,024 UTF-8 bytes,
        about 256 tokens of English, with 128 of overlap: at most 1,639 windows in a megabyte.
        """
        windows = self._called(self._windows, checked_text(text))
        if not isinstance(windows, list) or not windows or not all(isinstance(window, str) for window in windows):
            raise ModelError(f"embedder {self._id} cut a text into {type(windows).__name__}: windows must be a list of str, never empty")
        return windows

    def coverage(self, text: str) -> float:
        """Say how much of a text the model reads, as an ``Embedder`` that says so does; 1 of any other model. See ``Reading``."""
        text = checked_text(text)
        if not (is_embedder(self.wrapped) and isinstance(self.wrapped, Reading)):
            return 1.0
        stated = self._called(self.wrapped.coverage, text)
        share = float(stated) if isinstance(stated, numbers.Real) else math.nan
        if not 0.0 <= share <= 1.0:
            raise ModelError(f"embedder {self._id} states the coverage {stated!r}: it must be a number from 0 to 1")
        return share

    def _called(self, verb: Callable[[Any], object], argument: object) -> object:
        try:
            return verb(argument)
        except IndelibleError:
            raise
        except Exception as error:
            raise ModelError(f"embedder {self._id} failed: {type(error).__name__}: {error}") from error

    def _checked(self, raw: object, count: int) -> Vectors:
        vectors = unit_vectors(raw, count=count, dim=self._dim, name=self._id)
        self._dim = vectors.shape[1]
        return vectors


def is_embedder(model: object) -> TypeGuard[Embedder]:
    """Say whether an object has all of ``Embedder``: besides LangChain's two verbs also ``id``, ``dim``, ``space`` and ``windows``."""
    fields = ("id", "dim", "space")
    verbs = ("embed_documents", "embed_query", "windows")
    # a field is looked up on the class first: reading a property such as `dim` may call the model
    has_fields = all(hasattr(type(model), field) or hasattr(model, field) for field in fields)
    return has_fields and all(callable(getattr(model, verb, None)) for verb in verbs)


def _verbs(model: object) -> tuple[Callable[[Any], object], Callable[[Any], object]]:
    """Give how to embed a list of documents, and how to embed one query as a table of one row."""
    for many, single in (("embed_documents", "embed_query"), ("get_text_embedding_batch", "get_query_embedding")):
        documents, query = getattr(model, many, None), getattr(model, single, None)
        if callable(documents) and callable(query):
            return documents, lambda text, query=query: [query(text)]
    if callable(model):
        function = _Function(model)
        return function, lambda text: function([text])
    raise InvalidInput(f"an embedder must be {_FORMS}, not {type(model).__name__}")


class _Function:
    """A plain function, of which perhaps only a call tells whether it takes a list or one text."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self._function = function
        self._takes_list = _takes_list(function)

    def __call__(self, texts: list[str]) -> object:
        if self._takes_list is None:
            return self._first(texts)
        return self._function(texts) if self._takes_list else [self._function(text) for text in texts]

    def _first(self, texts: list[str]) -> object:
        try:
            rows = self._function(texts)
        except Exception:
            one = self._function(texts[0])
            if not _is_vector(one):  # it takes a list after all, and failed
                raise
            self._takes_list = False
            return [one, *(self._function(text) for text in texts[1:])]
        if _is_vector(rows):  # it made one vector of the list itself, say of its text form
            self._takes_list = False
            return [self._function(text) for text in texts]
        self._takes_list = True
        return rows


def _takes_list(function: Callable[[Any], object]) -> bool | None:
    """Read it off the annotation of the first parameter, if that says so."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):  # some callables of C have no signature
        return None
    if first is None or first.annotation is inspect.Parameter.empty:
        return None
    annotation = first.annotation if isinstance(first.annotation, str) else getattr(first.annotation, "__name__", "")
    if annotation == "str":
        return False
    return True if annotation.partition("[")[0].lower().endswith(("list", "sequence", "iterable")) else None


def _is_vector(raw: object) -> bool:
    """Say whether this is one vector and not several: its first element is a number."""
    if not isinstance(raw, Iterable) or isinstance(raw, Iterator):  # an iterator would be consumed, and stands for rows
        return False
    first = next(iter(raw), None)
    return isinstance(first, numbers.Real) or getattr(first, "shape", None) == ()  # the latter: a number of an array library


def _identity(model: object) -> str:
    """Name the model by its class and the model name it carries, or by the function's module and name."""
    name = getattr(model, "__qualname__", None)  # functions and methods have one, objects do not
    if isinstance(model, functools.partial) or (name is not None and "<lambda>" in name):
        raise InvalidInput(f"{model!r} has no name that would tell it from another model: give CallableEmbedder(model, id='...')")
    if name is not None:
        return f"{model.__module__}.{name}"
    names = (getattr(model, field, None) for field in _NAME_FIELDS)
    known = next((name for name in names if isinstance(name, str) and name.strip() and name != "unknown"), None)
    return type(model).__qualname__ if known is None else f"{type(model).__qualname__}:{known}"


def _named(what: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"the {what} of an embedder must be a str that is not blank, not {value!r}")
    return value
