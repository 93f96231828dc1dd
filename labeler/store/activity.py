"""Activity of graders: grades, notes and progress by person, and every person's own grades.

Retired queries, undone judgments and judgments written for copies of a graded chunk are left out:
the grader read that text once. Days are UTC.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from labeler.model import DECIDING_KINDS, GivenGrade, SingleGrades, count_buckets, order_buckets
from labeler.store.assignment import LONGEST_GRADE_MS
from labeler.store.columns import as_json
from labeler.store.connection import Connection
from labeler.store.copies import ChunkCopies
from labeler.store.queries import BUCKETS

# Queries in use, or those of them in ``:among``, a JSON list of ids.
CHOSEN_QUERIES = """
chosen AS MATERIALIZED (
    SELECT id FROM queries
    WHERE retired_at IS NULL
        AND (:among IS NULL OR query_id IN (SELECT value FROM json_each(:among)))
)
"""
# Every grade and "can't tell" of a person that was not undone, including those changed since.
GIVEN_JUDGMENTS = """
given AS MATERIALIZED (
    SELECT j.id, j.query, j.chunk, j.grader, j.kind, j.source, j.elapsed_ms, j.created_at
    FROM standing_judgments AS j
    WHERE j.lane = 'grade' AND j.kind IN ('grade', 'cannot_tell')
        AND coalesce(j.source, '') <> 'twin'
        AND query IN (SELECT id FROM chosen)
)
"""
GRADES_BY_GRADER = """
SELECT g.name, count(*) FROM current_judgments AS j JOIN graders AS g ON g.id = j.grader
WHERE j.kind = 'grade' AND coalesce(j.source, '') <> 'twin' GROUP BY g.name ORDER BY g.name
"""
GRADER_ACTIVITY = f"""
WITH {CHOSEN_QUERIES}, {GIVEN_JUDGMENTS},
stands AS (
    SELECT grader, sum(kind = 'grade') AS grades, sum(kind = 'cannot_tell') AS cannot_tell
    FROM current_judgments
    WHERE kind IN ('grade', 'cannot_tell') AND coalesce(source, '') <> 'twin'
        AND query IN (SELECT id FROM chosen)
    GROUP BY grader
),
found AS (
    SELECT grader, count(*) AS found FROM (
        SELECT DISTINCT grader, query, chunk FROM given WHERE kind = 'grade' AND source = 'search'
    ) AS g
    WHERE EXISTS (
        SELECT 1 FROM current_judgments AS j
        WHERE j.query = g.query AND j.chunk = g.chunk AND +j.grader = g.grader AND j.kind = 'grade'
    )
    GROUP BY grader
),
paced AS (
    SELECT
        grader, elapsed_ms,
        row_number() OVER (PARTITION BY grader ORDER BY elapsed_ms) AS place,
        count(*) OVER (PARTITION BY grader) AS n
    FROM given
    WHERE kind = 'grade' AND elapsed_ms BETWEEN 0 AND :longest
),
pace AS (
    SELECT grader, avg(CAST(elapsed_ms AS DOUBLE PRECISION)) / 1000 AS seconds FROM paced
    WHERE place IN ((n + 1) / 2, (n + 2) / 2)
    GROUP BY grader
),
said AS (
    SELECT grader, count(*) AS remarks FROM current_remarks
    WHERE query IN (SELECT id FROM chosen)
    GROUP BY grader
),
days AS (
    SELECT grader, min(substr(created_at, 1, 10)) AS first, max(substr(created_at, 1, 10)) AS last
    FROM given
    GROUP BY grader
)
SELECT
    g.name, g.role, coalesce(grades, 0), coalesce(cannot_tell, 0), coalesce(remarks, 0),
    coalesce(found, 0), seconds, first, last
