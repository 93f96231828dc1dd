"""Hash chain over the logs of judgments and remarks: each event's hash covers the one before it.

People keep hashes ("seals") and compare them later, so what is hashed must never change.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from labeler.errors import BadInput

CHAINED_LOGS = ("judgments", "remarks")
LEAST_DIGITS = 16  # of a shortened digest
Event = Sequence[int | str | None]
"""An event's columns, its number in the log first."""


def first_seal(golden_set: str, log: str) -> bytes:
    """Return the seal of an empty log, from which the seal of the first event is made."""
    return hashlib.sha256(f"labeler {golden_set} {log}".encode()).digest()


def next_seal(before: bytes, event: Event) -> bytes:
    """Return an event's seal: SHA-256 of the seal before it and the event as JSON.

    >>> next_seal(b"", [1, "a"]) == next_seal(b"", ["1", "a"])
    False
    """
    written = json.dumps(list(event), ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(before + written.encode()).digest()


def seal_events(before: bytes, events: Iterable[Event]) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the seal of each event, in order."""
    for event in events:
        before = next_seal(before, event)
        yield int(event[0] or 0), before


@dataclass(frozen=True, slots=True)
class Seal:
    """State of both logs at one moment: the number of the last event of each, and a hash of all.

    Its text can be kept, and shortened to 16 digits of the hash.

    >>> str(Seal.of(3, 1, b"judgments", b"remarks"))[:20]
    '3-1-d66c0997bbdf1812'
    """

    judgments: int
    remarks: int
    digest: str

    @classmethod
    def of(cls, judgments: int, remarks: int, judged: bytes, said: bytes) -> Seal:
        """Return the seal of both logs, from the numbers and seals of their last events."""
        return cls(judgments, remarks, hashlib.sha256(judged + said).hexdigest())

    @classmethod
    def parse(cls, text: str) -> Seal:
        """Parse a kept seal; raises `BadInput` for anything else.

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
        """Return whether this seal, which may be shortened, is of the same events as the other."""
        same_place = (self.judgments, self.remarks) == (other.judgments, other.remarks)
        return same_place and other.digest.startswith(self.digest)

    def __str__(self) -> str:
        """Return the seal as text to keep."""
        return f"{self.judgments}-{self.remarks}-{self.digest}"
