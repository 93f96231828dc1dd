"""The canonical bytes of a golden set, byte for byte, and its hash; reads nothing by itself.

The hash is made so that another program can make it anew, in two steps, of JSON as RFC 8785 (JCS)
writes it: UTF-8, no blanks, keys sorted, characters escaped only where JSON asks for it.

1. Each query that is in use has a digest: the SHA-256, in small hexadecimal digits, of an object
   with its ``query_id``, ``query`` (its text), ``task``, ``split``, ``reference`` and ``guideline``
   (null where there is none), ``keywords`` (texts in their order), ``buckets`` (facet to bucket),
   and ``grades``: for every golden grade ``[chunk_id, grade, graders]``. Grades are sorted by the
   UTF-8 bytes of their chunk id, and so are the names of the graders. Where passages of the text
   were marked, the grade goes on with the fingerprint of that text and the passages:
   ``[chunk_id, grade, graders, text_hash, [[start, end]]]``. One that was carried over from other
   chunks ends with ``"carried"`` and the event ids of what it rests on, sorted.
2. The hash is the SHA-256 of lines that end with a line feed: an object with ``format``, the
   conventions stored as settings (``rel``, ``budget``, ``budget_by_task``, ``pool_depth``) and the
   rule ``golden_rule``, and ``carried`` where that is ``ignore``; then the digest of every query,
   sorted by the UTF-8 bytes of query ids.

Metadata, notes, texts of chunks, runs, and when a grade was given are no part of it: no number
depends on them.
"""

from __future__ import annotations

import hashlib
import json.encoder
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from operator import itemgetter
from typing import Any, TypeAlias

from labeler.model import COUNT, Evidence, Query, Settings

FORMAT = "labeler golden 1"
GradedBy: TypeAlias = tuple[str, int, tuple[str, ...], Evidence | None, tuple[str, ...]]
"""A chunk by id, its golden grade, who stands behind it, what it rests on, if that is known.

And the judgments by event id that a grade follows from which was carried over.
"""

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_text = json.encoder.encode_basestring


def canonical_query(query: Query, grades: Iterable[GradedBy]) -> bytes:
    """Return the bytes of a query and its golden grades.

    >>> grades = [("c1", 3, ("Ann",), None, ())]
    >>> canonical_query(Query("q1", "Where?", buckets={"intent": "place"}), grades)
    ... # doctest: +ELLIPSIS
    b'{"buckets":{"intent":"place"},"grades":[["c1",3,["Ann"]]],"guideline":null,...}'
    """
    rows = sorted(grades, key=itemgetter(0))
    return _canonical(query, written(*(map(itemgetter(column), rows) for column in range(5))))


def query_digest(query: Query, grades: Iterable[GradedBy]) -> str:
    """Return the SHA-256 of a query and its golden grades, 64 digits."""
    return hashlib.sha256(canonical_query(query, grades)).hexdigest()


def digest_of_written(query: Query, grades: Iterable[str]) -> str:
    """Return the same of grades that are sorted by chunk id, and `written` already."""
    return hashlib.sha256(_canonical(query, grades)).hexdigest()


def written(chunk_ids: Iterable[str], *said: Iterable[Any]) -> Iterator[str]:
    """Give golden grades as they stand among those of their query; the columns of `GradedBy`."""
    return map("[{}{}".format, map(_text, chunk_ids), map(_said, *said))


@lru_cache(maxsize=10_000)
def _said(
    grade: int, names: tuple[str, ...], evidence: Evidence | None, carried: tuple[str, ...]
) -> str:
    """Return what stands behind the chunk of a golden grade."""
    more = f",{_text(evidence.text_hash)},{_JSON.encode(evidence.passages)}" if evidence else ""
    more += f',"carried",{_JSON.encode(sorted(carried))}' if carried else ""
    return f",{grade},[{','.join(map(_text, sorted(names)))}]{more}]"


def _canonical(query: Query, grades: Iterable[str]) -> bytes:
    return (
        f'{{"buckets":{_object(query.buckets)},"grades":[{",".join(grades)}],'
        f'"guideline":{_text_or_null(query.guideline)},'
        f'"keywords":[{",".join(map(_text, query.keywords))}],"query":{_text(query.text)},'
        f'"query_id":{_text(query.query_id)},"reference":{_text_or_null(query.reference)},'
        f'"split":{_text_or_null(query.split)},"task":{_text_or_null(query.task)}}}'
    ).encode()


def canonical_conventions(settings: Settings) -> bytes:
    """Return the bytes of the settings that numbers depend on.

    >>> canonical_conventions(Settings())[:44]
    b'{"budget":5,"budget_by_task":{},"format":"la'
    """
    return _JSON.encode(
        {
            "budget": settings.budget,
            "budget_by_task": _sorted(settings.budget_by_task),
            **({} if settings.carried == COUNT else {"carried": settings.carried}),
            "format": FORMAT,
            "golden_rule": settings.golden_rule,
            "pool_depth": settings.pool_depth,
            "rel": settings.rel,
        }
    ).encode()


def whole_hash(conventions: bytes, digests: Mapping[str, str]) -> str:
    """Return the hash of a golden set: of its `canonical_conventions` and its queries' digests.

    ``digests`` are by query id, in any order.
    """
    lines = [conventions.decode(), *(digests[query_id] for query_id in sorted(digests))]
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode()).hexdigest()


def _object(texts: Mapping[str, str]) -> str:
    return f"{{{','.join([f'{_text(key)}:{_text(texts[key])}' for key in _sorted(texts)])}}}"


def _text_or_null(text: str | None) -> str:
    return "null" if text is None else _text(text)


def _sorted(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its keys sorted as RFC 8785 does: by their UTF-16 code units."""
    if len(given) < 2:
        return dict(given)
    return dict(sorted(given.items(), key=lambda pair: pair[0].encode("utf-16-be")))
