"""A store for each test of the command line, with an embedder that needs no model."""

from __future__ import annotations

from pathlib import Path

import pytest

import indelible.embed
from indelible.testing import HashEmbedder
from tests.unit.cli.command import Cli


@pytest.fixture
def embedders(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """What calls in this process asked for as their embedder; each gets the same cheap one."""
    asked: list[object] = []

    def resolve(spec: object = None) -> HashEmbedder:
        asked.append(spec)
        return HashEmbedder()

    monkeypatch.setattr(indelible.embed, "resolve_embedder", resolve)
    return asked


@pytest.fixture
def cli(tmp_path: Path, embedders: list[object]) -> Cli:
    return Cli(tmp_path / "store.db")
