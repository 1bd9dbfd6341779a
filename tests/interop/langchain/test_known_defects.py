"""What users of other memories for LangChain and LangGraph were bitten by, and what of ours says that it cannot happen here.

Each defect or trap is named by a law of the conformance kit, which runs on our store without differences, or by a test:
``module.test`` or ``module.Class`` of this folder. Two tests of the table hold it to that.
"""

from __future__ import annotations

import asyncio
import importlib
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, Item, PutOp, SearchOp

from indelible import MemoryStore
from indelible.testing import HashEmbedder
from langchain_indelible import IndelibleRetriever, IndelibleStore
from langchain_indelible.testing import RecordingEmbeddings, StoreConformance

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
    "the order without a query was no promise, and pages missed items": "test_pages_reach_each_item_once",
    "a put between two pages made one miss an item": "test_an_update_does_not_disturb_pages",
    "a query without an index raised": "test_a_query_needs_an_index",
    "one store leaves out what was never embedded, another shows it": "test_unindexed_items_come_last",
    "several vectors made an item come several times": "test_an_item_appears_once",
    "a batch saw its own puts": "test_gets_see_what_was_before",
    "operations from a generator were lost": "test_operations_may_come_from_a_generator",
    "a function that must be awaited deadlocked a plain call": "test_a_coroutine_may_embed",
    "only an object could not be filtered by a part of it": "test_filters_match",
    "a dotted field meant one thing here and another there": "test_a_dotted_name_is_a_field_or_a_path",
    "true was one": "test_a_flag_is_no_number",
    "a time to live was dropped without a word": "test_a_time_to_live_is_kept_or_refused",
    "a put again kept the old time to live": "test_a_put_begins_anew",
    "a star stood for any number of labels": "test_a_star_stands_for_one_label",
    "names cut at a depth came twice": "test_max_depth_cuts_and_names_each_once",
    "only a dict could be put": "test_any_mapping_can_be_put",
    "a number as a key was found in one store and not in another": "test_a_key_that_is_no_text_becomes_text",
    "a cancelled call left half": "test_a_cancelled_call_is_whole_or_nothing",
}
"""Of LangGraph's stores, by law."""

