"""Numbers of several chunkings, each by itself; reads no golden set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from labeler.evaluation import Conventions
from labeler.measures import Measure
from labeler.model import Collection


def apart(
    collection: Collection, conventions: Conventions, measures: Sequence[Measure]
) -> list[tuple[Conventions, list[Measure]]]:
    """Return conventions for each chunking that has a run, in order, with what it is measured by.

    Measures that compare between chunkings come first, for all of these at once. Where there is one
    chunking, or one was chosen, all measures are of it.
    """
    sides, of_runs = collection.sides, {run.chunking for run in collection.runs}
    if sides is None or conventions.selected.chunkings is not None:
        return [(conventions, list(measures))]
    names = [name for name in sides.names if name in of_runs]
    own = [measure for measure in measures if len(names) == 1 or not measure.crosses]
    parts: list[tuple[tuple[str, ...], list[Measure]]] = [((name,), own) for name in names]
    if len(names) > 1:
        parts.insert(0, ((*names,), [measure for measure in measures if measure.crosses]))
    return [
        (replace(conventions, selected=replace(conventions.selected, chunkings=chunkings)), some)
        for chunkings, some in parts
        if some
    ]
