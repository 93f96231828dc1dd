"""What grades of one chunking say of pairs of another that they do not decide: for who grades them.

Knows whose grades these are and where their passages stand now; not who is shown it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from labeler.model import Passage
from labeler.rechunking import Places, Traced, trace
from labeler.services.carryover.finding import Carryover, Outcome
from labeler.store import Witness
from labeler.store.columns import text_hash

MOST_TOLD = 6
_FOR_GRADERS = (
    ("every passage of", "all that is marked in"),
    ("a passage of", "some of what is marked in"),
    ("no passage is marked", "nothing is marked"),
    ("a graded chunk's text", "a text graded before"),
    ("in graded chunks", "in texts graded before"),
    ("graded chunks", "texts graded before"),
    ("chunks graded 0", "texts graded 0"),
    ("as chunks of that grade do", "as texts of that grade do"),
)


@dataclass(frozen=True, slots=True)
class Before:
    """What somebody gave to a text that this one has a part of, and where they marked it."""

    who: tuple[str, ...]
    at: str
    grade: int
    marked: Traced

    @property
    def rank(self) -> tuple[bool, int, str]:
        """How early it is told: first what is marked in the text, then the higher grades."""
        return bool(self.marked.passages), self.grade, self.at


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a pair that nobody has graded and whose grade does not follow.

    ``likely`` is the proposed grade, None where none is. ``told`` are at most `MOST_TOLD` of what
    was given ``before``, and ``more`` counts the others. It is of the text with that ``wording``.
    """

    likely: int | None
    why: str
    told: tuple[Before, ...]
    more: int
    wording: str | None

    @property
    def sways(self) -> bool:
        """Whether it tells of anybody's grade: what is given by who read it is not blind."""
        return self.likely is not None or bool(self.told)

    @property
    def worth(self) -> tuple[int, bool]:
        """How useful a grade is for what it costs, the higher the more.

        First the highest likely grade, which one key confirms; then those with a passage that was
        marked before, which need not be read whole. An open pair comes with those likely to be 0.
        """
        return self.likely or 0, any(each.marked.passages for each in self.told)


def hints(found: Carryover) -> dict[tuple[str, str], Hint]:
    """Return what is known of the pairs that are proposed or open, by query and new chunk."""
    wordings = {chunk.chunk_id: text_hash(chunk.text) for chunk in found.basis.new}
    return {
        (each.found.query_id, each.found.chunk_id): _hint(each, found.places, wordings)
        for each in found.outcomes
        if each.found.state != "decided"
    }


def _hint(each: Outcome, places: Places, wordings: Mapping[str, str | None]) -> Hint:
    chunk_id = each.found.chunk_id
    told = [_before(witness, chunk_id, places) for witness in each.witnesses]
    told.sort(key=lambda before: before.rank, reverse=True)
    more = len(told) - MOST_TOLD
    return Hint(
        each.found.grade,
        in_graders_words(each.without_names("a text graded before")),
        tuple(told[:MOST_TOLD]),
        max(0, more),
        wordings[chunk_id],
    )


def _before(witness: Witness, chunk_id: str, places: Places) -> Before:
    passages: tuple[Passage, ...] = witness.passages if witness.grade else ()
    traced = trace(passages, witness.chunk_id, chunk_id, places)
    return Before(witness.who, witness.at, witness.grade, traced)


def in_graders_words(reason: str) -> str:
    """Return a reason without chunks and passages: what graders call those is the team's to say.

    >>> in_graders_words("its text lies in chunks graded 0")
    'its text lies in texts graded 0'
    """
    for ours, theirs in _FOR_GRADERS:
        reason = reason.replace(ours, theirs)
    return reason
