"""What is chosen on Queries: runs, queries, and when one fails; all of it is in the address."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import Bar, ByTask, Loss, Rule, UsefulInPrompt
from labeler.evaluation import Conventions
from labeler.model import TASKS, Settings
from labeler.ui import address, choices

DEFAULT_MEASURES = ("nDCG@10", "R@budget", "RR")
NO_RUN, ANY_TASK = "no other run", "every task"
ANY_OUTCOME = "any"
LOSES, USELESS, OF_TASK = (
    *("it loses against A", "nothing useful is in the prompt"),
    "its task's own measure is low",
)
Facets = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is looked at: a run, against run ``a`` or none, which queries, and when one fails.

    ``answered`` says that answers of some run are loaded, ``apart`` is a run A of another chunking,
    whose grades are not those of the run.
    """

    run: str
    a: str | None
    texts: Sequence[str]
    conventions: Conventions
    filters: diagnosis.Filters
    rule: Rule
    answered: bool = False
    apart: str | None = None


def choose(
    names: Sequence[str],
    facets: Facets,
    settings: Settings,
    *,
    answered: bool = False,
    elsewhere: Collection[str] = (),
) -> Choice:
    """Let the user choose; the runs stay in view, the rest is said in a line and folded.

    Where some run is ``answered``, what became of a query and its answer can be chosen, too.
    ``elsewhere`` are runs of other chunkings.
    """
    with choices.row():
        run, a, apart = _choose_runs(names, elsewhere)
        with choices.folded() as say:
            texts = _by_first(choices.choose_measures(DEFAULT_MEASURES))
            filters = _choose_filters(facets, answered=answered)
            conventions = choices.choose_conventions(settings)
            choices.measures_of(conventions, texts[0], "by" if address.given("by") else "measure")
            rule = _choose_rule(conventions, texts, a, settings.measures_by_task)
    say(
        choices.say_selection(conventions),
        *_say_filters(filters),
        f"fails where {_say_rule(rule, conventions)}",
        choices.say_measures(texts),
        choices.say_conventions(conventions),
    )
    return Choice(run, a, texts, conventions, filters, rule, answered, apart)


def list_of(**which: str) -> str:
    """Return the address of the list of the queries of a class or an outcome, and of no other."""
    anew = dict.fromkeys(("view", "class", "outcome", "page"))
    return address.here("/queries", **{**anew, **which})


def _by_first(texts: Sequence[str]) -> list[str]:
    """Let the user choose by which measure queries are worst; return it before the others."""
    given = (address.given("by") or "").strip()
    by = address.choose(
        *("By measure", list(dict.fromkeys([*filter(None, [given]), *texts])), "by"),
        default=texts[0],
        help="The one measure that sorts the queries, whose holes are counted, and by which, "
        "against a run A, a query is lost.",
    )
    return list(dict.fromkeys([by, *texts]))


def _choose_runs(
    names: Sequence[str], elsewhere: Collection[str]
) -> tuple[str, str | None, str | None]:
    """Let the user choose a run, and one it is set against; return one that is apart, too.

    As on the other pages, the address has the one run as ``a``, or the two as ``a`` and ``b``.
    """
    run, a, apart = _runs_given(names, elsewhere)
    others = [name for name in names if name != run]
    nothing = address.apart_from(names, NO_RUN)
    st.session_state["run"], st.session_state["against"] = run, a or nothing
    shown = choices.of_runs(names)
    st.selectbox("Run", names, key="run", on_change=_write_runs, args=[nothing], **shown)
    st.selectbox(
        "Against run A",
        [nothing, *others],
        key="against",
        on_change=_write_runs,
        args=[nothing],
        **shown,
        help="With a run A, queries are sorted by what the run loses against it, and one fails "
        "where it loses.",
    )
    return run, a, apart


def _runs_given(
    names: Sequence[str], elsewhere: Collection[str]
) -> tuple[str, str | None, str | None]:
    """Return the run the address asks for, and the one it is set against, or that is apart."""
    b = address.among("b", names, "run")
    if b is not None and (apart := address.given("a")) in elsewhere:
        return b, None, apart
    a = address.among("a", names, "run")
    if b is None:
        return a or names[0], None, None
    return b, a if a != b else None, None


