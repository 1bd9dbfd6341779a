"""Models of the caller's: every accepted form, and every wrong answer refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from indelible.embed import CallableEmbedder
from indelible.errors import InvalidInput, MissingExtra, ModelError

Row = list[float]


def vector_of(text: str) -> Row:
    return [float(len(text)), 1.0, float(text.count("a"))]


def expected(*texts: str) -> Any:
    rows = np.array([vector_of(text) for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@dataclass
class LikeLangChain:
    model: str = "small"
    calls: list[object] = field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> list[Row]:
        self.calls.append(texts)
        return [vector_of(text) for text in texts]

    def embed_query(self, text: str) -> Row:
        self.calls.append(text)
        return vector_of("query: " + text)


class LikeLlamaIndex:
    model_name = "tiny"

    def get_text_embedding_batch(self, texts: list[str]) -> list[Row]:
        return [vector_of(text) for text in texts]

    def get_query_embedding(self, query: str) -> Row:
        return vector_of("query: " + query)

    def __call__(self, nodes: list[object]) -> list[object]:
        raise AssertionError("this is for nodes, not for texts")


def takes_a_list(texts: list[str]) -> list[Row]:
    return [vector_of(text) for text in texts]


def takes_one(text: str) -> Row:
    return vector_of(text)


def unannotated_list(texts: Any) -> Any:
    return np.array([vector_of(text.strip()) for text in texts])


def unannotated_one(text: Any) -> Any:
    return vector_of(text.lower().strip())  # a list has no lower()


def swallows_anything(text: Any) -> Any:
    return np.array(vector_of(text if isinstance(text, str) else str(text)))


def yields_rows(texts: list[str]) -> Iterator[Any]:
    return (np.array(vector_of(text)) for text in texts)


@pytest.mark.parametrize(
    "function", [takes_a_list, takes_one, unannotated_list, unannotated_one, swallows_anything, yields_rows], ids=lambda f: f.__name__
)
@pytest.mark.parametrize("query_first", [False, True])
def test_functions_of_both_kinds_are_told_apart(function: Callable[..., object], query_first: bool) -> None:
    embedder = CallableEmbedder(function)
    if query_first:
        assert np.array_equal(embedder.embed_query("abc"), expected("abc")[0])
    assert np.array_equal(embedder.embed_documents(["a", "bb", "cac"]), expected("a", "bb", "cac"))
    assert np.array_equal(embedder.embed_query("abc"), expected("abc")[0])
    assert embedder.dim == 3
    assert embedder.id == f"{__name__}.{function.__name__}"


def test_langchain_objects_keep_queries_and_documents_apart() -> None:
    model = LikeLangChain()
    embedder = CallableEmbedder(model)
    assert np.array_equal(embedder.embed_documents(["a", "b"]), expected("a", "b"))
    assert np.array_equal(embedder.embed_query("a"), expected("query: a")[0])
    assert model.calls == [["a", "b"], "a"]
    assert (embedder.id, embedder.space, embedder.dim) == ("LikeLangChain:small", "LikeLangChain:small", 3)


def test_llamaindex_objects_are_recognised_before_their_call_operator() -> None:
    embedder = CallableEmbedder(LikeLlamaIndex())
    assert np.array_equal(embedder.embed_documents(["a", "b"]), expected("a", "b"))
    assert np.array_equal(embedder.embed_query("a"), expected("query: a")[0])
    assert embedder.id == "LikeLlamaIndex:tiny"


class Complete(LikeLangChain):
    id, dim, space = "mine", 3, "shared"

    def windows(self, text: str) -> list[str]:
        return text.split(";")


def test_an_embedder_written_elsewhere_keeps_its_own_names_and_windows() -> None:
    embedder = CallableEmbedder(Complete())
    assert (embedder.id, embedder.dim, embedder.space) == ("mine", 3, "shared")
    assert embedder.windows("a;b") == ["a", "b"]
    assert np.array_equal(embedder.embed_documents(["a"]), expected("a"))


@pytest.mark.parametrize("windows", [[], "text", None, [b"bytes"], ["a", None]])
def test_windows_of_an_embedder_written_elsewhere_are_checked(windows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Complete, "windows", lambda self, text: windows)
    with pytest.raises(ModelError, match="windows must be a list of str"):
        CallableEmbedder(Complete()).windows("a")


def test_a_failure_to_cut_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Complete, text: str) -> list[str]:
        raise KeyError(text)

    monkeypatch.setattr(Complete, "windows", broken)
    with pytest.raises(ModelError, match="mine failed: KeyError"):
        CallableEmbedder(Complete()).windows("a")


def test_the_dim_an_embedder_states_is_believed_and_its_vectors_are_held_to_it() -> None:
    model = Complete()
    assert CallableEmbedder(model).dim == 3
    assert model.calls == []
    model.dim = 4
    embedder = CallableEmbedder(model)
    assert embedder.dim == 4
    with pytest.raises(ModelError, match="vectors of 3 numbers, 4 were due"):
        embedder.embed_query("a")
    model.dim = 0
    with pytest.raises(ModelError, match="states the dim 0"):
        _ = CallableEmbedder(model).dim


def test_given_names_win() -> None:
    embedder = CallableEmbedder(LikeLangChain(), id="x", dim=3, space="y")
    assert (embedder.id, embedder.dim, embedder.space) == ("x", 3, "y")


def test_an_unknown_dim_is_asked_for_once() -> None:
    model = LikeLangChain()
    embedder = CallableEmbedder(model)
    assert embedder.embed_documents([]).shape == (0, 3)
    assert embedder.dim == embedder.dim == 3
    assert len(model.calls) == 1


def test_any_dimension_and_scale_becomes_unit_length() -> None:
    for dim in (1, 2, 1536):
        for scale in (1e-300, 1e-40, 1.0, 1e40, 1e300):
            vectors = CallableEmbedder(lambda texts, d=dim, s=scale: [[s] * d for _ in texts], id="scaled").embed_documents(["a", "b"])
            assert vectors.dtype == np.float32
            assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_long_text_is_cut_by_bytes() -> None:
    embedder = CallableEmbedder(takes_a_list)
    assert embedder.windows("short") == ["short"]
    assert len(embedder.windows("many words " * 500)) > 5
    assert len(embedder.windows("é" * (1 << 19))) <= 1639


@pytest.mark.parametrize("model", [lambda texts: texts, functools.partial(takes_a_list), functools.partial(int, base=2)])
def test_functions_whose_name_tells_nothing_need_an_id(model: Callable[..., object]) -> None:
    with pytest.raises(InvalidInput, match="id="):
        CallableEmbedder(model)
    assert CallableEmbedder(model, id="named").id == "named"


@pytest.mark.parametrize("model", [None, 3, "text", object(), [takes_one], LikeLangChain])
def test_what_is_no_model_is_refused(model: object) -> None:
    with pytest.raises(InvalidInput, match="embedder"):
        CallableEmbedder(model)


@pytest.mark.parametrize("arguments", [{"id": ""}, {"id": "  "}, {"id": 3}, {"space": ""}, {"dim": 0}, {"dim": True}, {"dim": 2.0}])
def test_bad_names_and_sizes_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        CallableEmbedder(takes_a_list, **arguments)


async def asynchronous(texts: list[str]) -> list[Row]:
    return takes_a_list(texts)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (None, "NoneType"),
        ("text", "str"),
        ([], "0 vectors for 2 texts|shape"),
        ([[1.0, 2.0]], "1 vectors for 2 texts"),
        ([[1.0], [2.0], [3.0]], "3 vectors for 2 texts"),
        ([[1.0, 2.0], [1.0]], "no table of numbers"),
        ([[], []], "vectors of 0 numbers"),
        ([["1", "2"], ["3", "4"]], "one row of numbers per text"),
        ([[True, False], [True, True]], "one row of numbers per text"),
        ([[1 + 2j, 1], [1, 1]], "one row of numbers per text"),
        ([[None, 1], [1, 1]], "one row of numbers per text"),
        ([[[1.0]], [[2.0]]], "one row of numbers per text"),
        ({"a": [1.0]}, "one row of numbers per text"),
        ([[1.0, float("nan")], [1.0, 2.0]], "NaN or infinity, for text 0"),
        ([[1.0, 2.0], [1.0, float("-inf")]], "NaN or infinity, for text 1"),
        ([[1.0, 2.0], [0.0, -0.0]], "zeros.*for text 1"),
    ],
)
def test_wrong_answers_are_model_errors(returned: object, says: str) -> None:
    def wrong(texts: list[str]) -> object:
        return returned

    with pytest.raises(ModelError, match=says):
        CallableEmbedder(wrong, id="wrong").embed_documents(["a", "b"])


def test_another_dimension_than_before_is_a_model_error() -> None:
    def growing(texts: list[str]) -> list[Row]:
        return [[1.0] * len(text) for text in texts]

    embedder = CallableEmbedder(growing)
    embedder.embed_query("abc")
    with pytest.raises(ModelError, match="vectors of 4 numbers, 3 were due"):
        embedder.embed_documents(["abcd"])
    with pytest.raises(ModelError, match="vectors of 3 numbers, 5 were due"):
        CallableEmbedder(growing, dim=5).embed_query("abc")


def test_several_rows_for_one_query_are_a_model_error() -> None:
    def too_many(texts: list[str]) -> list[Row]:
        return [[1.0], [2.0]]

    with pytest.raises(ModelError, match="2 vectors for 1 texts"):
        CallableEmbedder(too_many).embed_query("a")


def test_a_coroutine_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="synchronous"):
        CallableEmbedder(asynchronous).embed_documents(["a"])


class Failing:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def embed_documents(self, texts: list[str]) -> list[Row]:
        raise self.error

    def embed_query(self, text: str) -> Row:
        raise self.error


def test_a_failure_keeps_its_cause_and_names_the_model() -> None:
    error = ConnectionResetError("the line is down")
    embedder = CallableEmbedder(Failing(error))
    for call in (lambda: embedder.embed_documents(["a"]), lambda: embedder.embed_query("a"), lambda: embedder.dim):
        with pytest.raises(ModelError, match="Failing failed: ConnectionResetError: the line is down") as caught:
            call()
        assert caught.value.__cause__ is error


def test_our_own_errors_pass_unchanged() -> None:
    with pytest.raises(MissingExtra, match="install it"):
        CallableEmbedder(Failing(MissingExtra("install it"))).embed_query("a")


def test_a_first_failure_does_not_decide_what_a_function_takes() -> None:
    """A function of lists whose first call fails must not be taken for one of single texts, which would be fed characters."""
    calls: list[object] = []

    def flaky(texts: Any) -> Any:
        calls.append(texts)
        if len(calls) == 1:
            raise TimeoutError
        return [vector_of(text) for text in texts]

    embedder = CallableEmbedder(flaky)
    with pytest.raises(ModelError) as caught:
        embedder.embed_documents(["ab", "c"])
    assert isinstance(caught.value.__cause__, TimeoutError)
    assert np.array_equal(embedder.embed_documents(["ab", "c"]), expected("ab", "c"))
