"""Ids for queries and chunks that a file names only by their text.

Such a query or chunk gets an id made from a hash of its text, the same on every machine. Loading
then replaces it by the id of the query or chunk that already has this text, if there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Generic, TypeVar, overload

from labeler.errors import BadInput
from labeler.model import (
    GoldenGrade,
    Judgment,
    ListSource,
    Loaded,
    LoadedGolden,
    LoadedRetrievals,
    Query,
    Ranking,
    UnjudgedPair,
    fold_text,
    format_count,
    format_list,
)

HASH_DIGITS = 12  # hexadecimal digits of a text's hash in an id
CHUNK_PREFIX = "c-"
_QUERY_PREFIX = "q-"
_MOST_NAMED = 3

RecordT = TypeVar("RecordT", GoldenGrade, Judgment, Ranking, UnjudgedPair)


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


def names_by_text(known: Collection[str], given: Iterable[str]) -> dict[str, str]:
    """Return the known name of each given query that one file names by text and one by its hash.

    >>> names_by_text(["how long?", "q1"], ["q-bde13c31b7b6", "q1"])
    {'q-bde13c31b7b6': 'how long?'}
    >>> names_by_text(["q-bde13c31b7b6"], ["how long?"])
    {'how long?': 'q-bde13c31b7b6'}
    """
    unknown = [name for name in given if name not in known]
    made = [name for name in unknown if name.startswith(_QUERY_PREFIX)]
    texts = {query_id_from_text(name): name for name in known} if made else {}
    found = {name: texts[name] for name in made if name in texts}
    if any(name.startswith(_QUERY_PREFIX) for name in known):
        hashes = {name: query_id_from_text(name) for name in unknown if name not in found}
        found |= {name: made_id for name, made_id in hashes.items() if made_id in known}
    return found


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
        parts = (loaded.grades, loaded.by_graders, loaded.ungraded)
        ids = {each.query_id for part in parts for each in part.records}
        asked = {query.query_id: query.text for query in loaded.asked.records}
        named = self._named_by_text(ids, asked)
        if not named.keys().isdisjoint(self.queries):  # they are ids, and some are missing
            asked = {made: text for made, text in asked.items() if made not in named.values()}
            named = {}
        known, alike = self._known({*ids, *asked} - named.keys(), asked)
        known |= {name: known.get(made, made) for name, made in named.items()}
        graded = (each.chunk_id for part in parts[:2] for each in part.records)
        chunks = self._chunks(graded)
        if known or chunks:
            loaded = replace(
                loaded,
                grades=_renamed(loaded.grades, known, chunks),
                by_graders=_renamed(loaded.by_graders, known, chunks),
                ungraded=_renamed(loaded.ungraded, known, chunks),
            )
        if loaded.asked.records:
            self._check_texts(loaded.asked)
            left = {query.query_id for query in loaded.asked.records} - asked.keys()
            new = _without(loaded.asked, known.keys() | self.queries.keys() | left)
            loaded = replace(loaded, queries=new)
        if alike:
            warnings = (*loaded.queries.warnings, *alike)
            loaded = replace(loaded, queries=replace(loaded.queries, warnings=warnings))
        return loaded

    def _named_by_text(self, ids: set[str], asked: Mapping[str, str]) -> dict[str, str]:
        """Return the ids made of the texts that name queries, by these texts."""
        made = {name: query_id_from_text(name) for name in ids} if asked else {}
        return {name: of for name, of in made.items() if of in asked and of != name}

    def _check_texts(self, asked: Loaded[Query]) -> None:
        """Raise `BadInput` for a query whose text here is another one than in the golden set."""
        for at, query in enumerate(asked.records):
            known = self.queries.get(query.query_id)
            if known is not None and fold_text(known) != fold_text(query.text):
                raise BadInput(
                    f"{asked.where(at)}: query {query.query_id!r} is {_short(query.text)} here and "
                    f"{_short(known)} in the golden set; if it is the same query, leave its text "
                    "out of this file"
                )

    def run(self, loaded: Loaded[Ranking]) -> Loaded[Ranking]:
        """Return ranked lists under the golden set's ids of their queries and chunks."""
        known, alike = self._known({ranking.query_id for ranking in loaded.records}, {})
        chunks = self._chunks(each for ranking in loaded.records for each in ranking.chunk_ids)
        if not known and not chunks:
            return loaded
        records = _Renamed(loaded.records, known, chunks)
        warnings = (*loaded.warnings, *alike)
        return Loaded(loaded.source, records, loaded.lines, loaded.facts, warnings)

    def retrievals(self, loaded: LoadedRetrievals) -> LoadedRetrievals:
        """Return retrieval records under the golden set's ids, without the queries it has.

        Raises `BadInput` where the golden set has another text for the id of a query.
        """
        asked = {query.query_id: query.text for query in loaded.queries.records}
        ids = {ranking.query_id for run in loaded.runs.values() for ranking in run.records}
        known, alike = self._known({*ids, *asked}, asked)
        self._check_texts(loaded.queries)
        new = _without(loaded.queries, known.keys() | self.queries.keys())
        there = len(loaded.queries.records) - len(new.records)
        facts = {**new.facts, "queries already there": there} if there else new.facts
        chunks = self._chunks(chunk.chunk_id for chunk in loaded.chunks.records)
        if chunks:
            known_texts = loaded.chunks.records
            kept = [at for at, each in enumerate(known_texts) if each.chunk_id not in chunks]
            loaded = replace(
                loaded,
                chunks=replace(
                    loaded.chunks,
                    records=[loaded.chunks.records[at] for at in kept],
                    lines=[loaded.chunks.lines[at] for at in kept],
                ),
            )
        return replace(
            loaded,
            queries=replace(new, facts=facts),
            runs={
                system: Loaded(
                    run.source,
                    _Renamed(run.records, known, chunks),
                    run.lines,
                    run.facts,
                    run.warnings,
                )
                for system, run in loaded.runs.items()
            },
            golden=replace(
                loaded.golden,
                grades=_renamed(loaded.golden.grades, known, chunks),
                by_graders=_renamed(loaded.golden.by_graders, known, chunks),
            ),
            items={
                system: _renamed_sources(sources, known, chunks)
                for system, sources in loaded.items.items()
            },
            asked={known.get(each, each): count for each, count in loaded.asked.items()},
            warnings=(*loaded.warnings, *alike),
        )

    def _known(
        self, given: set[str], asked: Mapping[str, str]
    ) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the golden set's ids of the queries that are named by their text.

        ``asked`` are the texts that the file has of its queries. Also return a sentence on those
        whose text is written in another way there.
        """
        unknown = given - self.queries.keys()
        if not unknown:
            return {}, ()
        by_text: dict[str, list[str]] = {}
        looks: dict[str, list[str]] = {}
        for query_id, text in self.queries.items():
            by_text.setdefault(query_id_from_text(text), []).append(query_id)
            looks.setdefault(fold_text(text), []).append(query_id)
        found: dict[str, str] = {}
        alike: list[str] = []
        for name in sorted(unknown):
            text = asked.get(name, name)
            ids = by_text.get(name) or by_text.get(query_id_from_text(name), [])
            if not ids and name in (text, query_id_from_text(text)):
                ids = looks.get(fold_text(text), [])
                alike += ids[:1]
            if len(ids) > 1:
                named = ", ".join(map(repr, ids[:_MOST_NAMED]))
                raise BadInput(
                    f"{len(ids)} queries have the text {_short(self.queries[ids[0]])} ({named}), "
                    "so that a text does not say which is meant; name queries by their id"
                )
            found |= dict.fromkeys([name] if ids else [], ids[0] if ids else "")
        _check_one_name(found, given)
        return found, _describe_alike(alike)

    def _chunks(self, given: Iterable[str]) -> Mapping[str, str]:
        made = {chunk_id for chunk_id in given if chunk_id.startswith(CHUNK_PREFIX)}
        return self.chunks(made) if made else {}


def _describe_alike(ids: Sequence[str]) -> tuple[str, ...]:
    if not ids:
        return ()
    named = format_list([*map(repr, sorted(ids))], _MOST_NAMED)
    return (
        f"its text of {format_count(len(ids), 'query', 'queries')} has other blanks or another "
        f"Unicode form than that in the golden set, and is taken for the same ({named})",
    )


def describe_look_alikes(known: Iterable[str], given: Iterable[str]) -> str | None:
    """Return a sentence on queries that are not known, but look as those that are not given.

    >>> describe_look_alikes(["star wars", "q2"], ["star  wars", "q3"])
    "'star  wars' differs from a query of the qrels in blanks or Unicode form only; it is another"
    """
    there, here = {*known}, {*given}
    looks = {fold_text(name) for name in there - here}
    alike = sorted(name for name in here - there if fold_text(name) in looks) if looks else []
    if not alike:
        return None
    named = format_list([*map(repr, alike)], _MOST_NAMED)
    verb, are = ("differs", "it is another") if len(alike) == 1 else ("differ", "they are others")
    which = "a query" if len(alike) == 1 else "queries"
    return f"{named} {verb} from {which} of the qrels in blanks or Unicode form only; {are}"


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


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:59]}…")


def _without(loaded: Loaded[Query], ids: Set[str]) -> Loaded[Query]:
    kept = [at for at, query in enumerate(loaded.records) if query.query_id not in ids]
    lines = [loaded.lines[at] for at in kept]
    return replace(loaded, records=[loaded.records[at] for at in kept], lines=lines)


def _renamed(
    loaded: Loaded[RecordT], queries: Mapping[str, str], chunks: Mapping[str, str]
) -> Loaded[RecordT]:
    return replace(loaded, records=_Renamed(loaded.records, queries, chunks))


def _renamed_sources(
    sources: Mapping[str, ListSource], queries: Mapping[str, str], chunks: Mapping[str, str]
) -> dict[str, ListSource]:
    found = {queries.get(query_id, query_id): source for query_id, source in sources.items()}
    if not chunks:
        return found
    return {
        query_id: replace(
            source, chunk_ids=tuple(chunks.get(each, each) for each in source.chunk_ids)
        )
        for query_id, source in found.items()
    }


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
