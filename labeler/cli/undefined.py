"""``--undefined``: what a query counts for which nothing is relevant; computes no value."""

from __future__ import annotations

from collections.abc import Mapping

import click

from labeler.evaluation import Undefined

ASKED = "labeler.undefined"
CHOICES: Mapping[str, Undefined] = {"nan": "nan", "0": 0, "1": 1}


def _remember(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        context.meta[ASKED] = CHOICES[value]


undefined_option = click.option(
    "--undefined",
    type=click.Choice(list(CHOICES)),
    expose_value=False,
    callback=_remember,
    help="What a query counts for which nothing is relevant; nan leaves it out.  [default: what "
    "the preset says]",
)


def undefined_asked() -> Undefined | None:
    """Return what the command's option asks for, None where it has none."""
    context = click.get_current_context(silent=True)
    found: Undefined | None = None if context is None else context.meta.get(ASKED)
    return found
