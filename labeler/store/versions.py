"""Versions of the golden set: frozen ones, and its state just before a given moment.

A frozen version is a name, a hash and bytes that never change. The state at another moment is
computed from the append-only log: later events are left out, and the schema's own views decide
which grade counts.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput, NotFound
from labeler.model import (
    Collection,
    Evidence,
    GoldenGrade,
    GoldenState,
    GoldenVersion,
    Passage,
    Query,
    check_name,
    escape_controls,
)
from labeler.store.audit import Audit
from labeler.store.collection import MARKED_PASSAGES, CollectionReader, golden_marks
from labeler.store.columns import as_json, moment
from labeler.store.connection import Connection
from labeler.store.golden_set import GoldenSet
from labeler.store.settings import StoredSettings

TEXT_HASHES = "SELECT chunk_id, text_hash FROM chunks WHERE text_hash IS NOT NULL"
VERSION_COLUMNS = "name, hash, frozen_at, frozen_by, note, revision, queries, grades"
LIVE_NAME = "live"
LEAST_HASH_DIGITS = 8  # of a hash that names a version
MOST_NAMED = 20
GoldenRows: TypeAlias = Sequence[tuple[int, int, int, int]]
MarksByPair: TypeAlias = dict[tuple[str, int], tuple[Passage, ...]]
GOLDEN_VIEWS = ("standing_judgments", "current_judgments", "golden")
# The log without later events, and the settings of that time.
LOG_UNTIL = "SELECT * FROM {schema}.judgments WHERE created_at < :until"
SETTINGS_UNTIL = """
SELECT 'settings' AS key, :settings AS value
"""
# The newest retirement or restoration before the moment says whether a query was in use. Without
# one it was, unless it was retired before.
QUERIES_UNTIL = """
SELECT q.id, q.query_id
FROM queries AS q
LEFT JOIN (
    SELECT subject, kind FROM audit WHERE id IN (
        SELECT max(id) FROM audit
        WHERE kind IN ('retire', 'restore') AND at < :until GROUP BY subject
    )
) AS turn ON turn.subject = q.query_id
WHERE coalesce(turn.kind = 'restore', q.retired_at IS NULL OR q.retired_at >= :until)
ORDER BY q.id
"""
# The first change after the moment gives the value that it replaced.
SETTING_BEFORE = """
SELECT json_extract(detail, :path) FROM audit
WHERE kind = 'settings' AND at >= :until AND json_extract(detail, :path) IS NOT NULL
ORDER BY id LIMIT 1
"""
GOLDEN_ROWS = "SELECT query, chunk, grade, kind = 'carry' FROM golden"


class Versions:
    """Stores and reads frozen versions, and reads the state at another moment."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._audit = Audit(connection)
        self._settings = StoredSettings(connection)
        self._golden_set = GoldenSet(connection)
        self._collection = CollectionReader(connection)

    def all(self) -> list[GoldenVersion]:
        """Return the frozen versions, the oldest first."""
        return [
            GoldenVersion(*row)
            for row in self._db.rows(f"SELECT {VERSION_COLUMNS} FROM versions ORDER BY id")
        ]

    def get(self, asked: str) -> GoldenVersion:
        """Return the version with this name, or whose hash begins with these eight or more digits.

        Raises `NotFound` where there is none, `BadInput` where several hashes begin so.
        """
        there = self.all()
        named = [each for each in there if each.name == asked]
        digits = asked.lower() if len(asked) >= LEAST_HASH_DIGITS else asked
        hashed = [each for each in there if len(digits) >= LEAST_HASH_DIGITS] if not named else []
        found = named or [each for each in hashed if each.hash.startswith(digits)]
        if len({each.hash for each in found}) > 1:
            names = ", ".join(repr(each.name) for each in found)
            raise BadInput(f"the hashes of {names} begin with {asked!r}; name one of them")
        if found:
            return found[0]
        names = ", ".join(escape_controls(each.name) for each in there[-MOST_NAMED:])
        raise NotFound(
            f"no golden version is called {asked!r} and no hash begins so; there are: "
            f"{names or 'none'}; 'labeler freeze NAME' makes one"
        )

    def content(self, version: GoldenVersion) -> bytes:
        """Return the bytes that were frozen."""
        [(content,)] = self._db.rows("SELECT content FROM versions WHERE name = ?", [version.name])
        return unpack_version(version, content)

    def add(self, version: GoldenVersion, content: bytes) -> bool:
        """Store a version; return False where this very one has its name already.

        Raises `BadInput` where another has the name, or the name is invalid, such as "live".
        """
        with self._db.transaction():
            return self.put(version, content)

    def put(self, version: GoldenVersion, content: bytes) -> bool:
        """Store a version as `add` does, in the transaction of the caller."""
        check_version_name(version.name)
        for there in self.all():
            if there.name == version.name:
                if there.hash == version.hash:
                    return False
                raise BadInput(
                    f"there is a version named {version.name!r} already, frozen {there.at[:10]} "
                    f"with hash {there.hash[:8]}; it never changes: choose another name"
                )
        row = [getattr(version, name) for name in version.__slots__]
        self._db.execute(
            f"INSERT INTO versions ({VERSION_COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [*row, zlib.compress(content)],
        )
        self._audit.put("freeze", version.name, {"golden": version.hash, "note": version.note})
        return True

    def collection_of(
        self,
        state: GoldenState,
        queries: Sequence[Query],
        grades: Iterable[GoldenGrade],
    ) -> Collection:
        """Return the collection that a version's measures are computed from.

        Golden grades, queries and buckets are the version's. Runs, pools and leaked queries are the
        present ones. No grade is marked stale.
        """
        with self._db.reading():
            place = {query.query_id: at for at, query in enumerate(queries)}
            chunk_ids = self._collection.chunk_ids()
            number = {chunk_id: at for at, chunk_id in enumerate(chunk_ids) if chunk_id}
            rows, given = [], list(grades)
            for grade in given:
                if grade.chunk_id not in number:  # the version was frozen in another golden set
                    number[grade.chunk_id] = len(chunk_ids)
                    chunk_ids.append(grade.chunk_id)
                pair = (place[grade.query_id], number[grade.chunk_id])
                rows.append((*pair, grade.grade, bool(grade.carried_from)))
            table = np.array(sorted(rows), dtype=np.int32).reshape(-1, 4).T
            return self._collection.assemble(
                place,
                chunk_ids,
                table,
                facets=facets_of_queries(queries),
                marks=self._marks_of(given, number),
                revision=state.revision,
                state=state,
            )

    def _marks_of(
        self, grades: Iterable[GoldenGrade], number: Mapping[str, int]
    ) -> dict[tuple[str, int], tuple[Passage, ...]]:
        """Return the passages of frozen golden grades, by query id and present chunk number."""
        marked: list[tuple[GoldenGrade, Evidence]] = [
            (each, each.evidence)
            for each in grades
            if each.evidence is not None and not each.carried_from
        ]
        wordings = dict(self._db.rows(TEXT_HASHES)) if marked else {}
        return {
            (each.query_id, number[each.chunk_id]): evidence.passages
            for each, evidence in marked
            if wordings.get(each.chunk_id) == evidence.text_hash
        }

    def collection_at(self, when: datetime, runs: Names[str]) -> Collection:
        """Return the collection that measures of some runs are computed from, just before ``when``.

        Golden grades follow the rule of that time, and queries are those in use then. Buckets are
        the present ones, as their changes are not logged; so are pools, runs and texts. Passages
        marked in an earlier text are left out, and no grade is marked stale. Raises `BadInput` for
        a time without a zone.
        """
        if when.tzinfo is None:
            raise BadInput(f"{when.isoformat()}: a moment of the past needs a time zone")
        until = moment(when)
        with self._db.reading():
            numbers = self._db.rows(QUERIES_UNTIL, {"until": until})
            place = {query_id: at for at, (_, query_id) in enumerate(numbers)}
            golden, marks = self._golden_at(until, self.rule_at(when))
            positions = {number: place[query_id] for number, query_id in numbers}
            table = _by_position(golden, positions)
            return self._collection.assemble(
                place,
                self._collection.chunk_ids(),
                table,
                facets=self._collection.facets(place),
                marks={pair: each for pair, each in marks.items() if pair[0] in place},
                revision=self.revision_at(when),
                runs=runs,
            )

    def _golden_at(self, until: str, rule: str) -> tuple[GoldenRows, MarksByPair]:
        """Return rows of query, chunk, grade and whether transferred, and the marked passages."""
        settings = {"golden_rule": rule, "transferred": self._setting_at("transferred", until)}
        asked = {"until": until, "settings": as_json(settings)}
        over = self._over(LOG_UNTIL.format(schema=self._db.engine.schema_name))
        golden = self._db.rows(over + GOLDEN_ROWS, asked)
        grades = {(query, chunk): grade for query, chunk, grade, _ in golden}
        return golden, golden_marks(self._db.rows(over + MARKED_PASSAGES, asked), grades)

    def _setting_at(self, name: str, until: str) -> str:
        before = self._db.value(SETTING_BEFORE, {"until": until, "path": f"$.{name}[0]"})
        return str(before or getattr(self._settings.read(), name))

    def _over(self, log: str) -> str:
        """Return a WITH clause that computes the golden views over a log with its settings."""
        made = self._db.engine.views()
        parts = {
            "judgments": log,
            "settings": SETTINGS_UNTIL,
            **{name: made[name] for name in GOLDEN_VIEWS},
        }
        inlined = (f"{name} AS NOT MATERIALIZED ({sql})" for name, sql in parts.items())
        return f"WITH {', '.join(inlined)}\n"

    def rule_at(self, when: datetime) -> str:
        """Return the golden rule just before ``when``, which has a time zone."""
        return self._setting_at("golden_rule", moment(when))

    def first_judgment_at(self) -> str | None:
        """Return the time of the oldest event of the log, None before the first."""
        found: str | None = self._db.value("SELECT min(created_at) FROM judgments")
        return found

    def revision_at(self, when: datetime) -> int:
        """Return the id of the newest judgment just before ``when``, 0 before the first."""
        newest = "SELECT coalesce(max(id), 0) FROM judgments WHERE created_at < ?"
        return int(self._db.value(newest, [moment(when)]))


