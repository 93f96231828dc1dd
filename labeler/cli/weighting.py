"""``--weighted``: means by how often each bucket of a facet is asked for; computes none itself."""

from __future__ import annotations

import click

from labeler.cli.group import CommandT
from labeler.evaluation import NOT_WEIGHTED, Note, Scoreboard
from labeler.model import Traffic, traffic_by
from labeler.store import Store

WEIGHTED = "labeler.weighted"
HELP = (
    "Weight queries so that the buckets of this facet count as often as they are asked for in the "
    "logs that were loaded."
)


def weighted_option(command: CommandT) -> CommandT:
    """Let the user name a facet; `traffic_asked` tells what it comes to."""

    def remember(context: click.Context, _: click.Parameter, value: str | None) -> None:
        context.meta[WEIGHTED] = value

    return click.option(
        "--weighted", metavar="FACET", expose_value=False, callback=remember, help=HELP
    )(command)


def traffic_asked(store: Store, **others: object) -> Traffic | None:
    """Return the traffic that the command's option asks for, None where means are plain.

    Raises a usage error beside ``others``, options that are given and do not go with weights.
    """
    context = click.get_current_context(silent=True)
    facet = None if context is None else context.meta.get(WEIGHTED)
    if facet is None:
        return None
    for name, given in others.items():
        if given:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"--weighted is of means, and does not go with {option}")
    return traffic_by(facet, store.batches())


def weighed(board: Scoreboard, traffic: Traffic | None) -> tuple[Scoreboard, list[Note]]:
    """Return a board with the means asked for, and what is not said of weighted ones."""
    if traffic is None:
        return board, []
    return board.weighing(traffic), [Note("not weighted", NOT_WEIGHTED)]