FROM graders AS g
LEFT JOIN stands ON stands.grader = g.id
LEFT JOIN found ON found.grader = g.id
LEFT JOIN pace ON pace.grader = g.id
LEFT JOIN said ON said.grader = g.id
LEFT JOIN days ON days.grader = g.id
ORDER BY coalesce(grades, 0) + coalesce(cannot_tell, 0) DESC, g.name
"""
GRADES_BY_DAY = f"""
WITH {CHOSEN_QUERIES}, {GIVEN_JUDGMENTS}
SELECT substr(given.created_at, 1, 10) AS day, g.name, count(*)
FROM given JOIN graders AS g ON g.id = given.grader
WHERE given.kind = 'grade'
GROUP BY 1, 2 ORDER BY 1 DESC, 3 DESC, 2
"""
# A repeat right after a repeat corrects that grade: the chunk was not shown again. Where the text
# has changed in between, the chunk is no repeat.
REPEATED_GRADES = """
SELECT g.name, earlier.grade, j.grade, q.query_id
FROM standing_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN graders AS g ON g.id = j.grader
JOIN judgments AS earlier ON earlier.id = (
    SELECT max(older.id) FROM standing_judgments AS older
    WHERE older.query = j.query AND older.chunk = j.chunk AND +older.grader = j.grader
        AND older.kind = 'grade' AND older.id < j.id
)
WHERE {whose} AND j.source = 'repeat' AND j.kind = 'grade' AND q.retired_at IS NULL
    AND coalesce(earlier.source, '') <> 'repeat'
    AND coalesce(earlier.text_hash, '') = coalesce(j.text_hash, '')
ORDER BY j.id
"""
CANNOT_TELL_PAIRS = """
SELECT
    q.query_id, q.text, c.chunk_id, c.title, g.name, nullif(trim(j.reason), ''), j.note,
    j.created_at
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
JOIN graders AS g ON g.id = j.grader
WHERE j.kind = 'cannot_tell' AND coalesce(j.source, '') <> 'twin' AND q.retired_at IS NULL
ORDER BY j.created_at DESC, j.id DESC
"""
# A repeat is graded without seeing the earlier note, so that note holds until another is written.
GRADER_NOTES = """
SELECT
    q.query_id, q.text, c.chunk_id, c.title,
    coalesce(g.name, (SELECT group_concat(value, ', ') FROM json_each(j.graders))),
    j.kind, j.grade, j.note, j.created_at
FROM standing_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS g ON g.id = j.grader
WHERE j.note <> '' AND j.kind NOT IN ('withdraw', 'propose', 'carry') AND q.retired_at IS NULL
    AND coalesce(j.source, '') <> 'twin'
    AND NOT EXISTS (
        SELECT 1 FROM standing_judgments AS newer
        WHERE newer.query = j.query AND newer.chunk = j.chunk
            AND coalesce(newer.grader, 0) = coalesce(j.grader, 0)
            AND newer.lane = j.lane AND newer.id > j.id
            AND (coalesce(newer.source, '') <> 'repeat' OR newer.note <> '')
    )
UNION ALL
SELECT q.query_id, q.text, NULL, NULL, g.name, r.kind, NULL, r.note, r.created_at
FROM current_remarks AS r
JOIN queries AS q ON q.id = r.query
JOIN graders AS g ON g.id = r.grader
WHERE r.note <> '' AND q.retired_at IS NULL
ORDER BY 9 DESC
"""
PAIR_STATES = ("open", "stale", "cannot_tell", "graded")  # the least advanced first
# A grade from a file may have no text hash: it is taken to be for the present text.
GIVEN_GRADES = """
SELECT
    q.query_id, c.chunk_id, coalesce(j.text_hash, c.text_hash), g.name, j.grade, j.blind,
    j.created_at, j.kind = 'adjudicate', coalesce(c.title, '')
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
JOIN graders AS g ON g.id = j.grader
WHERE j.kind IN ('grade', 'adjudicate') AND q.retired_at IS NULL
ORDER BY q.id, j.id
"""
GRADES_OF_PAIR = """
SELECT g.name, j.graders, j.kind, j.grade
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS g ON g.id = j.grader
WHERE j.kind IN ('grade', 'adjudicate', 'import') AND q.query_id = ? AND c.chunk_id = ?
ORDER BY j.id
"""
GRADERS_WITH_GRADES = """
SELECT name FROM graders
WHERE EXISTS (SELECT 1 FROM judgments AS j WHERE j.grader = graders.id AND j.kind = 'grade')
ORDER BY name
"""
SINGLE_GRADES = """
SELECT
    j.query, j.chunk, coalesce(j.grader, -1), j.kind, j.grade, j.blind,
    coalesce(j.text_hash <> coalesce(c.text_hash, ''), false)
