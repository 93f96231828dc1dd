"""What Compare shows of graders: whether its verdict holds under each one's own grades."""

from __future__ import annotations

import threading

import streamlit as st

from labeler.analysis import comparison
from labeler.analysis.comparison import ENOUGH, Surety, Survival, View
from labeler.measures import Measure
from labeler.model import SingleGrades, upper
from labeler.render import downloads, tables
from labeler.render.markup import show_html
from labeler.ui import boards
from labeler.ui import shared as ui

TITLE = "Does it hold under each grader's own grades?"
READINGS = (
    "Each row reads the same judgments in another way: one grader's own grades wherever they gave "
    "one, also where a lead decided otherwise; the lowest, the lower median and the highest of "
    "people's grades; the golden grades without judgments of an earlier text, and without those "
    "that were not blind. Everywhere else the golden grade stands. What came with a file is "
    f"neither blind nor not. Of a grader whose grades differ in fewer than {ENOUGH} pairs nothing "
    "is said. p is of this test alone, and under "
    "a reading of 1,000 draws."
)


class _Newest:
    """The single grades of a golden set, of which only what is new is read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: SingleGrades | None = None

    def read(self) -> SingleGrades:
        """Return them as they are now."""
        with self._lock, ui.open_store() as store:
            known = self._known
            if known is None or known.revision != store.revision():
                known = self._known = store.single_grades(known)
            return known


@st.cache_resource(max_entries=2, show_spinner=False)
def _newest(path: str, data_revision: int) -> _Newest:
    return _Newest()


@st.cache_data(max_entries=8, show_spinner=False)
def _found(
    at: tuple[object, ...], tested: Surety, bucket: str | None, _measure: Measure, _view: View
) -> Survival:
    """Compare under every reading; worked out once for each grade."""
    view = _view
    singles = _newest(ui.database(), view.board.data_revision).read()
    [found] = comparison.survivals(
        view.board, view.compared, singles, [_measure], tested={_measure: tested}, bucket=bucket
    )
    return found


def survival_of(
    view: View, bucket: str | None, measure: Measure, tested: Surety
) -> Survival | None:
    """Return how a measure, ``tested`` as it is, comes out under every reading.

    None of a frozen golden set, which has agreed grades alone, and of weighted means.
    """
    compared = view.compared
    if compared.conventions.frozen is not None or view.board.weights is not None:
        return None
    at = boards.moment(view.board, [measure])
    asked = (compared.a, compared.b, compared.facet)
    return _found((*at, *asked), tested, bucket, measure, view)


def show_survival(view: View, found: Survival, names: tuple[str, str]) -> None:
    """Show the readings in a table, folded, and offer them as a file."""
    with st.expander(TITLE, key="survives"):
        if found.why_silent is not None:
            st.text(f"{upper(found.why_silent)}.")
        else:
            st.text(f"{comparison.survival_in_words(found, names)}.")
        told = [each for each in found.told if each.changed or each is found.golden]
        if len(told) > 1:
            show_html(tables.survival_table(told, found.heading))
            lines = [comparison.unchanged_in_words(found), READINGS]
            show_html(tables.small_print([*lines, view.compared.conventions.sentence]))
            ui.offer(
                "Download these readings as CSV",
                lambda: downloads.survival_csv([found], view.compared),
                "compare-graders.csv",
                view.board.revision,
            )
