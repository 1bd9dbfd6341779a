"""Running a model by onnxruntime: one item per run, several at the same time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from indelible.embed.extra import Needs
from indelible.errors import InvalidInput, ModelError

_MOST_WORKERS = 4  # more threads than that only take the machine away from its owner
Item = TypeVar("Item")
Result = TypeVar("Result")


def open_session(path: Path, needs: Needs) -> Any:
    """Load a model.

    Args:
        path: its file, already checked.
        needs: says which extra brings onnxruntime.

    Raises:
        MissingExtra: onnxruntime is not installed.
        ModelError: it cannot load the file.
    """
    with needs("onnxruntime"):
        import onnxruntime
    try:
        onnxruntime.disable_telemetry_events()  # some builds for Windows report; nothing of ours does
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # one text is too small to share: threads go to different texts
        options.inter_op_num_threads = 1
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3  # errors only
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no common root for its errors
        raise ModelError(f"onnxruntime {onnxruntime.__version__} cannot load {path}: {error}") from error


def run_each(one: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
    """Do the same with each item, on so many threads, in the order of the items."""
    if workers > 1:
        try:
            # A pool per call costs a fraction of one text, and leaves no idle threads behind for a fork to lose.
            from concurrent.futures import ThreadPoolExecutor

            pool = ThreadPoolExecutor(workers, thread_name_prefix="indelible-embed")
            rows = pool.map(one, items)
        except RuntimeError:  # the interpreter is shutting down and starts no more threads
            return [one(item) for item in items]
        with pool:
            return list(rows)
    return [one(item) for item in items]


def checked_workers(workers: int | None) -> int:
    """How many threads: as given, else as many as the process has processors, at most 4.

    Raises:
        InvalidInput: not a positive int.
    """
    if workers is not None and (type(workers) is not int or workers < 1):
        raise InvalidInput(f"workers must be a positive int or None, not {workers!r}")
    return workers or min(_MOST_WORKERS, _processors())


def _processors() -> int:
    """How many processors this process may use, which in a container can be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