FROM current_judgments AS j JOIN chunks AS c ON c.id = j.chunk
WHERE j.kind IN ('grade', 'adjudicate', 'import') {among}
ORDER BY j.query, j.chunk, j.id
"""
JUDGED_PAIRS = "SELECT query, chunk FROM judgments WHERE id > ? ORDER BY id"


@dataclass(frozen=True, slots=True)
class GraderActivity:
    """What a grader has done; ``seconds`` is the median time per grade, None where unknown.

    ``grades`` and ``cannot_tell`` count each pair once, by its current judgment. ``remarks`` counts
    remarks on whole queries, ``found`` the graded chunks that the grader found by searching.
    """

    grader: str
    role: str
    grades: int
    cannot_tell: int
    remarks: int
    found: int
    seconds: float | None
    first: str | None
    last: str | None


@dataclass(frozen=True, slots=True)
class DayActivity:
    """How many grades a grader gave on a day, the changed ones included."""

    day: str
    grader: str
    grades: int


@dataclass(frozen=True, slots=True)
class CannotTell:
    """A chunk somebody could not grade, and why; ``reason`` is None where none was given."""

    query_id: str
    query: str
    chunk_id: str
    title: str | None
    grader: str
    reason: str | None
    note: str | None
    created_at: str


@dataclass(frozen=True, slots=True)
class GraderNote:
    """A note on a judgment or, where ``chunk_id`` is None, on a whole query.

    ``grader`` holds several names for an imported grade of several graders.
    """

    query_id: str
    query: str
    chunk_id: str | None
    title: str | None
    grader: str
    kind: str
    grade: int | None
    note: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the pool of a bucket's queries is graded, in pairs; None is "in no bucket".

    ``stale`` pairs have a grade for an earlier text and are offered again. ``cannot_tell`` pairs
    have no grade, and somebody could not tell. A ``finished`` query has no open or stale pair.
    """

    bucket: str | None
    queries: int
    finished: int
    pool: int
    graded: int
    stale: int
    cannot_tell: int

    @property
    def open(self) -> int:
        """Pairs still to be graded: nobody has graded them, or their grades are tied."""
        return self.pool - self.graded - self.stale - self.cannot_tell

    @property
    def share(self) -> float:
        """The share of the pool that is graded; 0 where the pool is empty."""
        return self.graded / self.pool if self.pool else 0.0


