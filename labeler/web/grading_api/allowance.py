"""How much one grader may send within a minute; knows nothing of what is sent."""

from __future__ import annotations

import math
import time
from collections import defaultdict, deque
from threading import Lock

from labeler.errors import LabelerError

MINUTE = 60.0


class Spent(LabelerError):
    """Somebody has sent too much just now; after ``seconds`` there is room again."""

    def __init__(self, reason: str, seconds: int) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Allowance:
    """Counts the bytes that graders have sent within the last minute; safe to ask from threads.

    One message is always taken where the minute before it was quiet, however large it is.
    """

    def __init__(self, bytes_per_minute: int) -> None:
        self._most = bytes_per_minute
        self._lock = Lock()
        self._sent: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    def use(self, grader: str, size: int) -> None:
        """Count a message of ``size`` bytes; raises `Spent` where it is too much."""
        now = time.monotonic()
        with self._lock:
            sent = self._sent[grader]
            while sent and sent[0][0] <= now - MINUTE:
                sent.popleft()
            if sent and sum(each for _, each in sent) + size > self._most:
                raise Spent(
                    f"one person can send {self._most:,} bytes a minute, and more than that has "
                    "come; whoever runs this can raise it (labeler serve --bytes-per-minute)",
                    self._wait(sent, size, now),
                )
            sent.append((now, size))

    def _wait(self, sent: deque[tuple[float, int]], size: int, now: float) -> int:
        """Return after how many seconds there is room for ``size`` bytes."""
        left = sum(each for _, each in sent)
        for at, each in sent:
            left -= each
            if left + size <= self._most:
                return math.ceil(at + MINUTE - now)
        return math.ceil(sent[-1][0] + MINUTE - now)
