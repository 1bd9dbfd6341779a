"""S74: after a purge the clear text is not in the bytes of the files, wherever it stood."""

from __future__ import annotations

import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from indelible.backend.interface import Selection
from indelible.backend.sqlite import SqliteBackend
from indelible.base.canonical import dumps
from indelible.base.event import Op, PurgeReason
from indelible.base.plan import Draft, PartVector
from indelible.base.record import Scope
from tests.crash.engine import NOTES, contents, open_engine, put

SECRETS = {
    "content": "quixotic zephyrine",
    "metadata": "metaxylem",
    "value": "valerianic",
    "key": "keratoplasty",
    "namespace": "nanocephalous",
    "agent_id": "agentive-agaric",
    "user_id": "usufructuary",
    "org_id": "orgiastic-orgone",
    "workspace_id": "workadaywort",
    "source": "sourdeline",
    "parent": "parentheticalia",
    "note": "noctambulist",
    "idempotency_key": "idempotencyxy",
    "part": "partridgeberry",
    "vector": "vexillology-vexed",
    "old content": "obnubilated",
}
VECTOR = SECRETS["vector"].encode().ljust(64, b"!")


def bytes_on_disk(folder: Path) -> dict[str, bytes]:
    """Every file of a folder; only for stores that nobody has open in this process."""
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}


def where_found(folder: Path) -> set[tuple[str, str]]:
    """(file, secret) for every secret whose text, or a word of it, is in a file."""
    return {
        (name, kind)
        for name, data in bytes_on_disk(folder).items()
        for kind, secret in SECRETS.items()
        if any(word.encode() in data.lower() for word in secret.split())
    }


def fill(backend: SqliteBackend, *, namespace: tuple[str, ...] = (SECRETS["namespace"],)) -> bytes:
    """A record with a secret in every place, revised and voted on, among 200 others."""
    scope = Scope(SECRETS["agent_id"], SECRETS["user_id"], SECRETS["org_id"], SECRETS["workspace_id"])
    backend.append([put(f"other-{number}", f"other text {number}") for number in range(200)])
    fields = {
        "content": dumps(SECRETS["old content"]),
        "metadata": dumps({SECRETS["metadata"]: 1}),
        "value": dumps([SECRETS["value"]]),
        "source": dumps(SECRETS["source"]),
        "parent": dumps(SECRETS["parent"]),
    }
    draft = Draft(
        Op.REMEMBER,
        namespace,
        scope,
        key=SECRETS["key"],
        fields=fields,
        idempotency_key=SECRETS["idempotency_key"],
        vectors=(PartVector(SECRETS["part"], "model", VECTOR),),
    )
    record = backend.append([draft])[0].record
    assert record is not None
    revision = Draft(Op.REVISE, None, record=record, fields={"content": dumps(SECRETS["content"])})
    vote = Draft(Op.VOTE, None, record=record, fields={"vote": dumps("up"), "note": dumps(SECRETS["note"])})
    backend.append([revision, vote])
    backend.append([put(f"later-{number}", f"later text {number}") for number in range(200)])
    return record


@pytest.mark.parametrize("moved", [False, True], ids=["still in the log", "already in the database"])
@pytest.mark.parametrize("hidden", [False, True], ids=["live", "forgotten"])
def test_a_purged_secret_is_in_no_byte(path: Path, moved: bool, hidden: bool) -> None:
    """S74: whether the write-ahead log was moved into the database before or not, and whether the record was forgotten before or not."""
    with closing(open_engine(path)) as backend:
        record = fill(backend)
        if moved:
            backend.vacuum()
        if hidden:
            backend.append([Draft(Op.FORGET, None, record=record)])
        assert backend.append([Draft(Op.PURGE, None, record=record, reason=PurgeReason.SECRET)])[0].changed
        assert backend.verify().ok
        backend.vacuum()
    assert where_found(path.parent) == set()
    with closing(open_engine(path)) as backend:
        assert backend.verify().ok
        assert backend.mark().version == 404 + hidden
        assert len(contents(backend, namespace=None)) == 400


