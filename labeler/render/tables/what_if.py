"""What-if values of one query as a table, with a row for each rank or grade tried."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import htpy

from labeler.analysis.comparison import Trial
from labeler.evaluation import Conventions, format_number, format_signed
from labeler.render.markup import style

WHAT_IF_STYLE = style("""
.what-if { color: var(--ink); font-size: 0.9375rem; line-height: 1.5rem; overflow-x: auto; }
.what-if h3 { margin: 0; padding: 0 0 0.25rem; font-size: 1.125rem; line-height: 1.5rem;
    font-weight: 600; overflow-wrap: anywhere; }
.what-if table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.what-if :is(th, td) { height: 2.25rem; padding: 0 0 0 0.75rem; text-align: right; font-weight: 400;
    border: 0; border-top: 1px solid var(--line); white-space: nowrap; }
.what-if thead th { border-top: 0; white-space: normal; vertical-align: bottom;
    font-size: 0.8125rem; color: var(--muted); }
.what-if :is(th, td):first-child { text-align: left; padding-left: 0; }
.what-if td.change { font-size: 0.8125rem; color: var(--muted); }
.what-if .now :is(th, td) { color: var(--muted); }
.what-if .tried :is(th, td) { font-weight: 600; color: var(--ink); }
.what-if a { color: inherit; text-decoration: none; display: block; }
.what-if a:hover { text-decoration: underline; text-underline-offset: 3px; }
.what-if a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.what-if a::before { content: ""; display: inline-block; box-sizing: border-box; width: 14px;
    height: 14px; margin-right: 0.625rem; vertical-align: -2px; border-radius: 50%;
    border: 1px solid var(--line2); }
.what-if .tried a::before { border: 4.5px solid var(--accent); }
.what-if p { margin: 0; padding: 0.5rem 0; font-size: 0.8125rem; line-height: 1.25rem;
    color: var(--muted); }
.what-if p a { display: inline; color: var(--accent); text-decoration: underline; }
.what-if p a::before { content: none; }
""")


def what_if_table(
    title: str,
    noun: str,
    trials: Sequence[Trial],
    tried: int | None,
    conventions: Conventions,
    link: Callable[[int | None], str],
) -> htpy.Fragment:
    """Return what a query's values would be, a row for each trial of a ``noun`` (rank or grade).

    For the trial at ``tried``, a line says what the mean would be. ``link`` returns the address of
    another trial, or with None the address without a trial.
    """
    shown = trials[0].values[:2]
    heads = [htpy.th(scope="col")[htpy.span(".unseen")[noun]]]
    for at, value in enumerate(shown):
        heads.append(htpy.th(scope="col")[f"{conventions.heading(value.measure)} would be"])
        if not at:
            heads.append(htpy.th(scope="col")["change"])
    body = [
        htpy.tr(class_={"now": each.is_now, "tried": each.at == tried})[
            htpy.th(scope="row")[
                htpy.a(
                    id=f"{noun} {each.at}",
                    href=link(None if each.at == tried else each.at),
                    target="_self",
                    data_in_place="chunk-panel",
                    aria_current="true" if each.at == tried else None,
                )[f"{noun} {each.at}{' now' if each.is_now else ''}"]
            ],
            _trial_cells(each, len(shown)),
        ]
        for each in trials
    ]
    chosen = next((each for each in trials if each.at == tried), None)
    return htpy.fragment[
        WHAT_IF_STYLE,
        htpy.div(".what-if")[
            htpy.h3[title],
            htpy.table(aria_label=title)[htpy.thead[htpy.tr[heads]], htpy.tbody[body]],
            htpy.p[describe_trial(chosen, noun), "Nothing is changed."],
        ],
    ]


def _trial_cells(trial: Trial, shown: int) -> list[htpy.Element]:
    first, *others = trial.values[:shown]
    change = "" if trial.is_now else format_signed(first.delta)
    return [
        htpy.td[format_number(first.value)],
        htpy.td(".change")[change],
        *(htpy.td[format_number(each.value)] for each in others),
    ]


def describe_trial(trial: Trial | None, noun: str) -> str:
    """Say what the mean would be in a trial; empty without a trial."""
    if trial is None or math.isnan(trial.mean):
        return ""
    with_it = f"{'At' if noun == 'rank' else 'With'} {noun} {trial.at}"
    queries = f"the mean of {trial.n:,} {'query' if trial.n == 1 else 'queries'}"
    now = "" if math.isnan(trial.mean_now) else f" instead of {format_number(trial.mean_now)}"
    return f"{with_it} {queries} would be {format_number(trial.mean)}{now}. "
