"""A file too short to be a database is somebody's, and stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from indelible import MemoryStore, SchemaMismatch


@pytest.mark.parametrize("content", [b"x", b"SQLite format 3\x00", b"\x00" * 511])
def test_s14_a_short_file_is_not_written_over(tmp_path: Path, content: bytes) -> None:
    """SQLite alone would take it for an empty database."""
    path = tmp_path / "notes.db"
    path.write_bytes(content)
    with pytest.raises(SchemaMismatch):
        MemoryStore(path)
    assert path.read_bytes() == content
    assert [item.name for item in tmp_path.iterdir()] == ["notes.db"]
