"""The layers of the package, and what no module may do, read from the syntax trees."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.architecture.source_tree import (
    RANKS,
    Module,
    core_modules,
    forbidden_calls,
    forbidden_imports,
    private_imports,
    sql_strings,
    upward_imports,
)

MODULES = core_modules()
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name or "__init__")


def test_the_tree_is_there() -> None:
    """The walk found the package: an empty walk would pass everything below."""
    layers = {"errors", "_version", "base", "backend", "embed", "search", "faces", "tools", "cli", "testing"}
    assert layers <= {module.group for module in MODULES}


@each_module
def test_every_module_has_a_layer(module: Module) -> None:
    """A new top-level module must be given its place in the order first."""
    assert module.group in RANKS


@each_module
def test_imports_point_down(module: Module) -> None:
    """errors, _version < base < backend | embed | search < faces < the package root | tools < mcp | testing < cli."""
    assert not upward_imports(module)


@each_module
def test_no_layer_reaches_into_another(module: Module) -> None:
    """Between layers only public names are used; testing and the adapters show that they suffice."""
    assert not private_imports(module)


@each_module
def test_nothing_unpickles_or_connects(module: Module) -> None:
    """S51, S84: no module imports a serialiser that runs code, or anything that opens a connection."""
    assert not forbidden_imports(module)


@each_module
def test_nothing_runs_text_as_code(module: Module) -> None:
    """S84: no eval, exec, compile or __import__, and no import of a name found in data."""
    assert not forbidden_calls(module)


@pytest.mark.parametrize(
    "module", [module for module in MODULES if module.group not in ("backend", "testing")], ids=lambda module: module.name or "__init__"
)
def test_sql_stands_in_the_backend_only(module: Module) -> None:
    """Faces, search and the command line know verbs of the backend, not its language (testing's back door reads the file itself)."""
    assert not sql_strings(module)


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (upward_imports, "base.clock", "from indelible.backend import sqlite"),
        (upward_imports, "base.clock", "def f():\n    import indelible.faces"),
        (upward_imports, "base.clock", "from ..search import rank"),
        (upward_imports, "base.clock", "from indelible import Memory"),
        (upward_imports, "backend.sqlite.write", "from ...embed import onnx"),
        (upward_imports, "backend.sqlite.write", "from indelible.search.rank import fuse"),
        (upward_imports, "search.rank", "from indelible.backend.sqlite import connection"),
        (upward_imports, "faces.store", "import indelible.cli"),
        (upward_imports, "errors", "from indelible._version import __version__"),
        (upward_imports, "testing.suite", "from indelible.cli import main"),
        (upward_imports, "tools.x", "from indelible.mcp.service import Service"),
        (private_imports, "testing.suite", "from indelible.backend.sqlite import _connect"),
        (private_imports, "faces.store", "from indelible.base._hidden import thing"),
        (forbidden_imports, "base.x", "import pickle"),
        (forbidden_imports, "base.x", "from http.client import HTTPConnection"),
        (forbidden_imports, "base.x", "from urllib import request"),
        (forbidden_imports, "mcp.stdio", "import uvicorn"),
        (forbidden_imports, "mcp.http", "import socket"),
        (forbidden_imports, "mcp.sdk", "import uvicorn"),
        (forbidden_calls, "base.x", "eval('1')"),
        (forbidden_calls, "base.x", "import importlib\nimportlib.import_module(name)"),
        (sql_strings, "faces.x", "q = f'SELECT * FROM event WHERE id = {x}'"),
        (sql_strings, "faces.x", "q = 'select id from event'"),
        (sql_strings, "faces.x", "q = 'pragma journal_mode'"),
        (sql_strings, "cli.x", "q = f'{head} ORDER BY {tail}'"),
    ],
)
def test_each_rule_can_fail(rule: Callable[[Module], list[str]], name: str, text: str) -> None:
    """A module that breaks a rule is caught by that rule."""
    assert rule(Module(name, text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("base.clock", "from indelible.errors import InvalidInput\nfrom indelible.base._text import trim\nfrom .ids import new_id"),
        ("faces.store", "from indelible.search import rank\nfrom ..backend import Backend\nfrom urllib.parse import quote\nimport re"),
        ("faces.store", "import re\nimport importlib\nre.compile('x')\nimportlib.import_module('onnxruntime')"),
        ("testing.suite", "from indelible import MemoryStore\nfrom indelible._version import __version__"),
        ("faces.x", "'''SELECT a FROM b'''\nm = 'choose another one, or delete from the list; update the set where needed'"),
        ("cli.__main__", "from indelible.cli import main"),
        ("__main__", "from indelible.cli import main"),
        ("mcp.http", "import uvicorn\nfrom mcp.server.transport_security import TransportSecuritySettings"),
        ("mcp.sdk", "from mcp.server.lowlevel import Server\nfrom indelible.tools import Toolbox"),
    ],
)
def test_what_is_allowed_passes(name: str, text: str) -> None:
    """The rules do not cry wolf."""
    module = Module(name, text)
    for rule in (upward_imports, private_imports, forbidden_imports, forbidden_calls, sql_strings):
        assert not rule(module)
