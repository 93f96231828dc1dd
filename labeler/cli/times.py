"""A length of time as it is typed, for every option that takes one."""

from __future__ import annotations

import re
from datetime import timedelta

import click

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
LEAST, MOST = timedelta(seconds=10), timedelta(days=365)


def duration(_: click.Context, option: click.Parameter, text: str | None) -> timedelta | None:
    """Return the time that a number and its unit say: ``90s``, ``15m``, ``2h``, ``1d``."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,7})([smhd])", text.strip(), re.ASCII)
    if found is None:
        raise click.BadParameter(f"{text!r} is no length of time; write it like 15m, 2h or 1d")
    every = timedelta(seconds=int(found[1]) * SECONDS[found[2]])
    if not LEAST <= every <= MOST:
        raise click.BadParameter(f"{text!r}: from 10s to 365d")
    return every
