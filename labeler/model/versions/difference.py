"""What changed from one golden set to another: grade by grade, query by query, and the settings."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeler.model import Evidence, GoldenGrade, Query
from labeler.model.versions.content import Content, conventions_in

ADDED, CHANGED, GONE = "added", "changed", "gone"
KINDS = (ADDED, CHANGED, GONE)
GRADE, GRADERS, EVIDENCE = "grade", "graders", "evidence"
QUERY, SETTING = "query", "setting"
NAMED = {GRADE: "grades", GRADERS: "who gave them", EVIDENCE: "evidence", QUERY: "queries"}
FIELDS = ("text", "task", "split", "reference", "guideline", "keywords", "metadata")


@dataclass(frozen=True, slots=True)
class Change:
    """One difference: of a ``grade``, who gave it or its ``evidence``, of a ``query`` in a field.

    Or of a ``setting``.

    ``before`` and ``after`` are texts, grades or None. ``by`` are the people behind the newer
    grade, or behind the one that is gone. A bucket is the field ``bucket`` with its facet.
    """

    kind: str
    what: str
    query_id: str | None = None
    chunk_id: str | None = None
    field: str | None = None
    before: Any = None
    after: Any = None
    by: tuple[str, ...] = ()

    def as_row(self) -> dict[str, Any]:
        """Return it as a row of a table."""
        return {
            "change": self.kind,
            "of": self.what,
            "query_id": self.query_id,
            "chunk_id": self.chunk_id,
            "field": self.field,
            "before": self.before,
            "after": self.after,
            "by": "; ".join(self.by),
        }

    def as_cells(self) -> dict[str, str]:
        """Return it as a row of texts, where a column has one kind of value: JSON but for texts."""
        return {
            name: value if isinstance(value, str) else "" if value is None else json.dumps(value)
            for name, value in self.as_row().items()
        }


def cells_of(changes: Iterable[Change], old: str, new: str) -> list[dict[str, str]]:
    """Return changes as rows of texts, each with the hashes of the golden sets it is between."""
    return [{**each.as_cells(), "golden_before": old, "golden_after": new} for each in changes]


def difference(old: Content, new: Content) -> list[Change]:
    """Return what changed from ``old`` to ``new``: settings, then queries, then grades.

    Grades of queries that are in one of them alone are told one by one, too.
    """
    return [*_settings(old, new), *_queries(old, new), *_grades(old, new)]


def in_words(changes: Sequence[Change]) -> str:
    """Count changes in one line.

    >>> in_words([Change(ADDED, GRADE), Change(ADDED, GRADE), Change(CHANGED, QUERY)])
    'grades: 2 added · queries: 1 changed'
    >>> in_words([])
    'nothing changed'
    """
    counts = Counter((change.what, change.kind) for change in changes)
    parts = []
    for what, named in NAMED.items():
        told = [f"{counts[what, kind]:,} {kind}" for kind in KINDS if counts[what, kind]]
        parts += [f"{named}: {', '.join(told)}"] if told else []
    settings = [str(change.field) for change in changes if change.what == SETTING]
    parts += [f"settings: {', '.join(settings)}"] if settings else []
    return " · ".join(parts) or "nothing changed"


def _settings(old: Content, new: Content) -> Iterator[Change]:
    before, after = conventions_in(old.settings), conventions_in(new.settings)
    for name in {**before, **after}:
        pair = getattr(old.settings, name), getattr(new.settings, name)
        if pair[0] != pair[1]:
            yield Change(CHANGED, SETTING, None, None, name, *pair)


def _queries(old: Content, new: Content) -> Iterator[Change]:
    before = {query.query_id: query for query in old.queries}
    after = {query.query_id: query for query in new.queries}
    for query_id, query in after.items():
        if query_id not in before:
            yield Change(ADDED, QUERY, query_id, after=query.text)
        elif query != before[query_id]:
            yield from _fields(before[query_id], query)
    for query_id, query in before.items():
        if query_id not in after:
            yield Change(GONE, QUERY, query_id, before=query.text)


def _fields(old: Query, new: Query) -> Iterator[Change]:
    for name in FIELDS:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield Change(CHANGED, QUERY, new.query_id, None, name, before, after)
    for facet in sorted({*old.buckets, *new.buckets}):
        pair = old.buckets.get(facet), new.buckets.get(facet)
        if pair[0] != pair[1]:
            yield Change(CHANGED, QUERY, new.query_id, None, f"bucket {facet}", *pair)


def _grades(old: Content, new: Content) -> Iterator[Change]:
    before, after = _by_pair(old), _by_pair(new)
    for pair, grade in after.items():
        was = before.get(pair)
        if was is None:
            yield Change(ADDED, GRADE, *pair, None, None, grade.grade, grade.graders)
        elif was.grade != grade.grade:
            yield Change(CHANGED, GRADE, *pair, None, was.grade, grade.grade, grade.graders)
        elif sorted(was.graders) != sorted(grade.graders):
            people = ("; ".join(was.graders), "; ".join(grade.graders))
            yield Change(CHANGED, GRADERS, *pair, None, *people, grade.graders)
        elif was.evidence != grade.evidence:
            passages = _places(was.evidence), _places(grade.evidence)
            yield Change(CHANGED, EVIDENCE, *pair, None, *passages, grade.graders)
    for pair, grade in before.items():
        if pair not in after:
            yield Change(GONE, GRADE, *pair, None, grade.grade, None, grade.graders)


def _places(evidence: Evidence | None) -> str:
    return "; ".join(f"{start}-{end}" for start, end in evidence.passages) if evidence else ""


def _by_pair(content: Content) -> Mapping[tuple[str, str], GoldenGrade]:
    return {(grade.query_id, grade.chunk_id): grade for grade in content.grades}
