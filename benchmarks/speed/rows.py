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
        touch: how often the user was asked about before: ``first``, the first time in this process; ``again``, just before, other
            questions; ``""`` where it makes no difference.
        field: of the metadata that must be 1.
        far: asked with a vector from which the records with the field are the farthest.
    """

    what: str
    needs: str
    scoped: bool
    touch: str = ""
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


FIRST, AGAIN = "first", "again"
COLD, WARM = "recall, one user, first touch", "recall, one user, warm"
EVERYTHING = "recall, everything"
ROWS = {
    row.what: row
    for row in (
        Row(COLD, "semantic", True, FIRST),
        Row("keyword, one user, first touch", "keyword", True, FIRST),
        Row("hybrid, one user, first touch", "hybrid", True, FIRST),
        Row(WARM, "semantic", True, AGAIN),
        Row(EVERYTHING, "semantic", False),
        Row("keyword, one user, warm", "keyword", True, AGAIN),
        Row("keyword, everything", "keyword", False),
        Row("hybrid, one user, warm", "hybrid", True, AGAIN),
        Row("hybrid, everything", "hybrid", False),
        Row("filter 1 %, by lot", "semantic", False, field="random_1"),
        Row("filter 50 %, by lot", "semantic", False, field="random_50"),
        Row("filter 1 %, farthest", "semantic", False, field="far_1", far=True),
        Row("filter 50 %, farthest", "semantic", False, field="far_50", far=True),
    )
}
"""In the order of asking: first touches, each of other users, come before whatever touches everything."""
FIRST_TOUCHES = tuple(what for what, row in ROWS.items() if row.touch == FIRST)
