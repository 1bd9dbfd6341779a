"""Filled stores that later runs ask again: filling a million records takes longer than asking about them."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


class Kept:
    """The stores of one size and number of users. Beside each that is complete lies a JSON file with what is known of its filling.

    Args:
        folder: of all kept stores; those of other sizes lie beside.
        size, users: of the corpus.
    """

    def __init__(self, folder: Path, size: int, users: int) -> None:
        self._folder = folder / f"{size}-records-{users}-users"
        self._folder.mkdir(parents=True, exist_ok=True)

    def place(self, name: str) -> Path:
        """The folder of a store."""
        return self._folder / name

    def known(self, name: str, version: str, digest: str) -> dict[str, Any] | None:
        """What is known of the filling of a store, its day as ``day``; ``None`` if it has to be filled.

        Args:
            name: of the store.
            version: of the program; what another one wrote is not taken.
            digest: of the corpus.
        """
        file = self._file(name)
        if not file.exists() or not self.place(name).is_dir():
            return None
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return found["figures"] | {"day": found["day"]} if (found["version"], found["digest"]) == (version, digest) else None

    def begin(self, name: str) -> None:
        """Remove what there is of a store: incomplete, of another version, or of other records."""
        self._file(name).unlink(missing_ok=True)
        if self.place(name).exists():
            shutil.rmtree(self.place(name))

    def finish(self, name: str, version: str, digest: str, figures: dict[str, Any]) -> None:
        """Say that a store is complete, which is the last thing that is written."""
        written = {"version": version, "digest": digest, "day": f"{datetime.now(UTC):%Y-%m-%d}", "figures": figures}
        unfinished = self._file(name).with_suffix(".part")
        unfinished.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")
        unfinished.replace(self._file(name))

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.json"
