"""``labeler load``: read, check and store a file as a whole, and print a load report."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import click

from labeler.cli.atomic_output import is_new, open_to_load
from labeler.cli.file_options import grade_options, limit_option, list_options, map_option
from labeler.cli.groups import (
    CHUNKING,
    FILE,
    CommandT,
    LabelerGroup,
    database_option,
    split_database,
)
from labeler.cli.options import OptionDecorator, with_options
from labeler.cli.output import progress_bar
from labeler.errors import BadInput, LabelerError, NotFound
from labeler.formats import FieldMap, Guess
from labeler.model import escape_controls, format_count
from labeler.services import import_export
from labeler.services.import_export import LoadOptions
from labeler.store import Store, integrity
from labeler.store.addresses import StoreLocation

update_option = click.option(
    "--update", is_flag=True, help="Replace what has the same id and other content."
)
facet_option = click.option(
    "--facet",
    "facets",
    multiple=True,
    metavar="NAME",
    callback=lambda _context, _option, given: given or None,
    help="A field to group queries by; may be repeated. Without it: the buckets, and every text "
    "field of the metadata with at most 50 distinct values and at most one for every two queries.",
)


blind_option = click.option(
    "--blind",
    is_flag=True,
    help="Graders saw neither each other's grades nor the lists, so that they count in agreement.",
)


def of_chunking(told: str) -> OptionDecorator[Any]:
    """Return the option that names a chunking; ``told`` is its help."""
    return click.option("--chunking", type=CHUNKING, metavar="NAME", help=told)


chunking_option = of_chunking(
    "The chunking that its chunk ids belong to, if there are several; 'default' is the one without "
    "a name."
)


def run_options(command: CommandT) -> CommandT:
    """Add the options for what a run is, and how its lists are read."""
    return with_options(
        click.option(
            "--name", "run_name", help="What the run is called.  [default: the file's name]"
        ),
        click.option(
            "--system", help="The system it belongs to, over time.  [default: the run's name]"
        ),
        click.option(
            "--date", "created_at", help="When it was made: 2026-01-31.  [default: not known]"
        ),
        list_options,
    )(command)


class LoadGroup(LabelerGroup):
    """Loads files of any kind if no kind is named first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read leading options as those of ``files``, unless they ask for help."""
        before, args = split_database(args)
        is_option = bool(args) and args[0].startswith("-") and args[0] not in ctx.help_option_names
        return super().parse_args(ctx, [*before, *(["files"] if is_option else []), *args])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first word names; a command wins over a file of its name."""
        if args[0] not in self.commands and os.path.exists(args[0]):  # accepts names of any length
            args = ["files", *args]
        return super().resolve_command(ctx, args)

    def refuse_word(self, ctx: click.Context, word: str) -> NoReturn:
        """Refuse a word that is neither a kind of file nor an existing file."""
        if Path(word).suffix or os.sep in word:
            raise NotFound(f"{escape_controls(word)}: there is no such file")
        super().refuse_word(ctx, word)


@click.group(cls=LoadGroup, subcommand_metavar="FILE... | COMMAND [ARGS]...")
@database_option
def load() -> None:
    """Add files of any kind: 'labeler load FILE...'.

    What a file holds is recognised by its content; a command below says it instead. A file is
    loaded whole or not at all: one bad line, and nothing changes. The golden set's file is made
    if it is not there yet. Files may be gzipped. Size limits keep a file from filling the
    memory; --limit raises them.
    """


def loads(*options: OptionDecorator[Any]) -> Callable[[Callable[[], None]], None]:
    """Return a decorator that adds a command to `load`: a function's name is the kind of file."""

    def add(described: Callable[[], None]) -> None:
        def call(db: StoreLocation, /, path: Path, **given: Any) -> None:
            check_target(db)
            load_unchecked(db, described.__name__, path, LoadOptions(**given))

        path = click.argument("path", type=FILE)
        added = with_options(path, *options, limit_option, database_option, click.pass_obj)(call)
        load.command(described.__name__, help=described.__doc__)(added)

    return add


@loads(facet_option, update_option)
def queries() -> None:
    """Add the queries of a JSONL, BEIR, CSV, TSV or Parquet file.

    Where a file has no ids, they are made of the queries' texts. Of a file that holds more, only
    the queries are added.
    """


@loads(
    of_chunking("The chunking they belong to; ids must be unique within one chunking only."),
    update_option,
)
def chunks() -> None:
    """Add the chunks of a JSONL, BEIR, CSV, TSV or Parquet file.

    A chunk may have a document_id, and its place in that document: start and end, in characters
    from 0, the end not included. Of questions with their results each chunk is added once.
    """


@loads(update_option)
def documents() -> None:
    """Add the whole texts that chunks were cut from.

    PATH is a folder of .md and .txt files, whose ids are their paths in it, or the names that
    chunks have for them; or JSONL, CSV or TSV with document_id and text, and title if there is
    one. Chunks with a start and an end must be found there.
    """


@loads(
    run_options,
    of_chunking(
        "The chunking it was made on; 'default' is the one without a name.  "
        "[default: the one that has its ids]"
    ),
)
def run() -> None:
    """Add a run: TREC, JSONL, CSV, TSV or Parquet.

    JSON by query, as ranx writes it, is read as well. Of questions with their results only the
    ranked lists are added.
    """


