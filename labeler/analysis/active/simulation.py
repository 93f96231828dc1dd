"""Simulated grades of unjudged chunks of two runs, and the pairs that move their delta most.

Each draw gives every unjudged chunk a possible grade; the deltas over the draws show how far apart
the two runs may be.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Hits, Ints, Measure, SmallInts, score
from labeler.stats import DEPTH, UnjudgedModel

MOST_DRAWS, MOST_DRAWN_GRADES, FEWEST_DRAWS = 200, 4_000_000, 64
"""Limits of the number of draws: with many unjudged chunks fewer suffice, as chance evens out."""


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated deltas of B minus A by a measure, one row per draw.

    ``places`` (unjudged,) are the indices of both runs' unjudged chunks in the model's top chunks,
    ``grades`` (draws, unjudged) what is drawn for them, and ``deltas`` (draws, queries) the
    resulting deltas: NaN where the measure is undefined.
    """

    measure: Measure
    columns: tuple[int, int]
    model: UnjudgedModel
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
        """The variance that `means` would have if the queries were independent."""
        n = np.maximum((~np.isnan(self.deltas)).sum(axis=1).mean(), 1.0)
        return float(np.nan_to_num(self.deltas).var(axis=0).sum() / n**2)

    @cached_property
    def moves(self) -> Floats:
        """How far each unjudged chunk's grade is expected to move the mean delta, (unjudged,).

        This is the standard deviation, over the chunk's possible grades, of the mean delta expected
        once its grade is known.
        """
        query = self.model.tops.query[self.places]
        off = np.nan_to_num(self.deltas)
        # take() keeps each draw a contiguous row, and rows are summed five times as fast
        off = (off - off.mean(axis=0)).astype(np.float32).take(query, axis=1)
        spread, rest = np.zeros(len(self.places)), np.zeros(len(self.places))
        draws = np.full(len(self.places), len(self.grades))
        for grade in (1, 2, 3):
            drawn = self.grades == grade
            count = drawn.sum(axis=0)
            total = np.einsum("dn,dn->n", drawn, off, dtype=np.float32, casting="unsafe")
            spread += total.astype(np.float64) ** 2 / np.maximum(count, 1)
            rest, draws = rest - total, draws - count
        spread += rest**2 / np.maximum(draws, 1)  # the rest is grade 0, as all draws sum to 0
        n = max(float((~np.isnan(self.deltas)).sum(axis=1).mean()), 1.0)
        moves: Floats = np.sqrt(spread / len(self.grades)) / n
        return moves

    def after(self, board: Scoreboard, model: UnjudgedModel, changed: Ints) -> Simulation:
        """Return the simulation updated for the queries ``changed``, with the grades in ``model``.

        The model's weights of ranks, runs and buckets must be unchanged.
        """
        places = unjudged_of_both(board, model, self.measure, self.columns)
        grades = np.zeros((len(self.grades), len(places)), dtype=np.int8)
        query = model.tops.query
        kept = ~np.isin(query[self.places], changed)
        stays = np.isin(places, self.places[kept])
        grades[:, stays] = self.grades[:, kept]
        redrawn = places[~stays]
        grades[:, ~stays] = draw_grades(model, redrawn, len(grades), self.seed)
        deltas = self.deltas.copy()
        deltas[:, changed] = known_deltas(board, self.measure, self.columns)[changed]
        updated = replace(self, model=model, places=places, grades=grades, deltas=deltas)
        updated._fill(board, np.unique(query[redrawn]))
        return updated

    def _fill(self, board: Scoreboard, queries: Ints) -> None:
        """Compute the deltas of some queries from the grades drawn for them."""
        if len(queries):
            query = self.model.tops.query[self.places]
            chosen = np.isin(query, queries)
            drawn = DrawnGrades(self.places[chosen], self.grades[:, chosen], queries)
            self.deltas[:, queries] = drawn.deltas(board, self.model, self.measure, self.columns)


