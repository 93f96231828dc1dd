"""Hash chain over the logs of judgments and remarks: each event's hash covers the one before it.

What is hashed never changes: hashes ("seals") that people have kept are compared with it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from labeler.errors import BadInput

CHAINED_LOGS = ("judgments", "remarks")
LEAST_DIGITS = 16  # of a digest that somebody copied in part
Event = Sequence[int | str | None]
"""An event's columns, its number in the log first."""


def first_seal(golden_set: str, log: str) -> bytes:
    """Return what the first event's seal is made from, and the seal of a log that is empty."""
    return hashlib.sha256(f"labeler {golden_set} {log}".encode()).digest()


def next_seal(before: bytes, event: Event) -> bytes:
    """Return an event's seal: SHA-256 of the seal before it and the event as JSON.

    >>> next_seal(b"", [1, "a"]) == next_seal(b"", ["1", "a"])
    False
    """
    written = json.dumps(list(event), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(before + written.encode()).digest()


def seal_events(before: bytes, events: Iterable[Event]) -> Iterator[tuple[int, bytes]]:
    """Give the number and the seal of each event, in order."""
    for event in events:
        before = next_seal(before, event)
        yield int(event[0] or 0), before


@dataclass(frozen=True, slots=True)
class Seal:
    """What both logs were at one moment: up to which event each went, and a hash of all of it.

    As text it can be kept, and be shortened to 16 digits of its hash.

    >>> str(Seal.of(3, 1, b"judgments", b"remarks"))[:20]
    '3-1-d66c0997bbdf1812'
    """

    judgments: int
    remarks: int
    digest: str

    @classmethod
    def of(cls, judgments: int, remarks: int, judged: bytes, said: bytes) -> Seal:
        """Return the seal of logs that end with these events, whose own seals these are."""
        return cls(judgments, remarks, hashlib.sha256(judged + said).hexdigest())

    @classmethod
    def parse(cls, text: str) -> Seal:
        """Read a seal that was kept; raises `BadInput` for anything else.

        >>> Seal.parse(" 3-1-1c2ea57f70e62a22\\n").judgments
        3
        """
        found = re.fullmatch(
            rf"(\d{{1,18}})-(\d{{1,18}})-([0-9a-f]{{{LEAST_DIGITS},64}})", text.strip()
        )
        if found is None:
            raise BadInput(
                f"{text[:100]!r} is no seal; one looks like 1193-12-9f86d081884c7d65 ..., as "
                "'labeler check' and every export print it"
            )
        return cls(int(found[1]), int(found[2]), found[3])

    def is_of(self, other: Seal) -> bool:
        """Say whether this seal, which may be shortened, is that of the same events."""
        same_place = (self.judgments, self.remarks) == (other.judgments, other.remarks)
        return same_place and other.digest.startswith(self.digest)

    def __str__(self) -> str:
        """Write the seal as it is kept."""
        return f"{self.judgments}-{self.remarks}-{self.digest}"
