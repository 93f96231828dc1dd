"""The Compare page: B against A by measure, one query, one chunk, and sentences about them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

import htpy

from labeler.analysis.comparison import (
    FEW,
    Both,
    Comparison,
    Delta,
    QueryDelta,
    Reach,
    Sureties,
    Trial,
    WhatIf,
    cautions_of,
    chance_in_words,
    interval_in_words,
    more_in_words,
)
from labeler.evaluation import Conventions, Score, number, signed
from labeler.measures import MEASURES, Measure
from labeler.model import GradeEvidence, counted
from labeler.render.markup import style
from labeler.render.palette import A_COLOUR, B_COLOUR, QUIET
from labeler.render.tables.bands import LOOK as BAND_LOOK
from labeler.render.tables.bands import NOTHING, Spread, band, scale_of
from labeler.render.tables.marking import MARKED, lost_words, marked_text
from labeler.render.tables.printed import sentences, small_print
from labeler.render.tables.shared import (
    EDGE,
    ROW_HEADS,
    carried_words,
    framed,
    head,
    hole_words,
    row_head,
    run_name,
    small,
)

LOOK = style(
    f"""
.compare {{ {EDGE} }}
{ROW_HEADS % ".compare"}
"""
    """
.compare { overflow-x: auto; }
.compare table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
.compare th, .compare td {
    padding: 0.3rem 0.75rem; text-align: right; vertical-align: top;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent);
}
.compare td { white-space: nowrap; }
.compare thead th { font-weight: 600; border-bottom-width: 2px; overflow-wrap: anywhere; }
.compare th:first-child { text-align: left; padding-left: 0; }
.compare tbody th { font-weight: 400; }
.verdict { font-size: 1.15rem; font-weight: 600; }
.change { font-size: 0.95rem; }
.verdict, .change { line-height: 1.35; margin: 0; overflow-wrap: anywhere; }
.answer { display: grid; gap: 0.5rem; }
.compare.whole table { width: auto; min-width: 100%; table-layout: auto; line-height: 1.25; }
.compare.whole th, .compare.whole td { padding: 0.15rem 0.6rem; }
.compare.one table { line-height: 1.25; }
.compare.one th, .compare.one td { padding-block: 0.15rem; }
.compare.one thead th { min-width: 5.25rem; } /* a word is on one line, a name on few */
@media (max-width: 40rem) {
    .compare.one th, .compare.one td { padding-inline: 0.3rem; font-size: 0.85rem; }
    .compare.one thead th { min-width: 3.6rem; }
}
.compare.whole thead th { overflow-wrap: break-word; }
.compare.whole tbody th {
    text-align: left; font-size: 0.95rem; overflow-wrap: anywhere; min-width: 9rem;
}
.compare.whole .change > * { font-size: 1.05rem; background:
    color-mix(in srgb, currentColor 5%, transparent); }
.compare.whole .change > th { background: color-mix(in srgb, currentColor 5%, var(--ground)); }
.compare.whole .change small { font-size: 0.78rem; }
.compare.whole tr:not(.change) > td > small { white-space: normal; }
.compare.whole .sure > * { font-size: 0.88rem; }
.compare.whole .sure td { max-width: 14rem; white-space: normal; }
.compare .letter::before {
    content: ""; display: inline-block; width: 0.7em; height: 0.7em; margin-right: 0.35em;
    background: var(--side);
}
.compare .letter.B::before { border-radius: 50%; }
.question p { font-size: 1.2rem; font-weight: 600; margin: 0; overflow-wrap: anywhere;
    max-height: 12rem; overflow: hidden auto; }
