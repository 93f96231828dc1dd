"""Pairs that a transfer leaves open: hints for graders, and a cache that keeps them current.

A large transfer is computed in a background thread; until it is done, grading goes on without
hints. It is computed again when the grades it depends on change.
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
    """A grade of an old chunk that shares text with the new one, and the passages marked in it."""

    who: tuple[str, ...]
    at: str
    grade: int
    marked: MappedPassages

    @property
    def rank(self) -> tuple[bool, int, str]:
        """The sort key: grades with marked passages are shown first, then higher grades."""
        return bool(self.marked.passages), self.grade, self.at


@dataclass(frozen=True, slots=True)
class Hint:
    """Information for graders on an unjudged pair whose grade the transfer does not decide.

    ``likely`` is the proposed grade, or None. ``told`` are at most `MOST_EARLIER` earlier grades,
    and ``more`` counts the others. ``wording`` is the hash of the text that the hint is about.
    """

    likely: int | None
    why: str
    told: tuple[EarlierGrade, ...]
    more: int
    wording: str | None

    @property
    def reveals_grades(self) -> bool:
        """Whether the hint shows anybody's grade: a grade given after reading it is not blind."""
        return self.likely is not None or bool(self.told)

    @property
    def worth(self) -> tuple[int, bool]:
        """How useful a grade is for its cost; higher is better.

        First the highest likely grades, which one key confirms; then pairs with a passage marked
        before, which need not be read whole. Open pairs rank with those likely to be 0.
        """
        return self.likely or 0, any(each.marked.passages for each in self.told)


def hints(found: Transfer) -> dict[tuple[str, str], Hint]:
    """Return the hints on the proposed and open pairs, by query and new chunk."""
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
    marked = map_passages(passages, witness.chunk_id, chunk_id, places)
    return EarlierGrade(witness.who, witness.at, witness.grade, marked)


def reason_for_graders(reason: str) -> str:
    """Return a reason without the words chunk and passage: each team has its own words for them.

    >>> reason_for_graders("its text is in chunks graded 0")
    'its text is in texts graded 0'
    """
    for ours, theirs in _FOR_GRADERS:
        reason = reason.replace(ours, theirs)
    return reason


SMALL_TRANSFER = 5_000  # new chunks: up to this size the caller waits for the result
WAIT_SECONDS = 2.0
START_DELAY_SECONDS = 1.0  # before a large transfer, so that the caller gets its answer first
REFRESH_FACTOR = 10.0  # a result is kept for this many times the seconds that it took to compute

Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class OpenPairs:
    """The pairs that a transfer leaves open: ``hints`` by pair, and the new chunking's ``chunks``.

    Hints are None while they are being computed; ``share`` of that is done.
    """

    chunks: frozenset[int]
    hints: Mapping[Pair, Hint] | None
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class _Revisions:
    data_revision: int
    revision: int


@dataclass(slots=True)
class _CachedPairs:
    open_pairs: OpenPairs
    revisions: _Revisions
    took: float
    at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _Computation:
    chunks: frozenset[int]
    share: float = 0.0
    error: LabelerError | None = None
    finished: Event = field(default_factory=Event)

    @property
    def open_pairs(self) -> OpenPairs:
        return OpenPairs(self.chunks, None, min(self.share, 0.99))


class OpenPairsCache:
    """A thread-safe cache of the open pairs of each transfer between two chunkings."""

    def __init__(self, rest: float = REFRESH_FACTOR, patience: float = WAIT_SECONDS) -> None:
        """Keep a result for at least ``rest`` times the seconds that it took to compute.

        Callers wait at most ``patience`` seconds for a small transfer.
        """
        self._rest, self._patience = rest, patience
        self._lock = Lock()
        self._kept: dict[Name, _CachedPairs] = {}
        self._running: dict[Name, _Computation] = {}

    def of(self, store: Store, old: str, new: str) -> OpenPairs:
        """Return the open pairs, as far as they are computed.

        Raises `NotFound` for an unknown chunking, for an old one without a golden grade, and for a
        new one without a run; `BadInput` where chunks are not at their stated positions.
        """
        name = (store.golden_set.uuid(), old, new)
        with self._lock:
            work = self._running.get(name)
            if work is None and self._is_due(store, name):
                work = self._running[name] = _Computation(
                    frozenset(store.transfers.numbers_in(new))
                )
                Thread(target=self._compute, args=(store.path, name, work), daemon=True).start()
        if work is not None and len(work.chunks) <= SMALL_TRANSFER:
            work.finished.wait(self._patience)
        if work is not None and work.error is not None:
            raise work.error
        with self._lock:
            kept = self._kept.get(name)
        if kept is not None:
            return kept.open_pairs
        return OpenPairs(frozenset(), None, 0.0) if work is None else work.open_pairs

    def keep(self, store: Store, found: Transfer, data_revision: int, revision: int) -> None:
        """Keep a transfer that was computed elsewhere, as of these revisions."""
        old, new = found.basis.old_name, found.basis.new_name
        revisions = _Revisions(data_revision, revision)
        name = (store.golden_set.uuid(), old, new)
        self._keep(name, found, store.transfers.chunk_numbers(new), revisions, 0.0)

    def _is_due(self, store: Store, name: Name) -> bool:
        kept = self._kept.get(name)
        if kept is None:
            return True
        if time.monotonic() < kept.at + self._rest * kept.took:
            return False
        now = _Revisions(store.golden_set.data_revision(), store.judgments.revision())
        if now.data_revision != kept.revisions.data_revision:
            return True
        since = kept.revisions.revision
        if now.revision < since or store.transfers.has_moved(since, *name[1:]):
            return True
        kept.revisions = now
        return False

    def _compute(self, path: StoreLocation, name: Name, work: _Computation) -> None:
        if len(work.chunks) > SMALL_TRANSFER:
            time.sleep(START_DELAY_SECONDS)
        began = time.monotonic()
        try:
            with Store(path) as store:
                revisions = _Revisions(store.golden_set.data_revision(), store.judgments.revision())
                basis = store.transfers.basis(*name[1:])
                chunks = store.transfers.chunk_numbers(name[2])

            def note_located(share: float) -> None:
                work.share = 0.75 * share

            def note_transferred(share: float) -> None:
                work.share = 0.75 + 0.25 * share

            found = compute_transfer(basis, locate_basis(basis, note_located), note_transferred)
            self._keep(name, found, chunks, revisions, time.monotonic() - began)
        except LabelerError as error:
            work.error = error
        finally:
            with self._lock:
                self._running.pop(name, None)
            work.finished.set()

    def _keep(
        self,
        name: Name,
        found: Transfer,
        chunks: Mapping[str, int],
        revisions: _Revisions,
        took: float,
    ) -> None:
        known = {
            (query_id, chunks[chunk_id]): hint
            for (query_id, chunk_id), hint in hints(found).items()
            if chunk_id in chunks
        }
        pairs = OpenPairs(frozenset(chunks.values()), known)
        with self._lock:
            self._kept = {each: kept for each, kept in self._kept.items() if each[0] == name[0]} | {
                name: _CachedPairs(pairs, revisions, took)
            }
