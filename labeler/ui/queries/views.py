"""The views of Queries: the list, causes of failure with what to try, retrieval against answers."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import htpy
import streamlit as st

from labeler.analysis import comparison
from labeler.analysis import failures as diagnosis
from labeler.analysis.failures import ClassTally, FailureClass, QueryRow, TwoByTwo
from labeler.evaluation import format_number, format_signed
from labeler.model import escape_controls, format_count
from labeler.render import csv_exports, tables
from labeler.render.markup import show_html
from labeler.render.tables.failure_overview import RANKS_SHOWN, causes_list, ranked_query_list
from labeler.render.tables.verdict_block import verdict_block
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.queries.choices import list_url
from labeler.ui.queries.failures import RunFailures
from labeler.ui.query_view import QuerySteps, open_query
from labeler.ui.reranker import DEFAULT_CANDIDATES, show_reranker

ON_A_PAGE = 200
FIRST_ROWS, CUT_ABOVE = 20, 25  # rows shown at once if the list has more than the second number


def open_from_list(query_id: str | None, at: int | None = None) -> None:
    """Open a query in full, or close it; the list turns to the page with row ``at``, from 0."""
    page = {} if at is None else {"page": str(at // ON_A_PAGE + 1) if at >= ON_A_PAGE else None}
    open_query(query_id, **page)


def query_url(query_id: str) -> str:
    """Return the URL of a query in full, which keeps the list for the way back."""
    return url_state.this_page_url("/queries", query=query_id)


def choose_page(shown: Sequence[QueryRow]) -> int:
    """Let the user turn the pages of the list."""
    return url_state.choose_page(math.ceil(len(shown) / ON_A_PAGE))


def show_verdict(found: RunFailures, shown: Sequence[QueryRow]) -> None:
    """Say how many queries fail and why, what a perfect order would add, and when one fails."""
    classes = diagnosis.tally_classes(found.within)
    sides: Counter[str] = Counter()
    for kind, each in classes.items():
        sides[kind.side] += each.queries
    if found.against:
        says, more = describe_losses(found)
    else:
        says, more = describe_fails(sides, len(found.within)), describe_others(sides)
    rows = [row for row in found.rows if found.choice.filters.let_in(row, any_class=True)]
    ungraded = sum(not row.judged for row in rows)
    left = f" ({ungraded:,} not graded)" if ungraded else ""
    graded, valued = len(rows) - ungraded, sum(not math.isnan(row.values[0]) for row in rows)
    counts = f"{graded:,} of {format_count(len(rows), 'query', 'queries')}{left}"
    if valued != graded:
        counts += f"; {valued:,} with a value by {found.headings[0]}"
    doubts = filter(None, [more, describe_failing(found, classes)])
    show_html(verdict_block(says, order_gain(found), doubts, counts, next_step(shown)))


def describe_fails(sides: Mapping[str, int], graded: int) -> str:
    """Say on how many graded queries retrieval fails, and on how many because of ranking."""
    fails = sides["ranking"] + sides["recall"]
    of = format_count(graded, "graded query", "graded queries")
    says = f"Retrieval fails on {f'{fails:,}' if fails else 'none'} of {of}"
    if 0 < sides["ranking"] < fails:
        says += f", {sides['ranking']:,} because of ranking"
    return f"{says}."


def describe_others(sides: Mapping[str, int]) -> str:
    """Say how many queries fail for other reasons than retrieval, empty if none does."""
    said = []
    if unknown := sides["unknown"]:
        said.append(f"{unknown:,} more {'has' if unknown == 1 else 'have'} nothing relevant known")
    if wrong := sides["generation"]:
        said.append(f"{format_count(wrong, 'answer is', 'answers are')} wrong")
    return f"{'; '.join(said)}." if said else ""


def describe_losses(found: RunFailures) -> tuple[str, str]:
    """Say on how many queries the run loses against A, of those with a value in both.

    The second text says on how many queries it is worse at all.
    """
    rule = found.choice.rule
    run, a = found.short[found.choice.run], found.short[found.against or ""]
    through = [row for row in found.rows if row.query_id in found.within]
    both = sum(row.delta is not None and not math.isnan(row.delta) for row in through)
    much = sum(each is not None for each in found.within.values())
    least = rule.least if isinstance(rule, diagnosis.LossAgainstRun) else 0.0
    worse = sum(row.loses for row in through)
    every = f"{worse:,} {'is' if worse == 1 else 'are'} worse at all." if worse != much else ""
    return f"{run} loses {least:g} or more against {a} on {much:,} of {both:,} queries.", every


def describe_failing(found: RunFailures, classes: Mapping[FailureClass, ClassTally]) -> str:
    """Say when a query fails, and how many failing queries have too few grades to be sure."""
    retrieval = [each for kind, each in classes.items() if kind.side in ("ranking", "recall")]
    unsure = sum(each.mostly_unjudged for each in retrieval)
    tops = f" In {unsure:,} the top is mostly unjudged." if unsure else ""
    if found.against is not None:
        return f"The prompt may still hold what these queries need.{tops}"
    rule = diagnosis.describe_rule(found.board, found.choice.rule, found.short)
    return f"Retrieval fails where {rule}.{tops}"


def next_step(shown: Sequence[QueryRow]) -> htpy.Node:
    """Return the button that opens the first failing query of the list, if there is one."""
    worst = next((row for row in shown if row.failure is not None), None)
    if worst is None:
        return None
    return htpy.a(".go", href=query_url(worst.query_id))["Open the worst query"]


def order_gain(found: RunFailures) -> tuple[str, str] | None:
    """Return the gain of a perfect order of the run's candidates, and its description."""
    measures = comparison.rerankable_measures(found.measures[:1])
    if not measures or not found.within:
        return None
    asked = (found.choice.run, measures, DEFAULT_CANDIDATES, found.within)
    [gain] = comparison.perfect_rerankings(found.board, *asked)
    if math.isnan(gain.order):
        return None
    between = f"from {format_number(gain.now)} to {format_number(gain.reranked)}"
    what = f"what a perfect reranker of its top {gain.top} would add"
    return format_signed(gain.order), f"{found.headings[0]}, {between}: {what}"