class Activity:
    """Reads what graders have done."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection
        self._copies = ChunkCopies(connection)

    def work(self, among: Collection[str] | None = None) -> list[GraderActivity]:
        """Return the work of every grader, the most active first; ``among`` limits the queries."""
        rows = self._db.rows(
            GRADER_ACTIVITY, {"longest": LONGEST_GRADE_MS, "among": _query_list(among)}
        )
        return [GraderActivity(*row) for row in rows]

    def work_by_day(self, among: Collection[str] | None = None) -> list[DayActivity]:
        """Count the grades of each day, the newest day first; ``among`` limits the queries."""
        return [
            DayActivity(*row) for row in self._db.rows(GRADES_BY_DAY, {"among": _query_list(among)})
        ]

    def repeated_grades(self, among: Collection[str] | None = None) -> list[tuple[str, int, int]]:
        """Return the grades of chunks shown again: grader, earlier grade, later grade.

        ``among`` limits the queries.
        """
        return [
            (grader, earlier, later)
            for grader, earlier, later, query_id in self._db.rows(
                REPEATED_GRADES.format(whose="true")
            )
            if among is None or query_id in among
        ]

    def self_repeats(self, grader: str) -> list[tuple[int, int]]:
        """Return one grader's grades of chunks shown again: earlier grade, later grade."""
        whose = "j.grader = (SELECT id FROM graders WHERE name = ?)"
        return [
            (earlier, later)
            for _, earlier, later, _ in self._db.rows(REPEATED_GRADES.format(whose=whose), [grader])
        ]

    def cannot_tells(self) -> list[CannotTell]:
        """Return the pairs that graders could not tell and have not graded since, newest first."""
        return [CannotTell(*row) for row in self._db.rows(CANNOT_TELL_PAIRS)]

    def notes(self) -> list[GraderNote]:
        """Return every note that still holds, of judgments and of queries, the newest first."""
        found = [GraderNote(*row) for row in self._db.rows(GRADER_NOTES)]
        return [note for note in found if note.note.strip()]

    def progress(
        self, pool: Mapping[str, Iterable[int]], facet: str | None = None
    ) -> tuple[list[Progress], Progress]:
        """Return the progress of a ``pool`` in each bucket of a facet, and in all.

        Queries in no bucket come last. Copies of a text count as one pair, in the state of the
        least advanced copy.
        """
        with self._db.reading():
            copies = self._copies.in_pool(pool)
            stale = self._golden_pairs()
            unsure = self._cannot_tell_pairs()
            bucket_of = dict(
                self._db.rows(
                    f"SELECT query_id, bucket FROM ({BUCKETS}) WHERE facet = ? ORDER BY id", [facet]
                )
            )
        counts: dict[str | None, Counter[str]] = defaultdict(Counter)
        for query_id, chunks in pool.items():
            states = Counter(
                text_states(
                    {
                        chunk: pair_state(stale.get((query_id, chunk)), (query_id, chunk) in unsure)
                        for chunk in chunks
                    },
                    copies.get(query_id, {}),
                )
            )
            asked = states["open"] + states["stale"]
            states.update(queries=1, finished=not asked, pool=states.total())
            counts[bucket_of.get(query_id)].update(states)
        order = order_buckets(count_buckets(bucket_of.values()))
        buckets = [bucket for bucket in (*order, None) if bucket in counts]
        whole = sum(counts.values(), Counter[str]())
        return [
            progress_from_counts(bucket, counts[bucket]) for bucket in buckets
        ], progress_from_counts(None, whole)

    def _golden_pairs(self) -> dict[tuple[str, int], bool]:
        """Return the pairs that have a golden grade, and whether it is stale."""
        return {
            (query_id, chunk): bool(stale)
            for query_id, chunk, stale in self._db.rows(
                "SELECT q.query_id, g.chunk, g.stale FROM golden AS g "
                "JOIN queries AS q ON q.id = g.query"
            )
        }

    def _cannot_tell_pairs(self) -> set[tuple[str, int]]:
        return {
            (query_id, chunk)
            for query_id, chunk in self._db.rows(
                "SELECT q.query_id, j.chunk FROM current_judgments AS j "
                "JOIN queries AS q ON q.id = j.query WHERE j.kind = 'cannot_tell'"
            )
        }

    def grades_by_grader(self) -> dict[str, int]:
        """Count the current grades of each person; copies of a text count once."""
        return dict(self._db.rows(GRADES_BY_GRADER))

    def names_of_graders(self) -> list[str]:
        """Return the names of all who have ever given a grade, sorted."""
        return [name for (name,) in self._db.rows(GRADERS_WITH_GRADES)]

    def who_graded(self, query_id: str, chunk_id: str) -> list[tuple[str, str, int]]:
        """Return who graded a pair, the kind of their judgment and the grade, the newest last.

        The name is empty for an imported grade without graders.
        """
        return [
            (name or ", ".join(json.loads(graders or "[]")), kind, grade)
            for name, graders, kind, grade in self._db.rows(GRADES_OF_PAIR, [query_id, chunk_id])
        ]

    def given_grades(self) -> list[GivenGrade]:
        """Return every current grade and adjudication, query by query, the newest last.

        Retired queries and imported grades are left out. Of a person's grades of copies of a text
        only the newest is returned, under the id of the first of these chunks.
        """
        found: dict[tuple[object, ...], GivenGrade] = {}
        firsts: dict[tuple[object, ...], str] = {}
        for query, chunk, wording, grader, grade, blind, at, overrules, title in self._db.rows(
            GIVEN_GRADES
        ):
            first = chunk
            if wording is not None:
                first = firsts.setdefault((query, wording, title), chunk)
            said = (query, first, wording, grader, grade, bool(blind), at, bool(overrules))
            found[query, first, wording, grader, overrules] = GivenGrade(*said)
        return list(found.values())

    def single_grades(self, known: SingleGrades | None = None) -> SingleGrades:
        """Return every judgment that can decide a golden grade, without those of retired queries.

        With ``known``, of the same data revision, only the pairs judged since are read.
        """
        with self._db.reading():
            live = "SELECT id FROM queries WHERE retired_at IS NULL ORDER BY id"
            queries = np.array([number for (number,) in self._db.rows(live)], dtype=np.int64)
            if known is None:
                return self._singles(queries, self._db.rows(SINGLE_GRADES.format(among="")))
            among = f"AND (j.query, j.chunk) IN ({JUDGED_PAIRS})"
            rows = self._db.rows(SINGLE_GRADES.format(among=among), [known.revision])
            judged = np.array(
                self._db.rows(JUDGED_PAIRS, [known.revision]), dtype=np.int64
            ).reshape(-1, 2)
            pairs, _ = _pairs_of_queries(queries, judged)
            return known.updated_with(self._singles(queries, rows), pairs)

    def _singles(
        self, queries: npt.NDArray[np.int64], rows: Sequence[tuple[Any, ...]]
    ) -> SingleGrades:
        kinds = {kind: place for place, kind in enumerate(DECIDING_KINDS)}
        coded = [(*row[:3], kinds[row[3]], *row[4:]) for row in rows]
        table = np.array(coded, dtype=np.int64).reshape(-1, 7)
        pairs, there = _pairs_of_queries(queries, table[:, :2])
        revision = int(self._db.value("SELECT coalesce(max(id), 0) FROM judgments"))
        names = dict(self._db.rows("SELECT id, name FROM graders"))
        table = np.column_stack([pairs, table[there, 2:]])
        return SingleGrades.of(revision, names, table)


