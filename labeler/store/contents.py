"""Contents of the golden set: settings, facets, queries, chunks, runs, golden grades, evidence.

Only settings are written here. The golden evidence of a pair is the union of the
passages marked by the judgments that give its golden grade, all of one wording of the text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from labeler.model import (
    LONGEST_WORD,
    Chunk,
    Evidence,
    GoldenGrade,
    GradeEvidence,
    Judgment,
    Pair,
    Passage,
    Query,
    Settings,
    merge_passages,
    order_buckets,
    settings_from,
    settings_to_store,
)
from labeler.store.audit import Audit
from labeler.store.columns import (
    APART,
    as_json,
    chunk_from_row,
    judgment_from_row,
    passages_from_column,
    query_from_row,
    sources_from_column,
)

PairT = TypeVar("PairT", bound=Hashable)
GoldenDecision: TypeAlias = tuple[int, int]
"""A golden grade, and the number of the judgment that decides it."""

# Proposed grades are nobody's: what they rest on is no evidence. The plus signs leave SQLite no
# index but that of the judgments that have evidence, which is empty where nobody marks anything.
MARKED_JUDGMENTS = """
SELECT j.id, j.query, j.chunk, j.kind, j.grade, j.text_hash, j.evidence
FROM current_judgments AS j
WHERE j.evidence IS NOT NULL AND +j.kind IN ('grade', 'adjudicate', 'import', 'carry')
"""
GOLDEN_OF_PAIR = "SELECT grade, judgment FROM golden WHERE query = ? AND chunk = ?"
EVIDENCE_OF_GRADES = """
SELECT
    j.query, j.chunk, q.query_id, c.chunk_id, j.grade, p.name, j.graders, j.id, j.kind, j.evidence,
    j.text_hash, j.text_hash IS c.text_hash, j.carried_from
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS p ON p.id = j.grader
WHERE j.evidence IS NOT NULL AND j.kind IN ('grade', 'adjudicate', 'import', 'carry')
    AND q.retired_at IS NULL AND (:query IS NULL OR q.query_id = :query)
ORDER BY q.id, c.id, j.id
"""


class EvidenceReader(Audit):
    """What graders marked in the texts they graded."""

    def evidence(self, query_id: str | None = None) -> list[GradeEvidence]:
        """Return what every current judgment rests on that says it, of all queries or of one.

        By query, chunk and judgment, without retired queries. The golden evidence of a pair is the
        union of the passages of those that are golden, see `golden_evidence`.
        """
        with self._reading():
            rows = self._rows(EVIDENCE_OF_GRADES, {"query": query_id})
            pairs = dict.fromkeys(row[:2] for row in rows)
            golden = {pair: next(iter(self._often(GOLDEN_OF_PAIR, pair)), None) for pair in pairs}
        found = [_evidence_from_row(row, golden[row[:2]]) for row in rows]
        return [each for each in found if each.is_golden or each.kind != "carry"]

    def golden_evidence(self) -> dict[tuple[str, str], Evidence]:
        """Return the union of what golden grades rest on, by query and chunk id."""
        marked = [
            ((each.query_id, each.chunk_id), each.judgment, each.text_hash, each.passages)
            for each in self.evidence()
            if each.is_golden
        ]
        return join_evidence(marked)

    def _golden_evidence(
        self,
        grades: Callable[[], Mapping[tuple[int, int], GoldenDecision]],
        query: int | None = None,
    ) -> dict[tuple[int, int], Evidence]:
        """Return what golden grades rest on, by the numbers of their pairs, or those of a query.

        The golden ``grades`` by pair are asked for only where anything is marked.
        """
        of_one = "" if query is None else "AND j.query = ?"
        rows = self._rows(f"{MARKED_JUDGMENTS} {of_one}", [] if query is None else [query])
        golden = grades() if rows else {}
        return join_evidence(
            ((query, chunk), judgment, wording, passages_from_column(evidence))
            for judgment, query, chunk, kind, grade, wording, evidence in rows
            if _is_golden(golden.get((query, chunk)), judgment, kind, grade)
        )


def join_evidence(
    marked: Iterable[tuple[PairT, int, str, tuple[Passage, ...]]],
) -> dict[PairT, Evidence]:
    """Return one evidence for each pair of what judgments, by number, say that it rests on.

    Places in different wordings of a text cannot be put together: the newest one's counts.
    """
    found: dict[PairT, dict[str, list[Passage]]] = defaultdict(dict)
    for pair, _, wording, passages in sorted(marked, key=lambda each: each[1]):
        wordings = found[pair]
        wordings[wording] = [*wordings.pop(wording, []), *passages]
    newest = {pair: next(reversed(wordings.items())) for pair, wordings in found.items()}
    return {
        pair: Evidence(wording, merge_passages(each)) for pair, (wording, each) in newest.items()
    }


def _evidence_from_row(row: tuple[Any, ...], golden: GoldenDecision | None) -> GradeEvidence:
    query_id, chunk_id, grade, name, graders, judgment, kind, evidence, wording, *rest = row[2:]
    is_found, bases = rest
    who = tuple(json.loads(graders)) if graders else (name,)
    if bases:
        names = (each for base in sources_from_column(bases) or () for each in base.who)
        who = tuple(dict.fromkeys(names))
    said = (query_id, chunk_id, grade, who, judgment, kind, passages_from_column(evidence), wording)
    return GradeEvidence(*said, _is_golden(golden, judgment, kind, grade), bool(is_found))


def _is_golden(golden: GoldenDecision | None, judgment: int, kind: str, grade: int) -> bool:
    """Say whether a judgment says what counts of its pair; a transferred grade only by itself."""
    if golden is None:
        return False
    return golden[1] == judgment if kind == "carry" else golden[0] == grade


QUERY_COLUMNS = (
    "q.query_id, q.text, q.task, q.reference, q.guideline, q.keywords, q.metadata, q.split"
)
RETIRED_QUERIES = "SELECT query_id FROM queries WHERE retired_at IS NOT NULL ORDER BY id"
IN_USE = "WHERE q.retired_at IS NULL"
BUCKETS = """
SELECT q.id AS id, q.query_id AS query_id, 'task' AS facet, q.task AS bucket
FROM queries AS q WHERE q.task IS NOT NULL AND q.retired_at IS NULL
UNION ALL
SELECT q.id, q.query_id, 'split', q.split
FROM queries AS q WHERE q.split IS NOT NULL AND q.retired_at IS NULL
UNION ALL
SELECT q.id, q.query_id, b.facet, b.bucket
FROM query_buckets AS b JOIN queries AS q ON q.id = b.query
WHERE q.retired_at IS NULL AND (b.facet <> 'split' OR q.split IS NULL)
"""
CHUNK_COLUMNS = (
    'c.chunk_id, c.text, c.title, c.document_id, c.position, c.metadata, c.start, c."end"'
)
GOLDEN_GRADES = """
SELECT g.query, g.chunk, g.grade, g.judgment, q.query_id, c.chunk_id, j.graders, j.note, k.name,
    j.carried_from
