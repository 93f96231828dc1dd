"""Options of a load on the Data page, and their names in messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from labeler.errors import BadInput
from labeler.formats import GradeCuts, parse_grade_cuts, parse_grade_map
from labeler.services import import_export
from labeler.ui.data.runs import DATE_HELP, SYSTEM_HELP

UPDATE = "Replace queries, chunks and grades that have other content"
CHUNKING = "Chunking"
CHUNKING_HELP = (
    "Chunks become a chunking of this name, beside the others; ids must be unique only within it. "
    "For runs and golden grades it says which chunks their ids mean. Empty: chunks and grades are "
    "of the default chunking, and a run is of the one that has its ids."
)
NEGATIVE = "Negative grades"
AS_ZERO, AS_UNGRADED = "count as 0", "stay unjudged, in the pool"
GRADE_MAP = "Grade map"
GRADE_MAP_HELP = "For grades other than 0-3: which number or word becomes which grade"
GRADE_CUTS = "Grade cuts"
GRADE_CUTS_HELP = "For numbers on a continuous scale: the lowest that is grade 1, grade 2, grade 3"
BLIND = "Graders saw neither the lists nor each other's grades"
QRELS = "Grades of a BEIR set"
QRELS_HELP = "Which file in its qrels folder: train, dev or test"
ORDER = "Order of the list"
ORDERS = {"score": "by score", "rank": "by rank", "file": "as in the file"}
FIRST = "If a chunk occurs twice for a query, keep the better rank"
LEAVE_OUT_SELF = "Leave out the query itself, if queries are from the corpus"
FACETS = "Empty: every field with few values"
MAP = "Field names"
_OPTIONS = "On this page: Options,"
# Messages name options of the command line; these are their names on this page.
HINTS = {
    "--on-duplicate": f'{_OPTIONS} "{FIRST}"',
    "--update": f'{_OPTIONS} "{UPDATE}"',
    "--negative-as-zero": f'{_OPTIONS} "{NEGATIVE}"',
    "--negative-as-ungraded": f'{_OPTIONS} "{NEGATIVE}"',
    "--grade-cuts": f'{_OPTIONS} "{GRADE_CUTS}", written as 0.25,0.5,0.75',
    "--grade-map": f'{_OPTIONS} "{GRADE_MAP}", written as 0.3=1,1.0=3',
    "--blind": f'{_OPTIONS} "{BLIND}"',
    "--order": f'{_OPTIONS} "{ORDER}"',
    "--leave-out-self": f'{_OPTIONS} "{LEAVE_OUT_SELF}"',
    "--map": f'On this page: "{MAP}", below the file',
    "--name": "On this page: the name beside the file's kind",
    "--run": "On this page: the name beside the file's kind",
    "labeler load queries": "On this page: drop the file with its queries, too",
    "labeler queries restore": 'On this page: "Queries"',
    "labeler drop run": 'On this page: "Runs"',
    "labeler undo-load": 'On this page: "Loads of golden grades"',
    "--limit": "On this page limits are fixed; on the command line, 'labeler load' takes --limit",
    "--chunking": f'{_OPTIONS} "{CHUNKING}"',
    "--facet": f'{_OPTIONS} "Facets"',
    "--split": f'{_OPTIONS} "{QRELS}"',
    "--db": "Not on this page: --db is given when the server is started",
}

ReadOptions = Callable[[], import_export.LoadOptions]
ReadValues = Callable[[], Mapping[str, Any]]


def load_options(kinds: set[str | None]) -> ReadOptions:
    """Draw the options of the given kinds in a fold; return a function that reads them.

    Records with grades count as golden grades, too.
    """
    with st.expander("Options"):
        grades, texts, runs = grade_options(kinds), text_options(kinds), run_options(kinds)
        chunking = ""
        if kinds & {"chunks", "records", "run", "golden", "beir"}:
            chunking = st.text_input(CHUNKING, placeholder="default", help=CHUNKING_HELP)
    of: dict[str, Any] = {"chunking": chunking.strip() or None}
    return lambda: import_export.LoadOptions(**grades(), **texts(), **runs(), **of)


def text_options(kinds: set[str | None]) -> ReadValues:
    """Draw the options of queries and chunks; return a function that reads them."""
    have_texts = {"queries", "documents", "chunks", "records", "golden", "beir"}
    if not kinds & {*have_texts, "answers", "signals"}:
        return dict
    update = st.checkbox(UPDATE)
    facets = ""
    if kinds & {"queries", "records", "beir"}:
        facets = st.text_input("Facets, separated by commas", help=FACETS)
    named = [facet.strip() for facet in facets.split(",")] if facets.strip() else None
    return lambda: {"update": update, "facets": named}


def grade_options(kinds: set[str | None]) -> ReadValues:
    """Draw the options of golden grades; return a function that reads them."""
    if not kinds & {"golden", "graded records", "beir"}:
        return dict
    with st.container(horizontal=True):
        negative = st.selectbox(NEGATIVE, ["are refused", AS_ZERO, AS_UNGRADED])
        mapped = st.text_input(GRADE_MAP, placeholder="0.3=1,1.0=3", help=GRADE_MAP_HELP)
        cuts = st.text_input(GRADE_CUTS, placeholder="0.25,0.5,0.75", help=GRADE_CUTS_HELP)
    blind = st.checkbox(BLIND) if "golden" in kinds else False
    split = st.text_input(QRELS, "test", help=QRELS_HELP) if "beir" in kinds else "test"
    return lambda: {
        "negative_as_zero": negative == AS_ZERO,
        "negative_as_ungraded": negative == AS_UNGRADED,
        "grade_map": _parse_grades(as_pasted(mapped), as_pasted(cuts)),
        "blind": blind,
        "split": split.strip() or "test",
    }


def _parse_grades(mapped: str, cuts: str) -> dict[float, int] | GradeCuts | None:
    if mapped and cuts:
        raise BadInput(f'give "{GRADE_MAP}" or "{GRADE_CUTS}", not both')
    if cuts:
        return parse_grade_cuts(cuts)
    return parse_grade_map(mapped) if mapped else None


def as_pasted(text: str) -> str:
    """Return an option's value, without the option's name and quotation marks if they were pasted.

    >>> as_pasted(" --grade-map '1=2,4=3' "), as_pasted("1=2")
    ('1=2,4=3', '1=2')
    """
    name, blank, value = text.strip().partition(" ")
    found = value.strip() if blank and name.startswith("--") else text.strip()
    quoted = len(found) > 1 and found[0] == found[-1] and found[0] in "'\""
    return found[1:-1] if quoted and found[0] not in found[1:-1] else found


def run_options(kinds: set[str | None]) -> ReadValues:
    """Draw the options of runs, which apply to all of them; return a function that reads them."""
    if not kinds & {"run", "records"}:
        return dict
    with st.container(horizontal=True):
        system = st.text_input("System", placeholder="each run's name", help=SYSTEM_HELP)
        date = st.date_input("Made on", value=None, help=DATE_HELP)
        order = st.selectbox(
            ORDER, [*ORDERS], format_func=ORDERS.__getitem__, help="What says which result is first"
        )
    first, itself = st.checkbox(FIRST), st.checkbox(LEAVE_OUT_SELF)
    return lambda: {
        "system": system or None,
        "created_at": date.isoformat() if date else None,
        "order": order,
        "on_duplicate": "first" if first else "refuse",
        "leave_out_self": itself,
    }
