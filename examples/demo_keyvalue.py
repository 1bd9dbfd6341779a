"""Part one of the demo: key/value memory, time travel, the chain of hashes, a purge, and memory in a prompt."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from demo_claims import chapter, claim, in_words, occurrences, say, show_prompt, table

from indelible import Memory, MemoryStore, MockModel, PersistentMemory, ask_with_memory, audit_log, compose_prompt, delegation

SECRET = "kestrel0451zq"  # one word in lower case: the keyword index holds it in the same form, so a search for its bytes finds that too

_RECALL_ELSEWHERE = """
import sys
from indelible import PersistentMemory
with PersistentMemory("ledger", path=sys.argv[1]) as ledger:
    print(ledger.recall("name"))
"""

_TAMPER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
refused = 0
for statement in ("UPDATE payload SET body = replace(body, 'ada', 'eve')", "DELETE FROM event", "UPDATE event SET clock = 0"):
    try:
        connection.execute(statement)
    except sqlite3.DatabaseError:
        refused += 1
connection.execute("DROP TRIGGER payload_is_never_updated")
connection.execute("UPDATE payload SET body = replace(body, 'ada', 'eve')")
connection.commit()
connection.close()
print(refused)
"""


def run(folder: Path) -> None:
    """Show it all on a file in a folder."""
    session_memory()
    path = folder / "notes.db"
    persistent_memory(path)
    time_travel(path)
    default_location(folder)
    chain(path, folder / "copy.db")
    purge(path)
    asking(path)


def session_memory() -> None:
    """The shape of it."""
    chapter("Session memory: Memory(kind='working')")
    notes = Memory("notes", kind="working")
    notes.remember("topic", "sense keywords")
    claim('recall("topic") is "sense keywords"', notes.recall("topic") == "sense keywords")
    claim('recall("missing") is None, not an error', notes.recall("missing") is None)
    notes.forget("topic")
    claim("after forget the keys are []", notes.keys() == [])
    claim(
        'kind is free text, or None: "short-term", None', (Memory(kind="short-term").kind, Memory("untagged").kind) == ("short-term", None)
    )


def persistent_memory(path: Path) -> None:
    """Every version of a key, on disk."""
    chapter("Persistent memory: a real file, every version kept")
    with PersistentMemory("ledger", path=path) as ledger:
        ledger.remember("name", "ada")
        ledger.remember("name", "ada lovelace")
        claim('recall("name") is the latest, "ada lovelace"', ledger.recall("name") == "ada lovelace")
        claim('as_of("name", 1) is "ada"', ledger.as_of("name", 1) == "ada")
        elsewhere = subprocess.run(
            [sys.executable, "-c", _RECALL_ELSEWHERE, path], capture_output=True, text=True, check=True, timeout=60
        ).stdout.strip()
        claim(f"another process reads the same from the file: {elsewhere}", elsewhere == "ada lovelace")
        ledger.forget("name")
        claim("forget hides it", ledger.recall("name") is None and ledger.keys() == [])
        lines = ledger.history("name")
        for line in lines:
            say(line)
        claim(
            "forget appended a third line to its history and changed none",
            [version.op for version in ledger.versions("name")] == ["remember", "remember", "forget"] and len(lines) == 3,
        )
        ledger.remember("name", "ada lovelace")


def time_travel(path: Path) -> None:
    """The whole memory at a version, and at a time."""
    chapter("Time travel: as_of, at(version), at(time)")
    before = datetime.now(UTC)
    with PersistentMemory("ledger", path=path) as ledger:
        ledger.remember("engine", ["mill", "store"])
        versions = range(ledger.version + 1)
        table("at(v).items()", ["v", "what the memory held"], [[str(v), repr(ledger.at(v).items())] for v in versions], wide=[1])
        claim("at(0) is empty, at(1) holds the first name", (ledger.at(0).items(), ledger.at(1).items()) == ([], [("name", "ada")]))
        claim("at(3) has forgotten it", ledger.at(3).items() == [])
        claim("a version beyond the newest is the current one", ledger.as_of("name", 2**70) == ledger.recall("name"))
        claim('at(a time) is what had arrived by then: no "engine"', ledger.at(before).keys() == ["name"])


