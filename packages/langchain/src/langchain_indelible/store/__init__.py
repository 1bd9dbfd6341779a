"""LangGraph's store on Indelible."""

from __future__ import annotations

from langchain_indelible.store.items import CheckedPut as CheckedPut
from langchain_indelible.store.items import IndelibleItem as IndelibleItem
from langchain_indelible.store.items import IndelibleSearchItem as IndelibleSearchItem
from langchain_indelible.store.items import ItemChange as ItemChange
from langchain_indelible.store.store import IndelibleStore as IndelibleStore

__all__ = ["CheckedPut", "IndelibleItem", "IndelibleSearchItem", "IndelibleStore", "ItemChange"]
