"""Agreement as rows for programs, one per number, and how the numbers are computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from labeler.analysis.agreement.coefficients import INTERVAL_LEVEL, Metric
from labeler.analysis.agreement.grader_agreement import (
    AgainstOthers,
    Agreement,
    Coefficient,
    SelfAgreement,
)
from labeler.model import EVERYTHING, Selection

Record = dict[str, object]

EACH_OTHER, AGREED, SELF = "each other", "agreed grade", "self"
AGREEMENT_COLUMNS = (
    *("statistic", "metric", "against", "grader", "other", "week", "grade", "other_grade"),
    *("value", "reason", "n", "queries", "low", "high", "unsure"),
)


def all_agreement_records(
    found: Agreement,
    against: Iterable[AgainstOthers],
    again: Mapping[str, SelfAgreement],
    aside: Mapping[str, int],
) -> list[Record]:
    """Return every row: one per coefficient, per week and per cell of a confusion matrix."""
    return [
        *agreement_records(found),
        *(record for row in against for record in _records_against(row)),
        *self_records(again),
        *(_row("not blind, left aside", grader=name, n=n) for name, n in aside.items()),
        *confusion_records(found),
    ]


def agreement_records(found: Agreement) -> list[Record]:
    """Return a row per coefficient: first of all graders together, then of each pair."""
    rows = [
        _coefficient_row("alpha", found.alpha, metric=found.metric),
        _coefficient_row("Fleiss' kappa", found.fleiss, metric="nominal"),
        _coefficient_row("same grade", found.same),
        _coefficient_row("all the same grade", found.all_same),
    ]
    for pair in found.pairs:
        names = {"grader": pair.one, "other": pair.other}
        rows.append(_coefficient_row("weighted kappa", pair.kappa, metric="quadratic", **names))
        rows.append(_coefficient_row("same grade", pair.same, **names))
    return rows


def confusion_records(found: Agreement) -> list[Record]:
    """Return a row per cell of the matrix of each pair that shares a chunk; ``n`` is the count."""
    return [
        _row(
            "confusion",
            grader=pair.one,
            other=pair.other,
            grade=_int_if_whole(found.values[down]),
            other_grade=_int_if_whole(found.values[across]),
            n=int(pair.table[down, across]),
        )
        for pair in found.pairs
        if pair.kappa.n
        for down in range(len(found.values))
        for across in range(len(found.values))
    ]


def self_records(found: Mapping[str, SelfAgreement]) -> list[Record]:
    """Return how often each grader gave the same grade to chunks that were shown again."""
    return [
        _row(statistic, against=SELF, grader=name, value=part / again.again, n=again.again)
        for name, again in found.items()
        for statistic, part in (
            ("same grade", again.same),
            ("within one grade", again.same + again.near),
        )
    ]


def _records_against(row: AgainstOthers) -> Iterator[Record]:
    names = {"against": AGREED, "grader": row.grader}
    yield _coefficient_row("weighted kappa", row.kappa, metric="quadratic", **names)
    yield _coefficient_row("same grade", row.same, **names)
    yield _coefficient_row("within one grade", row.near, **names)
    yield _coefficient_row("mean difference", row.difference, **names)
    for week in row.weeks:
        yield _row(
            "mean difference",
            against=AGREED,
            grader=row.grader,
            week=week.monday,
            value=week.difference,
            n=week.n,
        )


def _coefficient_row(statistic: str, found: Coefficient, **more: str) -> Record:
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
    return dict.fromkeys(AGREEMENT_COLUMNS) | {"statistic": statistic, "against": against} | more


def _int_if_whole(value: float) -> int | float:
    return int(value) if value == int(value) else float(value)


def agreement_conventions(
    metric: Metric, rule: str, selected: Selection = EVERYTHING
) -> dict[str, object]:
    """Return how the numbers are computed, ready for JSON, with a ``description`` for people.

    ``rule`` names how several grades become one, ``selected`` which queries count.
    """
    words = (
        *([selected.describe()] if selected != EVERYTHING else []),
        f"alpha {metric}",
        "current grades that were given blind, of the same passage text",
        "kappa with quadratic weights, 0 where one of two graders gave one grade only",
        f"{INTERVAL_LEVEL:.0%} jackknife intervals over queries",
        f"agreed grade: somebody else's adjudication, else the {rule} of the others' blind grades",
    )
    named = {"metric": metric, "kappa_weights": "quadratic", "golden_rule": rule}
    named |= asdict(selected)
    interval = {"level": INTERVAL_LEVEL, "interval": "jackknife"}
    return {**named, **interval, "description": " · ".join(words)}
