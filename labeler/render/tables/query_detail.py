"""One query in full: its ranked lists, why it fails, nDCG step by step, its pool, marked passages.

A passage that a grader marked is underlined and begins with the grade and the grader's name, so
it is readable without colour.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise

import htpy

from labeler.analysis.comparison import DcgRow, DcgTable
from labeler.analysis.failures import Failure, PoolRow, RelevantPositions, exact_match_advice
from labeler.evaluation import RankedChunk, format_number
from labeler.model import Chunk, GradeEvidence, Query
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

QUERY_CARD_STYLE = style("""
.asked { overflow-x: clip; }
.asked h3 { margin: 0; padding: 0; font-size: 1.35rem; white-space: pre-line;
    overflow-wrap: anywhere; max-height: 12rem; overflow: hidden auto; }
.asked p { margin: 0.2rem 0 0.5rem; font-size: 0.85rem;
    color: color-mix(in srgb, currentColor 74%, transparent); overflow-wrap: anywhere; }
.asked dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0;
    padding: 0;
    font-size: 0.9rem; }
.asked dl dt { font-weight: 600; margin: 0; padding: 0; width: auto; }
.asked dl dd { margin: 0; padding: 0; white-space: pre-line; overflow-wrap: anywhere;
    max-width: 75rem; max-height: 12rem; overflow: hidden auto; }
