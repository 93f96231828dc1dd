"""``labeler freeze`` and ``versions``: golden sets that never change again, and what changed."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from labeler import freezing
from labeler.cli.group import database_option, say
from labeler.cli.tables import Table, text_lines
from labeler.model import SHORT, Version, legible
from labeler.store import Store


@click.command()
@click.argument("name")
@click.option("--note", help="What is to be known of it.")
@database_option
@click.pass_obj
def freeze(db: Path, name: str, note: str | None) -> None:
    """Keep the golden set as it is now under NAME, for good.

    Grading goes on, and what is frozen stays: 'score --golden NAME' gives the same numbers for the
    same run, whatever is graded later.
    """
    with Store(db) as store:
        version = freezing.freeze(store, name, note)
    say(f"{version.name}: {version.queries:,} queries, {version.grades:,} golden grades")
    click.echo(f"golden: {version.hash}")


@click.command()
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="json is for programs: every digit of the hashes.",
)
@database_option
@click.pass_obj
def versions(db: Path, form: str) -> None:
    """List the frozen versions, the oldest first.

    Below them stands the hash of the golden set as it is now.
    """
    with Store(db) as store:
        found, now = store.versions(), store.golden_state()
    if form == "json":
        rows = [asdict(version) for version in found]
        click.echo(json.dumps({"live": now.hash, "versions": rows}, ensure_ascii=False, indent=1))
        return
    if found:
        headings = ["version", "golden", "frozen (UTC)", "by", "note"]
        body = [_cells(version, now.hash) for version in found]
        click.echo("\n".join(text_lines(Table(headings, ["queries", "grades"], body))))
    else:
        click.echo("Nothing is frozen yet: labeler freeze NAME")
    same = [legible(version.name) for version in found if version.hash == now.hash]
    as_is = f", as {', '.join(same)}" if same else ""
    click.echo(f"\nlive: golden {now.hash}{as_is}")


def _cells(version: Version, now: str) -> list[str]:
    texts = (version.name, version.hash[:SHORT], version.at[:16].replace("T", " "))
    more = (version.by or "", version.note or "")
    return [*map(legible, (*texts, *more)), f"{version.queries:,}", f"{version.grades:,}"]
