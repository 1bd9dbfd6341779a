"""The reranker that Indelible offers: files and a manifest, no code that runs them.

``path("minilm-l12-rerank.onnx")`` is one file, ``path()`` the folder. What each file is, its checksum and its licence are in
``manifest.json``; the licences lie beside the weights in ``LICENSES/``.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable

__all__ = ["__version__", "path"]

__version__ = "0.1.0"


def path(name: str = "") -> Traversable:
    """Say where the model files are.

    Args:
        name: a file of the folder, such as ``"manifest.json"``; the folder itself when omitted.

    Returns:
        A ``pathlib.Path`` wherever the package is a real folder, which is what ``pip install`` makes. Imported from a zip
        archive it is an entry of that archive: readable, but not to be given to code that wants a file name.

    Raises:
        FileNotFoundError: there is no such file in the folder; the message lists what there is.
    """
    folder = files(__name__) / "data"
    if not name:
        return folder
    there = sorted(entry.name for entry in folder.iterdir())
    if name not in there:
        raise FileNotFoundError(f"indelible_reranker carries no file {name!r}: it has {', '.join(there)}")
    return folder / name
