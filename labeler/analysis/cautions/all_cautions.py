"""All cautions about the means of runs, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from labeler.analysis.cautions.means_in_question import MeansInQuestion
from labeler.analysis.cautions.unfit_measures import (
    beyond_the_prompt,
    grades_alike,
    wrong_for_one_answer,
    wrong_for_several_chunks,
)
from labeler.analysis.cautions.weak_means import (
    few_queries,
    leaked_queries,
    low_bucket,
    unjudged_chunks,
    wide_interval,
)
from labeler.evaluation import Note, Scoreboard
from labeler.measures import Measure
from labeler.model import Settings
from labeler.model.results import Statement

MOST_CAUTIONS = 3


def find_cautions(
    board: Scoreboard,
    measures: Iterable[Measure],
    *,
    runs: Sequence[str] | None = None,
    facet: str | None = None,
    bucket: str | None = None,
    settings: Settings | None = None,
    most: int | None = MOST_CAUTIONS,
) -> list[Statement]:
    """Return how the means of these measures mislead, the gravest first; none where they do not.

    They are about all queries, those of a facet, or those of one bucket. The first measure leads:
    most cautions are about it. ``runs`` are all of the board unless given; two that are given are
    compared with each other, and what the verdict on them says is not said again: few queries, a
    wide interval, unjudged chunks, low buckets. At most ``most`` are returned, all with None.
    Differences below ``matters`` of the ``settings`` count as none. Raises `NotFound` for an
    unknown run, facet or bucket.

    >>> from labeler.evaluation import Conventions, collect
    >>> names = [f"q{n}" for n in range(40)]
    >>> below = dict.fromkeys(names, ["a", "b", "c", "d", "e", "good"])
    >>> graded = dict.fromkeys(names, dict.fromkeys("abcde", 0) | {"good": 3})
    >>> board = Scoreboard(collect(graded, {"A": below}), Conventions.of())
    >>> [found] = find_cautions(board, board.conventions.measures("R@10"))
    >>> found.sentence
    'R@10 of A is 1.00, but none of the relevant chunks are in the prompt (5 chunks).'
    """
    board = board.snapshot()
    chosen = board.resolve(measures)
    leading = [measure for measure in chosen if not measure.definition.always_defined]
    if not leading:
        return []
    names = board.run_names if runs is None else tuple(runs)
    matters = (settings or Settings()).matters
    looked = MeansInQuestion(board, leading[0], names, facet, bucket, matters)
    unfit = [
        *leaked_queries(looked),
        *wrong_for_one_answer(looked),
        *wrong_for_several_chunks(looked),
        *beyond_the_prompt(looked, leading),
        *grades_alike(looked),
    ]
    if runs is not None and len(runs) == 2:
        return unfit[:most]
    weak = [*low_bucket(looked), *unjudged_chunks(looked, chosen), *wide_interval(looked)]
    return [*few_queries(looked), *unfit, *weak][:most]


def caution_notes(cautions: Iterable[Statement]) -> list[Note]:
    """Return cautions as notes beside numbers; one about a run concerns the numbers of that run."""
    return [
        Note(
            each.kind,
            each.sentence.removesuffix("."),
            runs=tuple(each.numbers.get("runs", ())),
            is_warning=True,
        )
        for each in cautions
    ]