@loads(grade_options, blind_option, chunking_option, update_option)
def golden() -> None:
    """Add golden grades: a golden set, a log, qrels, CSV.

    A golden set in JSONL, Quepid's and OpenSearch's JSON and RAGAS' samples bring their queries;
    for other files load the queries first. A table needs the columns query, docid and rating;
    a query may be named by its id, its text, or both. Where a file names several graders, each
    one's own grade is kept. Other files have one grade for a pair; to change it later takes
    --update.
    """


@loads(
    click.option("--split", default="test", show_default=True, help="Which qrels of the folder."),
    facet_option,
    grade_options,
    of_chunking("The chunking that its corpus belongs to.  [default: the one without a name]"),
    update_option,
)
def beir() -> None:
    """Add a BEIR or MTEB folder, or a zip that holds one."""


@loads()
def version() -> None:
    """Add a golden set that was frozen elsewhere.

    Its content must match the hash in it. The live golden set stays as it is.
    'labeler export FILE --format version --golden NAME' makes such a file.
    """


@loads()
def complete() -> None:
    """Make a new golden set from a complete file.

    'labeler export FILE --complete' writes one. It is loaded into a new golden set only.
    """


@loads(
    click.option(
        "--run", "run_name", help="The run whose answers they are, if the file has no such column."
    ),
    update_option,
)
def answers() -> None:
    """Add what was answered with a run's chunks, right or wrong.

    JSONL, CSV or TSV with run, query, answer and correct, which is yes or no, true or false, 1
    or 0. The answer's text may be missing, and run if --run names it. 'labeler answers' compares
    them with what was retrieved.
    """


@loads(update_option)
def signals() -> None:
    """Add what users did, date by date: clicks, thumbs up.

    JSONL, CSV or TSV with date, system, name and value. It may have query, for a value of one
    query, and n, how often it was counted. 'labeler trend' shows them with the system's runs.
    """


@load.command()
@click.argument("paths", metavar="PATH...", type=FILE, nargs=-1, required=True)
@map_option
@run_options
@grade_options
@blind_option
@facet_option
@chunking_option
@update_option
@limit_option
@database_option
@click.pass_obj
def files(db: StoreLocation, /, paths: tuple[Path, ...], **given: Any) -> None:
    """Add files of any kind, as 'labeler load FILE...' does.

    They are loaded in this order: queries, chunks, golden grades, runs, answers, signals. A file
    that is not recognised or is refused is named at the end; the others are loaded. An option
    applies to the files it fits.
    """
    load_files(db, paths, LoadOptions(**given))


def load_files(db: StoreLocation, paths: Sequence[Path], options: LoadOptions) -> None:
    """Load files of any kind and print what was done; raise `BadInput` if some were not loaded."""
    check_target(db)
    kinds: dict[Path, str] = {}
    maps: dict[Path, FieldMap | None] = {}
    failed: list[str] = []
    remembered = remembered_map(db)
    for path in paths:
        found, maps[path] = Guess("records", ""), options.field_map
        if options.field_map is None:
            found, maps[path] = import_export.recognise(path, remembered=remembered)
        kind = found.kind or ask_kind(path, found)
        if kind is None:
            failed.append(f"{path}: {found.why}")
        elif kind != LEFT_OUT:
            kinds[path] = kind
    with_runs = [path for path, kind in kinds.items() if kind in ("run", "records")]
    if options.run_name is not None and len(with_runs) > 1:
        raise BadInput(f"--name is of one run, and {len(with_runs)} files hold runs")
    for kind in import_export.LOADS:
        for path in (path for path, of in kinds.items() if of == kind):
            try:
                load_unchecked(db, kind, path, replace(options, field_map=maps[path]))
            except LabelerError as error:
                failed.append(str(error))
    if failed and len(paths) > len(failed):
        loaded = format_count(len(paths) - len(failed), "file is", "files are")
        failed.append(f"{loaded} loaded, {len(failed):,} not")
    if failed:
        raise BadInput("\n".join(failed))


LEFT_OUT = "leave it out"


def remembered_map(db: StoreLocation) -> str:
    """Return the field map stored in a golden set, '' for a new one."""
    if is_new(db):
        return ""
    with Store(db) as store:
        return store.settings.read().field_map


def ask_kind(path: Path, found: Guess) -> str | None:
    """Ask which of several kinds a file is; return None if nobody can answer."""
    if not found.could_be or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    click.echo(f"{path}: {escape_controls(found.why.partition(';')[0])}")
    choices = click.Choice([*found.could_be, LEFT_OUT])
    return str(click.prompt("What is it?", type=choices))


def check_target(db: StoreLocation) -> None:
    """Raise if nothing can be loaded into ``db``, before a whole file is read."""
    if not is_new(db):
        integrity.check_undamaged(db)
        with Store(db):
            pass


def load_unchecked(db: StoreLocation, kind: str, path: Path, options: LoadOptions) -> None:
    """Read a file, store what it holds and print what was done."""
    with progress_bar(f"Reading {path.name}", then="Storing ...") as progress:
        apply = import_export.read(kind, path, options, progress=progress)
    with open_to_load(db) as store:
        reports = apply(store)
    for report in reports:
        click.echo(report)