def show_classes(found: RunFailures) -> None:
    """Show the causes that occur, with what to try; each filters the list."""
    classes = {k: v for k, v in diagnosis.tally_classes(found.within).items() if v.queries}
    by_retrieval = {k: v for k, v in classes.items() if k.side in ("ranking", "recall")}
    others = {k: v for k, v in classes.items() if k not in by_retrieval}
    loses = f"{found.short[found.choice.run]} loses" if found.against else "Retrieval fails"
    groups = {loses: by_retrieval, "Not by retrieval": others}
    show_html(
        causes_list(
            groups,
            lambda kind: list_url(**({"class": kind} if kind else {})),
            found.choice.filters.kind,
        )
    )


def grades_by_rank(found: RunFailures, query_id: str) -> list[int | None]:
    """Return the grades of a query's first chunks in the chosen run, None for an unjudged one."""
    known = found.board.golden(query_id)
    ranked = found.board.chunks(found.choice.run, query_id)[:RANKS_SHOWN].tolist()
    return [known.get(chunk) for chunk in ranked]


def name_first_useful(found: RunFailures) -> tuple[str, str]:
    """Return the heading of the rank of the first useful chunk, and what it means."""
    rel = found.board.conventions.rel
    grade = int(diagnosis.useful_grades(found.board, found.choice.run).max(initial=rel))
    heading = f"first grade {grade}{'+' if grade < 3 else ''}"
    means = f"rank of the first chunk of grade {grade}{' or better' if grade < 3 else ''}"
    means += f", or of grade {rel} where none is better" if grade > rel else ""
    lower = [each.rel for each in found.measures if each.name == "RR" and each.rel]
    also = f" RR also counts grade {lower[0]}." if lower and lower[0] < grade else ""
    return heading, f"{heading.capitalize()}: {means}.{also}"


def show_list(found: RunFailures, shown: Sequence[QueryRow], order: str, page: int) -> None:
    """Show a page of the list; a click opens a query."""
    if not shown:
        st.text("No query matches these filters.")
        return
    choice = found.choice
    part = shown[(page - 1) * ON_A_PAGE : page * ON_A_PAGE]
    has_columns = url_state.get("numbers") == "true"
    is_cut = len(part) > CUT_ABOVE and not (has_columns or url_state.get("every") == "true")
    if is_cut:
        part = part[:FIRST_ROWS]
    facet = choice.filters.facet
    if has_columns:
        show_html(tables.query_list(part, found.headings, facet, query_url))
    else:
        grades = {row.query_id: grades_by_rank(found, row.query_id) for row in part}
        run = found.short[choice.run]
        first, means = name_first_useful(found)
        show_html(ranked_query_list(part, found.headings[0], run, grades, first, query_url))
        show_html(tables.small_print([means]))
    of = "" if len(part) == len(shown) else f", {len(part)} on this page"
    said = f"{len(shown):,} of {len(found.rows):,} queries{of} · {order}"
    every = url_state.this_page_url("/queries", every="true", page=None)
    show_html(
        tables.sentence_with_link(said, f"Show all {len(shown):,}", every)
        if is_cut
        else tables.small_print([said])
    )
    url_state.switch("All columns", "numbers")


def show_how(found: RunFailures, shown: Sequence[QueryRow]) -> None:
    """Show in a fold how the list was computed, and offer the list as a file."""
    choice = found.choice
    show_html(
        tables.folded_sentences("How computed", [found.small_print, *found.summary]),
        tables.folded_names(found.short, [run for run in (choice.run, choice.a) if run]),
    )
    ui.offer(
        "Download these queries as CSV",
        lambda: csv_exports.query_list_csv(
            shown, choice.run, choice.a, found.measures, found.board.conventions
        ),
        "queries.csv",
        found.board.revision,
    )


