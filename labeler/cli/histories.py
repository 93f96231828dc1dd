"""``labeler history``: what became of a query, and what was said of one of its chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import click

from labeler.cli.audit import short
from labeler.cli.group import database_option, format_option, say
from labeler.cli.tables import Table, text_lines
from labeler.formats import event_fields
from labeler.model import CHANGES, QueryChange, legible
from labeler.store import Said, Store
from labeler.store.addresses import Place

DONE = {
    "grade": "graded",
    "import": "came with a file",
    "carry": "carried over",
    "adjudicate": "decided",
    "propose": "proposed",
    "cannot_tell": "can't tell",
    "withdraw": "taken back",
}


@click.command()
@click.argument("query_id", metavar="ID")
@click.option(
    "--chunk",
    "chunk_id",
    metavar="CHUNK",
    help="Say what was said of this chunk for the query, and which grade counts.",
)
@format_option(("table", "jsonl"), "jsonl is for programs: all of each event, whole.", "form")
@database_option
@click.pass_obj
def history(db: Place, query_id: str, chunk_id: str | None, form: str) -> None:
    """Say where a query came from, and what was changed of it.

    By whom, when, and from what to what; the newest first. With --chunk: every judgment of that
    chunk for the query, by whom, when, and the passages that made it. A grade that was carried
    over is followed back to the judgments it rests on.
    """
    with Store(db) as store:
        if chunk_id is not None:
            _print_judgments(store, query_id, chunk_id, form)
            return
        origin, changes = store.origin_of(query_id), store.history_of(query_id)
    if form == "jsonl":
        for change in changes:
            click.echo(json.dumps(change.as_dict(), ensure_ascii=False))
        return
    body = [row for change in changes for row in _rows(change)]
    if body:
        headings = ["when (UTC)", "who", "what", "field", "was", "became"]
        click.echo("\n".join([*text_lines(Table(headings, [], body)), ""]))
    say(f"query {query_id!r} came from: {origin}")


def _rows(change: QueryChange) -> list[list[str]]:
    done = CHANGES[change.kind] + (f" {change.file}" if change.file else "")
    return [
        [_minute(change.at), *(short(legible(text)) for text in (change.who or "", done, *field))]
        for field in change.fields()
    ]


def _minute(moment: str) -> str:
    return moment[:19].replace("T", " ")


def _print_judgments(store: Store, query_id: str, chunk_id: str, form: str) -> None:
    said, golden = store.said_of(query_id, chunk_id)
    if form == "jsonl":
        for each in said:
            click.echo(json.dumps(event_fields(each.event), ensure_ascii=False))
        return
    at = {each.event.event_id: each.event.created_at or "" for each in said}
    body = [_judgment_row(each, at) for each in reversed(said)]
    if body:
        headings = ["when (UTC)", "who", "what", "grade", "marked", "note"]
        click.echo("\n".join([*text_lines(Table(headings, [], body)), ""]))
    counts = "no grade counts" if golden is None else f"the golden grade is {golden}"
    say(f"chunk {chunk_id!r} for query {query_id!r}: {counts}")
    for line in _trail(store, query_id, chunk_id):
        say(line)


def _judgment_row(said: Said, at: Mapping[str, str]) -> list[str]:
    event = said.event
    who = ", ".join((event.grader,) if event.grader else event.graders)
    done = DONE[event.kind]
    if event.undoes is not None:
        done = f"takes back what was said {_minute(at[event.undoes])}"
    marked = _quoted(said.words) or ("(in an earlier text)" if event.evidence else "")
    grade = "" if event.grade is None else str(event.grade)
    cells = (who, done, grade, marked, event.note or event.reason or "")
    return [_minute(event.created_at or ""), *(short(legible(text)) for text in cells)]


def _trail(store: Store, query_id: str, chunk_id: str) -> Iterator[str]:
    """Give what a carried grade rests on, with what is marked there."""
    for each in store.carried_grades(query_id):
        if each.chunk_id == chunk_id:
            yield f"carried over: {each.why}"
            for base in each.bases:
                marked = _quoted(store.marked_by(query_id, base))
                yield f"rests on {base.in_words}{f', marked: {marked}' if marked else ''}"


def _quoted(words: Sequence[str]) -> str:
    return " ".join(f"\u201c{each}\u201d" for each in words)
