"""Signals of systems in production, and answers given with what runs found: load, read, drop.

Neither changes the golden set or its hash. Signals belong to systems and answers to runs, so
that answers are dropped with their run.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model import (
    Answer,
    Loaded,
    LoadReport,
    Signal,
    SignalPoint,
    escape_controls,
)
from labeler.store.chunks import load_report
from labeler.store.columns import as_json
from labeler.store.load import Loads
from labeler.store.runs import Runs

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
PUT_ANSWER = (
    "INSERT INTO answers (run, query_id, answer, correct) VALUES (?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
ANSWER_THERE = "SELECT answer, correct FROM answers WHERE run = ? AND query_id = ?"
SET_ANSWER = "UPDATE answers SET answer = ?, correct = ? WHERE run = ? AND query_id = ?"
# What is said of all queries counts before what is said of some; a mean of these is weighted by
# how often each was counted, if that is known of all.
SELECT_POINTS = """
SELECT
    system, name, date,
    CASE WHEN max(query_id = '') THEN max(CASE WHEN query_id = '' THEN value END)
        WHEN count(n) = count(*) THEN total(value * n) / total(n)
        ELSE avg(value) END,
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
    """A signal of a system as the list of them shows it.

    ``values`` are how many there are on ``dates`` days or moments, ``queries`` how many queries
    they name.
    """

    system: str
    name: str
    first: str
    last: str
    dates: int
    values: int
    queries: int


