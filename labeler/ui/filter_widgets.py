"""Filters that several pages share: measures, conventions, facets, splits, chunkings, weighting.

A page shows the choices in one line of text; the widgets that change them are folded behind that
line. Every choice is in the URL.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import htpy
import streamlit as st

from labeler.errors import BadInput
from labeler.evaluation import (
    CROSS_CHUNKING_MEASURES,
    DEFAULT_MEASURES,
    PRESETS,
    Conventions,
    Scoreboard,
    measure_names_for_task,
    measures_for_runs,
)
from labeler.measures import UniqueMeasures
from labeler.model import WITH_LEAKED, Settings, Traffic, chunking_label, count_logged
from labeler.render.markup import show_html, style
from labeler.render.name_parts import called
from labeler.ui import scoreboards, url_state
from labeler.ui import shared as ui

# A row has the visible boxes, a line of text, and the fold. Visible boxes are as wide as their
# names and fill a phone's width. The text has at most two lines. The open fold is a row of its own.
# Tabs of a page are words over a line with the open one underlined, like the pages in the header.
# On a phone the tabs of Review are one line that scrolls, and the fold of a usual choice can be
# beside the count below it.
STYLE = """
/* rows that open share the rule between them */
.stVerticalBlock > :has(> .stExpander) + :has(> .stExpander) { margin-top: calc(-1rem - 1px); }
:is(.st-key-section, .st-key-review) { border-bottom: 1px solid var(--line); width: 100%; }
:is(.st-key-section, .st-key-review) [role="radiogroup"] { gap: 0 1.5rem; }
:is(.st-key-section, .st-key-review) button {
  min-height: 2.5rem; padding: 0 !important; border: solid transparent !important;
  border-width: 2px 0 !important; border-radius: 0 !important; background: none !important;
  color: var(--muted) !important; margin: 0 0 -1px !important;
}
:is(.st-key-section, .st-key-review) button:hover { color: var(--ink) !important; }
:is(.st-key-section, .st-key-review) button[aria-checked="true"] {
  color: var(--ink) !important; font-weight: 600; border-bottom-color: var(--accent) !important;
}
.st-key-choices { row-gap: 0.25rem; }
.st-key-choices .st-key-facet button { min-height: 2.5rem; }
.st-key-choices > div:has(.chosen) { flex: 1 1 18rem; min-width: 0; }
.st-key-choices > [class*="st-key-folded"] { flex: 0 0 auto; width: auto; }
.st-key-choices > [class*="st-key-folded"]:has(details[open]) { flex: 1 0 100%; }
.st-key-choices > .stElementContainer:has(.stSelectbox) { max-width: 100%; }
/* the marks of A and B, as tables and pictures have them */
:is(.st-key-a, .st-key-b) .react-aria-ComboBox [role="group"]::before {
  content: ""; flex: none; align-self: center; width: 10px; height: 10px; margin-left: 0.75rem;
  background: var(--run-a);
}
.st-key-b .react-aria-ComboBox [role="group"]::before {
  border-radius: 50%; background: var(--run-b);
}
.choice-line { display: flex; align-items: center; min-height: 2.5rem; }
.chosen {
  margin: 0;
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 2;
  overflow: hidden;
  overflow-wrap: anywhere;
  font-size: 0.9rem;
  line-height: 1.35;
}
[class*="st-key-boxes"] > .stElementContainer { flex: 1 1 9rem; }
[class*="st-key-boxes"] > :is(.st-key-measure, .st-key-run) { flex: 3 1 24rem; max-width: 100%; }
@media (min-width: 40rem) { .st-key-choices > div:has(.chosen.short) { flex-basis: 6rem; } }
@media (max-width: 75rem) {
  .st-key-choices > .stElementContainer:has(.stSelectbox) { max-width: min(100%, 26rem); }
}
@media (max-width: 40rem) {
  .st-key-choices > .stElementContainer:has(.stSelectbox) { flex: 1 1 auto; }
  .st-key-choices > div:has(.chosen) { flex: 1 1 calc(100% - 9rem); }
  .st-key-review [role="radiogroup"] {
    flex-wrap: nowrap; gap: 0 0.875rem; overflow: auto hidden; scrollbar-width: none;
  }
  .st-key-review button { flex: none; margin: 0 !important; }
  .st-key-review button[aria-checked="true"] { scroll-initial-target: nearest; }
  .st-key-choices:has(.beside-count):not(:has(details[open])) {
    position: relative; z-index: 1; margin-bottom: -4rem;
  }
  .st-key-choices:not(:has(details[open])) .beside-count { visibility: hidden; }
}
"""
# Pixels. Two of the narrowest boxes fit side by side on a phone. A box cannot show a name on two
# lines: if there is room, a long one has its own row; at 1,024 pixels two share a row, to leave
# room for the result.
BOX_FRAME, LETTER, NARROWEST = 86, 6.6, 170
SHORT_LINE = 24  # letters: a shorter line needs little room beside boxes

Say = Callable[..., None]
"""Writes the line in words: a text for each thing that is chosen, None for what is not."""


@contextmanager
def row() -> Iterator[None]:
    """Draw the contents side by side: the visible boxes, and `folded`."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="choices"):
        yield


