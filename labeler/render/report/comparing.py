"""The report's comparison: the answer on top, then B against A by measure, query and chunk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import htpy

from labeler.analysis import comparison
from labeler.analysis.comparison import DrawnQuery, Moved, Mover, Summary, Surety, Survival, View
from labeler.evaluation import number, signed
from labeler.measures import Measure
from labeler.model import upper
from labeler.render import charts, tables
from labeler.render.report.shared import NAMES, Shared

MOVERS, AGAINST = 8, 6
LONGEST_QUERY = 160  # characters of a query's text in a list of all of them


def view_of(shared: Shared, a: str, b: str) -> View:
    """Return A against B by the leading measure, the queries that B loses most first."""
    board, texts = shared.board, shared.source.texts
    compared = comparison.compare(board, a, b, shared.measures)
    by, buckets = compared.measures[0], comparison.buckets_of(board, None)
    rows = comparison.sort_queries(compared.queries(by), comparison.SORTS[0], texts, buckets)
    return View(board, compared, by, rows, texts, buckets, names=shared.short)


def summary_of(view: View) -> Summary:
    """Return what is said of both runs, over all queries."""
    related = comparison.rerank(view.board, view.compared.a, view.compared.b, NAMES)
    return comparison.sum_up(view, related, names=NAMES)


def verdict_section(shared: Shared, view: View, summary: Summary) -> htpy.Element:
    """Return what is known of A and B, how surely, what would change it, and what stands out."""
    of_survival = partial(_survival, shared, view)
    found = comparison.answered(view, summary, shared.of_pair()[1], of_survival, NAMES)
    said = summary.findings
    of_buckets = [each.sentence for each in (said.losses, *said.against[:AGAINST]) if each]
    return htpy.section(aria_label="Verdict")[
        tables.answer(found.answer.known, found.answer.change),
        tables.sentences([*of_buckets, *said.parts]),
    ]


def _survival(shared: Shared, view: View, measure: Measure, surety: Surety) -> Survival | None:
    singles, tested = shared.source.singles, {measure: surety}
    if singles is None:
        return None
    [found] = comparison.survivals(view.board, view.compared, singles, [measure], tested=tested)
    return found


def compared_section(shared: Shared, view: View, summary: Summary) -> htpy.Fragment:
    """Return the means of both with how sure each difference is, every query, what moved most."""
    bands = shared.of_pair()
    spreads = {
        row.measure: tables.pair_spreads(view.compared, row, bands, reach)
        for row, reach in zip(summary.rows, summary.reaches, strict=True)
    }
    sure = (summary.tested, summary.reaches)
    table = tables.compare_table(summary.rows, view.compared, view.names, *sure, spreads=spreads)
    family = comparison.family_in_words(summary.tested.of(row).family for row in summary.rows)
    covers = f"{upper(comparison.COVERS)}."
    bold = f"Bold is {comparison.RULE}; {family}."
    return htpy.fragment[
        table,
        tables.small_print([view.compared.conventions.sentence, bold, covers]),
        _queries(shared, view),
        _movers(shared, view),
    ]


def _queries(shared: Shared, view: View) -> htpy.Node:
    """Return every query that has a value: as bars, as a scatter, and folded as a table."""
    drawn = [row._replace(query=cut(row.query)) for row in view.drawn()]
    if not drawn:
        return htpy.p[f"No query has a value by {view.heading}, so there is nothing to draw."]
    named = (charts.query_frame(drawn), view.heading, *NAMES)
    without = len(view.rows) - len(drawn)
    left_out = f" {without:,} without a value are not drawn." if without else ""
    words = f"{view.heading} of every query.{left_out} A click leads to its row."
    return htpy.fragment[
        htpy.h3["Every query"],
        htpy.div(".pair", data_opens=True)[
            shared.figures.draw(charts.delta_bars(*named), words),
            shared.figures.draw(
                charts.delta_scatter(*named), "Above the line B is better.", square=True
            ),
        ],
        htpy.details[htpy.summary[f"All {len(drawn):,} queries"], _query_rows(drawn, view.facets)],
    ]


def _query_rows(drawn: Sequence[DrawnQuery], facets: str) -> htpy.Fragment:
    headings = ["Query", facets or "Buckets", "A", "B", "B − A", "Holes A / B"]
    rows: list[list[tables.Cell]] = [
        [
            tables.Said(row.query_id, row.query),
            tables.Said(row.bucket),
            number(row.a),
            number(row.b),
            signed(row.delta),
            f"{row.holes_a} / {row.holes_b}",
        ]
        for row in drawn
    ]
    return tables.sheet(headings, rows, ids=[f"place-{row.place}" for row in drawn])


def _movers(shared: Shared, view: View) -> htpy.Node:
    """Return which chunks cost B most and which help it most; each leads to its queries."""
    found = comparison.moved(view.board, view.compared.a, view.compared.b, view.by)
    movers = comparison.movers_by(found, view.board.collection.chunk_ids.__getitem__)
    costs = [mover for mover in movers if mover.adds < 0][:MOVERS]
    helps = [mover for mover in movers if mover.adds > 0][:MOVERS]
    if not costs and not helps:
        return None
    titles = _titles(shared, view, [*costs, *helps])
    places = {row.query_id: row.place for row in view.drawn()}

    def link(place: Moved) -> str:
        return f"#place-{places.get(place.query_id, '')}"

    return htpy.fragment[
        htpy.h3["What moved most"],
        [
            tables.movers_table(rows, caption, titles, what="Chunk", link=link)
            for caption, rows in (("These chunks cost B most", costs), ("These help B most", helps))
            if rows
        ],
        tables.small_print(
            [
                f"What each adds to the mean of {view.heading}, B − A.",
                comparison.terms_depend(view.by) or "",
            ]
        ),
    ]


def _titles(shared: Shared, view: View, movers: Sequence[Mover]) -> dict[str, str]:
    chunks = shared.source.chunks_of(mover.places[0].chunk for mover in movers)
    names = view.board.collection.chunk_ids
    return {names[number]: chunk.called or names[number] for number, chunk in chunks.items()}


def cut(text: str) -> str:
    """Return a query's text as far as a list of many has room for it."""
    return text if len(text) <= LONGEST_QUERY else f"{text[:LONGEST_QUERY]}…"
