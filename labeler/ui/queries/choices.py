"""Choices on Queries: runs, filters and the rule by which a query fails; all are in the URL."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import (
    FailureRule,
    LossAgainstRun,
    MinimumByTask,
    MinimumValue,
    UsefulInPrompt,
)
from labeler.evaluation import Conventions
from labeler.model import Settings
from labeler.ui import filter_widgets, url_state

NO_RUN, ANY_TASK = "no other run", "every task"
ANY_OUTCOME = "any"
LOSES_RULE, USELESS_RULE, TASK_RULE = (
    *("B loses against A", "nothing useful is in the prompt"),
    "its task's own measure is low",
)
Facets = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class QueriesChoice:
    """What the page shows: a run, alone or against run ``a``, the queries, and the rule of failure.

    ``answered`` says that answers of some run are loaded. ``apart`` is a run A of another chunking,
    which does not share grades with the run.
    """

    run: str
    a: str | None
    texts: Sequence[str]
    conventions: Conventions
    filters: diagnosis.QueryFilters
    rule: FailureRule
    answered: bool = False
    apart: str | None = None


def choose(
    names: Sequence[str],
    facets: Facets,
    settings: Settings,
    *,
    answered: bool = False,
    elsewhere: Collection[str] = (),
) -> QueriesChoice:
    """Let the user choose; the runs stay visible, other choices are one line with a fold.

    If some run is ``answered``, the outcome of a query's answer can be chosen, too. ``elsewhere``
    are runs of other chunkings.
    """
    with filter_widgets.row():
        run, a, apart = _choose_runs(names, elsewhere)
        with filter_widgets.folded() as say:
            texts = _measures_sorted_by(
                filter_widgets.choose_measures(filter_widgets.tested_measures(settings))
            )
            filters = _choose_filters(facets, answered=answered)
            conventions = filter_widgets.choose_conventions(settings)
            filter_widgets.measures_of(
                conventions, texts[0], "by" if url_state.get("by") else "measure"
            )
            rule = _choose_rule(conventions, texts, a, settings.measures_by_task)
    if a is None:
        filter_widgets.unmark_runs()
    say(
        filter_widgets.say_selection(conventions),
        *_describe_filters(filters),
        None if rule == UsefulInPrompt() else f"fails where {_describe_rule(rule, conventions)}",
        filter_widgets.say_measures(texts),
        filter_widgets.say_conventions(conventions),
    )
    return QueriesChoice(run, a, texts, conventions, filters, rule, answered, apart)


def list_url(**which: str) -> str:
    """Return the URL of the list of only the queries of a class or an outcome."""
    anew = dict.fromkeys(("view", "class", "outcome", "page", "every"))
    return url_state.this_page_url("/queries", **{**anew, **which})


def _measures_sorted_by(texts: Sequence[str]) -> list[str]:
    """Let the user choose the measure that sorts the queries; return it before the others."""
    given = (url_state.get("by") or "").strip()
    by = url_state.choose(
        *("By measure", list(dict.fromkeys([*filter(None, [given]), *texts])), "by"),
        default=texts[0],
        help="The measure that sorts the queries and by which, with two runs, B loses against A.",
    )
    return list(dict.fromkeys([by, *texts]))


def _choose_runs(
    names: Sequence[str], elsewhere: Collection[str]
) -> tuple[str, str | None, str | None]:
    """Let the user choose a run and one to compare it with; return a run that is apart, too.

    A is on the left and B on the right, as on the other pages. With both, B is compared with A.
    """
    run, a, apart = _runs_in_url(names, elsewhere)
    left, right = (run, None) if a is None else (a, run)
    nothing = url_state.apart_from(names, NO_RUN)
    st.session_state["a"], st.session_state["b"] = left, right or nothing
    others = [name for name in names if name != left]
    shown = filter_widgets.run_box_options(names)
    shown |= {"on_change": _write_runs, "args": [nothing], "label_visibility": "collapsed"}
    st.selectbox("A", names, key="a", **shown)
    if others:
        st.selectbox("B", [nothing, *others], key="b", **shown)
    return run, a, apart


def _runs_in_url(
    names: Sequence[str], elsewhere: Collection[str]
) -> tuple[str, str | None, str | None]:
    """Return the run in the URL, the run that it is compared with, and one that is apart."""
    b = url_state.check_among("b", names, "run")
    if b is not None and (apart := url_state.get("a")) in elsewhere:
        return b, None, apart
    a = url_state.check_among("a", names, "run")
    if b is None:
        return a or names[0], None, None
    return b, a if a != b else None, None


def _write_runs(nothing: str) -> None:
    a, b = st.session_state["a"], st.session_state.get("b", nothing)
    url_state.write(a=a, b=None if b in (nothing, a) else b)


def _choose_filters(facets: Facets, *, answered: bool) -> diagnosis.QueryFilters:
    """Let the user narrow the list; the URL has every choice under its own name."""
    facet, bucket = filter_widgets.choose_bucket(facets)
    other, crossing = _choose_crossing(facets, facet)
    tasks = facets.get("task", ())
    task = url_state.choose_or_not("Task", tasks, "task", nothing=ANY_TASK, what="task")
    kinds = diagnosis.STATUSES_WITH_ANSWERS if answered else diagnosis.STATUSES
    kind = url_state.choose("Class", kinds, "class", what="class of failure")
    outcome = _choose_outcome() if answered else None
    share = url_state.choose_number(
        *("Unjudged, % at least", "unjudged", 0, 100, 0, 10),
        help="Share of the top k of the first measure that nobody has graded.",
    )
    text = url_state.write_text("Text contains", "contains")
    return diagnosis.QueryFilters(
        facet, bucket, other, crossing, task, kind, share / 100, text, outcome
    )


def _choose_outcome() -> str | None:
    """Let the user narrow the list by the outcome of answers; the URL has it as ``outcome``."""
    names = [each.name for each in diagnosis.ANSWER_OUTCOMES]
    return url_state.choose_or_not(
        *("Retrieval and answer", names, "outcome"), nothing=ANY_OUTCOME, what="outcome"
    )


def _choose_crossing(facets: Facets, facet: str | None) -> tuple[str | None, str | None]:
    """Let the user narrow a bucket by another facet's; in the URL ``other`` and ``crossing``."""
    other = filter_widgets.choose_other("and", facets, facet)
    return other, filter_widgets.choose_within("in", facets, other, "crossing")


