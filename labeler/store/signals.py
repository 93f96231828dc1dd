"""Signals of systems in production: load, read and drop them.

The golden set and its hash stay the same.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from labeler.errors import BadInput, NotFound
from labeler.model import Loaded, LoadReport, Signal, SignalPoint, escape_controls
from labeler.store.audit import Audit
from labeler.store.columns import as_json
from labeler.store.connection import Connection
from labeler.store.load_reports import load_report
from labeler.store.queries import Queries

UNKNOWN_QUERIES = "queries unknown to the golden set"
PUT_SIGNAL = (
    "INSERT INTO signals (system, name, date, query_id, value, n) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
SIGNAL_THERE = (
    "SELECT value, n FROM signals WHERE system = ? AND name = ? AND date = ? AND query_id = ?"
)
SET_SIGNAL = (
    "UPDATE signals SET value = ?, n = ? "
    "WHERE system = ? AND name = ? AND date = ? AND query_id = ?"
)
# A value for all queries takes precedence over values for single queries. The mean of these is
# weighted by n where all have one.
SELECT_POINTS = """
SELECT
    system, name, date,
    CASE WHEN max(query_id = '') THEN max(CASE WHEN query_id = '' THEN value END)
        WHEN count(n) = count(*) THEN total(value * n) / total(n)
        ELSE avg(CAST(value AS DOUBLE PRECISION)) END,
    CASE WHEN max(query_id = '') THEN max(CASE WHEN query_id = '' THEN n END)
        WHEN count(n) = count(*) THEN CAST(total(n) AS INTEGER) END,
    CASE WHEN max(query_id = '') THEN 0 ELSE count(*) END
FROM signals
WHERE :queries IS NULL OR query_id IN (SELECT value FROM json_each(:queries))
GROUP BY system, name, date
ORDER BY system, name, date
"""
SELECT_SUMMARIES = """
SELECT system, name, min(date), max(date), count(DISTINCT date), count(*),
    count(DISTINCT nullif(query_id, ''))
FROM signals GROUP BY system, name ORDER BY system, name
"""


@dataclass(frozen=True, slots=True)
class SignalSummary:
    """A signal of a system in the list of signals.

    ``values`` counts its values, ``dates`` their days or moments, ``queries`` their queries.
    """

    system: str
    name: str
    first: str
    last: str
    dates: int
    values: int
    queries: int


class Signals:
    """Loads, reads and drops signals of systems over time."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._queries = Queries(connection)

    def load(self, loaded: Loaded[Signal], *, update: bool = False) -> LoadReport:
        """Add signals; those already there with the same value stay as they are.

        Raises `BadInput` for another value of the same system, name, date and query, unless
        ``update`` replaces it. Signals of unknown systems and queries are stored and reported.
        """
        queries: set[str] = set()
        systems: dict[str, None] = {}
        with self._db.writing():
            counts: Counter[str] = Counter()
            for index, signal in enumerate(loaded.records):
                systems[signal.system] = None
                if signal.query_id is not None:
                    queries.add(signal.query_id)
                with self._db.translated(loaded.where(index)):
                    counts[self._put_signal(signal, loaded.where(index), update=update)] += 1
            self._audit.put_load("signals", loaded.source, counts)
            unknown = queries - self._queries.ids()
            without = sorted(systems.keys() - self._systems())
        warned = [
            f"no run is of the system {name!r}, so its signals stand beside nothing: labeler "
            f"change run NAME --system {shlex.quote(name)}"
            for name in without
        ]
        facts = {UNKNOWN_QUERIES: len(unknown)} if queries else {}
        return load_report("signals", loaded, counts, facts, warned)

    def _put_signal(self, signal: Signal, where: str, *, update: bool) -> str:
        key = (signal.system, signal.name, signal.date, signal.query_id or "")
        if self._db.execute(PUT_SIGNAL, [*key, signal.value, signal.n]).rowcount:
            return "new"
        [there] = self._db.execute(SIGNAL_THERE, key).fetchall()
        if there == (signal.value, signal.n):
            return "already there"
        if not update:
            of = "" if signal.query_id is None else f" for query {signal.query_id!r}"
            raise BadInput(
                f"{where}: {signal.name!r} of {signal.system!r} on {signal.date}{of} is "
                f"{_value(*there)} already, not {_value(signal.value, signal.n)}; replace it with "
                "--update"
            )
        self._db.execute(SET_SIGNAL, [signal.value, signal.n, *key])
        return "updated"

    def _systems(self) -> set[str]:
        return {system for (system,) in self._db.rows("SELECT DISTINCT system FROM runs")}

    def points(self, queries: Collection[str] | None = None) -> list[SignalPoint]:
        """Return one value for each system, name and date, see `SignalPoint`.

        With ``queries`` only values for these count, and none that is for all queries.
        """
        asked = None if queries is None else as_json(sorted(queries))
        return [SignalPoint(*row) for row in self._db.rows(SELECT_POINTS, {"queries": asked})]

    def all(self) -> list[SignalSummary]:
        """List the signals by system and name."""
        return [SignalSummary(*row) for row in self._db.rows(SELECT_SUMMARIES)]

    def drop(self, system: str, name: str | None = None) -> int:
        """Remove all signals of a system, or one by name; return how many values were removed."""
        with self._db.writing():
            gone = self._db.execute(
                "DELETE FROM signals WHERE system = ? AND (? IS NULL OR name = ?)",
                [system, name, name],
            ).rowcount
            if not gone:
                known = (f"{each.name} of {each.system}" for each in self.all())
                what = "signal" if name is None else f"signal {name!r}"
                there = ", ".join(map(escape_controls, known)) or "none yet"
                raise NotFound(f"there is no {what} of a system {system!r}; there are: {there}")
            self._audit.put(
                "drop_signals", system, {"values": gone, **({"name": name} if name else {})}
            )
        return int(gone)


def _value(value: float, n: int | None) -> str:
    return f"{value:.12g}" if n is None else f"{value:.12g} (n {n:,})"