def unmark_runs() -> None:
    """Remove the marks of A and B from the boxes of runs: a single run has none."""
    show_html(style('.st-key-choices [role="group"]::before { display: none !important; }'))


@contextmanager
def folded() -> Iterator[Say]:
    """Fold the boxes inside, beside a line that says what they are set to.

    Yields a function that writes this line, to be called when the choices are known. With
    ``beside_count`` a phone leaves the line out and shows the fold beside the count below it.
    """
    line = st.container()
    with fold("Change", "tune"):
        yield lambda *words, beside_count=False: _write_line(line, words, beside_count)


@contextmanager
def fold(label: str, icon: str, of: str = "") -> Iterator[None]:
    """Fold the boxes inside; a second fold of a row needs a name (``of``).

    The Tab key reaches these boxes next, unlike those of a popover, which are at the page's end.
    """
    with (
        st.expander(label, icon=f":material/{icon}:", key=f"folded{of}"),
        st.container(horizontal=True, vertical_alignment="bottom", gap="small", key=f"boxes{of}"),
    ):
        yield


def _write_line(
    line: st.delta_generator.DeltaGenerator, words: Iterable[str | None], beside_count: bool
) -> None:
    said = " · ".join(filter(None, words))
    look = {"chosen": True, "short": len(said) <= SHORT_LINE, "beside-count": beside_count}
    with line:
        show_html(htpy.div(".choice-line")[htpy.p(class_=look)[said]])


def run_box_options(names: Iterable[str]) -> dict[str, Any]:
    """Return options for a box of runs: names that tell them apart, and room for the longest."""
    short = called(names)
    room = BOX_FRAME + LETTER * max(map(len, short.values()), default=0)
    width = int(max(room, NARROWEST))
    return {"format_func": lambda name: short.get(name, name), "width": width}


OFFERED_MEASURES = (
    *DEFAULT_MEASURES,
    *("nDCG@3", "nDCG@5", "nDCG@100", "R@5", "R@10", "R@100", "P@3", "P@5", "P@10", "Success@1"),
    *("Success@prompt", "Success@5", "Success@10", "RR@10", "AP@10", "Judged@5", "Judged@100"),
    *(
        "Rprec",
        "Bpref",
        "infAP",
        "IPrec@0.1",
        "RBP",
        "ERR@10",
        "F1@5",
        "SetP",
        "SetR",
        "SetF",
        "NumRet",
        "NumRel",
    ),
    *CROSS_CHUNKING_MEASURES,
    *("EvidenceR@prompt", "EvidenceP@prompt", "EvidenceIoU@prompt", "RR(documents=True)"),
)
MOST_MEASURES_NAMED = 3  # measures in the line
NOT_WEIGHTED_HERE = "this page is not weighted: each query counts the same"
ALL_QUERIES, EVERY_BUCKET, ALL_SPLITS = "all queries", "every bucket", "all splits"
ALL_CHUNKINGS = "all chunkings"  # no chunking can have this name
NOT_WEIGHTED_LABEL = "nothing: each query counts the same"
WEIGHTED_HELP = (
    "Counts a query as often as questions of its bucket are asked in the logs that were loaded: "
    "its weight is its bucket's share of the logs over its share of the graded queries."
)
LEAKED_IN_WORDS = {"with": "count as others", "without": "are left out", "only": "alone count"}


def choose_conventions(
    settings: Settings,
    *,
    across: bool = False,
    every: bool = False,
    runs: Sequence[str] = ("a", "b"),
) -> Conventions:
    """Let the user choose a preset, and the queries if there are splits or leaks.

    The URL has the choice as ``preset``, ``split`` and ``leaked``. It has ``chunking``, too, if
    there are several and the page does not show runs ``across`` them; ``every`` allows all at once.
    Choosing a chunking removes the parameters ``runs`` from the URL, which name runs of another.
    """
    preset = url_state.choose("Conventions", PRESETS, "preset", what="preset")
    choose_selection()
    if not across:
        choose_chunking(runs, every=every)
    return scoreboards.shown_conventions(settings, preset, every=every)


