"""What of a golden set stands in other texts: found whatever its case, or with a word changed.

Knows texts and where they stand; not the database, nor what becomes of a query that is found.
"""

from labeler.analysis.leakage.alike import Alike, alike_texts, count_alike, nearest_texts
from labeler.analysis.leakage.files import Leak, leaks_in
from labeler.analysis.leakage.finding import Find, Finder, Needle
from labeler.analysis.leakage.words import FEWEST_WORDS, THRESHOLD, check_threshold, words_of

__all__ = [
    "FEWEST_WORDS",
    "THRESHOLD",
    "Alike",
    "Find",
    "Finder",
    "Leak",
    "Needle",
    "alike_texts",
    "check_threshold",
    "count_alike",
    "leaks_in",
    "nearest_texts",
    "words_of",
]
