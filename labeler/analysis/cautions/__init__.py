"""Cautions beside means: how a number misleads, as far as the values of the queries show it.

Each rests on numbers of the runs, so that no measure is warned of where it tells the truth. What
could be chance is tested: by sign flips over queries, corrected for the pairs of runs, or by
drawing buckets of the same size.
"""

from labeler.analysis.cautions.all_cautions import MOST_CAUTIONS, caution_notes, find_cautions
