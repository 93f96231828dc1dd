"""Statement on the pairs that repeated text leaves open, and on what would decide them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from labeler.model.results import CAUTION, Statement
from labeler.rechunking.records import Cut, DerivedGrade


def describe_repeated_pairs(
    derived: Iterable[DerivedGrade],
    old: Sequence[Cut],
    new: Sequence[Cut],
    documents: Container[str],
    names: tuple[str, str],
) -> Statement | None:
    """Return a statement on what would decide pairs whose text repeats; None if nothing is known.

    Counted are pairs that would be decided at one place at least of those that their text fits. How
    many of them would be is estimated: each place is equally likely. Where the document is unknown,
    there may be further places, and the estimate is a limit. ``documents`` are those with a whole
    text, ``names`` the words for the two chunkings.

    >>> pair = DerivedGrade("q", "n", "proposed", 0, "", 1.0, 0, 0, (), (), 1.0)
    >>> cuts = [Cut("o1", "Fees.", "d", 1), Cut("o2", "Fees.", "d", 2)], [Cut("n", "Fees.", "d")]
    >>> said = describe_repeated_pairs([pair], *cuts, {}, ("the default chunking", "chunking v2"))
    >>> said.sentence
    'Load the chunks of chunking v2 with position, or with start and end: the one pair that \
repeated text leaves open would be decided.'
    """
    repeated = {
        (each.query_id, each.chunk_id): each.if_located for each in derived if each.if_located
    }
    expected = sum(repeated.values())
    if round(expected) < 1:
        return None
    asked = {chunk_id for _, chunk_id in repeated}
    what = _missing([cut for cut in new if cut.chunk_id in asked], old, documents, names)
    if not what:
        return None
    share = expected / len(repeated)
    if len(repeated) == 1:
        would = "would" if share == 1 else "could"
        sentence = f"{what}: the one pair that repeated text leaves open {would} be decided."
    else:
        is_known = all(cut.document_id is not None for cut in new if cut.chunk_id in asked)
        many = f"{'about' if is_known else 'up to'} {round(expected):,}"
        sentence = (
            f"{what}: {many} of the {len(repeated):,} pairs that repeated text "
            f"leaves open ({share:.0%}) would be decided."
        )
    numbers = {"pairs": len(repeated), "would_be_decided": round(expected), "share": share}
    return Statement("repeated text", sentence, CAUTION, "Repeated text", numbers)


def _missing(
    asked: Sequence[Cut], old: Sequence[Cut], documents: Container[str], names: tuple[str, str]
) -> str:
    """Return what to load, so that copies are told apart; an empty text if all is there."""
    among = {cut.document_id for cut in asked}
    near = [cut for cut in old if None in among or cut.document_id in {*among, None}]
    for cuts, name in ((asked, names[1]), (near, names[0])):
        if any(cut.document_id is None for cut in cuts):
            return f"Load the chunks of {name} with document_id and position, or start and end"
        if any(cut.position is None and cut.start is None for cut in cuts):
            return f"Load the chunks of {name} with position, or with start and end"
    for cuts, name in ((asked, names[1]), (near, names[0])):
        if any(cut.start is None or cut.end is None for cut in cuts):
            return f"Load the chunks of {name} with start and end"
    if not all(cut.document_id in documents for cut in asked):
        return "Load the whole texts of the documents"
    return ""
