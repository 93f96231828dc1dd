"""Collections made of plain dicts of grades and rankings, for notebooks that need no database.

`collect_lazily` numbers only the judged chunks; the others are numbered on first access.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count, pairwise, repeat, starmap
from operator import countOf
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.evaluation.alignment import lists_with_neighbours, pair_numbers
from labeler.evaluation.list_validation import GivenList
from labeler.evaluation.query_grades import ChunkNumbers
from labeler.evaluation.scoreboard_state import LazySequence
from labeler.model import Collection, Ranking, StoredList, StoredRun

Qrels: TypeAlias = Mapping[str, Mapping[str, int]]
Runs: TypeAlias = Mapping[str, Mapping[str, GivenList]]
Grades: TypeAlias = npt.NDArray[np.int8]
ChunkNumbering: TypeAlias = defaultdict[str, int]
"""The number of each text, from 0 in the order of first lookup."""


def collect(
    qrels: Qrels,
    runs: Runs,
    facets: Mapping[str, Mapping[str, str]] | None = None,
) -> Collection:
    """Make a collection from ``{query: {chunk: grade}}`` and ``{run: {query: ranking}}``.

    A grade of -1 puts an unjudged chunk into the pool. A ranking is ``{chunk: score}``, sorted here
    (ties stay as given), or chunks in order, or a `Ranking`, which is in order as well. The queries
    are those of ``qrels``; a query without grades is given as ``{}``. ``{facet: {query: bucket}}``
    is the form of ``facets``.

    >>> collect({"q1": {"c1": 3}}, {"A": {"q1": ["c2", "c1"], "q9": []}}).runs[0].unknown_queries
    1
    """
    chunks = _new_numbering()
    graded = _golden_columns(qrels, all_grades(qrels), _number_all(_judged_chunks(qrels), chunks))
    lists, apart = _store_lists(list(runs.values()), qrels, chunks)
    return Collection(
        query_ids=tuple(qrels),
        facets={facet: tuple(map(buckets.get, qrels)) for facet, buckets in (facets or {}).items()},
        chunk_ids=tuple(chunks),
        runs=tuple(
            StoredRun(name, name, None, found, len(run) - len(found), apart=exact)
            for (name, run), found, exact in zip(runs.items(), lists, apart, strict=True)
        ),
        **graded,
    )


def _judged_chunks(qrels: Qrels) -> list[str]:
    return [*chain.from_iterable(qrels.values())]


def all_grades(qrels: Qrels) -> Grades:
    """Return the grades of all queries, query after query."""
    return np.fromiter(chain.from_iterable(each.values() for each in qrels.values()), np.int8)


def _golden_columns(qrels: Qrels, grade: Grades, chunk: ChunkNumbers) -> dict[str, Any]:
    """Return the golden columns of a collection, at revision 0."""
    query = np.repeat(np.arange(len(qrels)), [*map(len, qrels.values())])
    order = np.argsort(pair_numbers(query, chunk))
    in_pool = order[grade[order] < 0]
    graded = order[grade[order] >= 0] if len(in_pool) else order
    return {
        "golden_query": query.astype(np.int32)[graded],
        "golden_chunk": chunk[graded],
        "golden_grade": grade[graded],
        "stale": np.zeros(len(graded), dtype=np.bool_),
        "revision": 0,
        "data_revision": 0,
        "pool_query": query.astype(np.int32)[in_pool],
        "pool_chunk": chunk[in_pool],
    }


def collect_lazily(qrels: Qrels, grades: Grades, runs: Runs) -> Collection:
    """Make the same collection, in which only graded chunks are numbered at first.

    All other chunks are numbered when an id or a list is first read. ``grades`` are `all_grades` of
    the qrels.
    """
    whole = _LazyCollection(qrels, runs)
    stored = []
    for at, (name, run) in enumerate(runs.items()):
        size = countOf(map(qrels.__contains__, run), True)
        lists, unknown = _LazyLists(whole, at, size), len(run) - size
        stored.append(StoredRun(name, name, None, lists, unknown_queries=unknown))
    judged = _judged_chunks(qrels)
    unique = len(set(judged)) == len(judged)  # no chunk is judged for two queries
    chunk = (
        np.arange(len(judged), dtype=np.int32) if unique else _number_all(judged, _new_numbering())
    )
    ids = LazySequence(None, lambda: whole.collection.chunk_ids)
    return Collection(tuple(qrels), {}, ids, tuple(stored), **_golden_columns(qrels, grades, chunk))


@dataclass
class _LazyCollection:
    """A collection made on first access."""

    qrels: Qrels
    runs: Runs

    @cached_property
    def collection(self) -> Collection:
        return collect(self.qrels, self.runs)


@dataclass(eq=False)
class _LazyLists(Mapping[int, StoredList]):
    """The lists of a run by query, made on first access."""

    whole: _LazyCollection
    run: int
    size: int

    def __getitem__(self, query: int) -> StoredList:
        return self.whole.collection.runs[self.run].lists[query]

    def __iter__(self) -> Iterator[int]:
        return iter(self.whole.collection.runs[self.run].lists)

    def __len__(self) -> int:
        return self.size


def _new_numbering() -> ChunkNumbering:
    return defaultdict(count().__next__)


def _number_all(texts: Sequence[str], numbers: ChunkNumbering) -> ChunkNumbers:
    """Number texts, and return the number of each."""
    return np.fromiter(map(numbers.__getitem__, texts), np.int32, len(texts))


def _store_lists(
    runs: Sequence[Mapping[str, GivenList]], queries: Iterable[str], chunks: ChunkNumbering
) -> tuple[list[dict[int, StoredList]], list[dict[int, npt.NDArray[np.float64]]]]:
    """Return the lists of each run, and by query the scores that differ only as 64-bit numbers.

    Numbered query by query, since runs find the same chunks for a query: run by run, their ids
    would be fetched from memory again and again, which takes longer than all scoring.
    """
    places = [
        (at, query, run[text])
        for query, text in enumerate(queries)
        for at, run in enumerate(runs)
        if text in run
    ]
    rankings = [ranked for _, _, ranked in places]
    texts = [each.chunk_ids if isinstance(each, Ranking) else each for each in rankings]
    bounds = np.cumsum([0, *map(len, texts)])
    numbers = np.fromiter(map(chunks.__getitem__, chain.from_iterable(texts)), np.int32)
    own_scores = list(map(_scores, rankings))
    with_nan = (
        repeat(math.nan, len(ids)) if own is None else own
        for ids, own in zip(texts, own_scores, strict=True)
    )
    scores = np.fromiter(chain.from_iterable(with_nan), np.float64, int(bounds[-1]))
    for place in lists_with_neighbours(scores[1:] > scores[:-1], bounds):
        if isinstance(rankings[place], Mapping):
            span = slice(bounds[place], bounds[place + 1])
            best_first = np.argsort(-scores[span], kind="stable")
            numbers[span], scores[span] = numbers[span][best_first], scores[span][best_first]
    with np.errstate(over="ignore"):  # scores beyond 32 bits become infinite, and tied
        scores32 = scores.astype(np.float32)
    lists: list[dict[int, StoredList]] = [{} for _ in runs]
    spans = starmap(slice, pairwise(bounds.tolist()))
    for (at, query, _), own, span in zip(places, own_scores, spans, strict=True):
        lists[at][query] = StoredList(numbers[span], None if own is None else scores32[span])
    not_falling = lists_with_neighbours(scores32[1:] >= scores32[:-1], bounds)
    apart: list[dict[int, npt.NDArray[np.float64]]] = [{} for _ in runs]
    for place in not_falling:
        (at, query, _), span = places[place], slice(bounds[place], bounds[place + 1])
        if len(np.unique(scores[span])) > len(np.unique(scores32[span])):
            apart[at][query] = scores[span]
    return lists, apart


def _scores(ranked: GivenList) -> Iterable[float] | None:
    if isinstance(ranked, Ranking):
        return ranked.scores
    return ranked.values() if isinstance(ranked, Mapping) else None
