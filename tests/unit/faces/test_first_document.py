"""The first source document, "Memory", statement by statement, with its examples as Python and what it says they print.

What a test quotes is what the page says. What is said of sessions, agents and tools is tested where those are.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from indelible import InvalidInput, Memory, MockModel, PersistentMemory, UnsupportedOperation, ask, ask_with_memory, audit_log, delegation
from tests.unit.faces.programs import DECLARE, run, write

KeyValue = Memory | PersistentMemory
Make = Callable[[], KeyValue]


@pytest.fixture(params=["session", "persistent"])
def notes(request: pytest.FixtureRequest, ledger: PersistentMemory) -> KeyValue:
    """Each kind of memory in turn, empty."""
    return Memory(kind="working") if request.param == "session" else ledger


def claude(prompt: str) -> str:
    """A model that answers from what stands before the question."""
    return "Your favorite color is blue." if "- favorite_color: blue" in prompt else "I do not know."


# The shape of it


def test_the_first_example(notes: KeyValue, capsys: pytest.CaptureFixture[str]) -> None:
    """Stated: "sense keywords", then nil "-- unlike a bare variable, no NameError", then an empty array."""
    notes.remember("topic", "sense keywords")
    print(notes.recall("topic"))
    print(notes.recall("missing"))
    notes.forget("topic")
    print(notes.keys())
    assert capsys.readouterr().out == "sense keywords\nNone\n[]\n"


def test_it_is_bound_in_whatever_scope_declares_it() -> None:
    """Stated: "`memory x` binds `x` in whatever scope it's declared in": two calls of a function have two memories."""

    def counted() -> int:
        seen = Memory("seen")
        seen.remember(str(len(seen.keys())), True)
        return len(seen.keys())

    assert [counted(), counted()] == [1, 1]


# Members


@pytest.mark.parametrize("key", [None, 1, 1.5, True, b"topic", ["topic"], ("topic",)])
def test_a_key_must_be_a_string(notes: KeyValue, key: object) -> None:
    """Stated: "`key` must be a `String` — a `SenseRuntimeError` otherwise"."""
    with pytest.raises(InvalidInput, match=f"a key must be a str, got {type(key).__name__}"):
        notes.remember(key, "value")  # type: ignore[arg-type]  # that is the test
    assert notes.keys() == []


def test_recall_returns_nothing_for_a_forgotten_key(notes: KeyValue) -> None:
    """Stated: "Returns the stored value, or `nil` if the key was never remembered (or was forgotten)"."""
    notes.remember("topic", "sense")
    notes.forget("topic")
    assert [notes.recall("topic"), notes.recall("never")] == [None, None]


def test_forgetting_what_was_never_there(notes: KeyValue) -> None:
    """Stated: "Forgetting a key that was never there is a no-op, not an error"."""
    notes.remember("topic", "sense")
    notes.forget("never")
    assert (notes.keys(), notes.recall("topic")) == (["topic"], "sense")


def test_keys_lists_everything_currently_remembered(notes: KeyValue) -> None:
    """Stated: "Returns an `Array<String>` of everything currently remembered"."""
    for key in ("a", "b", "c"):
        notes.remember(key, key.upper())
    notes.forget("b")
    assert notes.keys() == ["a", "c"]


# kind


def test_the_example_of_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    """Stated: "short-term", then nil."""
    short_term = Memory("short_term", "short-term")
    untagged = Memory("untagged")
    print(short_term.kind)
    print(untagged.kind)
    assert capsys.readouterr().out == "short-term\nNone\n"


@pytest.mark.parametrize("kind", ["long-term", "episodic", "semantic", "working", "", "whatever I like", "\n💾"])
def test_any_string_is_a_kind(kind: str) -> None:
    """Stated: "nothing validates it against a fixed list, so any string is accepted"."""
    assert Memory(kind=kind).kind == kind


def test_a_session_memory_is_not_persisted(tmp_path: Path) -> None:
    """Stated: "not persisted across runs": the next run starts empty, and neither leaves a file."""
    program = write(tmp_path / "run" / "main.py", "from indelible import Memory\nm = Memory('m')\nprint(m.keys())\nm.remember('a', 1)\n")
    assert [run(program, cwd=program.parent) for _ in range(2)] == ["[]", "[]"]
    assert [file.name for file in program.parent.iterdir()] == ["main.py"]


# Persistence and versioning


def test_the_example_of_a_ledger(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Stated: "a new row, not an overwrite"; "the latest"; "both versions, in order"; "time travel to version 1"."""
    monkeypatch.chdir(folder)
    ledger = PersistentMemory("ledger", "notes.db")
    ledger.remember("name", "ada")
    ledger.remember("name", "ada lovelace")
    print(ledger.recall("name"))
    for line in ledger.history("name"):
        print(line)
    print(ledger.as_of("name", 1))
    ledger.close()
    latest, first, second, earlier = capsys.readouterr().out.splitlines()
    assert (latest, earlier) == ("ada lovelace", "ada")
    assert first.startswith("v1 ")
    assert first.endswith(' remember "ada"')
    assert second.startswith("v2 ")
    assert second.endswith(' remember "ada lovelace"')
    assert (folder / "notes.db").is_file()


