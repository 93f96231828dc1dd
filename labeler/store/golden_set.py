"""The golden set as a whole: its name, its counts, its newest revisions and its grades."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from labeler.model import GoldenGrade, Query, Settings
from labeler.store.columns import sources_from_column
from labeler.store.connection import Connection
from labeler.store.evidence import EvidenceReader
from labeler.store.queries import Queries
from labeler.store.settings import StoredSettings

NEWEST_JUDGMENT = "SELECT coalesce(max(id), 0) FROM judgments"
GOLDEN_GRADES = """
SELECT g.query, g.chunk, g.grade, g.judgment, q.query_id, c.chunk_id, j.graders, j.note, k.name,
    j.carried_from
FROM golden AS g JOIN judgments AS j ON j.id = g.judgment
JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
LEFT JOIN chunkings AS k ON k.id = c.chunking
WHERE q.retired_at IS NULL ORDER BY q.id, c.chunk_id
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """Counts of everything; queries without the retired ones.

    ``graders`` are those who have judged, not those who only entered their name.
    """

    queries: int
    retired: int
    chunks: int
    chunks_without_text: int
    runs: int
    golden: int
    stale: int
    judgments: int
    graders: int


class GoldenSet:
    """Reads the name, the counts, the newest revisions and the grades of the golden set."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._settings = StoredSettings(connection)
        self._queries = Queries(connection)
        self._evidence = EvidenceReader(connection)

    def name(self) -> str:
        """Return the golden set's name: the setting, otherwise that of its file or database."""
        place = self._db.path
        usual = place.stem if isinstance(place, Path) else place.name
        return self._settings.read().name or usual.encode(errors="replace").decode()

    def uuid(self) -> str:
        """Return the uuid that the golden set was created with."""
        return str(json.loads(self._settings.text("golden_set")))

    def signing_key(self) -> str:
        """Return the secret that signs what browsers send back about this golden set."""
        return str(json.loads(self._settings.text("signing_key")))

    def contents(self) -> Contents:
        """Count queries, chunks, runs and everything else."""
        row = self._db.rows(
            "SELECT (SELECT count(*) FROM queries WHERE retired_at IS NULL), "
            "(SELECT count(*) FROM queries WHERE retired_at IS NOT NULL), "
            "(SELECT count(*) FROM chunks), (SELECT count(*) FROM chunks WHERE text IS NULL), "
            "(SELECT count(*) FROM runs), g.n, g.stale, (SELECT count(*) FROM judgments), "
            "(SELECT count(*) FROM graders WHERE EXISTS "
            "(SELECT 1 FROM judgments WHERE grader = graders.id)) "
            "FROM (SELECT count(*) AS n, coalesce(sum(stale), 0) AS stale FROM golden "
            "JOIN queries ON queries.id = golden.query WHERE retired_at IS NULL) AS g"
        )[0]
        return Contents(*row)

    def newest(self) -> tuple[int, int, int]:
        """Return the newest judgment, the newest remark and the data revision.

        One of them rises with every change that a page could show. None of them ever falls.
        """
        [(judgment, remark, data)] = self._db.rows(
            "SELECT (SELECT coalesce(max(id), 0) FROM judgments), "
            "(SELECT coalesce(max(id), 0) FROM remarks), "
            "(SELECT CAST(value AS INTEGER) FROM settings WHERE key = 'data_revision')"
        )
        return judgment, remark, data

    def data_revision(self) -> int:
        """Return a number that rises with every write other than a judgment."""
        return int(self._settings.text("data_revision"))

    def commits_of_others(self) -> int:
        """Return a number that changes when another connection writes; reading it costs little.

        Compare it only with a number that the same connection returned before.
        """
        return self._db.engine.commits(self._db.handle)

    def read(self) -> tuple[list[Query], list[GoldenGrade]]:
        """Return the golden set as exports contain it: queries as loaded, chunks by id."""
        with self._db.reading():
            return self._read()

    def _read(self) -> tuple[list[Query], list[GoldenGrade]]:
        rows = self._db.rows(GOLDEN_GRADES)
        people = self._graders_of_pairs()
        evidence = self._evidence.of_golden(lambda: {row[:2]: row[2:4] for row in rows})
        grades = [
            GoldenGrade(
                query_id,
                chunk_id,
                grade,
                tuple(json.loads(graders)) if graders else tuple(people[query, chunk]),
                note,
                evidence.get((query, chunk)),
                chunking or "",
                sources_from_column(bases) or (),
            )
            for query, chunk, grade, _, query_id, chunk_id, graders, note, chunking, bases in rows
        ]
        return self._queries.all(), grades

    def _graders_of_pairs(self) -> dict[tuple[int, int], list[str]]:
        people: dict[tuple[int, int], list[str]] = defaultdict(list)
        for query, chunk, name in self._db.rows(
            "SELECT DISTINCT j.query, j.chunk, g.name FROM current_judgments AS j "
            "JOIN graders AS g ON g.id = j.grader WHERE j.kind IN ('grade', 'adjudicate') "
            "ORDER BY g.name"
        ):
            people[query, chunk].append(name)
        return people

    def live_content(self) -> tuple[Settings, list[Query], list[GoldenGrade], int]:
        """Return settings, queries, golden grades and revision, read at one moment."""
        with self._db.reading():
            return (self._settings.read(), *self._read(), int(self._db.value(NEWEST_JUDGMENT)))
