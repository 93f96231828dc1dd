"""The report as a whole: what it is about, and its sections in their order."""

from __future__ import annotations

import htpy

from labeler.render.report.answering import answers_section
from labeler.render.report.comparing import compared_section, summary_of, verdict_section, view_of
from labeler.render.report.failing import failing_section
from labeler.render.report.frame import as_file
from labeler.render.report.keywords import keywords_section
from labeler.render.report.resting import resting_section
from labeler.render.report.scoring import scores_section
from labeler.render.report.shared import Shared, said_of
from labeler.render.report.slicing import slices_section
from labeler.render.report.source import Asked, Source

TITLES = {
    "scores": "Scores",
    "comparison": "Comparison",
    "slices": "Slices",
    "failing": "Failing queries",
    "answers": "Retrieval and answer",
    "keywords": "Keywords",
    "rests-on": "What the numbers rest on",
}


def make_report(source: Source, asked: Asked) -> bytes:
    """Return an HTML file that needs no other; the same golden set, asked the same, gives the same.

    Raises `NotFound` for a run or a facet that is not there, and `BadInput` for two runs that have
    nothing in common.
    """
    shared = Shared.of(source, asked)
    first, places = None, {}
    parts: dict[str, htpy.Node] = {"scores": scores_section(shared)}
    if asked.b is not None:
        view = view_of(shared, asked.a, asked.b)
        summary = summary_of(view)
        first = verdict_section(shared, view, summary)
        places = {row.query_id: row.place for row in view.drawn()}
        parts["comparison"] = compared_section(shared, view, summary)
    if shared.facets:
        parts["slices"] = slices_section(shared)
    parts["failing"] = failing_section(shared)
    if answers := answers_section(shared, places):
        parts["answers"] = answers
    if keywords := keywords_section(shared):
        parts["keywords"] = keywords
    parts["rests-on"] = resting_section(shared)
    whole = [_about(shared), first, _contents(parts), *map(_section, parts, parts.values())]
    return as_file(shared.title, whole, shared.figures)


def _section(name: str, part: htpy.Node) -> htpy.Element:
    return htpy.section(id=name, aria_label=TITLES[name])[htpy.h2[TITLES[name]], part]


def _contents(parts: dict[str, htpy.Node]) -> htpy.Element:
    links = [htpy.li[htpy.a(href=f"#{name}")[TITLES[name]]] for name in parts]
    return htpy.nav(aria_label="Sections")[htpy.ul[links]]


def _about(shared: Shared) -> htpy.Element:
    """Return what the report is about: which runs, which golden set, of which day."""
    board, counts = shared.board, shared.board.counts
    runs = {run.name: run for run in board.collection.runs}
    rows: list[tuple[str, htpy.Node]] = [
        (letter, htpy.fragment[htpy.bdi[name], said_of(runs[name])])
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
