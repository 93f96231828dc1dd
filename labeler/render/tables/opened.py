"""The Queries page, one query in full: its lists, why it fails, nDCG worked out, its pool."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import DcgRow, DcgTable
from labeler.analysis.failures import Failure, Places, PoolRow, exact_lever
from labeler.evaluation import Ranked, number
from labeler.model import Chunk, GradeEvidence, Query
from labeler.render.markup import style
from labeler.render.palette import GRADE_COLOURS
from labeler.render.tables.failing import value_words
from labeler.render.tables.marking import MARKED, lost_words, marked_text
from labeler.render.tables.shared import SHEET, framed, head, row_head, run_name, small

ASKED = style("""
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
LISTS = style(f"""
.lists {{ display: flex; gap: 1rem; overflow-x: auto; align-items: flex-start; }}
.lists section {{ flex: 1 0 18rem; max-width: 34rem; min-width: 0; }}
.lists h4 {{ margin: 0; padding: 0 0 0.4rem; font-size: 1rem; overflow-wrap: anywhere; }}
.lists h4 small {{ display: block; font-weight: 400; font-size: 0.82rem; }}
.lists ol {{ list-style: none; margin: 0; padding: 0; }}
.lists li {{ display: grid; grid-template-columns: 2.2rem 1fr; gap: 0 0.4rem; padding: 0.45rem 0;
    margin: 0; border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }}
.lists .rank {{ text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }}
.lists .body {{ min-width: 0; overflow-wrap: anywhere; overflow-x: clip; font-size: 0.9rem; }}
.lists .id {{ font-size: 0.78rem; color: color-mix(in srgb, currentColor 74%, transparent); }}
.lists p {{ margin: 0.15rem 0 0; white-space: pre-line; font-size: 0.86rem; }}
.lists summary {{ cursor: pointer; font-weight: 600; margin-top: 0.15rem; }}
.lists .budget {{ border-top: 2px dashed color-mix(in srgb, currentColor 60%, transparent); }}
.grade {{ display: inline-block; border-radius: 0.7rem; padding: 0 0.5rem; font-size: 0.78rem;
    white-space: nowrap; border: 1px solid transparent; color: #10202f; line-height: 1.35rem; }}
.grade.g0 {{ background: {GRADE_COLOURS[0]}; }} .grade.g1 {{ background: {GRADE_COLOURS[1]}; }}
.grade.g2 {{ background: {GRADE_COLOURS[2]}; }}
.grade.g3 {{ background: {GRADE_COLOURS[3]}; color: #ffffff; }}
.grade.hole {{ background: none; color: inherit; border: 1px dashed currentColor; }}
""")

NOTHING_CARRIED: Mapping[str, str] = {}


def query_card(query: Query, *, reference: bool = True) -> htpy.Fragment:
    """Return a query with what a grader knows of it, its ``reference`` unless that stands below."""
    buckets = [f"{facet} = {bucket}" for facet, bucket in sorted(query.buckets.items())]
    kinds = [("task", query.task), ("split", query.split)]
    facts = [query.query_id, *(f"{name} {value}" for name, value in kinds if value), *buckets]
    helps = [("Guideline", query.guideline), ("Reference", query.reference if reference else None)]
    helps += [("Keywords", ", ".join(query.keywords))]
    known = [[htpy.dt[name], htpy.dd[words]] for name, words in helps if words]
    return htpy.fragment[
        ASKED,
        htpy.div(".asked")[htpy.h3[query.text], htpy.p[" · ".join(facts)], htpy.dl[known]],
    ]


def grade_chip(grade: int | None, words: Sequence[str]) -> htpy.Element:
    """Return a grade as digit and word; a hole is hollow and "not graded", never 0.

    >>> print(grade_chip(None, ("no",)), grade_chip(0, ("no",)))
    <span class="grade hole">not graded</span> <span class="grade g0">0 no</span>
    """
    if grade is None:
        return htpy.span(".grade.hole")["not graded"]
    return htpy.span(class_=f"grade g{grade}")[f"{grade} {words[grade]}"]


def list_column(
    run: htpy.Node,
    ranked: Sequence[Ranked],
    chunks: Mapping[int, Chunk],
    words: Sequence[str],
    *,
    budget: int,
    line: str,
    evidence: Mapping[str, Sequence[GradeEvidence]] | None = None,
    carried: Mapping[str, str] = NOTHING_CARRIED,
) -> htpy.Element:
    """Return one run's list: rank, grade, score, title and text.

    A dashed line stands under the prompt budget. ``line`` is said under the run's name. In the
    texts is marked what graders marked, ``evidence`` by chunk id; ``carried`` says of grades that
    were carried over what they rest on.
    """
    items = [
        htpy.li(class_={"budget": each.rank == budget + 1})[
            htpy.span(".rank")[str(each.rank)],
            htpy.div(".body")[
                grade_chip(each.grade, words),
                " ",
                htpy.span(".id")[
                    each.chunk_id,
                    _score_words(each.score),
                    " · carried" if each.chunk_id in carried else None,
                ],
                _text(
                    chunks.get(each.chunk),
                    (evidence or {}).get(each.chunk_id, ()),
                    carried.get(each.chunk_id, ""),
                ),
            ],
        ]
        for each in ranked
    ]
    body = htpy.ol[items] if ranked else htpy.p["No result for this query."]
    return htpy.section[htpy.h4[run, htpy.small[line]], body]


