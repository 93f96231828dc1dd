"""Answers generated from the results of runs: load, read and drop them.

They are not part of the golden set or its hash, and are dropped with their run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from labeler.errors import BadInput, NotFound
from labeler.model import Answer, Loaded, LoadReport, escape_controls
from labeler.store.audit import Audit
from labeler.store.connection import Connection
from labeler.store.load_reports import load_report
from labeler.store.queries import Queries
from labeler.store.runs import Runs
from labeler.store.signals import UNKNOWN_QUERIES

PUT_ANSWER = (
    "INSERT INTO answers (run, query_id, answer, correct) VALUES (?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
ANSWER_THERE = "SELECT answer, correct FROM answers WHERE run = ? AND query_id = ?"
SET_ANSWER = "UPDATE answers SET answer = ?, correct = ? WHERE run = ? AND query_id = ?"


class Answers:
    """Loads, reads and drops answers, by run and query."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._queries = Queries(connection)
        self._runs = Runs(connection)

    def load(
        self, loaded: Loaded[Answer], *, run: str | None = None, update: bool = False
    ) -> LoadReport:
        """Add answers of stored runs; skip those stored already.

        ``run`` is the run of answers for which the file names none. A different answer or verdict
        for the same run and query is refused, or replaces the stored one with ``update``. Answers
        to queries outside the golden set are stored, and these queries are counted.
        """
        queries: set[str] = set()
        numbers: dict[str, int] = {}
        with self._db.writing():
            counts: Counter[str] = Counter()
            for index, answer in enumerate(loaded.records):
                where = loaded.where(index)
                name = _run_of_answer(answer, run, where)
                if name not in numbers:
                    numbers[name] = self._answering_run(name, where)
                queries.add(answer.query_id)
                with self._db.translated(where):
                    counts[self._put_answer(numbers[name], answer, where, update=update)] += 1
            self._audit.put_load("answers", loaded.source, counts)
            unknown = queries - self._queries.ids()
        warned = []
        if unknown == queries:
            warned.append(
                f"no query of these answers is in the golden set (the first is {min(queries)!r}); "
                "load its queries, or check that the ids are the same"
            )
        title = f"answers of {_format_runs(numbers)}"
        return load_report(title, loaded, counts, {UNKNOWN_QUERIES: len(unknown)}, warned)

    def _answering_run(self, name: str, where: str) -> int:
        number = self._db.value("SELECT id FROM runs WHERE name = ?", [name])
        if number is None:
            raise BadInput(
                f"{where}: {self._runs.not_there(name)}; load the run before its answers"
            )
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

    def runs(self) -> dict[str, int]:
        """Count the answers of each run that has any, in the order the runs were loaded."""
        return dict(
            self._db.rows(
                "SELECT r.name, count(*) FROM answers AS a JOIN runs AS r ON r.id = a.run "
                "GROUP BY r.id ORDER BY r.id"
            )
        )

    def right(self, run: str) -> dict[str, bool]:
        """Return whether a run's answer to each query is correct; empty without answers."""
        rows = self._db.rows(
            "SELECT query_id, correct FROM answers "
            "WHERE run = (SELECT id FROM runs WHERE name = ?) ORDER BY id",
            [run],
        )
        return {query_id: bool(correct) for query_id, correct in rows}

    def to(self, query_id: str, longest: int | None = None) -> dict[str, Answer]:
        """Return the answers to a query by run, each cut after ``longest`` characters."""
        rows = self._db.rows(
            "SELECT r.name, CASE WHEN :longest IS NULL OR length(a.answer) <= :longest "
            "THEN a.answer ELSE substr(a.answer, 1, :longest) || ' …' END, a.correct "
            "FROM answers AS a JOIN runs AS r ON r.id = a.run "
            "WHERE a.query_id = :query ORDER BY r.id",
            {"query": query_id, "longest": longest},
        )
        return {run: Answer(run, query_id, text, bool(right)) for run, text, right in rows}

    def drop(self, run: str) -> int:
        """Remove the answers of a run, but not the run; return how many there were."""
        with self._db.writing():
            number = self._runs.number(run)
            gone = self._db.execute("DELETE FROM answers WHERE run = ?", [number]).rowcount
            if not gone:
                there = ", ".join(map(escape_controls, self.runs())) or "none yet"
                raise NotFound(f"run {run!r} has no answers; runs that have some: {there}")
            self._audit.put("drop_answers", run, {"answers": gone})
        return int(gone)


def _run_of_answer(answer: Answer, run: str | None, where: str) -> str:
    """Return the run that the file names, or else ``run``; raise `BadInput` if neither does."""
    if answer.run is not None and run is not None and answer.run != run:
        raise BadInput(f"{where}: it is an answer of run {answer.run!r}, but --run says {run!r}")
    name = answer.run if answer.run is not None else run
    if name is None:
        raise BadInput(f"{where}: it is not said of which run this is; add a column run, or --run")
    return name


def _format_runs(runs: Iterable[str]) -> str:
    names = [repr(name) for name in runs]
    return f"run{'s' * (len(names) > 1)} {', '.join(names)}"
