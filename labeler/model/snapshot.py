"""Snapshots of a golden set: canonical bytes and their hash, reading back, and what changed.

Two golden sets have the same hash if they give every run the same numbers and the same people
graded them, on any machine and in any order of loading. Another program can compute the hash too,
in two steps, from JSON as RFC 8785 (JCS) writes it: UTF-8, no blanks, keys sorted, characters
escaped only where JSON requires it.

1. Each query that is in use has a digest: the SHA-256, in lowercase hexadecimal digits, of an
   object with its ``query_id``, ``query`` (its text), ``task``, ``split``, ``reference`` and
   ``guideline`` (null where there is none), ``keywords`` (texts in their order), ``buckets``
   (facet to bucket), and ``grades``: for every golden grade ``[chunk_id, grade, graders]``.
   Grades are sorted by the UTF-8 bytes of their chunk id, and so are the names of the graders.
   Where passages of the text were marked, the hash of that text and the passages follow:
   ``[chunk_id, grade, graders, text_hash, [[start, end]]]``. A grade transferred from other chunks
   ends with ``"carried"`` and the sorted event ids of the judgments it rests on.
2. The hash is the SHA-256 of lines that end with a line feed: an object with ``format``, the
   conventions stored as settings (``rel``, ``prompt_k``, ``prompt_k_by_task``, ``pool_depth``) and
   the rule ``golden_rule``, and ``transferred`` if it is ``ignore``; then the digest of every
   query, sorted by the UTF-8 bytes of query ids.

Metadata, notes, texts of chunks, runs, and times of grades are not part of it: no number depends
on them.
"""

from __future__ import annotations

import hashlib
import json
import json.encoder
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

from labeler.errors import BadInput
from labeler.model import (
    COUNT_TRANSFERRED,
    Evidence,
    GoldenGrade,
    GoldenState,
    GoldenVersion,
    Query,
    Settings,
)

FORMAT = "labeler golden 1"
GradedBy: TypeAlias = tuple[str, int, tuple[str, ...], Evidence | None, tuple[str, ...]]
"""A chunk's id, its golden grade, its graders, its evidence or None, and the event ids it was
transferred from."""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_text = json.encoder.encode_basestring


def canonical_query(query: Query, grades: Iterable[GradedBy]) -> bytes:
    """Return the canonical bytes of a query and its golden grades.

    >>> grades = [("c1", 3, ("Ann",), None, ())]
    >>> canonical_query(Query("q1", "Where?", buckets={"intent": "place"}), grades)
    ... # doctest: +ELLIPSIS
    b'{"buckets":{"intent":"place"},"grades":[["c1",3,["Ann"]]],"guideline":null,...}'
    """
    rows = sorted(grades, key=itemgetter(0))
    return _canonical_bytes(
        query, canonical_grades(*(map(itemgetter(column), rows) for column in range(5)))
    )


def query_digest(query: Query, grades: Iterable[GradedBy]) -> str:
    """Return the SHA-256 of a query and its golden grades, 64 hexadecimal digits."""
    return hashlib.sha256(canonical_query(query, grades)).hexdigest()


def digest_of_canonical(query: Query, grades: Iterable[str]) -> str:
    """Return `query_digest` of grades that are already sorted by chunk id, in canonical form."""
    return hashlib.sha256(_canonical_bytes(query, grades)).hexdigest()


def canonical_grades(chunk_ids: Iterable[str], *columns: Iterable[Any]) -> Iterator[str]:
    """Yield golden grades in canonical form; the arguments are the columns of `GradedBy`."""
    return map("[{}{}".format, map(_text, chunk_ids), map(_canonical_grade, *columns))


@lru_cache(maxsize=10_000)
def _canonical_grade(
    grade: int, names: tuple[str, ...], evidence: Evidence | None, transferred: tuple[str, ...]
) -> str:
    """Return the canonical form of a golden grade after its chunk id."""
    more = f",{_text(evidence.text_hash)},{_JSON.encode(evidence.passages)}" if evidence else ""
    more += f',"carried",{_JSON.encode(sorted(transferred))}' if transferred else ""
    return f",{grade},[{','.join(map(_text, sorted(names)))}]{more}]"


