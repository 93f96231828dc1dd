"""Simulated grades of unjudged chunks of two runs, and the pairs that move their delta most.

Each draw fills all unjudged chunks with grades that they may turn out to have; the deltas over
the draws say how far apart the two runs may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Hits, Ints, Measure, SmallInts, score
from labeler.stats import DEPTH, UnjudgedModel

MOST_DRAWS, MOST_DRAWN_GRADES, FEWEST_DRAWS = 200, 4_000_000, 64
"""How often holes are filled: less often where there are many, whose luck evens out."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """The deltas of B minus A by a measure, drawn as often as ``grades`` has rows.

    ``places`` (holes,) are where the holes of both stand in the filling's tops, ``grades`` (draws,
    holes) what they are drawn to be, and ``deltas`` (draws, queries) what follows: NaN where the
    measure is not defined.
    """

    measure: Measure
    columns: tuple[int, int]
    filling: UnjudgedModel
    places: Ints
    grades: SmallInts
    deltas: Floats
    seed: int = 0

    @property
    def means(self) -> Floats:
        """The mean delta of each draw, (draws,); NaN where no query is defined."""
        known = ~np.isnan(self.deltas)
        n = known.sum(axis=1)
        means: Floats = np.where(known, self.deltas, 0.0).sum(axis=1) / np.where(n, n, np.nan)
        return means

    @property
    def noise(self) -> float:
        """The part of the variance of `means` that is of each query alone, by the holes in it."""
        n = np.maximum((~np.isnan(self.deltas)).sum(axis=1).mean(), 1.0)
        return float(np.nan_to_num(self.deltas).var(axis=0).sum() / n**2)

    @cached_property
    def moves(self) -> Floats:
        """How far the grade of each hole is expected to move the mean delta, (holes,).

        The standard deviation, over what the grade may be, of the mean delta that is expected once
        it is known.
        """
        query = self.filling.tops.query[self.places]
        off = np.nan_to_num(self.deltas)
        # taken, each draw stays a row in memory, and what has rows is added up five times as fast
        off = (off - off.mean(axis=0)).astype(np.float32).take(query, axis=1)
        spread, rest = np.zeros(len(self.places)), np.zeros(len(self.places))
        draws = np.full(len(self.places), len(self.grades))
        for grade in (1, 2, 3):
            drawn = self.grades == grade
            count = drawn.sum(axis=0)
            total = np.einsum("dn,dn->n", drawn, off, dtype=np.float32, casting="unsafe")
            spread += total.astype(np.float64) ** 2 / np.maximum(count, 1)
            rest, draws = rest - total, draws - count
        spread += rest**2 / np.maximum(draws, 1)  # grade 0 has what is left: all add up to nothing
        n = max(float((~np.isnan(self.deltas)).sum(axis=1).mean()), 1.0)
        moves: Floats = np.sqrt(spread / len(self.grades)) / n
        return moves

    def after(self, board: Scoreboard, filling: UnjudgedModel, changed: Ints) -> Simulation:
        """Return the trial after grades of the queries ``changed``, as ``filling`` has them.

        What was learnt of ranks, runs and buckets has to be the same in it.
        """
        places = unjudged_of_both(board, filling, self.measure, self.columns)
        grades = np.zeros((len(self.grades), len(places)), dtype=np.int8)
        query = filling.tops.query
        kept = ~np.isin(query[self.places], changed)
        stays = np.isin(places, self.places[kept])
        grades[:, stays] = self.grades[:, kept]
        anew = places[~stays]
        grades[:, ~stays] = draw_grades(filling, anew, len(grades), self.seed)
        deltas = self.deltas.copy()
        deltas[:, changed] = known_deltas(board, self.measure, self.columns)[changed]
        part = replace(self, filling=filling, places=places, grades=grades, deltas=deltas)
        part._fill(board, np.unique(query[anew]))
        return part

    def _fill(self, board: Scoreboard, queries: Ints) -> None:
        """Compute the deltas of some queries from the grades drawn for their holes."""
        if len(queries):
            query = self.filling.tops.query[self.places]
            chosen = np.isin(query, queries)
            drawn = DrawnGrades(self.places[chosen], self.grades[:, chosen], queries)
            self.deltas[:, queries] = drawn.deltas(board, self.filling, self.measure, self.columns)


@dataclass(frozen=True, eq=False)
class DrawnGrades:
    """Holes of some ``queries`` (rising) with the grades that are drawn for them."""

    places: Ints
    grades: SmallInts
    queries: Ints

    def deltas(
        self, board: Scoreboard, filling: UnjudgedModel, measure: Measure, columns: tuple[int, int]
    ) -> Floats:
        """Return B minus A in each draw, (draws, queries)."""
        hits = self._hits(board, filling, columns)
        cutoffs = np.repeat(board.cutoffs(measure)[self.queries], 2)
        same = cutoffs[0] if (cutoffs == cutoffs[0]).all() else None
        k = np.tile(cutoffs, len(self.grades)) if same is None else int(same)
        values = score(hits, measure, k)
        if board.conventions.stand_in is not None:
            values = np.nan_to_num(values, nan=board.conventions.stand_in)
        values[hits.unjudged] = np.nan
        both = values.reshape(len(self.grades), len(self.queries), 2)
        deltas: Floats = both[:, :, 1] - both[:, :, 0]
        return deltas

    def _hits(self, board: Scoreboard, filling: UnjudgedModel, columns: tuple[int, int]) -> Hits:
        """Put drawn grades between those known: a row for A and one for B, by query, by draw."""
        draws, queries = len(self.grades), len(self.queries)
        at = np.searchsorted(self.queries, filling.tops.query[self.places])
        rows, ranks, grades = [], [], []
        lengths = np.zeros((queries, 2), dtype=np.int64)
        for side, column in enumerate(columns):
            known = board.hits(board.run_names[column]).rows(self.queries.tolist())
            rank = filling.tops.ranks[self.places, column]
            there = rank > 0
            rows += [known.row * 2 + side, at[there] * 2 + side]
            ranks += [known.rank, rank[there]]
            grades += [np.tile(known.grade, (draws, 1)), self.grades[:, there]]
            lengths[:, side] = known.length
        row, rank = np.concatenate(rows), np.concatenate(ranks)
        order = np.lexsort((rank, row))
        grade = np.concatenate(grades, axis=1)[:, order]
        counts = np.arange(draws)[:, np.newaxis] * queries + at
        drawn = np.bincount((counts * 4 + self.grades).ravel(), minlength=draws * queries * 4)
        all_known = np.tile(known.known, (draws, 1)) + drawn.reshape(-1, 4)
        return Hits(
            row=(row[order] + np.arange(draws)[:, np.newaxis] * 2 * queries).ravel(),
            rank=np.tile(rank[order], draws),
            grade=grade.ravel(),
            known=np.repeat(all_known, 2, axis=0),
            length=np.tile(lengths.ravel(), draws),
        )


def search_depth(board: Scoreboard, measure: Measure) -> Ints:
    """Return how deep the holes of a measure are looked for, (queries,): top 20 without a cut."""
    cutoffs = board.cutoffs(measure)
    return cutoffs if measure.cutoff is not None else np.full_like(cutoffs, DEPTH)


def within_cutoff(
    board: Scoreboard, filling: UnjudgedModel, measure: Measure, columns: tuple[int, int]
) -> Bools:
    """Say which chunks of the tops A or B has above a measure's cut-off, graded or not, (n,)."""
    return filling.tops.within(columns, search_depth(board, measure))


