"""The one answer on top of Compare: what is known of A and B, how surely, what would change it."""

from __future__ import annotations

from collections.abc import Sequence

from labeler import comparison
from labeler.comparing.surviving import survival_of
from labeler.comparison import Answer, Delta, Findings, Lead, Reach, Sureties, Survival, View

NAMES = ("A", "B")  # what sentences call the runs, which the table names


def answered(
    view: View,
    bucket: str | None,
    rows: Sequence[Delta],
    found: Findings,
    sure: tuple[Sureties, Sequence[Reach]],
) -> tuple[Answer, Survival | None]:
    """Return the answer, and how its difference comes out under each grader's own grades.

    ``rows`` are the differences that are shown, ``sure`` their tests and what they can show.
    """
    if found.verdict is None:
        return Answer(found.identical), None
    row = comparison.lead_of(found.verdict, rows, view.by)
    if row is None:
        return Answer(found.verdict.sentence), None
    tested, reaches = sure
    survival = survival_of(view, bucket, row.measure, sure=tested.of(row).is_sure)
    lead = Lead(row, tested.of(row), reaches[list(rows).index(row)], survival=survival)
    return comparison.answer(found.verdict, lead, view.compared.conventions, NAMES), survival