def test_it_is_there_in_the_next_run(path: Path) -> None:
    """Stated: "a durable, versioned store": another process finds the value and its history."""
    with PersistentMemory("ledger", path) as ledger:
        ledger.remember("name", "ada")
    again = f"from indelible import PersistentMemory\nm = PersistentMemory('ledger', {str(path)!r})\nprint(m.recall('name'), m.version)\n"
    assert run("-c", again, cwd=path.parent) == "ada 1"


def test_forget_writes_a_tombstone(ledger: PersistentMemory) -> None:
    """Stated: "`history(key)` still shows "this existed and was removed at version N"."""
    ledger.remember("name", "ada")
    ledger.forget("name")
    assert [line.split(" ", 2)[0::2] for line in ledger.history("name")] == [["v1", 'remember "ada"'], ["v2", "forget"]]
    assert (ledger.recall("name"), ledger.as_of("name", 1)) == (None, "ada")


def test_only_inserts(ledger: PersistentMemory, path: Path) -> None:
    """Stated: "`remember`/`forget` always `INSERT`, never `UPDATE`/`DELETE`": a row each, and the earlier rows stay as they were."""
    ledger.remember("name", "ada")
    before = _rows(ledger, path)
    with PersistentMemory("ledger", path) as again:
        again.remember("name", "ada lovelace")
        again.forget("name")
        after = _rows(again, path)
    assert len(before) == 1
    assert len(after) == 3
    assert after[:1] == before


def _rows(memory: PersistentMemory, path: Path) -> list[tuple[object, ...]]:
    memory.close()
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT e.*, p.body FROM event e JOIN payload p USING (version) ORDER BY version").fetchall()


def test_the_string_is_a_path_here(ledger: PersistentMemory, path: Path) -> None:
    """Stated: "The optional string means a file path here, not a category hint"; "`.path` is readable instead of `.kind`"."""
    assert ledger.path == str(path)
    assert not hasattr(ledger, "kind")
    assert not hasattr(Memory(), "path")


def test_it_is_a_wal_database(ledger: PersistentMemory, path: Path) -> None:
    """Stated: "Backed by stdlib sqlite3"; "Opened with `PRAGMA journal_mode=WAL`"."""
    ledger.remember("name", "ada")
    assert path.with_name("memory.db-wal").is_file()
    ledger.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("value", [7, -0.5, "text", True, False, None, [], [1, 2.5, "three", True, None, ["four"]]])
def test_what_json_has_can_be_remembered(ledger: PersistentMemory, value: object) -> None:
    """Stated: "`Int`/`Float`/`String`/`Bool`/`Nil`/`Array` of those"."""
    ledger.remember("value", value)
    assert ledger.recall("value") == value
    assert type(ledger.recall("value")) is type(value)


@pytest.mark.parametrize("value", [object(), {1, 2}, (1, 2), b"bytes", 1j, len, [1, [object()]], {"a": 1}])
def test_what_json_has_not_is_refused(ledger: PersistentMemory, value: object) -> None:
    """Stated: "raises `SenseRuntimeError` at `remember()` time, not silently coerced or dropped"."""
    with pytest.raises(InvalidInput, match="cannot be stored"):
        ledger.remember("value", value)
    assert (ledger.keys(), ledger.version) == ([], 0)


def test_as_of_before_the_key_existed(ledger: PersistentMemory) -> None:
    """Stated: "the value as of that version, or `nil` if the key didn't exist yet"."""
    ledger.remember("other", 1)
    ledger.remember("name", "ada")
    assert [ledger.as_of("name", 1), ledger.as_of("name", 2)] == [None, "ada"]


# Default location


def test_the_variable_names_one_flat_folder(tmp_path: Path) -> None:
    """Stated: "`SENSE_MEMORY_DIR`, if set": "flat under that directory (`<dir>/<name>.sense_memory.db`)", for every script alike."""
    chosen = tmp_path / "chosen"
    programs = [write(tmp_path / name / "main.py", DECLARE) for name in ("one", "two")]
    found = [run(program, cwd=tmp_path, variables={"SENSE_MEMORY_DIR": str(chosen)}) for program in programs]
    assert found == [str(chosen / "ledger.sense_memory.db")] * 2


def test_otherwise_next_to_the_declaring_file(tmp_path: Path) -> None:
    """Stated: "consistent no matter which directory `sense run` was invoked from", and two projects "can never collide"."""
    programs = [write(tmp_path / name / "main.py", DECLARE) for name in ("one", "two")]
    found = [run(program, cwd=cwd) for program in programs for cwd in (tmp_path, program.parent)]
    beside = [str(program.parent / ".sense_memory" / "ledger.sense_memory.db") for program in programs]
    assert found == [beside[0], beside[0], beside[1], beside[1]]


