"""What a golden set's grades of one chunking say of another's chunks, and whom that rests on.

Brings the golden set and `labeler.rechunking` together; knows no page.
"""

from labeler.services.carryover.finding import STATES, Carryover, Outcome, follow, place, record
from labeler.services.carryover.hinting import Before, Hint, hints
from labeler.services.carryover.opening import Opened, Opening
from labeler.services.carryover.words import amiss, of_log, summary

__all__ = [
    "STATES",
    "Before",
    "Carryover",
    "Hint",
    "Opened",
    "Opening",
    "Outcome",
    "amiss",
    "follow",
    "hints",
    "of_log",
    "place",
    "record",
    "summary",
]
