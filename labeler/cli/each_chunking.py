"""Numbers of several chunkings, each by itself; reads no golden set."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from labeler.evaluation import Conventions, Note
from labeler.model import Collection, chunking_in_words, counted


def apart(collection: Collection, conventions: Conventions) -> list[Conventions]:
    """Return conventions for each chunking that has a run, in order; one where one was chosen."""
    sides, of_runs = collection.sides, {run.chunking for run in collection.runs}
    if sides is None or conventions.selected.chunkings is not None:
        return [conventions]
    every = [replace(conventions.selected, chunkings=(n,)) for n in sides.names if n in of_runs]
    return [replace(conventions, selected=selected) for selected in every]


def carried_notes(carried: Mapping[str, tuple[int, int]], conventions: Conventions) -> list[Note]:
    """Say of the chunkings that are measured how many grades of theirs no person gave for them."""
    return [
        Note(
            "carried over",
            f"{count:,} of {counted(golden, 'golden grade', 'golden grades')} of "
            f"{chunking_in_words(name)} carried over from other chunks: they follow from grades "
            "of these, and nobody gave them",
        )
        for name, (count, golden) in carried.items()
        if name in (conventions.selected.chunkings or ())
    ]


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
