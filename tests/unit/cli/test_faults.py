"""S14, S88: every verb of the command line on a file that is none of ours, or may not be opened: one line, exit code 5, nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from indelible.cli.application import VERBS
from indelible.errors import IndelibleError
from tests.crash.test_strangers import STRANGERS
from tests.unit.cli.command import Cli
from tests.unit.cli.test_scoping import FACT_VERBS

WITHOUT_A_STORE = {"path", "restore-backup", "mcp"}
"""They open none, or make a new one, or are a server of their own (whose tests start it)."""
CALLS = [
    *FACT_VERBS, ["scopes"], ["export", "out.jsonl"], ["import", "in.jsonl"], ["backup", "copy.db"], ["verify"], ["rebuild"], ["reindex"],
    ["vacuum"], ["health"], ["doctor"], ["quarantine"],
]  # fmt: skip


def test_every_verb_is_called() -> None:
    """A new verb must come into the table."""
    assert {call[0] for call in CALLS} == set(VERBS) - WITHOUT_A_STORE


@pytest.mark.parametrize("arguments", CALLS, ids=lambda arguments: arguments[0])
@pytest.mark.parametrize(("make", "error"), STRANGERS)
def test_what_is_not_ours_is_left_alone(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    make: Callable[[Path], None],
    error: type[IndelibleError],
) -> None:
    """The line names the file; not a byte of it is changed, and nothing is put beside it."""
    place = tmp_path / "place"
    place.mkdir()
    monkeypatch.chdir(place)
    (place / "in.jsonl").write_text('{"content": "tea"}\n')
    path = place / "stranger"
    make(path)
    before = None if path.is_dir() else path.read_bytes()
    files = sorted(file.name for file in place.iterdir())
    assert "stranger" in cli.bad(5, *arguments, "--db", str(path))
    assert (None if path.is_dir() else path.read_bytes()) == before
    assert sorted(file.name for file in place.iterdir()) == files
