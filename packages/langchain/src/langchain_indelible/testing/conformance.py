"""All groups of laws together."""

from __future__ import annotations

from langchain_indelible.testing.laws.batch import BatchLaws
from langchain_indelible.testing.laws.filters import FilterLaws
from langchain_indelible.testing.laws.index import IndexLaws
from langchain_indelible.testing.laws.loops import AsyncLaws
from langchain_indelible.testing.laws.namespaces import NamespaceLaws
from langchain_indelible.testing.laws.search import SearchLaws
from langchain_indelible.testing.laws.ttl import TtlLaws
from langchain_indelible.testing.laws.values import ValueLaws
from langchain_indelible.testing.laws.vectors import VectorLaws


class StoreConformance(ValueLaws, NamespaceLaws, SearchLaws, FilterLaws, IndexLaws, VectorLaws, BatchLaws, AsyncLaws, TtlLaws):
    """Every law. See ``langchain_indelible.testing``."""

    def test_each_difference_names_a_law(self) -> None:
        """What ``differences`` lists are laws of this kit, each with a reason."""
        assert {name.partition("[")[0] for name in self.differences} <= set(self.laws())
        assert all(self.differences.values())

    @classmethod
    def laws(cls) -> list[str]:
        """The names of all laws."""
        return sorted(name for name in dir(cls) if name.startswith("test_") and name != "test_each_difference_names_a_law")
