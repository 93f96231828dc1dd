"""Output: tables as text or Markdown for people, full precision as CSV or JSON for programs.

Also the progress bar, which appears on a terminal once work takes longer than a second.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

import click

from labeler.analysis.comparison import FEW
from labeler.cli.explain import footer_parts
from labeler.evaluation import (
    Conventions,
    Note,
    QueryScore,
    Record,
    Score,
    Scoreboard,
    TieRangesByRun,
    format_number,
    notes_on_record,
    with_tie_ranges,
)
from labeler.measures import Measure
from labeler.model import escape_controls, format_count, results
from labeler.model.results import NOTE, Statement
from labeler.render.results import (
    markdown_table,
    statements_markdown,
    statements_records,
    statements_text,
    text_table,
)
from labeler.render.short_names import short_names
from labeler.render.text import CellTable as Table
from labeler.render.text import align_cells, in_markdown, markdown_lines, text_lines

FOR_PROGRAMS = ("csv", "json")
"""Forms that hold every digit, and of which `format_records` makes one."""
MOST_BUCKETS_TOLD = 3  # notes of one kind on buckets, to people; programs get all


def annotated(
    kind: str,
    records: Iterable[Record],
    conventions: Conventions,
    notes: Sequence[Note],
    ranges: TieRangesByRun | None = None,
    statements: Sequence[Statement] = (),
) -> Iterator[Record]:
    """Yield rows for programs, each with its conventions and the notes that concern it.

    In JSON these are nested, in CSV one cell each. ``ranges`` are the values that other orders of
    tied scores could give, if known. ``statements`` concern all rows.
    """
    if ranges is not None:
        records = with_tie_ranges(records, ranges)
    is_json = kind == "json"
    about = conventions.as_dict() if is_json else conventions.describe()
    for record in records:
        found = notes_on_record(record, notes)
        said = (
            [
                *statements_records(statements),
                *({"kind": note.kind, "text": note.sentence} for note in found),
            ]
            if is_json
            else " · ".join(
                [*(each.line for each in statements), *(note.sentence for note in found)]
            )
        )
        yield {**record, "conventions": about, "notes": said}


def format_records(kind: str, records: Iterable[Record], *, raw: bool = False) -> str:
    """Return rows for programs as JSON or CSV; undefined values are null, or empty cells.

    Unless ``raw``, cells of CSV are escaped so that no spreadsheet runs them as formulas.
    """
    from labeler.formats import csv_tables, json_records  # here: people need none of the formats

    return json_records.as_json(records) if kind == "json" else csv_tables.as_csv(records, raw=raw)


MOST_LABEL = 32  # characters of a run's name in a table


class RunLabels(dict[str, str]):
    """Labels of runs in tables for people: their names, or shorter labels for long names.

    What all names have in common is folded; if they are still long, letters replace them.

    >>> RunLabels(["bm25", "lsa"]), RunLabels(["bm25", "lsa"]).lines("table")
    ({'bm25': 'bm25', 'lsa': 'lsa'}, [])
    >>> RunLabels(["x" * 40, "y"]).lines("table")
    ['A  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'B  y', '']
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Choose labels for these runs."""
        short = short_names(names)
        if max(map(len, short.values()), default=0) > MOST_LABEL:
            letters = map(chr, range(ord("A"), ord("Z") + 1))
            short = {name: next(letters, f"run {at}") for at, name in enumerate(short, 1)}
        super().__init__({name: escape_controls(label) for name, label in short.items()})
        self.is_short = any(name != label for name, label in short.items())

    def lines(self, kind: str) -> list[str]:
        """Return the lines above a table that say which run has which label."""
        if not self.is_short:
            return []
        rows = [[label, escape_controls(name)] for name, label in self.items()]
        if kind == "md":
            return [*(f"- {in_markdown(label)}: {in_markdown(name)}" for label, name in rows), ""]
        return [*align_cells(rows, [True, True]), ""]

    def pair(self, a: str, b: str) -> tuple[str, str]:
        """Return the labels of two runs."""
        return self[a], self[b]

    def within(self, sentence: str) -> str:
        """Return a sentence with labels in place of long names."""
        long = [name for name, label in self.items() if len(name) > max(MOST_LABEL, len(label))]
        for name in sorted(long, key=len, reverse=True):  # one may begin with another
            sentence = sentence.replace(name, self[name])
        return sentence

    def on(self, table: results.Table) -> results.Table:
        """Return a table with labels for its runs and systems."""
        columns = [each for each in ("run", "run_a", "run_b", "system") if each in table.names]
        rows = [
            {**row, **{each: self.get(row[each], row[each]) for each in columns}}
            for row in table.rows
        ]
        return replace(table, rows=rows)


def format_result(
    kind: str,
    statements: Sequence[Statement],
    table: results.Table | Table,
    conventions: Conventions,
    notes: Sequence[Note],
    labels: RunLabels | None = None,
    strips: Sequence[str] = (),
) -> str:
    """Return the text for people: statements, the table, strips, warnings, conventions and notes.

    Lines above the table explain short ``labels`` of runs. Statements that are notes come after
    the other notes.
    """
    shown = _table_lines(kind, table, labels)
    if labels is not None and labels.is_short:
        statements = [replace(each, sentence=labels.within(each.sentence)) for each in statements]
        notes = [replace(each, sentence=labels.within(each.sentence)) for each in notes]
        shown = [*labels.lines(kind), *shown]
    first = [each for each in statements if each.severity != NOTE]
    last = [each for each in statements if each.severity == NOTE]
    if kind == "md":
        above, below = statements_markdown(first), ["", *statements_markdown(last)]
        drawn = ["", "```text", *strips, "```"] if strips else []
        footer = markdown_footer(conventions, notes)
    else:
        above, below = statements_text(first), statements_text(last)
        drawn = ["", *strips] if strips else []
        footer = text_footer(conventions, notes)
    lines = [*shown, *drawn, *footer[:-1], *(below if last else []), ""]
    return "\n".join([*above, *([""] if above else []), *lines])


def _table_lines(kind: str, table: results.Table | Table, labels: RunLabels | None) -> list[str]:
    if isinstance(table, Table):
        return markdown_lines(table) if kind == "md" else text_lines(table)
    table = table if labels is None else labels.on(table)
    return markdown_table(table) if kind == "md" else text_table(table)


def text_footer(conventions: Conventions, notes: Sequence[Note]) -> list[str]:
    """Return the lines under a table in a terminal: marked warnings, conventions, then notes.

    >>> from labeler.evaluation import Conventions
    >>> notes = [Note("ties", "ties in file order"), Note("few", "n is small", is_warning=True)]
    >>> first, warning, second, conventions, note, last = text_footer(Conventions.of(), notes)
    >>> warning, note
    ('! n is small', 'ties in file order')
    """
    how, described, notes = footer_parts(conventions, notes)
    warnings, others = split_notes(notes)
    return [
        *(["", *(f"! {escape_controls(said)}" for said in warnings)] if warnings else []),
        *(
            ["", "How this is computed", *(f"- {escape_controls(said)}" for said in how)]
            if how
            else []
        ),
        "",
        described,
        *map(escape_controls, others),
        "",
    ]


def markdown_footer(conventions: Conventions, notes: Sequence[Note]) -> list[str]:
    """Return the lines under a Markdown table: marked warnings, conventions, then notes."""
    how, described, notes = footer_parts(conventions, notes)
    warnings, others = split_notes(notes)
    return [
        *(f"\n- ! {_markdown_note(said)}" for said in warnings),
        *(
            ["", "How this is computed:", "", *(f"- {_markdown_note(said)}" for said in how)]
            if how
            else []
        ),
        "",
        described,
        *(f"\n- {_markdown_note(said)}" for said in others),
        "",
    ]


def split_notes(notes: Sequence[Note]) -> tuple[list[str], list[str]]:
    """Return the sentences of warnings and of other notes, for people."""
    parts = [[each for each in notes if each.is_warning == want] for want in (True, False)]
    warnings, others = (list(fold_notes(part)) for part in parts)
    return warnings, others


def _markdown_note(sentence: str) -> str:
    return in_markdown(escape_controls(sentence))


def fold_notes(notes: Sequence[Note]) -> Iterator[str]:
    """Yield the notes for people: the first few on buckets of each kind, and how many more."""
    told: Counter[str] = Counter()
    for note in notes:
        told[note.kind] += note.bucket is not None
        if note.bucket is None or told[note.kind] <= MOST_BUCKETS_TOLD:
            yield note.sentence
    for kind, count in told.items():
        if count > MOST_BUCKETS_TOLD:
            more = format_count(count - MOST_BUCKETS_TOLD, "more bucket", "more buckets")
            yield f"{kind}: {more}, which --format json has"


def query_scores(board: Scoreboard, measures: Sequence[Measure]) -> list[QueryScore]:
    """Return the values of every query, run by run."""
    return [score for run in board.run_names for score in board.per_query(run, measures)]


def wide_table(
    scores: Sequence[Score] | Sequence[QueryScore], conventions: Conventions, labels: RunLabels
) -> Table:
    """Return a table with a column for each measure; the runs of a query or bucket are adjacent."""
    measures = list(dict.fromkeys(each.measure for each in scores))
    lines: dict[tuple[str | None, str], dict[Measure, Score | QueryScore]] = {}
    for each in scores:
        place = each.query_id if isinstance(each, QueryScore) else each.bucket
        lines.setdefault((place, each.run), {})[each.measure] = each
    places = {place: at for at, place in enumerate(dict.fromkeys(place for place, _ in lines))}
    ordered = sorted(lines, key=lambda line: places[line[0]])
    deepest = [lines[line][_deepest(measures)] for line in ordered]
    body = [
        [
            *([] if place is None else [escape_controls(place)]),
            labels[run],
            *(format_number(lines[place, run][measure].value) for measure in measures),
            *_n_cell(lines[place, run].values()),
            str(counted.unjudged),
        ]
        for (place, run), counted in zip(ordered, deepest, strict=True)
    ]
    first = scores[0]
    heading = "query" if isinstance(first, QueryScore) else first.facet
    names = ["run"] if heading is None else [escape_controls(heading), "run"]
    unjudged = _unjudged_heading(measures, conventions.pool_depth)
    counts = [unjudged] if isinstance(first, QueryScore) else ["n", unjudged]
    if any(each.transferred for each in scores):
        counts.append(unjudged.replace("unjudged", "transferred"))
        body = [[*cells, str(of.transferred)] for cells, of in zip(body, deepest, strict=True)]
    return Table(names, [*map(conventions.heading, measures), *counts], body)


def _n_cell(line: Iterable[Score | QueryScore]) -> list[str]:
    """Return how many queries the means of a line cover; no cell for values of one query."""
    counts = [each.n for each in line if isinstance(each, Score)]
    if not counts:
        return []
    low, high = min(counts), max(counts)
    return [str(low) if low == high else f"{low}-{high}"]


def _deepest(measures: Iterable[Measure]) -> Measure:
    """Return the measure with the deepest cut-off; a table counts its unjudged chunks."""

    def depth(measure: Measure) -> int:
        return measure.cutoff if isinstance(measure.cutoff, int) else -(measure.cutoff is None)

    return max(measures, key=depth)


def _unjudged_heading(measures: Iterable[Measure], pool_depth: int) -> str:
    cutoff = _deepest(measures).cutoff
    return f"unjudged@{pool_depth if cutoff is None else cutoff}"


PATIENCE_SECONDS = 1.0


@contextmanager
def progress_bar(label: str, *, then: str) -> Iterator[Callable[[float], None] | None]:
    """Yield a function that takes the share done, from 0 to 1; None without a terminal.

    The bar appears on standard error once the work has taken `PATIENCE_SECONDS`; after such work
    ``then`` is printed to say what follows.
    """
    if not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    bars: list[Any] = []
    with ExitStack() as open_bars:

        def tell(share: float) -> None:
            if not bars and time.monotonic() - started > PATIENCE_SECONDS:
                bar = click.progressbar(length=1000, label=label, file=sys.stderr)
                bars.append(open_bars.enter_context(bar))
            for bar in bars:
                bar.update(round(share * 1000) - bar.pos)

        yield tell
    if bars:
        click.echo(then, err=True)


def print_records(
    kind: str,
    records: list[Record],
    conventions: Conventions,
    notes: Sequence[Note],
    *,
    raw: bool,
    statements: Sequence[Statement] = (),
) -> None:
    """Print rows for programs."""
    told = annotated(kind, records, conventions, notes, statements=statements)
    click.echo(format_records(kind, told, raw=raw), nl=False)


def print_result(
    kind: str,
    statements: Sequence[Statement],
    table: results.Table | Table,
    conventions: Conventions,
    notes: Sequence[Note],
    labels: RunLabels | None = None,
) -> None:
    """Print a result for people, with the answer above the table and the notes below it."""
    click.echo(format_result(kind, statements, table, conventions, notes, labels), nl=False)


MOST_LISTED = 50  # rows of a list, to people
most_option = click.option(
    "--most",
    type=click.IntRange(1),
    help=f"How many to list.  [default: {MOST_LISTED}; all in a form for programs]",
)


def count_listed(most: int | None, kind: str) -> int:
    """Return how many rows to list: as asked for, else the first few for people, all for programs.

    >>> count_listed(None, "table"), count_listed(7, "table"), count_listed(7, "json")
    (50, 7, 7)
    """
    if most is not None:
        return most
    return MOST_LISTED if kind in ("table", "md") else sys.maxsize


def print_rows(kind: str, rows: Iterable[Record]) -> None:
    """Print rows for programs: a JSON list of objects, or one object per line."""
    if kind == "json":
        click.echo(format_records(kind, rows), nl=False)
        return
    for row in rows:
        click.echo(json.dumps(row, ensure_ascii=False))


def print_list(table: Table, count: int) -> None:
    """Print a list for people without its empty columns; ``count`` is the number of all rows."""
    texts = len(table.names)
    used = [at for at in range(texts) if any(row[at] for row in table.body)]
    body = [[*(row[at] for at in used), *row[texts:]] for row in table.body]
    lines = text_lines(Table([table.names[at] for at in used], table.numbers, body))
    if count > len(body):
        lines.append(f"... and {count - len(body):,} more; --most lists them")
    click.echo("\n".join(lines))


LONGEST_CELL, LONGEST_LINE = 60, 100  # letters


def shorten(text: str, most: int = LONGEST_CELL) -> str:
    """Return a text cut to ``most`` letters.

    >>> shorten("short", 5), shorten("longer", 5)
    ('short', 'long…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(text: str, most: int = LONGEST_LINE) -> str:
    """Return a text on one line, without control characters, cut to ``most`` letters."""
    return shorten(escape_controls(" ".join(text.split())), most)


def rank_cell(rank: int | None) -> str:
    """Format a rank for a table.

    >>> rank_cell(3), rank_cell(None)
    ('3', '–')
    """
    return "–" if rank is None else str(rank)


def notes_on(board: Scoreboard, measures: Iterable[Measure], facet: str | None) -> list[Note]:
    """Return notes on what was left out or could surprise, also on the facet's buckets."""
    notes = [*board.notes(measures)]
    if facet is not None and (lost := board.unbucketed(facet)):
        sentence = f"judged queries in no bucket of {facet!r}, so in no row: {lost}"
        notes.append(Note("no bucket", sentence))
    return notes if facet is None else [*notes, *_few_query_notes(board, measures, facet)]


def _few_query_notes(board: Scoreboard, measures: Iterable[Measure], facet: str) -> Iterator[Note]:
    """Yield notes on buckets with so few queries that a difference may be chance."""
    n: dict[str | None, int] = {}
    for row in board.table(measures, facet):
        n[row.bucket] = max(n.get(row.bucket, 0), row.n)
    for bucket, queries in n.items():
        if 0 < queries < FEW:
            few = f"fewer than {FEW} queries (n {queries}): a difference may be chance"
            sentence = f"{facet} = {bucket}: {few}"
            yield Note("few", sentence, bucket=(facet, bucket), is_warning=True)
