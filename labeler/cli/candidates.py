"""``labeler candidates``, ``load candidates``, ``queries promote``: candidates for queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from labeler.cli.atomic_output import open_to_load
from labeler.cli.file_options import limit_option
from labeler.cli.groups import (
    FILE,
    CommandT,
    LabelerGroup,
    database_option,
    drop,
    format_option,
    keep_older_name,
    restore,
    say,
)
from labeler.cli.load import check_target, load
from labeler.cli.output import (
    Table,
    count_listed,
    most_option,
    print_list,
    print_rows,
    progress_bar,
    shorten,
)
from labeler.cli.runs_queries import queries
from labeler.evaluation import Record
from labeler.formats import DOWN_GRADE, GENERATED_GRADE, UP_GRADE, Limits, SuggestionRule
from labeler.model import CANDIDATE_SOURCES, CANDIDATE_STATES, Candidate, escape_controls
from labeler.services import import_export
from labeler.services.candidates import SAMPLE_SIZE, nearest_queries
from labeler.store import Store
from labeler.store.addresses import StoreLocation

number_argument = click.argument("numbers", metavar="NUMBER...", type=int, nargs=-1, required=True)


def grade_option(name: str, usual: int, told: str) -> Callable[[CommandT], CommandT]:
    """Return the option for a suggested grade; ``told`` says which it is."""
    grade = click.IntRange(0, 3)
    return click.option(
        name, type=grade, default=usual, show_default=True, help=f"The grade {told}."
    )


@load.command("candidates")
@click.argument("path", type=FILE)
@click.option(
    "--from",
    "source",
    type=click.Choice(list(CANDIDATE_SOURCES)),
    required=True,
    help="Where the questions come from.",
)
@click.option(
    "--facet",
    "facets",
    multiple=True,
    metavar="NAME",
    help="A field to group questions by; may be repeated. Without it: every text field with at "
    "most 50 distinct values.",
)
@click.option(
    "--evenly",
    multiple=True,
    metavar="FACET",
    help="Draw equally from each bucket of this facet; may be repeated.  [default: all facets]",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    help=f"How many new questions to draw.  [default: {SAMPLE_SIZE} of a log, all of other files]",
)
@click.option("--seed", default=0, show_default=True, help="Another seed draws other questions.")
@grade_option(
    "--source-grade", GENERATED_GRADE, "suggested for the chunk a question was generated from"
)
@grade_option("--up", UP_GRADE, "that a thumb up suggests")
@grade_option("--down", DOWN_GRADE, "that a thumb down suggests")
@limit_option
@database_option
@click.pass_obj
def load_candidates(
    db: StoreLocation,
    path: Path,
    source: str,
    facets: tuple[str, ...],
    evenly: tuple[str, ...],
    most: int | None,
    seed: int,
    source_grade: int,
    up: int,
    down: int,
    limits: Limits,
) -> None:
    """Add questions that may become queries.

    JSONL, CSV or TSV with the question as query, text or question, or a .txt with one per line. A
    log may have a count, a date and buckets; generated questions have a chunk_id, thumbs a
    chunk_id and a vote. Questions with the same words are merged; one that a query asks already
    is counted with that query. Their grades are suggestions and never count.
    """
    check_target(db)
    with progress_bar(f"Reading {path.name}", then="Storing ...") as progress:
        put = import_export.read_candidates(
            path,
            source,
            facets=facets or None,
            evenly=evenly or None,
            most=most,
            seed=seed,
            proposing=SuggestionRule(source_grade, up, down),
            progress=progress,
            limits=limits,
        )
    with open_to_load(db) as store:
        reports = put(store)
    for report in reports:
        click.echo(report)


@click.command()
@click.argument("words", required=False, default="")
@click.option(
    "--from",
    "source",
    type=click.Choice(list(CANDIDATE_SOURCES)),
    help="Only those from this source.",
)
@click.option(
    "--state",
    type=click.Choice(CANDIDATE_STATES),
    default=CANDIDATE_STATES[0],
    show_default=True,
    help="Only those in this state.",
)
@most_option
@format_option(("table", "json", "jsonl"), "json and jsonl are for programs: all of each.", "form")
@database_option
@click.pass_obj
def candidates(
    db: StoreLocation, words: str, source: str | None, state: str, most: int | None, form: str
) -> None:
    """List questions that may become queries.

    The most frequent come first; with WORDS only those that contain them. "near" is the query
    with nearly the same words, and the share of words they have in common. 'labeler queries promote
    NUMBER' makes a query of one.
    """
    with Store(db) as store:
        most = count_listed(most, form)
        found, count = store.candidates.find(words, state=state, source=source, most=most)
        texts = {query.query_id: query.text for query in store.queries.all()}
    near = nearest_queries([each.text for each in found], texts)
    if form != "table":
        print_rows(form, map(_record, found, near))
        return
    if not found:
        click.echo("No candidate matches; 'labeler load candidates FILE --from log' loads some")
        return
    body = [_cells(each, alike) for each, alike in zip(found, near, strict=True)]
    headings = ["number", "from", "buckets", "near", "question"]
    print_list(Table(headings, ["asked"], body), count)


def _record(candidate: Candidate, alike: tuple[str, float] | None) -> Record:
    near, score = alike or (None, None)
    return {**asdict(candidate), "near": near, "nearness": score}


def _cells(candidate: Candidate, alike: tuple[str, float] | None) -> list[str]:
    buckets = ", ".join(candidate.usual_buckets().values())
    near = candidate.query_id or (f"{alike[0]} {alike[1]:.2f}" if alike else "")
    told = [
        shorten(escape_controls(text)) for text in (buckets, near, " ".join(candidate.text.split()))
    ]
    return [str(candidate.number), candidate.source, *told, f"{candidate.times:,}"]


@queries.command("promote")
@click.argument("number", type=int)
@click.option("--id", "query_id", help="The query's id.  [default: one made of its text]")
@click.option("--same-as", metavar="ID", help="Make no new query: this one asks the same.")
@database_option
@click.pass_obj
def promote_candidate(
    db: StoreLocation, number: int, query_id: str | None, same_as: str | None
) -> None:
    """Make a query of a candidate, by its number.

    The query gets the candidate's usual buckets, reference and keywords, and the grades suggested
    for it.
    """
    if query_id is not None and same_as is not None:
        raise click.UsageError("choose one of --id and --same-as")
    with Store(db) as store:
        if same_as is not None:
            store.candidates.link(number, same_as)
            taken = same_as
        else:
            query = import_export.query_from_candidate(store.candidates.get(number), query_id)
            store.candidates.take(number, query)
            taken = query.query_id
    say(f"candidate {number} is query {taken!r}")


@click.group(cls=LabelerGroup, hidden=True)
def take() -> None:
    """Make a query of a candidate: 'labeler queries promote'."""


keep_older_name(take, "candidate", promote_candidate)


@drop.command("candidates")
@number_argument
@database_option
@click.pass_obj
def drop_candidates(db: StoreLocation, numbers: Sequence[int]) -> None:
    """Set candidates aside, by their numbers.

    No later file brings them back; 'labeler restore candidates' does.
    """
    with Store(db) as store:
        moved = store.candidates.drop(numbers)
    click.echo(f"{moved:,} set aside; 'labeler restore candidates' takes them back")


@restore.command("candidates")
@number_argument
@database_option
@click.pass_obj
def restore_candidates(db: StoreLocation, numbers: Sequence[int]) -> None:
    """Reopen candidates that were set aside."""
    with Store(db) as store:
        moved = store.candidates.reopen(numbers)
    click.echo(f"{moved:,} candidates are open again")
