"""Scoreboards on plain dicts or columns, in which only the judged chunks are looked up.

Other chunk ids get no number, and those in columns are not even made texts, unless somebody asks
for them: that would take longer than everything else.
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

_DICTS = (dict, Mapping)  # dict first, since that is quickly found out
_NOTHING: Mapping[str, float] = {}
_MISSING = repeat(math.nan)
_AT_HAND = 1 << 14
"""Entries of lists that a processor keeps at hand, with what is made of them."""


def plain_board(qrels: Qrels, runs: Runs, conventions: Conventions) -> Scoreboard:
    """Make a board of what `collect` takes; raises `BadInput` where a list is malformed.

    >>> board = plain_board({"q": {"c": 3}}, {"A": {"q": ["x", "c"]}}, Conventions.of())
    >>> board.values(*board.conventions.measures("RR")).tolist()
    [[0.5]]
    """
    grades = all_grades(qrels)
    if np.minimum.reduce(grades, initial=0) < 0:
        return Scoreboard(
            collect(qrels, _check_runs(runs)), conventions
        )  # a pool's ranks count, too
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
    """Return runs whose lists are found to be well formed; raises `BadInput` otherwise."""
    for name, run in runs.items():
        for query_id, ranked in run.items():
            check_list_kind(name, check_id(query_id, "query"), ranked)
            check_whole_list(name, query_id, ranked)
    return runs


class _PlainLists(OrderedLists):
    """Plain lists, checked, one after the other: for each query in order those of each run.

    ``_given`` are the lists, ``_rows`` the rows of hits they belong to. ``_scores`` are the scores
    in all of them as 32-bit floats, each list's from ``_bounds`` on; a list without any has 0, -1,
    -2. ``_found`` are those of its query's judged chunks in each list, NaN where it does not hold
    one or is no dict (``_is_dict``). In lists that are ``_unsettled`` the scores do not all fall.
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
        with np.errstate(over="ignore"):  # what no 32-bit score holds is infinite, and tied
            self._scores, self._found = self._look_up()
        if not np.isfinite(self._scores).all():
            for row, ranked in zip(self._rows.tolist(), self._given, strict=True):
                check_whole_list(*self._names(row), ranked)
        self._unsettled = np.zeros(len(self._rows), dtype=np.bool_)
        self._unsettled[
            lists_with_neighbours(self._scores[1:] >= self._scores[:-1], self._bounds)
        ] = True

    def _gather(self, runs: Runs) -> tuple[Ints, list[GivenList]]:
        """Return the lists that are asked for, and their rows; others are only checked."""
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
        """Return of which run and query a row is."""
        query, run = divmod(row, self._runs)
        return self.collection.runs[run].name, self.collection.query_ids[query]

    def _look_up(self) -> tuple[Scores, Scores]:
        """Return the scores in all lists, and those of its query's judged chunks in each.

        Some lists at once are checked, read and searched, since fetching from memory what was just
        at hand would take longer than all the rest.
        """
        scores, found = np.empty(self._bounds[-1], np.float32), [NO_SCORES]
        together = _at_hand(len(self._given), len(scores))
        for start in range(0, len(self._given), together):
            some = slice(start, start + together)
            given, mine = self._given[some], self._bounds[start:][: together + 1]
            plain = plain_scores(given, at_hand=len(scores) <= _AT_HAND)
            scores[mine[0] : mine[-1]] = self._checked(start, given) if plain is None else plain
            judged = [self._judged[query] for query in self._queries[some].tolist()]
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
        """Return the scores in lists that may be of any kind; may raise `BadInput`."""
        for row, ranked in zip(self._rows[start:].tolist(), given, strict=False):
            check_list(*self._names(row), ranked)
        return np.fromiter(chain.from_iterable(map(_scores_or_ranks, given)), np.float64)

    @cached_property
    def listed(self) -> Bools:
        """Say where a run has a list, (queries, runs)."""
        listed = np.zeros(len(self._judged) * self._runs, dtype=np.bool_)
        listed[self._rows] = True
        return listed.reshape(len(self._judged), self._runs)

    @cached_property
    def scoreless(self) -> tuple[bool, ...]:
        """Whether each run has a list without scores."""
        others = np.flatnonzero(~self._is_dict).tolist()
        bare = {self._rows[at] % self._runs for at in others if not _is_scored(self._given[at])}
        return tuple(run in bare for run in range(self._runs))

    @cached_property
    def unsettled(self) -> tuple[dict[int, Scores], ...]:
        """For each run the scores, as 32-bit floats, of lists in which they do not all fall."""
        found: tuple[dict[int, Scores], ...] = tuple({} for _ in range(self._runs))
        for at in np.flatnonzero(self._unsettled).tolist():
            query, run = divmod(int(self._rows[at]), self._runs)
            scores = self._scores[self._span(at)]
            found[run][query] = -np.sort(-scores) if self._is_dict[at] else scores
        return found

    def _span(self, at: int) -> slice:
        return slice(self._bounds[at], self._bounds[at + 1])

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Return where the judged chunks stand; ``golden`` is what they were looked up by."""
        length = np.zeros((len(golden), self._runs), dtype=np.int64)
        length.ravel()[self._rows] = np.diff(self._bounds)
        grades = self._grades()
        at = np.flatnonzero(grades >= 0)
        found = np.diff(np.searchsorted(at, self._bounds))
        rank = at - np.repeat(self._bounds[:-1], found) + 1
        return hits_of(self.collection, np.repeat(self._rows, found), rank, grades[at], length)

    def _grades(self) -> npt.NDArray[np.int8]:
        """Return what is graded in all lists, each in the order that counts, and -1 elsewhere."""
        grades = np.full(self._bounds[-1], -1, dtype=np.int8)
        judged = np.array(list(map(len, self._judged)), dtype=np.int64)
        asked = judged[self._queries]
        begins = np.concatenate([[0], asked.cumsum()])
        shift = (judged.cumsum() - judged)[self._queries] - begins[:-1]
        together = _at_hand(len(asked), len(self._found))
        for start in range(0, len(asked), together):
            some = np.arange(start, min(start + together, len(asked)))
            of = some.repeat(asked[some])
            found = self._found[begins[start] : begins[start] + len(of)]
            there = (~np.isnan(found) & ~self._unsettled[of]).nonzero()[0]
            of = of[there]
            place = _places_of(found[there], of, self._scores, self._bounds)
            grades[place] = self._grade[there + begins[start] + shift[of]]
        for at in np.flatnonzero(~self._is_dict | self._unsettled).tolist():
            known = self._judged[self._queries[at]]
            grades[self._span(at)] = [known.get(each, -1) for each in self._in_order(at)]
        return grades

    def _in_order(self, at: int) -> Sequence[str]:
        """Return the ids of a list, best first."""
        ids, span = list(_ids(self._given[at])), self._span(at)
        if self._unsettled[at] and self.by_score:
            best_first = sorted(zip(self._scores[span].tolist(), ids, strict=True), reverse=True)
            return [chunk_id for _, chunk_id in best_first]
        if self._unsettled[at] and self._is_dict[at]:
            scores = np.fromiter(_scores_or_ranks(self._given[at]), np.float64)
            return [ids[place] for place in np.argsort(-scores, kind="stable").tolist()]
        return ids


def _at_hand(lists: int, entries: int) -> int:
    """Return how many lists at once a processor keeps at hand, of some with so many entries."""
    return max(1, _AT_HAND * lists // max(1, entries))


def _scores_by_id(ranked: GivenList) -> Mapping[str, float]:
    return ranked if isinstance(ranked, _DICTS) else _NOTHING


def _ids(ranked: GivenList) -> Mapping[str, float] | Sequence[str]:
    return ranked.chunk_ids if isinstance(ranked, Ranking) else ranked


def _is_scored(ranked: GivenList) -> bool:
    if isinstance(ranked, Ranking):
        return ranked.scores is not None
    return isinstance(ranked, Mapping)


def _scores_or_ranks(ranked: GivenList) -> Iterable[float]:
    """Return the scores of a list, and where it has none what trec_eval takes them to be."""
    if isinstance(ranked, _DICTS):
        return ranked.values()
    scores = ranked.scores if isinstance(ranked, Ranking) else None
    return range(0, -len(_ids(ranked)), -1) if scores is None else scores


def _places_of(sought: Scores, of: Ints, scores: Scores, bounds: Ints) -> Ints:
    """Return where each score that is sought stands in the list that it is ``of``.

    Lists stand one after the other, the first from ``bounds[0]`` up to ``bounds[1]``. In each the
    scores fall, so that a place is found by steps that halve.

    >>> scores, bounds = np.array([9.0, 5.0, 3.0, 7.0, 3.0]), np.array([0, 3, 5])
    >>> _places_of(np.array([3.0, 7.0]), np.array([0, 1]), scores, bounds).tolist()
    [2, 3]
    """
    above, last = bounds.take(of) - 1, bounds.take(of + 1) - 1
    longest = int((last - above).max(initial=0))
    for bit in reversed(range(longest.bit_length())):
        probe = np.minimum(above + (1 << bit), last)
        above += (probe - above) * (scores.take(probe) > sought)  # without a branch: twice as fast
    return above + 1


_ROW_SHIFT = 35  # the bits of a hit's number below its row: 33 for its rank, then 2 for its grade


class ColumnarLists(OrderedLists):
    """The lists of runs that are all by column; ``_queries`` are whose they are, -1 for unknown."""

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
        """Say where a run has a list, (queries, runs)."""
        listed = np.zeros((len(self.collection.query_ids), len(self._runs)), np.bool_)
        for at, queries in enumerate(self._queries):
            listed[queries[queries >= 0], at] = True
        return listed

    @cached_property
    def scoreless(self) -> tuple[bool, ...]:
        """Whether each run has a list without scores."""
        return tuple(
            run.scores is None and bool((queries >= 0).any())
            for run, queries in zip(self._runs, self._queries, strict=True)
        )

    @cached_property
    def unsettled(self) -> tuple[dict[int, Scores], ...]:
        """For each run the scores, as 32-bit floats, of lists in which they do not all fall."""
        return tuple(
            {int(of[place]): scores for place, scores in found.items() if of[place] >= 0}
            for of, found in zip(self._queries, self._not_falling, strict=True)
        )

    @cached_property
    def _not_falling(self) -> list[dict[int, Scores]]:
        return [dict(_not_falling(run)) for run in self._runs]

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Return where the judged chunks stand; ``golden`` is what is graded."""
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
        """Return the chunks of a run in the order that counts, by its own numbers."""
        run, not_falling = self._runs[at], self._not_falling[at]
        if not self.by_score or not not_falling:
            return run.chunks
        chunks, names = run.chunks.copy(), run.names.texts().tolist()
        for place, scores in not_falling.items():
            mine = _span(run, place)
            chunks[mine] = in_trec_eval_order(chunks[mine], scores, names)
        return chunks

    def _found(
        self, run: Rankings, queries: Ints, chunks: ChunkNumbers, pairs: Ints
    ) -> tuple[Ints, Ints, Ints]:
        """Return query, rank and grade of each chunk in a run's lists that is among ``pairs``.

        ``pairs`` are the judged ones in the order of the golden grades, and a last that none is.
        """
        chunk = run.names.places_in(self._judged)[chunks]  # as the golden grades are numbered
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
    """Return a number for each hit; they rise with the row, and then with the rank."""
    numbers: Ints = row << _ROW_SHIFT | rank << 2 | grade
    return numbers


def _hits_from(numbers: Ints, collection: Collection, length: Ints) -> Hits:
    """Return hits from their numbers, in any order; ``length`` has shape (queries, runs)."""
    numbers.sort()
    rank = numbers >> 2 & (1 << _ROW_SHIFT - 2) - 1
    return hits_of(collection, numbers >> _ROW_SHIFT, rank, numbers & 3, length)


def _not_falling(run: Rankings) -> Iterator[tuple[int, Scores]]:
    """Give each list in which 32-bit scores do not all fall, and these scores."""
    if run.scores is not None:
        with np.errstate(over="ignore"):  # what no 32-bit score holds is infinite, and tied
            scores = run.scores.astype(np.float32)
        for place in lists_with_neighbours(scores[1:] >= scores[:-1], run.bounds):
            yield place, scores[_span(run, place)]


def _span(run: Rankings, place: int) -> slice:
    return slice(run.bounds[place], run.bounds[place + 1])
