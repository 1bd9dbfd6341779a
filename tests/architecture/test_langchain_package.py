"""The adapter translates: it has no SQL, no ranking, no hashing and no text for a model, and its files are short."""

from __future__ import annotations

import ast
import importlib
import types
from collections.abc import Callable, Iterator

import pytest

import langchain_indelible
from tests.architecture.source_tree import ROOT, Module, forbidden_calls, forbidden_imports, sql_strings

SOURCES = ROOT / "packages" / "langchain" / "src" / "langchain_indelible"
LONGEST_FILE = 200
LONGEST_TEXT = 4
"""Words of a text that stands neither in an error nor in a docstring; what is longer is prose, and prose is for a model."""
BELOW_THE_FACES = ("indelible.backend", "indelible.base.plan", "indelible.base.draft")
ENGINES = ("sqlite3", "apsw", "numpy")
HASHES = ("hashlib", "hmac", "zlib", "binascii", "xxhash")
ARITHMETIC = ("heapq", "bisect", "math.sqrt", "math.hypot", "math.dist", "math.sumprod", "math.fsum")
VOCABULARY = ("indelible.search.filter_tree", "indelible.search.filters", "indelible.search.budget")
"""What of the core's search is a user's own words: conditions, and what a text costs."""
ORDERING = frozenset({"sorted", "sort", "max", "min", "nlargest", "nsmallest"})
RANKED_BY = ("score", "rank", "cosine", "distance", "similarity")


def modules() -> list[Module]:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        labels = path.relative_to(SOURCES).with_suffix("").parts
        is_package = labels[-1] == "__init__"
        found.append(Module(".".join(labels[:-1] if is_package else labels), path.read_text(encoding="utf-8"), is_package))
    return found


each_module = pytest.mark.parametrize("module", modules(), ids=lambda module: module.name or "__init__")


def test_the_tree_is_there() -> None:
    """The walk found the package."""
    assert {"", "store.store", "testing.conformance"} <= {module.name for module in modules()}


# The rules, each a function from a module to what breaks it


def too_long(module: Module) -> list[str]:
    """Files that nobody can hold in mind."""
    lines = len(module.text.splitlines())
    return [f"{module.name}: {lines} lines"] if lines > LONGEST_FILE else []


def _imported(module: Module, names: tuple[str, ...]) -> list[str]:
    return [name for _, name in module.imports() if any(name == banned or name.startswith(banned + ".") for banned in names)]


def engines(module: Module) -> list[str]:
    """The engine, arithmetic on vectors, and what lies below the faces."""
    return _imported(module, ENGINES) + _imported(module, BELOW_THE_FACES)


def _calls(module: Module) -> list[ast.Call]:
    return [node for node in ast.walk(module.tree) if isinstance(node, ast.Call)]


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else call.func.attr if isinstance(call.func, ast.Attribute) else ""


def hashing(module: Module) -> list[str]:
    """Hashes, also Python's own."""
    own = [f"{module.name}:{call.lineno}: hash()" for call in _calls(module) if isinstance(call.func, ast.Name) and call.func.id == "hash"]
    return _imported(module, HASHES) + own


def ranking(module: Module) -> list[str]:
    """The core's search but for its vocabulary, arithmetic, and anything put in order by how well it matches."""
    search = [name for name in _imported(module, ("indelible.search",)) if not name.startswith(VOCABULARY)]
    ordered = [
        f"{module.name}:{call.lineno}: {_called(call)}() by {word}"
        for call in _calls(module)
        if _called(call) in ORDERING and not _clamps(call)
        for word in sorted({word for name in _names_in(call) for word in RANKED_BY if word in name.lower()})
    ]
    return search + _imported(module, ARITHMETIC) + ordered


def _names_in(call: ast.Call) -> Iterator[str]:
    for node in ast.walk(call):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def _clamps(call: ast.Call) -> bool:
    """Half of ``min(max(x, 0.0), 1.0)``: it brings one number within bounds and orders nothing."""
    return len(call.args) == 2 and not call.keywords and any(isinstance(bound, ast.Constant) for bound in call.args)