def lists_side_by_side(columns: Iterable[htpy.Element]) -> htpy.Fragment:
    """Set the columns of `list_column` side by side; what does not fit scrolls."""
    return htpy.fragment[LISTS, MARKED, htpy.div(".lists", tabindex="0")[list(columns)]]


def _score_words(score: float | None) -> str:
    return "" if score is None else f" · score {score:.4g}"


def _text(chunk: Chunk | None, evidence: Sequence[GradeEvidence], trail: str) -> htpy.Element:
    text = "" if chunk is None else chunk.text or ""
    if chunk is None or not (text.strip() or chunk.title):
        lacks = "its text is not loaded" if chunk is None else "its text is empty"
        return htpy.div(".id")[lacks, f"; {trail}" if trail else None]
    title = chunk.title or f"{_beginning(text, 70)} …"
    lost = lost_words(evidence)
    body = htpy.p[marked_text(text, evidence)]
    said = [htpy.p[htpy.small[each]] for each in (lost, carried_trail(trail)) if each]
    return htpy.details[htpy.summary[title], body, said]


def carried_trail(trail: str) -> str:
    """Say of a grade that was carried over what it rests on; nothing of any other.

    >>> carried_trail("it follows; rests on chunk c7: 3 by Ana on 2026-03-04")
    'The grade is carried over: it follows; rests on chunk c7: 3 by Ana on 2026-03-04'
    """
    return f"The grade is carried over: {trail}" if trail else ""


def _beginning(text: str, letters: int) -> str:
    return " ".join(text.split())[:letters]


def run_failures_table(
    rows: Iterable[tuple[str, Sequence[float], Places, Failure | None]],
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
            htpy.td(".words")[_why(failure, judged, text)],
            htpy.td(".words")[_where(places)],
            [
                htpy.td[value_words(value, judged, counts)]
                for value, counts in zip(values, counted, strict=True)
            ],
        ]
        for run, values, places, failure in rows
    ]
    return framed(SHEET, "sheet why", [*worded, *map(head, headings)], body)


def _where(places: Places) -> htpy.Node:
    first = "" if places.first is None else f"the first at rank {places.first}"
    return [places.sentence, small(first)]


def _why(failure: Failure | None, judged: bool, text: str) -> htpy.Node:
    if failure is None:
        return "does not fail" if judged else "nobody has graded a chunk of this query"
    found, places = failure.failure, failure.places
    unsure = ""
    if places.mostly_holes:
        unsure = (
            f" Of its top {places.shown}, {places.holes} were never graded: grade these to be sure."
        )
    more = f" {exact}" if (exact := exact_lever(failure, text)) else ""
    return htpy.strong[found.name], small(f"{found.meaning} {found.lever}{more}{unsure}")


def worked_table(table: DcgTable, heading: str, words: Sequence[str]) -> htpy.Fragment:
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
    return framed([SHEET, LISTS], "sheet dcg", heads, rows, caption=caption)


def _division(table: DcgTable, heading: str) -> str:
    if table.idcg:
        return f"{heading} = DCG / IDCG = {table.dcg:.4f} / {table.idcg:.4f} = {number(table.ndcg)}"
    value = "undefined" if math.isnan(table.ndcg) else number(table.ndcg)
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
    """Return the pool: best grade first, its rank in every run, holes hollow.

    ``by_hand`` are the chunks that a grader found by searching.
    """
    heads = [head("Grade", words=True), head("Chunk", words=True), *map(head, runs)]
    body = [
        htpy.tr[
            htpy.td(".words")[grade_chip(row.grade, words)],
            htpy.th(".words", scope="row")[
                row.chunk_id,
                _title(chunks.get(row.chunk)),
                small("found by hand" if row.chunk in by_hand else ""),
            ],
            [htpy.td["–" if rank is None else str(rank)] for rank in row.ranks],
        ]
        for row in rows
    ]
    return framed([SHEET, LISTS], "sheet pool", heads, body)


def _title(chunk: Chunk | None) -> htpy.Element | None:
    if chunk is None:
        return None
    return htpy.small[chunk.title or _beginning(chunk.text or "", 90)]
