"""Grades for chunks that were loaded after their text was graded."""

from __future__ import annotations

from labeler.errors import Busy
from labeler.store import StorageError, Store


def grade_late_copies(store: Store) -> int:
    """Give ungraded chunks what people said of their text, as `ChunkCopies.grade_late` does.

    Return how many chunks that were; none where nothing can be written just now, since it is tried
    again with the next load and whenever Label is opened.
    """
    try:
        return store.copies.grade_late()
    except (Busy, StorageError):
        return 0
