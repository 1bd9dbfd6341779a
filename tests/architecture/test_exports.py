"""The public surface is a list."""

from __future__ import annotations

import builtins
import types

import pytest

import indelible
from indelible import errors

DOCUMENTED_TYPES = ["Answer", "Event", "Filter", "Hit", "Memory", "MemoryStore", "Part", "PersistentMemory", "Record", "Scope"]
DOCUMENTED_VERBS = ["ask", "ask_with_memory", "audit_log", "compose_prompt", "delegation"]


def test_all_is_sorted_and_has_no_doubles() -> None:
    """`indelible.__all__` can be read and compared."""
    assert list(indelible.__all__) == sorted(set(indelible.__all__))


@pytest.mark.parametrize("name", sorted(indelible.__all__))
def test_every_exported_name_is_there(name: str) -> None:
    """Each name resolves, also those loaded lazily, and none is a module."""
    assert not isinstance(getattr(indelible, name), types.ModuleType)


def test_nothing_public_is_left_out() -> None:
    """What the package root has without an underscore is in `__all__`, or a submodule."""
    public = {name for name, value in vars(indelible).items() if not name.startswith("_") and not isinstance(value, types.ModuleType)}
    assert public - {"annotations", "TYPE_CHECKING"} <= set(indelible.__all__)


def test_dir_lists_the_exports() -> None:
    """Completion in a shell finds every exported name."""
    assert set(indelible.__all__) <= set(dir(indelible))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """A lazy `__getattr__` does not answer for what is not there."""
    unknown = "no_such_name"
    with pytest.raises(AttributeError, match=unknown):
        getattr(indelible, unknown)


@pytest.mark.parametrize("name", [*DOCUMENTED_TYPES, *DOCUMENTED_VERBS, "__version__"])
def test_the_documented_names_are_exported(name: str) -> None:
    """What the documentation teaches can be imported from the root."""
    assert name in indelible.__all__


def test_no_name_shadows_a_built_in_error() -> None:
    """Nothing is called MemoryError, and nothing else that Python has."""
    assert not {name for name in (*indelible.__all__, *vars(errors)) if hasattr(builtins, name) and not name.startswith("__")}
