"""How to tell the common MCP clients of the server: for each its file, and what goes into it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from indelible.errors import InvalidInput

NAME = "indelible"
Entry = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts MCP servers.

    Attributes:
        title: what it is called.
        file: where the settings go.
        settings: from the server's command and arguments to the text.
    """

    title: str
    file: str
    settings: Callable[[str, list[str]], str]


def _json(key: str, **more: Any) -> Callable[[str, list[str]], str]:
    def settings(command: str, arguments: list[str]) -> str:
        return json.dumps({key: {NAME: {**more, "command": command, "args": arguments}}}, indent=2, ensure_ascii=False)

    return settings


def _opencode(command: str, arguments: list[str]) -> str:
    return json.dumps({"mcp": {NAME: {"type": "local", "command": [command, *arguments], "enabled": True}}}, indent=2, ensure_ascii=False)


def _toml(command: str, arguments: list[str]) -> str:
    items = ", ".join(map(_toml_text, arguments))
    return f"[mcp_servers.{NAME}]\ncommand = {_toml_text(command)}\nargs = [{items}]"


def _toml_text(text: str) -> str:
    """A basic string: JSON's escapes are TOML's, but for surrogate pairs, which are not needed, and DEL, which TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


CLIENTS: dict[str, Client] = {
    "claude-desktop": Client("Claude Desktop", "claude_desktop_config.json (Settings, Developer, Edit Config)", _json("mcpServers")),
    "claude-code": Client("Claude Code", ".mcp.json in the project's folder", _json("mcpServers", type="stdio")),
    "cline": Client("Cline", "cline_mcp_settings.json (MCP Servers, Configure)", _json("mcpServers", disabled=False, autoApprove=[])),
    "codex": Client("Codex", "~/.codex/config.toml", _toml),
    "continue": Client("Continue", ".continue/mcpServers/indelible.json in the workspace", _json("mcpServers")),
    "cursor": Client("Cursor", "~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder", _json("mcpServers")),
    "gemini-cli": Client("Gemini CLI", "~/.gemini/settings.json", _json("mcpServers")),
    "lm-studio": Client("LM Studio", "mcp.json (Program, Install, Edit mcp.json)", _json("mcpServers")),
    "opencode": Client("opencode", "opencode.json in the project's folder, or ~/.config/opencode/opencode.json", _opencode),
    "vscode": Client("VS Code", ".vscode/mcp.json, or the command MCP: Open User Configuration", _json("servers", type="stdio")),
    "windsurf": Client("Windsurf", "~/.codeium/windsurf/mcp_config.json", _json("mcpServers")),
    "zed": Client("Zed", "~/.config/zed/settings.json", _json("context_servers")),
}


def settings_for(client: str, arguments: Sequence[str]) -> tuple[str, str]:
    """What goes into a client's settings, and where those are.

    Args:
        client: one of ``CLIENTS``.
        arguments: for the server, after ``indelible mcp``.

    Raises:
        InvalidInput: an argument is no text that a settings file can hold.
    """
    known = CLIENTS[client]
    command, *first = program()
    words = [command, *first, "mcp", *arguments]
    for word in words:
        try:
            word.encode("utf-8")
        except UnicodeEncodeError:
            raise InvalidInput(f"{word!a} is not UTF-8, and a settings file is: use another path") from None
    return known.settings(words[0], words[1:]), f"{known.title}: {known.file}"


def program() -> list[str]:
    """How to start this very installation from anywhere: clients know neither the folder nor the search path of this shell."""
    beside = os.path.join(os.path.dirname(sys.executable), "indelible.exe" if os.name == "nt" else "indelible")
    if os.access(beside, os.X_OK):
        return [beside]
    return [sys.executable, "-P", "-m", "indelible.cli"]
