"""A board on plain dicts and lists, in which only the judged chunks are looked up.

No other id is given a number unless somebody asks for one: that would take longer than all else.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, count, repeat

import numpy as np

from labeler.evaluation.alignment import (
    Lists,
    QueryGrades,
    Scores,
    hits_from,
    lists_with,
    numbered,
)
from labeler.evaluation.by_column import ListsByColumn
from labeler.evaluation.checking import (
    GivenList,
    check_kind,
    check_list,
    check_whole_list,
    is_plain,
)
from labeler.evaluation.conventions import Conventions
from labeler.evaluation.plain import Qrels, Runs, collect, numbered_later
from labeler.evaluation.scoreboard import Scoreboard
from labeler.measures import Bools, Floats, Hits, Ints
from labeler.model import Ranking, RankingsByQuery, check_id

_DICTS = (dict, Mapping)  # dict first, since that is quickly found out


def plain_board(qrels: Qrels, runs: Runs, conventions: Conventions) -> Scoreboard:
    """Make a board of what `collect` takes; raises `BadInput` where a list is malformed.

    >>> board = plain_board({"q": {"c": 3}}, {"A": {"q": ["x", "c"]}}, Conventions.of())
    >>> board.values(*board.conventions.measures("RR")).tolist()
    [[0.5]]
    """
    if any(min(grades.values(), default=0) < 0 for grades in qrels.values()):
        return Scoreboard(collect(qrels, _checked(runs)), conventions)  # a pool's ranks count, too
    by_column = {name: run for name, run in runs.items() if isinstance(run, RankingsByQuery)}
    lists: Lists = (
        ListsByColumn(qrels, by_column, conventions.like_trec_eval)
        if by_column and len(by_column) == len(runs)
        else _LookedUp(qrels, runs, conventions.like_trec_eval)
    )
    return Scoreboard(lists.collection, conventions, lists)


def _checked(runs: Runs) -> Runs:
    """Return runs whose lists are found to be well formed; raises `BadInput` otherwise."""
    for name, run in runs.items():
        for query_id, ranked in run.items():
            check_kind(name, check_id(query_id, "query"), ranked)
            check_whole_list(name, query_id, ranked)
    return runs


class _LookedUp(Lists):
    """Plain lists, checked, one after the other: those of a run, then those of the next.

    ``_given`` are the lists, ``_rows`` the rows of hits they belong to, ``_sizes`` how long they
    are. ``_scores`` are the scores in all of them, each list's from ``_bounds`` on; a list without
    any has 0, -1, -2. ``_found`` are those of a query's judged chunks in each list that is a dict
    (``_is_dict``), NaN where it does not hold one. In lists that are ``_unsettled`` the scores do
    not all fall as 32-bit floats (``_single``).
    """

    def __init__(self, qrels: Qrels, runs: Runs, by_score: bool) -> None:
        super().__init__(numbered_later(qrels, runs), by_score)
        self._runs, self._judged = len(runs), list(qrels.values())
        self._given: list[GivenList] = []
        rows = list(self._gather(runs))
        self._rows = np.array(rows, dtype=np.int64)
        self._is_dict = np.array([isinstance(each, _DICTS) for each in self._given], np.bool_)
        self._sizes = np.array(list(map(len, map(_ids, self._given))), dtype=np.int64)
        self._bounds = np.append(0, np.cumsum(self._sizes))
        self._asked = np.array(list(map(len, self._judged)), dtype=np.int64)
        asked = self._is_dict * self._asked[self._rows // max(1, self._runs)]
        in_turns = np.stack([self._sizes, asked], axis=1).ravel()
        numbers = np.fromiter(chain.from_iterable(self._look_up(rows)), np.float64, in_turns.sum())
        is_score = np.repeat(np.arange(len(in_turns)) % 2 == 0, in_turns)
        self._scores, self._found = numbers[is_score], numbers[~is_score]
        if not np.isfinite(self._scores).all():
            for row, ranked in zip(rows, self._given, strict=True):
                check_whole_list(*self._names(row), ranked)
        with np.errstate(over="ignore"):  # what no 32-bit score holds is infinite, and tied
            self._single = self._scores.astype(np.float32)
        self._unsettled = np.zeros(len(rows), dtype=np.bool_)
        self._unsettled[lists_with(self._single[1:] >= self._single[:-1], self._bounds)] = True

    def _gather(self, runs: Runs) -> Iterator[int]:
        """Keep the lists that are asked for, and give the row of each; others are only checked."""
        numbers = {query_id: query for query, query_id in enumerate(self.collection.query_ids)}
        for at, (name, run) in enumerate(runs.items()):
            for query_id, ranked in run.items():
                query = numbers.get(query_id)
                if query is None:
                    check_kind(name, check_id(query_id, "query"), ranked)
                    check_whole_list(name, query_id, ranked)
                    continue
                check_kind(name, query_id, ranked)
                self._given.append(ranked)
                yield query * self._runs + at

    def _names(self, row: int) -> tuple[str, str]:
        """Return of which run and query a row is."""
        query, run = divmod(row, self._runs)
        return self.collection.runs[run].name, self.collection.query_ids[query]

    def _look_up(self, rows: Iterable[int]) -> Iterator[Iterable[float]]:
        """Take one list after the other: give all its scores, then those of the judged chunks.

        It is checked at once, because fetching from memory what was just at hand would take longer
        than all the rest.
        """
        gaps, runs = repeat(math.nan), self._runs
        for row, ranked in zip(rows, self._given, strict=True):
            if isinstance(ranked, _DICTS):
                if not is_plain(ranked):
                    check_list(*self._names(row), ranked)
                yield ranked.values()
                yield map(ranked.get, self._judged[row // runs], gaps)
            else:
                check_list(*self._names(row), ranked)
                yield _falling(ranked)

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
            scores = self._single[self._span(at)]
            found[run][query] = -np.sort(-scores) if self._is_dict[at] else scores
        return found

    def _span(self, at: int) -> slice:
        return slice(self._bounds[at], self._bounds[at + 1])

    def hits(self, golden: Sequence[QueryGrades]) -> Hits:
        """Return where the judged chunks stand; ``golden`` is what they were looked up by."""
        length = np.zeros(len(golden) * self._runs, dtype=np.int64)
        length[self._rows] = self._sizes
        found = np.concatenate([self._from_scores(), self._from_places()])
        return hits_from(found, self.collection, length.reshape(len(golden), self._runs))

    def _from_scores(self) -> Ints:
        """Return the hits in dicts whose scores fall, as numbers: a score tells the rank."""
        grades = np.fromiter(chain.from_iterable(each.values() for each in self._judged), np.int64)
        dicts = np.flatnonzero(self._is_dict)
        query = self._rows[dicts] // max(1, self._runs)
        asked = self._asked[query]
        shift = (np.cumsum(self._asked) - self._asked)[query] - (np.cumsum(asked) - asked)
        place = np.arange(len(self._found)) + np.repeat(shift, asked)
        there = ~np.isnan(self._found) & np.repeat(~self._unsettled[dicts], asked)
        of, score, grade = np.repeat(dicts, asked)[there], self._found[there], grades[place[there]]
        above = _count_above(self._scores, self._bounds[of], self._bounds[of + 1], score)
        return numbered(self._rows[of], above + 1, grade)

    def _from_places(self) -> Ints:
        """Return the hits in all other lists, as numbers: they are gone through."""
        rows: list[int] = []
        ranks: list[int] = []
        found: list[int] = []
        for at in np.flatnonzero(~self._is_dict | self._unsettled).tolist():
            row, ids = int(self._rows[at]), self._in_order(at)
            grades = self._judged[row // self._runs]
            mine = list(compress(count(1), map(grades.__contains__, ids)))
            ranks += mine
            rows += [row] * len(mine)
            found += [grades[ids[rank - 1]] for rank in mine]
        return numbered(*(np.array(each, dtype=np.int64) for each in (rows, ranks, found)))

    def _in_order(self, at: int) -> Sequence[str]:
        """Return the ids of a list, best first."""
        ids, span = list(_ids(self._given[at])), self._span(at)
        if self._unsettled[at] and self.by_score:
            best_first = sorted(zip(self._single[span].tolist(), ids, strict=True), reverse=True)
            return [chunk_id for _, chunk_id in best_first]
        if self._unsettled[at] and self._is_dict[at]:
            return [ids[place] for place in np.argsort(-self._scores[span], kind="stable").tolist()]
        return ids


def _ids(ranked: GivenList) -> Mapping[str, float] | Sequence[str]:
    return ranked.chunk_ids if isinstance(ranked, Ranking) else ranked


def _is_scored(ranked: GivenList) -> bool:
    if isinstance(ranked, Ranking):
        return ranked.scores is not None
    return isinstance(ranked, Mapping)


def _falling(ranked: Ranking | Sequence[str]) -> Sequence[float]:
    """Return the scores of a list, and where it has none what trec_eval takes them to be."""
    scores = ranked.scores if isinstance(ranked, Ranking) else None
    return range(0, -len(_ids(ranked)), -1) if scores is None else scores


def _count_above(scores: Floats, first: Ints, end: Ints, sought: Floats) -> Ints:
    """Count the scores above each one that is sought, from its ``first`` up to its ``end``.

    In between they fall, so that it is found by steps that halve.

    >>> one, three = np.array([1]), np.array([3])
    >>> _count_above(np.array([9.0, 5.0, 3.0]), one, three, np.array([3.0])).tolist()
    [1]
    """
    low, last = first - 1, end - 1
    longest = int((end - first).max(initial=0))
    for bit in reversed(range(longest.bit_length())):
        probe = np.minimum(low + (1 << bit), last)
        low = low + (probe - low) * (scores[probe] > sought)  # without a branch: twice as fast
    return low + 1 - first
