"""The tools, each described once. Nothing here destroys: purge and prune are not for models."""

from __future__ import annotations

from typing import Any, Literal

from indelible.tools import files, verbs
from indelible.tools.description import Argument, MemoryTool

MOST_RESULTS = 50
MOST_OFFSET = 1_000_000
LONGEST_TTL_MS = 10 * 366 * 86_400_000

_ID = Argument("id", str, "The memory's id, as remember, recall, search and list give it.")
_WORDS = Argument("query", str, "What to look for.")
_LABELS = 'such as {"topic": "drinks"}'


def _limit(default: int) -> Argument:
    return Argument("limit", int, "How many at most.", default, 1, MOST_RESULTS)


REMEMBER = MemoryTool(
    "remember",
    "Remember a fact",
    "Keep a fact for later conversations: one self-contained sentence each. Do not keep what is already known; change that with edit.",
    (
        Argument("content", str, "The fact, understandable without this conversation."),
        Argument("metadata", dict[str, Any], f"Labels to filter by, {_LABELS}.", None),
        Argument("ttl_ms", int, "Milliseconds until it is no longer shown; leave out for ever.", None, 1, LONGEST_TTL_MS),
    ),
    verbs.remember,
    idempotent=True,
)
RECALL = MemoryTool(
    "recall",
    "Recall memories",
    "Find memories by meaning and by words, the best first. Use it before answering what may depend on earlier conversations.",
    (_WORDS, _limit(5)),
    verbs.recall,
    read_only=True,
    idempotent=True,
)
SEARCH = MemoryTool(
    "search",
    "Search memories by words",
    "Find memories that hold all of these words, the best first. Use it for names, codes and exact terms.",
    (_WORDS, _limit(10)),
    verbs.search,
    read_only=True,
    idempotent=True,
)
SEARCH_SEMANTIC = MemoryTool(
    "search_semantic",
    "Search memories by meaning",
    "Find memories by meaning alone, among those whose labels match. Use it when recall brings up too much of something else.",
    (_WORDS, Argument("filters", dict[str, Any], f"Labels that they must have, {_LABELS}.", None), _limit(5)),
    verbs.search_semantic,
    read_only=True,
    idempotent=True,
)
EDIT = MemoryTool(
    "edit",
    "Edit a memory",
    "Replace the text of a memory that is no longer right. What it said before stays in its history.",
    (
        _ID,
        Argument("content", str, "The new text, whole."),
        Argument("metadata", dict[str, Any], "New labels, whole; leave out to keep those it has.", None),
    ),
    verbs.edit,
    idempotent=True,
)
FORGET = MemoryTool(
    "forget",
    "Forget a memory",
    "Take a memory out of use because it is wrong or unwanted.",
    (_ID,),
    verbs.forget,
    destructive=True,
    idempotent=True,
)
HISTORY = MemoryTool(
    "history",
    "Show a memory's history",
    "See everything a memory has said and when it changed, the oldest first.",
    (_ID,),
    verbs.history,
    read_only=True,
    idempotent=True,
)
FEEDBACK = MemoryTool(
    "feedback",
    "Vote on a memory",
    "Say whether a memory that was recalled helped. It changes no text.",
    (
        _ID,
        Argument("vote", Literal["up", "down"], '"up" if it helped, "down" if it misled.'),
        Argument("note", str, "Why, in a few words.", None),
    ),
    verbs.feedback,
    idempotent=True,
)
LIST = MemoryTool(
    "list",
    "List memories",
    "Go through memories, the last changed first. Use recall or search to find something.",
    (
        _limit(20),
        Argument("offset", int, "How many to pass over.", 0, 0, MOST_OFFSET),
        Argument("filters", dict[str, Any], f"Labels that they must have, {_LABELS}.", None),
    ),
    verbs.list_memories,
    read_only=True,
    idempotent=True,
)
TOOLS = (REMEMBER, RECALL, SEARCH, SEARCH_SEMANTIC, EDIT, FORGET, HISTORY, FEEDBACK, LIST)
READ_TOOLS = tuple(tool for tool in TOOLS if tool.read_only)

REMEMBER_FACT = MemoryTool(
    "remember_fact",
    "Remember a value under a key",
    "Keep a value under a key, such as favorite_color: blue. A value that was there is replaced; its history stays.",
    (Argument("key", str, "The name of the fact."), Argument("value", str, "What it is.")),
    verbs.remember_fact,
    idempotent=True,
    pieces=lambda _, given: ("", verbs.fact(given["key"], given["value"])),
)
RECALL_FACT = MemoryTool(
    "recall_fact",
    "Recall the value of a key",
    f"Get the value that was kept under a key, or {verbs.UNKNOWN}.",
    (Argument("key", str, "The name of the fact."),),
    verbs.recall_fact,
    read_only=True,
    idempotent=True,
)
FACT_TOOLS = (REMEMBER_FACT, RECALL_FACT)

FILES = MemoryTool(
    "memory",
    "Keep files of notes",
    "Keep notes in text files under /memories, for later conversations: view what is there before you start, keep it up to date.",
    (
        Argument("command", Literal["view", "create", "str_replace", "insert", "delete", "rename"], "What to do."),
        Argument("path", str, "The file or directory, such as /memories/notes.txt; for all commands but rename.", None),
        Argument("view_range", list[int], "For view: first and last line, -1 for the end.", None, items=2),
        Argument("file_text", str, "For create: what the file says.", None),
        Argument("old_str", str, "For str_replace: a piece of the file that occurs once.", None),
        Argument("new_str", str, "For str_replace: what it becomes.", None),
        Argument("insert_line", int, "For insert: after which line, 0 for the beginning.", None),
        Argument("insert_text", str, "For insert: the new lines.", None),
        Argument("old_path", str, "For rename: what it is called.", None),
        Argument("new_path", str, "For rename: what it shall be called.", None),
    ),
    files.run,
    destructive=True,
    reads=lambda arguments: arguments["command"] == "view",
    kept=("command", "old_str", "old_path"),
    check=files.check,
    pieces=files.pieces,
)
"""Anthropic's memory tool, for any model: described here for those that do not know it by name."""
ALL_TOOLS = (*TOOLS, *FACT_TOOLS, FILES)
