"""Choices on Slices: runs, facets, measures and conventions; all of them are in the URL."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from labeler.analysis import comparison
from labeler.analysis.comparison import CrossedCell, Delta
from labeler.evaluation import Conventions, Score, Scoreboard
from labeler.measures import Measure
from labeler.model import Settings
from labeler.render.name_parts import called
from labeler.ui import filter_widgets, live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import bucket_queries_url

ONE_RUN, ALL_FACETS = "no second run", "all facets"
MOST_TABS, LONGEST_TAB = 3, 16  # facets, and characters of a facet's name
Counted = Score | Delta | CrossedCell
"""A row that says over how many queries it is, as ``n``."""
Bucket = TypeVar("Bucket", Score, Delta)


@dataclass(frozen=True, slots=True)
class SlicesChoice:
    """What the page shows: a run or B against A, by all facets, one, or two crossed; the measures.

    Buckets of fewer than ``least`` queries are grey. ``texts`` are the measures as the user wrote
    them, ``short`` the runs' short names. ``lead`` is the measure that ranks the buckets, None for
    the deciding measure.
    """

    a: str
    b: str | None
    facet: str | None
    other: str | None
    least: int
    texts: Sequence[str]
    measures: Sequence[Measure]
    lead: Measure | None
    conventions: Conventions
    short: Mapping[str, str]
    settings: Settings

    @property
    def runs(self) -> list[str]:
        """The one run, or A and B."""
        return [self.a] if self.b is None else [self.a, self.b]

    def facets_of(self, board: Scoreboard) -> Sequence[str]:
        """Return the facets whose buckets are shown."""
        return list(board.facets) if self.facet is None else [self.facet]

    def named_facet(self, board: Scoreboard) -> str:
        """Return the chosen facet, else the first."""
        return self.facet or next(iter(board.facets))

    def bucket_url(self, facet: str, bucket: str | None, crossing: str | None = None) -> str:
        """Return the URL of a bucket's queries, worst first or, with B, by loss against A."""
        where = {"other": self.other, "crossing": crossing} if crossing is not None else {}
        more = {"a": self.a, "b": self.b, "preset": self.conventions.preset, **where}
        by = self.texts[0] if self.lead is None else self.conventions.heading(self.lead)
        return bucket_queries_url(facet, bucket, by, **more)

    def in_same_order(self, rows: Sequence[Bucket], measure: Measure) -> list[Bucket]:
        """Return buckets in the order in which the reader saw them, even if their values change."""
        key: Hashable = (
            *("slices", self.a, self.b, self.facet, self.least),
            *(str(measure), repr(self.conventions)),
        )
        return live.keep_order(rows, _place, key)

    def any_shaded(self, rows: Iterable[Counted]) -> bool:
        """Return whether any row has enough queries for a shade."""
        return any(row.n >= self.least for row in rows)

    def few_come_last(self, rows: Sequence[Counted]) -> str:
        """Say that buckets of few queries are last, if there are others."""
        few = sum(row.n < self.least for row in rows)
        return f", those under {self.least} queries last" if 0 < few < len(rows) else ""


def _place(row: Score | Delta) -> tuple[str | None, str | None]:
    return row.facet, row.bucket


def choose(board: Scoreboard, settings: Settings) -> SlicesChoice:
    """Let the user choose; runs and facet stay visible, other choices are one line with a fold."""
    with filter_widgets.row():
        a, b = choose_runs(scoreboards.best_first(board, settings))
        facet = choose_facet(list(board.facets))
        with filter_widgets.folded() as say:
            other = filter_widgets.choose_other("Crossed with", list(board.facets), facet)
            least = choose_least()
            texts = filter_widgets.choose_measures(filter_widgets.usual_measures(board, settings))
            conventions = filter_widgets.choose_conventions(settings, every=True)
    if b is None:
        filter_widgets.unmark_runs()
    say(
        filter_widgets.say_selection(conventions),
        other and f"by {facet} and {other}",
        f"by {texts[0]}",
        None if least == comparison.FEW else f"few is under {least}",
        filter_widgets.say_conventions(conventions),
    )
    with ui.guard():
        measures = filter_widgets.measures_of(conventions, texts)
    is_asked = bool(url_state.get_each("measure")) or b is None
    lead = measures[0] if is_asked else None
    short = called(board.run_names if b is None else [a, b])
    chosen = (a, b, facet, other, least, texts, measures, lead, conventions, short)
    return SlicesChoice(*chosen, settings)


def choose_facet(facets: Sequence[str]) -> str | None:
    """Let the user choose a facet or all (None): few short ones as tabs, others in a box."""
    rules: dict[str, Any] = {"what": "facet", "clears": ["bucket", "page"]}
    if len(facets) == 1:
        return url_state.check_among("facet", facets, **rules)
    if len(facets) > MOST_TABS or max(map(len, facets)) > LONGEST_TAB:
        shown: dict[str, Any] = {"label_visibility": "collapsed", "width": 200}
        return url_state.choose_or_not(
            "Facet", facets, "facet", nothing=ALL_FACETS, **rules, **shown
        )
    url_state.check_among("facet", facets, **rules)
    every = url_state.apart_from(facets, ALL_FACETS)
    chosen = url_state.choose_tab("Facet", [every, *facets], "facet", clears=rules["clears"])
    return None if chosen == every else chosen


def choose_runs(names: Sequence[str]) -> tuple[str, str | None]:
    """Let the user choose run A and, to compare, run B; the URL has them as ``a`` and ``b``."""
    shown = {"label_visibility": "collapsed", **filter_widgets.run_box_options(names)}
    a = url_state.choose("A", names, "a", what="run", always=True, **shown)
    if len(names) < 2 and url_state.get("b") is None:
        return a, None
    b = url_state.choose_or_not("B", names, "b", nothing=ONE_RUN, what="run", **shown)
    return a, b


def choose_least() -> int:
    """Let the user choose the least number of queries of a bucket that is not grey."""
    least: int = url_state.choose_number(
        *("Few is under", "least", 1, 1_000, comparison.FEW),
        help="Buckets of fewer queries are greyed: their mean says little.",
    )
    return least
