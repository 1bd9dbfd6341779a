"""What of a memory goes beside instructions (line 20 of the semantics): the same block, in a tag that no memory can know."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indelible import InvalidInput, Memory, MemoryStore, compose_prompt, memory_block
from indelible.testing import FakeClock, HashEmbedder

HEADER = "Known information from memory:"
TAGGED = re.compile(r"[^\n]*<(memory-[0-9a-f]{16})>[^\n]*\n<\1>\n(.*)\n</\1>", re.DOTALL)


@given(st.dictionaries(st.text(st.characters(codec="ascii", exclude_characters="\0")), st.text(), min_size=1, max_size=4))
def test_s20_the_block_stands_in_a_tag_of_its_own(entries: dict[str, str]) -> None:
    """S20: the text inside is that of a prompt, and neither guesses nor closes the tag; each call names it anew."""
    memory = Memory()
    for key, value in entries.items():
        memory.remember(key, value)
    blocks = [memory_block("what?", memory).tagged for _ in range(2)]
    found = [TAGGED.fullmatch(block) for block in blocks]
    assert all(found)
    assert [match and f"{match[2]}\n\nwhat?" for match in found] == [compose_prompt("what?", memory)] * 2
    assert len({match and match[1] for match in found}) == 2
    assert all(
        match and block.count(f"<{match[1]}>") == 2 and block.count(f"</{match[1]}>") == 1
        for match, block in zip(found, blocks, strict=True)
    )


def test_s20_nothing_known_is_no_text() -> None:
    """S20: neither header nor tag."""
    found = memory_block("what?", Memory())
    assert (found.text, found.tagged, found.lines, found.used, found.left_out) == ("", "", (), (), 0)


@given(st.integers(0, 400))
def test_s24_a_budget_counts_the_frame(budget: int) -> None:
    """S24: what is sent, header and tag included, fits, or there is none of it; a longer budget shows no less."""
    with MemoryStore(":memory:", embedder=HashEmbedder(), clock=FakeClock()) as store:
        store.remember_many([f"fact {number} word{number * 7} other{number * 11}" for number in range(12)])

        def count(text: str) -> int:
            return len(text.split())

        found = memory_block("which fact?", store, max_tokens=budget, count_tokens=count)
        assert count(found.tagged) <= budget
        assert not found.tagged or len(found.used) + found.left_out == 12
        more = memory_block("which fact?", store, max_tokens=budget + 50, count_tokens=count)
        assert more.used[: len(found.used)] == found.used


def test_without_a_question_the_latest_is_shown(store: MemoryStore, clock: FakeClock) -> None:
    """For a blank query what was written last comes first, in stores and in collections."""
    notes = store.collection("notes", model="store")
    for text in ("green tea", "black coffee", "cold water"):
        store.remember(text)
        notes.put(text, text)
        clock.advance(ms=1000)
    for memory in (store, notes):
        for query in (None, "", " \n"):
            found = memory_block(query, memory, limit=2)
            assert found.lines == ("- cold water (2026-01-01)", "- black coffee (2026-01-01)")
            assert (found.left_out, found.text.splitlines()[-1]) == (1, "- (1 more not shown)")


@pytest.mark.parametrize("query", [5, b"x", ["x"]])
def test_a_query_is_text(query: Any) -> None:
    """InvalidInput for anything else, and for what is no memory."""
    with pytest.raises(InvalidInput, match="query must be a str"):
        memory_block(query, Memory())
    with pytest.raises(InvalidInput, match="memory must be"):
        memory_block("what?", query)
