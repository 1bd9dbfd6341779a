"""What users of LlamaIndex and of other stores for it were bitten by, and which test of ours says that it cannot happen here."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

VECTOR_STORES = {
    # Adding
    "a known id was added as a second row, or the old row was kept": "test_vector_store.test_a_known_id_is_a_new_version",
    "ids came back in another order or number than the nodes": "test_vector_store.test_ids_come_back_in_order_and_as_many",
    "an option of another store was an error": "test_vector_store.test_ids_come_back_in_order_and_as_many",
    "a vector of another dimension was taken and broke every later query": "test_vector_store.test_a_bad_vector_leaves_nothing",
    "an error about dimensions named neither of them": "test_vector_store.test_another_dimension_is_named",
    "NaN in a vector was taken": "test_vector_store.test_a_bad_vector_leaves_nothing",
    "a failed batch left its first half": "test_vector_store.test_a_bad_vector_leaves_nothing",
    "nested and list metadata were refused": "test_vector_store.test_a_node_comes_back_as_it_was",
    "a metadata key that came later was refused": "test_vector_store.test_keys_may_come_later",
    "ids had to be UUIDs": "test_vector_store.test_any_metadata_text_and_id",
    "one more node rewrote the whole file": "test_vector_store.test_adding_one_writes_one",
    "a crash in the middle of writing left a torn file": "test_vector_async.test_what_was_acknowledged_survives_a_kill",
    # Nodes
    "relationships, positions or templates of a node were lost": "test_vector_store.test_a_node_comes_back_as_it_was",
    "the object of an index node was lost": "test_vector_store.test_a_node_comes_back_as_it_was",
    "metadata named like the store's own were overwritten": "test_filters.test_the_source_document_can_be_asked_for",
    "a class named in the data was imported": "test_vector_store.test_a_class_of_the_users_own_comes_back_as_text",
    "times and tuples in metadata were an error": "test_vector_store.test_metadata_become_json",
    # Asking
    "scores were no cosines": "test_vector_store.test_scores_are_cosines_best_first",
    "no hits were None, or an exception": "test_vector_store.test_nothing_is_three_empty_lists",
    "an empty or cleared store raised": "test_vector_store.test_nothing_is_three_empty_lists",
    "a wish for no hits gave all, or an error": "test_vector_store.test_nothing_is_three_empty_lists",
    "a store without similarities made LlamaIndex's memory block show nothing": "test_consumers.test_llama_index_s_own_block",
    "result ids were not those of the nodes": "test_vector_store.test_node_ids_and_doc_ids",
    "empty node_ids, which LlamaIndex always sends, found nothing": "test_vector_store.test_node_ids_and_doc_ids",
    "doc_ids were ignored, or empty ones found everything": "test_vector_store.test_node_ids_and_doc_ids",
    "an index of text and index nodes found the index nodes alone": "test_storage.test_other_indexes_and_nodes_of_other_kinds",
    "the past of an index node was its present": "test_storage.test_nodes_of_other_kinds_have_a_past",
    "filters were applied after the limit": "test_vector_store.test_conditions_hold_before_the_limit",
    "a query by filters alone raised": "test_vector_store.test_without_a_vector_the_conditions_decide",
    "a vector of zeros gave NaN and lost a row": "test_consumers.test_a_model_may_ask_by_filters_alone",
    "a mode that is not offered ran another one": "test_vector_modes.test_a_mode_that_is_not_offered_is_an_error",
    "punctuation in a search by words was syntax": "test_vector_modes.test_words_are_words_and_never_syntax",
    "a search without words was something else": "test_vector_modes.test_what_is_searched_for_by_words_must_be_given",
    "alpha was ignored": "test_vector_modes.test_hybrid_goes_from_words_to_meaning",
    "a hybrid answer was longer than was asked for": "test_vector_modes.test_hybrid_goes_from_words_to_meaning",
    "mmr was ignored, or took its threshold from one place only": "test_vector_modes.test_mmr_chooses_what_is_near_and_different",
    "two ways to say how many mmr chooses from contradicted each other": "test_vector_modes.test_mmr_prefetch",
    "what an index passes on did not reach the store": "test_consumers.test_an_index_over_a_vector_store",
    "a misspelt filter was swallowed, and everything was shown": "test_vector_store.test_a_condition_as_an_option_is_an_error",
    "a misspelt argument of a retriever was swallowed": "test_storage.test_the_retriever_refuses_what_it_does_not_know",
    # Deleting and getting
    "delete_nodes() without arguments wiped the store": "test_vector_store.test_delete_nodes",
    "ids and filters together deleted what met one of them": "test_vector_store.test_delete_nodes",
    "delete_nodes and get_nodes were not there, or took no filters": "test_vector_store.test_get_nodes",
    "the coroutine for deleting nodes did nothing": "test_vector_async.test_coroutines_say_what_the_plain_verbs_say",
    "the coroutine for deleting nodes dropped its options": "test_vector_async.test_coroutines_say_what_the_plain_verbs_say",
    "get_nodes([]) gave everything": "test_vector_store.test_get_nodes",
    "get_nodes gave no embeddings, or another order": "test_vector_store.test_get_nodes",
    'deleting the document "None" removed every orphan': "test_vector_store.test_delete_is_by_source_document",
    "an id with a quote broke deleting, or widened it": "test_filters.test_hostile_ids_and_documents_are_only_text",
    # Objects
    "coroutines blocked the event loop": "test_vector_async.test_a_query_never_blocks_the_loop",
    "a store belonged to the loop or thread that came first": "test_vector_async.test_one_object_in_many_loops_and_threads",
    "coroutines needed a client of their own": "test_vector_async.test_coroutines_say_what_the_plain_verbs_say",
    "a copy failed, or came back without its file": "test_vector_time.test_pickles_and_copies_are_on_the_same_file",
    "an index could not be pickled": "test_consumers.test_an_index_can_be_pickled",
    "a persisted store was read as JSON and broke the next start": "test_consumers.test_persisting_a_context_by_hand_is_harmless",
    "a reset memory had an unusable store": "test_consumers.test_the_old_vector_memory",
}
FILTERS = {
    "stores disagreed on every operator": "test_filters.test_every_row_of_the_table",
    "a filter meant something else when deleting": "test_filters.test_every_row_deletes_what_it_finds",
    "not equal left out what has no such key": "test_filters.test_not_equal_is_not_of_equal",
    "nested filters were ignored or refused": "test_filters.test_random_trees_mean_what_the_oracle_says",
    "NOT was missing, or taken for AND": "test_filters.test_every_row_of_the_table",
    "NOT became AND on its way through a retriever": "test_consumers.test_none_of_these_is_said_elsewhere",
    "a filter without a condition was dropped, and everything found": "test_filters.test_every_row_of_the_table",
    "null and empty lists could not be asked for": "test_filters.test_every_row_of_the_table",
    "keys and values of a filter became part of a statement": "test_filters.test_hostile_keys_and_values_are_only_text",
    "whole numbers and others were never equal": "test_filters.test_every_row_of_the_table",
    "one row of another kind made the whole query fail": "test_filters.test_random_trees_mean_what_the_oracle_says",
    "`in` took a text apart": "test_filters.test_an_operand_of_the_wrong_kind_is_an_error",
    "stored bools could not be asked for": "test_filters.test_true_and_false_are_asked_as_one_and_zero",
    "percent and underscore were wildcards": "test_filters.test_every_row_of_the_table",
    "one user's filters reached another's nodes": "test_vector_time.test_scopes_cannot_be_left",
}
INGESTION = {
    "refresh_ref_docs inserted everything again after a restart": "test_storage.test_an_index_is_there_after_a_restart",
    "an index of a store of text did not know its documents": "test_storage.test_an_index_that_keeps_its_nodes_knows_its_documents",
    "a context read back without its vector store had none": "test_consumers.test_persisting_a_context_by_hand_is_harmless",
    "a failed run was skipped for ever": "test_storage.test_a_run_that_failed_is_done_by_the_next",
    "a run without a model stored nothing, and the next one skipped it": "test_storage.test_a_run_without_a_model_is_done_by_one_with_it",
    "a failed run lost the old text": "test_storage.test_a_change_that_failed_is_done_by_the_next",
    "a run that was killed doubled its nodes": "test_storage.test_a_run_that_died_between_two_writes",
    "two runs at one moment doubled their nodes": "test_ingestion_races.test_two_processes_ingest_the_same",
    "hash and nodes were of two runs": "test_ingestion_races.test_another_version_was_written_while_this_one_was_made",
    "an index that was not finished was taken for finished": "test_storage.test_an_index_that_was_not_finished_is_finished",
    "two documents of one hash were one": "test_storage.test_what_is_gone_from_the_source_is_deleted",
    "the cache was gone after a restart": "test_storage.test_the_cache_is_used_after_a_restart",
    "the coroutine left deleted ids in a document's list": "test_stores.test_no_id_outlives_its_node",
    "a document was written in three steps": "test_stores.test_an_update_that_is_not_allowed_writes_nothing",
    "several pairs could not be put or deleted at once": "test_stores.test_many_at_once_are_all_or_none",
    "an empty cache was taken for none": "test_stores.test_an_empty_store_is_not_false",
    "an empty cache of embeddings was never filled": "test_models.test_it_is_a_transformation_with_a_cache",
    "a cache could not be passed to worker processes": "test_stores.test_stores_pickle_by_their_path",
    "values were shared with the caller": "test_stores.test_what_is_read_is_a_copy",
    "images were kept in memory only": "test_storage.test_images_are_on_disk_too",
    "a document with a summary lost it after a restart": "test_consumers.test_a_summary_of_each_document",
    "a given embedding was made again": "test_storage.test_a_given_embedding_is_used_and_the_query_left_alone",
}
MEMORIES = {
    "a block showed one session what another had said": "test_memory_block.test_one_block_serves_sessions_apart",
    "a block took the session out of the caller's messages": "test_memory_block.test_messages_are_not_changed",
    "messages that a block refused were lost, or kept twice": "test_memory_block.test_a_batch_delivered_again_is_kept_once",
    "a block that was too long vanished": "test_memory_block.test_it_is_cut_and_does_not_vanish",
    "extracted facts were replaced by others, without a trace": "test_memory_tools.test_each_of_them_works",
    "facts were kept in the memory of one process": "test_memory_tools.test_an_agent_remembers_over_sessions",
    "a dumped memory came back without its messages": "test_consumers.test_a_memory_is_attached_again_by_its_session",
    "a pickled memory came back empty": "test_memory_block.test_a_pickled_memory_has_its_messages",
    "a workflow's context forgot its memory": "test_consumers.test_a_workflow_goes_on_after_its_context_was_written_down",
    "reading a memory often gathered its block's text": "test_memory_block.test_reading_often_changes_nothing",
    "a store gave out its own messages": "test_chat_store.test_what_is_read_is_a_copy",
    "chat history was gone after a crash": "test_chat_store.test_a_message_is_there_after_kill",
    "a message that could not be kept wiped the history": "test_chat_store.test_a_message_that_cannot_be_kept_changes_nothing",
    "setting messages appended them": "test_chat_store.test_setting_replaces",
    "setting no messages was an error": "test_chat_store.test_setting_to_nothing_empties",
    "adding no messages was an error": "test_chat_store.test_adding_nothing_is_fine",
    "the last message of none was an error": "test_chat_store.test_the_last_of_nothing_is_none",
    "a message was deleted by its row and not its position": "test_chat_store.test_deleting_is_by_position",
    "archived messages could not be read": "test_chat_store.test_archived_messages_keep_their_places",
    "messages of one moment changed places": "test_chat_store.test_messages_come_back_in_their_order",
    "first uses at once broke the store for good": "test_chat_store.test_twenty_first_uses_at_once",
    "two processes could not make a new file at once": "test_chat_store.test_two_processes_use_a_new_file_at_once",
    "blocks, providers' objects or bytes of a message were lost": "test_chat_messages.test_everything_in_additional_kwargs_comes_back",
    "a block lost what it had taken when its process died": "test_memory_races.test_what_a_block_took_is_there_after_a_kill",
    "what two processes delivered was kept twice": "test_memory_races.test_two_processes_deliver_the_same",
    "a session that had let go of its oldest lost them in a crash": "test_memory_races.test_a_session_goes_on_after_a_kill",
    "dumping a memory failed on a newer pydantic": "test_chat_store.test_a_buffer_works_on_it",
    "an answer of a tool stood without its call": "test_consumers.test_a_turn_is_kept_whole",
    "a streamed answer was written by another thread, and lost": "test_chat_engines.test_a_chat_engine",
    "an engine asked a memory for more than it took": "test_consumers.test_every_chat_engine",
    "a model could say whose memories it reads": "test_memory_tools.test_no_call_leaves_the_scope",
    "a tool's description was too long for a provider": "test_memory_tools.test_what_a_model_sees",
    "a retriever showed one of two users' facts of one key": "test_storage.test_two_users_facts_of_one_key_are_two_nodes",
}
DEFECTS = VECTOR_STORES | FILTERS | INGESTION | MEMORIES


@pytest.mark.parametrize("defect", DEFECTS)
def test_a_test_rules_it_out(defect: str) -> None:
    """The test is there."""
    module, _, name = DEFECTS[defect].partition(".")
    found: Any = getattr(importlib.import_module(f"tests.interop.llamaindex.{module}"), name)
    assert callable(found)


def test_no_defect_is_told_twice() -> None:
    """Each in its own words: a table that is merged has all of them."""
    assert len(DEFECTS) == sum(map(len, (VECTOR_STORES, FILTERS, INGESTION, MEMORIES)))
