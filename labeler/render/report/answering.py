"""The report's retrieval beside the answer: the two-by-two of each run that has answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import htpy

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import OUTCOMES, Outcome
from labeler.render import tables
from labeler.render.report.comparing import cut
from labeler.render.report.shared import Shared

FOUND = (
    "Found: a chunk of the grade that the failure rule asks for, or better, is within the prompt "
    "budget. Shares are of the queries in the four cells, with Wilson's 95% interval over the "
    "choice of queries."
)


def answers_section(shared: Shared, places: Mapping[str, int]) -> htpy.Node:
    """Return what became of queries and their answers, run by run; nothing where none has any.

    ``places`` are where the comparison has a row of a query, which is linked then.
    """
    named = list(zip(shared.letters, shared.asked.runs, strict=True))
    parts = [_of_run(shared, letter, run, places) for letter, run in named if shared.right_of(run)]
    if not parts:
        return None
    without = [letter for letter, run in named if not shared.right_of(run)]
    said = [f"No answer of {letter} is loaded." for letter in without]
    conventions = shared.board.conventions.sentence
    return htpy.fragment[parts, tables.small_print([*said, FOUND, conventions])]


def _of_run(shared: Shared, letter: str, run: str, places: Mapping[str, int]) -> htpy.Fragment:
    became, right = shared.became(run), shared.right_of(run)
    table = diagnosis.two_by_two(became.items(), right, became)

    def link(outcome: Outcome) -> str:
        return f"#{_place(letter, outcome)}"

    return htpy.fragment[
        htpy.h3[htpy.bdi[run], f" ({letter})" if shared.asked.b is not None else ""],
        tables.sentences(table.sentences),
        tables.two_by_two_table(table, link),
        tables.small_print(tables.outcome_words(table)),
        [
            _list(shared, f"{letter}: {outcome.name}", link(outcome)[1:], names, places)
            for outcome in OUTCOMES
            if (names := [name for name, each in became.items() if each is outcome])
        ],
    ]


def _list(
    shared: Shared, title: str, place: str, names: Sequence[str], places: Mapping[str, int]
) -> htpy.Element:
    """Return the queries of one outcome, folded, where its cell of the table leads."""
    texts = shared.source.texts
    items = [
        htpy.a(href=f"#place-{places[name]}")[htpy.bdi[name]]
        if name in places
        else htpy.fragment[htpy.bdi[name], ": ", cut(texts[name])]
        for name in names
    ]
    return htpy.details(id=place)[
        htpy.summary[f"{title}, {len(names):,}"],
        htpy.ul[(htpy.li[each] for each in items)],
    ]


def _place(letter: str, outcome: Outcome) -> str:
    return f"answers-{letter}-{outcome.name.replace(' ', '-')}"
