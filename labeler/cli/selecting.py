"""``--split``, ``--leaked`` and ``--chunking``: what numbers are of; reads no golden set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import click

from labeler.cli.group import CommandT
from labeler.model import EVERYTHING, LEAKED, SPLITS, Selection

SELECTION = "labeler.selection"


def _remember(context: click.Context, option: click.Parameter, value: str | None) -> None:
    if value is not None:
        chosen = context.meta.get(SELECTION, EVERYTHING)
        context.meta[SELECTION] = replace(chosen, **{str(option.name): value})


SELECTION_OPTIONS = (
    click.option(
        "--split",
        type=click.Choice(SPLITS),
        expose_value=False,
        callback=_remember,
        help="Only the queries of this split; 'labeler split' assigns them.",
    ),
    click.option(
        "--leaked",
        type=click.Choice(LEAKED),
        expose_value=False,
        callback=_remember,
        help="With the queries marked as leaked, without them, or only those; 'labeler leakage' "
        "marks them.  [default: with]",
    ),
)


def _remember_chunking(context: click.Context, _option: click.Parameter, value: str | None) -> None:
    if value is not None:
        chosen = context.meta.get(SELECTION, EVERYTHING)
        context.meta[SELECTION] = replace(chosen, chunkings=(value,))


def chunking_option_that(says: str) -> Callable[[CommandT], CommandT]:
    """Return the option that selects a chunking, with what it does to a command."""
    return click.option(
        "--chunking",
        metavar="NAME",
        expose_value=False,
        callback=_remember_chunking,
        help=f"{says}; '' is the unnamed one.",
    )


chunking_option = chunking_option_that("The runs of this chunking alone")


def selection() -> Selection:
    """Return which queries the command's options ask for, all where it has none of these."""
    context = click.get_current_context(silent=True)
    found: Selection = EVERYTHING if context is None else context.meta.get(SELECTION, EVERYTHING)
    return found
