"""Reports of loads: what was in a file, and what was stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from labeler.model import Loaded, LoadReport

EMPTY: Mapping[str, int] = MappingProxyType({})


def load_report(
    title: str,
    loaded: Loaded[Any],
    counts: Mapping[str, int],
    facts: Mapping[str, int] = EMPTY,
    warned: Iterable[str] = (),
) -> LoadReport:
    """Return the report of a load: the facts, counts and warnings of a file."""
    return LoadReport(
        f"{title} from {loaded.source}",
        {**loaded.facts, **counts, **facts},
        (*loaded.warnings, *warned),
        has_changed(counts),
    )


def has_changed(counts: Mapping[str, int]) -> bool:
    """Return whether a load stored anything new: a count that does not say "already"."""
    return any(count and "already" not in what for what, count in counts.items())
