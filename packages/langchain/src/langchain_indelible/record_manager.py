"""What LangChain's indexing API knows of its documents, in the database of the documents themselves."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Any

from langchain_core.indexing import RecordManager
from langchain_core.runnables import run_in_executor

from indelible import InvalidInput
from langchain_indelible.vectorstores import IndelibleVectorStore

_CLOCK = "clock"
_KEY = "key "


class IndelibleRecordManager(RecordManager):
    """Times and groups of the documents of one vector store, for ``index`` and ``aindex``.

    A key exists exactly while its document is live in the vector store, whatever was noted here. So after a crash between writing
    documents and noting them, or after the vector store was emptied, the next ``index`` adds what is missing and skips the rest.

    Times never run backwards, whichever process asks, also when the machine's clock is set back.

    Args:
        vectorstore: whose documents.
        namespace: keeps several apart; documents that one manager cleans up are those it noted.
        exclusive: nothing but this manager's ``index`` fills the vector store. Then a full clean-up also takes documents that were never
            noted: those that a crash left behind and that the source has no more.
    """

    def __init__(self, vectorstore: IndelibleVectorStore, namespace: str = "index", *, exclusive: bool = False) -> None:
        super().__init__(namespace)
        self._documents = vectorstore.collection
        # Two scopes of one namespace have documents of their own, so their managers must not know each other's keys.
        place = json.dumps([self._documents.namespace, self._documents.scope], ensure_ascii=False)
        self._exclusive = exclusive
        self._cache = vectorstore.store.collection("record manager", namespace, place, cache=True)
        self._last = 0
        self._lock = threading.Lock()

    def create_schema(self) -> None:
        """Nothing to do: the store makes its tables itself."""

    def get_time(self) -> float:
        """Seconds since 1970, later than every time given or noted before."""
        with self._lock:
            noted = self._cache.get(_CLOCK) or 0
            self._last = max(time.time_ns() // 1000, self._last + 1, noted + 1)
            return self._last / 1e6

    def update(self, keys: Sequence[str], *, group_ids: Sequence[str | None] | None = None, time_at_least: float | None = None) -> None:
        """Note that keys were seen now.

        Args:
            keys: ids of documents.
            group_ids: the group of each; without, they keep theirs.
            time_at_least: refuse if it is earlier than this.

        Raises:
            InvalidInput: not as many groups as keys, or ``time_at_least`` lies in the future.
        """
        noted = list(keys)
        if group_ids is not None and len(group_ids) != len(noted):
            raise InvalidInput(f"there are {len(group_ids)} group_ids for {len(noted)} keys: give one for each")
        now = self.get_time()
        if time_at_least is not None and now < time_at_least:
            raise InvalidInput(f"time_at_least is {time_at_least}, which is later than now ({now})")
        groups = [entry.get("group") for entry in self._entries(noted)] if group_ids is None else group_ids
        entries: dict[str, Any] = {_KEY + key: {"group": group, "time": now} for key, group in zip(noted, groups, strict=True)}
        self._cache.put_many(entries | {_CLOCK: round(now * 1e6)})

    def _entries(self, keys: Iterable[str]) -> list[dict[str, Any]]:
        return [entry or {} for entry in self._cache.get_many([_KEY + key for key in keys])]

    def exists(self, keys: Sequence[str]) -> list[bool]:
        """For each key whether its document is live."""
        return [record is not None for record in self._documents.get_many(keys)]

    def list_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """Noted keys, the longest unseen first.

        Args:
            before, after: only those seen before, or after, this time.
            group_ids: only of these groups.
            limit: how many at most.
        """
        noted = {key.removeprefix(_KEY): entry for key, entry in self._cache.list() if key != _CLOCK}
        found = [(entry["time"], key) for key, entry in noted.items() if group_ids is None or entry["group"] in group_ids]
        if self._exclusive and group_ids is None:
            found += [(0, record.key) for record in self._documents.list() if record.key is not None and record.key not in noted]
        wanted = [key for at, key in sorted(found) if (before is None or at < before) and (after is None or at > after)]
        return wanted[:limit]

    def delete_keys(self, keys: Sequence[str]) -> None:
        """Note nothing more of keys. Their documents stay."""
        self._cache.delete_many([_KEY + key for key in keys])

    async def acreate_schema(self) -> None:
        """See ``create_schema``."""

    async def aget_time(self) -> float:
        """See ``get_time``."""
        return await run_in_executor(None, self.get_time)

    async def aupdate(
        self, keys: Sequence[str], *, group_ids: Sequence[str | None] | None = None, time_at_least: float | None = None
    ) -> None:
        """See ``update``."""
        await run_in_executor(None, self.update, keys, group_ids=group_ids, time_at_least=time_at_least)

    async def aexists(self, keys: Sequence[str]) -> list[bool]:
        """See ``exists``."""
        return await run_in_executor(None, self.exists, keys)

    async def alist_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """See ``list_keys``."""
        return await run_in_executor(None, self.list_keys, before=before, after=after, group_ids=group_ids, limit=limit)

    async def adelete_keys(self, keys: Sequence[str]) -> None:
        """See ``delete_keys``."""
        await run_in_executor(None, self.delete_keys, keys)
