"""The source tree as data: its modules, what they import, and the rules a syntax tree can break. No test of its own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "packages" / "core" / "src" / "indelible"

# A module may import its own group and every group of a smaller rank; groups of one rank never import each other.
RANKS = {
    "errors": 0,
    "_version": 0,
    "base": 1,
    "backend": 2,
    "embed": 2,
    "search": 2,
    "faces": 3,
    "": 4,  # indelible/__init__.py: the public names
    "tools": 4,  # memory as tools for models: above faces, and nothing that the public names load
    "mcp": 5,  # those tools, served
    "cli": 6,
    "__main__": 7,
    "testing": 5,
}

# Serialisers that run what they read; and everything that opens a connection.
FORBIDDEN_IMPORTS = frozenset(
    {"pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
    | {"socket", "socketserver", "ssl", "http", "urllib.request", "ftplib", "smtplib", "poplib", "imaplib", "xmlrpc"}
    | {"requests", "httpx", "aiohttp", "urllib3"}
    | {"mcp", "mcp_types", "uvicorn", "starlette", "httpx2"}
)
SERVER_IMPORTS = {"mcp.sdk": frozenset({"mcp", "mcp_types"}), "mcp.http": frozenset({"mcp", "uvicorn"})}
"""What two modules import: that which speaks the protocol by the official SDK, and that which opens a socket, on the loopback interface."""
FORBIDDEN_CALLS = frozenset({"eval", "exec", "compile", "__import__"})

# A statement at the start of a string in any case; elsewhere only what nobody writes in capitals in a sentence.
SQL = re.compile(
    r"^\s*(?i:select\b.+\bfrom\b|insert\s+(or\s+\w+\s+)?into\b|replace\s+into\b|update\s+\w+\s+set\b|delete\s+from\b|with\s+\w+\s+as\s*\("
    r"|create\s+(virtual\s+|temp\s+|unique\s+)*(table|index|trigger|view)\b|drop\s+(table|index|trigger)\b|alter\s+table\b|pragma\s+\w+)"
    r"|\b(SELECT\s|FROM\s|WHERE\s|ORDER BY|GROUP BY|INSERT (OR \w+ )?INTO|DELETE FROM|UPDATE \w+ SET)"
    r"|\b(PRAGMA\s|MATCH \?|BEGIN IMMEDIATE|ROLLBACK)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Module:
    """One module of the package: its dotted name below ``indelible`` ("" for the package itself) and its text."""

    name: str
    text: str
    is_package: bool = False

    @property
    def group(self) -> str:
        """The layer it belongs to: the first label of its name."""
        return self.name.partition(".")[0]

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and full dotted name of everything imported, also inside functions and for type checkers only.

        ``from a import b`` gives ``a.b``: whether b is a module or a name in one does not matter to the rules.
        """
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        own = ["indelible", *filter(None, self.name.split("."))]
        package = own if self.is_package else own[:-1]
        return ".".join([*package[: len(package) - node.level + 1], *filter(None, [node.module])])

    def inner_imports(self) -> Iterator[tuple[int, str]]:
        """Those of the package itself, named below it: ``base.record.Record``."""
        for line, name in self.imports():
            if name == "indelible" or name.startswith("indelible."):
                yield line, name.removeprefix("indelible").removeprefix(".")

    def strings(self) -> Iterator[tuple[int, str]]:
        """Every text constant, pieces of f-strings included, docstrings not."""
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield node.lineno, node.value


def core_modules() -> list[Module]:
    """Every module below packages/core/src/indelible."""
    modules = []
    for path in sorted(CORE.rglob("*.py")):
        labels = path.relative_to(CORE).with_suffix("").parts
        is_package = labels[-1] == "__init__"
        name = ".".join(labels[:-1] if is_package else labels)
        modules.append(Module(name, path.read_text(encoding="utf-8"), is_package))
    return modules


def target_group(inner: str) -> str:
    """The layer an inner import reaches; a name of the package root, such as ``indelible.Memory``, counts as the root."""
    first = inner.partition(".")[0]
    return first if first in RANKS else ""


def upward_imports(module: Module) -> list[str]:
    """Imports that do not point down."""
    own = RANKS[module.group]
    wrong = []
    for line, inner in module.inner_imports():
        target = target_group(inner)
        if target != module.group and RANKS[target] >= own:
            wrong.append(f"{module.name or '__init__'}:{line}: {module.group or 'the package root'} imports {inner or 'the package root'}")
    return wrong


def private_imports(module: Module) -> list[str]:
    """Imports of names that begin with an underscore, from another layer."""
    return [
        f"{module.name}:{line}: {inner}"
        for line, inner in module.inner_imports()
        if target_group(inner) != module.group
        and any(label.startswith("_") and not label.startswith("__") and label != "_version" for label in inner.split("."))
    ]


def forbidden_imports(module: Module) -> list[str]:
    """Imports of serialisers that run code, or of anything that talks to a network."""
    forbidden = FORBIDDEN_IMPORTS - SERVER_IMPORTS.get(module.name, frozenset())
    return [
        f"{module.name}:{line}: import {name}"
        for line, name in module.imports()
        if any(name == banned or name.startswith(banned + ".") for banned in forbidden)
    ]


def forbidden_calls(module: Module) -> list[str]:
    """Calls that run text as code, and imports of a name found in data.

    The package's own ``__init__`` may import by a name from its table of public names.
    """
    wrong = []
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if isinstance(node.func, ast.Name) and called in FORBIDDEN_CALLS:
            wrong.append(f"{module.name}:{node.lineno}: {called}()")
        if called == "import_module" and module.name and not (node.args and isinstance(node.args[0], ast.Constant)):
            wrong.append(f"{module.name}:{node.lineno}: import_module of a name that is not written there")
    return wrong


def sql_strings(module: Module) -> list[str]:
    """Text constants that look like SQL."""
    return [f"{module.name}:{line}: {text.strip()[:60]!r}" for line, text in module.strings() if SQL.search(text)]
