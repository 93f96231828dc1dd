"""Reads the texts of all chunks, and which passages of them golden grades rest on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from labeler.model import Chunk, Evidence, GoldenGrade, GradeChange, Passage, Texts, union_of
from labeler.store.chunkings import Chunkings
from labeler.store.columns import passages_of

CUTS = """
SELECT coalesce(k.name, ''), c.id, c.chunk_id, c.text, c.document_id, c.position, c.start, c."end"
FROM chunks AS c LEFT JOIN chunkings AS k ON k.id = c.chunking
WHERE c.text <> '' ORDER BY coalesce(c.chunking, 0), c.id
"""
# Places in an earlier wording of a text mean nothing. Proposed grades are nobody's, and carried
# ones rest on passages that are marked in other chunks already.
MARKED = """
SELECT q.query_id, j.query, j.chunk, j.grade, j.evidence
FROM current_judgments AS j
JOIN queries AS q ON q.id = j.query
JOIN chunks AS c ON c.id = j.chunk
WHERE j.evidence IS NOT NULL AND +j.kind IN ('grade', 'adjudicate', 'import')
    AND j.text_hash IS c.text_hash
"""
MARKS = f"{MARKED} AND q.retired_at IS NULL"
WORDINGS = "SELECT chunk_id, text_hash FROM chunks WHERE text_hash IS NOT NULL"


class Laying(Chunkings):
    """What measures of documents and of evidence are found from."""

    def texts(self) -> Texts:
        """Return the texts of all chunkings and documents, as of one moment."""
        with self._reading():
            rows, documents = self._rows(CUTS), self.documents()
        cuts: dict[str, dict[int, Chunk]] = {}
        digest = hashlib.blake2b(digest_size=16)
        for name, number, *rest in rows:
            chunk_id, text, document_id, position, start, end = rest
            chunk = Chunk(chunk_id, text, None, document_id, position, start=start, end=end)
            cuts.setdefault(name, {})[number] = chunk
            digest.update(repr((name, number, rest)).encode("utf-8", "surrogatepass"))
        for document in documents:
            said = repr((document.document_id, document.text))
            digest.update(said.encode("utf-8", "surrogatepass"))
        of = {document.document_id: document.text for document in documents}
        return Texts(digest.hexdigest(), cuts, of)

    def _texts_later(self) -> Callable[[], Texts]:
        """Return what reads the texts once they are asked for, by a connection of its own."""
        opened, path = type(self), self.path

        def read() -> Texts:
            with opened(path) as store:
                return store.texts()

        return read

    def _marks(
        self, by_pair: Callable[[], Mapping[tuple[int, int], tuple[int, int]]]
    ) -> dict[tuple[str, int], tuple[Passage, ...]]:
        """Return the passages that golden grades rest on.

        ``by_pair`` returns these grades by number, each with the judgment that gives it.
        """
        rows = self._rows(MARKS)
        golden = by_pair() if rows else {}
        return marks_in(rows, {pair: grade for pair, (grade, _) in golden.items()})

    def _marked(self, change: GradeChange) -> GradeChange:
        """Return a change with the passages that the grade rests on."""
        if change.grade is None:
            return change
        rows = self._rows(
            f"{MARKS} AND q.query_id = ? AND j.chunk = ? AND j.grade = ?",
            [change.query_id, change.chunk, change.grade],
        )
        passages = [each for *_, evidence in rows for each in passages_of(evidence)]
        return replace(change, marks=union_of(passages)) if passages else change

    def _marks_of(
        self, grades: Iterable[GoldenGrade], number: Mapping[str, int]
    ) -> dict[tuple[str, int], tuple[Passage, ...]]:
        """Return the same of golden grades that were frozen, by the numbers chunks have now."""
        marked: list[tuple[GoldenGrade, Evidence]] = [
            (each, each.evidence)
            for each in grades
            if each.evidence is not None and not each.carried_from
        ]
        wordings = dict(self._rows(WORDINGS)) if marked else {}
        return {
            (each.query_id, number[each.chunk_id]): evidence.passages
            for each, evidence in marked
            if wordings.get(each.chunk_id) == evidence.text_hash
        }


def marks_in(
    rows: Iterable[Sequence[Any]], golden: Mapping[tuple[int, int], int]
) -> dict[tuple[str, int], tuple[Passage, ...]]:
    """Return the passages that golden grades rest on, of rows as `MARKED` has them."""
    found: dict[tuple[str, int], list[Passage]] = {}
    for query_id, query, number, grade, evidence in rows:
        if golden.get((query, number)) == grade:
            found.setdefault((query_id, number), []).extend(passages_of(evidence))
    return {pair: union_of(passages) for pair, passages in found.items()}
