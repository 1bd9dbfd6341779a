"""What is asked of each store: the rows of the table that a worker can time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.speed.data import Corpus, Question
from benchmarks.speed.engine import Engine, Hits


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of question.

    Attributes:
        what: in the table.
        needs: the method of ``Engine``.
        scoped: of one user, else of all.
        field: of the metadata that must be 1.
        far: asked with a vector from which the records with the field are the farthest.
    """

    what: str
    needs: str
    scoped: bool
    field: str | None = None
    far: bool = False

    def question(self, corpus: Corpus, number: int, user: int | None = None) -> Question:
        """The question of this number, of a given user instead of the drawn one if it names one."""
        asked = corpus.far_question(number) if self.far else corpus.question(number)
        return asked if user is None else Question(f"user {user}", asked.words, asked.vector, asked.numbers)

    def call(self, engine: Engine) -> Callable[[Question], Hits]:
        """How it is asked of a store."""
        if self.needs == "semantic":
            return lambda asked: engine.semantic(asked, asked.user if self.scoped else None, self.field)
        ask = engine.keyword if self.needs == "keyword" else engine.hybrid
        return lambda asked: ask(asked, asked.user if self.scoped else None)


COLD = "recall, one user, first touch"
EVERYTHING = "recall, everything"
ROWS = {
    row.what: row
    for row in (
        Row(COLD, "semantic", True),
        Row("recall, one user, warm", "semantic", True),
        Row(EVERYTHING, "semantic", False),
        Row("keyword, one user", "keyword", True),
        Row("keyword, everything", "keyword", False),
        Row("hybrid, one user", "hybrid", True),
        Row("hybrid, everything", "hybrid", False),
        Row("filter 1 %, by lot", "semantic", False, "random_1"),
        Row("filter 50 %, by lot", "semantic", False, "random_50"),
        Row("filter 1 %, farthest", "semantic", False, "far_1", far=True),
        Row("filter 50 %, farthest", "semantic", False, "far_50", far=True),
    )
}
"""In the order of asking: what touches every user comes after the first touch."""
