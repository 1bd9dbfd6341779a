"""``--cache-mib``: the stores that are measured keep as much in memory as a run says, whatever the user's own settings are."""

from __future__ import annotations

import os
import sys

import pytest

from benchmarks.speed import __main__ as program
from indelible import MemoryStore
from indelible.faces.engine import DEFAULT_CACHE_BYTES


@pytest.mark.parametrize(("options", "expected"), [([], DEFAULT_CACHE_BYTES), (["--cache-mib", "7"], 7 << 20)])
def test_workers_find_it_in_their_environment(options: list[str], expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []

    class Nothing:
        def __init__(self, **_: object) -> None:
            with MemoryStore(":memory:") as store:
                found.append(store._engine.cache_bytes)
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "environ", os.environ.copy() | {"MEMORY_CACHE_BYTES": "12345"})
    monkeypatch.setattr(program, "Run", Nothing)
    monkeypatch.setattr(sys, "argv", ["benchmarks.speed", "--sizes", "10", *options])
    with pytest.raises(KeyboardInterrupt):
        program.main()
    assert found == [expected]
