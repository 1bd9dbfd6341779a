"""Part two of the demo, continued: a fact that changes, one that expires, a source that is withdrawn, and a purge."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

from demo_claims import chapter, claim, in_words, occurrences, say, table
from demo_conversation import AGENT, Session, date_of

from indelible.search.normalise import tokens

DAY_MS = 86_400_000
SECRET = "osprey7716vk"
LIES = ("The office has moved to Atlantis", "Every invoice goes to the account in Atlantis", "The password policy ends in Atlantis")


def changed_fact(session: Session) -> None:
    """A fact that changes keeps its history."""
    chapter("A fact that changes")
    question, old, new = _change(session)
    facts = session.store.scope(agent_id=AGENT, user_id="profile")
    first = facts.remember(old["text"], key=question["id"], source="user", occurred_at=date_of(old))
    session.clock.advance(ms=max(1, (date_of(new) - date_of(old)) // timedelta(milliseconds=1)))
    second = facts.edit(first.id, content=new["text"])
    say(question["text"])
    table(
        "its history",
        ["version", "when", "what"],
        [[str(change.version), f"{change.at:%Y-%m-%d %H:%M}", str(change).split("Z ", 1)[1]] for change in facts.history(first.id)],
        wide=[2],
    )
    claim(
        "one record, two versions: created_at is kept, updated_at is later",
        second.id == first.id and first.created_at == second.created_at < second.updated_at,
    )
    claim("recall gives what holds now", [hit.content for hit in facts.recall(question["text"])] == [new["text"]])
    claim(
        "as of the first version it gives what held then",
        [hit.content for hit in facts.at(first.version).recall(question["text"])] == [old["text"]],
    )
    gone = [word for word in tokens(old["text"]) if word not in tokens(new["text"])]
    if gone:
        claim(
            f'a word of the old text only, "{gone[0]}", is found then and not now',
            bool(facts.at(first.version).search(gone[0])) and not facts.search(gone[0]),
        )
    back = facts.undo(first.id)
    claim(
        "undo brings the old text back as a third version",
        back is not None and back.content == old["text"] and len(facts.history(first.id)) == 3,
    )


def _change(session: Session) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A question whose answer changed, with the turn before and the turn after; if a set has none, one turn and a correction of it."""
    turns, evidence = session.source.turns, session.source.evidence
    pairs = {q["id"]: sorted((turns[name] for name in evidence[q["id"]]), key=date_of) for q in session.source.questions}
    for wanted in ("knowledge-update", None):
        fitting = [
            q
            for q in session.source.questions
            if len(pairs[q["id"]]) == 2 and date_of(pairs[q["id"]][0]) < date_of(pairs[q["id"]][1]) and wanted in (None, q.get("type"))
        ]
        if fitting:
            question = session.chance.choice(fitting)
            return question, pairs[question["id"]][0], pairs[question["id"]][1]
    question = session.chance.choice(session.source.questions)
    old = pairs[question["id"]][0]
    return question, old, {**old, "text": "Correction: " + old["text"]}


def expiry(session: Session) -> None:
    """A fact with a time to live; the clock is moved, nothing sleeps."""
    chapter("Expiry: hidden by time, deleted by nothing")
    guest = session.store.scope(agent_id=AGENT, user_id="guest")
    fact = guest.remember("The guest network is called Heron this week", ttl_ms=7 * DAY_MS)
    claim("it is found today", [hit.id for hit in guest.search("heron")] == [fact.id])
    session.clock.advance(ms=7 * DAY_MS - 1)
    claim("and one millisecond before the week is over", len(guest.recall("what is the network called?")) == 1)
    session.clock.advance(ms=1)
    claim("and not when it is", not (guest.search("heron") or guest.recall("what is the network called?") or guest.list()))
    claim("it is still in the file: include_expired shows it", guest.get(fact.id, include_expired=True) is not None)
    claim("a view of the past judges it by the clock of then", len(guest.at(fact.version).search("heron")) == 1)
    claim("forget_expired appends one tombstone, and no second one", (guest.forget_expired(), guest.forget_expired()) == (1, 0))


def withdrawn_source(session: Session) -> None:
    """A source turns out to lie."""
    chapter("A source is withdrawn")
    store = session.store.scope(agent_id=AGENT, user_id="profile")
    store.remember_many(list(LIES), source="import:forum")
    found = store.search("atlantis")
    claim(
        f"{len(found)} memories came from import:forum, and recall believes them",
        len(found) == len(LIES) and "Atlantis" in store.recall("where is the office?")[0].content,
    )
    claim(f"withdraw(source=...) forgets {len(LIES)} at once", store.withdraw(source="import:forum") == len(LIES))
    claim(
        "no search finds them",
        store.search("atlantis") == [] and not any("Atlantis" in hit.content for hit in store.recall("where is the office?")),
    )
    claim("each can be brought back", store.undo(found[0].id) is not None and [hit.id for hit in store.search("atlantis")] == [found[0].id])
    claim("and withdrawn again", store.withdraw(source="import:forum") == 1)


def purge(session: Session, folder: Path) -> None:
    """A secret in every field of a memory is destroyed."""
    chapter("A purge among real conversations")
    store, path = session.store, Path(session.store.path)
    record = store.remember(
        f"My recovery phrase is {SECRET}", agent_id=AGENT, user_id="profile", key=SECRET, source=SECRET, metadata={"phrase": SECRET}
    )
    store.feedback(record.id, "up", note=SECRET)
    store.edit(record.id, content=f"My recovery phrase was {SECRET}")
    before, live = occurrences(SECRET, path), store.count()
    say(f"in the bytes of the files: {in_words(before)}")
    claim("the secret is there", sum(before.values()) > 0)
    claim("purge(id) destroys it", store.purge(record.id, reason="secret") == 1)
    store.vacuum()
    exported, backup = folder / "log.jsonl", folder / "backup.db"
    store.export(exported)
    store.backup(backup)
    after = occurrences(SECRET, path) | occurrences(SECRET, backup) | occurrences(SECRET, exported)
    say(f"after purge and vacuum: {in_words(after)}")
    claim("no file of the store, no new export and no new backup holds it", len(after) == 5 and sum(after.values()) == 0)
    claim("every other memory is there", store.count() == live - 1)
    report = store.verify()
    claim(f"all {report.events} events verify, the purged ones by their hashes", report.ok and report.events == store.version)
    with_import = store.import_(exported)
    claim("importing the export again adds nothing", with_import.added == 0 and with_import.known == report.events)
