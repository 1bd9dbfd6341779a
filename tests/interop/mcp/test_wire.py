"""The line-based wire: whatever comes, the server answers or keeps quiet, and goes on; however it ends, what it confirmed is there."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import MemoryStore
from indelible.mcp.options import Options
from indelible.mcp.rpc import MOST_BYTES, Endpoint, Message, line_of, read
from indelible.mcp.service import Service
from tests.interop.mcp.servers import COMMAND, HELLO, Wire, environment

BOUND = ("--agent-id", "bot", "--user-id", "ada")
HOSTILE: list[tuple[bytes, int | None]] = [
    (b"\n", None),
    (b"   \r\n", None),
    (b"null\n", -32600),
    (b"7\n", -32600),
    (b'"text"\n', -32600),
    (b"[]\n", -32600),
    (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]\n', -32600),
    (b"{}\n", -32600),
    (b"{\n", -32700),
    (b"\xff\xfe{}\n", -32700),
    (b"\x00\x00\n", -32700),
    (b"[" * 100_000 + b"\n", -32700),
    (b'{"a":' * 50_000 + b"\n", -32700),
    (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n', -32700),
    (b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}\n', -32700),
    (b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":5}\n', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}\n', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}\n', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}\n', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}\n', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}\n', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"memory_search","arguments":[]}}\n', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":null}}\n', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memory://records/\\ud800"}}\n', -32002),
    (b'{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"\\u0000"}}\n', -32602),
    (b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"memory_remember","arguments":{"content":"x"}}}\n', None),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{"a":[]}}}\n', None),
    (b'{"jsonrpc":"2.0","method":"notifications/cancelled"}\n', None),
    (b'{"jsonrpc":"2.0","method":"notifications/no/such","params":7}\n', None),
    (b'{"jsonrpc":"2.0","id":1,"result":{}}\n', None),
    (b'{"jsonrpc":"2.0","id":1,"error":7}\n', None),
    (b"x" * (MOST_BYTES + 10) + b"\n", -32600),
]


def test_hostile_lines_leave_it_alive(tmp_path: Path) -> None:
    """Each gets the answer that the protocol has for it, or none, and the next request is served; nothing was written."""
    with Wire(tmp_path / "memory.db", *BOUND) as wire:
        assert wire.ask("initialize", **HELLO)["result"]["serverInfo"]["name"] == "indelible"
        for line, code in HOSTILE:
            wire.send(line)
            if code is not None:
                assert wire.receive()["error"]["code"] == code, line[:100]
            assert wire.ask("ping")["result"] == {}
        surrogate, is_error = wire.call("memory_remember", content="\ud800")
        assert is_error
        assert "surrogate" in surrogate
        for huge in ("limit", "top_k", "user_id", "filters"):
            wire.send(
                b'{"jsonrpc":"2.0","id":"huge","method":"tools/call","params":{"name":"memory_search","arguments":'
                b'{"query":"x","' + huge.encode() + b'":' + b"9" * 5000 + b"}}}\n"
            )
            assert wire.receive()["result"]["isError"] is True
        assert wire.good("memory_health")["version"] == 0
        assert wire.end() == (0, "")


def test_a_handshake_agrees_on_a_version(tmp_path: Path) -> None:
    """An older version is taken, an unknown one answered with the newest; unknown members are let pass."""
    with Wire(tmp_path / "memory.db") as wire:
        for asked, agreed in [("2024-11-05", "2024-11-05"), ("2025-06-18", "2025-06-18"), ("2199-01-01", "2025-11-25"), (5, "2025-11-25")]:
            result = wire.ask("initialize", **{**HELLO, "protocolVersion": asked}, more={"x": 1})["result"]
            assert result["protocolVersion"] == agreed
        assert set(result["capabilities"]) == {"tools", "resources", "prompts"}


def test_requests_are_answered_in_order_and_can_be_cancelled(tmp_path: Path) -> None:
    """A request sees what those before it wrote, although nobody waited for answers; one that is cancelled in time gets none."""
    with Wire(tmp_path / "memory.db", *BOUND) as wire:
        asked = [wire.post("tools/call", name="memory_remember", arguments={"content": f"number {number}"}) for number in range(20)] + [
            wire.post("tools/call", name="memory_search", arguments={"query": "number", "limit": 50})
        ]
        answers = [wire.receive() for _ in asked]
        assert [answer["id"] for answer in answers] == asked
        assert len(json.loads(answers[-1]["result"]["content"][0]["text"])) == 20
        first = wire.post("tools/call", name="memory_recall", arguments={"query": "loads a model, and that takes a while"})
        second = wire.post("tools/call", name="memory_remember", arguments={"content": "never"})
        wire.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": second}}).encode() + b"\n")
        assert wire.receive()["id"] == first
        assert wire.good("memory_search", query="never") == []


def test_the_end_of_the_input_ends_it(tmp_path: Path) -> None:
    """What was asked before it is answered, and the store is closed: nothing is left beside the file."""
    path = tmp_path / "memory.db"
    calls = [{"name": "memory_remember", "arguments": {"content": str(number)}} for number in range(10)]
    lines = [json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}) for number, call in enumerate(calls)]
    done = subprocess.run(
        [*COMMAND, "--db", str(path), *BOUND],
        input="\n".join(lines), capture_output=True, text=True, timeout=60, env=environment(), check=True,
    )  # fmt: skip
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(10))
    assert done.stderr == ""
    assert not (tmp_path / "memory.db-wal").exists()
    with MemoryStore(path) as store:
        assert store.count() == 10


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal that asks a process to stop")
def test_sigterm_closes_the_store(tmp_path: Path) -> None:
    """It ends at once, cleanly, though nobody closed the input."""
    path = tmp_path / "memory.db"
    with Wire(path, *BOUND) as wire:
        wire.good("memory_remember", content="kept")
        assert wire.end(signal.SIGTERM) == (0, "")
    assert not (tmp_path / "memory.db-wal").exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signal that asks a process to stop")
@pytest.mark.parametrize("closed", [False, True])
def test_sigterm_ends_it_though_nobody_reads(tmp_path: Path, closed: bool) -> None:
    """A client that asks and asks and reads nothing does not keep it alive, whether its input has ended or not."""
    path = tmp_path / "memory.db"
    with MemoryStore(path, embedder=None) as store:
        store.remember("tea " * 50_000, agent_id="bot", user_id="ada")
    with Wire(path, *BOUND) as wire:
        for _ in range(3):  # each of them more than a pipe holds
            wire.post("tools/call", name="memory_export", arguments={})
        assert wire.first_byte() == b"{"
        if closed:
            wire.close_input()
        wire.process.send_signal(signal.SIGTERM)
        assert wire.process.wait(60) == 0
    assert not (tmp_path / "memory.db-wal").exists()
    with MemoryStore(path) as store:
        assert store.count() == 1


def test_a_kill_loses_nothing_that_was_confirmed(tmp_path: Path) -> None:
    """S80, S83: killed in the middle of many writes, it is started again on the same file, which has each memory that was answered."""
    path = tmp_path / "memory.db"
    confirmed: list[str] = []
    for _round in range(3):
        with Wire(path, *BOUND) as wire:
            for number in range(200):
                wire.post("tools/call", name="memory_remember", arguments={"content": f"text {number} of {_round}"})
            confirmed += [json.loads(wire.receive()["result"]["content"][0]["text"])["id"] for _ in range(15)]
            wire.process.kill()
            assert wire.process.wait(60) != 0
    with Wire(path, *BOUND) as wire:
        for id in confirmed:
            assert len(wire.good("memory_history", id=id)) == 1
        assert wire.end() == (0, "")
    with MemoryStore(path) as store:
        assert store.verify().ok


def test_what_others_print_does_not_reach_the_wire(tmp_path: Path) -> None:
    """Standard output is for messages alone."""
    program = (
        "import sys, os\nimport indelible.mcp.service as service\nreal = service.Service.tools\n"
        "def noisy(self):\n    print('noise')\n    os.write(1, b'more noise')\n    return real(self)\n"
        "service.Service.tools = noisy\nfrom indelible.cli import main\nsys.exit(main())"
    )
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    done = subprocess.run(
        [COMMAND[0], "-c", program, "mcp", "--db", str(tmp_path / "memory.db")],
        input=request, capture_output=True, text=True, timeout=60, env=environment(), check=True,
    )  # fmt: skip
    assert len(json.loads(done.stdout)["result"]["tools"]) == 13
    assert "noise" in done.stderr


def test_ten_thousand_random_messages(tmp_path: Path) -> None:
    """One process is sent them all, the last is answered, and its store verifies."""
    path = tmp_path / "memory.db"
    chance = random.Random(7)
    lines = [json.dumps(_message(chance, number)) for number in range(10_000)]
    lines.append(json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list"}))
    done = subprocess.run(
        [*COMMAND, "--db", str(path), *BOUND],
        input="\n".join(lines), capture_output=True, encoding="utf-8", timeout=300, env=environment(), check=True,
    )  # fmt: skip
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[-1]["id"] == "last"
    assert len(answers[-1]["result"]["tools"]) == 13
    assert done.stderr == ""
    assert {answer["error"]["code"] for answer in answers if "error" in answer} <= {-32600, -32601, -32602, -32002}
    with MemoryStore(path) as store:
        assert store.verify().ok


def _message(chance: random.Random, number: int) -> object:
    """A message that may be good, or be spoilt anywhere."""
    tools = ["remember", "search", "edit", "forget", "history", "feedback", "forget_expired", "prune", "health", "export"]
    names = ["content", "query", "id", "limit", "filters", "metadata", "ttl_ms", "vote", "user_id", "top_k", "topic", "dry_run", "x"]
    arguments = {chance.choice(names): _value(chance, 3) for _ in range(chance.randrange(4))}
    params = {"name": "memory_" + chance.choice(tools), "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    if chance.random() < 0.2:
        message[chance.choice(list(message))] = _value(chance, 2)
    return _value(chance, 3) if chance.random() < 0.05 else message


def _value(chance: random.Random, depth: int) -> object:
    """Any JSON."""
    kind = chance.randrange(9 if depth else 7)
    if kind == 7:
        return [_value(chance, depth - 1) for _ in range(chance.randrange(3))]
    if kind == 8:
        return {chance.choice(["a", "path", "op", "", "\ud800"]): _value(chance, depth - 1) for _ in range(chance.randrange(3))}
    return [None, True, chance.randrange(-5, 60), 10**30, 1.5, chance.choice(["", "tea", "up", "\x00", "\ud800", "\u202e", "%"]), -1][kind]


def test_no_socket_is_opened(tmp_path: Path) -> None:
    """S51: over standard input and output nothing touches the network, not even to recall by meaning."""
    watch = "import sys, os\nsys.addaudithook(lambda event, _: os._exit(9) if event.startswith('socket.') else None)\n"
    with Wire(tmp_path / "memory.db", *BOUND, program=watch) as wire:
        wire.good("memory_remember", content="The kettle is green")
        assert wire.good("memory_recall", query="colour of kitchen things")
        assert wire.good("memory_search", query="kettle")
        assert wire.end() == (0, "")
    with Wire(tmp_path / "memory.db", *BOUND, program=watch + "import socket\nsocket.socket()\n") as wire:
        assert wire.process.wait(60) == 9


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(["tools/call", "tools/list", "resources/read", "prompts/get", "initialize", "ping", "x"]) | st.text()
NAMES = st.sampled_from(["name", "arguments", "uri", "query", "content", "id", "limit", "filters", "user_id"]) | st.text()
TOOLS = st.sampled_from(["memory_search", "memory_remember", "memory_edit", "memory_prune", "memory_export", "memory_feedback"])


@given(st.binary(max_size=200) | JSON.map(lambda value: json.dumps(value).encode()))
def test_no_line_raises(line: bytes) -> None:
    """Whatever a line holds, reading it gives a message, an answer, or nothing."""
    found = read(line)
    assert found is None or isinstance(found, Message | dict)


@given(METHODS, st.dictionaries(NAMES, JSON, max_size=4), TOOLS, st.dictionaries(NAMES, JSON, max_size=4))
def test_no_request_raises(method: str, params: dict[str, object], tool: str, arguments: dict[str, object]) -> None:
    """Whatever is asked, the answer is one line of JSON that says so; the prompt's memory is never a model's to load here."""
    with MemoryStore(":memory:", embedder=lambda texts: [[1.0, 0.0] for _ in texts]) as store:
        endpoint = Endpoint(Service(store, Options()))
        for asked in (Message(method, params, 1), Message("tools/call", {"name": tool, "arguments": arguments}, 2)):
            answer = endpoint.answer(asked)
            assert answer is not None
            line = line_of(answer)
            assert line.count(b"\n") == 1
            assert json.loads(line)["id"] == asked.id
            assert answer.get("error", {}).get("code") != -32603
