"""LangChain's standard tests of every interface that has some."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.stores import BaseStore
from langchain_core.tools import BaseTool
from langchain_core.vectorstores import VectorStore
from langchain_tests.integration_tests import (
    BaseStoreAsyncTests,
    BaseStoreSyncTests,
    EmbeddingsIntegrationTests,
    RetrieversIntegrationTests,
    ToolsIntegrationTests,
    VectorStoreIntegrationTests,
)
from langchain_tests.unit_tests import EmbeddingsUnitTests, ToolsUnitTests

from indelible import MemoryStore
from langchain_indelible import IndelibleByteStore, IndelibleEmbeddings, IndelibleRetriever, IndelibleVectorStore, memory_tools
from tests.interop.langchain.models import USER, open_store

_opened: list[MemoryStore] = []


def opened() -> MemoryStore:
    """A store for a suite that builds its subject itself."""
    _opened.append(open_store())
    return _opened[-1]


@pytest.fixture(autouse=True)
def _closes() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self) -> Iterator[VectorStore]:
        with open_store() as store:
            yield IndelibleVectorStore(store, self.get_embeddings())


class TestRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self) -> type[IndelibleRetriever]:
        return IndelibleRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        store = opened()
        store.remember_many([f"Ada prefers tea number {number}" for number in range(5)], **USER)
        return {"memory": store}

    @property
    def retriever_query_example(self) -> str:
        return "tea"


class TestRetrieverOfACollection(TestRetriever):
    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        vectorstore = IndelibleVectorStore(opened())
        vectorstore.add_documents([Document(page_content=f"tea number {number}") for number in range(5)])
        return {"memory": vectorstore.collection}


class TestVectorStoreRetriever(RetrieversIntegrationTests):
    """The retriever that LangChain makes of the vector store."""

    @property
    def retriever_constructor(self) -> Any:
        store = IndelibleVectorStore(opened())
        store.add_texts([f"tea number {number}" for number in range(5)])

        def make(k: int = 4) -> BaseRetriever:
            return store.as_retriever(search_kwargs={"k": k})

        return make

    @property
    def retriever_query_example(self) -> str:
        return "tea"


class TestByteStore(BaseStoreSyncTests[bytes]):
    @pytest.fixture
    def kv_store(self) -> Iterator[BaseStore[str, bytes]]:
        with open_store() as store:
            yield IndelibleByteStore(store)

    @pytest.fixture
    def three_values(self) -> tuple[bytes, bytes, bytes]:
        return b"", b"\x00\xff", b"three"


class TestByteStoreAsync(BaseStoreAsyncTests[bytes]):
    @pytest.fixture
    async def kv_store(self) -> Any:
        with open_store() as store:
            yield IndelibleByteStore(store)

    @pytest.fixture
    def three_values(self) -> tuple[bytes, bytes, bytes]:
        return b"", b"\x00\xff", b"three"


class TestEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return IndelibleEmbeddings


class TestStaticEmbeddings(EmbeddingsIntegrationTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return IndelibleEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"model": "static"}


class TestEmbeddingsUnit(EmbeddingsUnitTests):
    @property
    def embeddings_class(self) -> type[Embeddings]:
        return IndelibleEmbeddings


class _Tool:
    """One of the tools, on a store that has one memory."""

    name = ""
    arguments: dict[str, Any] = {}  # noqa: RUF012  # read only, one per class

    @property
    def tool_constructor(self) -> BaseTool:
        store = opened()
        known = store.remember("Ada prefers tea", key="drink", **USER)
        self._id = known.id
        return next(tool for tool in memory_tools(store, **USER) if tool.name == self.name)

    @property
    def tool_invoke_params_example(self) -> dict[str, Any]:
        return {name: getattr(self, "_id", "x") if value == "<id>" else value for name, value in self.arguments.items()}


class _Remember(_Tool):
    name, arguments = "remember", {"content": "Ada has a cat", "metadata": {"topic": "pets"}}


class _Recall(_Tool):
    name, arguments = "recall", {"query": "what does Ada drink?", "limit": 3}


class _Search(_Tool):
    name, arguments = "search", {"query": "tea"}


class _Edit(_Tool):
    name, arguments = "edit", {"id": "<id>", "content": "Ada prefers coffee"}


class _Forget(_Tool):
    name, arguments = "forget", {"id": "<id>"}


class _History(_Tool):
    name, arguments = "history", {"id": "<id>"}


class _SearchSemantic(_Tool):
    name, arguments = "search_semantic", {"query": "what does Ada drink?", "filters": {}}


class _Feedback(_Tool):
    name, arguments = "feedback", {"id": "<id>", "vote": "up"}


class _List(_Tool):
    name, arguments = "list", {"limit": 5}


class TestRemember(_Remember, ToolsIntegrationTests): ...


class TestRememberUnit(_Remember, ToolsUnitTests): ...


class TestRecall(_Recall, ToolsIntegrationTests): ...


class TestRecallUnit(_Recall, ToolsUnitTests): ...


class TestSearch(_Search, ToolsIntegrationTests): ...


class TestSearchUnit(_Search, ToolsUnitTests): ...


class TestEdit(_Edit, ToolsIntegrationTests): ...


class TestEditUnit(_Edit, ToolsUnitTests): ...


class TestForget(_Forget, ToolsIntegrationTests): ...


class TestForgetUnit(_Forget, ToolsUnitTests): ...


class TestHistory(_History, ToolsIntegrationTests): ...


class TestHistoryUnit(_History, ToolsUnitTests): ...


class TestSearchSemantic(_SearchSemantic, ToolsIntegrationTests): ...


class TestSearchSemanticUnit(_SearchSemantic, ToolsUnitTests): ...


class TestFeedback(_Feedback, ToolsIntegrationTests): ...


class TestFeedbackUnit(_Feedback, ToolsUnitTests): ...


class TestList(_List, ToolsIntegrationTests): ...


class TestListUnit(_List, ToolsUnitTests): ...


def test_every_tool_is_put_to_them() -> None:
    """By both suites, whatever tools there will be."""
    suites = [(case.name, suite) for case in _Tool.__subclasses__() for suite in case.__subclasses__()]
    kinds = {(name, kind) for name, suite in suites for kind in (ToolsIntegrationTests, ToolsUnitTests) if issubclass(suite, kind)}
    names = {tool.name for tool in memory_tools(opened(), **USER)}
    assert kinds == {(name, kind) for name in names for kind in (ToolsIntegrationTests, ToolsUnitTests)}
    assert len(suites) == 2 * len(names)