def choose_chunking(runs: Sequence[str], *, every: bool) -> None:
    """Let the user choose the chunking whose runs are shown, or all, if there are several.

    A choice removes the parameters ``runs`` from the URL, which name runs of the earlier chunking.
    """
    with ui.open_store() as store:
        chunkings = store.chunkings.with_runs()
    if len(chunkings) < 2:
        return
    options = [*chunkings, *([scoreboards.EVERY_CHUNKING] if every else [])]
    shown = scoreboards.shown_chunkings(every=every) or chunkings[:1]
    url_state.choose(
        *("Chunking", options, "chunking"),
        default=shown[0] if len(shown) == 1 else scoreboards.EVERY_CHUNKING,
        always=True,
        clears=runs,
        format_func=lambda name: (
            ALL_CHUNKINGS if name == scoreboards.EVERY_CHUNKING else chunking_label(name)
        ),
        help="Runs are measured by the grades of the chunks that they are made of, so those of "
        "one chunking stand together. Of all chunkings together, measures of the evidence and "
        "of documents compare.",
    )


def choose_selection(**more: Any) -> None:
    """Let the user choose a split, and whether leaked queries count, if there are any."""
    splits, leaked = scoreboards.selection_options()
    choose_split(splits, **more)
    if leaked or url_state.get("leaked"):
        url_state.choose(
            *("Leaked queries", leaked or [WITH_LEAKED], "leaked"),
            what="choice of leaked queries",
            format_func=LEAKED_IN_WORDS.__getitem__,
            help="Queries that were found in training sets, prompts or corpora, and marked by "
            "`labeler leakage FILES --mark`.",
            **more,
        )


def choose_split(splits: Sequence[str], **more: Any) -> str | None:
    """Let the user choose one of ``splits`` or all (None), if there are any."""
    if not splits and not url_state.get("split"):
        return None
    nothing = {"nothing": ALL_SPLITS, "what": "split"}
    return url_state.choose_or_not("Split", splits, "split", **nothing, **more)


def usual_measures(
    board: Scoreboard, settings: Settings, runs: Iterable[str] | None = None
) -> list[str]:
    """Return `tested_measures`, or the measures that compare chunkings.

    The latter are for ``runs`` of several chunkings; without ``runs`` all compared runs count.
    """
    across = measures_for_runs(board.collection, runs, chunks=False)
    if across != DEFAULT_MEASURES:
        return list(across)
    return tested_measures(settings)


def tested_measures(settings: Settings) -> list[str]:
    """Return the measure that decides and those tested beside it, by the golden set's settings."""
    return list(dict.fromkeys([*settings.decide_by.split()[:1], *settings.measures.split()]))


def default_measures(
    settings: Settings, tasks: Iterable[str], usual: Sequence[str] = DEFAULT_MEASURES
) -> list[str]:
    """Return the measures that a page starts with: those of the tasks shown, then the usual ones.

    >>> default_measures(Settings(measures_by_task={"single": "RR P@5"}), ["single"])[:3]
    ['RR', 'P@5', 'nDCG@10']
    """
    first = [
        name for task in tasks for name in measure_names_for_task(task, settings.measures_by_task)
    ]
    across = [name for name in usual if name in CROSS_CHUNKING_MEASURES]
    return list(dict.fromkeys([*across, *first, *usual]))


def tasks_shown() -> list[str]:
    """Return the task that the URL names as its bucket, if any."""
    task = url_state.get("bucket")
    return [task] if url_state.get("facet") == "task" and task is not None else []


def say_tasks(settings: Settings, tasks: Sequence[str]) -> str | None:
    """Say that the measures of tasks come first; None if no task has any."""
    there = [task for task in tasks if measure_names_for_task(task, settings.measures_by_task)]
    if not there or url_state.get_each("measure"):
        return None
    return "first those of its task" if len(there) == 1 else "first those of each task"


def choose_measures(default: Sequence[str] = DEFAULT_MEASURES) -> list[str]:
    """Let the user choose measures at any cut-off; the URL has them as ``measure``."""
    chosen = url_state.choose_several(
        *("Measures", "Add a measure", "measure", OFFERED_MEASURES, default),
        help="Any measure at any cut-off, such as `nDCG@7` or `P(rel=2)@5`; type a new one. "
        "`@prompt` is the prompt size. A column's heading says what its value means; there is no "
        "value that is good everywhere, so compare runs on the same golden set.",
    )
    if not chosen:
        st.caption("No measure chosen: these are the usual ones.")
    return chosen or list(default)