def _canonical_bytes(query: Query, grades: Iterable[str]) -> bytes:
    return (
        f'{{"buckets":{_object(query.buckets)},"grades":[{",".join(grades)}],'
        f'"guideline":{_text_or_null(query.guideline)},'
        f'"keywords":[{",".join(map(_text, query.keywords))}],"query":{_text(query.text)},'
        f'"query_id":{_text(query.query_id)},"reference":{_text_or_null(query.reference)},'
        f'"split":{_text_or_null(query.split)},"task":{_text_or_null(query.task)}}}'
    ).encode()


def canonical_conventions(settings: Settings) -> bytes:
    """Return the canonical bytes of the settings that numbers depend on.

    >>> canonical_conventions(Settings())[:44]
    b'{"budget":5,"budget_by_task":{},"format":"la'
    """
    return _JSON.encode(
        {
            "budget": settings.prompt_k,
            "budget_by_task": _sorted(settings.prompt_k_by_task),
            **(
                {}
                if settings.transferred == COUNT_TRANSFERRED
                else {"carried": settings.transferred}
            ),
            "format": FORMAT,
            "golden_rule": settings.golden_rule,
            "pool_depth": settings.pool_depth,
            "rel": settings.rel,
        }
    ).encode()


def golden_hash(conventions: bytes, digests: Mapping[str, str]) -> str:
    """Return a golden set's hash from its `canonical_conventions` and its digests by query id."""
    lines = [conventions.decode(), *(digests[query_id] for query_id in sorted(digests))]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _object(texts: Mapping[str, str]) -> str:
    return f"{{{','.join([f'{_text(key)}:{_text(texts[key])}' for key in _sorted(texts)])}}}"


def _text_or_null(text: str | None) -> str:
    return "null" if text is None else _text(text)


