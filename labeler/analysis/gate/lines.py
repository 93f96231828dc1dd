"""On which line of a TOML text a key stands; knows no gate."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

MOST_TRIED = 200  # places where a key could stand: each is tried by reading all above it
MOST_OPEN = 50  # lines over which a value may go


def line_of(text: str, keys: Sequence[str]) -> int:
    """Return the line, from 1, on which the value that ``keys`` lead to is given.

    1 where that cannot be told, as for a key that is written with escapes.

    >>> line_of("[a]\\nb = 1\\n[c]\\nb = 2", ["c", "b"])
    4
    """
    lines = text.splitlines()
    there = [at for at, line in enumerate(lines) if keys[-1] in line]
    for at in there[:MOST_TRIED]:
        if _holds(_read_to(lines, at), keys):
            return at + 1
    return 1


def _read_to(lines: Sequence[str], at: int) -> object:
    """Return what a text says up to a line, and on until what is open there is closed."""
    for end in range(at + 1, min(at + MOST_OPEN, len(lines)) + 1):
        try:
            return tomllib.loads("\n".join(lines[:end]))
        except ValueError:  # not whole yet
            continue
    return None


def _holds(found: object, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(found, dict) or key not in found:
            return False
        found = found[key]
    return True
