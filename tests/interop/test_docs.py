"""The documentation and the project agree: numbers that tests cite are explained, and what pages point to is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT

SEMANTICS = ROOT / "docs" / "semantics.md"
PAGES = [ROOT / "README.md", ROOT / "docs" / "semantics.md", ROOT / "docs" / "architecture.md", ROOT / "benchmarks" / "README.md"]
PAGES += [ROOT / "examples" / "data" / "longmemeval_sample" / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
PAGES += [ROOT / "docs" / name for name in ("mcp.md", "tools.md", "langchain.md", "llamaindex.md")]
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_QUOTED = re.compile(r"`((?:tests|docs|examples|benchmarks|models|packages)/[\w./-]*)`")


def explained() -> list[int]:
    """The numbers of the lines of the page on behaviour, in their order."""
    return [int(number) for number in re.findall(r"^\*\*S(\d+)\.\*\*", SEMANTICS.read_text(encoding="utf-8"), re.MULTILINE)]


def cited(text: str) -> set[int]:
    """The numbers that a text cites, ``S41`` or ``S80, S83``."""
    return {int(number) for number in re.findall(r"\bS(\d{1,2})\b", text)}


def docstrings(text: str) -> str:
    """The docstrings of a module, one after the other."""
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    return "\n".join(ast.get_docstring(node) or "" for node in ast.walk(ast.parse(text)) if isinstance(node, kinds))


def test_the_numbers_rise() -> None:
    """No line stands twice, and all are there that the first edition had."""
    numbers = explained()
    assert numbers == sorted(set(numbers))
    first = {*range(1, 16), *range(20, 26), *range(30, 38), *range(40, 52), 60, 61, 62, *range(70, 77), *range(80, 89)}
    assert first <= set(numbers)


def test_every_number_that_a_test_cites_is_explained() -> None:
    """A docstring that says S41 points to a line that exists."""
    texts = {path: path.read_text(encoding="utf-8") for folder in ("tests", "packages") for path in (ROOT / folder).rglob("*.py")}
    known = set(explained())
    unknown = {str(path.relative_to(ROOT)): missing for path, text in texts.items() if (missing := cited(docstrings(text)) - known)}
    assert not unknown
    assert cited("S41: as in S80, S83; not S3B or XS2") == {41, 80, 83}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_page_points_to_is_there(page: Path) -> None:
    """Links within the project, and paths of it in code type, lead somewhere."""
    text = page.read_text(encoding="utf-8")
    links = [page.parent / target for target in _LINK.findall(text)] + [ROOT / target for target in _QUOTED.findall(text)]
    assert [str(target) for target in links if not target.exists()] == []
