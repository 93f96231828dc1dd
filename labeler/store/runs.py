"""Runs: load, list, rename, date and drop them, and read their ranked lists.

Judgments stay, even those of a dropped run's chunks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from labeler.errors import BadInput, NotFound
from labeler.model import (
    DEFAULT_CHUNKING,
    ChangedRankings,
    Loaded,
    LoadReport,
    Ranking,
    check_name,
    escape_controls,
    full_chunk_id,
)
from labeler.store.audit import Audit
from labeler.store.chunkings import Chunkings
from labeler.store.chunks import Chunks
from labeler.store.columns import (
    APART,
    as_json,
    batch_rankings,
    order_in_64_bits,
    pack_ranking,
    run_fingerprint,
)
from labeler.store.connection import Connection

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
_SELDOM = 10  # numbered ids coincide by chance in fewer than one list in ten
RESULTS_AT_ONCE = 500_000
LIST_COLUMNS = ("run", "query_id", "chunks", "scores")


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run in the list of runs; ``created_at`` is None where its date is not known."""

    name: str
    system: str
    created_at: str | None
    depth: int
    queries: int


class Runs:
    """Stores, lists and changes runs."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._chunkings = Chunkings(connection)
        self._chunks = Chunks(connection)

    def names(self) -> list[str]:
        """Return the names of the runs in the order they were loaded."""
        return [name for (name,) in self._db.rows("SELECT name FROM runs ORDER BY id")]

    def all(self) -> list[RunSummary]:
        """List the runs in the order they were loaded."""
        return [
            RunSummary(*row)
            for row in self._db.rows(
                "SELECT name, system, created_at, depth, "
                "(SELECT count(*) FROM ranked_lists WHERE run = runs.id) FROM runs ORDER BY id"
            )
        ]

    def params(self) -> dict[str, dict[str, str]]:
        """Return the parameters of the runs that were loaded with some."""
        found = {}
        for name, params in self._db.rows("SELECT name, params FROM runs ORDER BY id"):
            own = {key: str(each) for key, each in json.loads(params).items() if key != APART}
            if own:
                found[name] = own
        return found

    def lists(self, name: str) -> list[Ranking]:
        """Return a run's lists as they were loaded, in the order of the queries.

        Lists of queries outside the golden set are last. Raises `NotFound` for an unknown run.
        """
        with self._db.reading():
            rows = self._db.rows(
                "SELECT l.query_id, l.chunks, l.scores FROM ranked_lists AS l "
                "JOIN runs AS r ON r.id = l.run LEFT JOIN queries AS q ON q.query_id = l.query_id "
                "WHERE r.name = ? ORDER BY q.id IS NULL, q.id, l.query_id",
                [name],
            )
            names = ", ".join(self.names()) or "none"
            chunk_ids = dict(self._db.rows("SELECT id, chunk_id FROM chunks")) if rows else {}
        if not rows:
            raise NotFound(f"there is no run named {name!r}; there are: {names}")
        return [_ranking_from_row(row, chunk_ids) for row in rows]

    def fingerprints(self) -> dict[str, str]:
        """Return a hash of each run's lists by name: equal hashes mean equal lists."""
        return dict(self._db.rows("SELECT name, source_hash FROM runs ORDER BY id"))

    def matching_nothing(self) -> list[str]:
        """Return the runs that have no list for any query in use."""
        return [name for (name,) in self._db.rows(RUNS_WITHOUT_QUERIES)]

    def load(
        self,
        loaded: Loaded[Ranking],
        *,
        name: str,
        system: str | None = None,
        created_at: str | None = None,
        params: Mapping[str, Any] | None = None,
        chunking: str | None = None,
    ) -> LoadReport:
        """Store a run under ``name``; ``system`` defaults to the name.

        ``created_at`` is when it was made, None where that is not known. A run is immutable: a
        known name raises `BadInput`, unless the content is the same, and then nothing changes.
        Lists of queries outside the golden set are stored and counted but not scored. Unknown
        chunks are stored by id. Where ``chunking`` is None the chunk ids decide it; raises
        `BadInput` where they fit several chunkings.
        """
        created_at = self.check_names(name, system, created_at)
        chunking, rankings = self._called(loaded, chunking)
        row = [name, system or name, created_at, as_json(params or {})]
        with self._db.writing():
            stored = self.put_new(loaded, rankings, row, chunking)
        return self.report(loaded, name, stored, chunking)

    def _called(
        self, loaded: Loaded[Ranking], chunking: str | None
    ) -> tuple[str, Sequence[Ranking]]:
        """Return a run's chunking, and its lists with the chunk ids of the golden set."""
        if chunking is None:
            chunking = self._chunkings.of_rankings(loaded.records, loaded.source)
        elif chunking != DEFAULT_CHUNKING:
            with self._db.writing():
                self._chunkings.check_there(chunking, loaded.source)
        if chunking == DEFAULT_CHUNKING:
            self._chunkings.check_apart(loaded.records, loaded.source)
            return chunking, loaded.records
        return chunking, qualified_rankings(loaded.records, chunking)

    def check_names(self, name: str, system: str | None, created_at: str | None) -> str | None:
        """Return when a run was made; raises `BadInput` for an invalid name, system or date."""
        check_run_name(name, "run", "--name")
        if system is not None:
            check_run_name(system, "system", "--system")
        return check_date(created_at) if created_at else None

    def put_new(
        self,
        loaded: Loaded[Ranking],
        rankings: Sequence[Ranking],
        row: list[str | None],
        chunking: str,
    ) -> tuple[StoredLists, list[str]] | None:
        """Store a run; return its lists and the runs with the same content, None if known."""
        fingerprint, name = run_fingerprint(rankings), str(row[0])
        known = self._db.value("SELECT source_hash FROM runs WHERE name = ?", [name])
        if known == fingerprint:
            return None
        if known is not None:
            raise BadInput(
                f"{loaded.source}: there is already a run named {name!r} with other content; "
                f"choose another --name, or remove it first: labeler drop run {name}"
            )
        twins = self._runs_of(fingerprint)
        any_tied = bool(loaded.facts.get("queries with tied scores", True))
        stored = self._put_run(rankings, [*row, fingerprint, chunking], any_tied)
        self._audit.put_load(f"run {name}", loaded.source, {"queries": len(loaded.records)})
        return stored, twins

    def _runs_of(self, fingerprint: str) -> list[str]:
        rows = self._db.rows(
            "SELECT name FROM runs WHERE source_hash = ? ORDER BY id", [fingerprint]
        )
        return [repr(name) for (name,) in rows]

    def _put_run(
        self, rankings: Iterable[Ranking], row: list[str | None], any_tied: bool
    ) -> StoredLists:
        """Store a run in batches of lists; ``any_tied`` says whether 32-bit scores may tie."""
        apart: dict[str, list[int]] = {}
        ((run,),) = self._db.rows(
            "INSERT INTO runs (name, system, created_at, params, source_hash, depth, chunking) "
            "VALUES (?, ?, ?, ?, ?, 0, (SELECT id FROM chunkings WHERE name = ?)) RETURNING id",
            row,
        )
        stored = StoredLists()
        self._db.engine.expect_large_run(self._db.handle)
        for some in batch_rankings(rankings, RESULTS_AT_ONCE):
            ids = chain.from_iterable(ranking.chunk_ids for ranking in some)
            numbers, bare = self._chunks.numbers_of(ids)
            stored.add(some, numbers.values(), bare)
            for ranking in some if any_tied else ():
                if (order := order_in_64_bits(ranking)) is not None:
                    apart[ranking.query_id] = order
            lists = ((run, *pack_ranking(ranking, numbers)) for ranking in some)
            self._db.engine.fill(self._db.handle, "ranked_lists", LIST_COLUMNS, lists)
        self._db.execute("UPDATE runs SET depth = ? WHERE id = ?", [stored.depth, run])
        if apart:
            params = {**json.loads(row[3] or "{}"), APART: apart}
            self._db.execute("UPDATE runs SET params = ? WHERE id = ?", [as_json(params), run])
        return stored

    def report(
        self,
        loaded: Loaded[Ranking],
        name: str,
        stored: tuple[StoredLists, list[str]] | None,
        chunking: str,
    ) -> LoadReport:
        """Return the report of a load; ``stored`` is what `put_new` returned."""
        if stored is None:
            title = f"run {name!r} is already there with the same content"
            return LoadReport(title, {}, changed=False)
        if len(self._chunkings.names()) > 1:
            of = {"chunking": chunking or "the default one"}
            loaded = replace(loaded, facts={**loaded.facts, **of})
        return self._run_report(loaded, name, *stored)

    def _run_report(
        self, loaded: Loaded[Ranking], name: str, stored: StoredLists, twins: Sequence[str]
    ) -> LoadReport:
        bare = stored.bare()
        counts: dict[str, int | str] = {"chunks known by id only": bare}
        rows = self._db.rows("SELECT query_id, retired_at IS NOT NULL FROM queries")
        retired = {query_id for query_id, is_retired in rows if is_retired}
        wanted = {query_id for query_id, _ in rows} - retired
        given = stored.query_ids
        if given & retired:
            counts["queries that are retired"] = len(given & retired)
        given -= retired
        counts["golden queries not in this run"] = len(wanted - given)
        counts["run queries not in the golden set"] = len(given - wanted)
        warnings = list(loaded.warnings)
        if twins:
            of = "run" if len(twins) == 1 else "runs"
            warnings.append(f"its content is the same as that of {of} {', '.join(twins)}")
        if given and not given & wanted:
            warnings.append(
                f"no query of this run is in the golden set (the first is {min(given)!r}); "
                "load its queries, or check that the ids are the same"
            )
        if given and not stored.depth:
            warnings.append(
                "all lists of this run are empty: nothing compares with it; is this the whole file?"
            )
        lists = len(stored.query_ids)
        if stored.own * _SELDOM >= lists > 0:
            warnings.append(
                f"in {stored.own:,} of {lists:,} lists a chunk has the query's own id; if it is "
                "the query itself, 'labeler load run --leave-out-self' leaves it out"
            )
        if bare and not stored.readable:
            warnings.append(self._unreadable(stored))
        return LoadReport(
            f"run {name!r} from {loaded.source}", {**loaded.facts, **counts}, tuple(warnings)
        )

    def _unreadable(self, stored: StoredLists) -> str:
        """Return a warning about a run whose chunks all have no text."""
        known = "no text is known of any chunk of this run"
        if graded := self._graded_unless_met(stored):
            others = "one other is" if graded == 1 else f"{graded:,} others are"
            return (
                f"{known} and none is graded, while {others}, so its measures are 0; was it made "
                "on another chunking, or with other chunk ids?"
            )
        return (
            f"{known}, so nobody can grade them; load the chunks, or check that the ids are the "
            "same"
        )

    def _graded_unless_met(self, stored: StoredLists) -> int:
        """Return how many chunks have a golden grade, 0 if the run has any judged chunk."""
        judged = self._db.rows("SELECT DISTINCT chunk FROM judgments")
        if stored.has_any_of(chunk for (chunk,) in judged):
            return 0
        return int(self._db.value("SELECT count(DISTINCT chunk) FROM golden"))

    def rename(self, old: str, new: str) -> bool:
        """Rename a run; return whether its system was renamed, too.

        The system is renamed if it has the run's name and no other run. Its signals are renamed
        with it, unless the new name has some. The setting that names the run is always updated.
        Raises `NotFound` for an unknown ``old``, `BadInput` where ``new`` is taken.
        """
        check_run_name(new, "run", "new name")
        with self._db.writing():
            run = self.number(old)
            if self._db.value("SELECT 1 FROM runs WHERE name = ?", [new]):
                raise BadInput(f"there is a run named {new!r} already; choose another name")
            follows = not self._db.value(
                "SELECT count(*) FROM runs WHERE CASE id WHEN ? THEN system <> ? "
                "ELSE system = ? END",
                [run, old, old],
            )
            self._db.execute("UPDATE runs SET name = ? WHERE id = ?", [new, run])
            if follows:
                self._db.execute("UPDATE runs SET system = ? WHERE id = ?", [new, run])
                self._db.execute(RENAME_SIGNALS, [new, old, new])
            self._rename_in_settings(old, new)
            self._audit.put("rename", old, {"what": "run", "to": new})
        return follows

    def _rename_in_settings(self, old: str, new: str) -> None:
        stored = self._db.value("SELECT value FROM settings WHERE key = 'settings'")
        chosen = json.loads(stored) if stored else {}
        pair = chosen.get("unjudged_of")
        if pair and old in pair:
            chosen["unjudged_of"] = [new if name == old else name for name in pair]
            self._db.execute(
                "UPDATE settings SET value = ? WHERE key = 'settings'",
                [json.dumps(chosen, ensure_ascii=False)],
            )

    def change(
        self, name: str, *, system: str | None = None, created_at: str | None = None
    ) -> None:
        """Change a run's system, its date, or both; None leaves a value as it is.

        An empty ``created_at`` removes the date.
        """
        if system is not None:
            check_run_name(system, "system", "--system")
        if created_at:
            check_date(created_at)
        with self._db.writing():
            self._db.execute(
                "UPDATE runs SET system = coalesce(:system, system), created_at = "
                "CASE WHEN :date IS NULL THEN created_at ELSE nullif(:date, '') END WHERE id = :id",
                {"system": system, "date": created_at, "id": self.number(name)},
            )
            said = {"system": system, "date": created_at}
            self._audit.put(
                "change", name, {key: value for key, value in said.items() if value is not None}
            )

    def drop(self, name: str) -> None:
        """Remove a run and its lists. Judgments stay."""
        with self._db.writing():
            if not self._db.execute("DELETE FROM runs WHERE name = ?", [name]).rowcount:
                raise self.not_there(name)
            self._audit.put("drop", name)

    def number(self, name: str) -> int:
        """Return a run's internal number; raises `NotFound`."""
        number = self._db.value("SELECT id FROM runs WHERE name = ?", [name])
        if number is None:
            raise self.not_there(name)
        return int(number)

    def not_there(self, name: str) -> NotFound:
        """Return the error for an unknown run, which lists the known ones."""
        names = [
            escape_controls(name) for (name,) in self._db.rows("SELECT name FROM runs ORDER BY id")
        ]
        there = ", ".join(names) or "none yet"
        return NotFound(f"there is no run named {name!r}; there are: {there}")


