"""Which runs a page shows stands in its address: the widgets that choose, the links of a table.

Knows no page and no measure; the address alone says what is chosen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from labeler import address
from labeler.lineup import Lineup
from labeler.tables import RunNames, Steps

SORT, ONLY, HIDDEN, PINNED, HOLDING, SYSTEMS = "sort", "run", "hide", "pin", "find", "systems"


def choose_runs(names: RunNames) -> Lineup:
    """Let the user choose runs, a text their names hold, and whether they stand by system.

    Raises `Astray` where the address names a run to show that is not there.
    """
    runs = list(names.systems)
    with st.popover("Choose runs", width=150):
        only = address.choose_some(
            *("Show only", runs, ONLY, "run"),
            format_func=lambda run: names.short.get(run, run),
            placeholder="all runs",
        )
        holding = address.write_text("Whose name or system holds", HOLDING)
        by_system = address.switch("Group by system", SYSTEMS)
    return Lineup(
        sort=address.given(SORT) or "",
        only=tuple(only),
        hidden=tuple(address.given_all([HIDDEN]).get(HIDDEN, ())),
        pinned=tuple(address.some_of(PINNED, runs, "run")),
        holding=holding,
        by_system=by_system,
    )


def steps(path: str, lineup: Lineup) -> Steps:
    """Return where the links of a table on the page at ``path`` lead."""
    return Steps(
        sort=lambda column: _changed(path, {SORT: lineup.turned(column)}),
        pin=lambda run: _changed(path, {PINNED: _toggled(lineup.pinned, run)}),
        hide=lambda run: _changed(
            path,
            {
                HIDDEN: [*lineup.hidden, run],
                PINNED: [each for each in lineup.pinned if each != run],
            },
        ),
    )


def show_all(path: str) -> str:
    """Return the address that shows every run again."""
    return _changed(path, {ONLY: [], HIDDEN: [], HOLDING: []})


def _toggled(names: Sequence[str], name: str) -> list[str]:
    return [each for each in names if each != name] if name in names else [*names, name]


def _changed(path: str, changes: Mapping[str, str | Sequence[str]]) -> str:
    return address.to(path, **{**address.given_all(), **changes})
