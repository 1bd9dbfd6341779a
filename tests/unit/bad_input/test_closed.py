"""S14: after ``close`` every verb that needs the store says that it was closed, and nothing else happens."""

from __future__ import annotations

from pathlib import Path

import pytest

from indelible import StoreClosed
from tests.unit.bad_input.public_calls import OBJECTS, REFUSED, VERBS, Verb, world

OF_THE_STORE = [verb for verb in VERBS if verb.of not in ("indelible", "Memory") and verb.name not in REFUSED.get(verb.of, ())]
WITHOUT_THE_STORE = {"at", "below", "collection", "memory", "scope", "restore_backup"}
"""Verbs that only make another object, or that open a store of their own."""


@pytest.mark.parametrize("verb", [verb for verb in OF_THE_STORE if verb.name not in WITHOUT_THE_STORE], ids=str)
@pytest.mark.parametrize("on_disk", [False, True], ids=["in memory", "in a file"])
def test_a_closed_store_says_so(verb: Verb, on_disk: bool, tmp_path: Path) -> None:
    """Whatever object of it one still holds; closing again is fine."""
    with world(tmp_path, on_disk=on_disk) as here:
        good = {name: make(here) for name, make in verb.good.items()}
        function = verb.function(here)
        here.store.close()
        here.memory.close()
        spread = [good.pop(name) for name in list(good) if name.startswith("*")]
        with pytest.raises(StoreClosed, match="closed"):
            list(function(*spread, **good) or ())
        here.store.close()
        here.memory.close()


def test_objects_are_still_made(tmp_path: Path) -> None:
    """What needs no store works as before, and what it makes says that the store is closed."""
    with world(tmp_path) as here:
        here.store.close()
        made = [make(here) for of, make in OBJECTS.items() if of in ("ScopedView", "PastView", "Collection", "CacheCollection")]
        for thing in made:
            with pytest.raises(StoreClosed):
                thing.list()
