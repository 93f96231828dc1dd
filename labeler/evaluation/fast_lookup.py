"""Scoreboards on plain dicts or columns, in which only the judged chunks are looked up.

Numbering all chunk ids would take longer than everything else, so unjudged ones are numbered only
on first access. In columns they are not even converted to strings before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from functools import cached_property
from itertools import chain, filterfalse, repeat
from typing import cast

import numpy as np
import numpy.typing as npt

from labeler.evaluation.alignment import (
    NO_SCORES,
    OrderedLists,
    Scores,
    falls,
    hits_of,
    in_trec_eval_order,
    lists_with_neighbours,
    pair_numbers,
)
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.list_validation import (
    GivenList,
    all_of_type,
    check_list,
    check_list_kind,
    check_whole_list,
    pack_floats,
    plain_scores,
)
from labeler.evaluation.plain import Grades, Qrels, Runs, all_grades, collect, collect_lazily
from labeler.evaluation.query_grades import ChunkNumbers, QueryGrades
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Bools, Floats, Hits, Ints
from labeler.model import Collection, Ranking, Rankings, RankingsByQuery, check_id

_DICTS = (dict, Mapping)  # dict first: the fastest check
_NOTHING: Mapping[str, float] = {}
_MISSING = repeat(math.nan)
_ENTRIES_IN_CACHE = 1 << 14  # list entries that fit the processor's cache, with their results


def plain_board(qrels: Qrels, runs: Runs, conventions: Conventions) -> Scoreboard:
    """Make a board of the input of `collect`; raises `BadInput` for a malformed list.

    >>> board = plain_board({"q": {"c": 3}}, {"A": {"q": ["x", "c"]}}, Conventions.of())
    >>> board.values(*board.conventions.measures("RR")).tolist()
    [[0.5]]
    """
    grades = all_grades(qrels)
    if np.minimum.reduce(grades, initial=0) < 0:
        # -1 is an unjudged chunk of the pool: Bpref needs its ranks as well
        return Scoreboard(collect(qrels, _check_runs(runs)), conventions)
    by_column = [run for run in runs.values() if isinstance(run, RankingsByQuery)]
    every, by_score = len(by_column) == len(runs) > 0, conventions.like_trec_eval
    collection = collect_lazily(qrels, grades, runs)
    lists: OrderedLists = (
        ColumnarLists(collection, qrels, by_column, by_score)
        if every
        else _PlainLists(collection, qrels, grades, runs, by_score)
    )
    return Scoreboard(collection, conventions, lists)


def _check_runs(runs: Runs) -> Runs:
    """Return well-formed runs unchanged; raises `BadInput` for a malformed list."""
    for name, run in runs.items():
        for query_id, ranked in run.items():
            check_list_kind(name, check_id(query_id, "query"), ranked)
            check_whole_list(name, query_id, ranked)
    return runs


class _PlainLists(OrderedLists):
    """Checked lists, given as dicts or sequences, in order of query, then of run.

    ``_given`` are the lists, ``_rows`` their rows of hits. ``_scores`` are the scores of all lists
    as 32-bit floats, each list's from ``_bounds`` on; a list without scores has 0, -1, -2.
    ``_found`` has, for each list, the score of each judged chunk of its query; NaN if the chunk is
    not in the list, or if the list is not a dict (``_is_dict``). In lists that are ``_unsorted``
    the scores do not strictly fall.
    """

    def __init__(
        self, collection: Collection, qrels: Qrels, grades: Grades, runs: Runs, by_score: bool
    ) -> None:
        super().__init__(collection, by_score)
        self._runs, self._judged, self._grade = len(runs), list(qrels.values()), grades
        self._rows, self._given = self._gather(runs)
        self._queries = self._rows // max(1, self._runs)
        every = all_of_type(dict, self._given)
        kinds = repeat(True) if every else (isinstance(each, _DICTS) for each in self._given)
        self._is_dict = np.fromiter(kinds, np.bool_, len(self._given))
        sized = cast("Iterable[Sized]", self._given if every else map(_ids, self._given))
        self._bounds = np.zeros(len(self._given) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, sized), np.int64), out=self._bounds[1:])
        with np.errstate(over="ignore"):  # scores beyond 32 bits become infinite, and tied
            self._scores, self._found = self._look_up()
        if not np.isfinite(self._scores).all():
            for row, ranked in zip(self._rows.tolist(), self._given, strict=True):
                check_whole_list(*self._names(row), ranked)
        self._unsorted = np.zeros(len(self._rows), dtype=np.bool_)
        self._unsorted[
            lists_with_neighbours(self._scores[1:] >= self._scores[:-1], self._bounds)
        ] = True

    def _gather(self, runs: Runs) -> tuple[Ints, list[GivenList]]:
        """Return the lists of known queries, and their rows; other lists are only checked."""
        ids = self.collection.query_ids
        for stored, run in zip(self.collection.runs, runs.values(), strict=True):
            if not all_of_type(dict, run.values()):
                for query_id, ranked in run.items():
                    check_list_kind(stored.name, check_id(query_id, "query"), ranked)
            if stored.unknown_queries:
                for query_id in filterfalse(set(ids).__contains__, run):
                    check_whole_list(stored.name, check_id(query_id, "query"), run[query_id])
        columns = [map(run.get, ids) for run in runs.values()]
        given = [*chain.from_iterable(zip(*columns, strict=True))]
        if sum(len(stored.lists) for stored in self.collection.runs) == len(given):
            return np.arange(len(given)), cast("list[GivenList]", given)
        rows = np.array([at for at, each in enumerate(given) if each is not None], dtype=np.int64)
        return rows, [each for each in given if each is not None]

    def _names(self, row: int) -> tuple[str, str]:
        """Return the run and the query of a row."""
        query, run = divmod(row, self._runs)
        return self.collection.runs[run].name, self.collection.query_ids[query]

    def _look_up(self) -> tuple[Scores, Scores]:
        """Return all scores of the lists, and for each list the scores of judged chunks.

        Lists are checked, read and searched in blocks that fit the processor's cache, since
        fetching them from memory twice would take longer than everything else.
        """
        scores, found = np.empty(self._bounds[-1], np.float32), [NO_SCORES]
        block_size = _lists_per_block(len(self._given), len(scores))
        for start in range(0, len(self._given), block_size):
            block = slice(start, start + block_size)
            given, bounds = self._given[block], self._bounds[start:][: block_size + 1]
            plain = plain_scores(given, in_cache=len(scores) <= _ENTRIES_IN_CACHE)
            scores[bounds[0] : bounds[-1]] = self._checked(start, given) if plain is None else plain
            judged = [self._judged[query] for query in self._queries[block].tolist()]
            dicts = (
                map(_scores_by_id, given)
                if plain is None
                else cast("list[dict[str, float]]", given)
            )
            sought: list[float] = []
            for each, ids in zip(dicts, judged, strict=True):
                sought += map(each.get, ids, _MISSING)
            exact = np.fromiter(sought, np.float64) if plain is None else pack_floats(sought)
            found.append(exact.astype(np.float32))
        return scores, np.concatenate(found)

    def _checked(self, start: int, given: Sequence[GivenList]) -> Floats:
        """Return the scores of lists of any kind; may raise `BadInput`."""
        for row, ranked in zip(self._rows[start:].tolist(), given, strict=False):
            check_list(*self._names(row), ranked)
        return np.fromiter(chain.from_iterable(map(_scores_or_ranks, given)), np.float64)

    @cached_property
    def listed(self) -> Bools:
        listed = np.zeros(len(self._judged) * self._runs, dtype=np.bool_)
        listed[self._rows] = True
        return listed.reshape(len(self._judged), self._runs)

    @cached_property
    def scoreless(self) -> tuple[bool, ...]:
        others = np.flatnonzero(~self._is_dict).tolist()
        bare = {self._rows[at] % self._runs for at in others if not _is_scored(self._given[at])}
        return tuple(run in bare for run in range(self._runs))

    @cached_property
    def unsorted_scores(self) -> tuple[dict[int, Scores], ...]:
        found: tuple[dict[int, Scores], ...] = tuple({} for _ in range(self._runs))
        for at in np.flatnonzero(self._unsorted).tolist():
            query, run = divmod(int(self._rows[at]), self._runs)
            scores = self._scores[self._span(at)]
            if not self.by_score:
                scores = np.fromiter(_scores_or_ranks(self._given[at]), np.float64)
            if self._is_dict[at]:
                scores = -np.sort(-scores)
            if not falls(scores):
                found[run][query] = scores
        return found

    def _span(self, at: int) -> slice:
        return slice(self._bounds[at], self._bounds[at + 1])

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Return the judged chunks; ``golden`` has the grades they were looked up with."""
        length = np.zeros((len(golden), self._runs), dtype=np.int64)
        length.ravel()[self._rows] = np.diff(self._bounds)
        grades = self._grades()
        at = np.flatnonzero(grades >= 0)
        found = np.diff(np.searchsorted(at, self._bounds))
        rank = at - np.repeat(self._bounds[:-1], found) + 1
        return hits_of(self.collection, np.repeat(self._rows, found), rank, grades[at], length)

    def _grades(self) -> npt.NDArray[np.int8]:
        """Return the grades of all list entries, each list in ranked order; -1 for unjudged."""
        grades = np.full(self._bounds[-1], -1, dtype=np.int8)
        judged = np.array(list(map(len, self._judged)), dtype=np.int64)
        asked = judged[self._queries]
        begins = np.concatenate([[0], asked.cumsum()])
        shift = (judged.cumsum() - judged)[self._queries] - begins[:-1]
        block_size = _lists_per_block(len(asked), len(self._found))
        for start in range(0, len(asked), block_size):
            block = np.arange(start, min(start + block_size, len(asked)))
            of = block.repeat(asked[block])
            found = self._found[begins[start] : begins[start] + len(of)]
            there = (~np.isnan(found) & ~self._unsorted[of]).nonzero()[0]
            of = of[there]
            place = _places_of(found[there], of, self._scores, self._bounds)
            grades[place] = self._grade[there + begins[start] + shift[of]]
        for at in np.flatnonzero(~self._is_dict | self._unsorted).tolist():
            known = self._judged[self._queries[at]]
            grades[self._span(at)] = [known.get(each, -1) for each in self._in_order(at)]
        return grades

    def _in_order(self, at: int) -> Sequence[str]:
        """Return the ids of a list, best first."""
        ids, span = list(_ids(self._given[at])), self._span(at)
        if self._unsorted[at] and self.by_score:
            best_first = sorted(zip(self._scores[span].tolist(), ids, strict=True), reverse=True)
            return [chunk_id for _, chunk_id in best_first]
        if self._unsorted[at] and self._is_dict[at]:
            scores = np.fromiter(_scores_or_ranks(self._given[at]), np.float64)
            return [ids[place] for place in np.argsort(-scores, kind="stable").tolist()]
        return ids


