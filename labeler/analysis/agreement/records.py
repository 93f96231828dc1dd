"""Agreement as rows for programs: one number each, in full, under one set of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from labeler.analysis.agreement.against import AgainstOthers
from labeler.analysis.agreement.measuring import Agreement, Coefficient
from labeler.analysis.agreement.repeats import SelfAgreement

Record = dict[str, object]

EACH_OTHER, AGREED, SELF = "each other", "agreed grade", "self"
COLUMNS = (
    *("statistic", "metric", "against", "grader", "other", "week", "grade", "other_grade"),
    *("value", "reason", "n", "queries", "low", "high", "unsure"),
)


def records_of(
    found: Agreement,
    against: Iterable[AgainstOthers],
    again: Mapping[str, SelfAgreement],
    aside: Mapping[str, int],
) -> list[Record]:
    """Return all there is: a row for each number, for each week and for each cell."""
    return [
        *agreement_records(found),
        *against_records(against),
        *self_records(again),
        *aside_records(aside),
        *confusion_records(found),
    ]


def agreement_records(found: Agreement) -> list[Record]:
    """Return a row for each coefficient of all graders, then of every two of them."""
    rows = [
        _coefficient("alpha", found.alpha, metric=found.metric),
        _coefficient("Fleiss' kappa", found.fleiss, metric="nominal"),
        _coefficient("same grade", found.same),
        _coefficient("all the same grade", found.all_same),
    ]
    for pair in found.pairs:
        names = {"grader": pair.one, "other": pair.other}
        rows.append(_coefficient("weighted kappa", pair.kappa, metric="quadratic", **names))
        rows.append(_coefficient("same grade", pair.same, **names))
    return rows


def confusion_records(found: Agreement) -> list[Record]:
    """Return a row for each cell of every two graders' confusion matrix; ``n`` is its count."""
    return [
        _row(
            "confusion",
            grader=pair.one,
            other=pair.other,
            grade=_plain(found.values[down]),
            other_grade=_plain(found.values[across]),
            n=int(pair.table[down, across]),
        )
        for pair in found.pairs
        for down in range(len(found.values))
        for across in range(len(found.values))
    ]


def against_records(rows: Iterable[AgainstOthers]) -> list[Record]:
    """Return each grader against the agreed grade: four rows, and one for each week."""
    return [record for row in rows for record in _against(row)]


def self_records(found: Mapping[str, SelfAgreement]) -> list[Record]:
    """Return how often each grader gave the same grade again, of those who were asked again."""
    return [
        _row(statistic, against=SELF, grader=name, value=part / again.again, n=again.again)
        for name, again in found.items()
        for statistic, part in (
            ("same grade", again.same),
            ("within one grade", again.same + again.near),
        )
    ]


def aside_records(aside: Mapping[str, int]) -> list[Record]:
    """Return how many grades of each grader were left aside because they were not given blind."""
    return [_row("not blind, left aside", grader=name, n=count) for name, count in aside.items()]


def _against(row: AgainstOthers) -> Iterator[Record]:
    names = {"against": AGREED, "grader": row.grader}
    yield _coefficient("weighted kappa", row.kappa, metric="quadratic", **names)
    yield _coefficient("same grade", row.same, **names)
    yield _coefficient("within one grade", row.near, **names)
    yield _coefficient("mean difference", row.difference, **names)
    for week in row.weeks:
        yield _row(
            "mean difference",
            against=AGREED,
            grader=row.grader,
            week=week.monday,
            value=week.difference,
            n=week.n,
        )


def _coefficient(statistic: str, found: Coefficient, **more: str) -> Record:
    return _row(
        statistic,
        **more,
        value=found.value,
        reason=found.reason,
        n=found.n,
        queries=found.queries,
        low=found.low,
        high=found.high,
        unsure=found.unsure,
    )


def _row(statistic: str, *, against: str = EACH_OTHER, **more: object) -> Record:
    return dict.fromkeys(COLUMNS) | {"statistic": statistic, "against": against} | more


def _plain(value: float) -> int | float:
    """Return a grade as a whole number where it is one."""
    return int(value) if value == int(value) else float(value)
