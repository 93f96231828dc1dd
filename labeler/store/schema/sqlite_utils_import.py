"""Import of sqlite-utils without pandas, which it would load for types that are not used here.

Importing pandas takes half of the time that a command needs to start.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Database", "Migrations"]


@contextmanager
def _without_pandas() -> Iterator[None]:
    """Make an import of pandas fail in the block, unless it is imported already."""
    if "pandas" in sys.modules:
        yield
        return
    sys.modules["pandas"] = None  # type: ignore[assignment] # makes an import raise ImportError
    try:
        yield
    finally:
        del sys.modules["pandas"]


with _without_pandas():
    from sqlite_utils import Database, Migrations
