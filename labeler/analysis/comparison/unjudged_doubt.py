"""Doubt about a difference that is left by unjudged chunks, as one statement.

It is about these queries only: whether more grades of their chunks could change which run is ahead.
"""

from __future__ import annotations

import math

from labeler.analysis.comparison.deltas import TOLERANCE, Delta
from labeler.evaluation import format_signed
from labeler.measures import PROMPT
from labeler.model.results import DOUBT, Statement
from labeler.stats import DEPTH, UnjudgedRange

UNJUDGED_HEADING = "Unjudged chunks"
NO_CHANGE, CAN_VANISH, UNLIKELY, COULD_CHANGE = (
    *("unjudged cannot change it", "unjudged can make it vanish"),
    *("unjudged unlikely to change it", "unjudged could change it"),
)
FIRST = 12  # chunks to begin with where many more decide
MOST_AT_ONCE = 100  # chunks that somebody can be asked to grade as one next step


def describe_unjudged(
    row: Delta, band: UnjudgedRange | None, names: tuple[str, str]
) -> Statement | None:
    """Return what the unjudged chunks could change about a difference; None if nothing.

    ``band`` is the range of the difference; its 90% range is NaN where the measure has none.
    ``names`` are shown for A and B.

    >>> from labeler.measures import parse
    >>> row = Delta(parse("RR"), None, None, 0.4, 0.5, 0.1, 9, 2, 4, 15, 0, 3, 3, 0, 0)
    >>> doubt = describe_unjudged(row, UnjudgedRange(-0.2, 0.3, True, 0.0, 0.2, 6), ("one", "two"))
    >>> doubt.sentence if doubt else None
    '6 unjudged chunks in the two top 20s could change who is ahead.'
    """
    if band is None or not band.highest - band.lowest > TOLERANCE:
        return None
    kind, sentence = _choose_sentence(row, band, names)
    numbers = {
        "unjudged": band.unjudged,
        "lowest": band.lowest,
        "highest": band.highest,
        "low": band.low,
        "high": band.high,
    }
    return Statement(kind, sentence, DOUBT, UNJUDGED_HEADING, numbers)


def _choose_sentence(row: Delta, band: UnjudgedRange, names: tuple[str, str]) -> tuple[str, str]:
    """Return the kind and the words."""
    sign = _sign(row.delta)
    # the ends as seen from the run that is ahead: below 0 the other run is ahead
    least = min(sign * band.lowest, sign * band.highest)
    low, high = sorted((sign * band.low, sign * band.high))
    if sign and least > TOLERANCE:
        return NO_CHANGE, f"No grade of {_count_chunks(row, band)} can change who is ahead."
    if sign and least >= -TOLERANCE:
        chunks = _count_chunks(row, band).capitalize()
        return CAN_VANISH, f"{chunks} can make the difference vanish, but not turn it round."
    if sign and low > TOLERANCE:
        size = sign * row.delta
        change = "larger" if size < low - TOLERANCE else "smaller"
        is_inside = low - TOLERANCE <= size <= high + TOLERANCE
        more = f" The difference is likely {change} once graded: {_range(band)}."
        count = f" ({band.unjudged:,} unjudged in {_both_tops(row)})" if band.unjudged else ""
        said = f"More grades are unlikely to change who is ahead{count}."
        said += "" if is_inside else more
        return UNLIKELY, said
    return COULD_CHANGE, " ".join(_could_change(row, band, names))


def _could_change(row: Delta, band: UnjudgedRange, names: tuple[str, str]) -> list[str]:
    sign, chunks = _sign(row.delta), _count_chunks(row, band)
    verb = "change" if sign else "decide"
    said = [f"{chunks.removeprefix('the ').capitalize()} could {verb} who is ahead."]
    likely = _sign(band.low) if _sign(band.low) == _sign(band.high) else 0
    if likely and not sign:
        said.append(f"Likely {names[likely > 0]} is ahead once graded: {_range(band)}.")
    elif likely == -sign and likely:
        said.append(f"Likely the other way round once graded: {_range(band)}.")
    return said


def advise_grades(useful: int, unjudged: int) -> Statement:
    """Return which unjudged chunks to grade next, where about ``useful`` grades decide."""
    if 0 < unjudged <= useful:
        sentence = "Grade all of them." if unjudged > 1 else "Grade it."
    elif useful > MOST_AT_ONCE:
        sentence = (
            f"Deciding it takes about {round(useful, -2):,} more grades; start with the "
            f"{FIRST} chunks that decide most."
        )
    else:
        chunks = f"{useful:,} chunks that decide" if useful > 1 else "chunk that decides"
        sentence = f"Grade the {chunks} most."
    numbers = {"useful": useful, "unjudged": unjudged}
    return Statement("useful grades", sentence, DOUBT, "Next step", numbers)


def _sign(value: float) -> int:
    """Return 1, -1, or 0 for what is 0 but for rounding, and for NaN."""
    return 0 if math.isnan(value) or abs(value) <= TOLERANCE else int(math.copysign(1, value))


def _count_chunks(row: Delta, band: UnjudgedRange) -> str:
    if not band.unjudged:
        return "unjudged chunks of other queries or runs"
    if band.unjudged == 1:
        return f"the one unjudged chunk in {_both_tops(row)}"
    return f"the {band.unjudged:,} unjudged chunks in {_both_tops(row)}"


def _both_tops(row: Delta) -> str:
    """Name the part of both lists that a measure looks at."""
    cutoff = row.measure.cutoff or DEPTH
    return "the two prompts" if cutoff == PROMPT else f"the two top {cutoff}s"


def _range(band: UnjudgedRange) -> str:
    return f"{format_signed(band.low)} to {format_signed(band.high)} (90% range)"