@dataclass(frozen=True, eq=False)
class DrawnGrades:
    """Unjudged chunks of some ``queries`` (ascending) with the grades drawn for them."""

    places: Ints
    grades: SmallInts
    queries: Ints

    def deltas(
        self, board: Scoreboard, model: UnjudgedModel, measure: Measure, columns: tuple[int, int]
    ) -> Floats:
        """Return B minus A in each draw, (draws, queries)."""
        hits = self._hits(board, model, columns)
        cutoffs = np.repeat(board.cutoffs(measure)[self.queries], 2)
        same = cutoffs[0] if (cutoffs == cutoffs[0]).all() else None
        k = np.tile(cutoffs, len(self.grades)) if same is None else int(same)
        values = score(hits, measure, k)
        if board.conventions.stand_in is not None:
            values = np.nan_to_num(values, nan=board.conventions.stand_in)
        values[hits.without_grades] = np.nan
        both = values.reshape(len(self.grades), len(self.queries), 2)
        deltas: Floats = both[:, :, 1] - both[:, :, 0]
        return deltas

    def _hits(self, board: Scoreboard, model: UnjudgedModel, columns: tuple[int, int]) -> Hits:
        """Merge drawn and known grades: one row per draw, query and run, in this order."""
        draws, queries = len(self.grades), len(self.queries)
        at = np.searchsorted(self.queries, model.tops.query[self.places])
        rows, ranks, grades = [], [], []
        lengths = np.zeros((queries, 2), dtype=np.int64)
        for side, column in enumerate(columns):
            known = board.hits(board.run_names[column]).rows(self.queries.tolist())
            rank = model.tops.ranks[self.places, column]
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
    """Return the last rank at which unjudged chunks count, (queries,): `DEPTH` if no cut-off."""
    cutoffs = board.cutoffs(measure)
    return cutoffs if measure.cutoff is not None else np.full_like(cutoffs, DEPTH)


def within_cutoff(
    board: Scoreboard, model: UnjudgedModel, measure: Measure, columns: tuple[int, int]
) -> Bools:
    """Return which top chunks A or B has above a measure's cut-off, graded or not, (n,)."""
    return model.tops.within(columns, search_depth(board, measure))


def unjudged_of_both(
    board: Scoreboard, model: UnjudgedModel, measure: Measure, columns: tuple[int, int]
) -> Ints:
    """Return the indices of A's and B's unjudged top chunks; none if a run has no result at all."""
    if not all(board.hits(board.run_names[column]).length.any() for column in columns):
        return np.zeros(0, dtype=np.int64)
    unjudged = model.unjudged
    return unjudged[within_cutoff(board, model, measure, columns)[unjudged]]


def known_deltas(board: Scoreboard, measure: Measure, columns: tuple[int, int]) -> Floats:
    """Return B minus A under the present grades, (queries,)."""
    values = board.values(measure)
    deltas: Floats = values[:, columns[1]] - values[:, columns[0]]
    return deltas


def simulate(
    board: Scoreboard, model: UnjudgedModel, measure: Measure, a: str, b: str, seed: int = 0
) -> Simulation:
    """Draw grades for the unjudged chunks of A and B above a measure's cut-off, many times.

    Raises `NotFound` for an unknown run.
    """
    columns = (board.column_of(a), board.column_of(b))
    places = unjudged_of_both(board, model, measure, columns)
    draws = max(FEWEST_DRAWS, min(MOST_DRAWS, MOST_DRAWN_GRADES // max(1, len(places))))
    grades = draw_grades(model, places, draws, seed)
    known = known_deltas(board, measure, columns)
    simulation = Simulation(
        measure, columns, model, places, grades, np.tile(known, (draws, 1)), seed
    )
    simulation._fill(board, np.unique(model.tops.query[places]))
    return simulation


def draw_grades(model: UnjudgedModel, places: Ints, draws: int, seed: int) -> SmallInts:
    """Return grades drawn for some unjudged chunks, (draws, chunks)."""
    if not len(places):
        return np.zeros((draws, 0), dtype=np.int8)
    return model.draw(places, draws, seed)


BATCH = 20
"""The number of pairs chosen before the simulation is updated with their grades."""


@dataclass(frozen=True, slots=True)
class DecidingPair:
    """A pair whose grade helps to decide, with its ranks in A and B (None in a run without it).

    ``move`` is how far its grade is expected to move the mean delta.
    """

    query_id: str
    chunk: int
    chunk_id: str
    rank_a: int | None
    rank_b: int | None
    move: float


def choose_pairs(
    board: Scoreboard, simulation: Simulation, many: int = BATCH
) -> list[DecidingPair]:
    """Return the ``many`` pairs whose grade is expected to move the delta most, best first."""
    moves = simulation.moves
    tops, names = simulation.model.tops, board.collection
    found = []
    for at in largest_first(moves, many).tolist():
        place = int(simulation.places[at])
        query, chunk = int(tops.query[place]), int(tops.chunk[place])
        rank_a, rank_b = (int(tops.ranks[place, column]) or None for column in simulation.columns)
        ids = (names.query_ids[query], chunk, names.chunk_ids[chunk])
        found.append(DecidingPair(*ids, rank_a, rank_b, float(moves[at])))
    return found


def largest_first(moves: Floats, many: int) -> Ints:
    """Return the indices of the ``many`` largest, the largest first; equal ones in order."""
    if many < len(moves):
        least = np.partition(moves, -many)[-many] if many else np.inf
        some = np.flatnonzero(moves >= least)
    else:
        some = np.arange(len(moves))
    order: Ints = some[np.argsort(-moves[some], kind="stable")][:many]
    return order
