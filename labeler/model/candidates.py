"""Questions that may become queries, suggested grades, and the history of each query.

`Traffic` counts the questions of each bucket in the production logs that were loaded as
candidates, so that means can be weighted by it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from labeler.errors import BadInput, NotFound
from labeler.model.records import Query, check_grade, check_id, is_storable

CANDIDATE_SOURCES: Mapping[str, str] = {
    "log": "a log of what users asked",
    "generated": "generated from chunks",
    "thumbs": "users' thumbs up and down",
    "typed": "typed by an expert",
}
QUERY_ORIGINS: Mapping[str, str] = {"file": "a file of queries", **CANDIDATE_SOURCES}
OPEN_STATE, TAKEN_STATE, DROPPED_STATE = CANDIDATE_STATES = ("open", "taken", "dropped")
QUERY_CHANGES: Mapping[str, str] = {
    "add": "added",
    "edit": "edited",
    "load": "replaced from a file",
    "split": "put into a split",
    "retire": "retired",
    "restore": "taken back into use",
}


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """One line of a file of questions that may become queries.

    ``query_id`` is the query that the file names for it, if any; ``grades`` counts the suggestions
    by chunk and grade. ``at`` is a day, ISO 8601.
    """

    text: str
    times: int = 1
    at: str | None = None
    buckets: Mapping[str, str] = field(default_factory=dict)
    reference: str | None = None
    guideline: str | None = None
    keywords: tuple[str, ...] = ()
    query_id: str | None = None
    grades: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.query_id is not None:
            check_id(self.query_id, "query")
        elif not self.text.strip():
            raise BadInput("there is no question on it; give it as query, text or question")
        if not is_storable(self.text):
            raise BadInput(f"question {self.text!r} holds a character that cannot be stored")
        if self.times < 1:
            raise BadInput(f"a question is asked once or more often, not {self.times} times")
        for chunk_id, grades in self.grades.items():
            check_id(chunk_id, "chunk")
            for grade in grades:
                check_grade(grade)


@dataclass(slots=True)
class DistinctQuestion:
    """All lines of a file that ask the same question: how often, when last, in which buckets.

    ``normal`` is the normalised text they share, ``text`` their first wording and ``line`` its line
    number. ``query_id`` is the existing query that asks the same, if any.
    """

    text: str
    normal: str
    line: int
    times: int = 0
    at: str | None = None
    buckets: dict[str, dict[str, int]] = field(default_factory=dict)
    reference: str | None = None
    guideline: str | None = None
    keywords: tuple[str, ...] = ()
    query_id: str | None = None
    grades: dict[str, dict[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionFile:
    """The content of a file of questions: ``times`` lines counted, ``questions`` that differ.

    ``buckets`` says of each facet and bucket how often it was asked, and in how many questions.
    ``digest`` is the hash of the content, whatever the file's name.
    """

    source: str
    file: str
    digest: str
    times: int
    questions: Sequence[DistinctQuestion]
    buckets: Mapping[str, Mapping[str, tuple[int, int]]]
    first_asked: str | None = None
    last_asked: str | None = None
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stored question that may become a query.

    ``times`` is how often it was asked in all loads of its ``source``, ``buckets`` how often by
    facet and bucket. ``query_id``, where the ``state`` is taken, is the query that it has become or
    that asks the same.
    """

    number: int
    source: str
    text: str
    normal: str
    times: int
    asked_at: str | None
    reference: str | None
    guideline: str | None
    keywords: tuple[str, ...]
    file: str | None
    added_at: str
    added_by: str | None
    state: str
    query_id: str | None
    buckets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def usual_buckets(self) -> dict[str, str]:
        """Return the most frequent bucket of each facet; on a tie, the first."""
        return {facet: max(times, key=times.__getitem__) for facet, times in self.buckets.items()}


@dataclass(frozen=True, slots=True)
class CandidateBatch:
    """One load of questions: ``times`` in all, ``texts`` different ones, ``kept`` of these.

    ``buckets`` counts all loaded questions by facet and bucket. ``evenly`` are the facets over
    whose buckets the kept ones were drawn evenly, with ``seed``.
    """

    number: int
    source: str
    file: str | None
    at: str
    who: str | None
    times: int
    texts: int
    kept: int
    evenly: tuple[str, ...] = ()
    seed: int | None = None
    first_asked: str | None = None
    last_asked: str | None = None
    buckets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A grade that a source suggests for a chunk of a query; it never counts as a judgment.

    ``times`` is how often the source suggested it, ``against`` how often it suggested another
    grade. On a tie there is no suggestion.
    """

    query_id: str
    chunk_id: str
    source: str
    grade: int
    times: int = 1
    against: int = 0
    at: str | None = None

    def __post_init__(self) -> None:
        check_id(self.query_id, "query")
        check_id(self.chunk_id, "chunk")
        check_grade(self.grade)


@dataclass(frozen=True, slots=True)
class QueryChange:
    """One change of a query: ``before`` and ``after`` hold the fields that changed.

    ``kind`` is one of `QUERY_CHANGES`. ``who`` is None where it is unknown, ``file`` where the
    change came from no file. Times are UTC, ISO 8601.
    """

    number: int
    query_id: str
    kind: str
    at: str
    who: str | None
    file: str | None
    before: Mapping[str, Any]
    after: Mapping[str, Any]

    def __post_init__(self) -> None:
        if self.kind not in QUERY_CHANGES:
            raise BadInput(
                f"a change of a query is one of {', '.join(QUERY_CHANGES)}, not {self.kind!r}"
            )

    def fields(self) -> list[tuple[str, str, str]]:
        """Return name, old and new text of each changed field; a missing value is an empty text."""
        changed = []
        for name, old in self.before.items():
            new = self.after.get(name)
            if isinstance(old, dict) or isinstance(new, dict):
                label = {"buckets": "bucket"}.get(name, name)
                keys = dict.fromkeys([*(old or {}), *(new or {})])
                changed += [
                    (f"{label} {key}", (old or {}).get(key), (new or {}).get(key)) for key in keys
                ]
            else:
                changed.append((name, old, new))
        return [(name, _format_field(old), _format_field(new)) for name, old, new in changed]

    def as_dict(self) -> dict[str, Any]:
        """Return the change as a dict for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "number"}


