"""What every test gets: an environment of its own, hypothesis settings, and a way to ask for what a machine may lack."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

Require = Callable[[bool, str], None]

ON_CI = os.environ.get("CI", "").lower() in ("1", "true")

# No deadline anywhere: a shared machine stalls for reasons that are not the code's. A hang ends by pytest-timeout.
_calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("dev", _calm, max_examples=25)
settings.register_profile("ci", _calm, derandomize=True, database=None, print_blob=True)
settings.register_profile("torture", _calm, max_examples=1_000, stateful_step_count=100, print_blob=True)
settings.load_profile("ci" if ON_CI else "dev")


def require(condition: bool, reason: str) -> None:
    """Go on only if the machine has what a test needs: otherwise skip on a laptop and fail on CI.

    Args:
        condition: whether it is there.
        reason: what is missing and how to get it.
    """
    if condition:
        return
    if ON_CI:
        pytest.fail(f"missing on CI, where nothing may be skipped silently: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(name="require", scope="session")
def _require() -> Require:
    return require


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test reads the developer's settings, and none can write to the developer's own memory in the home folder."""
    for name in os.environ:
        if name.startswith(("MEMORY_", "SENSE_MEMORY_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _small_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stores pack their keyword index and vectors, too, so that most of it is packed and a little waits, as in a large one."""
    monkeypatch.setattr("indelible.backend.sqlite.postings.PACK", 3)
    monkeypatch.setattr("indelible.backend.sqlite.postings.FEW", 1)
    monkeypatch.setattr("indelible.backend.sqlite.packs.PACK", 3)


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second question about a slice already goes by the words that are kept of it."""
    monkeypatch.setattr("indelible.faces.word_cache.PATIENCE", 1)
