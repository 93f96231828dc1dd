"""Tables of one query: why it fails in each run, nDCG line by line, and its pool."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import DcgRow, DcgTable
from labeler.analysis.failures import Failure, PoolRow, RelevantPositions, exact_match_advice
from labeler.evaluation import format_number
from labeler.model import Chunk
from labeler.render.markup import style
from labeler.render.tables.html_table import (
    TABLE_STYLE,
    head,
    html_table,
    row_head,
    run_name,
    small_line,
)
from labeler.render.tables.queries import format_value

CHIP_STYLE = style("""
.grade { display: inline-block; border-radius: 0.7rem; padding: 0 0.5rem; font-size: 0.78rem;
    white-space: nowrap; border: 1px solid transparent; line-height: 1.35rem; }
.grade.g0 { background: var(--grade-0); color: var(--on-grade-0); }
.grade.g1 { background: var(--grade-1); color: var(--on-grade-1); }
.grade.g2 { background: var(--grade-2); color: var(--on-grade-2); }
.grade.g3 { background: var(--grade-3); color: var(--on-grade-3); }
.grade.unjudged { background: none; color: inherit; border: 1px dashed currentColor; }
""")


def grade_chip(grade: int | None, words: Sequence[str]) -> htpy.Element:
    """Return a grade as a digit and a word; an unjudged chunk is hollow and "not graded", never 0.

    >>> print(grade_chip(None, ("no",)), grade_chip(0, ("no",)))
    <span class="grade unjudged">not graded</span> <span class="grade g0">0 no</span>
    """
    if grade is None:
        return htpy.span(".grade.unjudged")["not graded"]
    return htpy.span(class_=f"grade g{grade}")[f"{grade} {words[grade]}"]


def run_failures_table(
    rows: Iterable[tuple[str, Sequence[float], RelevantPositions, Failure | None]],
    headings: Sequence[str],
    *,
    judged: Sequence[bool],
    counted: Sequence[bool],
    no_failure: str,
    short: Mapping[str, str],
    text: str = "",
) -> htpy.Fragment:
    """Return one query's row for each run: class, what to try, relevant chunks, and values.

    By measure, ``judged`` says whether the query has grades for it, and ``counted`` whether the
    query is in the mean. ``no_failure`` is the text for a run without a failure. ``short`` are the
    short names of runs, ``text`` is the text of the query.
    """
    worded = (head(name, words=True) for name in ("Run", "Why it fails", "Known relevant"))
    body = [
        htpy.tr[
            htpy.th(".words", scope="row")[run_name(run, short)],
            htpy.td(".words")[_why_it_fails(failure, text) or no_failure],
            htpy.td(".words")[
                places.sentence,
                None if places.first is None else small_line(f"the first at rank {places.first}"),
            ],
            [htpy.td[format_value(*each)] for each in zip(values, judged, counted, strict=True)],
        ]
        for run, values, places, failure in rows
    ]
    return html_table(TABLE_STYLE, "sheet why", [*worded, *map(head, headings)], body)


def _why_it_fails(failure: Failure | None, text: str) -> htpy.Node:
    if failure is None:
        return None
    found, places = failure.failure, failure.places
    unsure = ""
    if places.mostly_unjudged:
        unsure = (
            f" Of its top {places.shown}, {places.unjudged} were never graded: grade "
            "these to be sure."
        )
    more = f" {exact}" if (exact := exact_match_advice(failure, text)) else ""
    return htpy.strong[found.name], small_line(f"{found.meaning} {found.lever}{more}{unsure}")


def ndcg_table(table: DcgTable, heading: str, words: Sequence[str]) -> htpy.Fragment:
    """Return nDCG step by step, as in a textbook: the list, the ideal list, and the division."""
    names = ["Rank", "Chunk", "Grade", "Gain", "log₂(rank+1)", "Gain / discount", "DCG so far"]
    names += ["Ideal chunk", "Ideal gain", "Ideal term", "IDCG so far"]
    worded = ("Chunk", "Grade", "Ideal chunk")
    depth = max(len(table.rows), len(table.ideal))
    rows = [
        htpy.tr[
            row_head(str(at + 1)),
            _dcg_cells(table.rows[at] if at < len(table.rows) else None, words),
            _ideal_cells(table.ideal[at] if at < len(table.ideal) else None),
        ]
        for at in range(depth)
    ]
    heads = [head(name, words=name in worded) for name in names]
    caption = _division(table, heading)
    return html_table([TABLE_STYLE, CHIP_STYLE], "sheet dcg", heads, rows, caption=caption)


def _division(table: DcgTable, heading: str) -> str:
    if table.idcg:
        return (
            f"{heading} = DCG / IDCG = {table.dcg:.4f} / {table.idcg:.4f} = "
            f"{format_number(table.ndcg)}"
        )
    value = "undefined" if math.isnan(table.ndcg) else format_number(table.ndcg)
    return (
        f"{heading} is {value}: no chunk of this query is known to have grade 1 or more, so there "
        "is no ideal"
    )


def _dcg_cells(row: DcgRow | None, words: Sequence[str]) -> list[htpy.Element]:
    if row is None:
        return [htpy.td(".id")["–"], htpy.td(".words")["–"], *_dashes(4)]
    return [
        htpy.td(".id")[row.chunk_id],
        htpy.td(".words")[grade_chip(row.grade, words)],
        htpy.td[f"{row.gain:g}"],
        htpy.td[f"{row.discount:.4f}"],
        htpy.td[f"{row.term:.4f}"],
        htpy.td(".lead")[f"{row.running:.4f}"],
    ]


def _ideal_cells(row: DcgRow | None) -> list[htpy.Element]:
    if row is None:
        return [htpy.td(".id")["–"], *_dashes(3)]
    return [
        htpy.td(".id")[f"{row.chunk_id} ({row.grade})"],
        htpy.td[f"{row.gain:g}"],
        htpy.td[f"{row.term:.4f}"],
        htpy.td[f"{row.running:.4f}"],
    ]


def _dashes(count: int) -> list[htpy.Element]:
    return [htpy.td["–"]] * count


def pool_table(
    rows: Sequence[PoolRow],
    runs: Sequence[htpy.Node],
    chunks: Mapping[int, Chunk],
    words: Sequence[str],
    by_hand: Collection[int] = (),
    transferred: Collection[str] = (),
) -> htpy.Fragment:
    """Return the chunks of the pool, best grade first, with their ranks in every run.

    Unjudged chunks are hollow. ``by_hand`` are the chunks that a grader found by searching,
    ``transferred`` the ids of those whose grade follows from another chunk's.
    """
    heads = [head("Grade", words=True), head("Chunk", words=True), *map(head, runs)]
    body = [
        htpy.tr[
            htpy.td(".words")[
                grade_chip(row.grade, words),
                small_line("transferred" if row.chunk_id in transferred else ""),
            ],
            htpy.th(".words", scope="row")[
                row.chunk_id,
                _chunk_title(chunks.get(row.chunk)),
                small_line("found by hand" if row.chunk in by_hand else ""),
            ],
            [htpy.td["–" if rank is None else str(rank)] for rank in row.ranks],
        ]
        for row in rows
    ]
    return html_table([TABLE_STYLE, CHIP_STYLE], "sheet pool", heads, body)


def _chunk_title(chunk: Chunk | None) -> htpy.Element | None:
    if chunk is None:
        return None
    return htpy.small[chunk.title or " ".join((chunk.text or "").split())[:90]]
