"""Guidance on measures: the defaults, those that fit a task, and what of their top is judged."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Bools, Cutoff, Measure
from labeler.model import CHUNKING_SEPARATOR, DEFAULT_CHUNKING, Collection

DEFAULT_MEASURES = ("nDCG@10", "R@prompt", "P@prompt", "Success@3", "RR", "AP", "Judged@10")
"""The default measures of all pages and commands, the leading one first.

One of each kind: the whole ranking by grade, the chunks in the prompt, the first good chunk, all
that is relevant, and how far to trust the others.
"""

CROSS_CHUNKING_MEASURES = (
    *("EvidenceR@2000c", "EvidenceP@2000c", "EvidenceIoU@2000c"),
    *("nDCG(documents=True)@10", "R(documents=True)@prompt"),
)
"""The measures that compare chunkings, in front of the defaults for runs of several chunkings.

A prompt of so many characters leads, so that no chunker wins by longer chunks.
"""

MEASURES_BY_TASK: Mapping[str, str] = MappingProxyType(
    {
        "single": "Success@3 RR",
        "research": "nDCG@10 R@10",
        "compliance": "R@prompt P@prompt",
        "longtail": "nDCG@10",
    }
)
"""The measures that fit a task, the leading one first; read them with `measures_for_task`."""


def measures_for_task(
    conventions: Conventions, task: str | None, by_task: Mapping[str, str] = MappingProxyType({})
) -> tuple[Measure, ...]:
    """Return the measures that fit a task, the leading one first; none for a task without.

    ``by_task`` replaces the defaults of a task by a team's choice.

    >>> [measure.label for measure in measures_for_task(Conventions(), "compliance")]
    ['R@prompt', 'P@prompt']
    """
    return conventions.measures(measure_names_for_task(task, by_task))


def measures_for_runs(
    collection: Collection, runs: Iterable[str] | None = None, *, chunks: bool = True
) -> tuple[str, ...]:
    """Return the names of the default measures of some runs, or of all that are compared.

    For runs of several chunkings, the measures that compare chunkings lead, without those of
    evidence if no passage is marked. The other defaults follow if ``chunks`` is set and each of the
    chunkings has grades.

    >>> from labeler.evaluation import collect
    >>> measures_for_runs(collect({"q": {"c": 3}}, {"A": {"q": ["c"]}})) == DEFAULT_MEASURES
    True
    """
    every = (*collection.runs, *collection.runs_left_out)
    chosen = {run.name for run in collection.runs} if runs is None else set(runs)
    chunkings = {run.chunking for run in every if run.name in chosen}
    if len(chunkings) < 2:
        return DEFAULT_MEASURES
    across = tuple(
        name for name in CROSS_CHUNKING_MEASURES if collection.marks or "Evidence" not in name
    )
    return (
        (*across, *DEFAULT_MEASURES)
        if chunks and chunkings <= _graded_chunkings(collection)
        else across
    )


def has_graded_chunkings(collection: Collection, runs: Iterable[str]) -> bool:
    """Return whether each chunking of these runs has a golden grade."""
    chosen, every = set(runs), (*collection.runs, *collection.runs_left_out)
    return {run.chunking for run in every if run.name in chosen} <= _graded_chunkings(collection)


def _graded_chunkings(collection: Collection) -> set[str]:
    """Return the chunkings with a golden grade, even those that are not selected."""
    every = collection.everywhere
    chunks = np.unique(collection.golden_chunk if every is None else every.chunk)
    found = {
        collection.chunk_ids[chunk].partition(CHUNKING_SEPARATOR)[0] for chunk in chunks.tolist()
    }
    named = {run.chunking for run in (*collection.runs, *collection.runs_left_out)}
    return found & named | ({DEFAULT_CHUNKING} if found - named else set())


def measure_names_for_task(
    task: str | None, by_task: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return the names of the same measures.

    >>> measure_names_for_task("single"), measure_names_for_task("single", {"single": "RR"})
    (['Success@3', 'RR'], ['RR'])
    """
    return (by_task.get(task or "") or MEASURES_BY_TASK.get(task or "", "")).split()


def unjudged_shares(
    board: Scoreboard, cutoff: Cutoff, facet: str | None = None, bucket: str | None = None
) -> dict[str, float]:
    """Return what share of each run's first chunks is unjudged: 1 minus the mean of Judged@k.

    Over all queries, or those of one bucket; a run without a value is left out.
    """
    [judged] = board.resolve(board.conventions.measures(f"Judged@{cutoff}"))
    rows = board.table([judged], None if bucket is None else facet)
    return {
        row.run: 1.0 - row.value
        for row in rows
        if row.bucket == bucket and not math.isnan(row.value)
    }


def queries_in_scope(
    board: Scoreboard, judged: Bools, facet: str | None = None, bucket: str | None = None
) -> Bools:
    """Return which of the judged queries count: all, those of a facet, or those of one bucket.

    May raise `NotFound`.
    """
    if board.weights is not None:
        judged = judged & (board.weights > 0)
    if facet is None:
        return judged
    buckets, group = board.groups(facet)
    if bucket is None:
        in_any: Bools = judged & (group < len(buckets))
        return in_any
    if bucket not in buckets:
        there = ", ".join(map(str, buckets)) or "none"
        raise NotFound(f"facet {facet!r} has no bucket {bucket!r}; there are: {there}")
    inside: Bools = judged & (group == buckets.index(bucket))
    return inside
