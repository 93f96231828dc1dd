"""Rows that unfold below a page's evidence: each has a URL, and one is open at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from labeler.render import tables
from labeler.render.markup import show_html


def show_folds(
    folds: Mapping[str, tuple[str, str]],
    opened: str | None,
    address: Callable[[str | None], str],
    show: Callable[[], None],
) -> None:
    """Show the title and the hint of each of ``folds``; ``show`` draws the open one's content.

    ``address`` returns the URL of the page with a fold open, or with none.
    """
    rows = {
        name: tables.Fold(title, hint, address(None if name == opened else name), name == opened)
        for name, (title, hint) in folds.items()
    }
    names = list(folds)
    until = len(names) if opened not in folds else names.index(str(opened)) + 1
    if names:
        show_html(tables.folds_html([rows[name] for name in names[:until]]))
    if opened in folds:
        show()
    if names[until:]:
        show_html(tables.folds_html([rows[name] for name in names[until:]]))