def measures_of(
    conventions: Conventions, texts: str | Sequence[str], name: str = "measure"
) -> UniqueMeasures:
    """Return the chosen measures; `StaleLink` if the parameter ``name`` has unknown ones."""
    try:
        found = conventions.measures(texts)
    except BadInput as error:
        raise url_state.StaleLink(str(error), [name]) from error
    if texts and not found:
        raise url_state.StaleLink(
            "a measure has a name, such as nDCG@10, and not blanks alone", [name]
        )
    return found


def choose_facet(facets: Mapping[str, Sequence[str]], **more: Any) -> str | None:
    """Let the user choose a facet, or all queries; the URL has it as ``facet``."""
    given = {"nothing": ALL_QUERIES, "what": "facet", "clears": ["bucket"], **more}
    return url_state.choose_or_not("Facet", list(facets), "facet", **given)


def choose_bucket(
    facets: Mapping[str, Sequence[str]], **more: Any
) -> tuple[str | None, str | None]:
    """Let the user choose a facet and one of its buckets; None means all of them.

    The URL has them as ``facet`` and ``bucket``.
    """
    facet = choose_facet(facets, **more)
    return facet, choose_within("Bucket", facets, facet, "bucket", **more)


def choose_within(
    label: str, facets: Mapping[str, Sequence[str]], facet: str | None, name: str, **more: Any
) -> str | None:
    """Let the user choose one bucket of a facet, or all (None); without a facet return None."""
    if facet is None:
        return None
    given = {"nothing": EVERY_BUCKET, "what": f"bucket of {facet}", **more}
    return url_state.choose_or_not(label, facets[facet], name, **given)


def choose_other(label: str, facets: Collection[str], facet: str | None) -> str | None:
    """Let the user choose a facet to cross with another; the URL has it as ``other``."""
    url_state.check_among("other", facets, "facet")
    others = [name for name in facets if name != facet]
    if facet is None or not others:
        return None
    crossed = "not crossed"
    return url_state.choose_or_not(label, others, "other", nothing=crossed, clears=["crossing"])


def choose_traffic(facets: Collection[str]) -> Traffic | None:
    """Let the user weight means by one of ``facets`` that occurs in logs, if there is one.

    The URL has the choice as ``weighted``.
    """
    with ui.open_store() as store:
        counted = count_logged(store.candidates.batches())
    known = [facet for facet in facets if facet in counted]
    if not known and not url_state.get("weighted"):
        return None
    facet = url_state.choose_or_not(
        *("Weighted by", known, "weighted"),
        nothing=NOT_WEIGHTED_LABEL,
        what="facet that logs name",
        help=WEIGHTED_HELP,
    )
    return None if facet is None else Traffic.of(facet, counted[facet])


def say_traffic(traffic: Traffic | None) -> str | None:
    """Name the facet that means are weighted by; None if each query counts the same."""
    return None if traffic is None else f"weighted by {traffic.facet}"


def say_queries(facet: str | None, bucket: str | None = None) -> str:
    """Say which queries are chosen.

    >>> say_queries(None), say_queries("topic"), say_queries("topic", "tax law")
    ('all queries', 'by topic', 'topic: tax law')
    """
    if facet is None:
        return ALL_QUERIES
    return f"by {facet}" if bucket is None else f"{facet}: {bucket}"


def say_wider(bucket: str | None) -> str | None:
    """Say that a bucket is shown whole although the URL narrows it by another facet's bucket."""
    other, crossing = url_state.get("other"), url_state.get("crossing")
    if bucket is None or other is None or crossing is None:
        return None
    return f"all of it, not the part in {other}: {crossing}"


def say_measures(texts: Sequence[str]) -> str:
    """Name a few measures, and count the others.

    >>> say_measures(["RR", "AP"]), say_measures(["RR", "AP", "P@5", "P@10", "R@5"])
    ('RR, AP', 'RR, AP and 3 more measures')
    """
    few = list(texts if len(texts) <= MOST_MEASURES_NAMED else texts[: MOST_MEASURES_NAMED - 1])
    more = f" and {len(texts) - len(few)} more measures" if len(few) < len(texts) else ""
    return f"{', '.join(few)}{more}"


def say_conventions(chosen: Conventions) -> str | None:
    """Name the conventions unless they are the usual ones; the page prints all under its numbers.

    >>> say_conventions(Conventions.of("graded")), say_conventions(Conventions.of("trec_eval"))
    (None, 'trec_eval conventions')
    """
    usual, *_ = PRESETS
    return None if chosen.preset == usual else f"{chosen.preset} conventions"


def say_selection(chosen: Conventions) -> str | None:
    """Name the split and whether leaked queries count; None if all queries count.

    It is the first part of the line, because a phone may cut off the end.
    """
    return chosen.selected.describe() or None
