"""Grades for the tools that runs came from, by the spans and traces of their lists."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from labeler.errors import BadInput, NotFound
from labeler.formats.feedback import GradedList, langfuse_scores, phoenix_annotations
from labeler.measures import Hits, Measure, parse, score
from labeler.model import GoldenGrade, Query, Ranking, Selection
from labeler.store import Store

FEEDBACK_KINDS: Mapping[str, tuple[int, str]] = {"phoenix": (0, "span"), "langfuse": (1, "trace")}
"""The formats, with the place of their id in `Retrievals.runs_with_sources`, and its name."""
MEASURES = ("nDCG@10", "R@5")
Lists = Callable[[Store, str, Selection], list[Ranking]]


def why_no_feedback(store: Store, kind: str) -> str | None:
    """Return why no grade can go back to a tool, None where some can."""
    at, name = FEEDBACK_KINDS[kind]
    if any(has[at] for has in store.retrievals.runs_with_sources().values()):
        return None
    return (
        f"{kind}: no run came with the ids of {name}s, so that no grade can go back there; load a "
        "trace with its ids: 'labeler load TRACES', or a map that says where they stand: "
        f"--map '... {name}=...'"
    )


def write_feedback(
    store: Store,
    kind: str,
    queries: Sequence[Query],
    grades: Sequence[GoldenGrade],
    selected: Selection,
    lists_of: Lists,
) -> bytes:
    """Return the golden grades of all lists that came from a tool, as that tool takes them.

    Raises `BadInput` where no run has ids of it.
    """
    if (why := why_no_feedback(store, kind)) is not None:
        raise BadInput(why)
    found = _graded_lists(store, kind, queries, grades, selected, lists_of)
    if kind == "phoenix":
        return phoenix_annotations(found, store.settings.read().words)
    return langfuse_scores(found)


def _graded_lists(
    store: Store,
    kind: str,
    queries: Sequence[Query],
    grades: Sequence[GoldenGrade],
    selected: Selection,
    lists_of: Lists,
) -> Iterator[GradedList]:
    at, _ = FEEDBACK_KINDS[kind]
    by_query: dict[str, dict[str, GoldenGrade]] = {query.query_id: {} for query in queries}
    for grade in grades:
        by_query[grade.query_id][grade.chunk_id] = grade
    measures = {name: parse(name, rel=store.settings.read().rel) for name in MEASURES}
    for run, has in store.retrievals.runs_with_sources().items():
        if not has[at]:
            continue
        sources = store.retrievals.sources_of(run)
        try:
            lists = lists_of(store, run, selected)
        except NotFound:  # a run of another chunking, or without a list for what is selected
            continue
        for one in lists:
            source, mine = sources.get(one.query_id), by_query.get(one.query_id)
            if source is not None and mine:
                yield GradedList(
                    run,
                    one.query_id,
                    source.span,
                    source.trace,
                    one.chunk_ids,
                    [*source.ranks_by_place(len(one.chunk_ids))],
                    mine,
                    _values(one, mine, measures),
                )


def _values(
    ranking: Ranking, grades: Mapping[str, GoldenGrade], measures: Mapping[str, Measure]
) -> dict[str, float]:
    """Return the values of a list by measure, without those that are not defined."""
    graded = {chunk_id: grade.grade for chunk_id, grade in grades.items()}
    ranked = {*ranking.chunk_ids}
    missed = [grade for chunk_id, grade in graded.items() if chunk_id not in ranked]
    hits = Hits.of([[graded.get(chunk_id) for chunk_id in ranking.chunk_ids]], [missed])
    found = {name: float(score(hits, measure)[0]) for name, measure in measures.items()}
    return {name: value for name, value in found.items() if not math.isnan(value)}
