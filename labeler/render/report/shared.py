"""What all sections of one report share: what is asked and of what, its charts, bands, words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import htpy

from labeler.analysis.failures import Outcome, outcomes
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import StoredRun
from labeler.render import tables
from labeler.render.naming import short_names
from labeler.render.report.figures import Figures
from labeler.render.report.source import Asked, Source
from labeler.stats import Bands, DeltaBands, MeanBands

NAMES = ("A", "B")  # what sentences call two runs, which the head of the report names
PairBands = tuple[MeanBands, DeltaBands]


@dataclass(frozen=True)
class Shared:
    """One report while it is made."""

    source: Source
    asked: Asked
    bands: Bands
    measures: tuple[Measure, ...]
    figures: Figures = field(default_factory=Figures)

    @classmethod
    def of(cls, source: Source, asked: Asked) -> Shared:
        """Begin a report; raises `NotFound` and `BadInput` as `Asked.check` does."""
        asked.check(source.board)
        measures = source.board.resolve(asked.measures)
        return cls(source, asked, Bands(source.board, asked.runs), measures)

    @property
    def board(self) -> Scoreboard:
        """What all numbers come from."""
        return self.source.board

    @property
    def facets(self) -> tuple[str, ...]:
        """The facets that slices are by."""
        return self.asked.facets or tuple(self.board.facets)

    @property
    def short(self) -> dict[str, str]:
        """What the runs are called where there is little room."""
        return short_names(self.asked.runs)

    @property
    def title(self) -> str:
        """What the file is called in a browser's tab."""
        a, *b = self.asked.runs
        return f"{b[0]} against {a}" if b else f"Report of {a}"

    @property
    def heading(self) -> htpy.Element:
        """The same, each name apart from the words around it."""
        a, *b = self.asked.runs
        if b:
            return htpy.h1[htpy.bdi[b[0]], " (B) against ", htpy.bdi[a], " (A)"]
        return htpy.h1["Report of ", htpy.bdi[a]]

    @property
    def letters(self) -> tuple[str, ...]:
        """What each run is called in tables: A and B, or one run alone as it is."""
        return NAMES if self.asked.b is not None else ("Run",)

    def right_of(self, run: str) -> Mapping[str, bool]:
        """Which answers of a run are right, by query; empty where none is loaded."""
        return self.source.right.get(run, {})

    def became(self, run: str) -> Mapping[str, Outcome]:
        """What became of every query and its answer in a run."""
        return outcomes(self.board, run, self.right_of(run), self.asked.rule)

    def of_pair(self, facet: str | None = None) -> PairBands:
        """Return what the holes could make of A, B and B - A, over all or in each bucket too."""
        of_all = (self.board, self.measures)
        means, deltas = dict(self.bands.means(*of_all)), dict(self.bands.deltas(*of_all))
        if facet is not None:
            means |= self.bands.means(*of_all, facet)
            deltas |= self.bands.deltas(*of_all, facet)
        return means, deltas


def said_of(run: StoredRun) -> str:
    """Say of which system a run is and of which day, as far as its name does not."""
    system = "" if run.system in run.name else f", system {run.system}"
    day = "" if run.created_at is None else f", of {run.created_at[:10]}"
    return f"{system}{day}, {len(run.lists):,} queries"


def read_bands(*bands: MeanBands | DeltaBands) -> list[str]:
    """Say how bands are to be read, where there are any."""
    is_open = any(band.is_open for each in bands for band in each.values())
    return [tables.BAND_WORDS] if is_open else []