def facets_of_queries(queries: Sequence[Query]) -> dict[str, tuple[str | None, ...]]:
    """Return the bucket of every query by facet, including task and split."""
    given: list[Mapping[str, str]] = [
        {
            **query.buckets,
            **({} if query.task is None else {"task": query.task}),
            **({} if query.split is None else {"split": query.split}),
        }
        for query in queries
    ]
    names = sorted({facet for buckets in given for facet in buckets}, key=str.encode)
    return {facet: tuple(buckets.get(facet) for buckets in given) for facet in names}


def check_version_name(name: str) -> str:
    """Return ``name`` if it can name a version, else raise `BadInput`."""
    if not name.strip() or name.strip() != name or name.splitlines() != [name]:
        raise BadInput(f"a version needs a name on one line, not {name!r}")
    if name == LIVE_NAME:
        raise BadInput(f"{LIVE_NAME!r} means the current golden set; choose another name")
    return check_name(name, "version")


def read_versions(db: sqlite3.Connection) -> list[tuple[GoldenVersion, bytes]]:
    """Return the frozen versions of a read-only file, each with its compressed bytes."""
    rows = db.execute(f"SELECT {VERSION_COLUMNS}, content FROM versions ORDER BY id")
    return [(GoldenVersion(*row), content) for *row, content in rows]


def unpack_version(version: GoldenVersion, kept: bytes) -> bytes:
    """Return the frozen bytes, decompressed; raises `BadInput` where they are damaged."""
    try:
        return zlib.decompress(kept)
    except zlib.error as error:
        raise BadInput(
            f"the frozen version {version.name!r} is damaged: {error}; a backup, or a file it "
            "was exported to, may have it whole"
        ) from error


def _by_position(golden: GoldenRows, place: dict[int, int]) -> npt.NDArray[np.int32]:
    """Return int32 (4, n): query position, chunk, grade, whether it was transferred, sorted."""
    rows = [(place[query], *rest) for query, *rest in golden if query in place]
    return np.array(sorted(rows), dtype=np.int32).reshape(-1, 4).T
