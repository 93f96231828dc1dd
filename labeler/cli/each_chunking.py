"""Numbers of several chunkings, each by itself; reads no golden set."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace

from labeler.evaluation import Conventions
from labeler.formats.spreadsheet import as_csv
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


def joined(kind: str, parts: Sequence[str]) -> str:
    """Put what was written of each chunking into one: one list, or one table with one header."""
    if len(parts) == 1:
        return parts[0]
    if kind == "json":
        rows = [row for part in parts for row in json.loads(part)]
        return f"{json.dumps(rows, ensure_ascii=False, indent=2)}\n"
    if kind == "csv":
        return _one_table(parts)
    return "\n".join(parts)


def _one_table(parts: Sequence[str]) -> str:
    """Put tables under one header, by names: a part has columns that another has not."""
    tables = [csv.DictReader(io.StringIO(part, newline="")) for part in parts]
    headers = sorted((table.fieldnames or () for table in tables), key=len, reverse=True)
    columns = dict.fromkeys(name for header in headers for name in header)
    rows = [{name: row.get(name) for name in columns} for table in tables for row in table]
    return as_csv(rows, raw=True)  # what a spreadsheet would run is neutralised already
