"""``labeler runs``, ``queries``, ``drop``, ``split``: list and change runs and queries."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import asdict

import click

from labeler.cli.groups import (
    HINTS,
    LabelerGroup,
    change,
    database_option,
    drop,
    format_option,
    keep_older_name,
    rename,
    restore,
    split_database,
)
from labeler.cli.output import (
    Table,
    count_listed,
    most_option,
    print_list,
    print_rows,
    shorten,
    text_lines,
)
from labeler.errors import NotFound
from labeler.model import SPLITS, chunking_label, escape_controls, format_count
from labeler.services.query_splits import assign_splits
from labeler.store import QuerySummary, Store
from labeler.store.addresses import StoreLocation

LONGEST_TEXT = 52  # leaves room for an id and a task on a line of 80


@click.command()
@format_option(("table", "json"), "json is for programs.")
@database_option
@click.pass_obj
def runs(db: StoreLocation, kind: str) -> None:
    """List the runs: their systems, dates and sizes."""
    with Store(db) as store:
        found, of_runs = store.runs.all(), store.chunkings.of_runs()
        several = len(store.chunkings.names()) > 1
    if kind == "json":
        print_rows(
            kind,
            (
                {
                    "run": run.name,
                    "system": run.system,
                    "created_at": run.created_at,
                    "chunking": chunking_label(of_runs[run.name]),
                    "queries": run.queries,
                    "depth": run.depth,
                }
                for run in found
            ),
        )
        return
    if not found:
        click.echo("There are no runs yet: 'labeler load run FILE' adds one.")
        return
    has_systems = any(run.system != run.name for run in found)
    body = [
        [
            escape_controls(run.name),
            *([escape_controls(run.system)] if has_systems else []),
            run.created_at or "",
            *([chunking_label(of_runs[run.name])] if several else []),
            f"{run.queries:,}",
            f"{run.depth:,}",
        ]
        for run in found
    ]
    names = ["run", *["system"] * has_systems, "made on", *["chunking"] * several]
    click.echo("\n".join(text_lines(Table(names, ["queries", "depth"], body))))


@rename.command("run")
@click.argument("old")
@click.argument("new")
@database_option
@click.pass_obj
def rename_run(db: StoreLocation, old: str, new: str) -> None:
    """Give a run another name.

    A system that only ever had the run's name follows it.
    """
    with Store(db) as store:
        followed = store.runs.rename(old, new)
    too = ", and so is its system" if followed else ""
    click.echo(f"run {old!r} is now {new!r}{too}")


@change.command("run")
@click.argument("name")
@click.option("--system", help="The system it belongs to, over time.")
@click.option("--date", help="When it was made: 2026-01-31; '' if unknown.")
@database_option
@click.pass_obj
def change_run(db: StoreLocation, name: str, system: str | None, date: str | None) -> None:
    """Set a run's system and the date it was made."""
    if system is None and date is None:
        raise click.UsageError("say what is to change: --system, --date, or both")
    with Store(db) as store:
        store.runs.change(name, system=system, created_at=date)
        (run,) = (run for run in store.runs.all() if run.name == name)
    made = f"made on {run.created_at}" if run.created_at else "of unknown date"
    click.echo(f"run {name!r} is of system {run.system!r}, {made}")


def confirm(question: str, *, is_sure: bool) -> None:
    """Ask before removing what only its file brings back; scripts are not asked."""
    if not is_sure and sys.stdin.isatty():
        click.confirm(question, abort=True)


yes_option = click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")


@drop.command("run")
@click.argument("name")
@yes_option
@database_option
@click.pass_obj
def drop_run(db: StoreLocation, name: str, is_sure: bool) -> None:
    """Remove a run, its lists and answers; every judgment stays.

    In a terminal it asks first. Only the run's file brings its lists back.
    """
    with Store(db) as store:
        answers = store.answers.runs().get(name, 0)
        lists = next((run.queries for run in store.runs.all() if run.name == name), None)
        if lists is not None:
            confirm(f"Remove run {name!r} with its {lists:,} lists?", is_sure=is_sure)
        store.runs.drop(name)
    too = f" with its answers ({answers:,})" if answers else ""
    click.echo(f"run {name!r} is removed{too}; its judgments stay")


@drop.command("answers")
@click.argument("run")
@yes_option
@database_option
@click.pass_obj
def drop_answers(db: StoreLocation, run: str, is_sure: bool) -> None:
    """Remove the answers of a run; the run stays."""
    confirm(f"Remove the answers of run {run!r}?", is_sure=is_sure)
    with Store(db) as store:
        gone = store.answers.drop(run)
    answers = format_count(gone, "answer is", "answers are")
    click.echo(f"run {run!r}: {answers} removed; the run stays")


@drop.command("signals")
@click.argument("system")
@click.option("--name", help="Only the signal of this name.")
@yes_option
@database_option
@click.pass_obj
def drop_signals(db: StoreLocation, system: str, name: str | None, is_sure: bool) -> None:
    """Remove the signals of a system; its runs stay."""
    what = "signals" if name is None else f"signal {name!r}"
    confirm(f"Remove the {what} of system {system!r}?", is_sure=is_sure)
    with Store(db) as store:
        gone = store.signals.drop(system, name)
    values = format_count(gone, "value is", "values are")
    click.echo(f"{what} of system {system!r}: {values} removed; its runs stay")


