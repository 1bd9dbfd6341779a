"""Draw a small sample from a folder of conversation turns, questions and judgements: some questions, the turns that answer them,
and other turns to hide those among.

    python make_sample.py FOLDER [--out FOLDER] [--turns 300] [--questions 90] [--seed 0]

A folder has ``corpus.jsonl`` (id, role, text, date), ``queries.jsonl`` (id, text, and what else a set says of a question) and
``qrels.tsv`` (question, turn). The same folder and seed always give the same sample. Needs nothing but Python.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LONGEST_TURN = 4000
"""Characters. Longer turns, and questions that one of those answers, are left out: a sample should be quick to read in."""


@dataclass(frozen=True, slots=True)
class Conversations:
    """Turns, questions about them, and which turns answer which question.

    Attributes:
        turns: by id, in the order of the file.
        questions: those that have an answer in the turns.
        evidence: per question id the ids of the turns that answer it.
    """

    turns: dict[str, dict[str, Any]]
    questions: list[dict[str, Any]]
    evidence: dict[str, frozenset[str]]


def read(folder: Path) -> Conversations:
    """Read a folder; questions without an answer in it are left out.

    Raises:
        SystemExit: a file is missing or is not what it should be.
    """
    try:
        turns = {turn["id"]: turn for turn in _lines(folder / "corpus.jsonl") if turn["text"].strip()}
        judged = defaultdict(set)
        for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
            question, turn = line.split("\t")
            judged[question].add(turn)
        evidence = {question: frozenset(found) for question, found in judged.items() if found <= turns.keys()}
        questions = [q for q in _lines(folder / "queries.jsonl") if q["id"] in evidence and q["text"].strip() and not q.get("abstention")]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"{folder} is not a folder with corpus.jsonl, queries.jsonl and qrels.tsv: {error!r}") from error
    return Conversations(turns, questions, evidence)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def draw(source: Conversations, *, turns: int, questions: int, seed: int) -> Conversations:
    """A part of a set: at most so many turns, with everything that answers the questions in it.

    Args:
        source: the whole set.
        turns: most turns.
        questions: how many questions to begin with; those that the drawn turns happen to answer as well are added.
        seed: another seed, another sample.
    """
    chance = random.Random(seed)
    short = {name for name, turn in source.turns.items() if len(turn["text"]) <= LONGEST_TURN}
    candidates = [question for question in source.questions if source.evidence[question["id"]] <= short]
    kept: set[str] = set()
    for question in chance.sample(candidates, min(questions, len(candidates))):
        needed = source.evidence[question["id"]]
        if len(kept | needed) <= turns:
            kept |= needed
    others = [name for name in source.turns if name in short and name not in kept]
    kept.update(chance.sample(others, min(turns - len(kept), len(others))))
    answered = [question for question in candidates if source.evidence[question["id"]] <= kept]
    return Conversations(
        {name: turn for name, turn in source.turns.items() if name in kept},
        answered,
        {question["id"]: source.evidence[question["id"]] for question in answered},
    )


def write(sample: Conversations, folder: Path) -> None:
    """Write a set as the three files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("corpus.jsonl", sample.turns.values()), ("queries.jsonl", sample.questions)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / name).write_text(lines, encoding="utf-8", newline="\n")
    pairs = [f"{question['id']}\t{turn}\n" for question in sample.questions for turn in sorted(sample.evidence[question["id"]])]
    (folder / "qrels.tsv").write_text("".join(pairs), encoding="utf-8", newline="\n")


def main() -> None:
    """Read the arguments, draw, write, and say what was drawn."""
    parser = argparse.ArgumentParser(description="Draw a small sample of conversation turns, questions and judgements.")
    parser.add_argument("folder", type=Path, help="has corpus.jsonl, queries.jsonl and qrels.tsv")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("longmemeval_sample"), help="where the sample goes")
    parser.add_argument("--turns", type=int, default=300, help="most turns (300)")
    parser.add_argument("--questions", type=int, default=90, help="questions to begin with (90)")
    parser.add_argument("--seed", type=int, default=0, help="another seed, another sample (0)")
    arguments = parser.parse_args()
    sample = draw(read(arguments.folder), turns=arguments.turns, questions=arguments.questions, seed=arguments.seed)
    write(sample, arguments.out)
    print(f"{len(sample.turns)} turns, {len(sample.questions)} questions -> {arguments.out}")


if __name__ == "__main__":
    main()
