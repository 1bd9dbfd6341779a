"""What clients are told: settings that parse, and that start this very installation."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible.errors import InvalidInput
from indelible.mcp.clients import CLIENTS, settings_for
from tests.interop.mcp.servers import COMMAND, HELLO, environment
from tests.unit.cli.command import Cli

KEYS = {"codex": "mcp_servers", "opencode": "mcp", "vscode": "servers", "zed": "context_servers"}
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def parsed(client: str, text: str) -> dict[str, Any]:
    """The document that a client reads."""
    return tomllib.loads(text) if client == "codex" else dict(json.loads(text))


def command(client: str, text: str) -> list[str]:
    """The command that a client will start."""
    document = parsed(client, text)
    assert list(document) == [KEYS.get(client, "mcpServers")]
    (servers,) = document.values()
    (about,) = servers.values()
    return list(about["command"]) if client == "opencode" else [about["command"], *about["args"]]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command line, with a store that nothing opens."""
    return Cli(tmp_path / "a folder" / 'mémoire "1".db')


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_settings_that_parse(cli: Cli, client: str) -> None:
    """JSON or TOML on standard output and nothing else, with whole paths; where it goes is said on standard error."""
    done = cli.call("mcp", "--print-config", client, "--read-only", "--org-id", "acme", MEMORY_USER_ID=None)
    assert done.exit_code == 0
    assert done.stderr.startswith("# ")
    started = command(client, done.stdout)
    assert os.path.isabs(started[0])
    assert started[started.index("mcp") :] == [
        "mcp", "--db", str(cli.path), "--agent-id", "bot", "--user-id", "default", "--org-id", "acme", "--read-only",
    ]  # fmt: skip
    assert not cli.path.parent.exists()


@pytest.mark.parametrize("client", ["claude-desktop", "codex"])
def test_what_is_printed_starts_the_server(client: str, tmp_path: Path) -> None:
    """From another folder, with no variable of this shell, even where a file has the name of a package."""
    (tmp_path / "click.py").write_text("raise SystemExit('the wrong one')")
    printed = subprocess.run(
        [*COMMAND, "--db", "memory.db", "--print-config", client],
        cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    done = subprocess.run(
        command(client, printed),
        input=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}),
        cwd=tmp_path, env={"PATH": ""}, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["result"]["serverInfo"]["name"] == "indelible"
    assert (tmp_path / "memory.db").exists()


@given(st.sampled_from(list(CLIENTS)), st.lists(TEXT, max_size=4))
def test_no_argument_breaks_the_settings(client: str, arguments: list[str]) -> None:
    """Quotes, backslashes, line breaks, control characters: what comes out is what went in."""
    text, _ = settings_for(client, arguments)
    assert command(client, text)[-len(arguments) or None :] == (arguments or command(client, text))


def test_what_no_file_can_hold_is_refused() -> None:
    """A path that is no text cannot be written into a settings file."""
    with pytest.raises(InvalidInput, match="UTF-8"):
        settings_for("cursor", ["--db", "caf\udce9"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--print-config", "emacs"], "'emacs' is not one of"),
        (["--print-config", "cursor", "--http"], "leave out --http"),
        (["--print-config", "cursor", "--user-id", ""], "--user-id is empty"),
        (["--print-config", "cursor", "--read-only", "--allow-prune"], "read-only"),
        (["--allow-purge"], "needs --allow-prune"),
        (["--source", ""], "source"),
        (["--port", "70000", "--http"], "--port"),
        (["--max-writes", "-1"], "--max-writes"),
    ],
)
def test_options_that_make_no_sense(cli: Cli, options: list[str], words: str) -> None:
    """Each is refused before anything is opened."""
    assert words in cli.bad(2, "mcp", *options)
    assert not cli.path.exists()


def test_a_read_only_server_makes_no_store(cli: Cli) -> None:
    """A misspelt path is an error, not an empty memory."""
    assert "there is no store at" in cli.bad(5, "mcp", "--read-only")
    assert not cli.path.parent.exists()


WITHOUT_SDK = "import sys\nfor name in ('mcp', 'mcp_types', 'uvicorn', 'starlette', 'httpx2'):\n    sys.modules[name] = None\n"


def test_without_the_sdk(tmp_path: Path) -> None:
    """Standard input and output need none of it; HTTP names the extra, and so does whatever lacks pydantic."""
    run = ["-c", WITHOUT_SDK + COMMAND[3], "mcp", "--db", str(tmp_path / "memory.db")]
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    variables = environment(INDELIBLE_MCP_TOKEN="x" * 32)
    done = subprocess.run([COMMAND[0], *run], input=request, capture_output=True, text=True, timeout=60, env=variables, check=True)
    assert len(json.loads(done.stdout)["result"]["tools"]) == 13
    done = subprocess.run([COMMAND[0], *run, "--http"], capture_output=True, text=True, timeout=60, env=variables, check=False)
    assert done.returncode == 7
    assert 'pip install "indelible[mcp]"' in done.stderr
    hidden = "import importlib.util as u\nfind = u.find_spec\nu.find_spec = lambda name: None if name == 'pydantic' else find(name)\n"
    run[1] = hidden + COMMAND[3]
    done = subprocess.run([COMMAND[0], *run], capture_output=True, text=True, timeout=60, env=variables, check=False)
    assert done.returncode == 7
    assert 'pip install "indelible[mcp]"' in done.stderr
