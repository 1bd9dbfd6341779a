"""Every error Indelible raises, in one tree.

Each leaf is also the built-in it resembles, so code that catches ``LookupError`` or ``OSError`` keeps working.
The test of this module compares the drawing with the classes::

    IndelibleError(Exception)
    ├── InvalidInput(ValueError)
    │   └── EmbedderMismatch(ValueError)
    ├── RecordNotFound(LookupError)
    ├── VersionConflict(RuntimeError)
    ├── StoreError(Exception)
    │   ├── StoreUnavailable(ConnectionError)
    │   ├── StoreClosed(RuntimeError)
    │   ├── StorageFull(OSError)
    │   ├── SchemaMismatch(RuntimeError)
    │   └── IntegrityFailure(RuntimeError)
    ├── ModelNotFound(FileNotFoundError)
    ├── ModelError(RuntimeError)
    ├── UnsupportedOperation(NotImplementedError)
    │   └── NoSuchAttribute(AttributeError)
    ├── PolicyError(PermissionError)
    └── MissingExtra(ImportError)

A message says what was wrong, what was given, and what to do about it.
"""

from __future__ import annotations


class IndelibleError(Exception):
    """Root of every error this library raises."""


class InvalidInput(IndelibleError, ValueError):
    """An argument was refused; nothing was written."""


class EmbedderMismatch(InvalidInput):
    """A collection already holds vectors of another model; ``reindex`` moves it to the new one."""


class RecordNotFound(IndelibleError, LookupError):
    """No such record in this scope. A record of another scope gets the same answer."""


class VersionConflict(IndelibleError, RuntimeError):
    """A compare-and-set lost the race; nothing was written.

    Attributes:
        expected: the version the caller named (0 means "must not exist").
        actual: the version the record has (0 means it does not exist).
    """

    def __init__(self, expected: int, actual: int) -> None:
        named = expected if expected.bit_length() < 1000 else "of more digits than can be shown"
        super().__init__(f"expected version {named}, but the record is at version {actual}: read it again and retry")
        self.expected = expected
        self.actual = actual

    def __reduce__(self) -> tuple[type[VersionConflict], tuple[int, int]]:
        return type(self), (self.expected, self.actual)


class StoreError(IndelibleError):
    """The store itself, not the call, is the trouble."""


class StoreUnavailable(StoreError, ConnectionError):
    """The file cannot be opened, read or locked now. ``retryable`` says whether trying again may help."""

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable


class StoreClosed(StoreError, RuntimeError):
    """The store was closed; open it again."""


class StorageFull(StoreError, OSError):
    """The disk is full. The failed write left nothing behind; the store works again once there is space."""


class SchemaMismatch(StoreError, RuntimeError):
    """The file is not an Indelible store, or was written by a newer release."""


class IntegrityFailure(StoreError, RuntimeError):
    """Stored or imported data does not match its hashes."""


class ModelNotFound(IndelibleError, FileNotFoundError):
    """The weights of an embedding model are not where they should be."""


class ModelError(IndelibleError, RuntimeError):
    """A model the caller gave us (a language model or an embedder) failed; the cause is kept."""


class UnsupportedOperation(IndelibleError, NotImplementedError):
    """This object does not do that, by design; the message says what does."""


class NoSuchAttribute(UnsupportedOperation, AttributeError):
    """An attribute that only the other kind of memory has."""


class PolicyError(IndelibleError, PermissionError):
    """A gate or policy refused the call."""


class MissingExtra(IndelibleError, ImportError):
    """An optional part is not installed; the message names the extra to install."""
