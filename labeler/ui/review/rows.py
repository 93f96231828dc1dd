"""Shared parts of the Review sections: selection, rows of selected queries, cells and files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeVar

from labeler.model import Remark, Selection
from labeler.render import csv_exports
from labeler.render.tables import TextCell
from labeler.store import CannotTell, GraderNote, Store
from labeler.ui import shared as ui
from labeler.ui import url_state
from labeler.ui.review.agreement import AgreementChoice

ON_A_PAGE = 100
RowT = TypeVar("RowT", CannotTell, GraderNote, Remark)


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """What the page shows: a section, for the ``selected`` queries or, for progress, by ``facet``.

    Links open a query in ``run``, None if there is none. ``agreement`` are the choices of that
    section, ``kind`` is the kind of comments.
    """

    section: str
    run: str | None
    selected: Selection
    facet: str | None = None
    agreement: AgreementChoice | None = None
    kind: str | None = None

    def rows_of(self, store: Store, rows: Iterable[RowT]) -> list[RowT]:
        """Return the rows of the selected queries."""
        among = store.splits.selected(self.selected)
        return [row for row in rows if among is None or row.query_id in among]

    def query_cell(self, text: str, query_id: str) -> TextCell:
        """Name a query by its text and id; a click opens it."""
        opened = url_state.page_url("/queries", a=self.run, b=None, query=query_id)
        return TextCell(text, query_id, opened)


def chunk_cell(row: CannotTell | GraderNote) -> TextCell | None:
    """Name a chunk by its title and id, or None where a whole query is meant."""
    if row.chunk_id is None:
        return None
    return TextCell(row.title, row.chunk_id) if row.title else TextCell(row.chunk_id)


def offer_rows(
    label: str,
    rows: Sequence[Any],
    name: str,
    as_row: Callable[[Any], Mapping[str, object]] = asdict,
) -> None:
    """Offer all rows as a file, also those that are not shown."""
    with ui.open_store() as store:
        revision = store.judgments.revision()
    ui.offer(label, lambda: csv_exports.rows_csv(map(as_row, rows)), name, revision)
