"""S44: hybrid recall that looks only at what can be among the hits finds what looking at everything does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, MemoryStore
from indelible.faces import hybrid
from indelible.faces.hybrid import Nearest, join
from indelible.faces.words import Shares, best
from indelible.search.fusion import CROWD, fuse
from indelible.testing import FakeClock, HashEmbedder
from tests.unit.facts.random_facts import QUERIES, SCOPES, Life, Step, seen, steps
from tests.unit.facts.stores import contents, open_store
from tests.unit.facts.test_exact_search import KINDS, arranged, matrix

if TYPE_CHECKING:
    from indelible.faces.vectors import Integers, Vectors


@given(
    kind=st.sampled_from(KINDS),
    records=st.integers(0, 400),
    parts=st.sampled_from([1, 1, 3]),
    wordless=st.integers(0, 30),
    most=st.sampled_from([1, 3, 10]),
    balance=st.sampled_from([0.0, 0.001, 0.3, 0.75, 1.0]),
    step=st.sampled_from([0.0, 1e-9, 1e-6, 0.01]),
    least=st.sampled_from([None, None, 0.1]),
    spread=st.booleans(),
    many=st.sampled_from([0, 0, hybrid.MANY]),
    seed=st.integers(0, 10_000),
)
def test_the_first_are_exactly_the_first(
    kind: str,
    records: int,
    parts: int,
    wordless: int,
    most: int,
    balance: float,
    step: float,
    least: float | None,
    spread: bool,
    many: int,
    seed: int,
) -> None:
    """Whatever shares and cosines are alike: the same hits, scores, cosines, parts and channels as when all are fused, to the last bit."""
    random = np.random.default_rng(seed)
    vectors = arranged(matrix(kind, records * parts, random), parts)
    query = matrix("random", 1, random)[0]
    held = random.random(len(vectors.records)) < 0.8
    versions = random.permutation(np.concatenate((vectors.versions[held], 20_000 + np.arange(wordless))))
    words = Shares(
        np.append(versions, 99_999),
        np.arange(len(versions)),
        random.random(len(versions)) ** 4 if spread else np.float64(0.4) + step * random.integers(0, 4, len(versions)).astype(np.float64),
        {int(version): b"w%d" % version for version in versions},
    )
    nearest = Nearest(*vectors.nearest(query, most=max(most, CROWD), least=least, wanted=None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hybrid, "MANY", many)
        found = join(words, vectors, query, nearest, balance=balance, least=least, most=most)

    everything = np.arange(len(vectors.records))
    cosines, rows = vectors.cosines(query, everything)
    cosine = dict(zip(vectors.versions.tolist(), cosines.tolist(), strict=True))
    part = {version: vectors.parts[row] for version, row in zip(vectors.versions.tolist(), rows.tolist(), strict=True)}
    shares = dict(zip(versions.tolist(), words.shares.tolist(), strict=True))
    shares = {version: share for version, share in shares.items() if least is None or cosine.get(version, least) >= least}
    near = vectors.versions[nearest.places].tolist()
    ranked = fuse(shares, {version: cosine[version] for version in {*shares, *near} if version in cosine}, balance=balance)[:most]
    assert found.ranked == ranked
    first = [version for version, _ in ranked]
    assert found.cosines == {version: cosine[version] for version in first if version in cosine}
    assert found.parts == {version: part[version] for version in first if version in part}
    assert [found.channels[version] for version in first] == [
        ("keyword",) * (version in shares) + ("semantic",) * (version in cosine) for version in first
    ]


def test_few_are_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast way is taken: of a slice in which all hold a word next to none are fused."""
    random = np.random.default_rng(1)
    vectors = arranged(matrix("random", 1000, random), 1)
    query = matrix("random", 1, random)[0]
    words = Shares(vectors.versions, slice(None), random.random(1000), {int(version): b"" for version in vectors.versions})
    looked_at: list[int] = []

    def watched(shares: dict[int, float], cosines: dict[int, float], *, balance: float) -> list[tuple[int, float]]:
        looked_at.append(len({*shares, *cosines}))
        return fuse(shares, cosines, balance=balance)

    monkeypatch.setattr(hybrid, "fuse", watched)
    nearest = Nearest(*vectors.nearest(query, most=10, least=None, wanted=None))
    assert len(join(words, vectors, query, nearest, balance=0.5, least=None, most=10).ranked) == 10
    assert looked_at[0] < 40


