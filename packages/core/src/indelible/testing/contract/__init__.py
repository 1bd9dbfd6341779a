"""The contract: laws that every store keeps, whichever face, adapter or backend it is.

To prove a store, write a ``Driver`` and subclass the suite::

    class TestMyStore(ContractSuite):
        @pytest.fixture
        def driver(self, tmp_path):
            driver = MyDriver(tmp_path / "store.db")
            yield driver
            driver.close()

Each law is one test and says in its docstring what holds. A law about a power that the driver does not declare becomes the law that the
power is refused, so nothing is ever skipped.
"""

from __future__ import annotations

import pytest

# Before the laws are imported, so that a broken one says what was compared.
pytest.register_assert_rewrite("indelible.testing.contract.laws", "indelible.testing.contract.law")

from indelible.testing.contract.driver import BackDoor, Driver, Happened, Match, Power, Reader, refuse  # noqa: E402  # see above
from indelible.testing.contract.law import must_refuse, needs  # noqa: E402  # see above
from indelible.testing.contract.suite import LAWS, ContractSuite  # noqa: E402  # see above

__all__ = ["LAWS", "BackDoor", "ContractSuite", "Driver", "Happened", "Match", "Power", "Reader", "must_refuse", "needs", "refuse"]