def _describe_filters(filters: diagnosis.QueryFilters) -> list[str | None]:
    """Describe the filters of the list."""
    return [
        filter_widgets.say_queries(filters.facet, filters.bucket),
        filters.other and filter_widgets.say_queries(filters.other, filters.crossing),
        filters.task and f"task: {filters.task}",
        None if filters.kind == diagnosis.STATUSES[0] else filters.kind,
        filters.outcome,
        f"at least {filters.share:.0%} unjudged chunks" if filters.share else None,
        filters.text and f"with “{filters.text}”",
    ]


def _describe_rule(rule: FailureRule, conventions: Conventions) -> str:
    """Describe in short when a query fails; `RunFailures.small_print` says it in full."""
    match rule:
        case LossAgainstRun():
            return f"{LOSES_RULE} by {rule.least:g}"
        case MinimumValue():
            return f"{conventions.heading(rule.measure)} is below {rule.least:g}"
        case MinimumByTask():
            return TASK_RULE
    return USELESS_RULE


def _choose_rule(
    conventions: Conventions, texts: Sequence[str], a: str | None, by_task: Mapping[str, str]
) -> FailureRule:
    """Let the user choose when a query fails; in the URL ``bar`` and ``below``, with A ``loss``."""
    ways = [*([LOSES_RULE] if a else []), USELESS_RULE, TASK_RULE]
    name = url_state.choose(
        *(
            "A query fails where",
            list(dict.fromkeys([*ways, *filter_widgets.OFFERED_MEASURES])),
            "bar",
        ),
        accept_new_options=True,
        clears=["below"],
        help="Any measure at any cut-off. Each comes with a minimum, which you can change: yes for "
        "yes-or-no measures, 0.5 for others.",
    )
    if name == LOSES_RULE and a:
        usual = diagnosis.USUAL_LOSS
        least = url_state.choose_number("by at least", "loss", 0.01, 1.0, usual, 0.05)
        return LossAgainstRun(a, filter_widgets.measures_of(conventions, texts)[0], least)
    if name == TASK_RULE:
        return MinimumByTask.usual(conventions, by_task)
    if name in (LOSES_RULE, USELESS_RULE):
        return UsefulInPrompt()
    return _choose_bar(MinimumValue.usual(filter_widgets.measures_of(conventions, name, "bar")[0]))


def _choose_bar(usual: MinimumValue) -> MinimumValue:
    if diagnosis.is_yes_or_no(usual.measure):
        return usual
    least = url_state.choose_number("is below", "below", 0.01, 1.0, usual.least, 0.05)
    return MinimumValue(usual.measure, least)
