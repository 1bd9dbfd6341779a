"""The errors, compared with their drawing in the docstring of `indelible.errors`."""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
import pickle
import re
from typing import NamedTuple

import pytest

from indelible import errors
from tests.architecture.source_tree import core_modules

NODE = re.compile(r"^    (?P<rails>(?:[│ ]   )*(?:[├└]── )?)(?P<name>\w+)\((?P<like>\w+)\)$")


class Drawn(NamedTuple):
    """One line of the drawing: a class, the class it hangs under, and the built-in it resembles."""

    name: str
    parent: str | None
    like: str


def drawing(text: str) -> list[Drawn]:
    """Parse the tree: four columns of rails per level."""
    drawn: list[Drawn] = []
    above: list[str] = []
    for line in text.splitlines():
        if node := NODE.match(line):
            level = len(node["rails"]) // 4
            drawn.append(Drawn(node["name"], above[level - 1] if level else None, node["like"]))
            above[level:] = [node["name"]]
    return drawn


DRAWN = drawing(errors.__doc__ or "")
CLASSES = {name: value for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == errors.__name__}


def example(error: type[Exception]) -> Exception:
    """An instance, with a plain value for each argument it must have."""
    values = {"int": 3, "str": "what was wrong", "bool": True}
    needed = [
        parameter
        for parameter in inspect.signature(error.__init__).parameters.values()
        if parameter.name != "self" and parameter.kind is parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty
    ]
    return error(*(values[str(parameter.annotation)] for parameter in needed)) if needed else error("what was wrong")


def test_the_drawing_names_every_class_once() -> None:
    """No class is missing from the tree, none is drawn that is not there."""
    assert sorted(node.name for node in DRAWN) == sorted(CLASSES)


def test_there_is_one_root() -> None:
    """Exactly one class hangs under nothing."""
    assert [node.name for node in DRAWN if node.parent is None] == ["IndelibleError"]


@pytest.mark.parametrize("node", DRAWN, ids=lambda node: node.name)
def test_a_class_stands_where_it_is_drawn(node: Drawn) -> None:
    """Its base in the library is the class it is drawn under, and it is the built-in beside its name."""
    bases = CLASSES[node.name].__bases__
    assert [base.__name__ for base in bases if base in CLASSES.values()] == ([node.parent] if node.parent else [])
    own_built_ins = [base for base in bases if base not in CLASSES.values()]
    like = getattr(builtins, node.like)
    assert own_built_ins in ([], [like])
    assert issubclass(CLASSES[node.name], like)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_an_error_survives_pickling_and_copying(name: str) -> None:
    """An error raised in a worker process arrives as it was raised: class, message, attributes."""
    error = example(CLASSES[name])
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(other) is type(error)
        assert str(other) == str(error)
        assert vars(other) == vars(error)


def test_retryable_survives_pickling() -> None:
    """Whether trying again may help is not lost on the way."""
    error = pickle.loads(pickle.dumps(errors.StoreUnavailable("busy", retryable=True)))
    assert error.retryable is True


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_an_error_explains_itself(name: str) -> None:
    """Each class says in its docstring what it means."""
    assert (CLASSES[name].__doc__ or "").strip().endswith((".", "has."))


def test_no_error_is_defined_elsewhere() -> None:
    """The tree is whole: no other module of the library defines an error class (fakes of testing may)."""
    known = set(CLASSES) | {name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)}
    strays = [
        f"{module.name}:{node.lineno}: {node.name}"
        for module in core_modules()
        if module.group not in ("errors", "testing")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        and any(isinstance(base, ast.Name | ast.Attribute) and ast.unparse(base).rpartition(".")[2] in known for base in node.bases)
    ]
    assert not strays


def test_the_parser_sees_a_difference() -> None:
    """A small tree with a branch back to a higher level is read as drawn."""
    text = "    A(Exception)\n    ├── B(ValueError)\n    │   └── C(LookupError)\n    └── D(OSError)\n"
    assert drawing(text) == [("A", None, "Exception"), ("B", "A", "ValueError"), ("C", "B", "LookupError"), ("D", "A", "OSError")]
