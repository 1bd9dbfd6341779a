"""The stand-ins do what tests rely on."""

from __future__ import annotations

import pytest

from indelible import MemoryStore
from indelible.backend.interface import Backend
from indelible.errors import InvalidInput, StoreClosed, StoreUnavailable, UnsupportedOperation
from indelible.testing import FakeClock, FlakyBackend, HashEmbedder, Medium, ReferenceBackend, ScriptedModel, SequentialIds
from indelible.testing.fakes import DEFAULT_START_US, VERBS


def store_on(backend: Backend, clock: FakeClock) -> MemoryStore:
    return MemoryStore(":memory:", backend=backend, clock=clock, embedder=HashEmbedder())


def test_a_fake_clock_moves_when_told() -> None:
    """Forwards and backwards, by milliseconds and microseconds."""
    clock = FakeClock()
    clock.advance(ms=1, us=5)
    clock.advance(us=-2)
    assert clock.now_us() == DEFAULT_START_US + 1003


def test_sequential_ids_repeat_themselves() -> None:
    """Two sources of one series make the same ids, of two series never."""
    first, again, other = SequentialIds(), SequentialIds(), SequentialIds(3)
    made = [first(n) for n in range(5)]
    assert made == [again(n * 7) for n in range(5)] == sorted(made)
    assert other(0) not in made


def test_a_scripted_model_follows_its_script() -> None:
    """One answer per call, errors raised, the last one repeated, every prompt noted."""
    model = ScriptedModel(["one", ValueError("no"), "two"])
    assert model("a") == "one"
    with pytest.raises(ValueError, match="no"):
        model("b")
    assert [model("c"), model("d")] == ["two", "two"]
    assert model.prompts == ["a", "b", "c", "d"]
    with pytest.raises(InvalidInput):
        ScriptedModel([])


def test_a_flaky_backend_fails_at_the_chosen_call() -> None:
    """Before its work: nothing was written, and the next try succeeds."""
    clock = FakeClock()
    flaky = FlakyBackend(ReferenceBackend(clock=clock), fail_on=[1], verbs=["append"])
    store = store_on(flaky, clock)
    with pytest.raises(StoreUnavailable) as caught:
        store.remember("tea")
    assert caught.value.retryable
    assert store.version == 0
    store.remember("tea")
    assert (store.version, flaky.calls) == (1, ["append", "append"])


def test_a_lost_acknowledgement_is_found_by_its_idempotency_key() -> None:
    """S32: the write was done but not acknowledged; sent again under the same key it is not done twice."""
    clock = FakeClock()
    store = store_on(FlakyBackend(ReferenceBackend(clock=clock), fail_on=[1], verbs=["append"], when="after"), clock)
    with pytest.raises(StoreUnavailable):
        store.remember("tea", idempotency_key="once")
    again = store.remember("tea", idempotency_key="once")
    assert (store.version, [record.id for record in store.list()]) == (1, [again.id])


def test_a_flaky_backend_counts_every_verb_and_passes_the_rest_through() -> None:
    """All verbs of a backend are forwarded; what is no verb is a mistake of the test."""
    flaky = FlakyBackend(ReferenceBackend(Medium(device=b"d" * 16)), fail_on=[2])
    assert flaky.mark().version == 0
    with pytest.raises(StoreUnavailable, match="mark"):
        flaky.mark()
    assert flaky.medium.device == b"d" * 16
    with pytest.raises(InvalidInput, match="remember"):
        FlakyBackend(ReferenceBackend(), verbs=["remember"])
    assert {verb for verb in VERBS if verb not in vars(FlakyBackend)} == set()


def test_a_closed_reference_says_so() -> None:
    """And so does a flaky one on it; its medium can be opened again."""
    backend = ReferenceBackend()
    FlakyBackend(backend).close()
    with pytest.raises(StoreClosed):
        backend.mark()
    assert ReferenceBackend(backend.medium).mark().version == 0


def test_a_reference_has_no_file() -> None:
    """What belongs to files it refuses."""
    with pytest.raises(UnsupportedOperation):
        ReferenceBackend().vacuum()
    with pytest.raises(UnsupportedOperation):
        ReferenceBackend().backup("nowhere")