class QueriesGroup(LabelerGroup):
    """Lists queries if no command is named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read other words and options as those of ``list``."""
        before, args = split_database(args)
        if len(args) > 1 and args[0] in HINTS["queries"]:
            self.refuse_word(ctx, args[0])
        if not args or args[0] not in {*self.commands, *ctx.help_option_names}:
            args = ["list", *args]
        return super().parse_args(ctx, [*before, *args])


@click.group(cls=QueriesGroup, subcommand_metavar="[WORDS] | COMMAND [ARGS]...")
@database_option
def queries() -> None:
    """List the queries, promote candidates, retire, restore.

    'labeler queries WORDS' is short for 'labeler queries list WORDS'.
    """


@queries.command("list")
@click.argument("words", required=False, default="")
@click.option("--retired", is_flag=True, help="Only those that are retired.")
@click.option("--split", type=click.Choice(SPLITS), help="Only those of this split.")
@most_option
@format_option(("table", "json"), "json is for programs, with whole texts.")
@database_option
@click.pass_obj
def list_queries(
    db: StoreLocation, words: str, retired: bool, split: str | None, most: int | None, kind: str
) -> None:
    """List the queries, with how many grades each has.

    With WORDS only those whose id or text contains them.
    """
    with Store(db) as store:
        found, count = store.queries.find(
            words, retired=retired or None, split=split, most=count_listed(most, kind)
        )
    if kind == "json":
        print_rows(kind, map(asdict, found))
        return
    if not found:
        click.echo(_no_queries(words, retired=retired, split=split))
        return
    names = ["query", "task", "split", "leaked", "retired", "text"]
    print_list(Table(names, ["grades"], [*map(query_cells, found)]), count)


def _no_queries(words: str, *, retired: bool, split: str | None) -> str:
    """Return the message for an empty list of queries."""
    asked = [
        *(["is retired"] if retired else []),
        *([f"is in the split {split}"] if split else []),
        *([f"holds {words!r} in its id or text"] if words else []),
    ]
    if not asked:
        return "There are no queries yet: 'labeler load queries FILE' adds some."
    return f"No query {' and '.join(asked)}."


def query_cells(query: QuerySummary) -> list[str]:
    """Return a query as a row of the table."""
    text = " ".join(query.text.split())
    short = shorten(text, LONGEST_TEXT)
    retired = (query.retired_at or "")[:10]
    marks = [query.task or "", query.split or "", "leaked" if query.leaked else "", retired]
    return [escape_controls(query.query_id), *marks, escape_controls(short), f"{query.grades:,}"]


@queries.command("retire")
@click.argument("query_id", metavar="ID")
@database_option
@click.pass_obj
def retire_query(db: StoreLocation, query_id: str) -> None:
    """Retire a query; its judgments stay in the log.

    It is left out of grading, scores and exports, until it is restored.
    """
    with Store(db) as store:
        store.queries.retire(query_id)
    click.echo(f"query {query_id!r} is retired")


@queries.command("restore")
@click.argument("query_id", metavar="ID")
@database_option
@click.pass_obj
def restore_query(db: StoreLocation, query_id: str) -> None:
    """Take a retired query back into use, with all its judgments."""
    with Store(db) as store:
        store.queries.restore(query_id)
    click.echo(f"query {query_id!r} is in use again")


@click.group(cls=LabelerGroup, hidden=True)
def retire() -> None:
    """Take a query out of use: 'labeler queries retire'."""


keep_older_name(retire, "query", retire_query)
keep_older_name(restore, "query", restore_query)


@click.command()
@click.option("--dev", type=float, default=60, show_default=True, help="Percent of the queries.")
@click.option("--test", type=float, default=20, show_default=True, help="Percent of the queries.")
@click.option(
    "--held-out", type=float, default=20, show_default=True, help="Percent of the queries."
)
@click.option("--seed", default="0", show_default=True, help="Another seed draws another split.")
@click.option(
    "--redraw", is_flag=True, help="Draw again for all queries, even those that have a split."
)
@database_option
@click.pass_obj
def split(
    db: StoreLocation, dev: float, test: float, held_out: float, seed: str, redraw: bool
) -> None:
    """Put queries into dev, test and held-out at random.

    The draw depends on the query's id and the seed alone, so that queries added later move no
    others. A query that is nearly the same as an earlier one gets the same split. A query keeps
    its split unless --redraw is given.
    """
    shares = dict(zip(SPLITS, (dev, test, held_out), strict=True))
    with Store(db) as store:
        queries = store.queries.all()
        if not queries:
            raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
        found = assign_splits(queries, shares, seed, redraw=redraw)
        store.splits.assign(found, {**shares, "seed": seed})
        sizes = store.splits.sizes()
    drawn = Counter(found.values())
    for name in SPLITS:
        click.echo(
            f"{name:<8}  {sizes.get(name, 0):>6,} queries, {drawn[name]:,} of them drawn now"
        )
