"""Keeps what carry-overs leave open while people grade it, and looks anew when old grades change.

A large carry-over is looked at in a thread of its own: nobody waits for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

from labeler.errors import LabelerError
from labeler.model import Pair
from labeler.services.carryover.finding import Carryover, follow, place
from labeler.services.carryover.hinting import Hint, hints
from labeler.store import Store
from labeler.store.addresses import Place

SMALL = 5_000  # new chunks: so many are looked at while somebody waits
PATIENCE = 2.0  # seconds somebody waits for these
AFTER = 1.0  # seconds until it is looked at what is not: whoever asked is answered first
REST = 10.0  # times as long as it took, until old grades that move all the time count anew

Name = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Opened:
    """What a carry-over leaves open: its ``hints`` by pair, and the new chunking's ``chunks``.

    Hints are None as long as they are looked for, of which ``share`` is done.
    """

    chunks: frozenset[int]
    hints: Mapping[Pair, Hint] | None
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class _Stand:
    """How far the golden set was."""

    data_revision: int
    revision: int


@dataclass(slots=True)
class _Kept:
    opened: Opened
    stand: _Stand
    took: float
    at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class _Work:
    chunks: frozenset[int]
    share: float = 0.0
    error: LabelerError | None = None
    over: Event = field(default_factory=Event)

    @property
    def opened(self) -> Opened:
        """What is known meanwhile."""
        return Opened(self.chunks, None, min(self.share, 0.99))


class Opening:
    """What is left open between two chunkings, for all who ask; safe for threads."""

    def __init__(self, rest: float = REST, patience: float = PATIENCE) -> None:
        """Look anew after ``rest`` times as long as it took at the earliest.

        Whoever asks for what is small waits for ``patience`` seconds at the most.
        """
        self._rest, self._patience = rest, patience
        self._lock = Lock()
        self._kept: dict[Name, _Kept] = {}
        self._works: dict[Name, _Work] = {}

    def of(self, store: Store, old: str, new: str) -> Opened:
        """Return what is left open, as far as it is known by now.

        Raises `NotFound` for a chunking that is not there, for one without a golden grade, and for
        a second one without a run; `BadInput` where chunks are not where they say.
        """
        name = (store.golden_set_uuid(), old, new)
        with self._lock:
            work = self._works.get(name)
            if work is None and self._is_due(store, name):
                work = self._works[name] = _Work(frozenset(store.numbers_in(new)))
                Thread(target=self._do, args=(store.path, name, work), daemon=True).start()
        if work is not None and len(work.chunks) <= SMALL:
            work.over.wait(self._patience)
        if work is not None and work.error is not None:
            raise work.error
        with self._lock:
            kept = self._kept.get(name)
        if kept is not None:
            return kept.opened
        return Opened(frozenset(), None, 0.0) if work is None else work.opened

    def keep(self, store: Store, found: Carryover, data_revision: int, revision: int) -> None:
        """Keep what somebody else has looked at, as of these revisions."""
        old, new = found.basis.old_name, found.basis.new_name
        name, stand = (store.golden_set_uuid(), old, new), _Stand(data_revision, revision)
        self._keep(name, found, store.chunk_numbers(new), stand, 0.0)

    def _is_due(self, store: Store, name: Name) -> bool:
        kept = self._kept.get(name)
        if kept is None:
            return True
        if time.monotonic() < kept.at + self._rest * kept.took:
            return False
        now = _Stand(store.data_revision(), store.revision())
        if now.data_revision != kept.stand.data_revision:
            return True
        since = kept.stand.revision
        if now.revision < since or store.has_moved(since, *name[1:]):
            return True
        kept.stand = now
        return False

    def _do(self, path: Place, name: Name, work: _Work) -> None:
        if len(work.chunks) > SMALL:
            time.sleep(AFTER)
        began = time.monotonic()
        try:
            with Store(path) as store:
                stand = _Stand(store.data_revision(), store.revision())
                basis = store.carry_basis(*name[1:])
                chunks = store.chunk_numbers(name[2])

            def first(share: float) -> None:
                work.share = 0.75 * share

            def second(share: float) -> None:
                work.share = 0.75 + 0.25 * share

            found = follow(basis, place(basis, first), second)
            self._keep(name, found, chunks, stand, time.monotonic() - began)
        except LabelerError as error:
            work.error = error
        finally:
            with self._lock:
                self._works.pop(name, None)
            work.over.set()

    def _keep(
        self, name: Name, found: Carryover, chunks: Mapping[str, int], stand: _Stand, took: float
    ) -> None:
        known = {
            (query_id, chunks[chunk_id]): hint
            for (query_id, chunk_id), hint in hints(found).items()
            if chunk_id in chunks
        }
        opened = Opened(frozenset(chunks.values()), known)
        with self._lock:
            self._kept = {each: kept for each, kept in self._kept.items() if each[0] == name[0]} | {
                name: _Kept(opened, stand, took)
            }
