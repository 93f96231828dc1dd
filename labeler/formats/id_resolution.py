"""Ids for queries and chunks that a file names only by their text.

Such a query or chunk gets an id made from a hash of its text, the same on every machine. Loading
then replaces it by the id of the query or chunk that already has this text, if there is one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Generic, TypeVar, overload

from labeler.errors import BadInput
from labeler.model import GoldenGrade, Loaded, LoadedGolden, Query, Ranking, UnjudgedPair

HASH_DIGITS = 12  # hexadecimal digits of a text's hash in an id
CHUNK_PREFIX = "c-"
_QUERY_PREFIX = "q-"
_MOST_NAMED = 3

RecordT = TypeVar("RecordT", GoldenGrade, Ranking, UnjudgedPair)


def query_id_from_text(text: str) -> str:
    """Return an id made of a query's text; white space around it does not count.

    >>> query_id_from_text("how long does a refund take?")
    'q-b13573dd4135'
    """
    return _QUERY_PREFIX + _hash(text.strip())


def chunk_id_from_text(text: str) -> str:
    """Return an id made of a chunk's text."""
    return CHUNK_PREFIX + _hash(text)


def _hash(text: str) -> str:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()[:HASH_DIGITS]


@dataclass(frozen=True, slots=True)
class IdResolver:
    """Replaces ids that were made of texts by the ids that a golden set has for these texts.

    ``queries`` are texts by id. ``chunks`` returns, for ids made of texts, the ids of the stored
    chunks with these texts.
    """

    queries: Mapping[str, str]
    chunks: Callable[[Iterable[str]], Mapping[str, str]]

    def golden(self, loaded: LoadedGolden) -> LoadedGolden:
        """Return grades under the golden set's ids of their queries and chunks.

        Queries whose text the file has and the golden set lacks are included. Raises `BadInput`
        where the golden set has another text for the id of one.
        """
        ids = {grade.query_id for grade in loaded.grades.records}
        ids |= {each.query_id for each in loaded.ungraded.records}
        known = self._known(ids | {query.query_id for query in loaded.asked.records})
        chunks = self._chunks(grade.chunk_id for grade in loaded.grades.records)
        if known or chunks:
            grades = _Renamed(loaded.grades.records, known, chunks)
            ungraded = _Renamed(loaded.ungraded.records, known, chunks)
            loaded = replace(
                loaded,
                grades=replace(loaded.grades, records=grades),
                ungraded=replace(loaded.ungraded, records=ungraded),
            )
        if loaded.asked.records:
            self._check_texts(loaded.asked)
            new = _without(loaded.asked, known.keys() | self.queries.keys())
            loaded = replace(loaded, queries=new)
        return loaded

    def _check_texts(self, asked: Loaded[Query]) -> None:
        """Raise `BadInput` for a query whose text here is another one than in the golden set."""
        for at, query in enumerate(asked.records):
            known = self.queries.get(query.query_id)
            if known is not None and _folded(known) != _folded(query.text):
                raise BadInput(
                    f"{asked.where(at)}: query {query.query_id!r} is {_short(query.text)} here and "
                    f"{_short(known)} in the golden set; an id names one query"
                )

    def run(self, loaded: Loaded[Ranking]) -> Loaded[Ranking]:
        """Return ranked lists under the golden set's ids of their queries and chunks."""
        known = self._known({ranking.query_id for ranking in loaded.records})
        chunks = self._chunks(each for ranking in loaded.records for each in ranking.chunk_ids)
        if not known and not chunks:
            return loaded
        records = _Renamed(loaded.records, known, chunks)
        return Loaded(loaded.source, records, loaded.lines, loaded.facts, loaded.warnings)

    def _known(self, given: set[str]) -> dict[str, str]:
        """Return the golden set's ids of the queries that are named by their text."""
        unknown = given - self.queries.keys()
        if not unknown:
            return {}
        by_text: dict[str, list[str]] = {}
        for query_id, text in self.queries.items():
            by_text.setdefault(query_id_from_text(text), []).append(query_id)
        found: dict[str, str] = {}
        for name in sorted(unknown):
            ids = by_text.get(name) or by_text.get(query_id_from_text(name), [])
            if len(ids) > 1:
                named = ", ".join(map(repr, ids[:_MOST_NAMED]))
                text = self.queries[ids[0]]
                raise BadInput(
                    f"{len(ids)} queries have the text {_short(text)} ({named}), so that a text "
                    "does not say which is meant; name queries by their id"
                )
            found |= dict.fromkeys([name] if ids else [], ids[0] if ids else "")
        _check_one_name(found, given)
        return found

    def _chunks(self, given: Iterable[str]) -> Mapping[str, str]:
        made = {chunk_id for chunk_id in given if chunk_id.startswith(CHUNK_PREFIX)}
        return self.chunks(made) if made else {}


def _check_one_name(found: Mapping[str, str], given: set[str]) -> None:
    """Raise `BadInput` where one query has two names: its two lists would become one."""
    names: dict[str, str] = {name: name for name in given - found.keys()}
    for name, query_id in found.items():
        other = names.setdefault(query_id, name)
        if other != name:
            raise BadInput(
                f"{_short(other)} and {_short(name)} are the same query {query_id!r}; name it one "
                "way in the file"
            )


def _folded(text: str) -> str:
    """Return a text in one Unicode form, and with single blanks, to see whether two look alike."""
    return " ".join(unicodedata.normalize("NFKC", text).split())


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _without(loaded: Loaded[Query], ids: Set[str]) -> Loaded[Query]:
    kept = [at for at, query in enumerate(loaded.records) if query.query_id not in ids]
    lines = [loaded.lines[at] for at in kept]
    return replace(loaded, records=[loaded.records[at] for at in kept], lines=lines)


class _Renamed(Sequence[RecordT], Generic[RecordT]):
    """Records with other ids, computed on access, since the records may be on disk."""

    def __init__(
        self, records: Sequence[RecordT], queries: Mapping[str, str], chunks: Mapping[str, str]
    ) -> None:
        self._records: Sequence[RecordT] = records
        self._queries, self._chunks = queries, chunks

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[RecordT]:
        return map(self._renamed, self._records)

    @overload
    def __getitem__(self, at: int) -> RecordT: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[RecordT]: ...
    def __getitem__(self, at: int | slice) -> RecordT | Sequence[RecordT]:
        if isinstance(at, slice):
            return [self._renamed(record) for record in self._records[at]]
        return self._renamed(self._records[at])

    def _renamed(self, record: RecordT) -> RecordT:
        query_id = self._queries.get(record.query_id, record.query_id)
        if isinstance(record, Ranking):
            ids = tuple(self._chunks.get(each, each) for each in record.chunk_ids)
            return replace(record, query_id=query_id, chunk_ids=ids)
        chunk_id = self._chunks.get(record.chunk_id, record.chunk_id)
        return replace(record, query_id=query_id, chunk_id=chunk_id)