def _query_list(among: Collection[str] | None) -> str | None:
    return None if among is None else as_json(sorted(among))


def progress_from_counts(bucket: str | None, counts: Mapping[str, int]) -> Progress:
    """Return the counts of a bucket's queries and pairs as a value."""
    names = ("queries", "finished", "pool", "graded", "stale", "cannot_tell")
    return Progress(bucket, **{name: counts.get(name, 0) for name in names})


def text_states(states: Mapping[int, str], copies: Mapping[int, int]) -> list[str]:
    """Return the states of a query's chunks; copies share the least advanced of theirs.

    >>> text_states({1: "graded", 2: "open", 3: "graded"}, {2: 1})
    ['open', 'graded']
    """
    if not copies:
        return list(states.values())
    found: dict[int, str] = {}
    for chunk, state in states.items():
        first = copies.get(chunk, chunk)
        found[first] = min(found.get(first, state), state, key=PAIR_STATES.index)
    return list(found.values())


def pair_state(stale: bool | None, unsure: bool) -> str:
    """Return the state of a pair; ``stale`` is None where it has no golden grade."""
    if stale is None:
        return "cannot_tell" if unsure else "open"
    return "stale" if stale else "graded"


def _pairs_of_queries(
    queries: npt.NDArray[np.int64], table: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return pair numbers of the rows (n, 2) whose query is in ``queries``, and their mask (n,)."""
    there = np.isin(table[:, 0], queries)
    query, chunk = table[there].T
    return np.searchsorted(queries, query) << 32 | chunk, there
