"""Where passages of a graded chunk stand in a new one; knows no grade and decides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from labeler.rechunking.placing import Places
from labeler.rechunking.seeing import TRIFLE, in_text, marked_in
from labeler.rechunking.spans import Span, common, joined, length
from labeler.rechunking.squeezing import says_something, spans_in, squeezed


class Traced(NamedTuple):
    """What became of the passages of a graded chunk in a new one.

    ``passages`` are code points of the new text. ``is_cut`` says that a part of one stands outside
    of it; ``elsewhere`` counts those that wholly do, and ``lost`` those found nowhere.
    """

    passages: tuple[Span, ...] = ()
    is_cut: bool = False
    elsewhere: int = 0
    lost: int = 0


def trace(passages: Sequence[Span], old_id: str, new_id: str, places: Places) -> Traced:
    """Return where passages of an old chunk, in code points of its text, stand in a new chunk.

    >>> from labeler.rechunking import Cut, find_places
    >>> old = [Cut("o", "Fees are due in May. Late fees are refused.")]
    >>> places = find_places(old, [Cut("n", "due in May. Late fees")])
    >>> trace([(0, 19), (31, 42)], "o", "n", places)
    Traced(passages=((0, 10),), is_cut=True, elsewhere=1, lost=0)
    """
    text, stands = places.old_texts[old_id], places.old[old_id]
    new_text, place = places.new_texts[new_id], places.new[new_id]
    plain, room = squeezed(new_text), joined(place.spans)
    here: list[Span] = []
    is_cut, elsewhere, lost = False, 0, 0
    for passage in passages:
        found = [span for part in marked_in([passage], text, stands) for span in part]
        shared = common(found, room)
        spans = in_text(shared, place)
        if not found:
            lost += 1
        elif not says_something("".join(plain[start:end] for start, end in spans)):
            elsewhere += 1
        else:
            here += spans
            is_cut = is_cut or length(shared) < (1 - TRIFLE) * length(found)
    return Traced(tuple(spans_in(new_text, joined(here))), is_cut, elsewhere, lost)