def _sorted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its keys sorted by UTF-16 code units, as RFC 8785 requires."""
    if len(given) < 2:
        return dict(given)
    return dict(sorted(given.items(), key=lambda pair: pair[0].encode("utf-16-be")))


# The settings that a version keeps, by the names in its canonical bytes, which never change.
CONVENTIONS = {
    "rel": "rel",
    "budget": "prompt_k",
    "budget_by_task": "prompt_k_by_task",
    "pool_depth": "pool_depth",
    "golden_rule": "golden_rule",
}
# Settings that came after the first versions: kept where they are not the default.
LATER_CONVENTIONS = {"carried": "transferred"}


@dataclass(frozen=True)
class GoldenSnapshot:
    """A whole golden set: its queries in their order, its golden grades, the conventions.

    ``settings`` are the defaults except for the conventions. ``version`` is None if it is live.
    """

    settings: Settings
    queries: Sequence[Query]
    grades: Sequence[GoldenGrade]
    revision: int
    version: GoldenVersion | None = None

    @property
    def title(self) -> str:
        """The name of the version, or ``live``."""
        return "live" if self.version is None else self.version.name

    @property
    def whole(self) -> tuple[Sequence[Query], Sequence[GoldenGrade]]:
        """The queries and the golden grades."""
        return self.queries, self.grades

    def part(self, query_ids: Collection[str]) -> GoldenSnapshot:
        """Return some of the queries with their golden grades and the same conventions.

        The part is not a version, and has another hash.
        """
        queries = [query for query in self.queries if query.query_id in query_ids]
        grades = [grade for grade in self.grades if grade.query_id in query_ids]
        return GoldenSnapshot(self.settings, queries, grades, self.revision)

    @cached_property
    def by_query(self) -> Mapping[str, list[GoldenGrade]]:
        """The golden grades of every query."""
        groups: dict[str, list[GoldenGrade]] = {query.query_id: [] for query in self.queries}
        for grade in self.grades:
            groups[grade.query_id].append(grade)
        return groups

    @cached_property
    def state(self) -> GoldenState:
        """The hash and the digests, computed from the content."""
        conventions = canonical_conventions(self.settings)
        digests = {
            query.query_id: query_digest(query, map(_graded_by, self.by_query[query.query_id]))
            for query in self.queries
        }
        name = None if self.version is None else self.version.name
        whole = golden_hash(conventions, digests)
        return GoldenState(whole, conventions, digests, self.revision, name)

    def checked(self, where: str, remedy: str) -> GoldenSnapshot:
        """Return the snapshot if its content has the hash of its version, else raise `BadInput`."""
        if self.version is not None and self.version.hash != self.state.hash:
            raise BadInput(
                f"{where}: the version {self.version.name!r} says its hash is "
                f"{self.version.hash[:16]}, and that of its content is {self.state.hash[:16]}: "
                f"something in it was changed; {remedy}"
            )
        return self


def settings_from_conventions(
    conventions: Mapping[str, Any], settings: Settings | None = None
) -> Settings:
    """Return ``settings`` with these conventions; raise `BadInput` if they are malformed."""
    unknown = sorted(set(conventions) - {*CONVENTIONS, *LATER_CONVENTIONS})
    missing = sorted(set(CONVENTIONS) - set(conventions))
    if unknown or missing:
        raise BadInput(
            f"the conventions of a version are {', '.join(CONVENTIONS)}; "
            + "; ".join(
                f"{what}: {', '.join(names)}"
                for what, names in (("unknown", unknown), ("missing", missing))
                if names
            )
        )
    names = CONVENTIONS | LATER_CONVENTIONS
    first = {name: getattr(Settings(), name) for name in LATER_CONVENTIONS.values()}
    chosen = {names[name]: value for name, value in conventions.items()}
    try:
        return replace(settings or Settings(), **{**first, **chosen})
    except (TypeError, AttributeError) as error:
        raise BadInput(f"the conventions of the version cannot be read: {error}") from error


def snapshot_conventions(settings: Settings) -> dict[str, Any]:
    """Return the settings that a version keeps."""
    later = {
        name: field
        for name, field in LATER_CONVENTIONS.items()
        if getattr(settings, field) != getattr(Settings(), field)
    }
    return {name: getattr(settings, field) for name, field in (CONVENTIONS | later).items()}


def _graded_by(grade: GoldenGrade) -> GradedBy:
    transferred = tuple(each.event_id for each in grade.carried_from)
    return grade.chunk_id, grade.grade, grade.graders, grade.evidence, transferred


ADDED, CHANGED, GONE = "added", "changed", "gone"
CHANGE_KINDS = (ADDED, CHANGED, GONE)
GRADE, GRADERS, EVIDENCE = "grade", "graders", "evidence"
QUERY, SETTING = "query", "setting"
_PLURALS = {GRADE: "grades", GRADERS: "who gave them", EVIDENCE: "evidence", QUERY: "queries"}
_QUERY_FIELDS = ("text", "task", "split", "reference", "guideline", "keywords", "metadata")


@dataclass(frozen=True, slots=True)
class GoldenChange:
    """One difference between two golden sets.

    ``what`` is ``grade``, ``graders`` (who gave it), ``evidence``, ``query`` (a field of it) or
    ``setting``. ``before`` and ``after`` are texts, grades or None. ``by`` are the people who gave
    the newer grade, or the one that is gone. The field of a bucket is ``bucket`` and the facet.
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
        """Return the change as a row of a table."""
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
        """Return the change as a row of texts, for typed columns; other values become JSON."""
        return {
            name: value if isinstance(value, str) else "" if value is None else json.dumps(value)
            for name, value in self.as_row().items()
        }


def change_rows(changes: Iterable[GoldenChange], old: str, new: str) -> list[dict[str, str]]:
    """Return changes as rows of texts, each with the hashes of the old and new golden set."""
    return [{**each.as_cells(), "golden_before": old, "golden_after": new} for each in changes]


def find_changes(old: GoldenSnapshot, new: GoldenSnapshot) -> list[GoldenChange]:
    """Return what changed from ``old`` to ``new``: settings, then queries, then grades.

    Grades of added and removed queries are listed one by one, too.
    """
    return [*_setting_changes(old, new), *_query_changes(old, new), *_grade_changes(old, new)]


