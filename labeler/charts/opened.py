"""The Queries page, one query in full: its lists, why it fails, nDCG worked out, its pool."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from labeler.charts.failing import value_words
from labeler.charts.files import as_csv
from labeler.charts.palette import GRADE_COLOURS
from labeler.charts.slicing import SHEET_STYLE
from labeler.comparison import DcgRow, DcgTable
from labeler.diagnosis import Failure
from labeler.evaluation import Conventions, Ranked, names_of, number
from labeler.model import Chunk, Query


def query_html(query: Query) -> str:
    """Return a query with what a grader knows of it as HTML, every word of it escaped."""
    buckets = [f"{facet} = {bucket}" for facet, bucket in sorted(query.buckets.items())]
    facts = [query.query_id, *([f"task {query.task}"] if query.task else []), *buckets]
    helps = [("Guideline", query.guideline), ("Reference", query.reference)]
    helps += [("Keywords", ", ".join(query.keywords))]
    rows = "".join(f"<dt>{name}</dt><dd>{escape(words)}</dd>" for name, words in helps if words)
    return (
        f'{QUERY_STYLE}<div class="asked"><h3>{escape(query.text)}</h3>'
        f"<p>{escape(' · '.join(facts))}</p><dl>{rows}</dl></div>"
    )


QUERY_STYLE = """<style>
.asked h3 { margin: 0; padding: 0; font-size: 1.35rem; white-space: pre-line;
    overflow-wrap: anywhere; }
.asked p { margin: 0.2rem 0 0.5rem; font-size: 0.85rem;
    color: color-mix(in srgb, currentColor 74%, transparent); overflow-wrap: anywhere; }
.asked dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.2rem 1rem; margin: 0;
    padding: 0;
    font-size: 0.9rem; }
.asked dl dt { font-weight: 600; margin: 0; padding: 0; width: auto; }
.asked dl dd { margin: 0; padding: 0; white-space: pre-line; overflow-wrap: anywhere;
    max-width: 75rem; }
</style>"""
LIST_STYLE = f"""<style>
.lists {{ display: flex; gap: 1rem; overflow-x: auto; align-items: flex-start; }}
.lists section {{ flex: 1 0 18rem; max-width: 34rem; min-width: 0; }}
.lists h4 {{ margin: 0; padding: 0 0 0.4rem; font-size: 1rem; overflow-wrap: anywhere; }}
.lists h4 small {{ display: block; font-weight: 400; font-size: 0.82rem; }}
.lists ol {{ list-style: none; margin: 0; padding: 0; }}
.lists li {{ display: grid; grid-template-columns: 2.2rem 1fr; gap: 0 0.4rem; padding: 0.45rem 0;
    margin: 0; border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }}
