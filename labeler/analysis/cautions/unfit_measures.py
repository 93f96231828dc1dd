"""Cautions about measures that do not fit: the task, the prompt, or the grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from labeler.analysis.cautions.means_in_question import (
    MeansInQuestion,
    differ_surely,
    is_surely_above,
    mean_of,
)
from labeler.evaluation import Scoreboard
from labeler.measures import PROMPT, Bools, Floats, Ints, Measure
from labeler.model import format_count
from labeler.model.results import Statement
from labeler.stats import FEWEST_QUERIES

COUNT_THE_FIRST = ("RR", "Success", "ERR")
COUNT_ALL_BY_RANK = ("nDCG", "AP")
SEVERAL_CHUNKS = ("research", "compliance")
# With one relevant chunk, nDCG is at most 0.19 above RR at any rank: more is due to other chunks.
MOST_BY_ONE_CHUNK = 0.19
_LOOKS_GOOD, _POOR = 0.5, 0.6


def _find_conflict(
    looked: MeansInQuestion, other: Measure, among: Bools
) -> tuple[str, str, float, float] | None:
    """Return the runs A and B of which the leading measure prefers B, and ``other`` surely A.

    Both differences are more than chance, corrected for the pairs of runs; the one of the largest
    differences is returned, with them.
    """
    opposed = []
    for a, b in looked.pairs:
        deltas = [
            looked.sample(looked.values(each, b, among) - looked.values(each, a, among), among)
            for each in (looked.lead, other)
        ]
        if mean_of(deltas[0]) * mean_of(deltas[1]) < 0:
            opposed.append((a, b, deltas))
    sure = differ_surely([each for *_, deltas in opposed for each in deltas], len(looked.pairs))
    found = [
        (a, b, mean_of(deltas[0]), mean_of(deltas[1]))
        for at, (a, b, deltas) in enumerate(opposed)
        if sure[2 * at] and sure[2 * at + 1]
    ]
    if not found:
        return None
    a, b, by_lead, by_other = max(found, key=lambda each: min(abs(each[2]), abs(each[3])))
    return (a, b, by_lead, by_other) if by_lead > 0 else (b, a, -by_lead, -by_other)


def _describe_conflict(
    looked: MeansInQuestion, other: Measure, found: tuple[str, str, float, float]
) -> str:
    a, b, by_lead, by_other = found
    return (
        f"{looked.heading()} puts {b} ahead of {a} (+{by_lead:.2f}), but {looked.heading(other)} "
        f"puts {a} ahead (+{-by_other:.2f})"
    )


def _conflict_numbers(found: tuple[str, str, float, float]) -> dict[str, float]:
    return {"delta": found[2], "other_delta": found[3]}


def wrong_for_one_answer(looked: MeansInQuestion) -> Iterator[Statement]:
    """Yield that chunks after the first relevant one make the mean where one answer is wanted."""
    kind, lead = "ranking leads", looked.lead
    among = looked.tasks("single")
    if not among.any() or lead.crosses or lead.name in COUNT_THE_FIRST:
        return
    rank = looked.board.conventions.measures("RR")[0]
    want = f"{int(among.sum()):,} of {int(looked.counted.sum()):,} queries want a single answer: "
    if found := _find_conflict(looked, rank, among):
        said = f"{want}for them {_describe_conflict(looked, rank, found)}. RR fits a single answer."
        yield looked.caution(kind, said, *found[:2], **_conflict_numbers(found))
        return
    for run in looked.columns if lead.name in COUNT_ALL_BY_RANK else ():
        mean, first = (looked.mean(each, run, among) for each in (lead, rank))
        gap = looked.values(lead, run, among) - looked.values(rank, run, among)
        is_poor = mean >= _LOOKS_GOOD and first <= _POOR
        if is_poor and is_surely_above(looked.sample(gap, among), MOST_BY_ONE_CHUNK):
            said = (
                f"{want}{looked.heading()} of {run} is {mean:.2f} for them by chunks after the "
                f"first relevant one, and RR is only {first:.2f}. RR fits a single answer."
            )
            yield looked.caution(kind, said, run, value=mean, other=first)
            return


def wrong_for_several_chunks(looked: MeansInQuestion) -> Iterator[Statement]:
    """Yield that the first relevant chunk is found and most are not, where all are wanted."""
    kind, lead = "first chunk leads", looked.lead
    if lead.crosses or lead.name not in COUNT_THE_FIRST:
        return
    board, among = looked.board, looked.tasks(*SEVERAL_CHUNKS)
    known = _count_relevant(board, board.conventions.rel)
    among = among & (known > 1)
    if among.sum() < FEWEST_QUERIES:
        return
    recall = board.conventions.measures("R@10")[0]
    want = f"{int(among.sum()):,} of {int(looked.counted.sum()):,} queries want several chunks: "
    fits = "R@10 and nDCG@10 fit them."
    if found := _find_conflict(looked, recall, among):
        said = f"{want}for them {_describe_conflict(looked, recall, found)}. {fits}"
        yield looked.caution(kind, said, *found[:2], **_conflict_numbers(found))
        return
    for run in looked.columns:
        first = looked.values(lead, run, among)
        # the top 10 can hold at most 10 of them
        part = looked.values(recall, run, among) * known[among] / np.minimum(known[among], 10)
        mean, share = (mean_of(looked.sample(each, among)) for each in (first, part))
        is_poor = mean >= _POOR and share <= _LOOKS_GOOD
        if is_poor and is_surely_above(looked.sample(first - part, among), 0.2):
            said = (
                f"{want}{looked.heading()} of {run} is {mean:.2f} for them by the first relevant "
                f"chunk alone, but its top 10 hold only {share:.2f} of the relevant chunks. {fits}"
            )
            yield looked.caution(kind, said, run, value=mean, other=share)
            return


def _count_relevant(board: Scoreboard, rel: int) -> Ints:
    """Return how many chunks of each query are relevant, (queries,)."""
    pairs, grades = board.graded()
    counts: Ints = np.bincount(
        pairs[grades >= rel] >> 32, minlength=len(board.collection.query_ids)
    )
    return counts


def beyond_the_prompt(looked: MeansInQuestion, measures: Sequence[Measure]) -> Iterator[Statement]:
    """Yield the measure of which most is lost if only the prompt counts, half of it or more."""
    board, prompts = looked.board, looked.board.prompt_ks
    lost: list[tuple[float, Measure, str, Floats, Bools]] = []
    for measure in measures:
        cutoff = measure.cutoff
        if not isinstance(cutoff, int) or measure.definition.count or measure.name == "P":
            continue
        among = looked.counted & board.counted(measure) & (prompts < cutoff)
        for run in looked.columns if among.any() else ():
            whole, part = (
                looked.values(each, run, among) for each in (measure, _in_prompt(measure))
            )
            sample = looked.sample(whole / 2 - part, among)
            if len(sample) and mean_of(sample) > 0:
                loss = mean_of(looked.sample(whole - part, among))
                lost.append((loss, measure, run, sample, among))
    for _, measure, run, sample, among in sorted(lost, key=lambda each: -each[0]):
        if sample.min() >= 0 or differ_surely([sample])[0]:
            means = [looked.mean(each, run, among) for each in (measure, _in_prompt(measure))]
            said = _describe_beyond(looked, measure, run, means, prompts[among].tolist())
            numbers = {"measure": str(measure), "value": means[0], "in_prompt": means[1]}
            yield looked.caution("beyond the prompt", said, run, **numbers)
            return


def _in_prompt(measure: Measure) -> Measure:
    return replace(measure, cutoff=PROMPT, asked=())


def _describe_beyond(
    looked: MeansInQuestion,
    measure: Measure,
    run: str,
    means: Sequence[float],
    prompts: Sequence[int],
) -> str:
    low, high = min(prompts), max(prompts)
    prompt = format_count(low, "chunk", "chunks") if low == high else f"{low} to {high} chunks"
    whole, part = means
    said = f"{looked.heading(measure)} of {run} is {whole:.2f}, but"
    if measure.name == "R":
        share = f"only {part:.2f}" if part >= 0.005 else "none"
        return f"{said} {share} of the relevant chunks are in the prompt ({prompt})."
    return f"{said} only {part:.2f} if no more than the prompt counts ({prompt})."


def grades_alike(looked: MeansInQuestion) -> Iterator[Statement]:
    """Yield that a leading measure of yes or no tells another story than one by grade."""
    lead, rel = looked.lead, looked.lead.rel
    if rel is None or lead.reads != "chunks" or looked.counted.sum() < FEWEST_QUERIES:
        return
    pairs, grades = looked.board.graded()
    known = grades[looked.counted[pairs >> 32] & (grades >= rel)]
    levels = np.unique(known).tolist()
    if len(levels) < 2:
        return
    cutoff = lead.cutoff if lead.cutoff is not None else 10
    graded = replace(looked.board.conventions.measures("nDCG@10")[0], cutoff=cutoff, asked=())
    gains = tuple(int(grade >= rel) for grade in range(4))
    flat = Measure("nDCG", cutoff, gains=(gains[0], gains[1], gains[2], gains[3]))
    alike = f"{looked.heading()} counts grades {levels[0]} and {levels[-1]} alike"
    yield from _pair_graded_otherwise(looked, graded, flat, alike)


def _pair_graded_otherwise(
    looked: MeansInQuestion, graded: Measure, flat: Measure, alike: str
) -> Iterator[Statement]:
    """Yield the pair, or else the run, of which grades change the story."""
    kind, among = "binary over grades", looked.counted
    if (found := _find_conflict(looked, graded, among)) and _is_by_grades(
        looked, graded, flat, found[:2]
    ):
        said = f"{alike}: {_describe_conflict(looked, graded, found)}."
        yield looked.caution(kind, said, *found[:2], **_conflict_numbers(found))
        return
    for a, b in looked.pairs:
        by_lead, by_grade = (
            looked.sample(looked.values(each, b, among) - looked.values(each, a, among), among)
            for each in (looked.lead, graded)
        )
        if abs(mean_of(by_lead)) >= looked.matters or abs(mean_of(by_grade)) < looked.matters:
            continue
        if differ_surely([by_grade], len(looked.pairs))[0] and _is_by_grades(
            looked, graded, flat, (a, b)
        ):
            ahead, behind = (b, a) if mean_of(by_grade) > 0 else (a, b)
            said = (
                f"{alike} and sees no difference between {a} and {b}, but "
                f"{looked.heading(graded)} puts {ahead} ahead of {behind} "
                f"(+{abs(mean_of(by_grade)):.2f})."
            )
            yield looked.caution(kind, said, a, b, other_delta=mean_of(by_grade))
            return
    for run in looked.columns:
        by_grade, without = (looked.values(each, run, among) for each in (graded, flat))
        gap = looked.sample(without - by_grade, among)
        if mean_of(gap) >= 0.2 and is_surely_above(gap, 0.1):
            means = [mean_of(looked.sample(each, among)) for each in (by_grade, without)]
            said = (
                f"{alike}: {looked.heading(graded)} of {run} is {means[0]:.2f}, and would be "
                f"{means[1]:.2f} if all relevant chunks had the same grade."
            )
            yield looked.caution(kind, said, run, graded=means[0], alike=means[1])
            return


def _is_by_grades(
    looked: MeansInQuestion, graded: Measure, flat: Measure, pair: Sequence[str]
) -> bool:
    """Say whether most of the difference of two runs is due to grades, and not to ranks."""
    a, b = pair
    by_grade, by_rank = (
        looked.values(each, b, looked.counted) - looked.values(each, a, looked.counted)
        for each in (graded, flat)
    )
    whole, rest = (looked.sample(each, looked.counted) for each in (by_grade, by_grade - by_rank))
    return mean_of(rest) / mean_of(whole) > 0.5 and differ_surely([rest])[0]
