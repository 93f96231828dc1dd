"""``labeler upgrade``: convert a golden set of the last development version to this version."""

from __future__ import annotations

import click

from labeler.cli.atomic_output import is_new, new_golden_set
from labeler.cli.groups import GOLDEN_SET
from labeler.errors import BadInput
from labeler.store.addresses import StoreLocation, require_file
from labeler.store.schema import COPY_FIRST


@click.command()
@click.argument("old", type=GOLDEN_SET)
@click.argument("new", type=GOLDEN_SET)
def upgrade(old: StoreLocation, new: StoreLocation) -> None:
    """Make a golden set of this version from an older file.

    OLD is a file of the last development version and is only read. NEW is a new file or an empty
    database. It gets all that is in OLD: judgments under their numbers, runs, people and their
    links, settings, versions, signals, candidates, the audit and the tamper check. Stop the server
    first, and start it with --db NEW afterwards.
    """
    from labeler.store.upgrade import upgrade as upgrade_into

    source = require_file(old, COPY_FIRST)
    if not is_new(new):
        raise BadInput(
            f"{new}: there is a golden set already; name a new file or an empty database"
        )
    with new_golden_set(new) as store:
        upgrade_into(source, store.connection)
        judgments, golden = store.judgments.revision(), store.collection.golden_state().hash
    click.echo(f"{new}: {judgments:,} judgments, golden set {golden[:16]}, from {old}")
