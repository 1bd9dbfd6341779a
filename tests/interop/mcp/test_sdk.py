"""What the other tests here need."""

from __future__ import annotations

from importlib.util import find_spec

from tests.conftest import Require


def test_the_sdk_is_there(require: Require) -> None:
    """Its client is the judge of the server; without it nothing here is tested."""
    require(find_spec("mcp") is not None, 'needs the official MCP SDK: pip install "indelible[mcp]"')