STORE = {
    "two processes on one key got errors by the hundred": "test_store_torture.test_processes_lose_nothing",
    "two stores of one process locked each other out": "test_known_defects.test_two_stores_on_one_file_in_one_tick",
    "several processes could not make a new file at once": "test_store_torture.test_processes_may_open_a_new_store_at_once",
    "a read waited for another thread's embedding": "test_store_torture.test_reading_does_not_wait_for_an_embedding",
    "the example of the class did not run": "test_store.test_the_example_of_the_class_runs",
    "a list as a namespace could not be hashed": "test_known_defects.test_a_list_is_no_namespace",
    "an awaited put kept the key as it was given": "test_known_defects.test_an_awaited_key_is_text_too",
    "a blank query was embedded": "test_known_defects.test_a_blank_query_is_none",
    "lone surrogates broke the reading": "test_known_defects.test_lone_surrogates_are_refused",
    "an item with many vectors crowded out the others": "test_known_defects.test_an_item_may_have_many_vectors",
    "seventy thousand puts had too many variables, and three hundred thousand gets": "test_known_defects.test_batches_of_any_size",
    "a server's factory is an async context manager": "test_store.test_it_opens_as_other_stores_do",
    "a namespace could not be deleted": "test_store.test_a_namespace_can_be_deleted",
    "the last of two writers won without a word": "test_store.test_a_put_may_expect_a_version",
    "what was overwritten was gone": "test_store.test_history_keeps_every_version",
    "joined conditions were taken for fields": "test_store_filters.test_filters_can_be_joined",
    "whole namespaces read in pages missed items": "test_store_graphs.test_pages_of_a_hundred_reach_everything",
    "a node's own store was another than the tools'": "test_store_graphs.test_an_agent_s_tools_reach_it",
    "two models' vectors were mixed": "test_store.test_another_model_is_refused",
    "stored data could name code to run": "tests.architecture.test_langchain_package.test_the_package_keeps_the_rule",
    "statements were put together from text": "tests.architecture.test_langchain_package.test_the_package_keeps_the_rule",
}
"""Of LangGraph's stores, what takes more than one store or process."""
LANGMEM = {
    "what its tools overwrote was gone": "test_store_langmem.test_the_tools_write_and_find",
    "its tools cannot edit what has no UUID": "test_store_langmem.test_the_tools_write_and_find",
    "what its manager said it had put was not there": "test_store_langmem.test_the_manager_writes_what_the_model_extracts",
    "a duplicate could not be told": "test_store_langmem.test_a_duplicate_can_be_told",
    "its executor's thread could not use the store": "test_store_langmem.test_the_executor_writes_in_the_background",
}
VECTOR_STORE = {
    "a generator of texts added nothing": "test_vectorstore.test_a_generator_of_texts_is_added_whole",
    "short ids or metadata dropped texts": "test_vectorstore.test_lists_of_another_length_are_refused",
    "one text was taken for its letters": "test_vectorstore.test_one_text_is_not_its_letters",
    "given ids lost against the documents' own": "test_vectorstore.test_ids_are_those_given_then_the_documents_own_then_new",
    "documents that were added came back changed": "test_vectorstore.test_metadata_comes_back_exactly",
    "delete said false, which stops an indexing run": "test_vectorstore.test_delete_forgets_some_or_all_and_never_says_false",
    "delete of nothing named did nothing": "test_vectorstore.test_delete_forgets_some_or_all_and_never_says_false",
    "half of the documents were added": "test_vectorstore.test_a_document_that_cannot_be_kept_leaves_none",
    "an unknown argument was swallowed": "test_vectorstore.test_unknown_arguments_are_refused",
    "queries were embedded as documents": "test_vectorstore.test_texts_are_embedded_together_and_queries_as_queries",
    "relevance left 0 to 1": "test_vectorstore_search.test_relevance_lies_between_0_and_1_and_orders",
    "a retriever with a threshold was not implemented": "test_vectorstore_search.test_a_retriever_with_a_threshold",
    "a limit of 0 or below it meant anything": "test_vectorstore_search.test_the_limit",
    "a filter came after the limit, or not at all in some ways of searching": (
        "test_vectorstore_search.test_a_filter_comes_before_the_limit_everywhere"
    ),
    "an unknown operator found nothing, or everything": "test_vectorstore_search.test_a_faulty_filter_is_an_error",
    "a connection belonged to the thread that made it": "test_vectorstore.test_calls_from_many_threads",
    "many ids had too many variables": "test_vectorstore.test_many_documents_and_ids_at_once",
    "text of some scripts did not come back": "test_vectorstore.test_any_text_comes_back",
    "variety was chosen from too few": "test_vectorstore_search.test_variety_is_chosen_from_the_nearest",
    "async twins said something else": "test_vectorstore.test_async_twins_answer_the_same",
    "the standard tests' own list": "test_standard.TestVectorStore",
}
RETRIEVER = {
    "what invoke was told never reached the search": "test_retriever.test_what_invoke_says_wins",
    "what ainvoke was told was an unexpected argument": "test_retriever.test_what_ainvoke_says_wins_too",
    "metadata was mixed with the store's own": "test_retriever.test_facts_as_documents",
    "a flag was taken for a version, a float for a time": "test_known_defects.test_neither_a_flag_nor_a_float_is_a_version",
    "the standard tests' own list": "test_standard.TestRetriever",
}
EMBEDDINGS = {
    "vectors of any length were taken to be of length one": "test_vectorstore_search.test_relevance_lies_between_0_and_1_and_orders",
    "numbers of an array's own kind could not be sent as JSON": "test_embeddings.test_the_bundled_models",
    "a cache asked the model again": "test_byte_store.test_a_cache_of_embeddings",
    "models of one class passed for one": "test_embeddings.test_names_tell_models_apart",
    "the standard tests' own list": "test_standard.TestEmbeddings",
}
CHAT_HISTORY = {
    "two turns at once lost a user's message": "test_chat_history.test_two_turns_at_once",
    "an error while adding was only logged, with half a turn kept": "test_chat_history.test_a_turn_that_cannot_be_kept_leaves_no_half",
    "messages of concurrent calls mixed": "test_chat_history.test_concurrent_batches_do_not_mix",
    "messages of one instant had no order": "test_chat_history.test_messages_are_in_order_and_the_list_is_fresh",
    "the list that was returned was the stored one": "test_chat_history.test_messages_are_in_order_and_the_list_is_fresh",
    "calls of tools, usage and blocks were lost": "test_chat_history.test_a_message_comes_back_whole",
    "stored data named a class to load": "test_chat_history.test_nothing_in_stored_data_names_a_class_to_load",
    "sessions of several keys could not be named": "test_chat_history.test_a_session_may_be_named_by_several_keys",
}
CHAIN_MEMORY = {
    "loading without an input raised": "test_chain_memory.test_the_conversation_as_text_or_messages",
    "loaded variables were taken for the turn": "test_chain_memory.test_the_turn_is_told_from_what_was_loaded",
    "a turn that could not be told was guessed": "test_chain_memory.test_a_turn_that_cannot_be_told_is_refused",
    "clear did nothing": "test_chain_memory.test_clear_clears",
    "other variables than the memory's own were loaded": "test_chain_memory.test_a_conversation_chain",
    "two combined could not be awaited": "test_chain_memory.test_two_memories_can_be_awaited",
    "two memories kept a turn twice": "test_chain_memory.test_each_of_two_memories_keeps_its_own",
}
BYTE_STORE = {
    "a prefix was a pattern": "test_byte_store.test_prefixes_are_literal",
    "writing while keys were read broke the reading": "test_byte_store.test_writing_while_keys_are_read",
    "repeated keys came once, missing ones not at all": "test_byte_store.test_any_bytes_under_any_key",
    "deleting what is missing raised": "test_byte_store.test_missing_keys_may_be_deleted",
    "the standard tests' own list": "test_standard.TestByteStoreAsync",
}
RECORD_MANAGER = {
    "everything was skipped while the store was empty": "test_record_manager.test_an_emptied_store_is_filled_again",
    "a crash between documents and records lost documents for good": "test_record_manager.test_a_kill_between_documents_and_records",
    "a part that failed was ignored": "test_record_manager.test_exactly_what_is_missing_is_added",
    "times ran backwards": "test_record_manager.test_times_never_run_backwards",
    "bounds of times were not strict": "test_record_manager.test_update_and_list",
    "groups of another number were cut": "test_record_manager.test_faulty_updates",
    "another source's documents were cleaned up": "test_record_manager.test_what_others_added_is_left_alone",
}
TOOLS = {
    "a model could say whose memory it wants": "test_memory_tools.test_no_tool_takes_a_scope",
    "an error ended the run": "test_memory_tools.test_errors_are_text_that_a_model_can_act_on",
    "a tool could not be awaited": "test_memory_tools.test_async_calls_do_the_same",
    "the standard tests' own list": "test_standard.TestRemember",
}
MIDDLEWARE = {
    "a wrap without its twin raised when awaited": "test_middleware.test_the_model_sees_what_is_remembered",
    "each turn left one more copy in the state": "test_middleware.test_the_block_is_never_kept_and_never_piles_up",
    "what was loaded once went stale within a thread": "test_middleware.test_a_thread_sees_what_was_learned_or_forgotten_elsewhere",
    "the program's own prompt was replaced": "test_middleware.test_a_list_of_blocks_is_added_to",
    "memories were read as instructions": "test_middleware.test_a_memory_cannot_end_its_block",
    "two in one agent were refused": "test_middleware.test_two_in_one_agent_need_two_names",
    "a harness's own notes were remembered as the user's words": "test_middleware.test_only_peoples_and_the_models_words_are_captured",
    "a repeated run remembered everything again": "test_middleware.test_a_repeated_run_captures_nothing_new",
}
TABLES = (STORE, LANGMEM, VECTOR_STORE, RETRIEVER, EMBEDDINGS, CHAT_HISTORY, CHAIN_MEMORY, BYTE_STORE, RECORD_MANAGER, TOOLS, MIDDLEWARE)


