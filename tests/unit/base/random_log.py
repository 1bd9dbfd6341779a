"""Random writes, for properties: steps that hypothesis makes and shrinks, and the drafts they stand for. No test of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from hypothesis import strategies as st

from indelible.backend.interface import Backend, Selection
from indelible.base.canonical import dumps
from indelible.base.draft import Draft, PartVector, Written
from indelible.base.event import Op
from indelible.base.ids import id_text
from indelible.base.record import Namespace, Scope
from indelible.errors import IndelibleError
from indelible.testing import FakeClock

SLOTS: tuple[tuple[Namespace, Scope], ...] = (((), Scope()), ((), Scope("a", "u")), (("n",), Scope()), (("n", "m"), Scope(user_id="u")))
MODEL = "model"


@dataclass(frozen=True)
class Step:
    """One write. ``pick`` chooses among the records seen so far; a key, if given, names the record instead; ``beside`` gives it context."""

    op: Op
    pick: int = 0
    slot: int = 0
    key: str | None = None
    text: str = ""
    ttl_ms: int | None = None
    flag: bool = False
    beside: bool = False
    expected: int | None = None
    idempotency_key: str | None = None


@dataclass
class Writer:
    """A store being written: its backend, its clock, and the records it has seen."""

    backend: Backend
    clock: FakeClock
    seen: list[bytes] = field(default_factory=list)
    vectors: bool = False

    def draft(self, step: Step) -> Draft:
        namespace, scope = SLOTS[step.slot]
        expires_at = None if step.ttl_ms is None else self.clock.now_us() // 1000 + step.ttl_ms
        named = step.key is not None or not self.seen
        record = None if named or step.op is Op.REMEMBER else self.seen[step.pick % len(self.seen)]
        writes_text = step.op in (Op.REMEMBER, Op.REVISE)
        given = {"content": dumps(step.text)} if writes_text and step.text else {"vote": dumps("up")} if step.op is Op.VOTE else {}
        if step.flag and writes_text:
            given |= {"parent": dumps("p"), "source": dumps("s"), "metadata": dumps({"n": step.pick})}
        if step.beside and "content" in given:
            given["context"] = dumps(["2026-01-01", *(id_text(record) for record in self.seen[-2:])])
        data = sha256(step.text.encode()).digest()
        vectors = (PartVector("", MODEL, data[:8]), PartVector("context", MODEL, data[8:16]))
        return Draft(
            step.op,
            None if record is not None else namespace,
            scope,
            record=record,
            key=step.key if record is None else None,
            fields=given,
            expires_at=expires_at,
            expected_version=step.expected,
            idempotency_key=step.idempotency_key if step.op is Op.REMEMBER else None,
            vectors=vectors if self.vectors and writes_text and not step.flag else None,
            if_missing="record" if step.flag and record is None else "ignore",
            restore_version=step.pick + 1 if step.flag and step.op is Op.RESTORE else None,
            touch_ttl=step.ttl_ms,
        )

    def write(self, steps: Sequence[Step]) -> list[Written] | type[IndelibleError]:
        """Write one transaction; a refusal is its class."""
        try:
            written = self.backend.append([self.draft(step) for step in steps])
        except IndelibleError as error:
            return type(error)
        self.seen += [done.record for done in written if done.record is not None and done.record not in self.seen]
        return written


_NAMED = st.sampled_from([None, None, "a", "b"])
_TTL = st.sampled_from([None, None, 1000, 5000])
steps = st.builds(
    Step,
    op=st.sampled_from([Op.REMEMBER] * 4 + [Op.REVISE, Op.RESTORE, Op.FORGET, Op.TOUCH, Op.VOTE, Op.PURGE]),
    pick=st.integers(0, 30),
    slot=st.integers(0, len(SLOTS) - 1),
    key=_NAMED,
    text=st.sampled_from(["", "red kettle", "blue kettle kettle", "running runs", "猫が好き"]),
    ttl_ms=_TTL,
    flag=st.booleans(),
    beside=st.sampled_from([False, False, True]),
    expected=st.sampled_from([None] * 8 + [0, 1, 2]),
    idempotency_key=st.sampled_from([None] * 6 + ["retry"]),
)
transactions = st.lists(steps, min_size=1, max_size=3)
pauses_ms = st.sampled_from([0, 0, 0, 1, 900, 4000, -2000])
everything = Selection(namespace=None, expiry="all")
