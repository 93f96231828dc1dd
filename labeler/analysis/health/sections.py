"""Sections of the health report: headings, sentences, warnings, table rows; and the JSON record.

Names of buckets and sources are unescaped: code that shows them must escape them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from labeler.analysis.comparison import format_p_value
from labeler.analysis.health.golden_set_health import (
    FEW_QUERIES,
    GoldenSetHealth,
    GradeAges,
    ShareEstimate,
    SizeMark,
    SourceAgreement,
    ThinBuckets,
    TrafficShares,
)
from labeler.evaluation import format_share
from labeler.model import QUERY_ORIGINS, CopyGrades, format_count, format_list

MOST_NAMED, MOST_BUCKETS = 5, 15
UNKNOWN_SOURCE = "unknown"
CellValue = str | int
Remedy = Literal["grade", "add queries", "open query", "decide", "weigh", "review queries"]
"""What a warning asks for: where it is done depends on who shows it."""


@dataclass(frozen=True, slots=True)
class HealthWarning:
    """What is wrong, what it means and what to do, in a sentence or two.

    ``target`` is the query to open, or the facet to weigh by.
    """

    sentence: str
    remedy: Remedy
    target: str = ""


@dataclass(frozen=True, slots=True)
class HealthSection:
    """One part of the report; the first column of its table contains text.

    ``notes`` say how its numbers are computed.
    """

    title: str
    sentences: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[CellValue, ...], ...] = ()
    warnings: tuple[HealthWarning, ...] = ()
    notes: tuple[str, ...] = ()


def summarize_health(parts: Sequence[HealthSection]) -> str:
    """Return how many points need attention."""
    count = sum(len(part.warnings) for part in parts)
    if not count:
        return "Nothing needs attention."
    return f"{format_count(count, 'point needs', 'points need')} attention."


def describe_size(found: GoldenSetHealth) -> str:
    """Return in one sentence what the graded queries are enough for."""
    if not found.judged:
        return f"None of {format_count(found.queries, 'query', 'queries')} is graded yet."
    by = f" in {found.by}" if found.by else ""
    return (
        f"With {found.judged:,} of {format_count(found.queries, 'query', 'queries')} graded, you "
        "will probably (95%) see any failure that affects at least "
        f"{_format_percent(found.now.rarest, 1)} of questions, and can detect "
        f"differences of {_format_number(found.now.reach)}{by} or more (80% power)."
    )


def describe_health(found: GoldenSetHealth) -> tuple[HealthSection, ...]:
    """Return all sections, in the order in which a lead needs them."""
    return (
        _size_section(found),
        _confirmed_section(found),
        _buckets_section(found),
        *_single_answer_sections(found),
        *_copies_sections(found),
        *_traffic_sections(found),
        _suggestions_section(found),
        _sources_section(found),
        _near_duplicates_section(found),
    )


def _size_section(found: GoldenSetHealth) -> HealthSection:
    by = f"{found.spread:.2f}, assumed because no two runs can be compared"
    if found.pairs_of_runs:
        pairs = "the one pair" if found.pairs_of_runs == 1 else f"{found.pairs_of_runs:,} pairs"
        by = f"{found.spread:.2f}, the median of {pairs} of runs by {found.by}"
    notes = (
        "A failure that affects the given share of all questions occurs at least once among so "
        "many queries with 95% probability.",
        "A true difference between two runs of the given size is detected with 80% power at the "
        f"5% level. The standard deviation of differences by query is {by}.",
    )
    to_go = [(mark, mark.queries - found.judged) for mark in found.marks]
    rows = [_mark_row(mark, f"{more:,} to go" if more > 0 else "reached") for mark, more in to_go]
    rows.append(_mark_row(found.now, "now"))
    few = found.marks[0].queries
    missing = HealthWarning(
        f"{found.judged:,} of at least {few} queries are graded: enough to look at single "
        "failures, too few to compare runs. Grade more queries.",
        "grade",
    )
    headings = ("enough to", "queries", "state", "rarest failure seen")
    return HealthSection(
        "Size",
        (describe_size(found),),
        (*headings, "smallest difference detected"),
        tuple(rows),
        (missing,) if found.judged < few else (),
        notes,
    )


def _mark_row(mark: SizeMark, state: str) -> tuple[CellValue, ...]:
    what = mark.good_for or "this golden set"
    return (what, mark.queries, state, _format_percent(mark.rarest, 1), _format_number(mark.reach))


def _confirmed_section(found: GoldenSetHealth) -> HealthSection:
    own = found.confirmed
    counts = (
        ("graded by a person", own.by_people),
        ("graded by two or more people", own.twice),
        ("decided where graders differ", own.adjudicated),
        ("only from a file", own.pairs - own.by_people),
    )
    sentences = []
    if ages := found.ages:
        sentences.append(
            f"{_describe_ages(ages, own.pairs)} A grade from a file is as old as its load."
        )
    if own.only_proposed:
        have = format_count(own.only_proposed, "chunk has", "chunks have")
        sentences.append(f"{have} only a suggested grade, which never counts. Grade them on Label.")
    return HealthSection(
        "Who graded it, and when",
        tuple(sentences),
        ("golden grades", "n", "share"),
        (
            ("all", own.pairs, format_share(own.pairs, own.pairs)),
            *((name, n, format_share(n, own.pairs)) for name, n in counts),
        ),
    )


def _describe_ages(ages: GradeAges, pairs: int) -> str:
    if ages.oldest < 1:
        return "No golden grade is older than a day."
    half = (
        "given within the last day"
        if ages.median < 1
        else f"more than {_format_days(ages.median)} old"
    )
    return (
        f"Half of the golden grades are {half}, the oldest {_format_days(ages.oldest)}; "
        f"{format_share(ages.old, pairs)} are older than {_format_days(ages.after)}."
    )


def _buckets_section(found: GoldenSetHealth) -> HealthSection:
    rows = [(thin.facet, thin.buckets, len(thin.few)) for thin in found.thin]
    if not rows:
        return HealthSection("Buckets", ("No query has a facet.",))
    return HealthSection(
        "Buckets",
        (f"Only buckets of {FEW_QUERIES} or more graded queries are tested.",),
        ("facet", "buckets", "too small"),
        tuple(rows),
        tuple(_describe_thin(thin) for thin in found.thin if thin.few),
    )


def _describe_thin(thin: ThinBuckets) -> HealthWarning:
    named = [f"{name} ({n})" for name, n in thin.few]
    has = "has" if len(named) == 1 else "have"
    return HealthWarning(
        f"{thin.facet}: {format_list(named, MOST_NAMED)} {has} fewer than {FEW_QUERIES} graded "
        "queries, so runs are not compared there. Add or grade queries.",
        "add queries",
    )


def _single_answer_sections(found: GoldenSetHealth) -> Iterator[HealthSection]:
    single = found.single
    if not single.queries:
        return
    graded = format_count(single.queries, "graded query has", "graded queries have")
    said = f"{graded} the task single: one document should hold the answer."
    warned: tuple[HealthWarning, ...] = ()
    if single.several:
        are = format_count(
            len(single.several), "single-answer query has", "single-answer queries have"
        )
        named = [f"{name} ({documents})" for name, documents in single.several]
        warned = (
            HealthWarning(
                f"{are} answers in several documents: {format_list(named, MOST_NAMED)}. RR and "
                "Success count only the first answer. Check the task or the grades.",
                "open query",
                single.several[0][0],
            ),
        )
    yield HealthSection("Single answers", (said,), warnings=warned)


def _format_copies(text: CopyGrades) -> str:
    graded = [f"{name} {grade}" for name, grade in text.grades if grade is not None]
    return format_list(graded, MOST_NAMED)


def _copies_sections(found: GoldenSetHealth) -> Iterator[HealthSection]:
    """Yield the section on texts that several chunks of a query have, if something is amiss."""
    warned = []
    if unlike := found.unlike_copies:
        are = format_count(len(unlike), "text occurs", "texts occur")
        named = [f"{each.query_id} ({_format_copies(each)})" for each in unlike]
        warned.append(
            HealthWarning(
                f"{are} in several chunks of one query, with different golden grades: "
                f"{format_list(named, MOST_NAMED)}. A run gains by which of them it returns. "
                "Decide on one grade.",
                "decide",
            )
        )
    if found.ungraded_copies:
        are = format_count(found.ungraded_copies, "chunk repeats", "chunks repeat")
        warned.append(
            HealthWarning(
                f"{are} a graded text and is unjudged. People's grades of the text count for it "
                "after the next load, or once somebody opens Label; texts graded only by a file "
                "are asked for there.",
                "grade",
            )
        )
    if warned:
        text = "Chunks of a query with the same text and title should have the same grade."
        yield HealthSection("Identical texts", (text,), warnings=tuple(warned))


def _traffic_sections(found: GoldenSetHealth) -> Iterator[HealthSection]:
    if not found.shares:
        text = (
            "No production log with buckets is loaded, so the golden set can't be compared with "
            "real traffic."
        )
        if found.logs:
            text = (
                "The production logs share no facet with the queries, so the golden set can't be "
                "compared with real traffic."
            )
        yield HealthSection("Traffic", (text,))
    for shares in found.shares:
        yield _traffic_section(shares)


def _traffic_section(shares: TrafficShares) -> HealthSection:
    queries = sum(own for _, own, _ in shares.buckets)
    questions = sum(theirs for *_, theirs in shares.buckets)
    sentences = [f"{queries:,} queries and {questions:,} questions of the production logs."]
    notes = (
        f"Total variation distance {shares.distance:.2f} (0: the same shares, 1: no bucket in "
        f"common); chance alone gives less than {shares.by_chance:.2f} in 99 of 100 draws.",
    )
    warned: tuple[HealthWarning, ...] = ()
    if shares.differs:
        warned = (
            HealthWarning(
                f"The golden set has other shares of {shares.facet} than real traffic "
                f"(p {format_p_value(shares.p)}), so a mean over all queries is not what users "
                "meet. Weight it by traffic, or add queries where they are missing.",
                "weigh",
                shares.facet,
            ),
        )
    rows = [
        (name, own, format_share(own, queries), theirs, format_share(theirs, questions))
        for name, own, theirs in shares.buckets
    ]
    if len(rows) > MOST_BUCKETS:
        sentences.append(f"The {MOST_BUCKETS} most frequent of {len(rows):,} buckets:")
    headings = (shares.facet, "queries", "share of queries", "logged", "share of logs")
    title = f"Traffic by {shares.facet}"
    shown = tuple(rows[:MOST_BUCKETS])
    return HealthSection(title, tuple(sentences), headings, shown, warned, notes)


def _suggestions_section(found: GoldenSetHealth) -> HealthSection:
    if not found.met:
        return HealthSection(
            "Suggested grades", ("Nobody has graded a chunk with a suggested grade yet.",)
        )
    text = (
        "What people gave before they saw the suggestion. The difference is suggested minus "
        "given, with 95% confidence intervals over the choice of queries."
    )
    headings = ("source", "grades", "the same", "within one", "mean difference")
    rows = tuple(_suggestion_row(each) for each in found.met)
    return HealthSection("Suggested grades", (text,), headings, rows)


def _suggestion_row(each: SourceAgreement) -> tuple[CellValue, ...]:
    return (
        each.source,
        each.n,
        _format_estimate(each.exact),
        _format_estimate(each.within_one),
        _format_estimate(each.difference, sign="+"),
    )


def _sources_section(found: GoldenSetHealth) -> HealthSection:
    rows = tuple(
        (
            UNKNOWN_SOURCE if source is None else QUERY_ORIGINS[source],
            n,
            format_share(n, found.queries),
        )
        for source, n in found.sources
    )
    return HealthSection("Where queries come from", (), ("source", "queries", "share"), rows)


def _near_duplicates_section(found: GoldenSetHealth) -> HealthSection:
    title = "Near-duplicates"
    if found.alike is None:
        return HealthSection(
            title, ("Too many queries to search here. On the command line: labeler leakage",)
        )
    if not found.alike:
        return HealthSection(title, ("No two queries are nearly the same.",))
    pairs = format_count(found.alike, "pair of queries is", "pairs of queries are")
    warned = HealthWarning(
        f"{pairs} nearly the same, so such a question counts twice in every mean. List them with "
        "'labeler leakage', and retire one of each pair.",
        "review queries",
    )
    return HealthSection(title, warnings=(warned,))


def health_record(found: GoldenSetHealth) -> dict[str, Any]:
    """Return the health as data for JSON, with every digit; NaN becomes None."""
    warned = [each.sentence for part in describe_health(found) for each in part.warnings]
    return {**_as_json(asdict(found)), "warnings": warned}


def _as_json(value: Any) -> Any:
    """Return a value as JSON can hold it: named tuples as objects, NaN as None."""
    if isinstance(value, float):
        return None if math.isnan(value) else value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_as_json(each) for each in value]
    return value


def _format_percent(share: float, digits: int = 0) -> str:
    """Format a share; only 0 and 1 are shown as 0% and 100%.

    >>> (
    ...     _format_percent(0.999),
    ...     _format_percent(0.001),
    ...     _format_percent(0.5),
    ...     _format_percent(0.0153, 1),
    ... )
    ('>99%', '<1%', '50%', '1.5%')
    """
    if math.isnan(share):
        return "–"
    shown = f"{share:.{digits}%}"
    if shown == f"{1:.{digits}%}" and share < 1:
        return ">99%"
    return "<1%" if share > 0 and not float(shown.rstrip("%")) else shown


def _format_number(value: float, sign: str = "") -> str:
    return "–" if math.isnan(value) else f"{value:{sign}.2f}".replace("-", "−")


def _format_estimate(share: ShareEstimate, sign: str = "") -> str:
    value = _format_number(share.value, sign)
    if math.isnan(share.low):
        return value
    return f"{value} ({_format_number(share.low, sign)} to {_format_number(share.high, sign)})"


def _format_days(days: float) -> str:
    return "a day" if round(days) == 1 else f"{days:,.0f} days"
