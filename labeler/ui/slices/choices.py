"""Choices on Slices: runs, facets, measures and conventions; all of them are in the URL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from labeler import evaluation
from labeler.analysis import comparison
from labeler.analysis.comparison import CrossedCell, Delta
from labeler.errors import BadInput
from labeler.evaluation import Conventions, Score, Scoreboard
from labeler.measures import Measure
from labeler.model import Settings
from labeler.render.short_names import short_names
from labeler.ui import filter_widgets, live, scoreboards, url_state
from labeler.ui import shared as ui
from labeler.ui.deep_links import bucket_queries_url

ONE_RUN = "no second run"
Counted = Score | Delta | CrossedCell
"""A row that says over how many queries it is, as ``n``."""


@dataclass(frozen=True, slots=True)
class SlicesChoice:
    """What is shown: run A or B against A, by one facet or two that cross, and which measures.

    Buckets of fewer than ``least`` queries are greyed; ``texts`` are the measures as they were
    asked for, and ``short`` the runs' short names.
    """

    a: str
    b: str | None
    facet: str
    other: str | None
    least: int
    texts: Sequence[str]
    measures: Sequence[Measure]
    conventions: Conventions
    short: Mapping[str, str]
    settings: Settings

    @property
    def runs(self) -> list[str]:
        """The one run, or A and B."""
        return [self.a] if self.b is None else [self.a, self.b]

    def bucket_url(self, bucket: str | None, crossing: str | None = None) -> str:
        """Return the address of a bucket's queries, worst first or, with B, by loss against A."""
        where = {"other": self.other, "crossing": crossing} if crossing is not None else {}
        more = {"a": self.a, "b": self.b, "preset": self.conventions.preset, **where}
        return bucket_queries_url(self.facet, bucket, self.texts[0], **more)

    def in_same_order(self, buckets: Iterable[str], measure: Measure) -> list[str]:
        """Return buckets in the order in which the reader saw them, though their values move."""
        asked = ("slices", self.a, self.b, self.facet, self.least, str(measure))
        return live.keep_order(buckets, str, (*asked, repr(self.conventions)))

    def any_shaded(self, rows: Iterable[Counted]) -> bool:
        """Say whether any of them is of queries enough for a shade."""
        return any(row.n >= self.least for row in rows)

    def few_come_last(self, rows: Sequence[Counted]) -> str:
        """Say where buckets of few queries stand by one measure, if beside others."""
        few = sum(row.n < self.least for row in rows)
        return f", those under {self.least} queries last" if 0 < few < len(rows) else ""


def choose(board: Scoreboard, settings: Settings) -> SlicesChoice:
    """Let the user choose; the runs stay in view, the rest is said in a line and folded."""
    with filter_widgets.row():
        a, b = choose_runs(board.run_names)
        with filter_widgets.folded() as say:
            first = facet_of_largest_loss(board, a, b, settings)
            facet, other, least = choose_facets(list(board.facets), first, always=b is not None)
            of_team = settings.measures_by_task if facet == "task" else ()
            tasks = [task for task in board.facets.get("task", ()) if task in of_team]
            usual = evaluation.measures_for_runs(board.collection, chunks=False)
            texts = filter_widgets.choose_measures(
                filter_widgets.default_measures(settings, tasks, usual)
            )
            conventions = filter_widgets.choose_conventions(settings, every=True)
    say(
        filter_widgets.say_selection(conventions),
        f"by {facet}" if other is None else f"by {facet} and {other}",
        filter_widgets.say_measures(texts if other is None else texts[:1]),
        filter_widgets.say_tasks(settings, tasks),
        None if least == comparison.FEW else f"few is under {least}",
        filter_widgets.say_conventions(conventions),
    )
    with ui.guard():
        measures = filter_widgets.measures_of(conventions, texts)
    short = short_names(board.run_names)
    chosen = (a, b, facet, other, least, texts, measures, conventions, short)
    return SlicesChoice(*chosen, settings)


def facet_of_largest_loss(
    board: Scoreboard, a: str, b: str | None, settings: Settings
) -> str | None:
    """Return the facet in which B loses most, which the page opens with; None without B."""
    if b is None or url_state.get("facet") is not None:
        return None
    try:
        return comparison.facet_to_open(scoreboards.pair_tests(board, a, b, settings))
    except BadInput:  # runs that cannot be compared, which the page says
        return None


def choose_runs(names: Sequence[str]) -> tuple[str, str | None]:
    """Let the user choose run A and, to compare, run B; in the address as ``a`` and ``b``."""
    shown = filter_widgets.run_box_options(names)
    a = url_state.choose("Run, or A", names, "a", what="run", always=True, **shown)
    b = url_state.choose_or_not("B, to compare", names, "b", nothing=ONE_RUN, what="run", **shown)
    return a, b


def choose_facets(
    facets: Sequence[str], first: str | None, *, always: bool
) -> tuple[str, str | None, int]:
    """Let the user choose a facet, one to cross it with, and from which n a bucket is not few.

    The page opens with the facet ``first``, else with that of the golden set. A choice is
    ``always`` in the address where the first facet depends on the runs.
    """
    usual = first or facets[0]
    facet = url_state.choose(
        *("Facet", facets, "facet"), what="facet", default=usual, always=always, clears=["bucket"]
    )
    other = filter_widgets.choose_other("Crossed with", facets, facet)
    least = url_state.choose_number(
        *("Few is under", "least", 1, 1_000, comparison.FEW),
        help="Buckets of fewer queries are greyed: their mean says little.",
    )
    return facet, other, least
