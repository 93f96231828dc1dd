"""Imports sqlite-utils without pandas: it would look for types that nobody gives it here.

That is half of the time that a command takes to start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Database", "Migrations"]


@contextmanager
def _missing(package: str) -> Iterator[None]:
    """Let nobody find a package that is not imported yet."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment] # Python's own way to say: not there
    try:
        yield
    finally:
        del sys.modules[package]


with _missing("pandas"):
    from sqlite_utils import Database, Migrations
