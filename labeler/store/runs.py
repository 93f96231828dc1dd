"""Runs: rename, date, drop and compare them; also the list of queries, and retiring them.

No judgment is removed by anything done here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from labeler.errors import BadInput, NotFound
from labeler.model import Ranking, check_name, escape_controls
from labeler.store.columns import moment
from labeler.store.queries import QueryHistory


class StoredLists:
    """What became of a run: whose its lists are, how deep, of which chunks; which have no text."""

    def __init__(self) -> None:
        self.query_ids: set[str] = set()
        self.depth = 0
        self.readable = False
        self.own = 0  # lists in which a chunk has the query's own id
        self._bare = bytearray()  # by number; a set would take thirty times as much
        self._there = bytearray()

    def add(
        self, rankings: Iterable[Ranking], there: Collection[int], bare: Collection[int]
    ) -> None:
        """Count some lists; ``there`` are all their chunks, ``bare`` those without text."""
        for ranking in rankings:
            self.query_ids.add(ranking.query_id)
            self.depth = max(self.depth, len(ranking.chunk_ids))
            self.own += ranking.query_id in ranking.chunk_ids
        _set_marks(self._bare, bare)
        _set_marks(self._there, there)
        self.readable |= len(bare) < len(there)

    def bare(self) -> int:
        """Return how many of the chunks are known by id only."""
        return self._bare.count(1)

    def has_any_of(self, chunks: Iterable[int]) -> bool:
        """Say whether one of these chunks stands in any list."""
        return any(number < len(self._there) and self._there[number] for number in chunks)


def _set_marks(marks: bytearray, numbers: Collection[int]) -> None:
    marks.extend(bytes(max(0, max(numbers, default=0) + 1 - len(marks))))
    for number in numbers:
        marks[number] = 1


RUNS_WITHOUT_QUERIES = """
SELECT name FROM runs
WHERE NOT EXISTS (
    SELECT 1 FROM ranked_lists AS l JOIN queries AS q ON q.query_id = l.query_id
    WHERE l.run = runs.id AND q.retired_at IS NULL
)
ORDER BY id
"""
RENAME_SIGNALS = """
UPDATE signals SET system = ?
WHERE system = ? AND NOT EXISTS (SELECT 1 FROM signals WHERE system = ?)
"""
DATE_START = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ]|$)")
QUERY_SUMMARIES = """
SELECT id, query_id, text, task, retired_at, split, id IN (SELECT query FROM leaked_queries)
FROM queries ORDER BY id
"""


@dataclass(frozen=True, slots=True)
class QuerySummary:
    """A query as the list of queries shows it; ``grades`` are golden grades, retired or not.

    ``leaked`` says that it is marked as found in other texts.
    """

    query_id: str
    text: str
    task: str | None
    retired_at: str | None
    grades: int
    split: str | None
    leaked: bool


class Runs(QueryHistory):
    """Changes to runs and queries that people ask for by name."""

    def rename_run(self, old: str, new: str) -> bool:
        """Give a run another name; return whether its system was renamed, too.

        A system follows that only ever had this run's name, with its signals unless the new name
        has some, and so does the setting that names the run. Raises `NotFound` where there is no
        ``old`` and `BadInput` where there is a ``new``.
        """
        check_run_name(new, "run", "new name")
        with self._writing():
            run = self._run_number(old)
            if self._value("SELECT 1 FROM runs WHERE name = ?", [new]):
                raise BadInput(f"there is a run named {new!r} already; choose another name")
            follows = not self._value(
                "SELECT count(*) FROM runs WHERE CASE id WHEN ? THEN system <> ? "
                "ELSE system = ? END",
                [run, old, old],
            )
            self._db.execute("UPDATE runs SET name = ? WHERE id = ?", [new, run])
            if follows:
                self._db.execute("UPDATE runs SET system = ? WHERE id = ?", [new, run])
                self._db.execute(RENAME_SIGNALS, [new, old, new])
            self._rename_in_settings(old, new)
            self._note("rename", old, {"what": "run", "to": new})
        return follows

    def _rename_in_settings(self, old: str, new: str) -> None:
        stored = self._value("SELECT value FROM settings WHERE key = 'settings'")
        chosen = json.loads(stored) if stored else {}
        pair = chosen.get("unjudged_of")
        if pair and old in pair:
            chosen["unjudged_of"] = [new if name == old else name for name in pair]
            self._db.execute(
                "UPDATE settings SET value = ? WHERE key = 'settings'",
                [json.dumps(chosen, ensure_ascii=False)],
            )

    def change_run(
        self, name: str, *, system: str | None = None, created_at: str | None = None
    ) -> None:
        """Say to which system a run belongs, when it was made, or both; None leaves it as it is.

        An empty ``created_at`` says that nobody knows.
        """
        if system is not None:
            check_run_name(system, "system", "--system")
        if created_at:
            check_date(created_at)
        with self._writing():
            self._db.execute(
                "UPDATE runs SET system = coalesce(:system, system), created_at = "
                "CASE WHEN :date IS NULL THEN created_at ELSE nullif(:date, '') END WHERE id = :id",
                {"system": system, "date": created_at, "id": self._run_number(name)},
            )
            said = {"system": system, "date": created_at}
            self._note(
                "change", name, {key: value for key, value in said.items() if value is not None}
            )

    def drop_run(self, name: str) -> None:
        """Remove a run and its lists. Judgments stay."""
        with self._writing():
            if not self._db.execute("DELETE FROM runs WHERE name = ?", [name]).rowcount:
                raise self._no_run(name)
            self._note("drop", name)

    def _run_number(self, name: str) -> int:
        number = self._value("SELECT id FROM runs WHERE name = ?", [name])
        if number is None:
            raise self._no_run(name)
        return int(number)

    def _no_run(self, name: str) -> NotFound:
        names = [
            escape_controls(name) for (name,) in self._rows("SELECT name FROM runs ORDER BY id")
        ]
        there = ", ".join(names) or "none yet"
        return NotFound(f"there is no run named {name!r}; there are: {there}")

    def runs_that_match_nothing(self) -> list[str]:
        """Return the runs that have no list for any query in use."""
        return [name for (name,) in self._rows(RUNS_WITHOUT_QUERIES)]

    def run_fingerprints(self) -> dict[str, str]:
        """Return a hash of each run's lists by name: who has the same has the same lists."""
        return dict(self._rows("SELECT name, source_hash FROM runs ORDER BY id"))

    def find_queries(
        self,
        words: str = "",
        *,
        retired: bool | None = None,
        split: str | None = None,
        leaked: bool | None = None,
        most: int = 50,
    ) -> tuple[list[QuerySummary], int]:
        """Return the first queries whose id or text holds ``words``, and how many there are.

        Upper and lower case are the same. ``retired`` keeps to those that are, or are not,
        ``split`` to those of one split, and ``leaked`` to those that are marked as leaked, or not.
        """
        wanted = words.strip().casefold()
        with self._reading():
            found = [
                row
                for row in self._rows(QUERY_SUMMARIES)
                if (wanted in row[1].casefold() or wanted in row[2].casefold())
                and retired in (None, row[4] is not None)
                and split in (None, row[5])
                and leaked in (None, bool(row[6]))
            ]
            shown = [
                QuerySummary(
                    query_id, text, task, retired_at, self._grades_of(number), part, bool(leak)
                )
                for number, query_id, text, task, retired_at, part, leak in found[:most]
            ]
        return shown, len(found)

    def _grades_of(self, query: int) -> int:
        return int(self._value("SELECT count(*) FROM golden WHERE query = ?", [query]))

    def retire_query(self, query_id: str) -> None:
        """Take a query out of grading, scores and exports; its judgments stay in the log."""
        self._set_retired(query_id, moment())

    def restore_query(self, query_id: str) -> None:
        """Take a retired query back into use, with all its judgments."""
        self._set_retired(query_id, None)

    def _set_retired(self, query_id: str, when: str | None) -> None:
        with self._writing():
            rows = self._rows("SELECT retired_at FROM queries WHERE query_id = ?", [query_id])
            if not rows:
                raise NotFound(f"there is no query {query_id!r} in the golden set")
            if (rows[0][0] is None) != (when is None):
                self._db.execute(
                    "UPDATE queries SET retired_at = ? WHERE query_id = ?", [when, query_id]
                )
                kind = "restore" if when is None else "retire"
                self._note(kind, query_id)
                self._note_fields(kind, query_id, {"retired_at": rows[0][0]}, {"retired_at": when})


def check_date(text: str) -> str:
    """Return ``text`` if it is a date, or a date and a time, else raise `BadInput`.

    Of the ways in which ISO 8601 writes a day there is one, so that dates sort as they should.
    """
    try:
        datetime.fromisoformat(text)
        if not DATE_START.match(text):
            raise ValueError
    except ValueError:
        if DATE_START.match(text):
            raise BadInput(f"date {text!r}: the calendar has no such day") from None
        raise BadInput(f"date {text!r} is not like 2026-01-31") from None
    return text


def check_run_name(text: str, what: str, where: str) -> str:
    """Return ``text`` if it can name a run or a system, else raise `BadInput`.

    ``where`` is how messages call the place it was given.
    """
    if not text.strip() or text.splitlines() != [text]:
        raise BadInput(f"{where} {text!r}: a {what} needs a name that is one line and not blank")
    return check_name(text, what)
