"""Model of unjudged chunks: the probability of each grade, fitted on the judged chunks.

It assumes that a chunk is like the judged chunks at similar ranks, retrieved by as many runs, of
queries in the same buckets with as many relevant chunks. That is wrong where people chose what to
grade by its content.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

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
"""Prior logits of reaching grade 1, 2 and 3 from the grade below."""

SLOPES = (-0.25, -0.7)
"""Prior change of the logit for each doubling of a chunk's best rank, and of its mean rank."""

SHARE_OF_SLOPES = (1.0, 0.7, 0.7)
"""The share of `SLOPES` assumed for the steps to grades 1, 2 and 3."""

BENDS = (3, 8, 13)
"""Ranks where the slope may change; without judgments that deep the change is unknown."""

NEAR_TOP = (1, 3)
"""Ranks down to which each run may be better or worse than its other ranks predict."""

LOWEST = 150  # the rank assumed for deeper chunks, and for those that a run did not retrieve
DOUBT = 1.15
"""Factor on the standard errors of the weights, since no model is exactly right."""

LOGISTIC_AS_NORMAL = 0.346
"""(16 √3 / (15 π))²: a logistic function is nearly a normal distribution function of this scale."""

BEND, ALONE = 0.8, 1.0
"""Prior standard deviations, in logits, of how much chunks of one kind may differ from others: at
ranks twice as deep, and in one run only. They remain where no chunk of that kind is judged.
"""

ALONE_UNGRADED = 2.5
"""Standard deviation, in logits, of how good chunks are that one run alone found and of whose kind
none is graded. Others' grades do not tell: all may be relevant, or none.
"""

HOPE, BARREN = 0.8, 2.5
"""By how many logits unjudged chunks of judged queries without a relevant chunk are better, and the
standard deviation of that for all of them together: people ask a query because they expect an
answer, but the grades of other queries do not tell whether these are hard or have none.
"""

LEAST_UNKNOWN = 0.05
MOST_RUNS, FEW_RUNS, MOST_BUCKETS = 12, 6, 16
ROUGHLY, MOST_LEARNT = 800, 3_000
"""The most grades used for a first fit of the weights, and for the final one."""

GRADES = (1, 2, 3)


@dataclass(frozen=True, eq=False)
class GradeStep:
    """The fitted model of reaching a grade from the grade below, and the levels of queries."""

    grade: int
    fitted: MixedLogitFit
    levels: GroupLevels


