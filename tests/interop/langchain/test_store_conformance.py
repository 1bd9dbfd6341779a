"""The conformance kit, on our store and, for the differences, on LangGraph's in-memory store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langgraph.store.base import BaseStore, IndexConfig, TTLConfig
from langgraph.store.memory import InMemoryStore

from indelible.testing import FakeClock
from langchain_indelible import IndelibleStore
from langchain_indelible.testing import StoreConformance

REFERENCES = "it keeps and returns the objects themselves"
NO_CHECKS = "`batch` checks no namespace"
FLOATS = "order operators turn both sides into floats: text raises, and so does whatever else is no number"
MEMORY_DIFFERENCES = {
    "test_what_is_no_json_is_refused": "it keeps any Python object",
    "test_one_bad_operation_undoes_all[first-value]": "it keeps any Python object",
    "test_one_bad_operation_undoes_all[last-value]": "it keeps any Python object",
    "test_created_at_survives_an_update": "each put makes a new item",
    "test_a_value_is_taken_by_value": REFERENCES,
    "test_a_value_is_given_by_value": REFERENCES,
    "test_results_do_not_share_values": REFERENCES,
    "test_batch_refuses_bad_labels": NO_CHECKS,
    "test_batch_cannot_write_there_either": NO_CHECKS,
    "test_one_bad_operation_undoes_all[first-namespace]": NO_CHECKS,
    "test_one_bad_operation_undoes_all[last-namespace]": NO_CHECKS,
    "test_a_bare_text_is_no_namespace": "a text is iterated, letter by letter",
    "test_only_what_holds_items_is_listed": "an emptied namespace stays",
    "test_reading_makes_no_namespace": "every namespace asked for comes to be",
    "test_listings_see_what_was_before": "every namespace asked for comes to be",
    **{
        f"test_filters_match[{case}]": FLOATS
        for case in ("$gt", "$gte", "$lt", "$lte", "$gt text", "$lte text", "two operators", "two operators, none")
    },
    "test_other_kinds_have_no_order": FLOATS,
    "test_numbers_compare_exactly": FLOATS,
    "test_a_flag_is_no_number": "Python's equality",
    "test_a_dotted_name_is_a_field_or_a_path": "a dotted name is a field only",
    "test_an_item_may_ask_for_the_whole": 'the path "$" of an item is looked up as a field',
    "test_an_item_can_leave_the_index": "vectors of the old value stay",
    "test_a_shrunk_list_has_no_old_vectors": "vectors of the old value stay",
    "test_pages_of_a_query_reach_everything": "items without vectors fill up every page anew",
    "test_equal_texts_in_one_batch": "vectors are counted by text, and places by item",
    "test_a_vector_of_another_size_is_refused": "sizes are not checked",
}
"""Where LangGraph's in-memory store does otherwise (langgraph-checkpoint 4.3)."""


class TestIndelibleStore(StoreConformance):
    """Every law holds; there are no differences."""

    clock: FakeClock

    @contextmanager
    def open_store(self, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> Iterator[BaseStore]:
        self.clock = FakeClock()
        with IndelibleStore(":memory:", index=index, ttl=ttl, clock=self.clock) as store:
            yield store

    def advance(self, minutes: float) -> None:
        self.clock.advance(ms=round(minutes * 60_000))


class TestInMemoryStore(StoreConformance):
    """LangGraph's own store for tests, and where it differs."""

    has_ttl = False
    differences = MEMORY_DIFFERENCES

    @contextmanager
    def open_store(self, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> Iterator[BaseStore]:
        yield InMemoryStore(index=index)
