"""``labeler split``: queries for development, for tests, and held out of both."""

from __future__ import annotations

from collections import Counter

import click

from labeler.cli.group import database_option
from labeler.errors import NotFound
from labeler.model import SPLITS
from labeler.services.candidates.splitting import assigned
from labeler.store import Store
from labeler.store.addresses import Place


@click.command()
@click.option("--dev", type=float, default=60, show_default=True, help="Percent of the queries.")
@click.option("--test", type=float, default=20, show_default=True, help="Percent of the queries.")
@click.option(
    "--held-out", type=float, default=20, show_default=True, help="Percent of the queries."
)
@click.option("--seed", default="0", show_default=True, help="Another seed draws another split.")
@click.option(
    "--anew", is_flag=True, help="Draw for all queries, also for those that have a split."
)
@database_option
@click.pass_obj
def split(db: Place, dev: float, test: float, held_out: float, seed: str, anew: bool) -> None:
    """Put queries into dev, test and held-out at random.

    A query's id and the seed alone draw, so that queries that come later move no other. Those that
    are nearly the same as an earlier one go where that is. A query that has a split keeps it,
    unless --anew is said.
    """
    shares = dict(zip(SPLITS, (dev, test, held_out), strict=True))
    with Store(db) as store:
        queries = store.queries()
        if not queries:
            raise NotFound("there are no queries yet; add some with 'labeler load queries FILE'")
        found = assigned(queries, shares, seed, anew=anew)
        store.set_splits(found, {**shares, "seed": seed})
        sizes = store.split_sizes()
    drawn = Counter(found.values())
    for name in SPLITS:
        click.echo(
            f"{name:<8}  {sizes.get(name, 0):>6,} queries, {drawn[name]:,} of them drawn now"
        )
