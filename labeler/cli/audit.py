"""``labeler audit`` and ``history``: who did what, and the history of a query or a grade."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import click

from labeler.cli.groups import database_option, format_option, say
from labeler.cli.output import (
    Table,
    count_listed,
    most_option,
    print_list,
    print_rows,
    shorten,
    text_lines,
)
from labeler.formats import event_fields
from labeler.model import (
    AUDIT_KINDS,
    IDENTIFICATION_LABELS,
    QUERY_CHANGES,
    AuditEntry,
    QueryChange,
    escape_controls,
    undone_load,
)
from labeler.store import MarkedJudgment, Store
from labeler.store.addresses import StoreLocation


@click.command()
@click.argument("words", required=False, default="")
@click.option("--kind", type=click.Choice(list(AUDIT_KINDS)), help="Only entries of this kind.")
@most_option
@format_option(
    ("table", "json", "jsonl"),
    "json and jsonl are for programs: every entry, whole, the oldest first.",
    "form",
)
@database_option
@click.pass_obj
def audit(db: StoreLocation, words: str, kind: str | None, most: int | None, form: str) -> None:
    """List who did what: sign-ins, loads, exports and more.

    Newest first; with WORDS only entries that contain them. Entries are added and never
    changed.
    """
    with Store(db) as store:
        found, count = store.audit.search(words, kind=kind, most=count_listed(most, form))
    if form != "table":
        print_rows(form, (entry.as_dict() for entry in reversed(found)))
        return
    if not found:
        click.echo("No entry of the audit matches.")
        return
    headings = ["when (UTC)", "who", "from", "what", "of", "more"]
    print_list(Table(headings, [], [*map(audit_cells, found)]), count)


def audit_cells(entry: AuditEntry) -> list[str]:
    """Return an entry as the table shows it."""
    origin = entry.address or IDENTIFICATION_LABELS.get(entry.way, entry.way)
    texts = [entry.by, origin, entry.subject or "", entry.more]
    who, origin, subject, more = (shorten(escape_controls(text)) for text in texts)
    times = f", {entry.count:,} times" if entry.count > 1 else ""
    return [
        _second(entry.at),
        who,
        origin,
        AUDIT_KINDS.get(entry.kind, escape_controls(entry.kind)) + times,
        subject,
        more,
    ]


EVENT_WORDS = {
    "grade": "graded",
    "import": "came with a file",
    "carry": "transferred",
    "adjudicate": "decided",
    "propose": "proposed",
    "cannot_tell": "can't tell",
    "withdraw": "undone",
}


@click.command()
@click.argument("query_id", metavar="ID")
@click.option(
    "--chunk",
    "chunk_id",
    metavar="CHUNK",
    help="Print the judgments of this chunk for the query, and which grade counts.",
)
@format_option(
    ("table", "json", "jsonl"), "json and jsonl are for programs: all of each event, whole.", "form"
)
@database_option
@click.pass_obj
def history(db: StoreLocation, query_id: str, chunk_id: str | None, form: str) -> None:
    """Print where a query came from and what was changed.

    Who changed what and when, newest first. With --chunk: every judgment of that chunk for the
    query, by whom, when, and with the marked passages. A transferred grade is followed back to
    the judgments it rests on.
    """
    with Store(db) as store:
        if chunk_id is not None:
            _print_judgments(store, query_id, chunk_id, form)
            return
        origin, changes = store.history.origin_of(query_id), store.history.of(query_id)
    if form != "table":
        print_rows(form, (change.as_dict() for change in changes))
        return
    body = [row for change in changes for row in _change_rows(change)]
    if body:
        headings = ["when (UTC)", "who", "what", "field", "was", "became"]
        click.echo("\n".join([*text_lines(Table(headings, [], body)), ""]))
    say(f"query {query_id!r} came from: {origin}")


def _change_rows(change: QueryChange) -> list[list[str]]:
    done = QUERY_CHANGES[change.kind] + (f" {change.file}" if change.file else "")
    return [
        [
            _second(change.at),
            *(shorten(escape_controls(text)) for text in (change.who or "", done, *field)),
        ]
        for field in change.fields()
    ]


def _second(moment: str) -> str:
    return moment[:19].replace("T", " ")


def _print_judgments(store: Store, query_id: str, chunk_id: str, form: str) -> None:
    said, golden = store.transfers.said_of(query_id, chunk_id)
    if form != "table":
        print_rows(form, (event_fields(each.event) for each in said))
        return
    at = {each.event.event_id: each.event.created_at or "" for each in said}
    body = [_judgment_row(each, at) for each in reversed(said)]
    if body:
        headings = ["when (UTC)", "who", "what", "grade", "marked", "note"]
        click.echo("\n".join([*text_lines(Table(headings, [], body)), ""]))
    counts = "no grade counts" if golden is None else f"the golden grade is {golden}"
    say(f"chunk {chunk_id!r} for query {query_id!r}: {counts}")
    for line in _transfer_sources(store, query_id, chunk_id):
        say(line)


def _judgment_row(said: MarkedJudgment, at: Mapping[str, str]) -> list[str]:
    event = said.event
    who = ", ".join((event.grader,) if event.grader else event.graders)
    done = EVENT_WORDS[event.kind]
    if event.undoes is not None:
        undone = f"the judgment of {_second(at[event.undoes])}"
        done = f"undoes {undone}"
        if (load := undone_load(event.source)) is not None:
            who, done = (
                "",
                f"load {load} is undone: {undone}",
            )
    marked = _quoted(said.words) or ("(in an earlier text)" if event.evidence else "")
    grade = "" if event.grade is None else str(event.grade)
    cells = (who, done, grade, marked, event.note or event.reason or "")
    return [_second(event.created_at or ""), *(shorten(escape_controls(text)) for text in cells)]


def _transfer_sources(store: Store, query_id: str, chunk_id: str) -> Iterator[str]:
    """Yield the judgments that a transferred grade rests on, with the words marked there."""
    for each in store.transfers.grades(query_id):
        if each.chunk_id == chunk_id:
            yield f"transferred: {each.why}"
            for base in each.bases:
                marked = _quoted(store.transfers.marked_by(query_id, base))
                yield f"rests on {base.in_words}{f', marked: {marked}' if marked else ''}"


def _quoted(words: Sequence[str]) -> str:
    return " ".join(f"\u201c{each}\u201d" for each in words)
