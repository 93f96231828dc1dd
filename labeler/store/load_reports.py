"""Reports of loads: what was in a file, and what came of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from labeler.model import Loaded, LoadReport


def load_report(title: str, loaded: Loaded[Any], counts: Mapping[str, int]) -> LoadReport:
    """Return what was in a file and what came of it."""
    return LoadReport(
        f"{title} from {loaded.source}",
        {**loaded.facts, **counts},
        loaded.warnings,
        has_changed(counts),
    )


def has_changed(counts: Mapping[str, int]) -> bool:
    """Say whether a load brought anything that was not there already."""
    return any(count and "already" not in what for what, count in counts.items())


def extended_report(
    title: str,
    loaded: Loaded[Any],
    counts: Mapping[str, int],
    facts: Mapping[str, int],
    warned: Iterable[str],
) -> LoadReport:
    """Return what was in a file and what came of it, with what is to be known of it beside that."""
    found = load_report(title, loaded, counts)
    told = {**found.facts, **facts}
    return LoadReport(found.title, told, (*found.warnings, *warned), found.changed)