@media (max-width: 40rem) { .asked h3 { max-height: 22rem; } }
""")
LISTS_STYLE = style("""
.lists { display: flex; gap: 1rem; overflow-x: auto; align-items: flex-start; }
.lists section { flex: 1 0 18rem; max-width: 34rem; min-width: 0; }
.lists h4 { margin: 0; padding: 0 0 0.4rem; font-size: 1rem; overflow-wrap: anywhere; }
.lists h4 small { display: block; font-weight: 400; font-size: 0.82rem; }
.lists ol { list-style: none; margin: 0; padding: 0; }
.lists li { display: grid; grid-template-columns: 2.2rem 1fr; gap: 0 0.4rem; padding: 0.45rem 0;
    margin: 0; border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.lists .rank { text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }
.lists .body { min-width: 0; overflow-wrap: anywhere; overflow-x: clip; font-size: 0.9rem; }
.lists .id { font-size: 0.78rem; color: color-mix(in srgb, currentColor 74%, transparent); }
.lists p { margin: 0.15rem 0 0; white-space: pre-line; font-size: 0.86rem; }
.lists summary { cursor: pointer; font-weight: 600; margin-top: 0.15rem; }
.lists .prompt { border-top: 2px dashed color-mix(in srgb, currentColor 60%, transparent); }
.grade { display: inline-block; border-radius: 0.7rem; padding: 0 0.5rem; font-size: 0.78rem;
    white-space: nowrap; border: 1px solid transparent; line-height: 1.35rem; }
.grade.g0 { background: var(--grade-0); color: var(--on-grade-0); }
.grade.g1 { background: var(--grade-1); color: var(--on-grade-1); }
.grade.g2 { background: var(--grade-2); color: var(--on-grade-2); }
.grade.g3 { background: var(--grade-3); color: var(--on-grade-3); }
.grade.unjudged { background: none; color: inherit; border: 1px dashed currentColor; }
""")

NO_TRANSFERS: Mapping[str, str] = {}


def query_card(query: Query, *, reference: bool = True) -> htpy.Fragment:
    """Return a query with what a grader knows of it, its ``reference`` unless that stands below."""
    buckets = [f"{facet} = {bucket}" for facet, bucket in sorted(query.buckets.items())]
    kinds = [("task", query.task), ("split", query.split)]
    facts = [query.query_id, *(f"{name} {value}" for name, value in kinds if value), *buckets]
    helps = [("Guideline", query.guideline), ("Reference", query.reference if reference else None)]
    helps += [("Keywords", ", ".join(query.keywords))]
    known = [[htpy.dt[name], htpy.dd[words]] for name, words in helps if words]
    return htpy.fragment[
        QUERY_CARD_STYLE,
        htpy.div(".asked")[htpy.h3[query.text], htpy.p[" · ".join(facts)], htpy.dl[known]],
    ]


def grade_chip(grade: int | None, words: Sequence[str]) -> htpy.Element:
    """Return a grade as digit and word; an unjudged chunk is hollow and "not graded", never 0.

    >>> print(grade_chip(None, ("no",)), grade_chip(0, ("no",)))
    <span class="grade unjudged">not graded</span> <span class="grade g0">0 no</span>
    """
    if grade is None:
        return htpy.span(".grade.unjudged")["not graded"]
    return htpy.span(class_=f"grade g{grade}")[f"{grade} {words[grade]}"]


def list_column(
    run: htpy.Node,
    ranked: Sequence[RankedChunk],
    chunks: Mapping[int, Chunk],
    words: Sequence[str],
    *,
    prompt_k: int,
    line: str,
    evidence: Mapping[str, Sequence[GradeEvidence]] | None = None,
    transferred: Mapping[str, str] = NO_TRANSFERS,
) -> htpy.Element:
    """Return one run's list: rank, grade, score, title and text.

    A dashed line stands under the prompt size. ``line`` is said under the run's name. In the
    texts is marked what graders marked, ``evidence`` by chunk id; ``transferred`` says of grades
    that were transferred what they rest on.
    """
    items = [
        htpy.li(class_={"prompt": each.rank == prompt_k + 1})[
            htpy.span(".rank")[str(each.rank)],
            htpy.div(".body")[
                grade_chip(each.grade, words),
                " ",
                htpy.span(".id")[
                    each.chunk_id,
                    _format_score(each.score),
                    " · transferred" if each.chunk_id in transferred else None,
                ],
                _chunk_details(
                    chunks.get(each.chunk),
                    (evidence or {}).get(each.chunk_id, ()),
                    transferred.get(each.chunk_id, ""),
                ),
            ],
        ]
        for each in ranked
    ]
    body = htpy.ol[items] if ranked else htpy.p["No result for this query."]
    return htpy.section[htpy.h4[run, htpy.small[line]], body]


def lists_side_by_side(columns: Iterable[htpy.Element]) -> htpy.Fragment:
    """Set the columns of `list_column` side by side; what does not fit scrolls."""
    return htpy.fragment[
        LISTS_STYLE, EVIDENCE_STYLE, htpy.div(".lists", tabindex="0")[list(columns)]
    ]


def _format_score(score: float | None) -> str:
    return "" if score is None else f" · score {score:.4g}"


def _chunk_details(
    chunk: Chunk | None, evidence: Sequence[GradeEvidence], trail: str
) -> htpy.Element:
    text = "" if chunk is None else chunk.text or ""
    if chunk is None or not (text.strip() or chunk.title):
        lacks = "its text is not loaded" if chunk is None else "its text is empty"
        return htpy.div(".id")[lacks, f"; {trail}" if trail else None]
    title = chunk.title or f"{_beginning(text, 70)} …"
    lost = lost_note(evidence)
    body = htpy.p[marked_text(text, evidence)]
    said = [htpy.p[htpy.small[each]] for each in (lost, transfer_note(trail)) if each]
    return htpy.details[htpy.summary[title], body, said]


def transfer_note(trail: str) -> str:
    """Say of a grade that was transferred what it rests on; nothing of any other.

    >>> transfer_note("it follows; rests on chunk c7: 3 by Ana on 2026-03-04")
    'The grade is transferred: it follows; rests on chunk c7: 3 by Ana on 2026-03-04'
    """
    return f"The grade is transferred: {trail}" if trail else ""


def _beginning(text: str, letters: int) -> str:
    return " ".join(text.split())[:letters]


def run_failures_table(
    rows: Iterable[tuple[str, Sequence[float], RelevantPositions, Failure | None]],
    headings: Sequence[str],
    *,
    judged: bool,
    counted: Sequence[bool],
    short: Mapping[str, str],
    text: str = "",
) -> htpy.Fragment:
    """Return for one query a row a run: class and lever, where its relevant chunks are, values.

    ``judged`` says whether anybody has graded a chunk of the query at all, ``counted`` whether it
    is in the means of each measure, ``short`` what the runs are called here, ``text`` what the
    query asks.
    """
    worded = (head(name, words=True) for name in ("Run", "Why it fails", "Known relevant"))
    body = [
        htpy.tr[
            htpy.th(".words", scope="row")[run_name(run, short)],
            htpy.td(".words")[_why_it_fails(failure, judged, text)],
            htpy.td(".words")[_relevant_positions(places)],
            [
                htpy.td[format_value(value, judged, counts)]
                for value, counts in zip(values, counted, strict=True)
            ],
        ]
        for run, values, places, failure in rows
    ]
    return html_table(TABLE_STYLE, "sheet why", [*worded, *map(head, headings)], body)


def _relevant_positions(places: RelevantPositions) -> htpy.Node:
    first = "" if places.first is None else f"the first at rank {places.first}"
    return [places.sentence, small_line(first)]


def _why_it_fails(failure: Failure | None, judged: bool, text: str) -> htpy.Node:
    if failure is None:
        return "does not fail" if judged else "nobody has graded a chunk of this query"
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
    """Return nDCG worked out as a textbook prints it: the list, its ideal, and the division."""
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
    return html_table([TABLE_STYLE, LISTS_STYLE], "sheet dcg", heads, rows, caption=caption)


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
) -> htpy.Fragment:
    """Return the pool: best grade first, its rank in every run, unjudged chunks hollow.

    ``by_hand`` are the chunks that a grader found by searching.
    """
    heads = [head("Grade", words=True), head("Chunk", words=True), *map(head, runs)]
    body = [
        htpy.tr[
            htpy.td(".words")[grade_chip(row.grade, words)],
            htpy.th(".words", scope="row")[
                row.chunk_id,
                _chunk_title(chunks.get(row.chunk)),
                small_line("found by hand" if row.chunk in by_hand else ""),
            ],
            [htpy.td["–" if rank is None else str(rank)] for rank in row.ranks],
        ]
        for row in rows
    ]
    return html_table([TABLE_STYLE, LISTS_STYLE], "sheet pool", heads, body)


def _chunk_title(chunk: Chunk | None) -> htpy.Element | None:
    if chunk is None:
        return None
    return htpy.small[chunk.title or _beginning(chunk.text or "", 90)]


# Underlined, so that it needs no colour; who marked it is a text before it, for everybody.
EVIDENCE_STYLE = style("""
mark.evidence { background: color-mix(in srgb, currentColor 10%, transparent); color: inherit;
    text-decoration: underline 0.15em; text-underline-offset: 0.2em; }
mark.evidence small { font-size: 0.72em; font-weight: 600; text-decoration: none;
    display: inline-block; padding: 0 0.25em; border: 1px solid currentColor;
    border-radius: 0.25em; margin-right: 0.3em; line-height: 1.3; white-space: nowrap;
    max-width: 12em; overflow: hidden; text-overflow: ellipsis; vertical-align: text-bottom; }
""")


def marked_text(text: str, evidence: Iterable[GradeEvidence]) -> list[htpy.Node]:
    """Return a text with its passages marked; each begins with the grade and who gave it.

    Where passages of several people overlap, a part stands for each that begins there. Those of
    another wording of the text are none of this one.

    >>> ann = GradeEvidence("q", "c", 2, ("Ann",), 1, "grade", ((0, 5),), "", True, True)
    >>> print(*marked_text("Hello <b>", [ann]), sep="")
    <mark class="evidence"><small>2 Ann</small>Hello</mark> <b>
    """
    marks = [
        (start, min(end, len(text)), said)
        for each in evidence
        if each.is_found
        for said in [f"{each.grade} {', '.join(each.who) or 'a file'}{_transferred_mark(each)}"]
        for start, end in each.passages
        if start < len(text)
    ]
    places = sorted({0, len(text), *(at for start, end, _ in marks for at in (start, end))})
    return [
        _marked_part(
            text[start:end], start, [each for each in marks if each[0] <= start and end <= each[1]]
        )
        for start, end in pairwise(places)
    ]


def _transferred_mark(evidence: GradeEvidence) -> str:
    return ", transferred" if evidence.kind == "carry" else ""


def _marked_part(text: str, start: int, marks: Sequence[tuple[int, int, str]]) -> htpy.Node:
    if not marks:
        return text
    begun = [htpy.small[said] for first, _, said in marks if first == start]
    return htpy.mark(".evidence")[begun, text]


def lost_note(evidence: Iterable[GradeEvidence]) -> str:
    """Say whose evidence is of another wording and cannot be found, nothing where none is.

    >>> lost_note([GradeEvidence("q", "c", 2, ("Ann",), 1, "grade", ((0, 5),), "", True, False)])
    'marked in an earlier text and not found any more: evidence of Ann'
    """
    lost = dict.fromkeys(", ".join(each.who) or "a file" for each in evidence if not each.is_found)
    if not lost:
        return ""
    return f"marked in an earlier text and not found any more: evidence of {'; '.join(lost)}"
