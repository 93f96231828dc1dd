"""Tables of agreement: of all graders, of pairs, of buckets, against the agreed grade, by week."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from labeler.analysis.agreement.grader_agreement import (
    AgainstOthers,
    Agreement,
    Coefficient,
    PairAgreement,
)
from labeler.model.results import COUNT, NUMBER, RANGE, SIGNED, SIGNED_RANGE, Column, Table

INTERVAL_TITLE = "95% interval"
COUNT_COLUMNS = (Column("n", "passages", COUNT), Column("queries", "queries", COUNT))
COEFFICIENT_COLUMNS = (
    Column("value", "value", NUMBER),
    Column("interval", INTERVAL_TITLE, RANGE, parts=("low", "high")),
    *COUNT_COLUMNS,
)
KAPPA_HELP = "A difference of two grades counts four times as much as a difference of one."
ALONE_HELP = "Passages that nobody else has graded blind, so that they are not compared."
AT_ODDS_HELP = "Passages on which the others do not agree, so that they are not compared."


def overall_table(found: Agreement) -> Table:
    """Return a row for each coefficient of all graders together."""
    lines = [
        (f"Krippendorff's alpha, {found.metric}", "two or more", found.alpha),
        ("Fleiss' kappa", "all", found.fleiss),
        ("same grade, each pair", "all", found.same),
    ]
    if len(found.graders) > 2:
        lines.append(("same grade, all graders", "all", found.all_same))
    rows = [
        {"statistic": name, "graded_by": graded, **_numbers(each), "why": _why(each)}
        for name, graded, each in lines
    ]
    names = Column("statistic", "all graders"), Column("graded_by", "graded by")
    return _with_reasons((*names, *COEFFICIENT_COLUMNS), rows)


def pair_table(found: Agreement) -> Table:
    """Return a row for every two graders who share a passage."""
    columns = (
        Column("grader", "grader"),
        Column("other", "and"),
        Column("value", "weighted kappa", NUMBER, help=KAPPA_HELP),
        *COEFFICIENT_COLUMNS[1:],
        Column("same", "same grade", NUMBER),
        Column("differing", "differ", COUNT, help="Passages to which they gave different grades."),
    )
    return _with_reasons(columns, [_pair_row(pair) for pair in found.pairs if pair.kappa.n])


def _pair_row(pair: PairAgreement) -> dict[str, Any]:
    return {
        "grader": pair.one,
        "other": pair.other,
        **_numbers(pair.kappa),
        "same": pair.same.value,
        "differing": int(pair.table.sum() - np.trace(pair.table)),
        "why": _why(pair.kappa, *pair.notes),
    }


def bucket_table(facet: str, buckets: Sequence[tuple[str, Agreement]]) -> Table:
    """Return a row for each bucket of a facet: alpha, and what it is computed from."""
    columns = (
        Column("bucket", facet),
        Column("value", "alpha", NUMBER),
        *COEFFICIENT_COLUMNS[1:],
        Column("fleiss", "Fleiss' kappa", NUMBER),
        Column("same", "same grade", NUMBER),
    )
    rows = [
        {
            "bucket": bucket,
            **_numbers(each.alpha),
            "fleiss": each.fleiss.value,
            "same": each.same.value,
            "why": _why(each.alpha),
        }
        for bucket, each in buckets
    ]
    return _with_reasons(columns, rows)


def against_others_table(against: Iterable[AgainstOthers]) -> Table:
    """Return a row for each grader against the grade agreed without them."""
    columns = (
        Column("grader", "against the agreed grade"),
        Column("value", "mean difference", SIGNED),
        Column("interval", INTERVAL_TITLE, SIGNED_RANGE, parts=("low", "high")),
        *COUNT_COLUMNS,
        Column("same", "same grade", NUMBER),
        Column("near", "within one", NUMBER),
        Column("kappa", "weighted kappa", NUMBER, help=KAPPA_HELP),
        Column("alone", "graded alone", COUNT, help=ALONE_HELP),
        Column("at_odds", "others differ", COUNT, help=AT_ODDS_HELP),
    )
    rows = [
        {
            "grader": row.grader,
            **_numbers(row.difference),
            "same": row.same.value,
            "near": row.near.value,
            "kappa": row.kappa.value,
            "alone": row.alone,
            "at_odds": row.at_odds,
            "why": _why(row.difference),
        }
        for row in against
    ]
    return _with_reasons(columns, rows)


def drift_table(against: Iterable[AgainstOthers]) -> Table:
    """Return a row for each grader and week: how far they were from the agreed grade."""
    columns = (
        Column("grader", "grader"),
        Column("monday", "week from"),
        Column("difference", "mean difference", SIGNED),
        Column("n", "passages", COUNT),
    )
    rows = [
        {"grader": row.grader, "monday": week.monday, "difference": week.difference, "n": week.n}
        for row in against
        for week in row.weeks
    ]
    return Table(columns, rows)


def confusion_tables(found: Agreement) -> Iterator[Table]:
    """Yield the confusion matrix of every two graders who share a passage."""
    for pair in found.pairs:
        if pair.kappa.n:
            names = [f"{pair.other} {value:g}" for value in found.values]
            heads = [Column(f"given_{at}", name, COUNT) for at, name in enumerate(names)]
            rows = [
                {"given": f"{pair.one} {value:g}"}
                | {head.name: int(count) for head, count in zip(heads, counts, strict=True)}
                for value, counts in zip(found.values, pair.table, strict=True)
            ]
            yield Table((Column("given", "gave"), *heads), rows)


def _numbers(found: Coefficient) -> dict[str, Any]:
    return {
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "n": found.n,
        "queries": found.queries,
    }


def _why(found: Coefficient, *more: str) -> str:
    """Say why a number or its interval is not there, or what else there is to know of it."""
    no_interval = f"no interval: {found.unsure}" if found.is_defined and found.unsure else None
    return " · ".join(filter(None, [found.reason, no_interval, *more]))


def _with_reasons(columns: tuple[Column, ...], rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table whose last column, for details, is there only where a row needs it."""
    why = (Column("why", "to know", detail=True),) if any(row["why"] for row in rows) else ()
    return Table((*columns, *why), rows)
