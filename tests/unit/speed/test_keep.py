"""A kept store is taken only if it is complete, of the same program and of the same records."""

from __future__ import annotations

from pathlib import Path

from benchmarks.speed.data import Corpus
from benchmarks.speed.keep import Kept


def test_only_what_is_complete_and_the_same_is_known(tmp_path: Path) -> None:
    kept = Kept(tmp_path, 10, 2)
    kept.place("a").mkdir()
    assert kept.known("a", "1", "x") is None
    kept.finish("a", "1", "x", {"seconds": 2.5})
    found = kept.known("a", "1", "x")
    assert found is not None
    assert found["seconds"] == 2.5
    assert len(found["day"]) == 10
    assert kept.known("a", "2", "x") is None
    assert kept.known("a", "1", "y") is None
    assert Kept(tmp_path, 11, 2).known("a", "1", "x") is None


def test_beginning_removes_that_store_alone(tmp_path: Path) -> None:
    kept = Kept(tmp_path, 10, 2)
    for name in ("a", "b"):
        kept.place(name).mkdir()
        kept.finish(name, "1", "x", {})
    kept.begin("a")
    assert not kept.place("a").exists()
    assert kept.known("a", "1", "x") is None
    assert kept.known("b", "1", "x") is not None
    kept.begin("a")


def test_a_digest_is_of_the_records() -> None:
    assert Corpus(10, 2).digest() == Corpus(10, 2).digest()
    assert len({Corpus(10, 2).digest(), Corpus(10, 3).digest(), Corpus(11, 2).digest(), Corpus(10, 2, seed=1).digest()}) == 4
