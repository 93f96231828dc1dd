"""Agreement as table rows for programs and as sentences for people.

The sentences are about how clear the guideline is, never about who is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from labeler.analysis.agreement.coefficients import INTERVAL_LEVEL, Metric
from labeler.analysis.agreement.grade_matrix import GradeMatrix
from labeler.analysis.agreement.grader_agreement import (
    ONE_GRADE,
    AgainstOthers,
    Agreement,
    Coefficient,
    SelfAgreement,
)
from labeler.model import EVERYTHING, Selection, format_count

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
        *against_records(against),
        *self_records(again),
        *aside_records(aside),
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
    """Return a row per cell of each pair's confusion matrix; ``n`` is the count."""
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
        for down in range(len(found.values))
        for across in range(len(found.values))
    ]


def against_records(rows: Iterable[AgainstOthers]) -> list[Record]:
    """Return four rows per grader, compared with the agreed grade, and one more per week."""
    return [record for row in rows for record in _records_against(row)]


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


def aside_records(aside: Mapping[str, int]) -> list[Record]:
    """Return how many grades of each grader were excluded because they were not given blind."""
    return [_row("not blind, left aside", grader=name, n=count) for name, count in aside.items()]


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


RELIABLE, TENTATIVE = 0.8, 0.667


class AgreementNote(NamedTuple):
    """A remark on agreement numbers: ``kind`` is for programs, ``sentence`` for people."""

    kind: str
    sentence: str


ALPHA_LIMITS_NOTE = (
    f"0.8 and {TENTATIVE} are the limits Krippendorff (2004) gives for relying on grades and for "
    "tentative conclusions; they are customs, not laws"
)
FEW_QUERIES = 10  # with fewer, the report warns that alpha says little


def agreement_conventions(
    metric: Metric, rule: str, selected: Selection = EVERYTHING
) -> dict[str, object]:
    """Return how the numbers are computed, ready for JSON, with a ``description`` for people.

    ``rule`` names how several grades become one, ``selected`` which queries count.
    """
    words = (
        *([selected.describe()] if selected != EVERYTHING else []),
        f"alpha {metric}",
        "current grades given blind",
        "one wording of a chunk",
        "kappa with quadratic weights, 0 where one of the two gave one grade only",
        "not defined only where no disagreement is to be expected",
        f"{INTERVAL_LEVEL:.0%} jackknife intervals over queries",
        f"agreed grade: somebody else's adjudication, else of the others' blind grades the {rule}",
    )
    named = {"metric": metric, "kappa_weights": "quadratic", "golden_rule": rule}
    named |= asdict(selected)
    interval = {"level": INTERVAL_LEVEL, "interval": "jackknife"}
    return {**named, **interval, "description": " · ".join(words)}


def summarize_agreement(found: Agreement) -> str:
    """Describe in a sentence how far graders agree, or why alpha is undefined.

    >>> from labeler.analysis.agreement import compute_agreement
    >>> summarize_agreement(compute_agreement(GradeMatrix.of_ratings([[0, 1, 2], [0, 1, 3]])))[:62]
    "1 and 2 agree closely: Krippendorff's alpha is 0.949 (no inter"
    """
    if not found.alpha.is_defined:
        return why_no_alpha(found)
    return f"{_name_graders(found)} {_describe_degree(found.alpha)}: {_format_alpha(found)}."


def explain_agreement(found: Agreement) -> str:
    """Explain what follows from alpha, and how certain that is; empty where alpha is undefined."""
    alpha = found.alpha
    if not alpha.is_defined:
        return ""
    if alpha.value >= RELIABLE:
        text = "It matters little who of them graded what."
    elif alpha.value >= TENTATIVE:
        text = "That is enough to build on; talking over the widest disagreements makes it firmer."
    elif alpha.value > 0:
        text = (
            "They read the guideline differently in places, and a close comparison of two runs may "
            "depend on who graded: talk over the widest disagreements, and let the guideline say "
            "what you find."
        )
    else:
        text = (
            "The guideline leaves too much open: talk over the widest disagreements before more is "
            "graded."
        )
    return f"{text}{_describe_doubt(alpha)}"


