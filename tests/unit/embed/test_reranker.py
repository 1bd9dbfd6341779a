"""The bundled reranker: what it answers, and what happens when it cannot."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from indelible import MemoryStore, Rerank
from indelible.embed import OnnxReranker, StaticEmbedder
from indelible.embed import onnx_reranker as module
from indelible.embed.onnx_reranker import PAIR_TOKENS, QUERY_TOKENS
from indelible.errors import IntegrityFailure, InvalidInput, ModelError, ModelNotFound
from tests.conftest import Require


@pytest.fixture(scope="session", autouse=True)
def installed(require: Require) -> None:
    require(find_spec("indelible_reranker") is not None, "needs the bundled reranker: pip install ./models-rerank")


@pytest.fixture(scope="session")
def reranker() -> OnnxReranker:
    return OnnxReranker(workers=2)


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder laid out like the installed one, to be damaged."""
    import indelible_reranker

    for name in ("manifest.json", "tokenizer.json", "minilm-l12-rerank.onnx"):
        shutil.copyfile(str(indelible_reranker.path(name)), tmp_path / name)
    return tmp_path


def test_scores_are_those_of_the_reference(reranker: OnnxReranker) -> None:
    """Where the model was made they were the same, up to what versions of onnxruntime and processors may change."""
    import indelible_reranker

    pairs = json.loads(indelible_reranker.path("reference_scores.json").read_text(encoding="utf-8"))["pairs"]
    assert len(pairs) > 10
    for pair in pairs:
        [score] = reranker.score(pair["query"], [pair["text"]])
        assert 0 < score < 1
        assert module._sigmoid(pair["logit"] - 0.3) < score < module._sigmoid(pair["logit"] + 0.3)


def test_a_recall_reads_what_it_found(reranker: OnnxReranker) -> None:
    """End to end, with both bundled weights: the answer stands in front of what only shares words with the question."""
    texts = [
        "Where does Ada live? We talked about where people live, and where they like to live.",
        "Ada asked where the cat likes to live and sleep.",
        "In March Ada moved into a flat in Oslo, because of her new job.",
        "Trains to Bergen leave at noon.",
    ]
    with MemoryStore(":memory:", embedder=StaticEmbedder()) as store:
        store.remember_many(texts)
        question = "In which city is Ada's home?"
        for mode in ("semantic", "hybrid"):
            found = store.recall(question, mode=mode, rerank=True)
            assert found[0].content == texts[2]
            assert found == store.recall(question, mode=mode, rerank=reranker)
            assert sorted(hit.content for hit in found) == sorted(texts)
            assert found[0].score == pytest.approx(next(hit.score for hit in store.recall(question, mode=mode) if hit.id == found[0].id))


def test_a_score_does_not_depend_on_the_others(reranker: OnnxReranker) -> None:
    """Bit by bit, whatever stands beside a text, in whichever order and on however many threads."""
    texts = ["the red fox sleeps", "a very long text about nothing in particular " * 30, "", "fox"]
    alone = [reranker.score("where is the fox?", [text])[0] for text in texts]
    assert reranker.score("where is the fox?", texts) == alone
    assert OnnxReranker(workers=1).score("where is the fox?", texts[::-1]) == alone[::-1]
    assert reranker.score("where is the fox?", []) == []


@settings(max_examples=15)
@given(st.text(max_size=40), st.lists(st.text(max_size=60), max_size=3))
def test_any_text_has_a_score(query: str, texts: list[str]) -> None:
    scores = _ONE.score(query, texts)
    assert len(scores) == len(texts)
    assert all(0 <= score <= 1 for score in scores)


_ONE = OnnxReranker(workers=1)


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "a b " * 300_000, "\0\u200b\ufeff", "[SEP] [CLS] [MASK]", "😀" * 5000, " " * 100_000 + "fox", "狐" * 9000]
)
def test_hostile_texts(reranker: OnnxReranker, text: str) -> None:
    """A megabyte costs no more than a page, and a mark of the model in a text is text."""
    assert all(0 <= score <= 1 for score in [*reranker.score("fox", [text]), *reranker.score(text, ["fox"])])


def test_a_mark_in_a_text_is_no_mark(reranker: OnnxReranker) -> None:
    pieces = reranker._tokenizer.get()
    [(ids, segments)] = pieces.pairs("a [SEP] b", ["c [SEP] d"])
    mark = ids[-1]
    assert ids.count(mark) == 2
    assert segments == [0] * (ids.index(mark) + 1) + [1] * (len(ids) - ids.index(mark) - 1)


def test_what_is_read_is_bounded(reranker: OnnxReranker) -> None:
    """The query takes at most its share, both together what the model is given, and a short query leaves its room to the text."""
    pieces = reranker._tokenizer.get()
    for query, text in (("fox " * 500, "fox " * 500), ("fox", "fox " * 500)):
        [(ids, segments)] = pieces.pairs(query, [text])
        assert len(ids) == len(segments) == PAIR_TOKENS
        assert segments.count(0) <= QUERY_TOKENS + 2


@pytest.mark.parametrize(
    ("query", "texts"), [(None, ["a"]), ("a", "a"), ("a", [None]), ("a", None), ("\ud800", ["a"]), ("a", ["\udc00"]), (b"a", [])]
)
def test_what_is_no_text_is_refused(query: Any, texts: Any) -> None:
    with pytest.raises(InvalidInput):
        _ONE.score(query, texts)