.lists .rank {{ text-align: right; font-variant-numeric: tabular-nums; font-weight: 600; }}
.lists .body {{ min-width: 0; overflow-wrap: anywhere; font-size: 0.9rem; }}
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
</style>"""


def grade_chip(grade: int | None, words: Sequence[str]) -> str:
    """Return a grade as digit and word; a hole is hollow and "not graded", never 0.

    >>> grade_chip(None, ("no",))
    '<span class="grade hole">not graded</span>'
    """
    if grade is None:
        return '<span class="grade hole">not graded</span>'
    return f'<span class="grade g{grade}">{grade} {escape(words[grade])}</span>'


def list_column(
    run: str,
    ranked: Sequence[Ranked],
    chunks: Mapping[int, Chunk],
    words: Sequence[str],
    *,
    budget: int,
    line: str,
) -> str:
    """Return one run's list as HTML: rank, grade, score, title and text, all of it escaped.

    A dashed line stands under the prompt budget. ``line`` is said under the run's name.
    """
    items = "".join(
        f'<li class="{"budget" if each.rank == budget + 1 else ""}">'
        f'<span class="rank">{each.rank}</span><div class="body">'
        f"{grade_chip(each.grade, words)} "
        f'<span class="id">{escape(each.chunk_id)}{_score_words(each.score)}</span>'
        f"{_text(chunks.get(each.chunk))}</div></li>"
        for each in ranked
    )
    body = f"<ol>{items}</ol>" if ranked else "<p>No result for this query.</p>"
    return f"<section><h4>{escape(run)}<small>{escape(line)}</small></h4>{body}</section>"


def lists_html(columns: Iterable[str]) -> str:
    """Set the columns of `list_column` side by side; what does not fit scrolls."""
    return f'{LIST_STYLE}<div class="lists" tabindex="0">{"".join(columns)}</div>'


def _score_words(score: float | None) -> str:
    return "" if score is None else f" · score {score:.4g}"


def _text(chunk: Chunk | None) -> str:
    if chunk is None:
        return '<div class="id">its text is not loaded</div>'
    text = f"<p>{escape(chunk.text or '')}</p>"
    short = " ".join((chunk.text or "").split())[:70]
    return f"<details><summary>{escape(chunk.title or short + ' …')}</summary>{text}</details>"


def run_failures_table(
    rows: Iterable[tuple[str, Sequence[float], int | None, Failure | None]],
    headings: Sequence[str],
    *,
    judged: bool,
    counted: Sequence[bool],
) -> str:
    """Return for one query a row a run: values, first relevant rank, class of failure, lever.

    ``judged`` says whether anybody has graded a chunk of the query at all, ``counted`` whether it
    is in the means of each measure.
    """
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings)
    body = "".join(
        f'<tr><th scope="row" class="words">{escape(run)}</th>'
        + "".join(
            f"<td>{value_words(value, judged, counts)}</td>"
            for value, counts in zip(values, counted, strict=True)
        )
        + f"{_failure_cells(rank, failure, judged)}</tr>"
        for run, values, rank, failure in rows
    )
    return (
        f'{SHEET_STYLE}<div class="sheet why" tabindex="0"><table><thead><tr>'
        f'<th scope="col" class="words">Run</th>{head}<th scope="col">First relevant at</th>'
        f'<th scope="col" class="words">Why it fails</th></tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _failure_cells(rank: int | None, failure: Failure | None, judged: bool) -> str:
    place = f"<td>{'nowhere' if rank is None else f'rank {rank}'}</td>"
    if failure is None:
        said = "does not fail" if judged else "nobody has graded a chunk of this query"
        return f'{place}<td class="words">{said}</td>'
    found = failure.failure
    return (
        f'{place}<td class="words"><strong>{escape(found.name)}</strong>'
        f"<small>{escape(found.meaning)} {escape(found.lever)}</small></td>"
    )


def first_relevant(ranked: Iterable[Ranked], rel: int) -> int | None:
    """Return the rank of the first chunk of grade ``rel`` or better, None where there is none."""
    return next(
        (each.rank for each in ranked if each.grade is not None and each.grade >= rel), None
    )


def dcg_html(table: DcgTable, heading: str, words: Sequence[str]) -> str:
    """Return nDCG worked out as a textbook prints it: the list, its ideal, and the division."""
    depth = max(len(table.rows), len(table.ideal))
    names = ["Rank", "Chunk", "Grade", "Gain", "log₂(rank+1)", "Gain / discount", "DCG so far"]
    names += ["Ideal chunk", "Ideal gain", "Ideal term", "IDCG so far"]
    head = "".join(f'<th scope="col"{_left(name)}>{escape(name)}</th>' for name in names)
    body = "".join(
        f'<tr><th scope="row">{at + 1}</th>'
        f"{_dcg_cells(table.rows[at] if at < len(table.rows) else None, words)}"
        f"{_ideal_cells(table.ideal[at] if at < len(table.ideal) else None)}</tr>"
        for at in range(depth)
    )
    sentence = (
        f"{heading} = DCG / IDCG = {table.dcg:.4f} / {table.idcg:.4f} = {number(table.ndcg)}"
        if table.idcg
        else f"{heading} is {'undefined' if math.isnan(table.ndcg) else number(table.ndcg)}: "
        "no chunk of this query is known to have grade 1 or more, so there is no ideal"
    )
    return (
        f'{SHEET_STYLE}{LIST_STYLE}<div class="sheet dcg" tabindex="0"><table>'
        f"<caption>{escape(sentence)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _left(name: str) -> str:
    return ' class="words"' if name.endswith(("Chunk", "chunk", "Grade")) else ""


def _dcg_cells(row: DcgRow | None, words: Sequence[str]) -> str:
    if row is None:
        return '<td class="id">–</td>' + '<td class="words">–</td>' + "<td>–</td>" * 4
    return (
        f'<td class="id">{escape(row.chunk_id)}</td>'
        f'<td class="words">{grade_chip(row.grade, words)}</td><td>{row.gain:g}</td>'
        f'<td>{row.discount:.4f}</td><td>{row.term:.4f}</td><td class="lead">{row.running:.4f}</td>'
    )


def _ideal_cells(row: DcgRow | None) -> str:
    if row is None:
        return '<td class="id">–</td>' + "<td>–</td>" * 3
    return (
        f'<td class="id">{escape(row.chunk_id)} ({row.grade})</td><td>{row.gain:g}</td>'
        f"<td>{row.term:.4f}</td><td>{row.running:.4f}</td>"
    )


def dcg_csv(table: DcgTable, run: str, query_id: str, conventions: Conventions) -> bytes:
    """Return the worked table as a CSV file: the rows of the list, then those of the ideal."""
    return as_csv(
        (
            {"run": run, "query_id": query_id, **names, "list": name}
            | {
                "rank": row.rank,
                "chunk_id": row.chunk_id,
                "grade": row.grade,
                "gain": row.gain,
            }
            | {"discount": row.discount, "term": row.term, "running": row.running}
            for name, rows in (("run", table.rows), ("ideal", table.ideal))
            for row in rows
            for names in names_of(table.measure)
        ),
        conventions,
    )


class PoolRow(NamedTuple):
    """A chunk somebody graded or a run put near its top, and its rank in each run (or None)."""

    chunk: int
    chunk_id: str
    grade: int | None
    ranks: tuple[int | None, ...]


def pool_html(
    rows: Sequence[PoolRow],
    runs: Sequence[str],
    chunks: Mapping[int, Chunk],
    words: Sequence[str],
    by_hand: Collection[int] = (),
) -> str:
    """Return the pool as an HTML table: best grade first, its rank in every run, holes hollow.

    ``by_hand`` are the chunks that a grader found by searching.
    """
    head = "".join(f'<th scope="col">{escape(run)}</th>' for run in runs)
    body = "".join(
        f'<tr><td class="words">{grade_chip(row.grade, words)}</td>'
        f'<th scope="row" class="words">{escape(row.chunk_id)}{_title(chunks.get(row.chunk))}'
        f"{'<small>found by hand</small>' if row.chunk in by_hand else ''}</th>"
        + "".join(f"<td>{'–' if rank is None else rank}</td>" for rank in row.ranks)
        + "</tr>"
        for row in rows
    )
    return (
        f'{SHEET_STYLE}{LIST_STYLE}<div class="sheet pool" tabindex="0"><table><thead><tr>'
        f'<th scope="col" class="words">Grade</th><th scope="col" class="words">Chunk</th>{head}'
        f"</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _title(chunk: Chunk | None) -> str:
    if chunk is None:
        return ""
    short = chunk.title or " ".join((chunk.text or "").split())[:90]
    return f"<small>{escape(short)}</small>"


def lists_csv(
    lists: Mapping[str, Sequence[Ranked]], query_id: str, conventions: Conventions
) -> bytes:
    """Return one query's lists as a CSV file; a hole's grade is empty, never 0."""
    return as_csv(
        (
            {"query_id": query_id, "run": run, "rank": each.rank, "chunk_id": each.chunk_id}
            | {"score": each.score, "grade": each.grade}
            for run, ranked in lists.items()
            for each in ranked
        ),
        conventions,
    )


def pool_rows(
    golden: Mapping[int, int],
    lists: Mapping[str, Sequence[Ranked]],
    depth: int,
    chunk_ids: Sequence[str],
) -> list[PoolRow]:
    """Return what is graded or stands in a run's top ``depth``: best grade first, holes last."""
    near = {each.chunk for ranked in lists.values() for each in ranked[:depth]}
    ranks = [{each.chunk: each.rank for each in ranked} for ranked in lists.values()]
    rows = [
        PoolRow(chunk, chunk_ids[chunk], golden.get(chunk), tuple(at.get(chunk) for at in ranks))
        for chunk in near | golden.keys()
    ]
    return sorted(rows, key=_pool_place)


def _pool_place(row: PoolRow) -> tuple[int, float, str]:
    best = min((rank for rank in row.ranks if rank is not None), default=math.inf)
    return (1 if row.grade is None else -row.grade, best, row.chunk_id)
