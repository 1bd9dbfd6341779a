"""The adapter for LlamaIndex translates: what may not stand in it, and how long its files may be."""

from __future__ import annotations

import ast
import types

import pytest

import llama_index_indelible
from tests.architecture.source_tree import ROOT, Module, forbidden_calls, forbidden_imports, sql_strings

SOURCES = ROOT / "packages" / "llamaindex" / "src" / "llama_index_indelible"
LIMIT = 250
BELOW_THE_FACES = ("indelible.backend", "indelible.base.plan", "indelible.base.draft", "indelible.base.event")
FORBIDDEN_HERE = ("sqlite3", "hashlib", "hmac", "zlib", "numpy", "math.sqrt", "math.hypot", "heapq", "bisect", "statistics")
"""The engine, hashing, vector arithmetic and ranking are the core's."""
ORDERING = ("sorted", "sort", "max", "min", "nlargest", "nsmallest")
PROSE_WORDS = 8
"""A text of so many words that is neither a docstring nor said in an error would be a prompt."""


def modules() -> list[Module]:
    found = []
    for path in sorted(SOURCES.rglob("*.py")):
        labels = path.relative_to(SOURCES).with_suffix("").parts
        is_package = labels[-1] == "__init__"
        found.append(Module(".".join(labels[:-1] if is_package else labels), path.read_text(encoding="utf-8"), is_package))
    return found


each_module = pytest.mark.parametrize("module", modules(), ids=lambda module: module.name or "__init__")


def said_in_errors(module: Module) -> set[int]:
    """Lines of what is raised."""
    raised = [node for node in ast.walk(module.tree) if isinstance(node, ast.Raise)]
    makers = [node for node in ast.walk(module.tree) if isinstance(node, ast.Return) and _makes_an_error(node)]
    return {line for node in [*raised, *makers] for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def _makes_an_error(node: ast.Return) -> bool:
    return isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "InvalidInput"


def prompt_texts(module: Module) -> list[str]:
    """Texts that a model might be meant to read."""
    errors = said_in_errors(module)
    comments = {node.lineno for node in ast.walk(module.tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)}
    shown = [(line, text) for line, text in module.strings() if line not in errors and line not in comments]
    return [f"{module.name}:{line}: {text}" for line, text in shown if _is_prose(text)]


def _is_prose(text: str) -> bool:
    words = text.split()
    return (len(words) >= PROSE_WORDS and not all(map(str.isidentifier, words))) or "<" in text


def rankings(module: Module) -> list[int]:
    """Lines where something is put in an order of its own; names may be sorted as they are."""
    found = []
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if called in ORDERING and (node.keywords or called in ("nlargest", "nsmallest")):
                found.append(node.lineno)
    return found


def test_the_tree_is_there() -> None:
    """The walk found the package."""
    assert {"", "vector_store", "memory_block", "chat_store", "tools"} <= {module.name for module in modules()}


@each_module
def test_a_file_is_short(module: Module) -> None:
    """It can be read at once."""
    assert len(module.text.splitlines()) <= LIMIT


@each_module
def test_it_has_no_statements_of_an_engine(module: Module) -> None:
    """No SQL."""
    assert not sql_strings(module)


@each_module
def test_it_neither_unpickles_nor_connects(module: Module) -> None:
    """S51, S84: nor runs text as code."""
    assert not forbidden_imports(module)
    assert not forbidden_calls(module)


@each_module
def test_it_computes_nothing_of_its_own(module: Module) -> None:
    """No engine, hashing or arithmetic on vectors, and nothing below the faces but what is public there."""
    names = [name for _, name in module.imports()]
    assert not [name for name in names if any(name == banned or name.startswith(banned + ".") for banned in FORBIDDEN_HERE)]
    assert not [name for name in names if name.startswith(BELOW_THE_FACES)]


@each_module
def test_it_ranks_nothing(module: Module) -> None:
    """What comes first is decided by the core."""
    assert not rankings(module)


@each_module
def test_it_has_no_text_for_a_model(module: Module) -> None:
    """Prompts, tags and descriptions of tools are the core's."""
    assert not prompt_texts(module)


@each_module
def test_it_uses_public_names_only(module: Module) -> None:
    """No name of the core that begins with an underscore is imported."""
    core = [name for _, name in module.imports() if name.startswith("indelible.")]
    assert not [name for name in core if any(label.startswith("_") for label in name.split("."))]


@pytest.mark.parametrize("name", sorted(llama_index_indelible.__all__))
def test_every_exported_name_is_there(name: str) -> None:
    """Each resolves, though loaded when first used, and none is a module."""
    assert not isinstance(getattr(llama_index_indelible, name), types.ModuleType)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("TEXT = 'You are a helpful assistant; use what is known to answer.'", prompt_texts),
        ("TEXT = f'<memory>{1}</memory>'", prompt_texts),
        ("rows = 'SELECT a FROM b'", sql_strings),
        ("best = sorted(rows, key=len)", rankings),
        ("import pickle", forbidden_imports),
    ],
)
def test_the_rules_find_what_breaks_them(text: str, rule: object) -> None:
    """Each rule, on a module that breaks it."""
    assert callable(rule)
    assert rule(Module("sample", text))


def test_what_is_said_in_an_error_is_no_prompt() -> None:
    """Nor is a docstring."""
    docstring, error = (
        "A docstring of many words; it is for people and not for models.",
        "so many words; all of them in an error, for people",
    )
    text = f'"""{docstring}"""\nraise ValueError("{error}")'
    assert not prompt_texts(Module("sample", text))
