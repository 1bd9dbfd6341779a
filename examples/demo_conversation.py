"""Part two of the demo: real conversations are read in, and questions about them are answered, now and as of an earlier version."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from data.make_sample import Conversations, draw, read
from demo_claims import chapter, claim, one_line, say, show_prompt, table

from indelible import Hit, MemoryStore, MockModel, ask_with_memory
from indelible.testing import FakeClock

MOST_TURNS = 300
CHUNKS = 6
AGENT, USER = "demo", "somebody"
NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""Stands for a date that a set does not have."""


@dataclass
class Session:
    """A store with conversations in it.

    Attributes:
        store: the store.
        clock: its clock, moved by hand to the dates of the conversations.
        source: what was read in.
        chance: draws what is shown.
        middle: the version at which half of the turns were there.
        probe: a question whose answer came later, if there is one.
        noted: what the store answered to it at that version.
        measured: what is printed at the end.
    """

    store: MemoryStore
    clock: FakeClock
    source: Conversations
    chance: random.Random
    middle: int = 0
    probe: dict[str, Any] = field(default_factory=dict)
    noted: list[tuple[str, float]] = field(default_factory=list)
    measured: dict[str, str] = field(default_factory=dict)

    def answers(self, question: dict[str, Any], hit: Hit) -> bool:
        """Whether a hit is one of the turns that answer a question."""
        return hit.metadata.get("turn") in self.source.evidence[question["id"]]


def take(folder: Path, seed: int) -> Conversations:
    """The conversations of a folder, cut down to what a demo can read in."""
    source = read(folder)
    if len(source.turns) > MOST_TURNS:
        say(f"{folder.name} has {len(source.turns)} turns; seed {seed} draws {MOST_TURNS} of them, with what answers the questions drawn")
        source = draw(source, turns=MOST_TURNS, questions=MOST_TURNS // 3, seed=seed)
    if not source.questions:
        raise SystemExit(f"{folder} has no question that one of its turns answers")
    return source


def date_of(row: dict[str, Any]) -> datetime:
    """When a turn was said: ``2023/04/10 (Mon) 14:47`` or an ISO date; a set without dates stands at one moment."""
    text = str(row.get("date") or "")
    try:
        found = datetime.strptime(f"{text[:10]} {text[-5:]}", "%Y/%m/%d %H:%M") if "(" in text else datetime.fromisoformat(text)
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
    except ValueError:
        return NO_DATE
    return found if 1970 < found.year < 2200 else NO_DATE


def read_in(session: Session) -> None:
    """Remember the turns in the order of their dates, and ask one question half way."""
    chapter("Real conversations are read in")
    turns = sorted(session.source.turns.values(), key=date_of)
    size = -(-len(turns) // CHUNKS)
    later = {turn["id"] for turn in turns[size * (CHUNKS // 2) :]}
    fitting = [q for q in session.source.questions if session.source.evidence[q["id"]] <= later]
    session.probe = session.chance.choice(fitting or session.source.questions)
    session.store.recall("warm up", limit=1)  # loads the model, which is no part of the rate
    spent = 0.0
    for number, start in enumerate(range(0, len(turns), size), 1):
        chunk = turns[start : start + size]
        move_to(session.clock, date_of(chunk[-1]))
        began = time.perf_counter()
        session.store.remember_many(
            [
                {
                    "content": turn["text"],
                    "occurred_at": date_of(turn),
                    "source": turn.get("role", "user"),
                    "metadata": {"turn": turn["id"]},
                }
                for turn in chunk
            ],
            agent_id=AGENT,
            user_id=USER,
        )
        spent += time.perf_counter() - began
        if number == CHUNKS // 2:
            session.middle = session.store.version
            session.noted = ranked(session.store.recall(session.probe["text"], mode="hybrid"))
    session.measured["ingest, embedding included"] = f"{len(turns) / spent:.0f} turns/s"
    claim(
        f"{len(turns)} turns are {len(turns)} memories, {session.store.version} versions",
        session.store.count() == session.store.version == len(turns),
    )
    stranger = session.store.scope(agent_id=AGENT, user_id="somebody else")
    claim("another user's view of the same file sees none of them", stranger.count() == 0 and stranger.recall(session.probe["text"]) == [])


def move_to(clock: FakeClock, moment: datetime) -> None:
    """Move a clock forward to a moment."""
    wanted = int(moment.timestamp() * 1_000_000)
    clock.advance(us=max(0, wanted - clock.now_us()))


def ranked(hits: list[Hit]) -> list[tuple[str, float]]:
    """Ids and scores, in order. Six digits: the last bits of a sum depend on how many rows the processor adds at once."""
    return [(hit.id, round(hit.rank_score, 6)) for hit in hits]


def look_back(session: Session) -> None:
    """The same question as of an earlier version, against what was noted then."""
    chapter("The same question, as of an earlier version")
    question = session.probe["text"]
    past = session.store.at(session.middle)
    then, now = past.recall(question, mode="hybrid"), session.store.recall(question, mode="hybrid")
    rows = [[one_line(a.content), one_line(b.content)] for a, b in zip(then, now, strict=False)][:3]
    table(one_line(question), [f"as of version {session.middle}", f"now, version {session.store.version}"], rows, wide=[0, 1])
    claim("recall as of then gives the hits, order and scores that were noted then", ranked(then) == session.noted)
    claim("none of them was written later", all(hit.record.version <= session.middle for hit in then))
    came_later = not any(past.get(hit.id) for hit in now if session.answers(session.probe, hit))
    if came_later and any(session.answers(session.probe, hit) for hit in now):
        claim(
            "now it finds a turn that answers, and as of then it finds none", not any(session.answers(session.probe, hit) for hit in then)
        )
    claim("a view of the past counts what was there", past.count() == session.middle)


def prompt(session: Session) -> None:
    """Memory ahead of a question, from the store."""
    chapter("ask_with_memory on a store")
    question = session.chance.choice(session.source.questions)["text"]
    model = MockModel("(a model's answer)")
    before = session.store.version
    answer = ask_with_memory(question, session.store, model, limit=3)
    show_prompt(answer.prompt)
    shown = answer.prompt.count("\n- ") - bool(answer.left_out)
    claim(f"it shows {len(answer.used)} memories, each on its own line", 0 < shown == len(answer.used) <= 3)
    if answer.left_out:
        claim(f"and says that {answer.left_out} more were found", f"\n- ({answer.left_out} more not shown)\n" in answer.prompt)
    claim("the question itself stands last, unchanged", answer.prompt.endswith("\n\n" + question))
    claim("nothing was written by asking", session.store.version == before)
