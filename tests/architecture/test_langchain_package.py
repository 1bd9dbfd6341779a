"""The adapter translates: what may not stand in it, and how long its files may be."""

from __future__ import annotations

import importlib
import types

import pytest

import langchain_indelible
from tests.architecture.source_tree import ROOT, Module, forbidden_calls, forbidden_imports, sql_strings

SOURCES = ROOT / "packages" / "langchain" / "src" / "langchain_indelible"
LIMIT = 250
BELOW_THE_FACES = ("indelible.backend", "indelible.base.plan", "indelible.base.draft")
FORBIDDEN_HERE = ("sqlite3", "hashlib", "hmac", "zlib", "numpy")
"""The engine, hashing and vector arithmetic are the core's."""


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


@each_module
def test_a_file_is_short(module: Module) -> None:
    """About two hundred lines."""
    assert len(module.text.splitlines()) <= LIMIT


@each_module
def test_it_has_no_statements_of_an_engine(module: Module) -> None:
    """No SQL."""
    assert not sql_strings(module)


@each_module
def test_it_neither_unpickles_nor_connects(module: Module) -> None:
    """S51, S84: nor runs text as code."""
    calls = [call for call in forbidden_calls(module) if "import_module" not in call or module.name]
    assert not forbidden_imports(module)
    assert not calls


@each_module
def test_it_computes_nothing_of_its_own(module: Module) -> None:
    """No engine, hashing or arithmetic on vectors, and nothing below the faces but what is public there."""
    names = [name for _, name in module.imports()]
    assert not [name for name in names if any(name == banned or name.startswith(banned + ".") for banned in FORBIDDEN_HERE)]
    assert not [name for name in names if name.startswith(BELOW_THE_FACES)]


@each_module
def test_it_uses_public_names_only(module: Module) -> None:
    """No name of the core that begins with an underscore is imported."""
    core = [name for _, name in module.imports() if name.startswith("indelible.")]
    assert not [name for name in core if any(label.startswith("_") for label in name.split("."))]


@pytest.mark.parametrize("name", sorted(langchain_indelible.__all__))
def test_every_exported_name_is_there(name: str) -> None:
    """Each resolves, though loaded when first used, and none is a module."""
    assert not isinstance(getattr(langchain_indelible, name), types.ModuleType)


def test_all_is_sorted() -> None:
    """And has no doubles; a name that is not there is an ``AttributeError``."""
    assert list(langchain_indelible.__all__) == sorted(set(langchain_indelible.__all__))
    with pytest.raises(AttributeError):
        importlib.import_module("langchain_indelible").nothing  # noqa: B018 - looking it up is the test
