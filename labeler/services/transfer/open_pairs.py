"""Pairs that a transfer leaves open: hints for their graders, and a cache that keeps them current.

A large transfer is computed in a background thread, and grading goes on without hints until it is
done. It is computed again when the grades it rests on change.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from labeler.errors import LabelerError
from labeler.model import Pair, Passage
from labeler.rechunking import LocatedChunkings, MappedPassages, map_passages
from labeler.services.transfer.outcomes import (
    Transfer,
    TransferOutcome,
    compute_transfer,
    locate_basis,
)
from labeler.store import BaseJudgment, Store
from labeler.store.addresses import StoreLocation
from labeler.store.columns import hash_text

MOST_EARLIER = 6
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
class EarlierGrade:
    """What somebody gave to a text that this one has a part of, and where they marked it."""

    who: tuple[str, ...]
    at: str
    grade: int
    marked: MappedPassages

    @property
    def rank(self) -> tuple[bool, int, str]:
        """How early it is told: first what is marked in the text, then the higher grades."""
        return bool(self.marked.passages), self.grade, self.at


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a pair that nobody has graded and whose grade does not follow.

    ``likely`` is the proposed grade, None where none is. ``told`` are at most `MOST_EARLIER` of
    what was given ``before``, and ``more`` counts the others. It is of the text with that
    ``wording``.
    """

    likely: int | None
    why: str
    told: tuple[EarlierGrade, ...]
    more: int
    wording: str | None

    @property
    def reveals_grades(self) -> bool:
        """Whether it tells of anybody's grade: what is given by who read it is not blind."""
        return self.likely is not None or bool(self.told)

    @property
    def worth(self) -> tuple[int, bool]:
        """How useful a grade is for what it costs, the higher the more.

        First the highest likely grade, which one key confirms; then those with a passage that was
        marked before, which need not be read whole. An open pair comes with those likely to be 0.
        """
        return self.likely or 0, any(each.marked.passages for each in self.told)


def hints(found: Transfer) -> dict[tuple[str, str], Hint]:
    """Return what is known of the pairs that are proposed or open, by query and new chunk."""
    wordings = {chunk.chunk_id: hash_text(chunk.text) for chunk in found.basis.new}
    return {
        (each.found.query_id, each.found.chunk_id): _hint(each, found.places, wordings)
        for each in found.outcomes
        if each.found.state != "decided"
    }


def _hint(
    each: TransferOutcome, places: LocatedChunkings, wordings: Mapping[str, str | None]
) -> Hint:
    chunk_id = each.found.chunk_id
    told = [_earlier_grade(witness, chunk_id, places) for witness in each.witnesses]
    told.sort(key=lambda before: before.rank, reverse=True)
    more = len(told) - MOST_EARLIER
    return Hint(
        each.found.grade,
        reason_for_graders(each.without_names("a text graded before")),
        tuple(told[:MOST_EARLIER]),
        max(0, more),
        wordings[chunk_id],
    )


def _earlier_grade(witness: BaseJudgment, chunk_id: str, places: LocatedChunkings) -> EarlierGrade:
    passages: tuple[Passage, ...] = witness.passages if witness.grade else ()
    traced = map_passages(passages, witness.chunk_id, chunk_id, places)
    return EarlierGrade(witness.who, witness.at, witness.grade, traced)


def reason_for_graders(reason: str) -> str:
    """Return a reason without chunks and passages: what graders call those is the team's to say.

    >>> reason_for_graders("its text lies in chunks graded 0")
    'its text lies in texts graded 0'
    """
    for ours, theirs in _FOR_GRADERS:
        reason = reason.replace(ours, theirs)
    return reason


SMALL_TRANSFER = 5_000  # new chunks: so many are looked at while somebody waits
WAIT_SECONDS = 2.0  # seconds somebody waits for these
START_DELAY_SECONDS = (
    1.0  # seconds until it is looked at what is not: whoever asked is answered first
)
REFRESH_FACTOR = (
    10.0  # times as long as it took, until old grades that move all the time count anew
)

Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class OpenPairs:
    """What a carry-over leaves open: its ``hints`` by pair, and the new chunking's ``chunks``.

    Hints are None as long as they are looked for, of which ``share`` is done.
    """

    chunks: frozenset[int]
    hints: Mapping[Pair, Hint] | None
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class _Revisions:
    """How far the golden set was."""

    data_revision: int
    revision: int


