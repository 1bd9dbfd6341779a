"""Key/value memory: for a session, and on disk with every version. Needs nothing but indelible."""

from __future__ import annotations

import tempfile
from pathlib import Path

from indelible import InvalidInput, Memory, MockModel, PersistentMemory, ask_with_memory, delegation

# A session's memory holds any object and ends with the process.
notes = Memory("notes", kind="working")
notes.remember("topic", "sense keywords")
print(notes.recall("topic"), notes.recall("missing"), notes.keys())
# -> sense keywords None ['topic']

with tempfile.TemporaryDirectory() as folder:
    # On disk. Without path= the file is .sense_memory/ledger.sense_memory.db beside the file that says this.
    with PersistentMemory("ledger", path=Path(folder) / "ledger.db") as ledger:
        ledger.remember("name", "ada")
        ledger.remember("tags", ["first", 1, None])
        ledger.remember("name", "ada lovelace")  # a new version, not an overwrite

        # A version is a position in the file's log, so "name" has the versions 1 and 3.
        print(ledger.recall("name"), "- was", ledger.as_of("name", 1))
        # -> ada lovelace - was ada
        for version in ledger.versions("name"):
            print(version.version, version.op, version.value)
        # -> 1 remember ada
        # -> 3 remember ada lovelace

        ledger.forget("name")  # a fourth event
        print(ledger.keys(), ledger.as_of("name", 3))
        # -> ['tags'] ada lovelace

        try:
            ledger.remember("bad", {"a": object()})
        except InvalidInput:
            print("refused, and nothing was written:", ledger.version)
        # -> refused, and nothing was written: 4

    # Another process, or the next run, goes on where this one ended.
    with PersistentMemory("ledger", path=Path(folder) / "ledger.db") as ledger:
        ledger.remember("favorite_color", "blue")
        print(ledger.version)
        # -> 5

        # The whole memory stands ahead of the prompt, whatever the model.
        with delegation(MockModel("blue")):
            answer = ask_with_memory("what is my favorite color?", ledger)
        print(answer.value)
        # -> blue
        print(answer.prompt)
        # -> Known information from memory:
        # -> - tags: ["first",1,null]
        # -> - favorite_color: blue
        # ->
        # -> what is my favorite color?
