"""Whose memory it is, and how long it is shown; and the difference between forgetting and destroying."""

from __future__ import annotations

from indelible import InvalidInput, MemoryStore
from indelible.testing import FakeClock, HashEmbedder

HOUR_MS = 3600 * 1000

clock = FakeClock()  # so that an hour can go by at once
with MemoryStore(":memory:", clock=clock, embedder=HashEmbedder(), require_scope=True) as store:
    ada = store.scope(agent_id="assistant", user_id="ada")
    bob = store.scope(agent_id="assistant", user_id="bob")
    ada.remember("The dentist is on Tuesday")
    tuesday = bob.remember("The concert is on Tuesday", metadata={"kind": "event"})

    # A view reaches its own scope and nothing else; another's id gets the answer of no id at all.
    print([hit.content for hit in ada.search("tuesday")])
    # -> ['The dentist is on Tuesday']
    print(ada.get(tuesday.id), ada.forget(tuesday.id), ada.history(tuesday.id))
    # -> None False []

    # It can be narrowed further, never widened.
    try:
        ada.search("tuesday", user_id="bob")
    except InvalidInput as error:
        print(error)
    # -> this view is bound to user_id='ada' and cannot reach user_id='bob': use the store itself

    # The store itself sees all. With require_scope=True nothing is remembered without saying whose it is.
    print([(scope.user_id, count) for scope, count in store.scopes()])
    # -> [('ada', 1), ('bob', 1)]
    try:
        store.remember("Whose is this?")
    except InvalidInput as error:
        print(str(error).split(":")[0])
    # -> agent_id is missing

    # A time to live hides a memory when it is over. Nothing deletes it.
    code = ada.remember("The door code is 4711", ttl_ms=HOUR_MS)
    print(len(ada.search("code")))
    # -> 1
    clock.advance(ms=HOUR_MS)
    print(len(ada.search("code")), len(ada.search("code", include_expired=True)))
    # -> 0 1
    print(ada.forget_expired(), ada.forget_expired())  # appends a tombstone for each, once
    # -> 1 0

    # Forgetting hides: the text stays in the file and in the history. Purging destroys, and leaves a mark.
    print([change.record.content for change in ada.history(code.id) if change.record])
    # -> ['The door code is 4711']
    print(ada.purge(code.id, reason="secret"), [change.record for change in store.history(code.id)])
    # -> 1 [None, None, None]

    # Many at once: counted first, done only when it is said twice.
    preview = ada.prune(keywords="dentist")
    print(preview.count, preview.done)
    # -> 1 False
    receipt = store.erase(user_id="bob", confirm=True)
    print(receipt.count, receipt.done, store.verify().ok)
    # -> 1 True True
