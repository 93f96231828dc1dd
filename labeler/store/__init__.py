"""Every SQL statement but the schema: opens, fills, extends and reads a golden set."""

from labeler.store.connection import BUSY_SECONDS, Unusable
from labeler.store.intake import Intake
from labeler.store.queue import Queue
from labeler.store.reading import Contents, Item, RunSummary

__all__ = ["BUSY_SECONDS", "Contents", "Item", "RunSummary", "Store", "Unusable"]


class Store(Intake, Queue):
    """A golden set in an SQLite file; open one per script run, request or command and close it."""
