"""The demo runs, and it cannot lie: a false claim, planted in it or made false by a broken library, ends it with an error."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.architecture.source_tree import ROOT
from tests.interop.programs import run

EXAMPLES = ROOT / "examples"
SAMPLE = EXAMPLES / "data" / "longmemeval_sample"
MOST_SAMPLE_TURNS = 300

# Each takes one power from the library and says that all is well.
SABOTAGE = {
    "purge destroys nothing": "from indelible.faces.facts_write import FactWrites as C; C.purge = lambda self, id, reason='request': 1",
    "verify finds nothing": "from indelible.backend.interface import Report\n"
    "from indelible.faces.store import MemoryStore as C\n"
    "C.verify = lambda self: Report(True, self.version, {'0': (1, '0')}, ())",
    "as_of answers with now": "from indelible import PersistentMemory as C; C.as_of = lambda self, key, version: self.recall(key)",
    "forget leaves no trace": "from indelible import PersistentMemory as C\n"
    "old = C.versions\n"
    "C.versions = lambda self, key: [v for v in old(self, key) if v.op != 'forget']",
}


@pytest.fixture
def own_data(tmp_path: Path) -> Path:
    """A small folder of somebody's own: no dates, no roles, another script."""
    folder = tmp_path / "mine"
    folder.mkdir()
    turns = [
        {"id": "a", "text": "I drink tea"},
        {"id": "b", "text": "고양이는 창가에서 잔다"},
        {"id": "c", "text": "The key is under the mat"},
    ]
    questions = [{"id": "q", "text": "what do I drink?"}, {"id": "r", "text": "where is the key?"}]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns), encoding="utf-8")
    (folder / "queries.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions), encoding="utf-8")
    (folder / "qrels.tsv").write_text("q\ta\nr\tc\n", encoding="utf-8")
    return folder


@pytest.mark.slow
def test_every_claim_is_true(tmp_path: Path) -> None:
    """With the sample that lies beside it, the demo makes more than sixty claims, and all hold."""
    done = run(EXAMPLES / "demo.py", cwd=tmp_path, timeout=600)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert done.stdout.count("✓") > 60
    assert "✗" not in done.stdout
    assert "claims, all true" in done.stdout.splitlines()[-1]


def test_it_takes_other_data_and_another_seed(own_data: Path, tmp_path: Path) -> None:
    """Any folder of the same form will do."""
    done = run(EXAMPLES / "demo.py", "--data", own_data, "--seed", 7, cwd=tmp_path)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "mine, seed 7" in done.stdout


def test_a_folder_that_is_none_is_an_error(tmp_path: Path) -> None:
    """A wrong path is told at once, with what a folder should have."""
    done = run(EXAMPLES / "demo.py", "--data", tmp_path / "nowhere", cwd=tmp_path)
    assert done.returncode == 1
    assert "corpus.jsonl" in done.stderr


def test_a_false_claim_ends_it(own_data: Path, tmp_path: Path) -> None:
    """A claim that does not hold, planted in the middle: exit code 1, the claim on stderr, nothing after it."""
    copy = tmp_path / "examples"
    shutil.copytree(EXAMPLES, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = copy / "demo_changes.py"
    text = program.read_text(encoding="utf-8")
    place = '    chapter("A source is withdrawn")\n'
    assert place in text
    program.write_text(text.replace(place, place + '    claim("two and two are five", 2 + 2 == 5)\n'), encoding="utf-8")
    done = run(copy / "demo.py", "--data", own_data, cwd=tmp_path)
    assert done.returncode == 1
    assert "✗ two and two are five" in done.stdout.splitlines()[-1]
    assert "false claim: two and two are five" in done.stderr
    assert "all true" not in done.stdout


@pytest.mark.parametrize("broken", SABOTAGE)
def test_a_broken_library_makes_it_fail(broken: str, own_data: Path, tmp_path: Path) -> None:
    """The claims are about what the library does: one that only pretends is found out."""
    demo = str(EXAMPLES / "demo.py")
    program = (
        f"{SABOTAGE[broken]}\nimport runpy, sys\nsys.argv = [{demo!r}, '--data', {str(own_data)!r}]\n"
        f"sys.path.insert(0, {str(EXAMPLES)!r})\nrunpy.run_path({demo!r}, run_name='__main__')\n"
    )
    done = run("-c", program, cwd=tmp_path)
    assert done.returncode == 1
    assert "the demo made a false claim" in done.stderr


def test_the_sample_is_small_whole_and_licensed() -> None:
    """At most 300 turns, every judgement inside, and the licence with its source beside it."""
    turns = {json.loads(line)["id"] for line in (SAMPLE / "corpus.jsonl").read_text(encoding="utf-8").splitlines()}
    questions = {json.loads(line)["id"] for line in (SAMPLE / "queries.jsonl").read_text(encoding="utf-8").splitlines()}
    judged = [line.split("\t") for line in (SAMPLE / "qrels.tsv").read_text(encoding="utf-8").splitlines()]
    assert 0 < len(turns) <= MOST_SAMPLE_TURNS
    assert {question for question, _ in judged} == questions
    assert {turn for _, turn in judged} <= turns
    assert "Copyright (c) 2024 Di Wu" in (SAMPLE / "LICENSE").read_text(encoding="utf-8")
    assert "LongMemEval" in (SAMPLE / "README.md").read_text(encoding="utf-8")


def test_sampling_is_repeatable(tmp_path: Path) -> None:
    """The same folder and seed draw the same sample, and another seed another one; what answers a question is always drawn with it."""
    program = EXAMPLES / "data" / "make_sample.py"
    drawn = {}
    for name, seed in (("one", 3), ("two", 3), ("three", 4)):
        out = tmp_path / name
        done = run(program, SAMPLE, "--out", out, "--turns", 40, "--questions", 10, "--seed", seed, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        drawn[name] = [(out / file).read_text(encoding="utf-8") for file in ("corpus.jsonl", "queries.jsonl", "qrels.tsv")]
    assert drawn["one"] == drawn["two"] != drawn["three"]
    assert all(len(corpus.splitlines()) == 40 and len(queries.splitlines()) >= 10 for corpus, queries, _ in drawn.values())
