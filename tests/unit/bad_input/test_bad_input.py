"""S2, S7, S31, S45, S46, S70, S83: every parameter of every public verb is given everything it does not want.

What comes back is a defined answer or an error of ours; after an error nothing is written, and after anything the store still answers.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indelible import IndelibleError, MemoryStore, PersistentMemory, UnsupportedOperation
from tests.crash.disks import quick_folder
from tests.unit.bad_input.hostile_arguments import HOSTILE
from tests.unit.bad_input.public_calls import CALLBACKS, NOT_CALLED, OBJECTS, REFUSED, TABLE, VERBS, Verb, World, world


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where files may be made; a path that a verb takes for good leads into a folder of the test's own."""
    with quick_folder(tmp_path) as place:
        for name in ("cwd", "files"):
            (place / name).mkdir()
        monkeypatch.chdir(place / "cwd")
        yield place / "files"


def wrong_with(verb: Verb, here: World, parameter: str, kind: str) -> str | None:
    """What is wrong with how a verb takes a hostile value, if anything."""
    before = here.version()
    where = f"{verb}({parameter}={kind})"
    value = HOSTILE[kind]()
    try:
        outcome = verb.call(here, **{parameter: value})
        _close(outcome)
    except IndelibleError as error:
        if here.version() != before:
            return f"{where}: raised {type(error).__name__}, and wrote all the same"
        if not str(error).strip():
            return f"{where}: an error that says nothing"
        return None
    except Exception as error:
        if parameter in CALLBACKS and callable(value):
            return None
        return f"{where}: {type(error).__name__}: {str(error)[:200]}"
    return None


def _close(outcome: object) -> None:
    """A verb that opens a store of its own leaves it to the caller to close."""
    if isinstance(outcome, MemoryStore | PersistentMemory) and outcome.path != ":memory:":
        outcome.close()


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS, ids=str)
def test_hostile_arguments(verb: Verb, folder: Path) -> None:
    """Each parameter in turn gets each hostile value, the others being good."""
    found: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        with world(folder) as here:
            parameters = verb.parameters(here)
        for parameter in parameters:
            with world(folder) as here:
                found += [problem for kind in HOSTILE if (problem := wrong_with(verb, here, parameter, kind)) is not None]
                assert here.answers(), f"{verb}({parameter}=...) left the store damaged"
    assert not found, f"{len(found)} in all:\n" + "\n".join(found[:40])


@pytest.mark.parametrize("verb", VERBS, ids=str)
def test_good_arguments(verb: Verb, folder: Path) -> None:
    """Control: the arguments that the hostile ones are put among are good."""
    with world(folder) as here:
        if verb.name in REFUSED.get(verb.of, ()):
            with pytest.raises(UnsupportedOperation):
                verb.call(here)
        else:
            _close(verb.call(here))
        assert here.answers()


@pytest.mark.parametrize("verb", VERBS, ids=str)
def test_unknown_and_missing_arguments(verb: Verb, folder: Path) -> None:
    """Python itself refuses an argument that no parameter takes; ours is the refusal where a verb passes names on."""
    with world(folder) as here:
        before = here.version()
        with pytest.raises((TypeError, IndelibleError)):
            verb.call(here, no_such_argument=1)
        assert here.version() == before
        assert here.answers()


@pytest.mark.parametrize("of", TABLE)
def test_the_table_has_every_verb(of: str, folder: Path) -> None:
    """A new public verb must come into the table."""
    with world(folder) as here:
        if of in ("indelible", "AsyncMemoryStore"):  # the latter has the verbs of the store, whatever they are
            return
        public = {
            name for name, member in inspect.getmembers_static(OBJECTS[of](here)) if not name.startswith("_") and callable_member(member)
        }
    assert public - NOT_CALLED == set(TABLE[of]) | REFUSED.get(of, set())


def callable_member(member: Any) -> bool:
    return inspect.isfunction(member) or isinstance(member, classmethod | staticmethod)


@pytest.mark.parametrize(("of", "name"), [(of, name) for of, names in REFUSED.items() for name in names])
def test_what_is_not_offered_says_so(of: str, name: str, folder: Path) -> None:
    """Whatever it is given, it says what does it instead."""
    with world(folder) as here:
        before = here.version()
        good = TABLE[of].get(name, {})
        with pytest.raises(UnsupportedOperation, match=r"\w+ \w+"):
            Verb(of, name, good).call(here)
        assert here.version() == before
