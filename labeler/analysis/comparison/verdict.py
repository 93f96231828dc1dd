"""Which of two runs is better, in one sentence that says no more than the numbers can bear."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from labeler.analysis.comparison.deltas import Comparison, Delta, compare
from labeler.analysis.comparison.surety import FEW, Sureties, sureties
from labeler.evaluation import Conventions, Scoreboard, signed, usual
from labeler.measures import Measure
from labeler.model import counted

AT_ODDS, SURE, OPEN, TOO_FEW = "no one number", "more than chance", "may be chance", "few"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What moves from A to B, by all measures that were looked at.

    ``kind`` is for programs: `AT_ODDS` where some rise and others fall by more than chance, `SURE`
    where they do one of both, `OPEN` where none does, `TOO_FEW` for fewer than `FEW` queries.
    ``others`` move visibly, but not by more than chance.
    """

    kind: str
    rises: tuple[Delta, ...]
    falls: tuple[Delta, ...]
    sentence: str
    others: tuple[Delta, ...] = ()

    @property
    def sure(self) -> frozenset[Measure]:
        """The measures that move by more than chance."""
        return frozenset(row.measure for row in (*self.rises, *self.falls))


def verdict(
    board: Scoreboard,
    comparison: Comparison,
    bucket: str | None = None,
    names: tuple[str, str] | None = None,
    tested: Sureties | None = None,
) -> Verdict | None:
    """Say which run is better, over all queries or those of one bucket of the facet compared by.

    However few measures were compared, the usual ones are looked at as well, so that none that
    falls is hidden by not being shown; Judged is not asked. Of runs of two chunkings only measures
    of the evidence and of documents are asked, as far as one of them has a value. ``tested`` are
    the tests of what is shown, so that nothing is said to be surer here than there; without it,
    each measure is tested among those compared. The usual ones that were not compared are a family
    of their own. ``names`` are what A and B are called, their own unless given. None where no
    measure has a value.
    """
    asked = _asked(board, comparison, bucket, tested)
    if not asked:
        return None
    a, b = names or (comparison.a, comparison.b)
    n = max(row.n for row, _ in asked)
    if n < FEW:
        few = f"Fewer than {FEW} queries (n {n}): any difference of {b} from {a} may be chance"
        return Verdict(TOO_FEW, (), (), few)
    rises, falls = (
        tuple(row for row, is_sure in asked if is_sure and row.direction == way) for way in (1, -1)
    )
    others = [row for row, is_sure in asked if row.direction and not is_sure]
    kind, sentence = _in_words(comparison.conventions, a, b, rises, falls, others)
    return Verdict(kind, rises, falls, sentence, tuple(others))


def rows_over(comparison: Comparison, bucket: str | None) -> list[Delta]:
    """Return the means over all queries, or over those of one bucket."""
    if bucket is None:
        return [*comparison.deltas]
    return [row for row in comparison.buckets if row.bucket == bucket]


def _asked(
    board: Scoreboard, comparison: Comparison, bucket: str | None, tested: Sureties | None
) -> list[tuple[Delta, bool]]:
    """Return what is looked at, and whether each is more than chance: first what was compared."""
    shown = rows_over(comparison, bucket)
    tested = sureties(comparison, shown) if tested is None else tested
    more, of_more = _not_shown(board, comparison, bucket)
    sure = [(row, tested.of(row).is_sure) for row in shown]
    sure += [(row, of_more.of(row).is_sure) for row in more]
    asked = [
        (row, is_sure)
        for row, is_sure in sure
        if not math.isnan(row.delta) and not row.measure.definition.always_defined
    ]
    comparable = [each for each in asked if each[0].measure.crosses]
    return comparable if board.collection.is_of_several and comparable else asked


def _not_shown(
    board: Scoreboard, comparison: Comparison, bucket: str | None
) -> tuple[list[Delta], Sureties]:
    """Return the usual measures that were not compared, and their tests."""
    asked = usual(board.collection, (comparison.a, comparison.b))
    more = [
        measure
        for measure in board.resolve(comparison.conventions.measures(asked))
        if measure not in comparison.columns and not measure.definition.always_defined
    ]
    if not more:
        return [], Sureties()
    facet = comparison.facet if bucket is not None else None
    found = compare(board, comparison.a, comparison.b, more, facet)
    rows = rows_over(found, bucket)
    return rows, sureties(found, rows)


def _in_words(
    conventions: Conventions,
    a: str,
    b: str,
    rises: Sequence[Delta],
    falls: Sequence[Delta],
    others: Sequence[Delta],
) -> tuple[str, str]:
    rising, falling = (_listed(conventions, rows) for rows in (rises, falls))
    left = f"; {_counted(others)} may be chance" if others else ""
    if rises and falls:
        verbs = ["rises" if len(rises) == 1 else "rise", "falls" if len(falls) == 1 else "fall"]
        change = f"from {a} to {b}, {rising} {verbs[0]} while {falling} {verbs[1]}"
        return AT_ODDS, f"No one number tells: {change}, each by more than chance{left}"
    if rises or falls:
        better = "better" if rises else "worse"
        return SURE, f"{b} is {better} than {a} by more than chance: {rising or falling}{left}"
    if others:
        first = _listed(conventions, others[:1])
        more = f" and {_counted(others[1:])}" if others[1:] else ""
        return OPEN, f"No measure tells {b} from {a}: {first}{more} may be chance"
    return OPEN, f"No measure moves from {a} to {b}"


def _counted(rows: Sequence[Delta]) -> str:
    return counted(len(rows), "other measure", "other measures")


def _listed(conventions: Conventions, rows: Iterable[Delta]) -> str:
    return ", ".join(f"{conventions.heading(row.measure)} ({signed(row.delta)})" for row in rows)
