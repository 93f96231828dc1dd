"""Model of unjudged chunks: the probability of each grade, learnt from the judged ones.

A chunk is taken to be like the judged chunks that runs put at similar ranks, that as many runs
agree on, and whose query is of the same buckets and has as large a share of relevant chunks. That
is wrong where people chose what to grade by what it says.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from labeler.evaluation import Scoreboard
from labeler.measures import Bools, Floats, Ints, SmallInts
from labeler.stats.mixed_logit import (
    GRID,
    LEVEL_STEP,
    SLOPE,
    SLOPE_STEP,
    GroupLevels,
    MixedLogitFit,
    fit_mixed_logit,
    infer_group_levels,
    sigmoid,
)
from labeler.stats.unjudged_chunks import (
    DEPTH,
    UNGRADED,
    TopChunks,
    find_top_chunks,
    golden_grades_of,
)

FIRST_GUESS = (-0.8, 0.0, -0.4)
"""Logits of reaching grade 1, 2 and 3 from the one below, before anything is known."""

SLOPES = (-0.25, -0.7)
"""Logits by which a chunk is less likely to be relevant as its best rank, and its mean, double."""

SHARE_OF_SLOPES = (1.0, 0.7, 0.7)
"""How much of it is thought to hold for the steps to grades 1, 2 and 3."""

BENDS = (3, 8, 13)
"""Ranks from which the slope may be another: where nobody grades that deep, nobody knows."""

NEAR_TOP = (1, 3)
"""Ranks down to which each run may be better or worse than its other ranks let expect."""

LOWEST = 150  # deeper ranks, and chunks that a run does not hold, are taken to stand here
DOUBT = 1.15
"""By how much weights are less sure than their fit says, since no model is quite right."""

BEND, ALONE = 0.8, 1.0
"""How far, in logits, chunks of a kind may be better or worse than others let expect: at ranks that
are twice as deep, or found by one run alone. So wide is the doubt where none of a kind is graded.
"""

HOPE, BARREN = 0.8, 2.5
"""How much better the holes of graded queries in which nothing relevant is known may be, and how
far that may be off for all of them together: a query is asked since somebody expects an answer, but
whether these are hard or have none is what no grade in the others tells.
"""

MOST_RUNS, FEW_RUNS, MOST_BUCKETS = 12, 6, 16
ROUGHLY, MOST_LEARNT = 800, 3_000
"""So many grades are enough for a first guess of the weights, and for the weights."""

GRADES = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class GradeStep:
    """The step from the grade below to a grade: what is known of it, in all and by query."""

    grade: int
    fitted: MixedLogitFit
    levels: GroupLevels


@dataclass(frozen=True, eq=False)
class UnjudgedModel:
    """What is believed of the chunks near the top of a board's runs.

    ``features`` (n, features) are those of ``tops``, ``grades`` (n,) those known, -1 where none is.
    ``barren`` (queries,) says which queries have grades and nothing relevant among them.
    """

    tops: TopChunks
    features: Floats
    grades: Ints
    steps: tuple[GradeStep, ...]
    barren: Bools

    @property
    def holes(self) -> Ints:
        """The places in ``tops`` of the chunks that nobody has graded."""
        return np.flatnonzero(self.grades == UNGRADED)

    def chances(self, places: Ints) -> Floats:
        """Return P(grade = 0, 1, 2, 3) of chunks, (n, 4), whether they are graded or not.

        ``places`` are those in ``tops``, see `TopChunks.places`. Rows add up to 1. What the grades
        of a query say of its other chunks is in them: those of one query do not vary alone.
        """
        x, query = self.features[places], self.tops.query[places]
        reached = np.ones((len(places), 5))
        reached[:, 4] = 0.0
        for step in self.steps:
            chance = (sigmoid(step.fitted.logits(x)) * step.levels.share[query]).sum(axis=1)
            reached[:, step.grade] = reached[:, step.grade - 1] * chance
        return reached[:, :4] - reached[:, 1:]

    def draw(self, places: Ints, draws: int, seed: int = 0) -> SmallInts:
        """Draw grades of chunks, (draws, n): each draw is one golden set as it may turn out to be.

        ``places`` rise. Within a draw all chunks share one opinion of how ranks and grades go
        together, those of a query how many of its chunks are relevant, and queries in which nothing
        relevant is known whether they are hard or hopeless, so that a mean over draws is as unsure
        as it should be. The same seed gives a query the same luck again.
        """
        x, query = self.features[places], self.tops.query[places]
        there, which = np.unique(query, return_inverse=True)
        grades = np.zeros((draws, len(places)), dtype=np.int8)
        lucks = [np.random.default_rng([seed, number]) for number in there.tolist()]
        sizes = np.bincount(which, minlength=len(there)).tolist()
        own = np.array([luck.random((len(self.steps), 3, draws)) for luck in lucks])
        own = own.reshape(len(there), len(self.steps), 3, draws)
        noise = [
            luck.random((len(self.steps), draws, n)) for luck, n in zip(lucks, sizes, strict=True)
        ]
        chance = np.concatenate([np.empty((len(self.steps), draws, 0)), *noise], axis=2)
        opinion = np.random.default_rng(seed)
        for at, step in enumerate(self.steps):
            weights, level, slope = self._opinions(step, there, opinion, own[:, at])
            logits = np.take(slope, which, axis=1)
            logits *= x[:, SLOPE]
            logits += np.take(level, which, axis=1)
            logits += weights @ x.T
            passed = chance[at] < sigmoid(logits)
            grades += (passed & (grades == step.grade - 1)).astype(np.int8)
        return grades

    def _opinions(
        self,
        step: GradeStep,
        queries: Ints,
        opinion: np.random.Generator,
        luck: Floats,
    ) -> tuple[Floats, Floats, Floats]:
        """Draw weights (draws, features), and levels and slopes of queries, (draws, queries).

        ``luck`` (queries, 3, draws) is that of each query alone, ``opinion`` that of all together.
        """
        fitted, known, draws = step.fitted, step.levels, luck.shape[2]
        root = np.linalg.cholesky(fitted.covariance)
        off = DOUBT * opinion.standard_normal((draws, len(root))) @ root.T
        weights = off[:, : len(fitted.weights)]
        level, slope = _drawn_points(known.share[queries], luck) * fitted.spreads[:, None, None]
        slope = slope.T + level.T * (fitted.tilt + off[:, [-1]])
        level = level.T + weights @ known.moves[queries].T
        if step.grade == min(GRADES):
            level += np.outer(HOPE + BARREN * opinion.standard_normal(draws), self.barren[queries])
        return fitted.weights + weights, level, slope

    def after(self, board: Scoreboard, queries: Iterable[int]) -> UnjudgedModel:
        """Return what is believed after grades of some queries changed.

        All that was learnt of ranks, runs and buckets stays: only these queries' own shares, and
        what is a hole in them, are looked at anew.
        """
        changed = sorted(set(queries))
        grades, barren = self.grades.copy(), self.barren.copy()
        for query in changed:
            inside = self.tops.of(query)
            query_id = board.collection.query_ids[query]
            barren[query] = _has_nothing_relevant(board, query_id)
            grades[inside] = board.grades(query_id, self.tops.chunk[inside].astype(np.int32))
        at = [np.arange(self.tops.queries)[:0]] + [
            np.arange(self.tops.bounds[query], self.tops.bounds[query + 1]) for query in changed
        ]
        places = np.concatenate(at)
        steps = []
        for step in self.steps:
            part = _training_rows(self.features, self.tops, grades, step.grade, places)
            fresh = infer_group_levels(step.fitted, *part, self.tops.queries)
            share, moves = step.levels.share.copy(), step.levels.moves.copy()
            share[changed], moves[changed] = fresh.share[changed], fresh.moves[changed]
            steps.append(GradeStep(step.grade, step.fitted, GroupLevels(share, moves)))
        return UnjudgedModel(self.tops, self.features, grades, tuple(steps), barren)


def fit_unjudged_model(board: Scoreboard, tops: TopChunks | None = None) -> UnjudgedModel:
    """Learn what ungraded chunks may be from the golden grades in the top 20 of the runs.

    Deeper grades teach nothing, since few chunks down there are graded and most of those for being
    relevant. With nothing graded a first guess stands, and is unsure.

    >>> from labeler.evaluation import Conventions, collect
    >>> grades = {f"q{n}": {"a": 3, "b": 0} for n in range(40)} | {"new": {}}
    >>> runs = {"A": {query: ["a", "b"] for query in grades}}
    >>> board = Scoreboard(collect(grades, runs), Conventions.of())
    >>> filling = fit_unjudged_model(board)
    >>> [relevant_first, relevant_second] = 1 - filling.chances(filling.holes)[:, 0]
    >>> bool(relevant_first > 0.5 > relevant_second)
    True
    """
    board = board.snapshot()
    tops = find_top_chunks(board) if tops is None else tops
    grades = golden_grades_of(board, tops)
    features, means, doubt = _features(board, tops)
    few, taught = (_training_places(tops, grades, most) for most in (ROUGHLY, MOST_LEARNT))
    steps = []
    for grade, guess in zip(GRADES, FIRST_GUESS, strict=True):
        prior = means * SHARE_OF_SLOPES[grade - 1]
        prior[0] = guess
        every = _training_rows(features, tops, grades, grade, np.flatnonzero(_is_near_top(tops)))
        rough = fit_mixed_logit(*_training_rows(features, tops, grades, grade, few), prior, doubt)
        fitted = fit_mixed_logit(
            *_training_rows(features, tops, grades, grade, taught), prior, doubt, rough
        )
        steps.append(GradeStep(grade, fitted, infer_group_levels(fitted, *every, tops.queries)))
    barren = np.array(
        [_has_nothing_relevant(board, each) for each in board.collection.query_ids], np.bool_
    )
    return UnjudgedModel(tops, features, grades, tuple(steps), barren)


def _has_nothing_relevant(board: Scoreboard, query_id: str) -> bool:
    not_relevant, *relevant = board.counts_of(query_id)
    return not_relevant > 0 and not any(relevant)


def _drawn_points(share: Floats, luck: Floats) -> Floats:
    """Return levels and slopes drawn by how far each is believed in, (2, groups, draws).

    ``luck`` (groups, 3, draws) chooses a point of the grid, and a place around it.
    """
    sums = np.cumsum(share, axis=1)[:, :-1, np.newaxis]
    point = np.add.reduce(sums < luck[:, :1], axis=1, dtype=np.int64)
    around = (luck[:, 1:] - 0.5).transpose(1, 0, 2)
    steps = np.array([LEVEL_STEP, SLOPE_STEP])[:, np.newaxis, np.newaxis]
    drawn: Floats = GRID[point].transpose(2, 0, 1) + around * steps
    return drawn


def _is_near_top(tops: TopChunks) -> Bools:
    """Say which chunks are where people grade: in the top 20 of a run."""
    near: Bools = np.any((tops.ranks > 0) & (tops.ranks <= DEPTH), axis=1)
    return near


def _training_places(tops: TopChunks, grades: Ints, most: int) -> Ints:
    """Return the places of the grades that weights are learnt from: of some queries, if many."""
    places = np.flatnonzero((grades != UNGRADED) & _is_near_top(tops))
    if len(places) <= most:
        return places
    counts = np.bincount(tops.query[places], minlength=tops.queries)
    order = np.random.default_rng(0).permutation(tops.queries)
    chosen = np.zeros(tops.queries, dtype=np.bool_)
    chosen[order[np.cumsum(counts[order]) <= most]] = True
    some: Ints = places[chosen[tops.query[places]]]
    return some


def _training_rows(
    features: Floats, tops: TopChunks, grades: Ints, grade: int, places: Ints
) -> tuple[Floats, Floats, Ints]:
    """Return the features of the graded chunks that reach the grade below, and who goes on."""
    there = places[grades[places] >= grade - 1]
    return features[there], (grades[there] >= grade).astype(np.float64), tops.query[there]


def _features(board: Scoreboard, tops: TopChunks) -> tuple[Floats, Floats, Floats]:
    """Return what is looked at of each chunk, (n, features), and what is thought of it beforehand.

    That is how much each feature counts before anything is known, and how far that may be wrong.
    """
    ranks, (n, runs) = tops.ranks, tops.ranks.shape
    there = ranks > 0
    depth = np.log2(np.where(there, np.minimum(ranks, LOWEST), LOWEST) + 2)
    mean = depth.mean(axis=1, keepdims=True) if runs else np.full((n, 1), np.log2(LOWEST + 2))
    best = depth.min(axis=1, initial=np.log2(LOWEST + 2))[:, np.newaxis]
    count = (there & (ranks <= DEPTH)).sum(axis=1, keepdims=True)
    bends = [np.maximum(best - np.log2(rank + 2), 0.0) for rank in BENDS]
    columns = [np.ones((n, 1)), best - 3, mean - 4, count / max(runs, 1) - 0.5, count == 1, *bends]
    means = [0.0, *SLOPES, *([0.0] * (2 + len(BENDS)))]
    doubts = [2.0, 0.4, 0.4, 0.5, 0.4, *([BEND] * len(BENDS))]
    near_top = [(there & (ranks <= rank)) * 1.0 for rank in NEAR_TOP]
    for share in near_top:
        columns.append(share.mean(axis=1, keepdims=True) if runs else np.zeros((n, 1)))
        doubts.append(0.5)
    if 1 < runs <= MOST_RUNS:
        alone = (there & (ranks <= DEPTH) & (count == 1)) * 1.0
        own = [depth - mean, alone, *(near_top if runs <= FEW_RUNS else ())]
        columns += own
        doubts += [0.3] * runs + [ALONE] * runs + [0.3] * runs * (len(own) - 2)
    for facet, given in board.facets.items():
        if len(given) <= MOST_BUCKETS:
            _, group = board.groups(facet)
            columns.append((group[tops.query, np.newaxis] == np.arange(len(given))) * 1.0)
            doubts += [0.5] * len(given)
    means += [0.0] * (len(doubts) - len(means))
    return np.concatenate(columns, axis=1), np.array(means), np.array(doubts)
