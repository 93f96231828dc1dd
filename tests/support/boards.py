"""Boards made from plain dicts, and all that a board says, for tests of what it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace
from functools import cache
from typing import Any

import numpy as np

from labeler.evaluation import Conventions, Score, Scoreboard, collect
from labeler.measures import Measure
from labeler.model import Collection, GradeChange
from tests.support.rankings import OF_CHUNKS

ALL = " ".join(definition.example for definition in OF_CHUNKS) + (
    " nDCG nDCG@1 nDCG@5 nDCG(dcg='log2')@5 P@1 P(rel=2)@5 R R@5 R@prompt P@prompt Success@3 "
    "RR RR(rel=3)@5 AP AP@5 Bpref(rel=2) Judged Judged@5 Judged@prompt"
)
"""Each measure of chunks there is, and some of them with other parameters and cut-offs."""


def board_of(
    qrels: Mapping[str, Mapping[str, int]],
    runs: Mapping[str, Mapping[str, Any]],
    facets: Mapping[str, Mapping[str, str]] | None = None,
    **conventions: Any,
) -> Scoreboard:
    return Scoreboard(collect(qrels, runs, facets), Conventions.of(**conventions))


def rows(board: Scoreboard, names: str, facet: str | None = None) -> list[Score]:
    return board.table(board.conventions.measures(names), facet)


def one(board: Scoreboard, name: str) -> Score:
    [row] = rows(board, name)
    return row


def said(board: Scoreboard) -> tuple[str, ...]:
    """What the board says beside its numbers."""
    return tuple(note.sentence for note in board.notes())


def change(board: Scoreboard, query: str, chunk: str, grade: int | None) -> GradeChange:
    return GradeChange(query, board.collection.chunk_ids.index(chunk), grade)


def golden_of(board: Scoreboard) -> dict[tuple[str, str], int]:
    """Return the golden grades of a board by query and chunk."""
    ids = board.collection.chunk_ids
    return {
        (query, ids[chunk]): grade
        for query in board.collection.query_ids
        for chunk, grade in board.golden(query).items()
    }


def regraded(collection: Collection, golden: Mapping[tuple[str, str], int]) -> Collection:
    """Return the collection as a store would read it afresh with these golden grades."""
    queries = {query: at for at, query in enumerate(collection.query_ids)}
    chunks = {chunk: at for at, chunk in enumerate(collection.chunk_ids)}
    found = sorted((queries[query], chunks[chunk], g) for (query, chunk), g in golden.items())
    columns = np.array(found, dtype=np.int32).reshape(-1, 3)
    return replace(
        collection,
        golden_query=columns[:, 0],
        golden_chunk=columns[:, 1],
        golden_grade=columns[:, 2].astype(np.int8),
        stale=np.zeros(len(columns), dtype=np.bool_),
    )


@cache  # reading a long list takes as long as measuring a small board
def measures_of(conventions: Conventions, names: str) -> tuple[Measure, ...]:
    """Read measures as the conventions do."""
    return conventions.measures(names)


def means_of(board: Scoreboard, names: str = ALL) -> list[bytes]:
    """Return all means over all queries and by each facet, by their bits."""
    measures = measures_of(board.conventions, names)
    found = [board.means(measures, facet) for facet in (None, *board.facets)]
    arrays = [(m.value, m.n, m.undefined, m.unjudged, m.missing) for m in found]
    return [array.tobytes() for each in arrays for array in each]


def everything(board: Scoreboard, names: str = ALL) -> list[Any]:
    """Return all that a board says: means, values, unjudged chunks and hits by their bits, and
    counts.
    """
    measures = measures_of(board.conventions, names)
    hits = [board.hits(run) for run in board.run_names]
    singly = [
        board.hits(run, query) for run in board.run_names for query in board.collection.query_ids
    ]
    return [
        *means_of(board, names),
        *(board.values(measure).tobytes() for measure in measures),
        *(board.unjudged(measure).tobytes() for measure in measures),
        *(a.tobytes() for h in (*hits, *singly) for a in (h.row, h.rank, h.grade, h.known)),
        astuple(board.counts),
    ]