def _format_field(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class QueryOrigin:
    """The source of a query: one of `QUERY_ORIGINS`, or None if it is no longer known."""

    source: str | None
    file: str | None = None
    added_at: str | None = None
    added_by: str | None = None

    def __post_init__(self) -> None:
        if self.source is not None and self.source not in QUERY_ORIGINS:
            raise BadInput(
                f"a query comes from {', '.join(QUERY_ORIGINS)}, not from {self.source!r}"
            )

    def __str__(self) -> str:
        """Describe the origin in one line."""
        source = QUERY_ORIGINS.get(self.source or "", "not known")
        parts = [source if self.file is None else f"{source}, {self.file}"]
        if self.added_at:
            parts.append(f"on {self.added_at[:10]}")
        return " ".join([*parts, *([f"by {self.added_by}"] if self.added_by else [])])


@dataclass(frozen=True, slots=True)
class QueryProvenance:
    """The origins of a golden set's queries, their changes, and the grades suggested for them.

    ``votes`` are all suggestions, outvoted ones included.
    """

    origins: Mapping[str, QueryOrigin] = field(default_factory=dict)
    changes: Sequence[QueryChange] = ()
    votes: Sequence[Suggestion] = ()


_COMPARED_FIELDS = ("text", "task", "split", "reference", "guideline", "keywords")


def query_differences(before: Query | None, after: Query) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the changed fields of a query: their old values, and their new ones.

    Of buckets and metadata only the keys that differ are returned, None for a missing one.

    >>> query_differences(Query("q", "Where?", buckets={"x": "1"}), Query("q", "When?"))
    ({'text': 'Where?', 'buckets': {'x': '1'}}, {'text': 'When?', 'buckets': {'x': None}})
    """
    was: dict[str, Any] = {}
    now: dict[str, Any] = {}
    for name in _COMPARED_FIELDS:
        old, new = (getattr(each, name, None) for each in (before, after))
        if (old or None) != (new or None):
            was[name], now[name] = old, new
    for name in ("buckets", "metadata"):
        old, new = (getattr(each, name, {}) for each in (before, after))
        if other := [key for key in {**old, **new} if old.get(key) != new.get(key)]:
            was[name] = {key: old.get(key) for key in other}
            now[name] = {key: new.get(key) for key in other}
    return was, now


LOG_SOURCE = "log"


@dataclass(frozen=True, slots=True)
class Traffic:
    """The number of logged questions in each bucket of ``facet``; make one with `Traffic.of`.

    >>> Traffic.of("intent", {"refund": 30, "delivery": 70}).describe()
    'weighted by intent as 100 logged questions are'
    """

    facet: str
    counts: tuple[tuple[str, int], ...]

    @staticmethod
    def of(facet: str, counts: Mapping[str, int]) -> Traffic:
        """Return the counts of a facet's buckets, sorted by name.

        Raises `BadInput` for a count below 0, and if all counts are 0.
        """
        for bucket, count in counts.items():
            if count < 0:
                raise BadInput(f"bucket {bucket!r} of {facet!r} cannot be asked for {count} times")
        kept = {bucket: count for bucket, count in counts.items() if count}
        if not kept:
            raise BadInput(f"no logged question has a bucket of {facet!r}, so nothing to weight by")
        return Traffic(facet, tuple(sorted(kept.items())))

    @property
    def total(self) -> int:
        """The number of questions counted."""
        return sum(count for _, count in self.counts)

    def describe(self) -> str:
        """Describe how means are weighted."""
        return f"weighted by {self.facet} as {self.total:,} logged questions are"


def count_logged(batches: Iterable[CandidateBatch]) -> dict[str, Counter[str]]:
    """Count logged questions by facet and bucket; batches of other sources are ignored."""
    counts: dict[str, Counter[str]] = {}
    for batch in batches:
        if batch.source == LOG_SOURCE:
            for facet, buckets in batch.buckets.items():
                counts.setdefault(facet, Counter()).update(buckets)
    return counts


def traffic_of_facet(facet: str, batches: Iterable[CandidateBatch]) -> Traffic:
    """Return the number of logged questions in each bucket of a facet.

    Raises `NotFound` if no log is loaded, or no log has the facet.
    """
    counts = count_logged(batches)
    if not counts:
        raise NotFound("no log that names buckets is loaded, so there is nothing to weight by")
    if facet not in counts:
        raise NotFound(f"no log has a facet {facet!r}; logs have: {', '.join(sorted(counts))}")
    return Traffic.of(facet, counts[facet])