@dataclass(frozen=True, eq=False)
class UnjudgedModel:
    """A fitted model of the grades of the chunks near the top of a scoreboard's runs.

    ``features`` (n, features) and ``grades`` (n,), -1 where unjudged, are those of ``tops``.
    ``barren`` (queries,): queries with grades but without a relevant chunk. ``alone_unknown``: how
    little is known of each kind of chunk that one run alone found, see `TopChunks.alone`: 1 where
    none is graded, else 1 / (1 + the graded ones).
    """

    tops: TopChunks
    features: Floats
    grades: Ints
    steps: tuple[GradeStep, ...]
    barren: Bools
    alone_unknown: Floats

    @property
    def unjudged(self) -> Ints:
        """The indices in ``tops`` of the unjudged chunks."""
        return np.flatnonzero(self.grades == UNGRADED)

    def chances(self, places: Ints) -> Floats:
        """Return P(grade = 0, 1, 2, 3) of chunks, (n, 4), whether they are judged or not.

        ``places`` are indices in ``tops``, see `TopChunks.places`. Rows add up to 1. They include
        what the grades of a query tell about its other chunks, so chunks of one query are not
        independent.
        """
        x, query = self.features[places], self.tops.query[places]
        reached = np.ones((len(places), 5))
        reached[:, 4] = 0.0
        for step in self.steps:
            chance = (sigmoid(step.fitted.logits(x)) * step.levels.share[query]).sum(axis=1)
            reached[:, step.grade] = reached[:, step.grade - 1] * chance
        return reached[:, :4] - reached[:, 1:]

    def draw(self, places: Ints, draws: int, seed: int = 0) -> SmallInts:
        """Draw grades of chunks, (draws, n): each draw is one possible golden set.

        ``places`` rise. Within a draw all chunks share the weights, those of a query its level, and
        all queries without a known relevant chunk whether they are hard or have no answer, so that
        the spread of a mean over draws is right. The mean over draws is that of `chances`, but for
        the latter queries and for kinds of which few are graded. The same seed gives a query the
        same numbers, and chunks in a top 20 the same ones whether deeper ones are drawn or not.
        """
        x, query = self.features[places], self.tops.query[places]
        there, which = np.unique(query, return_inverse=True)
        grades = np.zeros((draws, len(places)), dtype=np.int8)
        uniforms, noise = self._random_numbers(places, draws, seed)
        shared_rng = np.random.default_rng(seed)
        apart, unlike, shift = self._drawn_kinds(places, draws, seed)
        for at, step in enumerate(self.steps):
            weights, level, slope = self._drawn_weights(step, there, shared_rng, uniforms[:, at])
            logits = np.take(slope, which, axis=1)
            logits *= x[:, SLOPE]
            logits += np.take(level, which, axis=1)
            logits += weights @ x.T
            logits += self._recentring(step, x, query)
            logits[:, apart] = logits[:, apart] * (1 - unlike) + shift
            passed = noise[at] < sigmoid(logits)
            grades += (passed & (grades == step.grade - 1)).astype(np.int8)
        return grades

    def _random_numbers(
        self, places: Ints, draws: int, seed: int
    ) -> tuple[Floats, npt.NDArray[np.float32]]:
        """Return uniform numbers: (queries, steps, 3, draws) by query, (steps, draws, n) by chunk.

        They do not depend on which other queries are drawn.
        """
        query, steps = self.tops.query[places], len(self.steps)
        there, starts = np.unique(query, return_index=True)
        ends = np.append(starts, len(places))[1:].tolist()
        order = np.lexsort((~self.tops.is_near_top[places], query))
        uniforms = np.empty((len(there), steps, 3, draws))
        noise = np.empty((steps, draws, len(places)), dtype=np.float32)
        spans = zip(there.tolist(), starts.tolist(), ends, strict=True)
        for at, (number, start, end) in enumerate(spans):
            rng = np.random.default_rng([seed, number])
            uniforms[at] = rng.random((steps, 3, draws))
            own = rng.random((end - start, steps, draws), dtype=np.float32)
            noise[:, :, order[start:end]] = own.transpose(1, 2, 0)
        return uniforms, noise

    def _recentring(self, step: GradeStep, x: Floats, query: Ints) -> Floats:
        """Return what to add to each chunk's logit so that draws have the model's chance as mean.

        Doubt about the weights, spread in logits, pulls every chance towards a half. The mean is
        that without doubt if the logit is multiplied by sqrt(1 + 0.346 · the doubt's variance): the
        logistic function is nearly that of a normal distribution.
        """
        fitted, share = step.fitted, step.levels.share[query]
        root = np.linalg.cholesky(fitted.covariance)[: len(fitted.weights)]
        doubt = DOUBT**2 * (((x + step.levels.moves[query]) @ root) ** 2).sum(axis=1)
        middle = x @ fitted.weights + share @ (GRID[:, 0] * fitted.spreads[0])
        slope = GRID @ (fitted.spreads * np.array([fitted.tilt, 1.0]))
        middle += x[:, SLOPE] * (share @ slope)
        moved: Floats = middle * (np.sqrt(1 + LOGISTIC_AS_NORMAL * doubt) - 1)
        return moved

    def _drawn_kinds(self, places: Ints, draws: int, seed: int) -> tuple[Ints, Floats, Floats]:
        """Draw how good chunks are that one run alone found and of whose kind few are graded.

        Returns their indices in ``places``, how little is known of each, (chunks,), and the logits
        drawn for that part, (draws, chunks), the same for all chunks of a kind.
        """
        kind = self.tops.alone[places]
        unknown = np.append(self.alone_unknown, 0.0)[kind]
        apart = np.flatnonzero(unknown >= LEAST_UNKNOWN)
        rng = np.random.default_rng([seed, self.tops.queries])
        drawn = ALONE_UNGRADED * rng.standard_normal((draws, len(self.alone_unknown)))
        return apart, unknown[apart], drawn[:, kind[apart]] * unknown[apart]

    def _drawn_weights(
        self, step: GradeStep, queries: Ints, shared_rng: np.random.Generator, uniforms: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Draw weights (draws, features), and levels and slopes of queries, (draws, queries).

        ``uniforms`` (queries, 3, draws) are for each query, ``shared_rng`` for all together.
        """
        fitted, known, draws = step.fitted, step.levels, uniforms.shape[2]
        root = np.linalg.cholesky(fitted.covariance)
        off = DOUBT * shared_rng.standard_normal((draws, len(root))) @ root.T
        weights = off[:, : len(fitted.weights)]
        level, slope = _drawn_points(known.share[queries], uniforms) * fitted.spreads[:, None, None]
        slope = slope.T + level.T * (fitted.tilt + off[:, [-1]])
        level = level.T + weights @ known.moves[queries].T
        if step.grade == min(GRADES):
            extra = HOPE + BARREN * shared_rng.standard_normal(draws)
            level += np.outer(extra, self.barren[queries])
        return fitted.weights + weights, level, slope

    def after(self, board: Scoreboard, queries: Iterable[int]) -> UnjudgedModel:
        """Return the model after grades of some ``queries`` changed.

        The fitted weights stay: only the levels of these queries and their unjudged chunks are
        updated.
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
            levels = infer_group_levels(step.fitted, *part, self.tops.queries)
            share, moves = step.levels.share.copy(), step.levels.moves.copy()
            share[changed], moves[changed] = levels.share[changed], levels.moves[changed]
            steps.append(GradeStep(step.grade, step.fitted, GroupLevels(share, moves)))
        return replace(self, grades=grades, steps=tuple(steps), barren=barren)


def fit_unjudged_model(board: Scoreboard, tops: TopChunks | None = None) -> UnjudgedModel:
    """Fit the model of unjudged chunks to the golden grades in the top 20 of the runs.

    Deeper grades are not used: few chunks there are judged, and most of them because they are
    relevant. Without grades the model is its prior.

    >>> from labeler.evaluation import Conventions, collect
    >>> grades = {f"q{n}": {"a": 3, "b": 0} for n in range(40)} | {"new": {}}
    >>> runs = {"A": {query: ["a", "b"] for query in grades}}
    >>> board = Scoreboard(collect(grades, runs), Conventions.of())
    >>> model = fit_unjudged_model(board)
    >>> [relevant_first, relevant_second] = 1 - model.chances(model.unjudged)[:, 0]
    >>> bool(relevant_first > 0.5 > relevant_second)
    True
    """
    board = board.snapshot()
    tops = find_top_chunks(board) if tops is None else tops
    grades = golden_grades_of(board, tops)
    features, means, doubt = _features(board, tops)
    few, many = (_training_places(tops, grades, most) for most in (ROUGHLY, MOST_LEARNT))
    steps = []
    for grade, guess in zip(GRADES, FIRST_GUESS, strict=True):
        prior = means * SHARE_OF_SLOPES[grade - 1]
        prior[0] = guess
        every = _training_rows(features, tops, grades, grade, np.flatnonzero(tops.is_near_top))
        rough = fit_mixed_logit(*_training_rows(features, tops, grades, grade, few), prior, doubt)
        fitted = fit_mixed_logit(
            *_training_rows(features, tops, grades, grade, many), prior, doubt, rough
        )
        steps.append(GradeStep(grade, fitted, infer_group_levels(fitted, *every, tops.queries)))
    barren = np.array(
        [_has_nothing_relevant(board, each) for each in board.collection.query_ids], np.bool_
    )
    graded = np.bincount(tops.alone[grades != UNGRADED] + 1, minlength=2 * tops.ranks.shape[1] + 1)
    return UnjudgedModel(tops, features, grades, tuple(steps), barren, 1 / (1 + graded[1:]))


def _has_nothing_relevant(board: Scoreboard, query_id: str) -> bool:
    not_relevant, *relevant = board.counts_of(query_id)
    return not_relevant > 0 and not any(relevant)


def _drawn_points(share: Floats, uniforms: Floats) -> Floats:
    """Return levels and slopes drawn from their posterior ``share``, (2, groups, draws).

    ``uniforms`` (groups, 3, draws) choose a point of the grid, and a position around it.
    """
    sums = np.cumsum(share, axis=1)[:, :-1, np.newaxis]
    point = np.add.reduce(sums < uniforms[:, :1], axis=1, dtype=np.int64)
    around = (uniforms[:, 1:] - 0.5).transpose(1, 0, 2)
    steps = np.array([LEVEL_STEP, SLOPE_STEP])[:, np.newaxis, np.newaxis]
    drawn: Floats = GRID[point].transpose(2, 0, 1) + around * steps
    return drawn


def _training_places(tops: TopChunks, grades: Ints, most: int) -> Ints:
    """Return the indices of the grades to fit weights on: at most ``most``, of whole queries."""
    places = np.flatnonzero((grades != UNGRADED) & tops.is_near_top)
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
    """Return features, outcome and query of the judged chunks that reach the grade below.

    The outcome is 1 where a chunk also reaches ``grade``.
    """
    there = places[grades[places] >= grade - 1]
    return features[there], (grades[there] >= grade).astype(np.float64), tops.query[there]


def _features(board: Scoreboard, tops: TopChunks) -> tuple[Floats, Floats, Floats]:
    """Return each chunk's features, (n, features), and the prior mean and deviation of weights."""
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
