"""What makes a test a law: it holds wherever its powers are declared, and is refused everywhere else. Nothing is skipped."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from indelible.errors import IndelibleError, UnsupportedOperation
from indelible.testing.contract.driver import TRIALS, Driver, Power

Law = TypeVar("Law", bound=Callable[..., None])


def needs(*powers: Power) -> Callable[[Law], Law]:
    """A law about some powers. On a store without one of them it is the law that the store says so."""

    def mark(law: Law) -> Law:
        @functools.wraps(law)
        def run(self: object, driver: Driver, **fixtures: Any) -> None:
            missing = frozenset(powers) - driver.powers
            if missing:
                must_refuse(driver, missing)
            else:
                law(self, driver, **fixtures)

        run.__dict__["powers"] = frozenset(powers)
        return run  # type: ignore[return-value]  # the same call, wrapped

    return mark


def must_refuse(driver: Driver, powers: Iterable[Power]) -> None:
    """Assert that a store refuses what it does not declare: with that error, not with whatever its insides say."""
    for power in sorted(powers):
        if power not in TRIALS:
            continue
        try:
            TRIALS[power](driver)
        except UnsupportedOperation:
            continue
        except IndelibleError as error:
            pytest.fail(f"{power} is not declared, and was tried instead of refused: {error!r}")
        pytest.fail(f"{power} is not declared, and was done instead of refused")