@pytest.mark.parametrize("defect", LAWS)
def test_a_law_rules_it_out(defect: str) -> None:
    """The conformance kit has it, and our store has no differences."""
    assert LAWS[defect] in StoreConformance.laws()


@pytest.mark.parametrize("where", sorted({place for table in TABLES for place in table.values()}))
def test_a_test_rules_it_out(where: str) -> None:
    """The test is there."""
    module, _, name = where.rpartition(".")
    found: Any = getattr(importlib.import_module(module if "." in module else f"tests.interop.langchain.{module}"), name)
    assert name.startswith(("test_", "Test"))
    assert callable(found)


@pytest.mark.slow
@pytest.mark.parametrize("query", [None, "text"])
def test_batches_of_any_size(few_variables: int, query: str | None) -> None:
    """Of puts, of gets, of hits whose time to live is refreshed, and of deletes: no statement grows with them."""
    many = 40 * few_variables
    names = [f"k{number}" for number in range(many)]
    with IndelibleStore(":memory:", index={"embed": RecordingEmbeddings(), "fields": ["text"]}) as store:
        store.batch([PutOp(NAMESPACE, name, {"text": f"text {name}"}, ttl=60) for name in names])
        found = store.batch([GetOp(NAMESPACE, name) for name in names * 3])
        assert [item.key for item in found if isinstance(item, Item)] == names * 3
        for _ in range(3):
            assert len(store.search(NAMESPACE, query=query, filter={"text": {"$gte": ""}}, limit=2 * many)) == many
        store.batch([PutOp(NAMESPACE, name, None) for name in names])
        assert store.list_namespaces() == []
        assert store.store.verify().ok


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


