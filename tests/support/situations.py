"""Situations of two runs, "old" and "new", whose verdict is known: what the sentences are held to.

Each is a board of made-up queries. A query is the ranks at which the old and the new run have its
good chunks; all other chunks are graded 0 unless they are left unjudged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

import numpy as np

from labeler.analysis.active import Decider
from labeler.analysis.comparison import (
    DecisionRules,
    GraderSensitivity,
    ReadingDelta,
    assess_pair,
    compare_candidates,
)
from labeler.analysis.comparison.grader_sensitivity import GradeReading
from labeler.analysis.run_verdict import PairResult, PairSources, describe_pair, direct_sources
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import Traffic

Places = tuple[Sequence[int], Sequence[int]]
"""The ranks of the good chunks of one query in the old and in the new run."""

RANKS = 10
UP: Sequence[Places] = [((2,), (1,)), ((3,), (1,)), ((4,), (2,)), ((5,), (2,)), ((7,), (3,))]
DOWN: Sequence[Places] = [(new, old) for old, new in UP]
SAME: Sequence[Places] = [((1,), (1,)), ((2,), (2,))]
UP_A_LITTLE: Sequence[Places] = [((1, 9), (1, 8)), ((1, 8), (1, 7)), ((1, 10), (1, 9))]


def some(kind: Sequence[Places], count: int) -> list[Places]:
    """Return so many queries, of the kinds in turn."""
    return list(islice(cycle(kind), count))


@dataclass(frozen=True)
class Situation:
    """Queries, what else is known of them, and the rules by which the two runs are compared.

    ``unjudged`` are ranks that nobody has graded, in the old and in the new run; nor is the good
    chunk number ``open_good`` of each query. With ``same_rest`` both runs have the same chunks
    beside the good ones. ``facets`` are the buckets of the queries, in order, and ``traffic``
    weights queries by their intent. ``graders`` are (name, number of grades that differ,
    difference by their own grades). ``without_list`` are queries without a list in the new run.
    With ``pushed_down`` the old run's list is that of the new one below an unjudged chunk.
    """

    queries: Sequence[Places]
    unjudged: tuple[Sequence[int], Sequence[int]] = ((), ())
    facets: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    rules: DecisionRules = field(default_factory=DecisionRules)
    graders: Sequence[tuple[str, int, float]] = ()
    within: tuple[str, str] | None = None
    not_graded: int = 0
    nothing_relevant: int = 0
    without_list: Sequence[int] = ()
    pairs: int = 1
    traffic: Mapping[str, int] = field(default_factory=dict)
    same_rest: bool = False
    open_good: int | None = None
    pushed_down: bool = False

    def board(self) -> Scoreboard:
        """Return the board of both runs."""
        qrels: dict[str, dict[str, int]] = {}
        runs: dict[str, dict[str, list[str]]] = {"old": {}, "new": {}}
        every = [*self.queries, *[((), ())] * (self.nothing_relevant + self.not_graded)]
        for number, places in enumerate(every):
            name, is_graded = f"q{number}", number < len(every) - self.not_graded
            grades: dict[str, int] = {}
            for run, good, open_ranks in zip(runs, places, self.unjudged, strict=True):
                listed = _chunks(name, "both" if self.same_rest else run, good)
                if self.pushed_down and run == "old":
                    listed = [f"top-{name}", *_chunks(name, "new", places[1])[:-1]]
                if run == "old" or number not in self.without_list:
                    runs[run][name] = listed
                grades |= {
                    chunk: 3 if chunk.startswith("good") else 0
                    for rank, chunk in enumerate(listed, 1)
                    if (rank not in open_ranks or chunk.startswith("good"))
                    and not chunk.startswith(f"good{self.open_good}")
                }
            qrels[name] = grades if is_graded else {}
        facets = {
            facet: {f"q{at}": bucket for at, bucket in enumerate(buckets) if bucket is not None}
            for facet, buckets in self.facets.items()
        }
        board = Scoreboard(collect(qrels, runs, facets or None), Conventions.of())
        if not self.traffic:
            return board
        return board.weighted_by(Traffic.of("intent", self.traffic))

    def judged(self) -> PairResult:
        """Return what is said of both runs."""
        board = self.board()
        tests = assess_pair(board, "old", "new", self.rules, pairs=self.pairs)
        sources = direct_sources(board, tests, None, Decider())
        if self.graders:
            sources = PairSources(sources.band, self._sensitivity(board), sources.certainty)
        overlap = compare_candidates(board, "old", "new")
        return describe_pair(board, tests, overlap, sources, within=self.within)

    def _sensitivity(self, board: Scoreboard) -> Callable[..., GraderSensitivity]:
        def found(measure: object, test: object) -> GraderSensitivity:
            tests = assess_pair(board, "old", "new", self.rules)
            row, none = tests.total, np.array([], dtype=np.int64)
            assert row is not None
            told = [ReadingDelta(GradeReading("golden", None, none, none), row, 0.01)]
            for name, pairs, delta in self.graders:
                own = row._replace(delta=delta, b=row.a + delta)
                numbers = np.arange(pairs)
                told.append(ReadingDelta(GradeReading("grader", name, numbers, numbers), own, 0.01))
            return GraderSensitivity(row.measure, tuple(told), True, row.measure.label)

        return found


def _chunks(query: str, run: str, good: Sequence[int]) -> list[str]:
    """Return a list of ten chunks with the good ones at their ranks; both runs share those."""
    names = {rank: f"good{number}-{query}" for number, rank in enumerate(good)}
    return [names.get(rank, f"{run}{rank}-{query}") for rank in range(1, RANKS + 1)]


SURE_UP = [*some(UP, 50), *some(SAME, 10)]
FEW_UP = [*some(UP, 24), *some(DOWN, 18), *some(SAME, 18)]
BUCKETS = {"topic": ["common"] * 60 + ["legal"] * 5}
LOST = [*some(SAME, 110), *some(DOWN, 10)]
LATE: Sequence[Places] = [((2,), (1,))]

SITUATIONS: Mapping[str, Situation] = {
    "identical lists": Situation(some(SAME, 30), same_rest=True),
    "one query": Situation(some(UP, 1)),
    "five queries, all better": Situation(some(UP, 5)),
    "nine queries, all better": Situation(some(UP, 9)),
    "ten queries, all better": Situation(some(UP, 10)),
    "ten queries of which five differ": Situation([*some(UP, 5), *some(SAME, 5)]),
    "clearly better": Situation(SURE_UP),
    "clearly worse": Situation([*some(DOWN, 50), *some(SAME, 10)]),
    "better by the same on every query": Situation(some(LATE, 40)),
    "ahead, all graded": Situation(FEW_UP),
    "behind, all graded": Situation([*some(DOWN, 24), *some(UP, 18), *some(SAME, 18)]),
    "one query makes the difference": Situation([((10,), (1,)), *some(SAME, 40)]),
    "other chunks, the same values": Situation(some(SAME, 30)),
    "as many wins as losses": Situation([*some(UP, 15), *some(DOWN, 15)]),
    "clear, but little": Situation([*some(UP_A_LITTLE, 200), *some(SAME, 200)]),
    "no difference that matters": Situation(
        [*some(UP_A_LITTLE, 8), *[(b, a) for a, b in some(UP_A_LITTLE, 7)], *some(SAME, 300)]
    ),
    "clear, less than what matters to the team": Situation(
        SURE_UP, rules=DecisionRules(matters=0.9)
    ),
    "clear, the unjudged chunks could change it": Situation(SURE_UP, unjudged=((1, 2, 3), ())),
    "clear, the unjudged chunks cannot change it": Situation(
        [((10,), (1,))] * 8 + [((9,), (1,))] * 8, unjudged=((8,), ())
    ),
    "unjudged chunks can make it vanish": Situation([((2, 1), (1, 2))] * 30, open_good=1),
    "an unjudged chunk on top of every old list": Situation(
        [((2,), (1,)), ((3,), (2,))] * 20, unjudged=((1,), ()), pushed_down=True
    ),
    "not clear, the unjudged chunks could change it": Situation(FEW_UP, unjudged=((1, 2), (1, 2))),
    "a grader would turn it round": Situation(SURE_UP, graders=[("Ann", 26, -0.2)]),
    "two graders would turn it round": Situation(
        SURE_UP, graders=[("Ann", 26, -0.2), ("Bob", 30, -0.1), ("Cy", 40, 0.2)]
    ),
    "a grader's own grades leave no value": Situation(SURE_UP, graders=[("Bob", 26, np.nan)]),
    "a grader who differs little agrees": Situation(
        SURE_UP, graders=[("Ann", 26, 0.3), ("Bob", 5, 0.2)]
    ),
    "a grader who differs little does not agree": Situation(
        SURE_UP, graders=[("Ann", 26, 0.3), ("Bob", 5, -0.1)]
    ),
    "every grader agrees": Situation(SURE_UP, graders=[("Ann", 26, 0.3), ("Bob", 22, 0.2)]),
    "another measure falls clearly": Situation(
        [((1, 6), (2, 3))] * 40 + [((1, 7), (2, 3))] * 20,
        rules=DecisionRules(decide_by="R@5"),
    ),
    "another measure alone is clear": Situation([((2, 3), (1, 8)), ((2, 3), (1,))] * 20),
    "decided by average precision": Situation(SURE_UP, rules=DecisionRules(decide_by="AP")),
    "coverage among the tested measures": Situation(
        SURE_UP, unjudged=((9, 10), ()), rules=DecisionRules(measures="nDCG@10 Judged@10")
    ),
    "decided by Success@3, few differ": Situation(
        [((5,), (1,))] * 4 + some(SAME, 36), rules=DecisionRules(decide_by="Success@3")
    ),
    "a small bucket falls in every query": Situation(
        [*some(UP, 60), *some([((1,), ())], 5)], facets=BUCKETS
    ),
    "one bucket of twelve falls clearly": Situation(
        LOST, facets={"topic": [f"topic {at // 10}" for at in range(120)]}
    ),
    "worse, but a bucket gains": Situation(
        [*some(DOWN, 60), *some(UP, 20)], facets={"topic": ["common"] * 60 + ["legal"] * 20}
    ),
    "no bucket is large enough": Situation(
        SURE_UP, facets={"topic": [f"topic {at // 6}" for at in range(60)]}
    ),
    "within one bucket": Situation(
        [*some(UP, 60), *some(DOWN, 20)],
        facets={"topic": ["common"] * 60 + ["legal"] * 20},
        within=("topic", "legal"),
    ),
    "within a bucket that is too small": Situation(
        [*some(UP, 60), *some(DOWN, 5)], facets=BUCKETS, within=("topic", "legal")
    ),
    "nothing relevant is known": Situation([((), ())] * 20),
    "some queries not graded, some without anything relevant": Situation(
        SURE_UP, not_graded=8, nothing_relevant=4
    ),
    "no list for half of the queries": Situation(some(SAME, 40), without_list=range(20)),
    "one of three pairs": Situation([*some(UP, 14), *some(DOWN, 4), *some(SAME, 22)], pairs=3),
    "weighted by traffic": Situation(
        [*some(UP, 40), *some(DOWN, 20)],
        facets={"intent": ["refund"] * 40 + ["delivery"] * 20},
        traffic={"refund": 30, "delivery": 70},
    ),
}
"""Each with a name that says what is so."""