def _lists_per_block(lists: int, entries: int) -> int:
    return max(1, _ENTRIES_IN_CACHE * lists // max(1, entries))


def _scores_by_id(ranked: GivenList) -> Mapping[str, float]:
    return ranked if isinstance(ranked, _DICTS) else _NOTHING


def _ids(ranked: GivenList) -> Mapping[str, float] | Sequence[str]:
    return ranked.chunk_ids if isinstance(ranked, Ranking) else ranked


def _is_scored(ranked: GivenList) -> bool:
    if isinstance(ranked, Ranking):
        return ranked.scores is not None
    return isinstance(ranked, Mapping)


def _scores_or_ranks(ranked: GivenList) -> Iterable[float]:
    """Return the scores of a list; for a list without scores 0, -1, -2."""
    if isinstance(ranked, _DICTS):
        return ranked.values()
    scores = ranked.scores if isinstance(ranked, Ranking) else None
    return range(0, -len(_ids(ranked)), -1) if scores is None else scores


def _places_of(wanted: Scores, of: Ints, scores: Scores, bounds: Ints) -> Ints:
    """Return the index in ``scores`` of each wanted score, by binary search in list ``of``.

    The lists follow each other, the first from ``bounds[0]`` up to ``bounds[1]``, and the scores of
    each strictly fall.

    >>> scores, bounds = np.array([9.0, 5.0, 3.0, 7.0, 3.0]), np.array([0, 3, 5])
    >>> _places_of(np.array([3.0, 7.0]), np.array([0, 1]), scores, bounds).tolist()
    [2, 3]
    """
    above, last = bounds.take(of) - 1, bounds.take(of + 1) - 1
    longest = int((last - above).max(initial=0))
    for bit in reversed(range(longest.bit_length())):
        probe = np.minimum(above + (1 << bit), last)
        above += (probe - above) * (scores.take(probe) > wanted)  # branchless: twice as fast
    return above + 1


_ROW_SHIFT = 35  # bits of a hit's number below its row: 33 for the rank, 2 for the grade


class ColumnarLists(OrderedLists):
    """Lists of runs that are all given as columns; ``_queries`` are query numbers, or -1."""

    def __init__(
        self,
        collection: Collection,
        qrels: Qrels,
        runs: Sequence[RankingsByQuery],
        by_score: bool,
    ) -> None:
        super().__init__(collection, by_score)
        self._judged = list(dict.fromkeys(chain.from_iterable(qrels.values())))
        self._runs = [run.rankings for run in runs]
        numbers = {query_id: query for query, query_id in enumerate(qrels)}
        self._queries: list[Ints] = [
            np.array([numbers.get(query_id, -1) for query_id in run.query_ids], dtype=np.int64)
            for run in self._runs
        ]

    @cached_property
    def listed(self) -> Bools:
        listed = np.zeros((len(self.collection.query_ids), len(self._runs)), np.bool_)
        for at, queries in enumerate(self._queries):
            listed[queries[queries >= 0], at] = True
        return listed

    @cached_property
    def scoreless(self) -> tuple[bool, ...]:
        return tuple(
            run.scores is None and bool((queries >= 0).any())
            for run, queries in zip(self._runs, self._queries, strict=True)
        )

    @cached_property
    def unsorted_scores(self) -> tuple[dict[int, Scores], ...]:
        return tuple(
            {
                int(of[place]): scores
                for place, scores in self._in_precision(run, found)
                if of[place] >= 0
            }
            for run, of, found in zip(self._runs, self._queries, self._unsorted, strict=True)
        )

    def _in_precision(
        self, run: Rankings, found: Mapping[int, Scores]
    ) -> Iterator[tuple[int, Scores]]:
        """Yield those of the unsorted lists that are so in the precision that decides."""
        for place, scores in found.items():
            if self.by_score or run.scores is None:
                yield place, scores
            elif not falls(run.scores[_span(run, place)]):
                yield place, run.scores[_span(run, place)]

    @cached_property
    def _unsorted(self) -> list[dict[int, Scores]]:
        return [dict(_unsorted_lists(run)) for run in self._runs]

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Return the judged chunks; ``golden`` has the grades."""
        given = self.collection
        pairs = np.append(pair_numbers(given.golden_query.astype(np.int64), given.golden_chunk), -1)
        found, length = [], np.zeros((len(golden), len(self._runs)), dtype=np.int64)
        for at, (run, queries) in enumerate(zip(self._runs, self._queries, strict=True)):
            there = queries >= 0
            length[queries[there], at] = np.diff(run.bounds)[there]
            query, rank, grade = self._found(run, queries, self._ordered(at), pairs)
            found.append(_numbered(query * len(self._runs) + at, rank, grade))
        return _hits_from(np.concatenate(found), self.collection, length)

    def _ordered(self, at: int) -> ChunkNumbers:
        """Return the chunks of a run in ranked order, in the run's own numbering."""
        run, unsorted = self._runs[at], self._unsorted[at]
        if not self.by_score or not unsorted:
            return run.chunks
        chunks, names = run.chunks.copy(), run.names.texts().tolist()
        for place, scores in unsorted.items():
            span = _span(run, place)
            chunks[span] = in_trec_eval_order(chunks[span], scores, names)
        return chunks

    def _found(
        self, run: Rankings, queries: Ints, chunks: ChunkNumbers, pairs: Ints
    ) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and grade of each chunk in a run's lists that is among ``pairs``.

        ``pairs`` are the judged pairs in the order of the golden grades; an extra last entry
        matches nothing.
        """
        chunk = run.names.places_in(self._judged)[chunks]  # numbered as in the golden grades
        at = np.flatnonzero(chunk >= 0)
        place = np.searchsorted(run.bounds, at, side="right") - 1
        sought = pair_numbers(queries[place], chunk[at])
        found = np.searchsorted(pairs[:-1], sought)
        judged = pairs[found] == sought
        at, place, found = at[judged], place[judged], found[judged]
        return (
            queries[place],
            at - run.bounds[place] + 1,
            self.collection.golden_grade[found].astype(np.int64),
        )


def _numbered(row: Ints, rank: Ints, grade: Ints) -> Ints:
    """Return a number for each hit, which rises with the row, then with the rank."""
    numbers: Ints = row << _ROW_SHIFT | rank << 2 | grade
    return numbers


def _hits_from(numbers: Ints, collection: Collection, length: Ints) -> Hits:
    """Return hits from their numbers, in any order; ``length`` has shape (queries, runs)."""
    numbers.sort()
    rank = numbers >> 2 & (1 << _ROW_SHIFT - 2) - 1
    return hits_of(collection, numbers >> _ROW_SHIFT, rank, numbers & 3, length)


def _unsorted_lists(run: Rankings) -> Iterator[tuple[int, Scores]]:
    """Yield each list in which 32-bit scores do not strictly fall, and these scores."""
    if run.scores is not None:
        with np.errstate(over="ignore"):  # scores beyond 32 bits become infinite, and tied
            scores = run.scores.astype(np.float32)
        for place in lists_with_neighbours(scores[1:] >= scores[:-1], run.bounds):
            yield place, scores[_span(run, place)]


def _span(run: Rankings, place: int) -> slice:
    return slice(run.bounds[place], run.bounds[place + 1])
