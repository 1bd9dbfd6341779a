"""The verbs on the file: verify, rebuild, reindex, vacuum, health, doctor, path."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict

import click

from indelible.cli.call import Call, by_name, verb
from indelible.cli.output import answer, answer_fields, counted, progress
from indelible.errors import IntegrityFailure


@verb("verify", scoping="none")
def verify(call: Call) -> None:
    """Check every hash, and every view against the log. Exit code 6 if anything is wrong."""
    with call.existing_store() as store:
        report = store.verify()
    heads = {device: {"seq": seq, "hash": digest} for device, (seq, digest) in report.heads.items()}
    document = {"ok": report.ok, "events": report.events, "heads": heads, "problems": list(report.problems)}
    answer_fields(call, document, {**document, "problems": "\n".join(report.problems) or "none"})
    if not report.ok:
        raise IntegrityFailure(
            f"{store.path} does not verify, problems: {len(report.problems)}; see the result, then rebuild or restore a backup"
        )


@verb("rebuild", scoping="none")
def rebuild(call: Call) -> None:
    """Make every index and view anew from the log. Answers stay the same."""
    with call.existing_store() as store:
        store.rebuild()
        version = store.version
    answer(call, {"version": version}, f"rebuilt everything from the log up to version {version}")


@verb("reindex", scoping="none")
@click.option("--model", type=click.Choice(["bge-256", "static"]), help="Move the memories to this model.  [default: bge-256]")
def reindex(call: Call, model: str | None) -> None:
    """Make vectors: the missing ones, or with --model all. Interrupted, it goes on where it was when called again."""
    with call.existing_store() as store, progress("embedding") as moved:
        count = store.reindex(model, moved)
    answer(call, {"embedded": count}, f"embedded {counted(count, 'text', 'texts')}")


@verb("vacuum", scoping="none")
def vacuum(call: Call) -> None:
    """Give free space back to the system. Never changes an answer, a version or a history."""
    with call.existing_store() as store:
        done = store.vacuum()
    busy = "; a reader was in the way, call again later" if done.busy else ""
    answer(call, asdict(done), f"{done.bytes_before} bytes before, {done.bytes_after} after{busy}")


@verb("health", scoping="none")
def health(call: Call) -> None:
    """Whether the store answers, and its numbers; no content."""
    with call.store() as store:
        answer_fields(call, asdict(store.health()))


@verb("doctor", scoping="none")
def doctor(call: Call) -> None:
    """Engine, settings, risks and what to do about them."""
    with call.store() as store:
        found = asdict(store.doctor())
    found["risks"] = list(found["risks"])
    shown = {**found, "pragmas": ", ".join(f"{name}={value}" for name, value in found["pragmas"].items())}
    shown["risks"] = "\n".join(found["risks"]) or "none"
    answer_fields(call, found, shown)


@verb("path", scoping="none")
def path(call: Call) -> None:
    """Where the store's file is. Makes nothing."""
    where = call.path
    if call.as_json or sys.stdout.isatty():
        answer(call, {"path": where, "exists": os.path.exists(where)}, where)
    else:
        # For other programs, byte for byte: a path may hold what is not printable, or no text at all.
        sys.stdout.flush()
        sys.stdout.buffer.write(os.fsencode(where) + b"\n")
        sys.stdout.buffer.flush()


COMMANDS = by_name(verify, rebuild, reindex, vacuum, health, doctor, path)
