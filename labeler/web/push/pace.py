"""How much of the server's time open pages may have; knows no page and no clock of its own.

Grading comes first: the more grades come in, the smaller the share for showing what they moved.
Whoever grades while a page runs waits for it, and so do as many who come right after: of twenty
grades nineteen are as fast as without pages only where runs fill about a hundredth of the time.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

QUIET_SHARE = 0.5  # of one core, where hardly anybody grades
HALVED_AT = 4.0  # grades a second that leave pages half of that, twice as many a fifth
LEAST_SHARE = 0.0075  # pages move slowly where many grade, but they move
SAVED_SECONDS = 1.0  # one grade on a quiet server is shown at once, on many pages
WINDOW_SECONDS = 5.0  # one who grades ten times in a second is no crowd
TURN_SECONDS = 0.0003  # Python's own are 5 ms


class Pace:
    """A purse of seconds: it fills by the share that pages may have, and each run is paid from it.

    It holds less where the share is small, so that what was saved on a quiet server is not spent
    in one go when many begin to grade. Times are of one clock, in seconds.
    """

    def __init__(self, now: float) -> None:
        self._purse = SAVED_SECONDS
        self._filled_at = now
        self._graded: deque[tuple[float, int]] = deque()

    def note_grades(self, now: float, count: int) -> None:
        """Take note that so many grades came in since the last time."""
        self._fill(now)
        self._graded.append((now, count))

    def spend(self, now: float, seconds: float) -> None:
        """Pay for one page's run; a long one may leave a debt."""
        self._fill(now)
        self._purse -= seconds

    def wait(self, now: float) -> float:
        """Return in how many seconds another page may run, 0 for now."""
        self._fill(now)
        return max(0.0, -self._purse / self._share(now))

    def _fill(self, now: float) -> None:
        share = self._share(now)
        self._purse += (now - self._filled_at) * share
        self._purse = min(SAVED_SECONDS * share / QUIET_SHARE, self._purse)
        self._filled_at = now

    def _share(self, now: float) -> float:
        while self._graded and self._graded[0][0] < now - WINDOW_SECONDS:
            self._graded.popleft()
        grades_a_second = sum(count for _, count in self._graded) / WINDOW_SECONDS
        return max(LEAST_SHARE, QUIET_SHARE / (1 + (grades_a_second / HALVED_AT) ** 2))


@contextmanager
def short_turns() -> Iterator[None]:
    """Let threads take turns more often, as long as the block runs.

    A grade takes the interpreter a dozen times, after every statement that waits for the disk.
    While a page runs, each time it waits until that page's turn is over.
    """
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)
