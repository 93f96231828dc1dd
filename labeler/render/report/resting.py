"""What the report's numbers rest on: conventions, golden set, ties, and what each measure means."""

from __future__ import annotations

import htpy

from labeler import __version__
from labeler.analysis import comparison
from labeler.evaluation import tie_notes, tied_ranges
from labeler.measures import MEASURES
from labeler.model import upper
from labeler.render import tables
from labeler.render.report.shared import Shared


def resting_section(shared: Shared) -> htpy.Fragment:
    """Return the conventions in full, what was left out, the methods, and the measures."""
    board, asked = shared.board, shared.asked
    conventions = board.conventions
    notes = [note.sentence for note in board.notes(shared.measures) if note.is_about(*asked.runs)]
    ties = tie_notes(tied_ranges(board, shared.measures), conventions)
    notes += [note.sentence for note in ties if note.is_about(*asked.runs)]
    methods = [f"{upper(comparison.METHODS)}."]
    return htpy.fragment[
        htpy.p[conventions.sentence],
        htpy.h3["To know of these numbers"],
        tables.sentences([*notes, *methods, tables.BAND_DOUBTS]),
        htpy.h3["What the measures mean"],
        tables.sheet(
            ["Measure", "In full", "Means", "Hides"],
            [
                [
                    tables.Said(conventions.heading(measure)),
                    tables.Said(str(measure)),
                    tables.Said(MEASURES[measure.name].help),
                    tables.Said(MEASURES[measure.name].hides),
                ]
                for measure in shared.measures
            ],
        ),
        htpy.p(".aside")[f"Made by labeler {__version__}."],
    ]
