"""The matrix of laws and subjects, printed at the end of a run that tested the contract."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from indelible.testing.contract import ContractSuite, Driver, Power

HELD, REFUSED, FAILED = "+", "-", "F"
Cells = dict[str, dict[str, str]]
CELLS = pytest.StashKey[Cells]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[CELLS] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note how a law went for a subject: held, refused as a power that is not declared, or failed."""
    report = yield
    if not (isinstance(item, pytest.Function) and item.cls is not None and issubclass(item.cls, ContractSuite)):
        return report
    if call.when == "call" or report.failed:
        driver = item.funcargs.get("driver")
        powers: frozenset[Power] = getattr(item.function, "powers", frozenset())
        refused = isinstance(driver, Driver) and not powers <= driver.powers
        row = item.config.stash[CELLS].setdefault(item.originalname, {})
        row[item.cls.__name__.removeprefix("Test")] = FAILED if report.failed else REFUSED if refused else HELD
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print it, one line per law, one column per subject."""
    cells = config.stash[CELLS]
    if not cells:
        return
    subjects = list(dict.fromkeys(subject for row in cells.values() for subject in row))
    write = terminalreporter.write_line
    terminalreporter.section(f"contract: {len(cells)} laws x {len(subjects)} subjects ({HELD} holds, {REFUSED} refused as declared)")
    for number, subject in enumerate(subjects):
        write("  " + "| " * number + f"{subject}")
    for law, row in cells.items():
        marks = " ".join(row.get(subject, " ") for subject in subjects)
        write(f"  {marks}  {law.removeprefix('test_').replace('_', ' ')}")