def test_a_list_is_no_namespace() -> None:
    """It is refused by what it is; elsewhere it could not be hashed."""
    namespace: Any = ["users"]
    with IndelibleStore(":memory:") as store:
        for call in (lambda: store.put(namespace, "k", {"x": 1}), lambda: store.get(namespace, "k"), lambda: store.search(namespace)):
            with pytest.raises(ValueError, match="must be a tuple of str, got list"):
                call()
        assert store.list_namespaces() == []


def test_an_awaited_key_is_text_too() -> None:
    """As that of a plain call: a number is its digits."""
    key: Any = 5

    async def use(store: IndelibleStore) -> None:
        await store.aput(NAMESPACE, key, {"x": 1})
        assert await store.aget(NAMESPACE, "5") == await store.aget(NAMESPACE, key)
        await store.adelete(NAMESPACE, key)
        assert await store.aget(NAMESPACE, "5") is None

    with IndelibleStore(":memory:") as store:
        asyncio.run(use(store))


@pytest.mark.parametrize("query", ["", "  ", None])
def test_a_blank_query_is_none(query: str | None) -> None:
    """Nothing is embedded, nothing is ranked."""
    embeddings = RecordingEmbeddings()
    with IndelibleStore(":memory:", index={"embed": embeddings, "fields": ["text"]}) as store:
        for key in ("b", "a"):
            store.put(NAMESPACE, key, {"text": f"text {key}"})
        (found,) = store.batch([SearchOp(NAMESPACE, query=query)])
        assert isinstance(found, list)
        assert [item.score for item in store.search(NAMESPACE, query=query)] == [None, None]
        assert len(found) == 2
    assert embeddings.queries == []


def test_two_stores_on_one_file_in_one_tick(tmp_path: Path) -> None:
    """Reads and puts of one key through both at once: no error, and no put is lost."""

    async def step(store: IndelibleStore, number: int) -> None:
        await store.abatch([GetOp(NAMESPACE, "k"), PutOp(NAMESPACE, "k", {"n": number})])

    async def use(one: IndelibleStore, two: IndelibleStore) -> None:
        for number in range(0, 40, 4):
            await asyncio.gather(*(step(store, number + at) for at, store in enumerate((one, two, one, two))))

    with IndelibleStore(tmp_path / "store.db") as one, IndelibleStore(tmp_path / "store.db") as two:
        asyncio.run(use(one, two))
        puts = [change.item.value["n"] for change in one.history(NAMESPACE, "k") if change.item is not None]
        assert sorted(puts) == list(range(40))
        assert one.history(NAMESPACE, "k") == two.history(NAMESPACE, "k")


@pytest.mark.parametrize("when", [True, 1.0, "1"])
def test_neither_a_flag_nor_a_float_is_a_version(when: Any) -> None:
    """Not when a retriever is made, and not when it is used: elsewhere ``True`` was 1, and 1.0 an instant of 1970."""
    with MemoryStore(":memory:", embedder=HashEmbedder()) as memory:
        memory.remember("Ada prefers tea")
        with pytest.raises(ValueError, match="as_of"):
            IndelibleRetriever(memory=memory, as_of=when)
        with pytest.raises(ValueError, match="version"):
            IndelibleRetriever(memory=memory).invoke("tea", as_of=when)
