"""Reads which passages made which grades, and which of them stand behind the golden grade."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeAlias, TypeVar

from labeler.model import Evidence, GradeEvidence, Passage, union_of
from labeler.store.audit import Audit
from labeler.store.columns import carried_of, passages_of

PairT = TypeVar("PairT", bound=Hashable)
Decided: TypeAlias = tuple[int, int]
"""A golden grade, and the number of the judgment that decides it."""

# Proposed grades are nobody's: what they rest on is no evidence. The plus signs leave SQLite no
# index but that of the judgments that have evidence, which is empty where nobody marks anything.
MARKED = """
SELECT j.id, j.query, j.chunk, j.kind, j.grade, j.text_hash, j.evidence
FROM current_judgments AS j
WHERE j.evidence IS NOT NULL AND +j.kind IN ('grade', 'adjudicate', 'import', 'carry')
"""
GRADES = "SELECT grade, judgment FROM golden WHERE query = ? AND chunk = ?"
OF_GRADES = """
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


class EvidenceOfGrades(Audit):
    """What graders marked in the texts they graded."""

    def evidence(self, query_id: str | None = None) -> list[GradeEvidence]:
        """Return what every current judgment rests on that says it, of all queries or of one.

        By query, chunk and judgment, without retired queries. The golden evidence of a pair is the
        union of the passages of those that are golden, see `golden_evidence`.
        """
        with self._reading():
            rows = self._rows(OF_GRADES, {"query": query_id})
            pairs = dict.fromkeys(row[:2] for row in rows)
            golden = {pair: next(iter(self._often(GRADES, pair)), None) for pair in pairs}
        found = [_evidence_of(row, golden[row[:2]]) for row in rows]
        return [each for each in found if each.is_golden or each.kind != "carry"]

    def golden_evidence(self) -> dict[tuple[str, str], Evidence]:
        """Return the union of what golden grades rest on, by query and chunk id."""
        marked = [
            ((each.query_id, each.chunk_id), each.judgment, each.text_hash, each.passages)
            for each in self.evidence()
            if each.is_golden
        ]
        return joined(marked)

    def _golden_evidence(
        self, grades: Callable[[], Mapping[tuple[int, int], Decided]], query: int | None = None
    ) -> dict[tuple[int, int], Evidence]:
        """Return what golden grades rest on, by the numbers of their pairs, or those of a query.

        The golden ``grades`` by pair are asked for only where anything is marked.
        """
        of_one = "" if query is None else "AND j.query = ?"
        rows = self._rows(f"{MARKED} {of_one}", [] if query is None else [query])
        golden = grades() if rows else {}
        return joined(
            ((query, chunk), judgment, wording, passages_of(evidence))
            for judgment, query, chunk, kind, grade, wording, evidence in rows
            if _is_golden(golden.get((query, chunk)), judgment, kind, grade)
        )


def joined(
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
    return {pair: Evidence(wording, union_of(each)) for pair, (wording, each) in newest.items()}


def _evidence_of(row: tuple[Any, ...], golden: Decided | None) -> GradeEvidence:
    query_id, chunk_id, grade, name, graders, judgment, kind, evidence, wording, *rest = row[2:]
    is_found, bases = rest
    who = tuple(json.loads(graders)) if graders else (name,)
    if bases:
        names = (each for base in carried_of(bases) or () for each in base.who)
        who = tuple(dict.fromkeys(names))
    said = (query_id, chunk_id, grade, who, judgment, kind, passages_of(evidence), wording)
    return GradeEvidence(*said, _is_golden(golden, judgment, kind, grade), bool(is_found))


def _is_golden(golden: Decided | None, judgment: int, kind: str, grade: int) -> bool:
    """Say whether a judgment says what counts of its pair; a carried grade only by itself."""
    if golden is None:
        return False
    return golden[1] == judgment if kind == "carry" else golden[0] == grade