FROM golden AS g JOIN judgments AS j ON j.id = g.judgment
JOIN queries AS q ON q.id = g.query JOIN chunks AS c ON c.id = g.chunk
LEFT JOIN chunkings AS k ON k.id = c.chunking
WHERE q.retired_at IS NULL ORDER BY q.id, c.chunk_id
"""
JUDGMENT_EVENTS = """
SELECT
    j.event_id, q.query_id, c.chunk_id, g.name, j.kind, j.grade, j.graders, j.reason, j.note,
    j.blind, j.source, undone.event_id, j.elapsed_ms, j.text_hash, j.created_at, j.evidence,
    j.carried_from, j.seen_whole, j.highlighted
FROM judgments AS j JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk LEFT JOIN graders AS g ON g.id = j.grader
LEFT JOIN judgments AS undone ON undone.id = j.undoes
"""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as the list of runs shows it; ``created_at`` is None where nobody said it."""

    name: str
    system: str
    created_at: str | None
    depth: int
    queries: int


@dataclass(frozen=True, slots=True)
class Contents:
    """How much there is of everything; queries without the retired ones.

    ``graders`` are those who have judged, not those who only gave their name.
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


class ContentsReader(EvidenceReader):
    """The reading half of the store."""

    def golden_set_uuid(self) -> str:
        """Return the uuid this golden set was born with."""
        return str(json.loads(self._setting("golden_set")))

    def signing_key(self) -> str:
        """Return the secret that signs what browsers may say about this golden set."""
        return str(json.loads(self._setting("signing_key")))

    def data_revision(self) -> int:
        """Return the number that moves with every write that is not a judgment."""
        return int(self._setting("data_revision"))

    def newest(self) -> tuple[int, int, int]:
        """Return the newest judgment, the newest remark and the data revision.

        Together they move with whatever a page could show anew, and each only ever rises.
        """
        [(judgment, remark, data)] = self._rows(
            "SELECT (SELECT coalesce(max(id), 0) FROM judgments), "
            "(SELECT coalesce(max(id), 0) FROM remarks), "
            "(SELECT CAST(value AS INTEGER) FROM settings WHERE key = 'data_revision')"
        )
        return judgment, remark, data

    def commits_of_others(self) -> int:
        """Return a number that moves when another connection writes; asking costs next to nothing.

        Only to be compared with what the same connection returned before.
        """
        return self._engine.commits(self._db)

    def _setting(self, key: str) -> str:
        return str(self._value("SELECT value FROM settings WHERE key = ?", [key]))

    def settings(self) -> Settings:
        """Return the team's settings, the defaults where nothing was chosen."""
        stored = self._value("SELECT value FROM settings WHERE key = 'settings'")
        chosen = json.loads(stored) if stored else {}
        if "words" in chosen:
            # Earlier versions took words of any length.
            chosen["words"] = [
                word if len(word) <= LONGEST_WORD else word.strip()[:LONGEST_WORD]
                for word in chosen["words"]
            ]
        return settings_from(chosen)

    def golden_set_name(self) -> str:
        """Return what the golden set is called: by its setting, else by its file or database."""
        place = self.path
        usual = place.stem if isinstance(place, Path) else place.name
        return self.settings().name or usual.encode(errors="replace").decode()

    def save_settings(self, settings: Settings) -> None:
        """Keep the team's settings."""
        with self._writing():
            self._put_settings(settings)

    def save_field_map(self, field_map: str) -> bool:
        """Keep a field map among the settings; return whether another one was there."""
        with self._writing():
            settings = self.settings()
            if settings.field_map == field_map:
                return False
            self._put_settings(replace(settings, field_map=field_map))
            return True

    def _put_settings(self, settings: Settings) -> None:
        changed = self.settings().changes_to(settings)
        self._db.execute(
            "INSERT INTO settings (key, value) VALUES ('settings', ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            [as_json(settings_to_store(settings))],
        )
        if changed:
            self._note("settings", ", ".join(changed), changed)

    def contents(self) -> Contents:
        """Count everything there is."""
        row = self._rows(
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

    def facets(self) -> dict[str, list[str]]:
        """Return every facet with its buckets, of queries that are not retired."""
        counts: dict[str, dict[str, int]] = {}
        for facet, bucket, queries in self._rows(
            f"SELECT facet, bucket, count(*) FROM ({BUCKETS}) GROUP BY 1, 2 ORDER BY 1, min(id)"
        ):
            counts.setdefault(facet, {})[bucket] = queries
        return {facet: list(order_buckets(queries_in)) for facet, queries_in in counts.items()}

    def queries_in(self, facet: str, bucket: str) -> set[str]:
        """Return the queries of a bucket, without the retired ones."""
        rows = self._rows(
            f"SELECT query_id FROM ({BUCKETS}) WHERE facet = ? AND bucket = ?", [facet, bucket]
        )
        return {query_id for (query_id,) in rows}

    def found_by_hand(self, query_id: str) -> set[int]:
        """Return the chunks that graders found for a query by searching."""
        rows = self._rows(
            "SELECT DISTINCT chunk FROM current_judgments WHERE source = 'search' "
            "AND query = (SELECT id FROM queries WHERE query_id = ?)",
            [query_id],
        )
        return {chunk for (chunk,) in rows}

    def pairs_found_by_hand(self) -> set[Pair]:
        """Return what graders ever found by searching and graded, of all queries.

        It stays found by hand where somebody has graded it again since, for whatever reason.
        """
        return set(
            self._rows(
                "SELECT DISTINCT q.query_id, j.chunk FROM standing_judgments AS j "
                "JOIN queries AS q ON q.id = j.query "
                "WHERE j.source = 'search' AND j.kind = 'grade' AND q.retired_at IS NULL"
            )
        )

    def neighbours(self, chunk_id: str) -> tuple[Chunk | None, Chunk | None]:
        """Return the chunks before and after a chunk in its document and chunking, if with text."""
        both: list[Chunk | None] = []
        for beside, order in (("<", "DESC"), (">", "ASC")):
            rows = self._rows(
                f"SELECT {CHUNK_COLUMNS} FROM chunks AS c JOIN chunks AS own "
                f"ON own.document_id = c.document_id AND c.position {beside} own.position "
                "AND own.chunking IS c.chunking WHERE own.chunk_id = ? AND c.text IS NOT NULL "
                f"ORDER BY c.position {order}, c.id {order} LIMIT 1",
                [chunk_id],
            )
            both.append(chunk_from_row(rows[0]) if rows else None)
        return both[0], both[1]

    def count_queries(self) -> int:
        """Return how many queries there are, without the retired ones."""
        return int(self._value("SELECT count(*) FROM queries WHERE retired_at IS NULL"))

    def run_names(self) -> list[str]:
        """Return the names of the runs in the order they were loaded."""
        return [name for (name,) in self._rows("SELECT name FROM runs ORDER BY id")]

    def runs(self) -> list[RunSummary]:
        """List the runs in the order they were loaded."""
        return [
            RunSummary(*row)
            for row in self._rows(
                "SELECT name, system, created_at, depth, "
                "(SELECT count(*) FROM ranked_lists WHERE run = runs.id) FROM runs ORDER BY id"
            )
        ]

    def run_params(self) -> dict[str, dict[str, str]]:
        """Return the parameters of the runs that were loaded with some."""
        found = {}
        for name, params in self._rows("SELECT name, params FROM runs ORDER BY id"):
            own = {key: str(each) for key, each in json.loads(params).items() if key != APART}
            if own:
                found[name] = own
        return found

    def _query(self, query_id: str) -> Query | None:
        found = self._queries("WHERE q.query_id = ?", [query_id])
        return found[0] if found else None

    def has_query(self, query_id: str) -> bool:
        """Say whether there is a query with this id that is not retired."""
        asked = "SELECT 1 FROM queries WHERE query_id = ? AND retired_at IS NULL"
        return self._value(asked, [query_id]) is not None

    def queries(self) -> list[Query]:
        """Return all queries but the retired ones, in the order they were loaded."""
        return self._queries(IN_USE)

    def _queries(self, where: str, parameters: Sequence[Any] = ()) -> list[Query]:
        return list(self._each_query(where, parameters))

    def _each_query(self, where: str, parameters: Sequence[Any] = ()) -> Iterator[Query]:
        """Give one query after the other: all at once take much memory, and the time to tend it."""
        given = self._each(
            "SELECT q.query_id, b.facet, b.bucket FROM query_buckets AS b "
            f"JOIN queries AS q ON q.id = b.query {where} ORDER BY q.id, b.facet",
            parameters,
        )
        buckets = groupby(given, itemgetter(0))
        query_id, found = next(buckets, (None, given))
        for row in self._each(
            f"SELECT {QUERY_COLUMNS} FROM queries AS q {where} ORDER BY q.id", parameters
        ):
            own: dict[str, str] = {}
            if row[0] == query_id:
                own = {facet: bucket for _, facet, bucket in found}
                query_id, found = next(buckets, (None, given))
            yield query_from_row(row, own)

    def chunk(self, chunk_id: str) -> Chunk | None:
        """Return a chunk, or None where it is not known."""
        rows = self._rows(
            f"SELECT {CHUNK_COLUMNS} FROM chunks AS c WHERE c.chunk_id = ?", [chunk_id]
        )
        return chunk_from_row(rows[0]) if rows else None

    def chunk_number(self, chunk_id: str) -> int | None:
        """Return a chunk's internal number, or None where it is not known."""
        number: int | None = self._value("SELECT id FROM chunks WHERE chunk_id = ?", [chunk_id])
        return number

    def chunks(self) -> list[Chunk]:
        """Return every chunk that has text, in the order they were loaded."""
        return [
            chunk_from_row(row)
            for row in self._rows(
                f"SELECT {CHUNK_COLUMNS} FROM chunks AS c WHERE c.text IS NOT NULL ORDER BY c.id"
            )
        ]

    def documents_of(self, numbers: Iterable[int]) -> dict[int, str]:
        """Return the documents of chunks by number, without those whose document nobody knows."""
        return dict(
            self._rows(
                "SELECT id, document_id FROM chunks "
                "WHERE id IN (SELECT value FROM json_each(?)) AND document_id IS NOT NULL",
                [as_json(sorted(set(numbers)))],
            )
        )

    def chunks_with_text(self) -> frozenset[int]:
        """Return the numbers of all chunks that have text."""
        rows = self._rows("SELECT id FROM chunks WHERE text IS NOT NULL")
        return frozenset(number for (number,) in rows)

    def golden_set(self) -> tuple[list[Query], list[GoldenGrade]]:
        """Return the golden set as exports carry it: queries as loaded, chunks by id."""
        with self._reading():
            return self._golden_set()

    def _golden_set(self) -> tuple[list[Query], list[GoldenGrade]]:
        rows = self._rows(GOLDEN_GRADES)
        people = self._graders_of_pairs()
        evidence = self._golden_evidence(lambda: {row[:2]: row[2:4] for row in rows})
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
        return self.queries(), grades

    def _graders_of_pairs(self) -> dict[tuple[int, int], list[str]]:
        people: dict[tuple[int, int], list[str]] = defaultdict(list)
        for query, chunk, name in self._rows(
            "SELECT DISTINCT j.query, j.chunk, g.name FROM current_judgments AS j "
            "JOIN graders AS g ON g.id = j.grader WHERE j.kind IN ('grade', 'adjudicate') "
            "ORDER BY g.name"
        ):
            people[query, chunk].append(name)
        return people

    def events(self) -> list[Judgment]:
        """Return the whole log, oldest first."""
        return [judgment_from_row(row) for row in self._rows(f"{JUDGMENT_EVENTS} ORDER BY j.id")]
