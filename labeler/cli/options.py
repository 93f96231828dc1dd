"""Options that several commands share: golden set, split, leaks, chunking, undefined, weights.

Most put their value into click's context and not into a parameter, so that a command need not
pass them on: `selection` and the ``requested_*`` functions read it there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta

import click

from labeler.cli.groups import CommandT
from labeler.evaluation import NOT_WEIGHTED, Note, Scoreboard, Undefined
from labeler.model import EVERYTHING, LEAKED_CHOICES, SPLITS, Selection, Traffic, traffic_of_facet
from labeler.store import Store

GOLDEN_HELP = (
    "Count by the golden set as it was frozen under this name, or with this hash.  "
    "[default: the live one]"
)


def golden_option(command: CommandT) -> CommandT:
    """Let the user name a frozen version; `labeler.services.import_export.snapshots.collection_of`
    takes what is named.
    """
    return click.option("--golden", metavar="NAME|HASH", help=GOLDEN_HELP)(command)


SELECTION_KEY = "labeler.selection"


def _remember_selection(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        chosen = context.meta.get(SELECTION_KEY, EVERYTHING)
        context.meta[SELECTION_KEY] = replace(chosen, **{str(option.name): value})


SELECTION_OPTIONS = (
    click.option(
        "--split",
        type=click.Choice(SPLITS),
        expose_value=False,
        callback=_remember_selection,
        help="Only the queries of this split; 'labeler split' assigns them.",
    ),
    click.option(
        "--leaked",
        type=click.Choice(LEAKED_CHOICES),
        expose_value=False,
        callback=_remember_selection,
        help="With the queries marked as leaked, without them, or only those; 'labeler leakage' "
        "marks them.  [default: with]",
    ),
)


def _remember_chunking(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value is not None:
        chosen = context.meta.get(SELECTION_KEY, EVERYTHING)
        context.meta[SELECTION_KEY] = replace(chosen, chunkings=(value,))


def make_chunking_option(says: str) -> Callable[[CommandT], CommandT]:
    """Return the option that selects a chunking, with what it does to a command."""
    return click.option(
        "--chunking",
        metavar="NAME",
        expose_value=False,
        callback=_remember_chunking,
        help=f"{says}; '' is the unnamed one.",
    )


chunking_option = make_chunking_option("The runs of this chunking alone")


def selection() -> Selection:
    """Return which queries the command's options ask for, all where it has none of these."""
    context = click.get_current_context(silent=True)
    found: Selection = (
        EVERYTHING if context is None else context.meta.get(SELECTION_KEY, EVERYTHING)
    )
    return found


UNDEFINED_KEY = "labeler.undefined"
UNDEFINED_VALUES: Mapping[str, Undefined] = {"nan": "nan", "0": 0, "1": 1}


def _remember_undefined(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[UNDEFINED_KEY] = UNDEFINED_VALUES[value]


undefined_option = click.option(
    "--undefined",
    type=click.Choice(list(UNDEFINED_VALUES)),
    expose_value=False,
    callback=_remember_undefined,
    help="What a query counts for which nothing is relevant; nan leaves it out.  [default: what "
    "the preset says]",
)


def requested_undefined() -> Undefined | None:
    """Return what the command's option asks for, None where it has none."""
    context = click.get_current_context(silent=True)
    found: Undefined | None = None if context is None else context.meta.get(UNDEFINED_KEY)
    return found


WEIGHTED_KEY = "labeler.weighted"
WEIGHTED_HELP = (
    "Weight queries so that the buckets of this facet count as often as they are asked for in the "
    "logs that were loaded."
)


def weighted_option(command: CommandT) -> CommandT:
    """Let the user name a facet; `requested_traffic` tells what it comes to."""

    def remember(context: click.Context, _: click.Parameter, value: str | None) -> None:
        context.meta[WEIGHTED_KEY] = value

    return click.option(
        "--weighted", metavar="FACET", expose_value=False, callback=remember, help=WEIGHTED_HELP
    )(command)


def requested_traffic(store: Store, **others: object) -> Traffic | None:
    """Return the traffic that the command's option asks for, None where means are plain.

    Raises a usage error beside ``others``, options that are given and do not go with weights.
    """
    context = click.get_current_context(silent=True)
    facet = None if context is None else context.meta.get(WEIGHTED_KEY)
    if facet is None:
        return None
    for name, given in others.items():
        if given:
            option = f"--{name.replace('_', '-')}"
            raise click.UsageError(f"--weighted is of means, and does not go with {option}")
    return traffic_of_facet(facet, store.batches())


def with_weights(board: Scoreboard, traffic: Traffic | None) -> tuple[Scoreboard, list[Note]]:
    """Return a board with the means asked for, and what is not said of weighted ones."""
    if traffic is None:
        return board, []
    return board.weighted_by(traffic), [Note("not weighted", NOT_WEIGHTED)]


UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
SHORTEST_DURATION, LONGEST_DURATION = timedelta(seconds=10), timedelta(days=365)


def parse_duration(_: click.Context, option: click.Parameter, text: str | None) -> timedelta | None:
    """Return the time that a number and its unit say: ``90s``, ``15m``, ``2h``, ``1d``."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,7})([smhd])", text.strip(), re.ASCII)
    if found is None:
        raise click.BadParameter(f"{text!r} is no length of time; write it like 15m, 2h or 1d")
    every = timedelta(seconds=int(found[1]) * UNIT_SECONDS[found[2]])
    if not SHORTEST_DURATION <= every <= LONGEST_DURATION:
        raise click.BadParameter(f"{text!r}: from 10s to 365d")
    return every
