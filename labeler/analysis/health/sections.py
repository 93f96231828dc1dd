"""Sections of the health report: headings, sentences, warnings, table rows; and the JSON record.

Names of buckets and sources are unescaped: code that shows them must escape them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

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
from labeler.model import QUERY_ORIGINS, CopyGrades, format_count, format_list

MOST_NAMED, MOST_BUCKETS = 5, 15
UNKNOWN_SOURCE = "not known: from before sources were kept"
CellValue = str | int


@dataclass(frozen=True, slots=True)
class HealthSection:
    """One part of the report; the first column of its table contains text.

    ``warnings`` are sentences that call for action.
    """

    title: str
    sentences: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[CellValue, ...], ...] = ()
    warnings: tuple[str, ...] = ()


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
    by = f"{found.spread:.2f}, taken as there are no two runs"
    if found.pairs_of_runs:
        pairs = "the one pair" if found.pairs_of_runs == 1 else f"{found.pairs_of_runs:,} pairs"
        by = f"{found.spread:.2f}, the median of {pairs} of runs here by {found.by}"
    sentences = [
        f"{format_count(found.judged, 'query has', 'queries have')} grades, of {found.queries:,}.",
        "The rarest failure seen is a kind of failure that so many queries show at least once "
        "(with 95% probability), if it affects that share of all questions.",
        "The smallest difference shown is a true difference between two runs that so many "
        f"queries show (80% power at the 5% level). Differences by query spread by {by}.",
    ]
    rows = [_mark_row(mark, _format_reached(mark, found.judged)) for mark in found.marks]
    rows.append(_mark_row(found.now, "now"))
    few = found.marks[0].queries
    missing = f"Too few queries to tell anything but failures: {found.judged:,} of {few}."
    headings = ("enough", "queries", "", "rarest failure seen", "smallest difference shown")
    warned = (missing,) if found.judged < few else ()
    return HealthSection("Size", tuple(sentences), headings, tuple(rows), warned)


def _mark_row(mark: SizeMark, state: str) -> tuple[CellValue, ...]:
    what = mark.good_for or "this set as it is"
    return (what, mark.queries, state, _format_percent(mark.rarest, 1), _format_number(mark.reach))


def _format_reached(mark: SizeMark, judged: int) -> str:
    return "reached" if judged >= mark.queries else f"{mark.queries - judged:,} to go"


def _confirmed_section(found: GoldenSetHealth) -> HealthSection:
    own = found.confirmed
    rows = [
        ("graded by a person", own.by_people, _format_share(own.by_people, own.pairs)),
        ("graded by two or more", own.twice, _format_share(own.twice, own.pairs)),
        ("adjudicated", own.adjudicated, _format_share(own.adjudicated, own.pairs)),
        (
            "from a file alone",
            own.pairs - own.by_people,
            _format_share(own.pairs - own.by_people, own.pairs),
        ),
    ]
    sentences = [f"{format_count(own.pairs, 'golden grade', 'golden grades')}."]
    if own.only_proposed:
        are = format_count(own.only_proposed, "chunk has", "chunks have")
        sentences.append(f"{are} a proposed grade alone, which never counts: nobody has graded it.")
    if ages := found.ages:
        sentences.append(
            f"{_describe_ages(ages, own.pairs)} A grade that came with a file is as "
            "old as its load."
        )
    return HealthSection(
        "Who confirmed it, and when", tuple(sentences), ("grades", "n", "share"), tuple(rows)
    )


def _describe_ages(ages: GradeAges, pairs: int) -> str:
    if ages.oldest < 1:
        return "None of them is a day old."
    half = "of the last day" if ages.median < 1 else f"older than {_format_days(ages.median)}"
    return (
        f"Half of them are {half}, the oldest is of {_format_days(ages.oldest)} ago; "
        f"{_format_share(ages.old, pairs)} are older than {_format_days(ages.after)}."
    )


def _buckets_section(found: GoldenSetHealth) -> HealthSection:
    text = f"A bucket with fewer than {FEW_QUERIES} graded queries is not tested."
    rows = [(thin.facet, thin.buckets, len(thin.few)) for thin in found.thin]
    warned = tuple(_describe_thin(thin) for thin in found.thin if thin.few)
    if not rows:
        return HealthSection("Buckets", ("No query has a bucket.",))
    return HealthSection(
        "Buckets", (text,), ("facet", "buckets", "with too few"), tuple(rows), warned
    )


def _describe_thin(thin: ThinBuckets) -> str:
    named = [f"{name} ({n})" for name, n in thin.few[:MOST_NAMED]]
    more = f" and {len(thin.few) - len(named)} more" if len(thin.few) > len(named) else ""
    return f"{thin.facet}: too few graded queries in {', '.join(named)}{more}."


def _single_answer_sections(found: GoldenSetHealth) -> Iterator[HealthSection]:
    single = found.single
    if not single.queries:
        return
    graded = format_count(single.queries, "graded query has", "graded queries have")
    said = f"{graded} the task single, which expects its answer in one place."
    warned: tuple[str, ...] = ()
    if single.several:
        count = len(single.several)
        are = f"{count:,} of these {'has' if count == 1 else 'have'} answers in several documents"
        named = [f"{name} ({documents})" for name, documents in single.several]
        warned = (
            f"{are}: {format_list(named, MOST_NAMED)}. Check the task, or the grades: RR and "
            "Success count the first of them only.",
        )
    yield HealthSection("Single answers", (said,), warnings=warned)


def _format_copies(text: CopyGrades) -> str:
    graded = [f"{name} {grade}" for name, grade in text.grades if grade is not None]
    return format_list(graded, MOST_NAMED)


def _copies_sections(found: GoldenSetHealth) -> Iterator[HealthSection]:
    """Yield the section on texts that several chunks of a query have, if something is amiss."""
    warned = []
    if unlike := found.unlike_copies:
        are = format_count(len(unlike), "text has", "texts have")
        named = [f"{each.query_id} ({_format_copies(each)})" for each in unlike]
        warned.append(
            f"{are} several chunks in one query whose golden grades differ: "
            f"{format_list(named, MOST_NAMED)}. "
            "`labeler disagreements` lists them; a lead decides them on Review > Disagreements."
        )
    if found.ungraded_copies:
        one, many = "passage is an ungraded copy", "passages are ungraded copies"
        are = format_count(found.ungraded_copies, one, many)
        warned.append(
            f"{are} of a graded one: what people said of the text counts for them with the next "
            "load, or once Label is opened; where it is only from a file, Label asks for the text."
        )
    if warned:
        text = "Chunks of a query with the same text and title should have the same grade."
        yield HealthSection("Identical texts", (text,), warnings=tuple(warned))


def _traffic_sections(found: GoldenSetHealth) -> Iterator[HealthSection]:
    if not found.shares:
        text = "No log of production with buckets is loaded, so nothing says what users ask for."
        if found.logs:
            text = "No facet of the logs is one of the queries, so their shares cannot be compared."
        yield HealthSection("Traffic", (text,))
    for shares in found.shares:
        yield _traffic_section(shares)


def _traffic_section(shares: TrafficShares) -> HealthSection:
    queries = sum(own for _, own, _ in shares.buckets)
    questions = sum(theirs for *_, theirs in shares.buckets)
    apart = (
        f"Total variation distance {shares.distance:.2f} (0: the same shares, 1: none in common); "
        f"by chance alone under {shares.by_chance:.2f} in 99 of 100 draws"
    )
    sentences = [f"{queries:,} queries beside {questions:,} logged questions. {apart}."]
    warned: tuple[str, ...] = ()
    if shares.differs:
        warned = (
            f"The set has other shares of {shares.facet} than the logs, by more than chance "
            f"(p {_format_p(shares.p)}): a mean over all queries is not what users meet. Weight it "
            "by traffic, or add queries where they are missing.",
        )
    rows = [
        (name, own, _format_share(own, queries), theirs, _format_share(theirs, questions))
        for name, own, theirs in shares.buckets
    ]
    if len(rows) > MOST_BUCKETS:
        sentences.append(f"The {MOST_BUCKETS} most asked for of {len(rows):,} buckets:")
    headings = (shares.facet, "queries", "share of the set", "logged", "share of the logs")
    title = f"Traffic by {shares.facet}"
    return HealthSection(title, tuple(sentences), headings, tuple(rows[:MOST_BUCKETS]), warned)


def _suggestions_section(found: GoldenSetHealth) -> HealthSection:
    if not found.met:
        return HealthSection(
            "Proposed grades", ("Nobody has graded a chunk that has a proposed grade.",)
        )
    text = (
        "What people gave first, before they saw what was proposed; the difference is proposed "
        "minus given. Intervals of 95% are over the choice of queries."
    )
    headings = ("source", "grades", "the same", "within one", "mean difference")
    rows = tuple(_suggestion_row(each) for each in found.met)
    return HealthSection("Proposed grades", (text,), headings, rows)


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
            _format_share(n, found.queries),
        )
        for source, n in found.sources
    )
    return HealthSection("Where queries came from", (), ("source", "queries", "share"), rows)


def _near_duplicates_section(found: GoldenSetHealth) -> HealthSection:
    if found.alike is None:
        return HealthSection(
            "Near-duplicates", ("Not looked for: `labeler leakage` does, with progress.",)
        )
    if not found.alike:
        return HealthSection("Near-duplicates", ("No two queries are nearly the same.",))
    pairs = format_count(found.alike, "pair of queries is", "pairs of queries are")
    warned = f"{pairs} nearly the same; `labeler leakage` lists them."
    return HealthSection("Near-duplicates", (), warnings=(warned,))


def health_record(found: GoldenSetHealth) -> dict[str, Any]:
    """Return the health as data for JSON, with every digit; NaN becomes None."""
    warned = [text for part in describe_health(found) for text in part.warnings]
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


def _format_share(part: int, whole: int) -> str:
    return _format_percent(part / whole) if whole else "–"


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


def _format_p(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def _format_days(days: float) -> str:
    return "a day" if round(days) == 1 else f"{days:,.0f} days"