class SignalsAndAnswers(Runs, Loads):
    """Signals of systems over time, and answers that were given with what runs found."""

    def add_signals(self, loaded: Loaded[Signal], *, update: bool = False) -> LoadReport:
        """Add signals; one that is there with the same value is left alone.

        Another value for the same system, name, date and query is refused, or replaces it with
        ``update``. Systems and queries that nobody knows are kept, and counted.
        """
        queries: set[str] = set()
        systems: dict[str, None] = {}
        with self._writing():
            counts: Counter[str] = Counter()
            for index, signal in enumerate(loaded.records):
                systems[signal.system] = None
                if signal.query_id is not None:
                    queries.add(signal.query_id)
                with self._translated(loaded.where(index)):
                    counts[self._put_signal(signal, loaded.where(index), update=update)] += 1
            self._note_load("signals", loaded.source, counts)
            unknown = queries - self._query_ids()
            without = sorted(systems.keys() - self._systems())
        warned = [
            f"no run is of the system {name!r}, so its signals stand beside nothing: labeler "
            f"change run NAME --system {shlex.quote(name)}"
            for name in without
        ]
        facts = {UNKNOWN_QUERIES: len(unknown)} if queries else {}
        return _load_report("signals", loaded, counts, facts, warned)

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

    def add_answers(
        self, loaded: Loaded[Answer], *, run: str | None = None, update: bool = False
    ) -> LoadReport:
        """Add answers of runs that are there; one that is there as it is is left alone.

        ``run`` is whose they are where the file does not say it. Another answer or verdict for the
        same run and query is refused, or replaces it with ``update``. Queries that the golden set
        does not have are kept, and counted.
        """
        queries: set[str] = set()
        numbers: dict[str, int] = {}
        with self._writing():
            counts: Counter[str] = Counter()
            for index, answer in enumerate(loaded.records):
                where = loaded.where(index)
                name = _run_of_answer(answer, run, where)
                if name not in numbers:
                    numbers[name] = self._answering_run(name, where)
                queries.add(answer.query_id)
                with self._translated(where):
                    counts[self._put_answer(numbers[name], answer, where, update=update)] += 1
            self._note_load("answers", loaded.source, counts)
            unknown = queries - self._query_ids()
        warned = []
        if unknown == queries:
            warned.append(
                f"no query of these answers is in the golden set (the first is {min(queries)!r}); "
                "load its queries, or check that the ids are the same"
            )
        title = f"answers of {_format_runs(numbers)}"
        return _load_report(title, loaded, counts, {UNKNOWN_QUERIES: len(unknown)}, warned)

    def _answering_run(self, name: str, where: str) -> int:
        number = self._value("SELECT id FROM runs WHERE name = ?", [name])
        if number is None:
            raise BadInput(f"{where}: {self._no_run(name)}; load the run before its answers")
        return int(number)

    def _put_answer(self, run: int, answer: Answer, where: str, *, update: bool) -> str:
        said = (answer.answer, int(answer.correct))
        if self._db.execute(PUT_ANSWER, [run, answer.query_id, *said]).rowcount:
            return "new"
        if self._db.execute(ANSWER_THERE, [run, answer.query_id]).fetchall() == [said]:
            return "already there"
        if not update:
            raise BadInput(
                f"{where}: query {answer.query_id!r} has another answer or verdict already in this "
                "run; replace it with --update"
            )
        self._db.execute(SET_ANSWER, [*said, run, answer.query_id])
        return "updated"

    def _query_ids(self) -> set[str]:
        return {query_id for (query_id,) in self._rows("SELECT query_id FROM queries")}

    def _systems(self) -> set[str]:
        return {system for (system,) in self._rows("SELECT DISTINCT system FROM runs")}

    def signal_points(self, queries: Collection[str] | None = None) -> list[SignalPoint]:
        """Return each signal's values by system, name and date, see `SignalPoint`.

        With ``queries`` only what was said of these is counted, and nothing that is of all.
        """
        asked = None if queries is None else as_json(sorted(queries))
        return [SignalPoint(*row) for row in self._rows(SELECT_POINTS, {"queries": asked})]

    def signals(self) -> list[SignalSummary]:
        """List the signals by system and name."""
        return [SignalSummary(*row) for row in self._rows(SELECT_SUMMARIES)]

    def drop_signals(self, system: str, name: str | None = None) -> int:
        """Remove the signals of a system, or the one of a name; return how many values go."""
        with self._writing():
            gone = self._db.execute(
                "DELETE FROM signals WHERE system = ? AND (? IS NULL OR name = ?)",
                [system, name, name],
            ).rowcount
            if not gone:
                known = (f"{each.name} of {each.system}" for each in self.signals())
                what = "signal" if name is None else f"signal {name!r}"
                there = ", ".join(map(escape_controls, known)) or "none yet"
                raise NotFound(f"there is no {what} of a system {system!r}; there are: {there}")
            self._note("drop_signals", system, {"values": gone, **({"name": name} if name else {})})
        return int(gone)

    def answered_runs(self) -> dict[str, int]:
        """Return how many answers each run has that has any, in the order the runs were loaded."""
        return dict(
            self._rows(
                "SELECT r.name, count(*) FROM answers AS a JOIN runs AS r ON r.id = a.run "
                "GROUP BY r.id ORDER BY r.id"
            )
        )

    def right_answers(self, run: str) -> dict[str, bool]:
        """Return by query whether what was answered with a run is right; empty without answers."""
        rows = self._rows(
            "SELECT query_id, correct FROM answers "
            "WHERE run = (SELECT id FROM runs WHERE name = ?) ORDER BY id",
            [run],
        )
        return {query_id: bool(correct) for query_id, correct in rows}

    def answers_to(self, query_id: str, longest: int | None = None) -> dict[str, Answer]:
        """Return what was answered to a query, by run; a text is cut after ``longest`` letters."""
        rows = self._rows(
            "SELECT r.name, CASE WHEN :longest IS NULL OR length(a.answer) <= :longest "
            "THEN a.answer ELSE substr(a.answer, 1, :longest) || ' …' END, a.correct "
            "FROM answers AS a JOIN runs AS r ON r.id = a.run "
            "WHERE a.query_id = :query ORDER BY r.id",
            {"query": query_id, "longest": longest},
        )
        return {run: Answer(run, query_id, text, bool(right)) for run, text, right in rows}

    def drop_answers(self, run: str) -> int:
        """Remove the answers of a run, which stays; return how many there were."""
        with self._writing():
            number = self._run_number(run)
            gone = self._db.execute("DELETE FROM answers WHERE run = ?", [number]).rowcount
            if not gone:
                there = ", ".join(map(escape_controls, self.answered_runs())) or "none yet"
                raise NotFound(f"run {run!r} has no answers; runs that have some: {there}")
            self._note("drop_answers", run, {"answers": gone})
        return int(gone)


def _run_of_answer(answer: Answer, run: str | None, where: str) -> str:
    """Return whose answer it is: what the file says, or who loads it."""
    if answer.run is not None and run is not None and answer.run != run:
        raise BadInput(f"{where}: it is an answer of run {answer.run!r}, but --run says {run!r}")
    name = answer.run if answer.run is not None else run
    if name is None:
        raise BadInput(f"{where}: it is not said of which run this is; add a column run, or --run")
    return name


def _value(value: float, n: int | None) -> str:
    return f"{value:.12g}" if n is None else f"{value:.12g} (n {n:,})"


def _format_runs(runs: Iterable[str]) -> str:
    names = [repr(name) for name in runs]
    return f"run{'s' * (len(names) > 1)} {', '.join(names)}"


def _load_report(
    title: str,
    loaded: Loaded[Any],
    counts: Mapping[str, int],
    facts: Mapping[str, int],
    warned: Iterable[str],
) -> LoadReport:
    """Return what was in a file and what came of it, with what is to be known of it beside that."""
    found = load_report(title, loaded, counts)
    told = {**found.facts, **facts}
    return LoadReport(found.title, told, (*found.warnings, *warned), found.changed)
