"""A against B under other readings of the grades: one small table, the golden grades first."""

from __future__ import annotations

from collections.abc import Sequence

import htpy

from labeler.analysis.comparison import Retold
from labeler.evaluation import number, signed
from labeler.render.tables.shared import SHEET, framed, head


def survival_table(told: Sequence[Retold], heading: str) -> htpy.Fragment:
    """Return a row for each reading that changes something, under the one as it is."""
    heads = [
        head("Grades", words=True),
        head("Pairs", "that differ"),
        head("A", heading),
        head("B", heading),
        head("B − A"),
        head("B wins", "/ ties / loses"),
        head("p", "this test alone"),
    ]
    return framed(SHEET, "sheet survival", heads, map(_row, told), label="Other readings")


def _row(each: Retold) -> htpy.Element:
    row = each.row
    outcomes = f"{row.wins:,} / {row.ties:,} / {row.losses:,}"
    return htpy.tr[
        htpy.th(".words", scope="row")[htpy.bdi[each.reading.called]],
        htpy.td[f"{each.changed:,}"],
        htpy.td[number(row.a)],
        htpy.td[number(row.b)],
        htpy.td(".lead")[signed(row.delta)],
        htpy.td[outcomes],
        htpy.td[number(each.p)],
    ]
