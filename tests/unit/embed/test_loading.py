"""When a model is loaded, by whom, and what happens when it cannot be."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from indelible.embed import OnnxEmbedder, StaticEmbedder
from indelible.embed import onnx_embedder as onnx_module
from indelible.embed.once import OncePerProcess

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def test_importing_and_constructing_load_no_heavy_package(run: Callable[..., str]) -> None:
    program = (
        "import sys, indelible.embed as e\n"
        "e.OnnxEmbedder(); e.StaticEmbedder(); e.resolve_embedder('static-query'); e.CallableEmbedder(len, id='x')\n"
        "e.OnnxEmbedder().windows('short')\n"
        "heavy = ['numpy', 'onnxruntime', 'tokenizers', 'indelible_models', 'asyncio', 'concurrent.futures']\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run(program) == "[]\n"


def test_the_static_model_needs_no_onnxruntime(run: Callable[..., str]) -> None:
    program = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from indelible.embed import StaticEmbedder\n"
        "print(StaticEmbedder().embed_documents(['a', 'b']).shape)"
    )
    assert run(program) == "(2, 256)\n"


@pytest.mark.parametrize("first", ["model.embed_query('a')", "None"])
def test_the_last_thing_a_program_does_may_be_to_embed(run: Callable[..., str], first: str) -> None:
    """At exit the interpreter starts no more threads: texts are then embedded one after the other."""
    program = (
        "import atexit\n"
        "from indelible.embed import OnnxEmbedder\n"
        f"model = OnnxEmbedder(workers=2); {first}\n"
        "atexit.register(lambda: print(model.embed_documents(['a', 'b', 'c']).shape))"
    )
    assert run(program) == "(3, 256)\n"


@pytest.mark.parametrize("model", ["OnnxEmbedder", "StaticEmbedder"])
def test_no_call_opens_a_socket(run: Callable[..., str], model: str) -> None:
    """S51: neither importing, loading nor embedding; the interpreter itself reports every socket."""
    program = (
        "import sys\n"
        "def refuse(event, arguments):\n"
        "    if event.startswith('socket.'): raise SystemExit('a socket was asked for: ' + event)\n"
        "sys.addaudithook(refuse)\n"
        f"from indelible.embed import {model} as Model\n"
        "model = Model(); long = 'a long text that is cut ' * 200\n"
        "print(model.embed_documents(['a', 'b']).shape, model.embed_query('c').shape, len(model.windows(long)) > 1)\n"
        "import socket\n"
        "try: socket.socket()\n"
        "except SystemExit as refused: print(refused)"
    )
    assert run(program) == "(2, 256) (256,) True\na socket was asked for: socket.__new__\n"


@pytest.mark.parametrize(
    ("model", "package"),
    [
        ("OnnxEmbedder", "onnxruntime"),
        ("OnnxEmbedder", "tokenizers"),
        ("OnnxEmbedder", "indelible_models"),
        ("OnnxEmbedder", "numpy"),
        ("StaticEmbedder", "tokenizers"),
        ("StaticEmbedder", "indelible_models"),
    ],
)
def test_a_missing_package_names_what_to_install(run: Callable[..., str], model: str, package: str) -> None:
    program = (
        f"import sys; sys.modules[{package!r}] = None\n"
        "from indelible.embed import OnnxEmbedder, StaticEmbedder\n"
        "from indelible.errors import MissingExtra\n"
        f"embedder = {model}()\n"
        "for call in (lambda: embedder.embed_query('a'), lambda: embedder.embed_documents(['a', 'b'])):\n"
        "    try: call()\n"
        "    except MissingExtra as error: print(type(error.__cause__).__name__, error)"
    )
    lines = run(program).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert line.startswith("ModuleNotFoundError ")
        assert package.replace("_", "-") in line
        assert 'pip install "indelible[embed]"' in line


def test_threads_that_come_first_together_load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    original = onnx_module._session

    def counted(*arguments: Any) -> Any:
        loads.append(1)
        return original(*arguments)

    monkeypatch.setattr(onnx_module, "_session", counted)
    embedder, barrier = OnnxEmbedder(workers=1), threading.Barrier(8)

    def first(_: int) -> bytes:
        barrier.wait()
        return embedder.embed_query("the same text").tobytes()

    with ThreadPoolExecutor(8) as pool:
        vectors = set(pool.map(first, range(8)))
    assert len(loads) == 1
    assert len(vectors) == 1


def test_threads_embed_at_the_same_time_without_mixing_up(onnx: OnnxEmbedder) -> None:
    texts = [f"fact number {number} about the garden" for number in range(12)]
    expected = {text: onnx.embed_query(text).tobytes() for text in texts}
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda text: onnx.embed_query(text).tobytes(), texts * 3))
    assert found == [expected[text] for text in texts * 3]


def test_a_failed_load_is_tried_again() -> None:
    tries = iter([ValueError("not yet"), None])

    def make() -> str:
        if error := next(tries):
            raise error
        return "made"

    once = OncePerProcess(make)
    with pytest.raises(ValueError, match="not yet"):
        once.get()
    assert not once.loaded
    assert once.get() == once.get() == "made"


def in_child(work: Callable[[], bytes]) -> bytes:
    """Fork, do the work in the child, give what it returned; a child that fails gives nothing."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # the system ends a child that hangs, whatever it waits for
        try:
            os.write(write, work())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return answer


@forks
@pytest.mark.parametrize("model", [lambda: OnnxEmbedder(workers=2), StaticEmbedder])
def test_a_forked_child_loads_its_own_model(model: Callable[[], OnnxEmbedder | StaticEmbedder]) -> None:
    """S82: after fork the child drops the session and loads it again when it needs it."""
    embedder = model()
    texts = ["before the fork", "and after it", "a third one"]
    before = embedder.embed_documents(texts)

    def work() -> bytes:
        loaded = embedder._pieces.loaded
        return bytes([loaded]) + embedder.embed_documents(texts).tobytes() + bytes([embedder._pieces.loaded])

    answer = in_child(work)
    assert answer[:1] == b"\0"
    assert answer[-1:] == b"\1"
    assert np.array_equal(np.frombuffer(answer[1:-1], dtype=np.float32).reshape(3, -1), before)
    assert embedder._pieces.loaded
    assert np.array_equal(embedder.embed_documents(texts), before)


@forks
def test_a_child_forked_while_another_thread_loads_is_not_locked_out() -> None:
    begun, go_on = threading.Event(), threading.Event()
    owner = os.getpid()

    def make() -> bytes:
        if os.getpid() == owner:
            begun.set()
            assert go_on.wait(60)
        return b"made"

    once = OncePerProcess(make)
    loader = threading.Thread(target=once.get)
    loader.start()
    assert begun.wait(60)
    try:
        assert in_child(once.get) == b"made"
    finally:
        go_on.set()
        loader.join()


@forks
def test_many_threads_at_work_do_not_hang_a_forked_child(onnx: OnnxEmbedder) -> None:
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            onnx.embed_documents(["some work", "and some more"])

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        expected = onnx.embed_query("asked in the child").tobytes()
        for _ in range(3):
            assert in_child(lambda: onnx.embed_query("asked in the child").tobytes()) == expected
    finally:
        stop.set()
        for thread in threads:
            thread.join()
