"""Guidance on measures: the defaults, those that fit a task, and cautions about reading them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from labeler.errors import NotFound
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import PROMPT, Bools, Measure
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

FEW_QUERIES = 50
MANY_UNJUDGED = 0.2


@dataclass(frozen=True, slots=True)
class Caution:
    """A way in which a number misleads: a ``kind`` for programs, a ``sentence`` for people."""

    kind: str
    sentence: str


def measures_for_task(
    conventions: Conventions, task: str | None, by_task: Mapping[str, str] = MappingProxyType({})
) -> tuple[Measure, ...]:
    """Return the measures that fit a task, the leading one first; none for an unknown task.

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


def cautions(
    board: Scoreboard,
    measures: Iterable[Measure],
    facet: str | None = None,
    bucket: str | None = None,
) -> tuple[Caution, ...]:
    """Return the ways in which values of these measures may mislead, overall or in buckets.

    They are about all queries, those of a facet, or those of one bucket. The first measure is the
    leading one. Unjudged chunks are counted in every run of the board; queries without grades are
    left out. Raises `NotFound` for an unknown facet or bucket.
    """
    board = board.snapshot()
    chosen = board.resolve(measures)
    judged = board.judged_for(chosen[0]) if chosen else board.judged
    queries = _queries_of(board, judged, facet, bucket)
    where = "" if bucket is None else f" in {facet} = {bucket}"
    size = int(queries.sum())
    found = [*_size_cautions(size, where)]
    if size:
        found += _task_cautions(board, chosen, queries)
        found += _cutoff_cautions(board, chosen, queries)
        found += _grade_cautions(board, chosen, queries)
        found += _unjudged_cautions(board, chosen, facet, bucket)
    return tuple(found)


def unjudged_by_run(
    board: Scoreboard, measure: Measure, facet: str | None = None, bucket: str | None = None
) -> dict[str, tuple[int, int]]:
    """Return each run's number of unjudged chunks inside a measure's cut-off, and of all chunks.

    Over all queries that count, or those of a facet or bucket; a query without a list adds to
    neither. May raise `NotFound`.
    """
    queries = _queries_of(board, board.judged_for(measure), facet, bucket)
    counts = (board.unjudged(measure), board.looked_at(measure))
    sums = [each[queries].sum(axis=0).tolist() for each in counts]
    return dict(zip(board.run_names, zip(*sums, strict=True), strict=True))


def _queries_of(board: Scoreboard, judged: Bools, facet: str | None, bucket: str | None) -> Bools:
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


def _size_cautions(size: int, where: str) -> Iterator[Caution]:
    if size < FEW_QUERIES:
        yield Caution(
            "few",
            f"only {size} judged {'query' if size == 1 else 'queries'}{where}: under "
            f"{FEW_QUERIES}, a difference may be chance",
        )


def _task_cautions(
    board: Scoreboard, measures: Sequence[Measure], queries: Bools
) -> Iterator[Caution]:
    """Yield cautions about a task that at least half of the queries have."""
    tasks = board.collection.facets.get("task", (None,) * len(queries))
    found = [task for task, is_chosen in zip(tasks, queries.tolist(), strict=True) if is_chosen]
    single, research = (2 * found.count(task) >= len(found) for task in ("single", "research"))
    names = [measure.name for measure in measures]
    if single and names and names[0] in ("nDCG", "AP"):
        yield Caution(
            "ranking leads",
            f"{found.count('single')} of {len(found)} queries want a single answer: "
            f"{measures[0].label} counts what comes after it; Success@3 and RR fit better",
        )
    if research and "RR" in names:
        yield Caution(
            "RR for research",
            f"{found.count('research')} of {len(found)} queries are research: RR sees the first "
            "relevant chunk only; nDCG@10 and R@10 fit better",
        )


def _cutoff_cautions(
    board: Scoreboard, measures: Sequence[Measure], queries: Bools
) -> Iterator[Caution]:
    prompt_ks = board.prompt_ks[queries]
    for measure in measures:
        if measure.name != "Judged" and isinstance(measure.cutoff, int):
            beyond = int(np.sum(prompt_ks < measure.cutoff))
            if beyond:
                yield Caution(
                    "beyond the prompt",
                    f"{measure.label} looks deeper than the prompt size of "
                    f"{_format_span(prompt_ks.tolist())}: what stands below it never "
                    "reaches the prompt",
                )


def _grade_cautions(
    board: Scoreboard, measures: Sequence[Measure], queries: Bools
) -> Iterator[Caution]:
    ids = [
        i
        for i, is_chosen in zip(board.collection.query_ids, queries.tolist(), strict=True)
        if is_chosen
    ]
    known = np.array([board.counts_of(query_id) for query_id in ids]).sum(axis=0)
    binary = [each for each in measures if each.rel is not None and each.reads != "evidence"]
    for rel in sorted({measure.rel for measure in binary if measure.rel is not None}):
        grades = [grade for grade in range(rel, 4) if known[grade]]
        if len(grades) > 1:
            labels = [measure.label for measure in binary if measure.rel == rel]
            yield Caution(
                "binary over grades",
                f"{', '.join(labels)} {'counts' if len(labels) == 1 else 'count'} grades "
                f"{', '.join(map(str, grades[:-1]))} and {grades[-1]} alike; nDCG tells them apart",
            )


def _unjudged_cautions(
    board: Scoreboard, measures: Sequence[Measure], facet: str | None, bucket: str | None
) -> Iterator[Caution]:
    of_chunks = [measure for measure in measures if not measure.crosses]
    by_cutoff = {measure.cutoff: measure for measure in of_chunks if measure.cutoff is not None}
    for measure in by_cutoff.values():
        of = "the prompt" if measure.cutoff == PROMPT else f"the top {measure.cutoff}"
        for run, (count, listed) in unjudged_by_run(board, measure, facet, bucket).items():
            if listed and count / listed > MANY_UNJUDGED:
                yield Caution(
                    "unjudged",
                    f"{run}: nobody has graded {count / listed:.0%} of {of}; "
                    "what these are can move its values either way",
                )


def _format_span(values: Sequence[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"
