"""``labeler report``: one HTML file about one run or two, which loads nothing from elsewhere."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from labeler.analysis.comparison import DecisionRules
from labeler.cli.export import write_output
from labeler.cli.groups import FILE_OR_OUTPUT, database_option, say
from labeler.cli.options import (
    CONVENTION_OPTIONS,
    CountingCommand,
    ValueOptions,
    check_shared_queries,
    golden_option,
    measures_option,
    select_runs,
    with_value_options,
)
from labeler.evaluation import DEFAULT_MEASURES, Scoreboard, measures_for_runs
from labeler.model import escape_controls
from labeler.services import import_export
from labeler.services.import_export import snapshots
from labeler.store import Store
from labeler.store.addresses import StoreLocation


@click.command(cls=CountingCommand)
@click.argument("a")
@click.argument("b", required=False)
@click.option(
    "-o",
    "--output",
    "path",
    type=FILE_OR_OUTPUT,
    default="report.html",
    show_default=True,
    help="The file to write; '-' is the standard output.",
)
@click.option("--force", is_flag=True, help="Replace what is at the output's path.")
@click.option(
    "--by",
    "facets",
    multiple=True,
    metavar="FACET",
    help="Slices by this facet; may be repeated.  [default: by every facet]",
)
@click.option(
    "--date",
    "day",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The date of the report.  [default: today]",
)
@with_value_options(measures_option(DEFAULT_MEASURES, "The first leads. "), *CONVENTION_OPTIONS)
@golden_option
@database_option
@click.pass_obj
def report(
    db: StoreLocation,
    a: str,
    b: str | None,
    path: Path,
    force: bool,
    facets: tuple[str, ...],
    day: datetime | None,
    options: ValueOptions,
) -> None:
    """Write one HTML file about run A, or B against A.

    It contains the verdict, scores, comparison, slices, failing queries and conventions. It runs
    no script, loads nothing from elsewhere, and can be printed. The same golden set and options
    give the same file on the same day, byte for byte.
    """
    from labeler.render.report import ReportRequest, ReportSource, make_report

    with Store(db) as store:
        collection, conventions, settings = options.read(store)
        runs = (a, b) if b else (a,)
        conventions = conventions.across(collection, runs)
        measures = options.measures(conventions, measures_for_runs(collection, runs))
        check_shared_queries(select_runs(collection, runs))
        is_live = options.golden is None
        queries = (
            store.queries.all()
            if options.golden is None
            else snapshots.frozen_content(store, options.golden).queries
        )
        source = ReportSource(
            Scoreboard(collection, conventions),
            {query.query_id: query for query in queries},
            store.remarks.current() if is_live else [],
            store.activity.single_grades() if is_live else None,
            store.chunks.with_text(),
            store.texts.numbered,
            {run: store.answers.right(run) for run in store.answers.runs()},
        )
        on = (day or datetime.now(UTC)).date()
        decision = DecisionRules.of(settings)
        asked = ReportRequest(a, b, measures, on, facets, decision=decision)
        made = make_report(source, asked)
        write_output(path, made, replace=force)
        noted = import_export.note_export(
            store, str(path), "report", store.tamper_check.newest_seal()
        )
    if str(path) != "-":
        say(f"{path}: {' against '.join(filter(None, (b, a)))}, {len(made) / 1e6:.1f} MB")
    if not noted:
        click.echo(
            escape_controls(f"{db} takes no writes now: this report is not in its audit"), err=True
        )
