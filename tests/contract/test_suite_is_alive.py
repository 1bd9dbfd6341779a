"""The suite finds what it is there to find: for each bug planted in a store, the law that must fail."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from indelible.backend.sqlite import SqliteBackend
from indelible.testing import ReferenceBackend
from indelible.testing.contract import LAWS, ContractSuite, Driver
from indelible.testing.contract.drivers import BackendDriver, CollectionDriver, FactsDriver, FilePlace, Place, ReferencePlace
from indelible.testing.machine import StoreMachine
from tests.contract import broken

BUGS: list[tuple[type[ReferenceBackend] | type[SqliteBackend], type[BackendDriver | CollectionDriver | FactsDriver], str]] = [
    (broken.DropsHistory, CollectionDriver, "test_history_keeps_everything"),
    (broken.ReordersChanges, CollectionDriver, "test_history_numbers_are_the_log_s"),
    (broken.LeaksScope, CollectionDriver, "test_one_key_in_two_scopes_is_two_memories"),
    (broken.MatchesScopesLoosely, CollectionDriver, "test_scopes_are_compared_exactly"),
    (broken.IsOffByOne, CollectionDriver, "test_each_version_reads_as_it_was"),
    (broken.RoundsTimes, CollectionDriver, "test_times_read_as_versions_do"),
    (broken.ReturnsTombstones, CollectionDriver, "test_what_is_forgotten_is_gone"),
    (broken.ForgetsExpiry, CollectionDriver, "test_what_expired_is_not_listed"),
    (broken.ExpiresLate, CollectionDriver, "test_it_is_gone_at_its_instant"),
    (broken.JudgesThePastByToday, CollectionDriver, "test_the_past_judges_expiry_by_its_own_time"),
    (broken.ForgetsTheOrder, CollectionDriver, "test_keys_come_in_the_order_of_their_first_telling"),
    (broken.ShowsHalfABatch, CollectionDriver, "test_half_a_batch_is_never_seen"),
    (broken.ShowsHalfABatch, FactsDriver, "test_half_a_batch_is_never_seen"),
    (broken.LetsAVoteRevive, FactsDriver, "test_a_vote_never_revives"),
    (broken.SkipsTheCompare, CollectionDriver, "test_a_compare_that_fails_says_why"),
    (broken.RepeatsARetry, FactsDriver, "test_a_retry_writes_once"),
    (broken.SwallowsAnEqualText, BackendDriver, "test_the_same_text_again_is_a_new_version"),
    (broken.CountsStrangers, CollectionDriver, "test_strangers_never_change_a_score"),
    (broken.KeepsTheOldVector, CollectionDriver, "test_the_vector_follows_the_text"),
    (broken.BringsBackAPurgedRecord, CollectionDriver, "test_a_purged_memory_cannot_come_back"),
    (broken.BringsBackAPurgedRecord, CollectionDriver, "test_purged_text_is_not_in_the_bytes"),
    (broken.LeavesKeywordText, CollectionDriver, "test_purged_text_is_not_in_the_bytes"),
    (broken.LeavesIndexEntries, CollectionDriver, "test_purged_text_is_not_in_the_bytes"),
    (broken.ReadsAStaleCache, CollectionDriver, "test_another_process_s_write_is_seen"),
    (broken.ReadsAStaleCache, CollectionDriver, "test_another_object_sees_each_write"),
    (broken.NeverNoticesOthers, FactsDriver, "test_another_process_s_write_is_recalled"),
    (broken.LosesWhatIsLast, CollectionDriver, "test_what_was_written_is_there_after_opening_again"),
    (broken.ImportsAnything, BackendDriver, "test_a_broken_export_is_refused"),
]


def law_on(law: str, driver: Driver, folder: Path) -> None:
    """Run one law on one store."""
    method = getattr(ContractSuite(), law)
    fixtures = {"tmp_path": folder} if "tmp_path" in inspect.signature(method).parameters else {}
    try:
        method(driver, **fixtures)
    finally:
        driver.close()


@pytest.mark.parametrize(("bug", "face", "law"), BUGS, ids=lambda value: getattr(value, "__name__", value))
def test_the_named_law_fails(bug: type, face: type[BackendDriver | CollectionDriver | FactsDriver], law: str, tmp_path: Path) -> None:
    """A store with this bug breaks this law; the same store without the bug keeps it."""
    assert law in LAWS
    on_file = issubclass(bug, SqliteBackend)
    whole: Place = FilePlace(tmp_path / "whole.db") if on_file else ReferencePlace()
    law_on(law, face(whole), tmp_path)
    folder = tmp_path / "broken"
    folder.mkdir()
    place: Place = broken.OnFile(str(folder / "broken.db"), bug) if on_file else broken.OnReference(bug)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        law_on(law, face(place), folder)


@pytest.mark.parametrize(
    "bug", [broken.IsOffByOne, broken.ShowsHalfABatch, broken.SkipsTheCompare, broken.ExpiresLate, broken.BringsBackAPurgedRecord]
)
def test_the_state_machine_fails(bug: type[ReferenceBackend]) -> None:
    """Random steps against the model find the bug without being told where to look."""

    class Machine(StoreMachine):
        make = staticmethod(lambda folder: BackendDriver(broken.OnReference(bug)))

    thorough = settings(max_examples=200, stateful_step_count=30, database=None, phases=[Phase.generate], print_blob=False)
    with pytest.raises(AssertionError):
        run_state_machine_as_test(Machine, settings=thorough)


def test_a_power_that_is_not_refused_is_noticed() -> None:
    """A store that does what it does not declare breaks the law on undeclared powers."""
    driver = BackendDriver(ReferencePlace())
    driver.powers = frozenset()
    with pytest.raises(pytest.fail.Exception):
        law_on("test_powers_that_are_not_declared_are_refused", driver, Path())


def test_every_law_says_what_holds() -> None:
    """Each has a docstring of one sentence or more, and none is overridden or skipped anywhere."""
    assert len(LAWS) > 100
    assert [law for law in LAWS if not (getattr(ContractSuite, law).__doc__ or "").strip().endswith(".")] == []
