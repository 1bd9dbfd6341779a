"""All laws in one class."""

from __future__ import annotations

from indelible.testing.contract.laws.keeping import FileLaws, MergeLaws, PurgeLaws, VoteLaws
from indelible.testing.contract.laws.keys import KeyLaws, LogLaws, ValueLaws
from indelible.testing.contract.laws.past import ExpiryLaws, PastLaws
from indelible.testing.contract.laws.search import FilterLaws, RecallLaws, SearchLaws
from indelible.testing.contract.laws.sharing import RaceLaws, ScopeLaws


class ContractSuite(
    KeyLaws,
    ValueLaws,
    LogLaws,
    PastLaws,
    ExpiryLaws,
    SearchLaws,
    RecallLaws,
    FilterLaws,
    ScopeLaws,
    RaceLaws,
    VoteLaws,
    PurgeLaws,
    FileLaws,
    MergeLaws,
):
    """Subclass it and give a ``driver`` fixture."""


LAWS = tuple(name for name in dir(ContractSuite) if name.startswith("test_"))
"""Names of all laws."""