def describe_changes(changes: Sequence[GoldenChange]) -> str:
    """Summarise changes in one line.

    >>> describe_changes([GoldenChange(ADDED, GRADE), GoldenChange(ADDED,
    ...     GRADE), GoldenChange(CHANGED, QUERY)])
    'grades: 2 added · queries: 1 changed'
    >>> describe_changes([])
    'nothing changed'
    """
    counts = Counter((change.what, change.kind) for change in changes)
    parts = []
    for what, plural in _PLURALS.items():
        counted = [f"{counts[what, kind]:,} {kind}" for kind in CHANGE_KINDS if counts[what, kind]]
        parts += [f"{plural}: {', '.join(counted)}"] if counted else []
    settings = [str(change.field) for change in changes if change.what == SETTING]
    parts += [f"settings: {', '.join(settings)}"] if settings else []
    return " · ".join(parts) or "nothing changed"


def _setting_changes(old: GoldenSnapshot, new: GoldenSnapshot) -> Iterator[GoldenChange]:
    before, after = snapshot_conventions(old.settings), snapshot_conventions(new.settings)
    for name in ((CONVENTIONS | LATER_CONVENTIONS)[each] for each in {**before, **after}):
        pair = getattr(old.settings, name), getattr(new.settings, name)
        if pair[0] != pair[1]:
            yield GoldenChange(CHANGED, SETTING, None, None, name, *pair)


def _query_changes(old: GoldenSnapshot, new: GoldenSnapshot) -> Iterator[GoldenChange]:
    before = {query.query_id: query for query in old.queries}
    after = {query.query_id: query for query in new.queries}
    for query_id, query in after.items():
        if query_id not in before:
            yield GoldenChange(ADDED, QUERY, query_id, after=query.text)
        elif query != before[query_id]:
            yield from _field_changes(before[query_id], query)
    for query_id, query in before.items():
        if query_id not in after:
            yield GoldenChange(GONE, QUERY, query_id, before=query.text)


def _field_changes(old: Query, new: Query) -> Iterator[GoldenChange]:
    for name in _QUERY_FIELDS:
        before, after = getattr(old, name), getattr(new, name)
        if before != after:
            yield GoldenChange(CHANGED, QUERY, new.query_id, None, name, before, after)
    for facet in sorted({*old.buckets, *new.buckets}):
        pair = old.buckets.get(facet), new.buckets.get(facet)
        if pair[0] != pair[1]:
            yield GoldenChange(CHANGED, QUERY, new.query_id, None, f"bucket {facet}", *pair)


def _grade_changes(old: GoldenSnapshot, new: GoldenSnapshot) -> Iterator[GoldenChange]:
    before, after = _by_pair(old), _by_pair(new)
    for pair, grade in after.items():
        was = before.get(pair)
        if was is None:
            yield GoldenChange(ADDED, GRADE, *pair, None, None, grade.grade, grade.graders)
        elif was.grade != grade.grade:
            yield GoldenChange(CHANGED, GRADE, *pair, None, was.grade, grade.grade, grade.graders)
        elif sorted(was.graders) != sorted(grade.graders):
            people = ("; ".join(was.graders), "; ".join(grade.graders))
            yield GoldenChange(CHANGED, GRADERS, *pair, None, *people, grade.graders)
        elif was.evidence != grade.evidence:
            passages = _format_passages(was.evidence), _format_passages(grade.evidence)
            yield GoldenChange(CHANGED, EVIDENCE, *pair, None, *passages, grade.graders)
    for pair, grade in before.items():
        if pair not in after:
            yield GoldenChange(GONE, GRADE, *pair, None, grade.grade, None, grade.graders)


def _format_passages(evidence: Evidence | None) -> str:
    return "; ".join(f"{start}-{end}" for start, end in evidence.passages) if evidence else ""


def _by_pair(content: GoldenSnapshot) -> Mapping[tuple[str, str], GoldenGrade]:
    return {(grade.query_id, grade.chunk_id): grade for grade in content.grades}
