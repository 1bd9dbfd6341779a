"""For tests, ours and other people's: the in-memory reference backend, stand-ins, and (in ``contract``) the suite every store must pass.

``indelible.testing.contract`` needs pytest; nothing else here does.
"""

from __future__ import annotations

from indelible.testing.embedder import HashEmbedder
from indelible.testing.fakes import FakeClock, FlakyBackend, ScriptedModel, SequentialIds
from indelible.testing.reference import ReferenceBackend
from indelible.testing.reference_log import Medium
from indelible.testing.tool_model import ScriptedToolModel

__all__ = ["FakeClock", "FlakyBackend", "HashEmbedder", "Medium", "ReferenceBackend", "ScriptedModel", "ScriptedToolModel", "SequentialIds"]
