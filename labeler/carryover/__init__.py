"""What a golden set's grades of one chunking say of another's chunks, and whom that rests on.

Brings the golden set and `labeler.rechunking` together; knows no page.
"""

from labeler.carryover.finding import STATES, Carryover, Outcome, follow, place, record
from labeler.carryover.words import amiss, of_log, summary

__all__ = [
    "STATES",
    "Carryover",
    "Outcome",
    "amiss",
    "follow",
    "of_log",
    "place",
    "record",
    "summary",
]
