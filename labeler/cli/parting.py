"""``labeler trend --between``: whose doing a change between two runs was, measure by measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from labeler.analysis import trend
from labeler.analysis.trend import Parts
from labeler.cli.scoring import chosen, print_records, print_table
from labeler.cli.tables import FOR_PROGRAMS, Table
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Note, Scoreboard, number, signed
from labeler.measures import Measure
from labeler.model import Collection, chunking_in_words
from labeler.services.import_export import freezing
from labeler.store import Store


def split(
    store: Store,
    collection: Collection,
    conventions: Conventions,
    measures: Sequence[Measure],
    between: tuple[str, str],
    graded_by: str | None,
    within: tuple[str, str] | None,
) -> tuple[list[Parts], list[Note]]:
    """Split the change between two runs, by the grades of a day and those of now."""
    older, newer = between
    pair = chosen(collection, between)
    check_chunkings(pair)
    frozen = conventions.frozen
    now = "of now" if frozen is None else f"frozen as {frozen!r}"
    then, rule, by = graded_then(store, pair, graded_by, now)
    earlier = replace(conventions, golden_rule=rule or conventions.golden_rule)
    boards = Scoreboard(then, earlier), Scoreboard(pair, conventions)
    notes = [Note("grades", by), Note("order", trend.ORDER)]
    notes += [Note("buckets", "which bucket a query is in is as it is now")] if within else []
    every = boards[1].resolve(measures)
    return [trend.part(*boards, older, newer, measure, within) for measure in every], notes


def check_chunkings(pair: Collection) -> None:
    """Raise `BadInput` for runs of two chunkings, whose grades are of different chunks."""
    older, newer = (chunking_in_words(run.chunking) for run in pair.runs)
    if older != newer:
        raise BadInput(
            f"run {pair.runs[0].name!r} is of {older} and {pair.runs[1].name!r} of {newer}: a "
            "change is split between runs of one chunking; 'labeler compare' holds these together"
        )


def graded_then(
    store: Store, pair: Collection, graded_by: str | None, now: str
) -> tuple[Collection, str | None, str]:
    """Return the older run by the grades of a day or of a frozen version, and which these are.

    With the rule by which several people's grades became one there, None where it is that of now.
    ``now`` says by which grades the newer run is.
    """
    older = pair.runs[0]
    said = graded_by or older.created_at
    if not said:
        raise BadInput(f"run {older.name!r} has no date: name a day with --grades 2026-01-31")
    by = f"the older run is by the grades of {said} (UTC), the newer by those {now}"
    if graded_by is not None and graded_by in [each.name for each in store.versions()]:
        frozen, settings = freezing.collection_of(store, graded_by)
        by = f"the older run is by the golden set frozen as {graded_by!r}"
        return chosen(frozen, [older.name]), settings.golden_rule, by
    until = trend.end_of(said)
    then = store.collection_at(until, [older.name])
    if graded_by is not None or len(then.golden_grade):
        return then, store.rule_at(until), by
    first = store.first_judgment_at() or "never"
    by = (
        f"nothing was graded yet by {said} (the first grade is of {first[:10]}), so both runs "
        f"are by the grades {now}; --grades names another day"
    )
    return replace(pair, runs=pair.runs[:1]), None, by


def print_parts(
    parts: Sequence[Parts],
    conventions: Conventions,
    notes: Sequence[Note],
    kind: str,
    *,
    raw: bool,
) -> None:
    """Print a row for each measure."""
    if kind in FOR_PROGRAMS:
        print_records(kind, trend.part_records(parts), None, conventions, notes, raw=raw)
        return
    numbers = ["before", "of the run", "of grades and rule", "of the queries", "now"]
    lines = [
        [
            conventions.heading(each.measure),
            number(each.before),
            *map(signed, (each.run, each.grades, each.queries)),
            number(each.now),
            *map(str, (each.n_before, each.n_now, each.n_both)),
        ]
        for each in parts
    ]
    table = Table(["measure"], [*numbers, "n before", "n now", "n both"], lines)
    why = dict.fromkeys(each.reason for each in parts if each.reason)
    print_table(table, conventions, [*(Note("reason", said) for said in why), *notes], kind)
