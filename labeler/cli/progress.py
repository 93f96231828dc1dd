"""A bar on the terminal for work that takes long; silent in a pipe and for short work."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import click

PATIENCE_SECONDS = 1.0


@contextmanager
def progress_bar(label: str, *, then: str) -> Iterator[Callable[[float], None] | None]:
    """Give a function that is told the share done, from 0 to 1; None where nobody would see it.

    The bar appears on the standard error once the work has taken `PATIENCE_SECONDS`; after such
    work ``then`` says what comes next.
    """
    if not sys.stderr.isatty():
        yield None
        return
    started = time.monotonic()
    bars: list[Any] = []
    with ExitStack() as open_bars:

        def tell(share: float) -> None:
            if not bars and time.monotonic() - started > PATIENCE_SECONDS:
                bar = click.progressbar(length=1000, label=label, file=sys.stderr)
                bars.append(open_bars.enter_context(bar))
            for bar in bars:
                bar.update(round(share * 1000) - bar.pos)

        yield tell
    if bars:
        click.echo(then, err=True)