@pytest.mark.parametrize(
    ("query", "read"),
    [
        ("where is Ada?", True),
        ("où est Ädä?", True),
        ("Ở đâu?", True),
        ("??? 12", True),
        ("艾达住在哪里？", False),
        ("где Ada живёт?", False),
        ("艾达 lives where in 挪威?", True),
        ("에이다는 어디에 있니", False),
        ("", True),
    ],
)
def test_which_queries_it_reads(query: str, read: bool) -> None:
    """S52: those in Latin letters, for the most part; and of others recall keeps its own order, without loading anything."""
    assert OnnxReranker().reads(query) is read
    if not read:
        with MemoryStore(":memory:", embedder=StaticEmbedder()) as store:
            store.remember_many(["艾达住在挪威", "где живёт Ada", "에이다는 집에 있다", "Ada lives in Oslo"])
            assert store.recall(query, mode="hybrid", rerank=OnnxReranker("nowhere")) == store.recall(query, mode="hybrid")


@pytest.mark.parametrize("workers", [0, -1, True, 1.0, "2"])
def test_workers_must_be_a_positive_int(workers: Any) -> None:
    with pytest.raises(InvalidInput, match="workers"):
        OnnxReranker(workers=workers)


def test_damaged_weights_are_refused(copied: Path) -> None:
    with (copied / "minilm-l12-rerank.onnx").open("r+b") as stream:
        stream.seek(1000)
        stream.write(b"\0\1\2")
    with pytest.raises(IntegrityFailure, match=r'"indelible\[rerank\]"'):
        OnnxReranker(copied).score("a", ["b"])


def test_missing_weights_are_named(copied: Path) -> None:
    (copied / "minilm-l12-rerank.onnx").unlink()
    with pytest.raises(ModelNotFound, match=r"minilm-l12-rerank\.onnx.*indelible\[rerank\]"):
        OnnxReranker(copied).score("a", ["b"])


@pytest.mark.parametrize("name", ["minilm-l12-rerank.onnx", "tokenizer.json"])
def test_a_file_that_cannot_be_loaded(copied: Path, name: str) -> None:
    """As the manifest says, and still no model: onnxruntime's and the tokenizer's errors do not escape."""
    import hashlib

    (copied / name).write_bytes(b"{}")
    manifest = json.loads((copied / "manifest.json").read_text(encoding="utf-8"))
    manifest["files"][name]["sha256"] = hashlib.sha256(b"{}").hexdigest()
    (copied / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ModelError, match=r"cannot (be loaded|load)"):
        OnnxReranker(copied).score("a", ["b"])


def test_a_session_that_fails_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def run(self, *arguments: Any) -> Any:
            raise RuntimeError("no memory left")

    monkeypatch.setattr(module, "_session", lambda bundle: Broken())
    with pytest.raises(ModelError, match="no memory left") as caught:
        OnnxReranker(workers=1).score("a", ["b"])
    assert isinstance(caught.value.__cause__, RuntimeError)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers", "indelible_reranker"])
def test_a_missing_package_names_the_extra(run: Callable[..., str], package: str) -> None:
    """Also by way of a recall whose own embedder needs none of them."""
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from indelible import MemoryStore\n"
        "from indelible.errors import MissingExtra\n"
        "from indelible.testing import HashEmbedder\n"
        "store = MemoryStore(':memory:', embedder=HashEmbedder()); store.remember('red fox')\n"
        "try: store.recall('fox', rerank=True)\n"
        "except MissingExtra as error: print(error)\n"
        "print(len(store.recall('fox')))"
    )
    said, left = run(program).splitlines()
    assert package.replace("_", "-") in said
    assert 'pip install "indelible[rerank]"' in said
    assert left == "1"


def test_nothing_is_loaded_before_it_is_needed(run: Callable[..., str]) -> None:
    """Not by importing, making one, or recalling without it; and no call opens a socket."""
    program = (
        "import sys\n"
        "sys.addaudithook(lambda event, arguments: sys.exit('a socket: ' + event) if event.startswith('socket.') else None)\n"
        "from indelible import MemoryStore, Rerank\n"
        "from indelible.embed import OnnxReranker\n"
        "OnnxReranker(); Rerank(pool=3)\n"
        "print([name for name in ('numpy', 'onnxruntime', 'tokenizers', 'indelible_reranker') if name in sys.modules])\n"
        "from indelible.testing import HashEmbedder\n"
        "store = MemoryStore(':memory:', embedder=HashEmbedder()); store.remember('red fox')\n"
        "store.recall('fox')\n"
        "print([name for name in ('onnxruntime', 'tokenizers', 'indelible_reranker') if name in sys.modules])\n"
        "print(len(store.recall('fox', rerank=True)), 'indelible_reranker' in sys.modules)"
    )
    assert run(program) == "[]\n[]\n1 True\n"


def test_threads_that_come_first_together_load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    original = module._session

    def counted(*arguments: Any) -> Any:
        loads.append(1)
        return original(*arguments)

    monkeypatch.setattr(module, "_session", counted)
    reranker, barrier, found = OnnxReranker(workers=1), threading.Barrier(4), []

    def first() -> None:
        barrier.wait()
        found.append(reranker.score("fox", ["the same text"])[0])

    threads = [threading.Thread(target=first) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert len(found) == 4
    assert len(set(found)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_loads_its_own(reranker: OnnxReranker) -> None:
    """S82: the child drops the inherited session, answers the same, and ends."""
    expected = reranker.score("fox", ["red fox"])
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            loaded = reranker._session.loaded
            os.write(write, json.dumps([loaded, reranker.score("fox", ["red fox"])]).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    assert json.loads(answer) == [False, expected]


def test_the_default_is_shared(reranker: OnnxReranker) -> None:
    """All stores of a process use one; it is what ``Rerank()`` means."""
    assert module.bundled_reranker() is module.bundled_reranker()
    assert Rerank().reranker is None
    assert repr(reranker) == "OnnxReranker('minilm-l12-rerank')"