def unjudged_of_both(
    board: Scoreboard, filling: UnjudgedModel, measure: Measure, columns: tuple[int, int]
) -> Ints:
    """Return where in the tops the holes of A and B stand; none where one has no result at all."""
    if not all(board.hits(board.run_names[column]).length.any() for column in columns):
        return np.zeros(0, dtype=np.int64)
    holes = filling.holes
    return holes[within_cutoff(board, filling, measure, columns)[holes]]


def known_deltas(board: Scoreboard, measure: Measure, columns: tuple[int, int]) -> Floats:
    """Return B minus A as the grades there are have it, (queries,)."""
    values = board.values(measure)
    deltas: Floats = values[:, columns[1]] - values[:, columns[0]]
    return deltas


def simulate(
    board: Scoreboard, filling: UnjudgedModel, measure: Measure, a: str, b: str, seed: int = 0
) -> Simulation:
    """Fill the holes of A and B as they may turn out, again and again, by a measure's cut-off.

    May raise `NotFound` for a run.
    """
    columns = (board.column_of(a), board.column_of(b))
    places = unjudged_of_both(board, filling, measure, columns)
    draws = max(FEWEST_DRAWS, min(MOST_DRAWS, MOST_DRAWN_GRADES // max(1, len(places))))
    grades = draw_grades(filling, places, draws, seed)
    known = known_deltas(board, measure, columns)
    trial = Simulation(measure, columns, filling, places, grades, np.tile(known, (draws, 1)), seed)
    trial._fill(board, np.unique(filling.tops.query[places]))
    return trial


def draw_grades(filling: UnjudgedModel, places: Ints, draws: int, seed: int) -> SmallInts:
    """Return the grades drawn for some holes, (draws, holes); of no hole there are none."""
    if not len(places):
        return np.zeros((draws, 0), dtype=np.int8)
    return filling.draw(places, draws, seed)


BATCH = 20
"""How many pairs are chosen before what they turned out to be is looked at."""


@dataclass(frozen=True, slots=True)
class DecidingPair:
    """A pair that decides: the ranks at which A and B have it, None where one has it nowhere.

    ``move`` is how far its grade is expected to move the mean delta.
    """

    query_id: str
    chunk: int
    chunk_id: str
    rank_a: int | None
    rank_b: int | None
    move: float


def choose_pairs(board: Scoreboard, trial: Simulation, many: int = BATCH) -> list[DecidingPair]:
    """Return the ``many`` pairs whose grade is expected to move the delta most, best first."""
    moves = trial.moves
    tops, names = trial.filling.tops, board.collection
    found = []
    for at in largest_first(moves, many).tolist():
        place = int(trial.places[at])
        query, chunk = int(tops.query[place]), int(tops.chunk[place])
        rank_a, rank_b = (int(tops.ranks[place, column]) or None for column in trial.columns)
        ids = (names.query_ids[query], chunk, names.chunk_ids[chunk])
        found.append(DecidingPair(*ids, rank_a, rank_b, float(moves[at])))
    return found


def largest_first(moves: Floats, many: int) -> Ints:
    """Return where the ``many`` largest stand, the largest first; equal ones as they come."""
    if many < len(moves):
        least = np.partition(moves, -many)[-many] if many else np.inf
        some = np.flatnonzero(moves >= least)
    else:
        some = np.arange(len(moves))
    order: Ints = some[np.argsort(-moves[some], kind="stable")][:many]
    return order