def test_the_secrets_were_there(path: Path) -> None:
    """Control: without the purge every one of them is found."""
    with closing(open_engine(path)) as backend:
        fill(backend)
    assert {kind for _, kind in where_found(path.parent)} == set(SECRETS)


def test_a_purge_alone_leaves_nothing_either(path: Path) -> None:
    """S74: the purge itself empties the write-ahead log and overwrites what was freed; vacuum is for space.

    The files are searched while the store is open, by another program: what a close tidies up does not count.
    """
    with closing(open_engine(path)) as backend:
        record = fill(backend)
        backend.append([Draft(Op.PURGE, None, record=record)])
        assert {file.name for file in path.parent.iterdir()} >= {"store.db", "store.db-wal", "store.db-shm"}
        words = [word for secret in SECRETS.values() for word in secret.split()]
        patterns = [part for word in words for part in ("-e", word)]
        found = subprocess.run(["grep", "-rlai", *patterns, str(path.parent)], capture_output=True, text=True, check=False)
        assert (found.returncode, found.stdout, found.stderr) == (1, "", "")


@pytest.mark.parametrize("among", [1, 3], ids=["alone in its pack", "among others"])
def test_a_packed_vector_leaves_no_byte(path: Path, among: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """S74: a vector that lies among those of others is written over, and theirs stay."""
    monkeypatch.setattr("indelible.backend.sqlite.packs.PACK", among)
    with closing(open_engine(path)) as backend:
        secret = Draft(Op.REMEMBER, NOTES, fields={}, vectors=(PartVector("", "model", VECTOR * 16),))
        others = [Draft(Op.REMEMBER, NOTES, fields={}, vectors=(PartVector("", "model", bytes([at]) * 1024),)) for at in range(2)]
        record = backend.append([others[0], secret, others[1]])[1].record
        with backend._connections.read() as connection:
            assert connection.execute("SELECT count(*) FROM packed").fetchone() == (3,)
        backend.append([Draft(Op.PURGE, None, record=record)])
        assert sorted(row.data[0] for row in backend.vectors(Selection(namespace=NOTES), ["model"])) == [0, 1]
        assert backend.verify().ok
    assert where_found(path.parent) == set()


def test_a_backup_made_after_a_purge_is_clean(path: Path, tmp_path: Path) -> None:
    """S74: nothing of it in new backups."""
    (tmp_path / "copies").mkdir()
    with closing(open_engine(path)) as backend:
        record = fill(backend)
        backend.append([Draft(Op.PURGE, None, record=record)])
        backend.backup(str(tmp_path / "copies" / "copy.db"))
    assert where_found(tmp_path / "copies") == set()


def test_a_purge_beside_a_busy_reader_is_finished_by_vacuum(path: Path) -> None:
    """S74, S75: a reader of the old state keeps old pages alive; once it is gone, vacuum takes them."""
    with closing(open_engine(path)) as backend:
        record = fill(backend)
        with backend._connections.read() as reader:
            assert reader.execute("SELECT count(*) FROM event").fetchone()
            backend.append([Draft(Op.PURGE, None, record=record)])
            assert backend.vacuum().busy
        assert not backend.vacuum().busy
    assert where_found(path.parent) == set()


def test_a_slice_that_others_use_stays(path: Path) -> None:
    """Purging one record of a scope takes no other record's scope or namespace away."""
    with closing(open_engine(path)) as backend:
        record = fill(backend, namespace=NOTES)
        scope = Scope(SECRETS["agent_id"], SECRETS["user_id"], SECRETS["org_id"], SECRETS["workspace_id"])
        backend.append([put("neighbour", "stays", scope=scope)])
        backend.append([Draft(Op.PURGE, None, record=record)])
        assert [row.standing.scope for row in backend.select(Selection(namespace=NOTES, keys=("neighbour",)))] == [scope]
        assert backend.verify().ok