def _write_runs(nothing: str) -> None:
    run, against = st.session_state["run"], st.session_state["against"]
    if against in (nothing, run):
        address.write(a=run, b=None)
    else:
        address.write(a=against, b=run)


def _choose_filters(facets: Facets, *, answered: bool) -> diagnosis.Filters:
    """Let the user narrow the list; every choice is in the address under its own name."""
    facet, bucket = choices.choose_bucket(facets)
    other, crossing = _choose_crossing(facets, facet)
    task = address.choose_or_not("Task", TASKS, "task", nothing=ANY_TASK, what="task")
    kinds = diagnosis.KINDS_WITH_ANSWERS if answered else diagnosis.KINDS
    kind = address.choose("Class", kinds, "class", what="class of failure")
    outcome = _choose_outcome() if answered else None
    share = address.choose_number(
        *("Holes, % at least", "holes", 0, 100, 0, 10),
        help="Share of the top k of the first measure that nobody has graded.",
    )
    text = address.write_text("Text contains", "contains")
    return diagnosis.Filters(facet, bucket, other, crossing, task, kind, share / 100, text, outcome)


def _choose_outcome() -> str | None:
    """Let the user narrow the list by what became of the answers; ``outcome``."""
    names = [each.name for each in diagnosis.OUTCOMES]
    return address.choose_or_not(
        *("Retrieval and answer", names, "outcome"), nothing=ANY_OUTCOME, what="outcome"
    )


def _choose_crossing(facets: Facets, facet: str | None) -> tuple[str | None, str | None]:
    """Let the user narrow a facet's bucket by that of another; ``other`` and ``crossing``."""
    other = choices.choose_other("and", facets, facet)
    return other, choices.choose_within("in", facets, other, "crossing")


def _say_filters(filters: diagnosis.Filters) -> list[str | None]:
    """Say which queries are let into the list."""
    return [
        choices.say_queries(filters.facet, filters.bucket),
        filters.other and choices.say_queries(filters.other, filters.crossing),
        filters.task and f"task: {filters.task}",
        None if filters.kind == diagnosis.KINDS[0] else filters.kind,
        filters.outcome,
        f"at least {filters.share:.0%} holes" if filters.share else None,
        filters.text and f"with “{filters.text}”",
    ]


def _say_rule(rule: Rule, conventions: Conventions) -> str:
    """Say in short when a query fails; in full it stands under the numbers."""
    match rule:
        case Loss():
            return f"{LOSES} by {rule.least:g}"
        case Bar():
            return f"{conventions.heading(rule.measure)} is below {rule.least:g}"
        case ByTask():
            return OF_TASK
    return USELESS


def _choose_rule(
    conventions: Conventions, texts: Sequence[str], a: str | None, by_task: Mapping[str, str]
) -> Rule:
    """Let the user say when a query fails; ``bar`` and ``below``, or against a run A ``loss``."""
    ways = [*([LOSES] if a else []), USELESS, OF_TASK]
    name = address.choose(
        *("A query fails where", list(dict.fromkeys([*ways, *choices.OFFERED_MEASURES])), "bar"),
        accept_new_options=True,
        clears=["below"],
        help="Any measure, at any cut-off, brings a bar of its own, which you can change: yes or "
        "no must be yes, all others must reach 0.5.",
    )
    if name == LOSES and a:
        usual = diagnosis.USUAL_LOSS
        least = address.choose_number("by at least", "loss", 0.01, 1.0, usual, 0.05)
        return Loss(a, choices.measures_of(conventions, texts)[0], least)
    if name == OF_TASK:
        return ByTask.usual(conventions, by_task)
    if name in (LOSES, USELESS):
        return UsefulInPrompt()
    return _choose_bar(Bar.usual(choices.measures_of(conventions, name, "bar")[0]))


def _choose_bar(usual: Bar) -> Bar:
    if diagnosis.is_yes_or_no(usual.measure):
        return usual
    least = address.choose_number("is below", "below", 0.01, 1.0, usual.least, 0.05)
    return Bar(usual.measure, least)
