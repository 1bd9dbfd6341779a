"""The files are for whoever reads them anywhere: nothing in them points to one machine or to how they came about."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.conftest import Require

# Each pattern has a character class where it would otherwise match its own line.
FOREIGN = {
    "a path of one machine": r"(?<![\w.-])/(wor[k]|roo[t]|hom[e]/\w+|User[s]/\w+)(?=/|\b)",
    "a number of a tracker": r"\b(?i:issue|issues|pull request|PR|closes|fixes)\s+#\d+",
    "a folder outside the project": r"(?<![\w/-])share[d]/",
    "a note about who does what": r"\bbrie[f]\.md\b|\bsub-?agen[t]s?\b",
    "a host of a package registry": r"\b(pypi\.or[g]|files\.pythonhosted\.or[g]|registry\.npmjs\.or[g]|deb\.debian\.or[g])\b",
}


@cache
def project_files() -> tuple[str, list[Path]]:
    """What git tracks or would add, and git's complaint if there is one."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        return "git is not installed", []
    paths = [ROOT / name for name in done.stdout.split("\0") if name]
    return ("" if done.returncode == 0 else done.stderr.strip() or "not a git checkout"), [path for path in paths if path.is_file()]


def text_of(path: Path) -> str:
    """The text of a file, empty for a binary one."""
    data = path.read_bytes()
    return "" if b"\0" in data[:8192] else data.decode("utf-8", errors="replace")


def foreign_lines(text: str, pattern: str) -> list[str]:
    return [f"{number}: {line.strip()[:100]}" for number, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)]


@pytest.mark.parametrize("kind", FOREIGN)
def test_no_file_speaks_of(kind: str, require: Require) -> None:
    """No tracked text names a machine's path, a tracker's number, a folder outside, or a registry's host."""
    complaint, paths = project_files()
    require(not complaint, f"needs a git checkout: {complaint}")
    assert ROOT / "pyproject.toml" in paths
    found = {str(path.relative_to(ROOT)): lines for path in paths if (lines := foreign_lines(text_of(path), FOREIGN[kind]))}
    assert not found


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("a path of one machine", "see /wor" + "k/main"),
        ("a path of one machine", "PATH = '/roo" + "t/.cache'"),
        ("a path of one machine", "/hom" + "e/ada/x"),
        ("a number of a tracker", "this closes " + "#12"),
        ("a folder outside the project", "read share" + "d/data"),
        ("a note about who does what", "as the brie" + "f.md says"),
        ("a host of a package registry", "https://pypi.or" + "g/simple"),
    ],
)
def test_each_pattern_can_fail(kind: str, text: str) -> None:
    """A line that should be found is found."""
    assert foreign_lines(text, FOREIGN[kind])


@pytest.mark.parametrize("text", ["a framework/workspace", "the root/leaf", "a ./work folder", "rshared/x", "the session's home"])
def test_plain_words_are_no_paths(text: str) -> None:
    """Ordinary text is left alone."""
    assert not [kind for kind, pattern in FOREIGN.items() if foreign_lines(text, pattern)]
