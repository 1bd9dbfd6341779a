"""JSON-RPC as the Model Context Protocol speaks it: reading a message that anyone may have written, and answering it."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from indelible._version import __version__
from indelible.base.canonical import loads_foreign
from indelible.errors import IndelibleError, InvalidInput, RecordNotFound
from indelible.mcp.service import Service

PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Those that open with a handshake, the newest first. A newer client that asks for more falls back to one of these."""
LARGEST_ID = 2**53 - 1
"""The whole numbers that every reader of JSON tells apart."""
MOST_BYTES = 16 << 20
"""Of one message: the largest memory, every character of it escaped, fits twice."""
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
RESOURCE_NOT_FOUND = -32002
Params = Mapping[str, Any]
Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification if it has no id.

    Attributes:
        method: what is asked.
        params: with what.
        id: to answer with; ``None`` for a notification.
    """

    method: str
    params: Params
    id: str | int | None = None


def read(line: bytes) -> Message | Reply | None:
    """What a line says.

    Returns:
        A message; the answer to a line that is none; ``None`` for what wants no answer, such as an empty line or an answer to us.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        return failure(None, PARSE_ERROR, f"not UTF-8: {error.reason} at byte {error.start}")
    if not text.strip():
        return None
    try:
        value = loads_foreign(text, "the message")
    except InvalidInput as error:
        return failure(None, PARSE_ERROR, str(error))
    if not isinstance(value, dict):
        return failure(None, INVALID_REQUEST, f"a message must be a JSON object, got {type(value).__name__}")
    return _message(value)


def _message(value: dict[str, Any]) -> Message | Reply | None:
    id, method, params = value.get("id"), value.get("method"), value.get("params", {})
    known = id if isinstance(id, str) or (type(id) is int and abs(id) <= LARGEST_ID) else None
    if method is None and ("result" in value or "error" in value):
        return None  # an answer: this server asks nothing
    if value.get("jsonrpc") != "2.0":
        return failure(known, INVALID_REQUEST, 'jsonrpc must be "2.0"')
    if not isinstance(method, str):
        return failure(known, INVALID_REQUEST, "method must be a string")
    if "id" in value and known is None:
        return failure(None, INVALID_REQUEST, "id must be a string, or a whole number that every reader of JSON can hold")
    if not isinstance(params, dict):
        return failure(known, INVALID_PARAMS, "params must be an object") if known is not None else None
    return Message(method, params, known)


def success(id: str | int, result: Mapping[str, Any]) -> Reply:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failure(id: str | int | None, code: int, message: str) -> Reply:
    """The answer to a request that failed."""
    return {"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}


def line_of(reply: Reply) -> bytes:
    """An answer as one line.

    What is not printable is escaped: some readers end a line at more characters than the line feed, and lone surrogates are no UTF-8.
    """
    text = json.dumps(reply, ensure_ascii=False, separators=(",", ":"))
    if not text.isprintable():
        text = "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)
    return text.encode() + b"\n"


class Endpoint:
    """Answers the requests of one client.

    Args:
        service: what is served.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._methods: dict[str, Callable[[Params], Mapping[str, Any]]] = {
            "initialize": self._initialize,
            "ping": lambda _: {},
            "tools/list": lambda _: {"tools": service.tools()},
            "tools/call": lambda params: service.call(_text(params, "name"), _object(params, "arguments")),
            "resources/list": lambda _: {"resources": service.resources()},
            "resources/templates/list": lambda _: {"resourceTemplates": service.templates()},
            "resources/read": lambda params: service.read(_text(params, "uri")),
            "prompts/list": lambda _: {"prompts": service.prompts()},
            "prompts/get": lambda params: service.prompt(_text(params, "name"), _object(params, "arguments")),
        }

    def answer(self, message: Message) -> Reply | None:
        """Answer a request; ``None`` for a notification. Whatever goes wrong is an answer as well."""
        if message.id is None:
            return None
        method = self._methods.get(message.method)
        if method is None:
            return failure(message.id, METHOD_NOT_FOUND, f"there is no method {message.method[:80]!r} here")
        try:
            return success(message.id, method(message.params))
        except RecordNotFound as error:
            return failure(message.id, RESOURCE_NOT_FOUND, str(error))
        except InvalidInput as error:
            return failure(message.id, INVALID_PARAMS, str(error))
        except IndelibleError as error:
            return failure(message.id, INTERNAL_ERROR, str(error))
        except Exception:  # a fault of ours: one request fails, the conversation goes on
            traceback.print_exc(file=sys.stderr)
            return failure(message.id, INTERNAL_ERROR, "the server failed on this request; its standard error says how")

    def _initialize(self, params: Params) -> Mapping[str, Any]:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": self._service.name, "title": self._service.title, "version": __version__},
            "instructions": self._service.instructions,
        }


def _text(params: Params, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be a string, got {type(value).__name__}")
    return value


def _object(params: Params, name: str) -> dict[str, Any]:
    value = params.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InvalidInput(f"{name} must be an object, got {type(value).__name__}")
    return value
