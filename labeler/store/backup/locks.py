"""Whether any process has a golden set open, asked of SQLite's own locks; opens no golden set."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labeler.errors import Busy

try:
    import fcntl
except ImportError:  # Windows, which renames no file that anybody has open
    fcntl = None  # type: ignore[assignment]

# Where SQLite's readers hold a lock, for as long as they have a file with a write-ahead log open:
# https://www.sqlite.org/c3ref/file_control.html and os_unix.c (SHARED_FIRST, SHARED_SIZE).
FIRST_BYTE, BYTES = 0x40000002, 510


@contextmanager
def to_itself(path: Path) -> Iterator[None]:
    """Keep every other process from opening a golden set as long as the block runs.

    Raises `Busy` where a server or anybody else has it open. Not for a process that has it open
    itself: when this ends, so do its own locks.
    """
    if fcntl is None or not path.exists():
        yield
        return
    opened = os.open(path, os.O_RDWR)
    try:
        try:
            fcntl.lockf(opened, fcntl.LOCK_EX | fcntl.LOCK_NB, BYTES, FIRST_BYTE)
        except (BlockingIOError, PermissionError):
            raise Busy(
                f"{path}: is open in a server or another program; nothing was changed. Stop it, "
                "then run this again"
            ) from None
        yield
    finally:
        os.close(opened)