def why_no_alpha(found: Agreement) -> str:
    """Explain why alpha is undefined."""
    if not found.graders:
        return "Nobody has graded blind yet, so there is nothing to agree on."
    if len(found.graders) == 1:
        return f"Only {found.graders[0]}'s blind grades are looked at: agreement needs two graders."
    if found.alpha.reason == ONE_GRADE:
        [grade] = [at for at, row in enumerate(found.table) if row.any()]
        where = _count_chunks(found.alpha)
        return (
            f"Everybody gave {found.values[grade]:g} to {where}: where one grade is in use, "
            "agreement cannot be told from chance, and alpha is not defined."
        )
    return (
        f"{_name_graders(found)} have graded no chunk in common, so that agreement "
        "cannot be measured."
    )


def agreement_notes(found: Agreement) -> list[AgreementNote]:
    """Return notes on a kappa of 0, on pairs without a common chunk, and on undefined numbers."""
    notes = [
        AgreementNote("constant grader", sentence)
        for pair in found.pairs
        for sentence in pair.notes
    ]
    apart = [join_names([pair.one, pair.other]) for pair in found.pairs if not pair.kappa.n]
    if found.alpha.n and apart:
        notes.append(AgreementNote("no overlap", f"no chunk in common: {', '.join(apart)}"))
    if found.alpha.is_defined and not found.fleiss.is_defined:
        notes.append(AgreementNote("not defined", f"Fleiss' kappa: {found.fleiss.reason}"))
    for pair in found.pairs:
        if pair.kappa.n and not pair.kappa.is_defined:
            who = join_names([pair.one, pair.other])
            notes.append(AgreementNote("not defined", f"{who}: {pair.kappa.reason}"))
    return notes


def non_blind_notes(matrix: GradeMatrix) -> list[AgreementNote]:
    """Return a note that counts the excluded grades that were not given blind; empty if none."""
    if not matrix.aside:
        return []
    counts = ", ".join(f"{name} {count:,}" for name, count in matrix.aside.items())
    total = sum(matrix.aside.values())
    grades = format_count(total, "grade", "grades")
    return [AgreementNote("not blind", f"{grades} not given blind left aside: {counts}")]


def join_names(names: Sequence[str]) -> str:
    """Join names as a sentence lists them.

    >>> join_names(["Ann"]), join_names(["Ann", "Bob", "Cy"])
    ('Ann', 'Ann, Bob and Cy')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def _name_graders(found: Agreement) -> str:
    count = len(found.graders)
    return join_names(found.graders) if count == 2 else f"The {count} graders"


def _describe_degree(alpha: Coefficient) -> str:
    if alpha.value >= RELIABLE:
        return "agree closely"
    if alpha.value >= TENTATIVE:
        return "agree for the most part"
    if alpha.value <= 0:
        return "agree no more than chance would"
    may_be_chance = alpha.unsure is None and alpha.low <= 0
    return "may agree no more than chance would" if may_be_chance else "agree in part"


def _format_alpha(found: Agreement) -> str:
    metric = "" if found.metric == "ordinal" else f", {found.metric},"
    return (
        f"Krippendorff's alpha{metric} is {found.alpha.value:.3f} "
        f"({_format_interval(found.alpha)}) "
        f"over {_count_chunks(found.alpha)}"
    )


def _format_interval(found: Coefficient) -> str:
    if found.unsure is not None:
        return f"no interval: {found.unsure}"
    return f"95%: {found.low:.3f} to {found.high:.3f}"


def _count_chunks(alpha: Coefficient) -> str:
    which = "the one chunk" if alpha.n == 1 else f"the {alpha.n:,} chunks"
    queries = "one query" if alpha.queries == 1 else f"{alpha.queries:,} queries"
    return f"{which} of {queries} that two or more graded"


def _describe_doubt(alpha: Coefficient) -> str:
    if alpha.queries < FEW_QUERIES:
        return " So few queries say little yet."
    limits = [limit for limit in (RELIABLE, TENTATIVE) if alpha.low < limit <= alpha.value]
    return f" With other queries it could be below {limits[-1]:g}." if limits else ""