class StoredLists:
    """Counts of a run being stored: its queries, depth and chunks, and the chunks without text."""

    def __init__(self) -> None:
        self.query_ids: set[str] = set()
        self.depth = 0
        self.readable = False
        self.own = 0  # lists with a chunk that has the query's own id
        self._bare = bytearray()  # by chunk number; a set would take thirty times the memory
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
        """Return whether any of these chunks is in a list."""
        return any(number < len(self._there) and self._there[number] for number in chunks)


def _set_marks(marks: bytearray, numbers: Collection[int]) -> None:
    marks.extend(bytes(max(0, max(numbers, default=0) + 1 - len(marks))))
    for number in numbers:
        marks[number] = 1


def check_date(text: str) -> str:
    """Return ``text`` if it is a date, or a date and a time, else raise `BadInput`.

    Of the ISO 8601 formats only YYYY-MM-DD is accepted for the day, so that dates sort as text.
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

    ``where`` names the option or field in the message.
    """
    if not text.strip() or text.splitlines() != [text]:
        raise BadInput(f"{where} {text!r}: a {what} needs a name that is one line and not blank")
    return check_name(text, what)


def qualified_rankings(rankings: Sequence[Ranking], chunking: str) -> Sequence[Ranking]:
    """Return a run's lists with the chunk ids of the golden set, computed as they are read."""
    called = lru_cache(100_000)(lambda chunk_id: full_chunk_id(chunking, chunk_id))
    return ChangedRankings(
        rankings, lambda each: replace(each, chunk_ids=tuple(map(called, each.chunk_ids)))
    )


def _ranking_from_row(
    row: tuple[str, bytes, bytes | None], chunk_ids: Mapping[int, str]
) -> Ranking:
    query_id, chunks, scores = row
    ids = tuple(chunk_ids[number] for number in np.frombuffer(chunks, "<i4").tolist())
    if scores is None:
        return Ranking(query_id, ids)
    # the shortest digits of the 32-bit number, not those of its 64-bit conversion
    return Ranking(query_id, ids, tuple(float(str(each)) for each in np.frombuffer(scores, "<f4")))
