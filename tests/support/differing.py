"""Differences of two recorded outputs, but for words that were renamed on purpose."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from pathlib import Path

MOST_LINES, MOST_LETTERS = 40, 300  # that are shown of one output

Words = Mapping[str, str]


def read_renamed(path: Path) -> Words:
    """Read the words that were renamed: lines such as ``old -> new``; ``#`` begins a comment."""
    lines = (line.split("#")[0] for line in path.read_text(encoding="utf-8").splitlines())
    pairs = (line.partition("->") for line in lines if "->" in line)
    return {old.strip(): new.strip() for old, _, new in pairs}


def difference(before: Path, after: Path, renamed: Words) -> list[str]:
    """Return the first lines in which two outputs differ; none where they are equal."""
    if not (before.exists() and after.exists()):
        return [f"--- {before.name}: only {'before' if before.exists() else 'after'}"]
    old, new = (path.read_text(encoding="utf-8") for path in (before, after))
    sides = old, new
    if renamed:
        sides = _narrowed(_with_new_words(old, renamed)), _narrowed(new)
    lines = [side.split("\n") for side in sides]
    if lines[0] == lines[1]:
        return []
    names = f"before/{before.name}", f"after/{after.name}"
    found = list(difflib.unified_diff(*lines, *names, n=1, lineterm=""))
    shown = [_shortened(line) for line in found[:MOST_LINES]]
    left = len(found) - len(shown)
    return [*shown, f"… and {left:,} lines more"] if left else shown


def _with_new_words(text: str, renamed: Words) -> str:
    """Replace words that stand alone, the longest first."""
    words = "|".join(map(re.escape, sorted(renamed, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{words})(?!\w)", lambda found: renamed[found[0]], text)


def _narrowed(text: str) -> str:
    """Make runs of blanks and rules equally long: a longer word makes a column wider."""
    return re.sub(r" {2,}", "  ", re.sub(r"-{3,}", "---", text))


def _shortened(line: str) -> str:
    return line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}…"
