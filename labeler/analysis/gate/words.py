"""What came of a limit, in a sentence for people; decides nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence

from labeler.analysis.gate.records import BASELINE, BEST, LAST, PASSED, Check, Finding
from labeler.analysis.gate.sides import Side
from labeler.evaluation import Scoreboard, number, signed
from labeler.model import counted

KINDS = {BASELINE: "baseline", LAST: "last passing run", BEST: "best passing run"}
MOST_DIGITS = 12


def of_finding(
    board: Scoreboard, found: Finding, held: float, losses: Sequence[tuple[str, float]] = ()
) -> str:
    """Say whether a limit was kept, and by what; ``losses`` are the queries that fell most.

    ``held`` is what was held against it: the value or the delta, or what they surely are at least.
    """
    heading = board.conventions.heading(found.check.measure)
    said = (
        _of_least(found, heading, held) if found.against is None else _of_drop(found, heading, held)
    )
    if losses:
        said += f"; most in {', '.join(f'{query} ({signed(loss)})' for query, loss in losses)}"
    return said


def first(board: Scoreboard, found: Finding) -> str:
    """Say that there is nothing yet that a value could have fallen from."""
    heading = board.conventions.heading(found.check.measure)
    return f"{heading} is {number(found.value)} (n {found.n:,}): no run passed before it"


def _of_least(found: Finding, heading: str, held: float) -> str:
    surely, asked = apart(held, found.limit)
    kept, n = "at least" if found.verdict == PASSED else "below", f"n {found.n:,}"
    if math.isnan(found.bound):
        return f"{heading} is {surely}, {kept} {asked} ({n})"
    said = f"{heading} is {number(found.value)} ({n}), with {_sure(found)} at least {surely}"
    return f"{said}, and {asked} is asked" if found.verdict == PASSED else f"{said}, {kept} {asked}"


def _of_drop(found: Finding, heading: str, held: float) -> str:
    size = apart(abs(found.delta), found.limit)[0]
    moved = f"{'fell' if found.delta < 0 else 'rose'} by {size}"
    means = f"{number(found.before)} to {number(found.value)}, n {found.n:,}"
    said = f"{heading} {'is as before' if found.delta == 0 else moved} from the "
    said += f"{KINDS[found.against or BASELINE]} {found.other} ({means})"
    lost, allowed = apart(max(0.0, -held), found.limit)
    only = "" if found.verdict == PASSED else "only "
    if math.isnan(found.bound):
        return f"{said}; {only}{allowed} is allowed"
    return f"{said}; with {_sure(found)} it fell by {lost} at most, {only}{allowed} is allowed"


def _sure(found: Finding) -> str:
    confidence = found.check.terms.confidence or math.nan
    return f"{100 * confidence:g}% confidence"


def apart(value: float, limit: float) -> tuple[str, str]:
    """Write a value and its limit with as many digits as tell them apart, four at least.

    >>> apart(0.5, 0.55), apart(0.549999, 0.55), apart(0.55, 0.55)
    (('0.5000', '0.55'), ('0.549999', '0.55'), ('0.5500', '0.55'))
    """
    shown = f"{limit:.10g}"
    for digits in range(4, MOST_DIGITS + 1):
        text = f"{value:.{digits}f}"
        if float(text) != limit or math.isclose(value, limit, rel_tol=0, abs_tol=1e-12):
            return text, shown
    return repr(value), shown


def no_value(side: Side, check: Check) -> str:
    """Say why a run has no value."""
    if side.kept is not None:
        return f"{side.name}: no value was kept of it when it passed"
    rows = side.board.table([check.measure], check.facet)
    reasons = [row.reason for row in rows if (row.run, row.bucket) == (side.name, check.bucket)]
    return f"{side.name}: {reasons[0]}"


def too_few(n: int, fewest: int) -> str:
    """Say that a mean is over too few queries."""
    queries = counted(n, "query counts", "queries count")
    return f"{queries}, fewer than the {fewest} it takes to judge (fewest_queries)"


def too_many_holes(run: str, share: float, most: float) -> str:
    """Say that too much of what a run shows is ungraded."""
    return (
        f"{run}: nobody has graded {share:.1%} of the chunks that count, more than "
        f"{100 * most:.10g}% (most_holes)"
    )


def too_many_absent(run: str, absent: int, n: int) -> str:
    """Say that a run to compare with does not know the queries."""
    return (
        f"{run}: no list for {absent} of {n} queries, where it would count 0 and hide a drop; load "
        "a run that has them, or allow it (most_absent)"
    )
