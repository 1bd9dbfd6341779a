"""Random steps against the model, over both backends and the faces on them."""

from __future__ import annotations

import unittest

import pytest
from hypothesis import settings

from indelible.testing.contract.drivers import BackendDriver, CollectionDriver, FilePlace, ReferencePlace
from indelible.testing.machine import StoreMachine
from tests.conftest import ON_CI

STEPS = settings(max_examples=200 if ON_CI else 20, stateful_step_count=50 if ON_CI else 30)


class _SqliteMachine(StoreMachine):
    make = staticmethod(lambda folder: BackendDriver(FilePlace(folder / "log.db")))


class _ReferenceMachine(StoreMachine):
    make = staticmethod(lambda folder: BackendDriver(ReferencePlace()))


class _CollectionMachine(StoreMachine):
    make = staticmethod(lambda folder: CollectionDriver(FilePlace(folder / "store.db")))


def _case(machine: type[StoreMachine]) -> type[unittest.TestCase]:
    case: type[unittest.TestCase] = machine.TestCase
    case.settings = STEPS  # type: ignore[attr-defined]  # hypothesis reads it there
    return case


TestSqlite = _case(_SqliteMachine)
TestReference = _case(_ReferenceMachine)
TestCollection = _case(_CollectionMachine)
pytestmark = pytest.mark.slow