def test_of_very_many_few_are_looked_for_among_the_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Most have a rare chance by their words alone, and are let go by them."""
    random = np.random.default_rng(2)
    vectors = arranged(matrix("random", 3000, random), 1)
    query = matrix("random", 1, random)[0]
    words = Shares(vectors.versions, slice(None), random.random(3000) ** 4, {int(version): b"" for version in vectors.versions})
    looked_for: list[int] = []
    monkeypatch.setattr(hybrid, "MANY", 100)
    places = type(vectors).places

    def watched(self: Vectors, versions: Integers) -> Integers:
        looked_for.append(len(versions))
        return places(self, versions)

    monkeypatch.setattr(type(vectors), "places", watched)
    nearest = Nearest(*vectors.nearest(query, most=10, least=None, wanted=None))
    assert len(join(words, vectors, query, nearest, balance=0.3, least=None, most=10).ranked) == 10
    assert sum(looked_for) < 600


@given(st.lists(st.tuples(st.integers(1, 50), st.sampled_from([0.0, 1.0, 1.5, 2.0])), unique_by=lambda hit: hit[0]), st.integers(0, 60))
def test_the_best_are_the_first_of_all_in_order(hits: list[tuple[int, float]], most: int) -> None:
    versions, scores = np.array([hit[0] for hit in hits], np.int64), np.array([hit[1] for hit in hits])
    in_order = sorted(range(len(hits)), key=lambda place: (-hits[place][1], -hits[place][0]))
    assert best(versions, scores, None).tolist() == in_order
    assert best(versions, scores, most).tolist() == in_order[:most]


@given(steps("purge", "beside", most=8), st.integers(1, 3))
def test_a_limit_only_cuts(script: list[Step], limit: int) -> None:
    """By every mode and in every slice, now and in the past: what comes first does not depend on how much is asked for."""
    with Life() as life, pytest.MonkeyPatch.context() as patch:
        patch.setattr(hybrid, "FEW", 0)
        for step in script:
            life.take(step)
        scopes: list[dict[str, Any]] = [SCOPES[0], {}]
        for scope in scopes:
            whens: list[dict[str, Any]] = [{}, {"as_of": max(life.store.version // 2, 1)}]
            for when in whens:
                for mode in ("hybrid", "semantic"):
                    asked: dict[str, Any] = {"mode": mode, **scope, **when}
                    few, all_ = (seen(life.store.recall(QUERIES[0], limit=most, **asked)) for most in (limit, 100))
                    assert few == all_[:limit]
                found = [seen(life.store.search(QUERIES[0], match="any", limit=most, **scope, **when)) for most in (limit, 100)]
                assert found[0] == found[1][:limit]


class Refusing(HashEmbedder):
    """A model that cannot always be used."""

    broken = False

    def embed_documents(self, texts: Any) -> Any:
        if self.broken:
            raise InvalidInput("the model is away")
        return super().embed_documents(texts)


def test_vectors_that_could_not_be_made_are_made_by_the_next_recall(clock: FakeClock) -> None:
    """S43: what is missing is not taken for looked after when making it failed, however warm the slice is."""
    with open_store(clock=clock) as store:
        store.remember_many(["tea", "milk"])
        engine, model = store._engine, Refusing()
        with MemoryStore(":memory:", backend=engine.backend, clock=clock, embedder=model) as other:
            assert contents(other.recall("tea", limit=1)) == ["tea"]
            store.remember("black tea")
            engine.backend.drop_vectors(other._selection(None), engine.backend.models())
            model.broken = True
            for _ in range(3):
                with pytest.raises(InvalidInput, match="away"):
                    other.recall("tea")
            model.broken = False
            assert sorted(contents(other.recall("tea"))) == ["black tea", "milk", "tea"]
