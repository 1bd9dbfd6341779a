"""What users of other stores of LangGraph were bitten by, and which law or test of ours says that it cannot happen here."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from langgraph.store.base import GetOp, Item, PutOp

from langchain_indelible import IndelibleStore
from langchain_indelible.testing import StoreConformance

NAMESPACE = ("many",)

LAWS = {
    "configured fields were ignored, and secrets embedded with the rest": "test_only_the_paths_are_embedded",
    "queries were embedded as documents": "test_queries_are_embedded_as_queries",
    "a deleted item's vectors ranked what came next under its key": "test_a_key_used_again_has_no_old_vectors",
    "an item taken out of the index kept its vectors": "test_an_item_can_leave_the_index",
    "a shortened list kept the vectors of what was gone": "test_a_shrunk_list_has_no_old_vectors",
    "later pages of a query were empty, and items with many vectors shrank a page": "test_pages_of_a_query_reach_everything",
    "items without vectors came again on every page": "test_pages_of_a_query_reach_everything",
    "one distance ranked the farthest first": "test_the_nearest_comes_first",
    "a batch that failed kept its first half": "test_one_bad_operation_undoes_all",
    "too few vectors stored half of a batch": "test_a_wrong_number_of_vectors_is_refused",
    "lists and objects could not be filtered": "test_filters_match",
    "fields with spaces, dollars or other scripts were refused": "test_a_field_may_have_any_name",
    "numbers went through a float": "test_numbers_compare_exactly",
    "`$lt 5` matched every text": "test_other_kinds_have_no_order",
    "one item without the field made every search fail": "test_other_kinds_have_no_order",
    "`$ne` left out what is missing, here and not there": "test_not_equal_includes_what_is_missing",
    "an unknown operator gave an empty answer": "test_an_unknown_operator_is_an_error",
    "text in a filter became part of a statement": "test_a_value_is_literal",
    "a field's name in a filter became part of a statement": "test_a_field_may_have_any_name",
    "created_at was lost by an update": "test_created_at_survives_an_update",
    "times had no timezone": "test_times_are_aware",
    "times had a resolution of a second": "test_updated_at_strictly_advances",
    "NaN was stored as null": "test_what_is_no_json_is_refused",
    "long whole numbers could not be stored": "test_every_kind_of_json_round_trips",
    "expired items were shown": "test_an_expired_item_is_nowhere",
    "expired items used up the limit": "test_expired_items_use_up_no_page",
    "a refresh brought an expired item back": "test_reading_does_not_bring_back",
    "what an operation said about refreshing was ignored": "test_a_read_may_ask_to_refresh",
    "one read of a batch refreshed all": "test_each_operation_of_a_batch_refreshes_for_itself",
    "a vector of another size broke every later search": "test_a_vector_of_another_size_is_refused",
    "a vector of zeros broke the ranking": "test_a_zero_vector_breaks_nothing",
    "equal texts in a batch could not be embedded": "test_equal_texts_in_one_batch",
    "reading made namespaces": "test_reading_makes_no_namespace",
    "an emptied namespace stayed": "test_only_what_holds_items_is_listed",
    "values were shared with the caller": "test_a_value_is_taken_by_value",
    "returned values were the stored ones": "test_a_value_is_given_by_value",
    "a prefix reached a sibling": "test_a_prefix_does_not_leak_to_a_sibling",
    "wildcards in a label were wildcards": "test_a_prefix_is_no_pattern",
    "`batch` took any namespace": "test_batch_refuses_bad_labels",
    "a label of None broke the listing": "test_bad_labels_are_refused",
    "a text was taken apart into a namespace": "test_a_bare_text_is_no_namespace",
    "the path `$` of one item embedded nothing": "test_an_item_may_ask_for_the_whole",
    "one bad call of a tick failed all others": "test_a_bad_call_does_not_harm_its_neighbours",
    "a store belonged to the loop that made it": "test_several_loops_may_use_it",
    "a plain call inside a loop failed": "test_plain_verbs_work_inside_a_loop",
    "large batches had too many variables": "test_a_large_batch",
}
TESTS = {
    "two processes on one key got errors by the hundred": "test_store_torture.test_processes_lose_nothing",
    "several processes could not make a new file at once": "test_store_torture.test_processes_may_open_a_new_store_at_once",
    "a read waited for another thread's embedding": "test_store_torture.test_reading_does_not_wait_for_an_embedding",
    "the example of the class did not run": "test_store.test_the_example_of_the_class_runs",
    "a namespace could not be deleted": "test_store.test_a_namespace_can_be_deleted",
    "what langmem overwrote was gone": "test_store_langmem.test_the_tools_write_and_find",
    "what langmem's manager said it had put was not there": "test_store_langmem.test_the_manager_writes_what_the_model_extracts",
    "a duplicate could not be told": "test_store_langmem.test_a_duplicate_can_be_told",
    "the last of two writers won without a word": "test_store.test_a_put_may_expect_a_version",
    "joined conditions were taken for fields": "test_store_filters.test_filters_can_be_joined",
    "whole namespaces read in pages missed items": "test_store_graphs.test_pages_of_a_hundred_reach_everything",
}


@pytest.mark.parametrize("defect", LAWS)
def test_a_law_rules_it_out(defect: str) -> None:
    """The conformance kit has it, and our store has no differences."""
    assert LAWS[defect] in StoreConformance.laws()


@pytest.mark.parametrize("defect", TESTS)
def test_a_test_rules_it_out(defect: str) -> None:
    """The test is there."""
    module, _, name = TESTS[defect].partition(".")
    found: Any = getattr(importlib.import_module(f"tests.interop.langchain.{module}"), name)
    assert callable(found)


@pytest.mark.torture
def test_batches_of_any_size() -> None:
    """Seventy thousand puts, then three hundred thousand gets, of one batch each."""
    with IndelibleStore(":memory:") as store:
        store.batch([PutOp(NAMESPACE, f"k{number}", {"n": number}) for number in range(70_000)])
        found = store.batch([GetOp(NAMESPACE, f"k{number % 70_000}") for number in range(300_000)])
        assert [item.value["n"] for item in found if isinstance(item, Item)] == [number % 70_000 for number in range(300_000)]


def test_lone_surrogates_are_refused() -> None:
    """With an error that says so, before anything is written; elsewhere they broke the reading."""
    with IndelibleStore(":memory:") as store:
        with pytest.raises(ValueError, match="surrogate"):
            store.put(NAMESPACE, "k", {"text": "\ud800"})
        assert store.search(NAMESPACE) == []


def test_an_item_may_have_many_vectors() -> None:
    """Three thousand members of a list, each embedded, each found."""
    with IndelibleStore(":memory:", index={"embed": lambda texts: [[float(len(text)), 1.0] for text in texts], "dims": 2}) as store:
        store.put(NAMESPACE, "long", {"parts": ["x" * (number % 50 + 1) for number in range(3000)]}, index=["parts[*]"])
        store.put(NAMESPACE, "short", {"parts": ["x" * 100]}, index=["parts[*]"])
        found = store.search(NAMESPACE, query="x" * 7)
        assert [item.key for item in found] == ["long", "short"]
        assert found[0].score == pytest.approx(1, abs=1e-4)
