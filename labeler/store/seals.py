"""Seals: each event of the two logs gets its place in a chain of hashes, soon after it is there.

The server does so every few seconds, and a load and an export at once. Until then an event is held
by the triggers alone; writing it waits for nothing.
"""

from __future__ import annotations

from contextlib import suppress

from labeler.errors import Busy
from labeler.store.chain import LOGS, Seal, sealed
from labeler.store.chained import Chain, ChainReport
from labeler.store.connection import Connection, Unusable
from labeler.store.schema import ADD_SEAL

AT_ONCE = 2_000  # events sealed in one transaction: graders wait for it some milliseconds


class Seals(Connection):
    """Makes the chain longer, and looks whether the logs are still what it was made from."""

    def seal(self) -> int:
        """Seal every event that has no seal yet, and return how many those were."""
        return sum(self._seal_log(log) for log in LOGS)

    def seal_if_possible(self) -> None:
        """Seal what is new; where the file takes no writes now, somebody else will later."""
        with suppress(Busy, Unusable), self._briefly():
            self.seal()

    def _seal_log(self, log: str) -> int:
        done = 0
        while part := self._seal_part(log):
            done += part
        return done

    def _seal_part(self, log: str) -> int:
        """Seal some events; hash them before taking the lock, and again if somebody was faster."""
        with self._reading():
            chain = Chain(self._db.conn)
            last, before = chain.newest_of(log)
            seals = list(sealed(before, chain.events(log, last, most=AT_ONCE)))
        if not seals:
            return 0
        with self._transaction():
            if chain.newest_of(log)[0] == last:
                self._db.conn.executemany(ADD_SEAL, ((log, *seal) for seal in seals))
        return len(seals)

    def newest_seal(self) -> Seal:
        """Seal what is not sealed yet, if that is possible now, and return `present_seal`."""
        self.seal_if_possible()
        return self.present_seal()

    def present_seal(self) -> Seal:
        """Return the seal of both logs as they are now; writes nothing."""
        with self._reading():
            return Chain(self._db.conn).present_seal()

    def check_seals(self) -> ChainReport:
        """Look at every event whether it is as it was sealed, see `Chain.check`."""
        with self._reading():
            return Chain(self._db.conn).check()

    def differs_from(self, kept: Seal) -> str | None:
        """Say how the logs differ from what they were when a seal was kept, if they do."""
        with self._reading():
            return Chain(self._db.conn).differs_from(kept)
