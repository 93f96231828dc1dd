"""``--explain``: how the numbers on screen are computed, and what their intervals mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from labeler.cli.groups import CommandT, remembered, remembering
from labeler.evaluation import Conventions, Note
from labeler.model import IGNORE_TRANSFERRED, LOWER_MEDIAN, MAJORITY
from labeler.stats import FEWEST_DIFFERING, FEWEST_QUERIES

_KEY = "labeler.explain"
HOW = "how it is computed"
DETAIL_KINDS = {HOW, "documents", "evidence", "tie range", "ties"}
"""Kinds of notes that say how, and are printed where it is asked for."""
HINT = "--explain says how this is computed"


def explain_option(command: CommandT) -> CommandT:
    """Add ``--explain``; `is_explained` returns whether it was given."""
    return click.option(
        "--explain",
        is_flag=True,
        expose_value=False,
        callback=remembering(_KEY),
        help="Also print how the numbers are computed and what the intervals mean.",
    )(command)


def is_explained() -> bool | None:
    """Return whether ``--explain`` was given; None if the command has no such option."""
    found: bool | None = remembered(_KEY)
    return found


def explain_by(sentences: Sequence[str]) -> list[Note]:
    """Return a command's explanations as notes, which are printed with ``--explain``."""
    return [Note(HOW, sentence) for sentence in sentences]


def footer_parts(
    conventions: Conventions, notes: Sequence[Note]
) -> tuple[list[str], str, list[Note]]:
    """Return the explanations, the line of conventions, and the notes to print."""
    how = [note.sentence for note in notes if note.kind == HOW]
    others = [note for note in notes if note.kind != HOW]
    asked = is_explained()
    if asked is None:
        return [], conventions.describe(), [*notes]
    if asked:
        return [*explain_conventions(conventions), *how], conventions.describe(), others
    kept = [note for note in others if note.is_warning or note.kind not in DETAIL_KINDS]
    return [], " · ".join([*unusual_conventions(conventions), HINT]), kept


def unusual_conventions(conventions: Conventions) -> list[str]:
    """Return the golden set, the selection, and the conventions that differ from the usual.

    >>> unusual_conventions(Conventions.of()), unusual_conventions(Conventions.of(rel=2))
    ([], ['relevant from grade 2'])
    """
    usual = Conventions.of(golden_rule=LOWER_MEDIAN)
    return unusual_parts(conventions.describe(), usual.describe())


def unusual_parts(described: str, usual: str) -> list[str]:
    """Return the parts of a line of conventions that are not among the usual ones.

    >>> unusual_parts("split test · alpha nominal", "alpha ordinal · by passage")
    ['split test', 'alpha nominal']
    """
    return [part for part in described.split(" · ") if part not in usual.split(" · ")]


def explain_conventions(conventions: Conventions) -> Iterator[str]:
    """Explain in plain sentences the conventions that values are computed by."""
    stand_in = conventions.stand_in
    without = "has none" if stand_in is None else f"counts as {stand_in:g}"
    yield (
        "A value is a mean over the n queries that have one. A query with nothing relevant "
        f"{without}; one without any golden grade is left out; one that the run has no list for "
        "counts as 0."
    )
    if rule := conventions.golden_rule:
        tie = " (a tie is as ungraded)" if rule == MAJORITY else ""
        is_ignored = conventions.transferred == IGNORE_TRANSFERRED
        last = "" if is_ignored else ", else a transferred one"
        yield (
            f"The golden grade of a chunk is a lead's decision, else the {rule} of people's "
            f"grades{tie}, else that of a file{last}."
        )
    gain = "g" if conventions.dcg == "log2" else "2^g − 1"
    yield (
        f"A chunk is relevant from grade {conventions.rel}. In nDCG grade g gains {gain}, less at "
        "lower ranks; the sum is divided by that of the query's golden grades in the best order."
    )
    yield (
        "A chunk that nobody has graded gains nothing. Judged@10 is the share of the first 10 that "
        f"is graded; of whole lists, unjudged chunks are counted in the first "
        f"{conventions.pool_depth}."
    )
    if conventions.like_trec_eval:
        yield "Chunks with the same 32-bit score are in descending order of their ids."
    else:
        yield "Chunks with the same score are in the order of the run's file."


def explain_best_run(decide_by: str) -> list[str]:
    """Say when a run is clearly lower than the highest."""
    return [
        "A run is clearly lower than the highest if the 95% confidence interval of their "
        f"difference in {decide_by}, corrected for the number of runs, excludes 0. The interval "
        "is over the choice of queries: it says what to expect of other queries like these."
    ]


def explain_mean_intervals() -> list[str]:
    """Explain the interval of one run's mean."""
    return [
        "The 95% interval of a mean is over the choice of queries: made from other queries in this "
        "way, 95 of 100 such intervals hold the true mean. It is Wilson's for a measure that is 0 "
        "or 1, else Student's t on the logit scale. It covers no unjudged chunks."
    ]


def explain_differences(decide_by: str, tested: str) -> list[str]:
    """Explain a difference, its interval and its p-value, and which measures are tested."""
    return [
        "A difference is B minus A over the queries where both have a value. Wins and losses count "
        "those where B is better, and where it is worse.",
        f"{decide_by} alone decides which run is better (the setting decide-by). "
        f"{f'Tested beside it: {tested} (the setting measures). ' if tested else ''}Others have "
        "neither interval nor p-value.",
        "The confidence interval is about other queries like these: made from them in this way, 95 "
        "of 100 such intervals hold the true difference. It is Student's t over the queries' "
        "differences, or Tango's for a measure that is 0 or 1. It takes "
        f"{FEWEST_QUERIES} queries of which {FEWEST_DIFFERING} differ; with fewer there is a dash.",
        "p is how often chance alone gives a difference at least this large: a two-sided "
        "randomisation test that flips the signs of the queries' differences.",
        "Where several are tested, measures beside the deciding one, buckets or pairs of runs, "
        "intervals are wider and p is larger, corrected for their number (Bonferroni).",
        "A difference is clear if its interval excludes 0. Interval and p cover neither unjudged "
        "chunks nor graders; the lines above the table speak of these.",
    ]


def explain_limits() -> list[str]:
    """Explain when a gate's limit is met."""
    return [
        "A limit is kept if the value is at least what is asked, or has fallen from the other run "
        "by no more than is allowed.",
        "surely: with the confidence that the file asks for, the value or the difference is at "
        "least this over the choice of queries, and this must keep the limit. It is a one-sided "
        "bound: Student's t, Wilson's where few queries differ, betting where anytime is true. It "
        "covers neither unjudged chunks nor graders.",
        "n counts the queries in a mean. unjudged is the share of the measure's first k chunks "
        "that nobody has graded; if it is above the file's most_unjudged, nothing is judged.",
        "The verdict is that of 'labeler compare', whose --explain says how it is computed.",
    ]
