"""What moved most over all queries: chunks or documents, each with the way to its queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import htpy

from labeler.analysis.comparison import Moved, Mover
from labeler.evaluation import signed
from labeler.render.markup import style
from labeler.render.tables.shared import SHEET, framed, head, small

PLACES = 3  # queries named for one mover
LOOK = style(".sheet.movers table { line-height: 1.35; }")

LinkOf = Callable[[Moved], str]


def movers_table(
    movers: Sequence[Mover], caption: str, titles: Mapping[str, str], *, what: str, link: LinkOf
) -> htpy.Fragment:
    """Return movers, a row each: what each adds to the mean delta, and how it moved in queries.

    ``what`` they are is the first column's head, ``titles`` are what is known of them by name.
    """
    heads = [
        head(what, words=True),
        head("from rank in A to rank in B, moving the query by", words=True),
        head("adds to the mean"),
        head("queries"),
    ]
    body = [
        htpy.tr[
            htpy.th(".words", scope="row")[
                htpy.bdi[titles.get(mover.name, mover.name)],
                small(mover.name) if titles.get(mover.name, mover.name) != mover.name else None,
            ],
            htpy.td(".words")[_places(mover, link)],
            htpy.td(".lead")[signed(mover.adds)],
            htpy.td[f"{mover.queries:,}"],
        ]
        for mover in movers
    ]
    return framed((SHEET, LOOK), "sheet movers", heads, body, caption=caption)


def _places(mover: Mover, link: LinkOf) -> list[htpy.Node]:
    shown: list[htpy.Node] = [
        htpy.div[
            htpy.a(href=link(place))[place.query_id],
            f": {_rank(place.rank_a)} → {_rank(place.rank_b)}, {signed(place.moves)}",
        ]
        for place in mover.places[:PLACES]
    ]
    more = len(mover.places) - PLACES
    return [*shown, small(f"and {more:,} more") if more > 0 else None]


def _rank(rank: int | None) -> str:
    return "not there" if rank is None else str(rank)