def show_causes(found: RunFailures) -> None:
    """Show the number of failing queries by reason, over all and in each bucket of the facet."""
    choice, facet = found.choice, found.choice.filters.facet
    classes = diagnosis.tally_classes(found.within)
    counts = {kind: each.queries for kind, each in classes.items()}
    if not sum(counts.values()):
        st.text("No query fails.")
        return
    by_bucket = diagnosis.count_by_bucket(found.board, found.within, facet) if facet else {}
    every = (counts, by_bucket)
    show_html(
        tables.failure_table(classes, by_bucket, lambda kind: list_url(**{"class": kind.name}))
    )
    inside = sum(sum(each.values()) for each in by_bucket.values())
    left = sum(counts.values()) - inside if facet else 0
    apart = (
        f"{format_count(left, 'failing query has', 'failing queries have')} no {facet}: "
        "in no bucket"
    )
    choose = "" if facet else "Choose a facet under Change to see the causes in each bucket."
    show_html(tables.small_print([*([apart] if left else []), choose]))
    ui.offer(
        "Download these counts as CSV",
        lambda: csv_exports.failures_csv(*every, choice.run, facet, found.board.conventions),
        "failures.csv",
        found.board.revision,
    )


def show_perfect_order(found: RunFailures) -> None:
    """Show the values of the run with a perfect reranker."""
    show_reranker(found.board, [found.choice.run], found.measures, found.within)


def steps_around(found: RunFailures, shown: Sequence[QueryRow], query_id: str) -> QuerySteps:
    """Return the neighbours of a query in the list, and its place there."""
    ids = [row.query_id for row in shown]
    at = ids.index(query_id) if query_id in ids else None
    kind = found.choice.filters.kind
    against = f" against {found.short[found.choice.a]}" if found.choice.a else ""
    which = f" {kind}" if kind != diagnosis.STATUSES[0] else ""
    return QuerySteps(
        back=f"Queries of {found.short[found.choice.run]}{against}",
        place="not in the filtered list" if at is None else f"{at + 1:,} of {len(ids):,}{which}",
        before=ids[at - 1] if at else None,
        after=ids[at + 1] if at is not None and at + 1 < len(ids) else None,
        leave=partial(open_from_list, None, at),
        go=lambda name: open_from_list(name, ids.index(name)),
    )


def show_answers(found: RunFailures, answered: Mapping[str, int]) -> None:
    """Show the outcomes of queries and answers; ``answered`` are the runs with answers."""
    choice = found.choice
    if not found.right:
        named = ", ".join(found.short.get(run, run) for run in answered)
        st.text(
            f"No answer of {found.short[choice.run]} is loaded. Runs with answers: {named}. "
            "Choose one of these, or load the answers of this one on the Data page, or in a "
            "terminal:"
        )
        run = shlex.quote(escape_controls(choice.run))
        st.code(f"labeler load answers FILE --run {run}", language=None)
        return
    table = found.table
    show_html(tables.sentences(table.sentences))
    show_html(tables.two_by_two_table(table, lambda became: list_url(outcome=became.name)))
    show_html(tables.small_print([*tables.describe_outcomes(table), describe_counts(found)]))
    by_bucket = outcomes_by_bucket(found)
    if by_bucket:
        facet = choice.filters.facet or ""
        show_html(
            tables.outcome_table(
                by_bucket, facet, lambda became, of: list_url(outcome=became.name, bucket=of)
            )
        )
    ui.offer(
        "Download these counts as CSV",
        lambda: csv_exports.answers_csv(
            choice.run,
            {None: table} | dict(by_bucket),
            choice.filters.facet,
            found.board.conventions,
        ),
        "answers.csv",
        found.board.revision,
    )


def describe_counts(found: RunFailures) -> str:
    """Explain "found", the conventions, and the base of shares and intervals."""
    rel = "the grade that the failure rule asks for"
    return (
        f"found: the prompt holds a chunk of {rel} or better · shares are of the "
        "queries in the four cells, with Wilson's 95% interval over the choice of queries · "
        f"{found.board.conventions.sentence}"
    )


def outcomes_by_bucket(found: RunFailures) -> dict[str, TwoByTwo]:
    """Return the outcomes for each bucket of the chosen facet, if there is one."""
    facet = found.choice.filters.facet
    if facet is None:
        return {}
    rows = [row for row in found.rows if found.choice.filters.let_in(row, any_class=True)]
    ids = {row.query_id for row in found.rows}
    buckets = [each for each in found.board.facets.get(facet, ()) if each is not None]
    return {
        bucket: diagnosis.count_two_by_two(
            [(row.query_id, row.outcome) for row in rows if row.outcome and row.bucket == bucket],
            found.right,
            ids,
        )
        for bucket in buckets
        if any(row.bucket == bucket for row in rows)
    }
