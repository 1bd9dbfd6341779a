"""The benchmark runs: ours and numpy answer alike, and who is not there is skipped with a reason."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.speed.data import Corpus, Question
from benchmarks.speed.engine import Hits
from benchmarks.speed.engines import INT8, OURS, PHYSICAL, engine_class
from benchmarks.speed.keep import Kept
from benchmarks.speed.measure import DISK, FILLING, FRESH, MEMORY, ONE, Run
from benchmarks.speed.ours import VERSIONS, Versions
from benchmarks.speed.plain import Numpy
from benchmarks.speed.rows import COLD, EVERYTHING, ROWS, WARM
from benchmarks.speed.worker import TOUCHES, Worker

SIZE, USERS = 300, 5


def test_ours_and_numpy_answer_alike(tmp_path: Path) -> None:
    """Exact search of both: the same ten in the same order, in a slice, over everything, by filters, after one more."""
    corpus = Corpus(SIZE, USERS)
    engines = []
    for name in (OURS, PHYSICAL):
        engine = engine_class(name)(tmp_path / name, SIZE // USERS)
        engine.folder.mkdir()
        engine.load()
        engine.open()
        for rows in corpus.pieces():
            engine.add(rows)
        engine.add(corpus.fresh(0).part(0, 1))
        engines.append(engine)
    for row in ROWS.values():
        if row.needs == "semantic":
            for number in range(3):
                asked = row.question(corpus, number)
                ours, exact = (row.call(engine)(asked) for engine in engines)
                assert ours == exact
                assert exact or row.field
    for row in ROWS.values():
        if row.needs != "semantic":
            assert row.call(engines[0])(row.question(corpus, 0)), row.what
    for engine in engines:
        engine.close()
        assert sum(engine.parts().values()) > SIZE * 1024


def test_ten_versions_a_record(tmp_path: Path) -> None:
    """As many events as the corpus has records, as many records as a tenth of that; early on there are fewer."""
    store = Versions(tmp_path, Corpus(SIZE, USERS))
    store.fill()
    assert store.records == SIZE // VERSIONS
    asked = Corpus(SIZE, USERS).question(0)
    assert store.ask(asked, None, None) == 10
    assert store.ask(asked, 50, asked.user) == SIZE // VERSIONS // USERS
    store.close()


@pytest.mark.slow
def test_a_run_with_a_peer_that_is_not_installed(tmp_path: Path) -> None:
    python = Path(sys.executable)
    wanted = {COLD, EVERYTHING, ONE, FRESH, DISK, MEMORY}
    run = Run(
        folder=tmp_path,
        size=SIZE,
        users=USERS,
        pythons={OURS: python, PHYSICAL: python, INT8: python, "lancedb": python},
        rounds=5,
        budget=5.0,
        wanted=wanted.__contains__,
        say=lambda _doing: None,
    )
    run.all()
    if "lancedb" not in run.versions:
        assert run.skipped["lancedb"].startswith("not installed")
    written = run.as_json()
    assert wanted <= written["rows"].keys()
    for what in wanted:
        assert {OURS, PHYSICAL} <= written["rows"][what].keys()
    assert written["rows"][COLD][OURS]["recall"] == 1
    assert "aside" not in written["rows"][FRESH][OURS]
    assert [what for what, row in written["rows"].items() if INT8 in row] == [EVERYTHING]
    assert written["rows"][EVERYTHING][INT8]["recall"] > 0.9


@pytest.mark.slow
def test_a_kept_store_is_not_filled_again_and_stays_as_it_was(tmp_path: Path) -> None:
    """Whether the run before wrote to what it asked, or only read; other records are filled anew."""
    python, kept = Path(sys.executable), tmp_path / "kept"
    told: list[str] = []

    def run(name: str, size: int, wanted: set[str]) -> Run:
        folder = tmp_path / name
        folder.mkdir()
        told.clear()
        made = Run(
            folder=folder,
            size=size,
            users=USERS,
            pythons={OURS: python, PHYSICAL: python, INT8: python},
            rounds=3,
            budget=5.0,
            wanted=wanted.__contains__,
            say=told.append,
            keep=Kept(kept, size, USERS),
        )
        made.all()
        return made

    first = run("writing", SIZE, {EVERYTHING, ONE})
    assert not first.kept
    sizes = {path: path.stat().st_size for path in kept.rglob("*") if path.suffix in (".f32", ".i8", ".jsonl")}
    second = run("again", SIZE, {EVERYTHING, ONE})
    third = run("reading", SIZE, {EVERYTHING})
    assert list(second.kept) == list(third.kept) == [OURS, PHYSICAL, INT8]
    assert not any("filling" in doing for doing in told)
    assert third.rows[FILLING] == second.rows[FILLING] == first.rows[FILLING]
    assert {path: path.stat().st_size for path in sizes} == sizes
    assert third.rows[EVERYTHING][OURS]["recall"] == 1
    assert not list((tmp_path / "reading").iterdir()), "what is only read is not copied"
    assert not run("other", SIZE + 1, {EVERYTHING}).kept


def test_a_first_touch_asks_about_somebody_else_each_time_and_a_warm_question_about_somebody_asked_before(tmp_path: Path) -> None:
    """Otherwise the one would be measured under the name of the other."""

    class Told(Numpy):
        def semantic(self, asked: Question, user: str | None, field: str | None = None) -> Hits:
            told.append((str(user), asked.words))
            return super().semantic(asked, user, field)

    told: list[tuple[str, str]] = []
    engine = Told(tmp_path, SIZE // USERS)
    worker = Worker(engine, Corpus(SIZE, USERS))
    worker.fill()
    worker.open()
    first = worker.ask(COLD, 0, 4, first_user=1)
    assert [user for user, _ in told] == [f"user {number}" for number in (1, 2, 3, 4)]
    told.clear()
    again = worker.ask(WARM, 0, 4)
    assert [user for user, _ in told[:-4]] == TOUCHES * [user for user, _ in told[-4:]]
    assert not {words for _, words in told[:-4]} & {words for _, words in told[-4:]}
    assert len(first["ms"]) == len(again["ms"]) == 4
    engine.close()
