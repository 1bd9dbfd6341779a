"""Rerankers that need no model. No test of its own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest


class Longest:
    """Thinks that the longest text answers best, whatever was asked."""

    id = "longest"

    def __init__(self) -> None:
        self.seen: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.seen.append((query, list(texts)))
        return [len(text) / (1 + len(text)) for text in texts]

    def check_installed(self) -> None:
        """It always is."""


def in_place_of_the_bundled(monkeypatch: pytest.MonkeyPatch) -> Longest:
    """What ``rerank=True`` asks in this test."""
    stand_in = Longest()
    for module in ("faces.request", "faces.reranking", "tools.toolbox", "embed.onnx_reranker"):
        monkeypatch.setattr(f"indelible.{module}.bundled_reranker", lambda: stand_in)
    return stand_in
