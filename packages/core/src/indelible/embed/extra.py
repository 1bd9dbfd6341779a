"""One message for every package that an extra brings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from indelible.errors import MissingExtra

Needs = Callable[[str], AbstractContextManager[None]]
"""Made with the name of a package, goes around its import."""


@contextmanager
def _needs(package: str, *, for_what: str, extra: str, instead: str) -> Iterator[None]:
    """Around an import: when it fails, say what to install.

    Raises:
        MissingExtra: the package cannot be imported; why is kept as the cause.
    """
    try:
        yield
    except ImportError as error:
        raise MissingExtra(
            f'{for_what} the package {package}, which cannot be imported ({error}): pip install "indelible[{extra}]", or give {instead}'
        ) from error


def needs_embed_extra(package: str) -> AbstractContextManager[None]:
    """Around the import of what the bundled embedding models need; ``MissingExtra`` when it fails."""
    return _needs(package, for_what="the bundled embedding models need", extra="embed", instead="an embedder of your own")


def needs_rerank_extra(package: str) -> AbstractContextManager[None]:
    """Around the import of what the bundled reranker needs; ``MissingExtra`` when it fails."""
    return _needs(package, for_what="the bundled reranker needs", extra="rerank", instead="a reranker of your own")