@dataclass(slots=True)
class _CachedPairs:
    opened: OpenPairs
    stand: _Revisions
    took: float
    at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _Computation:
    chunks: frozenset[int]
    share: float = 0.0
    error: LabelerError | None = None
    over: Event = field(default_factory=Event)

    @property
    def opened(self) -> OpenPairs:
        """What is known meanwhile."""
        return OpenPairs(self.chunks, None, min(self.share, 0.99))


class OpenPairsCache:
    """What is left open between two chunkings, for all who ask; safe for threads."""

    def __init__(self, rest: float = REFRESH_FACTOR, patience: float = WAIT_SECONDS) -> None:
        """Look anew after ``rest`` times as long as it took at the earliest.

        Whoever asks for what is small waits for ``patience`` seconds at the most.
        """
        self._rest, self._patience = rest, patience
        self._lock = Lock()
        self._kept: dict[Name, _CachedPairs] = {}
        self._works: dict[Name, _Computation] = {}

    def of(self, store: Store, old: str, new: str) -> OpenPairs:
        """Return what is left open, as far as it is known by now.

        Raises `NotFound` for a chunking that is not there, for one without a golden grade, and for
        a second one without a run; `BadInput` where chunks are not where they say.
        """
        name = (store.golden_set_uuid(), old, new)
        with self._lock:
            work = self._works.get(name)
            if work is None and self._is_due(store, name):
                work = self._works[name] = _Computation(frozenset(store.numbers_in(new)))
                Thread(target=self._do, args=(store.path, name, work), daemon=True).start()
        if work is not None and len(work.chunks) <= SMALL_TRANSFER:
            work.over.wait(self._patience)
        if work is not None and work.error is not None:
            raise work.error
        with self._lock:
            kept = self._kept.get(name)
        if kept is not None:
            return kept.opened
        return OpenPairs(frozenset(), None, 0.0) if work is None else work.opened

    def keep(self, store: Store, found: Transfer, data_revision: int, revision: int) -> None:
        """Keep what somebody else has looked at, as of these revisions."""
        old, new = found.basis.old_name, found.basis.new_name
        name, stand = (store.golden_set_uuid(), old, new), _Revisions(data_revision, revision)
        self._keep(name, found, store.chunk_numbers(new), stand, 0.0)

    def _is_due(self, store: Store, name: Name) -> bool:
        kept = self._kept.get(name)
        if kept is None:
            return True
        if time.monotonic() < kept.at + self._rest * kept.took:
            return False
        now = _Revisions(store.data_revision(), store.revision())
        if now.data_revision != kept.stand.data_revision:
            return True
        since = kept.stand.revision
        if now.revision < since or store.has_moved(since, *name[1:]):
            return True
        kept.stand = now
        return False

    def _do(self, path: StoreLocation, name: Name, work: _Computation) -> None:
        if len(work.chunks) > SMALL_TRANSFER:
            time.sleep(START_DELAY_SECONDS)
        began = time.monotonic()
        try:
            with Store(path) as store:
                stand = _Revisions(store.data_revision(), store.revision())
                basis = store.carry_basis(*name[1:])
                chunks = store.chunk_numbers(name[2])

            def first(share: float) -> None:
                work.share = 0.75 * share

            def second(share: float) -> None:
                work.share = 0.75 + 0.25 * share

            found = compute_transfer(basis, locate_basis(basis, first), second)
            self._keep(name, found, chunks, stand, time.monotonic() - began)
        except LabelerError as error:
            work.error = error
        finally:
            with self._lock:
                self._works.pop(name, None)
            work.over.set()

    def _keep(
        self, name: Name, found: Transfer, chunks: Mapping[str, int], stand: _Revisions, took: float
    ) -> None:
        known = {
            (query_id, chunks[chunk_id]): hint
            for (query_id, chunk_id), hint in hints(found).items()
            if chunk_id in chunks
        }
        opened = OpenPairs(frozenset(chunks.values()), known)
        with self._lock:
            self._kept = {each: kept for each, kept in self._kept.items() if each[0] == name[0]} | {
                name: _CachedPairs(opened, stand, took)
            }
