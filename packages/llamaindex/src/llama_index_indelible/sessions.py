"""A ready-made ``Memory``: a session on a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llama_index.core.memory import BaseMemoryBlock, Memory

from indelible import InvalidInput, MemoryStore
from llama_index_indelible.chat_store import IndelibleChatStore
from llama_index_indelible.memory_block import IndelibleMemoryBlock
from llama_index_indelible.opening import PathLike, opened


def memory(
    path: PathLike | None,
    session_id: str,
    *,
    store: MemoryStore | None = None,
    memory_blocks: Sequence[BaseMemoryBlock[Any]] | None = None,
    agent_id: str | None = None,
    user_id: str | None = None,
    org_id: str | None = None,
    workspace_id: str | None = None,
    **options: Any,
) -> Memory:
    """The memory of a session: begun, or gone on with, in whichever process.

    Args:
        path: the file; with neither this nor ``store`` the default one.
        session_id: which conversation.
        store: where it lies, in place of a path.
        memory_blocks: in place of an ``IndelibleMemoryBlock`` for this session.
        agent_id, user_id, org_id, workspace_id: whose conversations these are.
        **options: of ``Memory.from_defaults``: ``token_limit``, ``token_flush_size``, ``insert_method`` and so on.

    Raises:
        InvalidInput: no session id, without which a conversation could not be found again; a workspace without blocks of one's own,
            because it is the session's in the block made here.
    """
    if not isinstance(session_id, str) or not session_id:
        raise InvalidInput(f"session_id must be a str that is not empty, got {session_id!r}")
    scope: dict[str, Any] = {"agent_id": agent_id, "user_id": user_id, "org_id": org_id, "workspace_id": workspace_id}
    kept = opened(path, store)
    if memory_blocks is None:
        memory_blocks = [IndelibleMemoryBlock(store=kept, tokenizer_fn=options.get("tokenizer_fn"), **scope)]
    chats = IndelibleChatStore(store=kept, **scope)
    return Memory.from_defaults(session_id=session_id, memory_blocks=list(memory_blocks), chat_store=chats, **options)
