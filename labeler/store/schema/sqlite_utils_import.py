"""Import of sqlite-utils without pandas, which it would load for types that are not used here.

Importing pandas takes half of the time that a command needs to start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Database", "Migrations"]


@contextmanager
def _hidden(package: str) -> Iterator[None]:
    """Let nobody find a package that is not imported yet."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment] # Python's own way to say: not there
    try:
        yield
    finally:
        del sys.modules[package]


with _hidden("pandas"):
    from sqlite_utils import Database, Migrations
