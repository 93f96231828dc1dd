"""Numbers of several chunkings, each by itself; reads no golden set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from labeler.evaluation import Conventions
from labeler.model import Collection


def apart(collection: Collection, conventions: Conventions) -> list[Conventions]:
    """Return conventions for each chunking that has a run, in order; one where one was chosen."""
    sides, of_runs = collection.sides, {run.chunking for run in collection.runs}
    if sides is None or conventions.selected.chunkings is not None:
        return [conventions]
    every = [replace(conventions.selected, chunkings=(n,)) for n in sides.names if n in of_runs]
    return [replace(conventions, selected=selected) for selected in every]


def joined(kind: str, parts: Sequence[str]) -> str:
    """Put what was written of each chunking into one: one list, or one table with one header."""
    if len(parts) == 1:
        return parts[0]
    if kind == "json":
        rows = [row for part in parts for row in json.loads(part)]
        return f"{json.dumps(rows, ensure_ascii=False, indent=2)}\n"
    if kind == "csv":
        return parts[0] + "".join(part.partition("\n")[2] for part in parts[1:])
    return "\n".join(parts)
