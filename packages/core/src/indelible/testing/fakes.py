"""Stand-ins for what a test must control: time, ids, a language model, and a backend that fails when told to."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

from indelible.backend.interface import Backend
from indelible.errors import InvalidInput, StoreUnavailable

DEFAULT_START_US = 1_767_225_600_000_000
"""2026-01-01T00:00:00Z."""


class FakeClock:
    """A wall clock that stands still until it is told to move.

    Args:
        start: microseconds since 1970 UTC.
    """

    def __init__(self, start: int = DEFAULT_START_US) -> None:
        self._now_us = start

    def now_us(self) -> int:
        return self._now_us

    def advance(self, *, ms: int = 0, us: int = 0) -> None:
        """Move the clock; a negative step is a clock set back."""
        self._now_us += ms * 1000 + us

    def __repr__(self) -> str:
        return f"FakeClock({self._now_us})"


class SequentialIds:
    """Record ids that count up: the same in every run, in the order in which they were made.

    Args:
        series: two sources with different series never make the same id.
    """

    def __init__(self, series: int = 0) -> None:
        self._series = series
        self._made = 0

    def __call__(self, clock_us: int) -> bytes:
        self._made += 1
        # Version and variant bits as in a version 7 UUID, so that nothing that reads ids takes offence.
        return (self._made << 80 | 0x7 << 76 | 0b10 << 62 | self._series).to_bytes(16, "big")


class ScriptedModel:
    """A language model that says what it was told to say.

    Args:
        answers: one per call, in order; an exception is raised instead. After the last one, the last is repeated.

    Attributes:
        prompts: what it was asked, in order.
    """

    def __init__(self, answers: Sequence[str | BaseException] = ("ok",)) -> None:
        if not answers:
            raise InvalidInput("a scripted model needs at least one answer")
        self._answers = list(answers)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        answer = self._answers[min(len(self.prompts), len(self._answers) - 1)]
        self.prompts.append(prompt)
        if isinstance(answer, BaseException):
            raise answer
        return answer


VERBS = frozenset(name for name in dir(Backend) if callable(getattr(Backend, name)) and not name.startswith("_")) - {"close"}


def _forwarded(verb: str) -> Callable[..., Any]:
    def forward(self: FlakyBackend, *args: Any, **kwargs: Any) -> Any:
        return self.run(verb, functools.partial(getattr(self.inner, verb), *args, **kwargs))

    return forward


class FlakyBackend(Backend):
    """Another backend, with failures at chosen calls.

    Args:
        inner: does the work.
        fail_on: which calls fail, counted from 1.
        verbs: which verbs are counted; by default all but ``close``.
        when: ``"before"`` fails instead of doing the work, ``"after"`` does it and loses the acknowledgement.

    Attributes:
        calls: the verbs that were counted, in order.
    """

    def __init__(
        self, inner: Backend, fail_on: Iterable[int] = (), *, verbs: Iterable[str] = VERBS, when: Literal["before", "after"] = "before"
    ) -> None:
        self.inner = inner
        self.calls: list[str] = []
        self._fail_on = frozenset(fail_on)
        self._verbs = frozenset(verbs)
        self._when = when
        unknown = self._verbs - VERBS
        if unknown:
            raise InvalidInput(f"a backend has no verb {', '.join(sorted(unknown))}")

    def run(self, verb: str, work: Callable[[], Any]) -> Any:
        """Do the work of a verb, or fail."""
        if verb not in self._verbs:
            return work()
        self.calls.append(verb)
        number = len(self.calls)
        if number not in self._fail_on:
            return work()
        if self._when == "after":
            work()
        raise StoreUnavailable(f"call {number} ({verb}) fails {self._when} its work, as the test asked", retryable=True)

    append = _forwarded("append")
    ingest = _forwarded("ingest")
    mark = _forwarded("mark")
    position = _forwarded("position")
    select = _forwarded("select")
    rows = _forwarded("rows")
    slices = _forwarded("slices")
    events = _forwarded("events")
    find = _forwarded("find")
    counted = _forwarded("counted")
    occurrences = _forwarded("occurrences")
    resolve = _forwarded("resolve")
    words = _forwarded("words")
    corpus = _forwarded("corpus")
    vectors = _forwarded("vectors")
    size = _forwarded("size")
    documents = _forwarded("documents")
    lengths = _forwarded("lengths")
    vector_chunks = _forwarded("vector_chunks")
    linked = _forwarded("linked")
    embedded = _forwarded("embedded")
    models = _forwarded("models")
    changed = _forwarded("changed")
    unembedded = _forwarded("unembedded")
    stored_vectors = _forwarded("stored_vectors")
    dependents = _forwarded("dependents")
    drop_vectors = _forwarded("drop_vectors")
    put_vectors = _forwarded("put_vectors")
    votes = _forwarded("votes")
    setting = _forwarded("setting")
    cache_get = _forwarded("cache_get")
    cache_put = _forwarded("cache_put")
    verify = _forwarded("verify")
    rebuild = _forwarded("rebuild")
    statistics = _forwarded("statistics")
    vacuum = _forwarded("vacuum")
    backup = _forwarded("backup")

    def close(self) -> None:
        self.inner.close()

    def __getattr__(self, name: str) -> Any:
        # What one backend offers beyond the common verbs passes through.
        return getattr(self.inner, name)
