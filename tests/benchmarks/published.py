"""Public collections as truths: all that a run has in its top 20 is graded.

Reads the folders ``cranfield`` and ``codec`` of a folder that is no part of this repository. In
Cranfield a chunk in a top 20 that nobody graded counts as 0. In CODEC chunks without a grade are
taken out of the lists.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from labeler.evaluation import collect
from labeler.formats import read_golden, read_run
from labeler.model import Collection

DEPTH = 20
Golden = dict[str, dict[str, int]]
Lists = dict[str, dict[str, list[str]]]


def read_cranfield(folder: Path) -> Collection:
    """Read Cranfield, with a 0 for what nobody graded in the top 20 of a run."""
    golden, runs = _golden(folder / "qrels" / "test.tsv"), _runs(folder)
    for lists in runs.values():
        for query, chunks in lists.items():
            for chunk in chunks[:DEPTH] if query in golden else ():
                golden[query].setdefault(chunk, 0)
    return collect(golden, runs)


def read_codec(folder: Path) -> Collection:
    """Read CODEC, with the graded chunks of each list alone, and the domain of each topic."""
    golden = _golden(folder / "qrels.txt")
    runs = {
        name: {
            query: [chunk for chunk in chunks if chunk in golden[query]]
            for query, chunks in lists.items()
            if query in golden
        }
        for name, lists in _runs(folder).items()
    }
    return collect(golden, runs, {"domain": {query: query.split("-")[0] for query in golden}})


READERS: dict[str, Callable[[Path], Collection]] = {
    "Cranfield": read_cranfield,
    "CODEC": read_codec,
}


def read_all(folder: Path) -> dict[str, Collection]:
    """Read the collections that are there; a folder without any ends the program."""
    found = {
        name: read(folder / name.lower())
        for name, read in READERS.items()
        if (folder / name.lower()).is_dir()
    }
    return found or sys.exit(f"{folder} holds no folder {' and none '.join(READERS).lower()}")


def without(
    collection: Collection, queries: npt.NDArray[np.int64], chunks: npt.NDArray[np.int64]
) -> Collection:
    """Return the collection without the grades of some pairs, given by their numbers."""
    known = collection.golden_query.astype(np.int64) << 32 | collection.golden_chunk
    keep = ~np.isin(known, queries << 32 | chunks)
    return replace(
        collection,
        golden_query=collection.golden_query[keep],
        golden_chunk=collection.golden_chunk[keep],
        golden_grade=collection.golden_grade[keep],
        stale=collection.stale[keep],
    )


def _golden(path: Path) -> Golden:
    golden: Golden = {}
    for each in read_golden(path).grades.records:
        golden.setdefault(each.query_id, {})[each.chunk_id] = each.grade
    return golden


def _runs(folder: Path) -> Lists:
    return {
        path.name.removesuffix(".trec.gz"): {
            ranking.query_id: list(ranking.chunk_ids)
            for ranking in read_run(path, on_duplicate="first").records
        }
        for path in sorted(folder.glob("*.trec.gz"))
    }
