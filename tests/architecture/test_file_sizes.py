"""A file that nobody can hold in mind is split."""

from __future__ import annotations

from tests.architecture.source_tree import ROOT

LIMIT = 400
FOLDERS = ("packages", "tests", "benchmarks", "examples")


def test_no_file_is_too_long() -> None:
    """No Python file of ours has more than 400 lines."""
    lengths = {
        str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines())
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*.py")
    }
    assert "packages/core/src/indelible/errors.py" in lengths
    assert not {path: length for path, length in lengths.items() if length > LIMIT}
