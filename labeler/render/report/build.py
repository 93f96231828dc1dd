"""Assembly of the report: its sections in order, the notes on its numbers, and the HTML file.

The file's content security policy lets a browser load nothing and run no script.
The same golden set and the same request give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import htpy

from labeler import __version__
from labeler.analysis import comparison
from labeler.evaluation import find_tie_ranges, tie_notes
from labeler.measures import MEASURES
from labeler.model import capitalize_first
from labeler.render import tables
from labeler.render.markup import style
from labeler.render.report.compare import (
    comparison_section,
    comparison_view,
    judge_runs,
    verdict_section,
)
from labeler.render.report.context import (
    ReportContext,
    ReportRequest,
    ReportSource,
    describe_run,
)
from labeler.render.report.failures import answers_section, failing_section
from labeler.render.report.scores import keywords_section, scores_section, slices_section
from labeler.render.tokens import TOKENS_CSS

TITLES = {
    "scores": "Scores",
    "comparison": "Comparison",
    "slices": "Slices",
    "failing": "Failing queries",
    "answers": "Retrieval and answer",
    "keywords": "Keywords",
    "rests-on": "What the numbers rest on",
}


def make_report(source: ReportSource, asked: ReportRequest) -> bytes:
    """Return the report as one HTML file; the same request to the same golden set gives the same.

    Raises `NotFound` for an unknown run or facet, and `BadInput` for two runs that have nothing in
    common.
    """
    shared = ReportContext.of(source, asked)
    first, places = None, {}
    parts: dict[str, htpy.Node] = {}
    if asked.b is None:
        parts["scores"] = scores_section(shared)
    else:
        view = comparison_view(shared, asked.a, asked.b)
        found = judge_runs(shared, view)
        first = verdict_section(shared, found)
        places = {row.query_id: row.place for row in view.drawn()}
        parts["comparison"] = comparison_section(shared, view, found)
    if shared.facets:
        parts["slices"] = slices_section(shared)
    parts["failing"] = failing_section(shared)
    if answers := answers_section(shared, places):
        parts["answers"] = answers
    if keywords := keywords_section(shared):
        parts["keywords"] = keywords
    parts["rests-on"] = provenance_section(shared)
    whole = [_about(shared), first, _contents(parts), *map(_section, parts, parts.values())]
    return html_file(shared.title, whole)


def _section(name: str, part: htpy.Node) -> htpy.Element:
    return htpy.section(id=name, aria_label=TITLES[name])[htpy.h2[TITLES[name]], part]


def _contents(parts: dict[str, htpy.Node]) -> htpy.Element:
    links = [htpy.li[htpy.a(href=f"#{name}")[TITLES[name]]] for name in parts]
    return htpy.nav(aria_label="Sections")[htpy.ul[links]]


def _about(shared: ReportContext) -> htpy.Element:
    """Return the runs, the golden set and the day of the report."""
    board, counts = shared.board, shared.board.counts
    runs = {run.name: run for run in board.collection.runs}
    rows: list[tuple[str, htpy.Node]] = [
        (letter, htpy.fragment[htpy.bdi[name], describe_run(runs[name])])
        for letter, name in zip(shared.letters, shared.asked.runs, strict=True)
    ]
    golden = (
        f"{counts.grades:,} golden grades, {counts.judged:,} of {counts.queries:,} queries graded, "
        f"up to judgment {board.revision:,}"
    )
    named = [board.conventions.frozen, board.conventions.golden]
    if version := ", ".join(filter(None, named)):
        rows.append(("Golden version", version))
    rows += [("Golden set", golden), ("Day", shared.asked.day.isoformat())]
    listed = [htpy.fragment[htpy.dt[name], htpy.dd[said]] for name, said in rows]
    return htpy.header[shared.heading, htpy.dl(".about")[listed]]


def provenance_section(shared: ReportContext) -> htpy.Fragment:
    """Return the conventions in full, what was left out, the methods, and the measures."""
    board, asked = shared.board, shared.asked
    conventions = board.conventions
    notes = [note.sentence for note in board.notes(shared.measures) if note.is_about(*asked.runs)]
    ties = tie_notes(find_tie_ranges(board, shared.measures), conventions)
    notes += [note.sentence for note in ties if note.is_about(*asked.runs)]
    methods = [f"{capitalize_first(comparison.METHODS_NOTE)}."]
    return htpy.fragment[
        htpy.p[conventions.sentence],
        htpy.h3["To know of these numbers"],
        tables.sentences([*notes, *methods]),
        htpy.h3["What the measures mean"],
        tables.plain_table(
            ["Measure", "In full", "Means", "Hides"],
            [
                [
                    tables.TextCell(conventions.heading(measure)),
                    tables.TextCell(str(measure)),
                    tables.TextCell(MEASURES[measure.name].help),
                    tables.TextCell(MEASURES[measure.name].hides),
                ]
                for measure in shared.measures
            ],
        ),
        htpy.p(".aside")[f"Made by labeler {__version__}."],
    ]


REPORT_STYLE = style(
    TOKENS_CSS + (Path(__file__).parent / "report.css").read_text(encoding="utf-8")
)
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
STYLE_TAG = re.compile(r"<style>.*?</style>", re.DOTALL)


def html_file(title: str, parts: Iterable[htpy.Node]) -> bytes:
    """Return the whole page as a file; the same parts give the same bytes.

    Each table comes with its style sheet. Each style sheet is kept once, in the head.
    """
    body = str(htpy.main[list(parts)])
    sheets = "".join(dict.fromkeys(STYLE_TAG.findall(body)))
    head = str(
        htpy.fragment[
            htpy.meta(charset="utf-8"),
            htpy.meta(http_equiv="Content-Security-Policy", content=CONTENT_SECURITY_POLICY),
            htpy.meta(name="viewport", content="width=device-width, initial-scale=1"),
            htpy.meta(name="color-scheme", content="light dark"),
            htpy.title[title],
        ]
    )
    page = f"<head>{head}{sheets}{REPORT_STYLE}</head><body>{STYLE_TAG.sub('', body)}</body>"
    return f'<!doctype html>\n<html lang="en">{page}</html>\n'.encode()
