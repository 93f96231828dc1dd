"""``labeler audit``: who did what, for people as a table, for programs as JSONL."""

from __future__ import annotations

import json

import click

from labeler.cli.group import database_option, format_option
from labeler.cli.tables import Table, text_lines
from labeler.model import AUDITED, WAYS, AuditEntry, legible
from labeler.store import Store
from labeler.store.addresses import Place

LONGEST_CELL = 60


@click.command()
@click.argument("words", required=False, default="")
@click.option("--kind", type=click.Choice(list(AUDITED)), help="Only entries of this kind.")
@click.option(
    "--most", type=click.IntRange(1), default=50, show_default=True, help="How many to list."
)
@format_option(
    ("table", "jsonl"), "jsonl is for programs: every entry, whole, the oldest first.", name="form"
)
@database_option
@click.pass_obj
def audit(db: Place, words: str, kind: str | None, most: int, form: str) -> None:
    """List who did what: sign-ins, loads, exports and more.

    The newest first; with WORDS only what holds them. Entries are added and never changed.
    """
    with Store(db) as store:
        if form == "jsonl":
            found, count = store.audited(words, kind=kind, most=-1)
            for entry in reversed(found):
                click.echo(json.dumps(entry.as_dict()))
            return
        found, count = store.audited(words, kind=kind, most=most)
    if not found:
        click.echo("Nothing in the audit is like that.")
        return
    headings = ["when (UTC)", "who", "from", "what", "of", "more"]
    click.echo("\n".join(text_lines(Table(headings, [], [*map(cells, found)]))))
    if count > len(found):
        click.echo(f"... and {count - len(found):,} more; --most lists them")


def cells(entry: AuditEntry) -> list[str]:
    """Return an entry as the table shows it."""
    origin = entry.address or WAYS.get(entry.way, entry.way)
    texts = [entry.by, origin, entry.subject or "", entry.more]
    who, origin, subject, more = (short(legible(text)) for text in texts)
    times = f", {entry.count:,} times" if entry.count > 1 else ""
    when = entry.at[:19].replace("T", " ")
    return [when, who, origin, AUDITED.get(entry.kind, legible(entry.kind)) + times, subject, more]


def short(text: str) -> str:
    """Return a text that leaves room for others on its line."""
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"
