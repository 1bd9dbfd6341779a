"""The tools as JSON Schema: what two providers document, and the same answer as the check of arguments gives."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from indelible import InvalidInput
from indelible.tools import ALL_TOOLS, FACT_TOOLS, TOOLS, Argument, MemoryTool, schema, schemas

ALL = ALL_TOOLS
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
TYPES = {"string", "integer", "number", "boolean", "object", "array", "null"}


def well_formed(node: dict[str, Any]) -> None:
    """The keywords of JSON Schema that both providers take, with values of their kinds."""
    assert set(node) <= {"type", "properties", "required", "additionalProperties", "description", "default", "minimum", "maximum"} | {
        "anyOf", "enum", "items", "minItems", "maxItems",
    }  # fmt: skip
    assert ("type" in node) or ("anyOf" in node)
    assert node.get("type", "string") in TYPES
    for name in node.get("required", []):
        assert name in node["properties"]
    for child in (*node.get("properties", {}).values(), *node.get("anyOf", [])):
        well_formed(child)


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_a_schema_is_closed_and_described(tool: MemoryTool) -> None:
    """An object with nothing besides the described arguments; those without a default are required."""
    made = schema(tool)
    well_formed(made)
    assert made["type"] == "object"
    assert made["additionalProperties"] is False
    assert list(made["properties"]) == [argument.name for argument in tool.fields]
    assert all(about["description"] for about in made["properties"].values())
    assert set(made["required"]) == {name for name, about in made["properties"].items() if "default" not in about}
    assert json.loads(json.dumps(made)) == made
    assert "$ref" not in json.dumps(made)


def test_the_form_of_openai() -> None:
    """A function with name, description and parameters, and nothing else."""
    for tool, made in zip(ALL, schemas(ALL, "openai"), strict=True):
        assert made.keys() == {"type", "function"}
        assert made["type"] == "function"
        assert made["function"].keys() == {"name", "description", "parameters"}
        assert NAME.fullmatch(made["function"]["name"])
        assert len(made["function"]["description"]) <= 1024
        assert made["function"]["parameters"] == schema(tool)


def test_the_form_of_anthropic() -> None:
    """What the types of the official client take."""
    from anthropic.types import ToolParam
    from pydantic import TypeAdapter

    check = TypeAdapter(ToolParam)
    for tool, made in zip(ALL, schemas(ALL, "anthropic"), strict=True):
        assert made == {"name": tool.name, "description": tool.description, "input_schema": schema(tool)}
        assert NAME.fullmatch(made["name"])
        check.validate_python(made)


def test_another_form_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'openai', 'anthropic'"):
        schemas(TOOLS, "gemini")  # type: ignore[arg-type]  # what a caller may try


FIELDS = sorted({argument.name for tool in ALL for argument in tool.fields})
values = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 60) | st.sampled_from([0.5, 1e9 + 0.5, 2**70, "", "x", "up", "view", "/memories/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=2),
    max_leaves=4,
)


def fitting(argument: Argument) -> st.SearchStrategy[Any]:
    """Mostly what the argument takes."""
    kinds: dict[Any, st.SearchStrategy[Any]] = {str: st.sampled_from(["x", "up", "view", ""]), int: st.integers(0, 60)}
    return st.one_of(kinds.get(argument.type, values), values)


@pytest.mark.parametrize("tool", TOOLS + FACT_TOOLS, ids=lambda tool: tool.name)
@given(data=st.data())
def test_a_schema_says_what_is_accepted(tool: MemoryTool, data: st.DataObject) -> None:
    """Valid JSON Schema of the 2020 draft; what it admits the check of arguments admits, and nothing else."""
    made = schema(tool)
    Draft202012Validator.check_schema(made)
    optional = {argument.name: fitting(argument) for argument in tool.fields}
    arguments = data.draw(st.fixed_dictionaries({}, optional=optional) | st.dictionaries(st.sampled_from(FIELDS), values, max_size=3))
    try:
        accepted = tool.checked(arguments) == arguments
    except InvalidInput:
        accepted = False
    assert accepted == Draft202012Validator(made).is_valid(arguments)