def default_location(folder: Path) -> None:
    """Where a memory without a path lies."""
    chapter("Without a path: beside the file that declares it")
    with PersistentMemory("ledger", anchor=folder / "script.py") as ledger:
        say(f"{Path(ledger.path).relative_to(folder.resolve())}")
        claim(
            "it is .sense_memory/ledger.sense_memory.db there",
            Path(ledger.path) == folder.resolve() / ".sense_memory/ledger.sense_memory.db",
        )


def chain(path: Path, copy: Path) -> None:
    """The chain of hashes verifies, and a changed copy does not."""
    chapter("The chain of hashes: verify()")
    with MemoryStore(path) as store:
        report = store.verify()
        for device, (number, digest) in report.heads.items():
            say(f"device {device[:8]}…: {number} events, the chain ends with {digest[:16]}…")
        claim(f"{report.events} events verify: as many as there were remembers and forgets", report.ok and report.events == 5)
        store.backup(copy)
    done = subprocess.run([sys.executable, "-I", "-c", _TAMPER, copy], capture_output=True, text=True, check=True, timeout=60)
    claim("the tables of a copy refuse an UPDATE and a DELETE", done.stdout.strip() == "3")
    with MemoryStore(copy) as tampered:
        report = tampered.verify()
        say(report.problems[0] if report.problems else "no problem found")
        claim(
            "with the triggers dropped and one word changed, verify() tells",
            not report.ok and "not the one that was written" in report.problems[0],
        )


def purge(path: Path) -> None:
    """A secret is destroyed, and its bytes are gone."""
    chapter("Purge: the one way to destroy, and it leaves a mark")
    with MemoryStore(path) as store:
        kept = store.memory().items()
        secret = store.remember(f"The door code is {SECRET}", user_id="ada", source="ada")
        store.edit(secret.id, metadata={"code": SECRET})
        before = occurrences(SECRET, path)
        say(f"as another process counts it: {in_words(before)}")
        claim("the secret can be found, in recall and in the bytes of the files", bool(store.search(SECRET)) and sum(before.values()) > 0)
        store.forget(secret.id)
        claim(
            "forget hides it from search, but not from the file", not store.search(SECRET) and sum(occurrences(SECRET, path).values()) > 0
        )
        newest = store.version
        claim("purge destroys one record", store.purge(secret.id, reason="secret") == 1)
        store.vacuum()
        after = occurrences(SECRET, path)
        say(f"as another process counts it: {in_words(after)}")
        claim("its bytes are gone from the database and its -wal and -shm", sum(after.values()) == 0 and len(after) == 3)
        for change in store.history(secret.id):
            say(str(change))
        claim("history says so, in the next version", store.history(secret.id)[-1].op == "purge" and store.version == newest + 1)
        claim(
            "numbering has no gap and the chain still verifies",
            store.verify().ok and [e.version for e in store.iter_events()] == [*range(1, newest + 2)],
        )
        claim("the rest is untouched", store.memory().items() == kept)


def asking(path: Path) -> None:
    """Memory ahead of a prompt, for any model."""
    chapter("ask_with_memory: what the model is shown")
    profile = Memory("profile")
    profile.remember("favorite_color", "blue")
    model = MockModel("blue")
    with delegation(model):
        answer = ask_with_memory("what is my favorite color?", profile)
    show_prompt(answer.prompt)
    claim(f"the answer is {answer.value}", answer.value == "blue")
    claim(
        "the model got exactly this",
        model.prompts == ["Known information from memory:\n- favorite_color: blue\n\nwhat is my favorite color?"] == [answer.prompt],
    )
    claim("an empty memory leaves the prompt as it is", compose_prompt("hello", Memory()) == "hello")
    with PersistentMemory("ledger", path=path) as ledger:
        version = ledger.version
        prompts = [compose_prompt("who am I?", ledger.at(v)) for v in (1, 2)]
        claim(
            "a persistent memory at version 1 gives the prompt of then",
            ("- name: ada\n" in prompts[0], "lovelace" in prompts[1]) == (True, True),
        )
        claim("asking writes nothing", ledger.version == version)
    claim("calls of a mock are not audited", audit_log() == [])