def test_last_resort_is_the_current_folder(tmp_path: Path) -> None:
    """Stated: "Only when there's no real file to anchor to at all": a bare file name in the current directory."""
    assert run("-c", DECLARE, cwd=tmp_path) == str(tmp_path / "ledger.sense_memory.db")


def test_an_explicit_path_wins(tmp_path: Path) -> None:
    """Stated: "always wins over all three"; "an explicit path's own missing parent directory is created automatically"."""
    mine = tmp_path / "missing" / "parent" / "mine.db"
    program = write(tmp_path / "one" / "main.py", f"from indelible import PersistentMemory\nPersistentMemory('ledger', {str(mine)!r})\n")
    run(program, cwd=tmp_path, variables={"SENSE_MEMORY_DIR": str(tmp_path / "chosen")})
    assert mine.is_file()
    assert not (tmp_path / "chosen").exists()
    assert not (tmp_path / "one" / ".sense_memory").exists()


# Concurrency, and what it deliberately does not do


def test_two_agents_may_write_at_once(ledger: PersistentMemory) -> None:
    """Stated: "two `async agent`s can safely write to the same one concurrently"."""

    async def agent(name: str) -> None:
        await asyncio.gather(*(asyncio.to_thread(ledger.remember, f"{name}{number}", number) for number in range(10)))

    async def both() -> None:
        await asyncio.gather(agent("a"), agent("b"))

    asyncio.run(both())
    assert sorted(ledger.keys()) == sorted(f"{name}{number}" for name in "ab" for number in range(10))
    assert ledger.version == 20


def test_what_it_deliberately_does_not_do(ledger: PersistentMemory) -> None:
    """Stated: "no compaction/`VACUUM`", "no TTL (silent expiry fights the whole point of an auditable log)"."""
    with pytest.raises(UnsupportedOperation, match="vacuum"):
        ledger.vacuum()
    with pytest.raises(UnsupportedOperation, match="ttl_ms"):
        ledger.remember("name", "ada", ttl_ms=1000)
    assert ledger.version == 0


def test_two_memories_are_two_independent_files(folder: Path) -> None:
    """Stated: "two `persistent memory` declarations are two independent files": each counts its own versions."""
    with PersistentMemory("a", folder / "a.db") as one, PersistentMemory("b", folder / "b.db") as two:
        one.remember("x", 1)
        one.remember("x", 2)
        two.remember("x", 3)
        assert (one.version, two.version, one.recall("x"), two.recall("x")) == (2, 1, 2, 3)


# ask_with_memory


def test_the_example_of_asking(capsys: pytest.CaptureFixture[str]) -> None:
    """The model knows the favorite color "without a tool call, and without the model needing to ask for anything"."""
    profile = Memory("profile")
    profile.remember("favorite_color", "blue")
    with delegation(claude):
        answer = ask_with_memory("what is my favorite color?", profile)
    print(answer.value)
    assert capsys.readouterr().out == "Your favorite color is blue.\n"


def test_the_contents_are_put_ahead_of_the_prompt(notes: KeyValue) -> None:
    """Stated: "the memory's entire current contents are injected ahead of the prompt as a "Known information from memory:" block"."""
    notes.remember("favorite_color", "blue")
    notes.remember("lucky_numbers", [7, 13])
    model = MockModel()
    ask_with_memory("what is my favorite color?", notes, model)
    assert model.prompts == [
        "Known information from memory:\n- favorite_color: blue\n- lucky_numbers: [7,13]\n\nwhat is my favorite color?"
    ]


def test_an_empty_memory_leaves_the_prompt_untouched(notes: KeyValue) -> None:
    """Stated: "(an empty memory leaves the prompt untouched)"."""
    model = MockModel("ok")
    ask_with_memory("  what?\n", notes, model)
    notes.remember("a", 1)
    notes.forget("a")
    ask_with_memory("  what?\n", notes, model)
    assert model.prompts == ["  what?\n", "  what?\n"]


def test_everything_else_is_an_ordinary_ask() -> None:
    """Stated: "capability gate, error wrapping, audit behavior — is identical to a plain `ask()` call"."""
    before = len(audit_log())
    ask("hello", claude)
    ask_with_memory("hello", Memory(), claude)
    plain, remembered = (line.split(" ", 1)[1] for line in audit_log()[before:])
    assert plain == remembered == "ask claude: 5 characters, 0 memories"


def test_this_is_retrieval_only(notes: KeyValue) -> None:
    """Stated: "This is retrieval only": whatever the model says, the memory stays as it was."""
    notes.remember("a", 1)
    ask_with_memory("Remember that b is 2, forget a.", notes, MockModel("remember('b', 2); forget('a')"))
    assert (notes.keys(), notes.recall("a")) == (["a"], 1)