.question, .chunk-shown { overflow-x: clip; }
.question small, .chunk-shown small {
    font-size: 0.85rem; overflow-wrap: anywhere;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
.chunk-shown h3 { font-size: 1.05rem; margin: 0; padding: 0; overflow-wrap: anywhere; }
.chunk-shown .text {
    white-space: pre-wrap; overflow-wrap: anywhere; max-height: 24rem; overflow: auto;
    margin-top: 0.25rem; line-height: 1.5;
}
.compare small {
    display: block; font-size: 0.78rem; font-weight: 400;
    color: color-mix(in srgb, currentColor 72%, transparent);
}
"""
)

Spreads = Mapping[Measure, Sequence[Spread]]
"""How far A, B and B - A may be off, by measure."""

SIDE_COLOURS = {"A": A_COLOUR, "B": B_COLOUR}


def answer(known: str, change: str) -> htpy.Fragment:
    """Return what is known of two runs and how surely, and what would change it."""
    lines = [(".verdict", known), (".change", change)]
    said = [htpy.p(which)[line] for which, line in lines if line]
    return htpy.fragment[LOOK, htpy.div(".answer")[said]]


def findings(said: Iterable[htpy.Node]) -> htpy.Fragment:
    """Return what stands out, such as where B loses."""
    return htpy.fragment[LOOK, htpy.div(".answer")[sentences(said)]]


def means(table: htpy.Node, print_lines: Iterable[str]) -> htpy.Fragment:
    """Return the table that an answer rests on, and how it is to be read."""
    return htpy.fragment[LOOK, htpy.div(".answer")[table, small_print(print_lines)]]


def compare_table(
    rows: Sequence[Delta],
    comparison: Comparison,
    names: Mapping[str, str],
    tested: Sureties,
    reaches: Sequence[Reach],
    more: Sequence[Score] = (),
    spreads: Spreads | None = None,
) -> htpy.Fragment:
    """Return B against A, a column for each measure; ``more`` are means of runs beside them.

    A difference is bold where it is more than chance by its test; ``reaches`` are what the queries
    of each row can show, ``spreads`` how far A, B and B - A may be off. ``names`` are what runs are
    called where there is little room.
    """
    banded = [(row, _bands(row, (spreads or {}).get(row.measure))) for row in rows]
    runs = _run_rows(comparison, banded, more, names)
    change = htpy.tr(".change")[
        row_head("B − A", small("B wins / ties / loses")),
        [_change_cell(row, drawn[2], sure=tested.of(row).is_sure) for row, drawn in banded],
    ]
    heads = [head(""), *(_measure_head(row, comparison.conventions) for row in rows)]
    after = [*_both_rows(comparison, rows), *_sure_rows(rows, tested, reaches)]
    return framed(
        (LOOK, BAND_LOOK),
        "compare whole",
        heads,
        [*runs[:2], change, *after, *runs[2:]],
        label="A against B by measure",
    )


def _sure_rows(
    rows: Sequence[Delta], tested: Sureties, reaches: Sequence[Reach]
) -> list[htpy.Element]:
    """Return the rows that say how sure each difference is, and what would make it surer."""
    pairs = list(zip(rows, reaches, strict=True))
    sizes = {tested.of(row).family for row in rows}
    return [
        htpy.tr(".sure")[
            row_head("95% interval", small("of B − A, over the choice of queries")),
            [_interval_cell(*pair) for pair in pairs],
        ],
        htpy.tr(".sure")[
            row_head("p", small(f"after Holm, {counted(max(sizes, default=0), 'test', 'tests')}")),
            [_test_cell(row, tested) for row in rows],
        ],
        htpy.tr(".sure")[
            row_head("Finds from", small("more queries needed")),
            [_reach_cell(reach) for reach in reaches],
        ],
    ]


def _measure_head(row: Delta, conventions: Conventions) -> htpy.Element:
    left_out = f", {row.undefined:,} undefined" if row.undefined else ""
    few = f", under {FEW}" if 0 < row.n < FEW else ""
    meaning = MEASURES[row.measure.name].help
    return head(conventions.heading(row.measure), f"n {row.n:,}{few}{left_out}", title=meaning)


def _run_head(letter: str, run: str, names: Mapping[str, str]) -> htpy.Element:
    side = f"--side: {SIDE_COLOURS.get(letter, QUIET)}"
    mark = htpy.span(class_=f"letter {letter}", style=side)[letter]
    return row_head(mark, " ", run_name(run, names))


def _run_rows(
    comparison: Comparison,
    banded: Sequence[tuple[Delta, Sequence[htpy.Element | None]]],
    more: Sequence[Score],
    names: Mapping[str, str],
) -> list[htpy.Element]:
    """Return a row of means for A, for B, and for each run beside them."""
    depth_of = comparison.conventions.depth_of_holes
    of_a, of_b = [], []
    for row, (drawn_a, drawn_b, _) in banded:
        counted_in = (row.n + row.undefined, depth_of(row.measure))
        beside_a = _beside(*counted_in, row.holes_a, row.missing_a, row.carried_a)
        beside_b = _beside(*counted_in, row.holes_b, row.missing_b, row.carried_b)
        of_a.append(_mean_cell(row.a, row.n, beside_a, drawn_a))
        of_b.append(_mean_cell(row.b, row.n, beside_b, drawn_b))
    further: dict[str, list[htpy.Element]] = {}
    for score in more:
        counted_in = (score.n + score.undefined, depth_of(score.measure))
        beside = _beside(*counted_in, score.holes, score.missing, score.carried)
        further.setdefault(score.run, []).append(_mean_cell(score.value, score.n, beside, None))
    listed = [(comparison.a, of_a), (comparison.b, of_b), *further.items()]
    return [
        htpy.tr[_run_head(letter, run, names), cells]
        for letter, (run, cells) in zip(ascii_uppercase, listed, strict=False)
    ]


def _bands(row: Delta, spreads: Sequence[Spread] | None) -> list[htpy.Element | None]:
    """Return the pictures of A and B, on one scale, and of B - A with 0 in the middle of its."""
    a, b, delta = spreads or (NOTHING, NOTHING, NOTHING)
    scale = scale_of((row.a, row.b), (a, b))
    around = scale_of((row.delta,), (delta,), around=True)
    sides = [band(row.a, a, scale), band(row.b, b, scale)]
    return [*sides, band(row.delta, delta, around, delta=True)]


def _beside(queries: int, depth: str, holes: int, missing: int, carried: int) -> str:
    """Say what a mean rests on: holes, queries its run has no list for, carried grades.

    Holes are counted in judged ``queries`` alone: where there are none, nothing is said of them.
    """
    said = [hole_words(holes, depth)] if queries else []
    said += [f"{missing} absent"] if missing else []
    return ", ".join(filter(None, (*said, carried_words(carried))))


def _mean_cell(value: float, n: int, beside: str, picture: htpy.Element | None) -> htpy.Element:
    """Return a mean with what it rests on."""
    return htpy.td[number(value), picture, small(_aside(value, n) or beside)]


def _change_cell(row: Delta, picture: htpy.Element | None, *, sure: bool) -> htpy.Element:
    shown = signed(row.delta)
    outcomes = f"{row.wins:,} / {row.ties:,} / {row.losses:,}"
    return htpy.td[htpy.strong[shown] if sure else shown, picture, small(outcomes)]


def _both_rows(comparison: Comparison, rows: Sequence[Delta]) -> list[htpy.Element]:
    """Return a line with the values where both runs have results, if they answered others."""
    found = [comparison.on_both(row) for row in rows]
    if not any(found):
        return []
    title = "The means over the queries that both A and B have results for"
    return [
        htpy.tr(".sure")[
            row_head("Both answered", small("A, B"), title=title),
            [htpy.td["–"] if both is None else _both_cell(both) for both in found],
        ]
    ]


def _both_cell(both: Both) -> htpy.Element:
    said = f"{number(both.a)}, {number(both.b)} (n {both.n:,})"
    return htpy.td[signed(both.delta), small(said)]


def _interval_cell(row: Delta, reach: Reach) -> htpy.Element:
    return htpy.td[interval_in_words(reach.interval), small(cautions_of(row, reach))]


def _test_cell(row: Delta, tested: Sureties) -> htpy.Element:
    surety = tested.of(row)
    return htpy.td(title=surety.kind)[
        chance_in_words(surety.p), small(chance_in_words(surety.holm))
    ]


def _reach_cell(reach: Reach) -> htpy.Element:
    return htpy.td[number(reach.detectable), small(more_in_words(reach))]


def query_table(
    rows: Sequence[QueryDelta], comparison: Comparison, names: Mapping[str, str]
) -> htpy.Fragment:
    """Return one query's values, a row for each measure."""
    heads = [
        head("Measure"),
        htpy.th(scope="col")["A ", run_name(comparison.a, names)],
        htpy.th(scope="col")["B ", run_name(comparison.b, names)],
        head("B − A"),
        head("Holes", "in A / in B"),
    ]
    body = [
        htpy.tr[
            row_head(comparison.conventions.heading(row.measure)),
            htpy.td[number(row.a), small(_aside(row.a, row.counted, row.missing_a))],
            htpy.td[number(row.b), small(_aside(row.b, row.counted, row.missing_b))],
            htpy.td[htpy.strong[signed(row.delta)]],
            htpy.td[f"{row.holes_a} / {row.holes_b}", small(_carried_on(row))],
        ]
        for row in rows
    ]
    return framed(LOOK, "compare one", heads, body, label="A against B for this query")


def _carried_on(row: QueryDelta) -> str:
    has_any = row.carried_a or row.carried_b
    return f"{row.carried_a} / {row.carried_b} carried" if has_any else ""


def _aside(value: float, counted: int, missing: bool = False) -> str:
    """Say beside a value why there is none although its query counts, or why it is 0."""
    if math.isnan(value):
        return "no result" if counted else ""
    return "no list: 0" if missing else ""


def what_if_table(trial: Trial, comparison: Comparison) -> htpy.Fragment:
    """Return what the values would be, and why a side that is left empty cannot be."""
    heads = [head("Measure"), head("A would be", "change"), head("B would be", "change")]
    body = []
    for at, measure in enumerate(comparison.measures):
        a, b = (None if side is None else side[at] for side in (trial.a, trial.b))
        delta = math.nan if a is None or b is None else b.value - a.value
        body.append(
            htpy.tr[
                row_head(comparison.conventions.heading(measure)),
                _would_be(a),
                _would_be(b),
                htpy.td[htpy.strong[signed(delta)]],
            ]
        )
    table = framed(LOOK, "compare", [*heads, head("B − A")], body, label="What if")
    return htpy.fragment[table, sentences(trial.problems)]


def _would_be(side: WhatIf | None) -> htpy.Element:
    if side is None:
        return htpy.td["–"]
    return htpy.td[number(side.value), small(signed(side.delta))]


def query_head(text: str, query_id: str, buckets: Sequence[str]) -> htpy.Fragment:
    """Return a query's text and buckets."""
    words = " · ".join([f"query {query_id}", *buckets])
    return htpy.fragment[LOOK, htpy.div(".question")[htpy.p(dir="auto")[text], htpy.small[words]]]


def chunk_text(
    chunk_id: str,
    title: str | None,
    text: str | None,
    evidence: Sequence[GradeEvidence] = (),
) -> htpy.Fragment:
    """Return a chunk, its title and text as they are, and in it what graders marked."""
    if text is None:
        body = htpy.p[htpy.em["Only its id is known: the chunk's text was never loaded."]]
    else:
        body = htpy.div(".text", dir="auto", tabindex="0")[marked_text(text, evidence)]
    heading = htpy.h3(dir="auto")[title] if title else None
    lost = lost_words(evidence)
    said = [htpy.small[chunk_id], htpy.p[htpy.small[lost]] if lost else None]
    shown = htpy.article(".chunk-shown")[heading, said, body]
    return htpy.fragment[LOOK, MARKED, shown]