def prompt_text(module: Module) -> list[str]:
    """Prose that is neither a docstring nor part of an error or a warning: it would be read by a model."""
    said = {
        id(inner)
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _called(node) == "warn")
        for inner in ast.walk(node)
    }
    docstrings = {id(node.value) for node in ast.walk(module.tree) if isinstance(node, ast.Expr)}
    return [
        f"{module.name}:{node.lineno}: {node.value[:60]!r}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said | docstrings
        if len(node.value.split()) > LONGEST_TEXT
    ]


def unsafe(module: Module) -> list[str]:
    """S51, S84: what unpickles, runs text as code, or connects. The package itself may import by the names of its own table."""
    return forbidden_imports(module) + [call for call in forbidden_calls(module) if "import_module" not in call or module.name]


def private_names(module: Module) -> list[str]:
    """Names of the core that begin with an underscore."""
    core = [name for _, name in module.imports() if name.startswith("indelible.")]
    return [name for name in core if any(label.startswith("_") for label in name.split("."))]


RULES: dict[Callable[[Module], list[str]], list[str]] = {
    too_long: ["x = 1\n" * (LONGEST_FILE + 1)],
    sql_strings: ["q = 'select key from items'", "q = f'DELETE FROM {table}'"],
    engines: [
        "import sqlite3",
        "import numpy as np",
        "from indelible.backend.sqlite import SqliteBackend",
        "from indelible.base.plan import Planner",
    ],
    hashing: ["import hashlib", "from hashlib import sha256", "def f(x):\n    import zlib", "key = hash(text)"],
    ranking: [
        "from indelible.search.fusion import fuse",
        "from indelible.search import keyword",
        "import heapq",
        "from math import sqrt",
        "found = sorted(hits, key=lambda hit: -hit.score)",
        "hits.sort(key=lambda hit: hit.rank_score)",
        "best = max(items, key=score_of)",
        "found = sorted(hits, key=lambda hit: hit['distance'])[:limit]",
    ],
    prompt_text: [
        "HEADER = 'You are a helpful assistant with a memory.'",
        "def f(facts):\n    return f'Here is what I know about you: {facts}'",
        "def f(content):\n    return Tool(description='Keep a fact for later conversations.')",
    ],
    unsafe: ["import pickle", "eval('1')", "import httpx"],
    private_names: ["from indelible.faces.store import _secret"],
}
"""Each rule, and what it must catch."""


@each_module
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Callable[[Module], list[str]], module: Module) -> None:
    """Every module. The conformance kit is a set of tests, which compare scores and have prose to embed; the rest holds for it too."""
    if module.group != "testing" or rule not in (ranking, prompt_text):
        assert rule(module) == []


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in RULES.items() for text in texts])
def test_each_rule_can_fail(rule: Callable[[Module], list[str]], text: str) -> None:
    """A module that breaks a rule is caught by that rule."""
    assert rule(Module("planted", text))


@pytest.mark.parametrize(
    "text",
    [
        "'''Keep a fact for later conversations, and another.'''\nraise ValueError('this is what was wrong with the value you gave')",
        "import warnings\nwarnings.warn(f'several output keys were given, and {one} is taken', stacklevel=2)",
        "relevance = min(max(cosine, 0.0), 1.0)",
        "keys = sorted(found)\nlast = max(times)\nfrom indelible.search.filters import parse_filter",
        "from indelible import Collection\nfrom indelible.faces.known import memory_block",
    ],
)
def test_what_is_allowed_passes(text: str) -> None:
    """Errors, docstrings, orders that are no ranks, and the core's public names."""
    assert not [found for rule in RULES for found in rule(Module("fine", text))]


@pytest.mark.parametrize("name", sorted(langchain_indelible.__all__))
def test_every_exported_name_is_there(name: str) -> None:
    """Each resolves, though loaded when first used, and none is a module."""
    assert not isinstance(getattr(langchain_indelible, name), types.ModuleType)


def test_all_is_sorted() -> None:
    """And has no doubles; a name that is not there is an ``AttributeError``."""
    assert list(langchain_indelible.__all__) == sorted(set(langchain_indelible.__all__))
    with pytest.raises(AttributeError):
        importlib.import_module("langchain_indelible").nothing  # noqa: B018 - looking it up is the test
