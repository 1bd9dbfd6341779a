"""Backends: where the log lives."""

from indelible.backend.interface import Backend as Backend
