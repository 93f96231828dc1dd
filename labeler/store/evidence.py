"""Evidence: the passages that graders marked in the texts they graded.

The golden evidence of a pair is the union of the passages marked in the judgments that give its
golden grade, all in one version of the text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from labeler.model import Evidence, GradeEvidence, Passage, merge_passages
from labeler.store.columns import passages_from_column, sources_from_column
from labeler.store.connection import Connection

PairT = TypeVar("PairT", bound=Hashable)
GoldenDecision: TypeAlias = tuple[int, int]
"""A golden grade, and the number of the judgment that decides it."""
# Passages of suggested grades are no evidence, as nobody gave these grades. The plus signs leave
# SQLite only the index of judgments with evidence, which is empty where nobody marks passages.
MARKED_JUDGMENTS = """
SELECT j.id, j.query, j.chunk, j.kind, j.grade, j.text_hash, j.evidence
FROM current_judgments AS j
WHERE j.evidence IS NOT NULL AND j.kind IN ('grade', 'adjudicate', 'import', 'carry')
"""
GOLDEN_OF_PAIR = "SELECT grade, judgment FROM golden WHERE query = ? AND chunk = ?"
EVIDENCE_OF_GRADES = """
SELECT
    j.query, j.chunk, q.query_id, c.chunk_id, j.grade, p.name, j.graders, j.id, j.kind, j.evidence,
    j.text_hash, coalesce(j.text_hash, '') = coalesce(c.text_hash, ''), j.carried_from
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
LEFT JOIN graders AS p ON p.id = j.grader
WHERE j.evidence IS NOT NULL AND j.kind IN ('grade', 'adjudicate', 'import', 'carry')
    AND q.retired_at IS NULL AND (:query IS NULL OR q.query_id = :query)
ORDER BY q.id, c.id, j.id
"""


class EvidenceReader:
    """Reads the passages marked for grades."""

    def __init__(self, connection: Connection) -> None:
        self._db = connection

    def of_grades(self, query_id: str | None = None) -> list[GradeEvidence]:
        """Return the evidence of every current judgment that has some, of all queries or of one.

        Sorted by query, chunk and judgment, without retired queries. A transferred grade is
        included only if it is golden. For the golden evidence of a pair see `golden`.
        """
        with self._db.reading():
            rows = self._db.rows(EVIDENCE_OF_GRADES, {"query": query_id})
            pairs = dict.fromkeys(row[:2] for row in rows)
            golden = {
                pair: next(iter(self._db.often(GOLDEN_OF_PAIR, pair)), None) for pair in pairs
            }
        found = [_evidence_from_row(row, golden[row[:2]]) for row in rows]
        return [each for each in found if each.is_golden or each.kind != "carry"]

    def golden(self) -> dict[tuple[str, str], Evidence]:
        """Return the golden evidence of pairs, by query id and chunk id."""
        marked = [
            ((each.query_id, each.chunk_id), each.judgment, each.text_hash, each.passages)
            for each in self.of_grades()
            if each.is_golden
        ]
        return join_evidence(marked)

    def of_golden(
        self,
        grades: Callable[[], Mapping[tuple[int, int], GoldenDecision]],
        query: int | None = None,
    ) -> dict[tuple[int, int], Evidence]:
        """Return the golden evidence of pairs by number, of all queries or of one.

        ``grades`` is called, for the golden grades by pair, only if any passage is marked.
        """
        of_one = "" if query is None else "AND j.query = ?"
        rows = self._db.rows(f"{MARKED_JUDGMENTS} {of_one}", [] if query is None else [query])
        golden = grades() if rows else {}
        return join_evidence(
            ((query, chunk), judgment, wording, passages_from_column(evidence))
            for judgment, query, chunk, kind, grade, wording, evidence in rows
            if _is_golden(golden.get((query, chunk)), judgment, kind, grade)
        )


def join_evidence(
    marked: Iterable[tuple[PairT, int, str, tuple[Passage, ...]]],
) -> dict[PairT, Evidence]:
    """Return one evidence for each pair from that of its judgments, given by number.

    Offsets in different versions of a text cannot be merged: the newest version counts.
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
    """Return whether a judgment has its pair's golden grade, or is the transfer that gives it."""
    if golden is None:
        return False
    return golden[1] == judgment if kind == "carry" else golden[0] == grade
