"""``labeler copy``: moves a golden set from a file to a database, or back."""

from __future__ import annotations

import click

from labeler.cli.group import GOLDEN_SET
from labeler.cli.whole import building, is_new
from labeler.errors import BadInput
from labeler.store import Store
from labeler.store.addresses import Place


@click.command("copy")
@click.argument("source", metavar="FROM", type=GOLDEN_SET)
@click.argument("target", metavar="TO", type=GOLDEN_SET)
def copy(source: Place, target: Place) -> None:
    """Copy a golden set into a new file or an empty database.

    Whole or not at all. FROM and TO are files or addresses, postgresql://USER@HOST/DATABASE. The
    copy has the same judgments under the same numbers, the same seals, the same people and keys
    and the same hash: stop the server before, and start it with --db TO after, so that nobody
    grades on in FROM.
    """
    with Store(source) as there:
        if not is_new(target):
            raise BadInput(
                f"{target}: there is a golden set already; name a new file or an empty database"
            )
        with building(target) as store:
            golden = store.become(there)
            judgments = store.revision()
    click.echo(f"{target}: {judgments:,} judgments, golden set {golden[:16]}, as in {source}")
