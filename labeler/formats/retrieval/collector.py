"""Collection of retrieval records: queries, chunks, runs and golden grades, each once."""

from __future__ import annotations

import math
import operator
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from labeler.errors import BadInput
from labeler.formats.golden import read_peer_grades
from labeler.formats.grades import GradeCollector, GradeRule, empty_golden
from labeler.formats.id_resolution import chunk_id_from_text, query_id_from_text
from labeler.formats.json_records import short
from labeler.formats.lines import InputFile
from labeler.formats.peers.peer_rows import PeerGrade, PeerQuery
from labeler.formats.queries import group_queries, parse_query
from labeler.formats.ranked_lists import OnDuplicate, RankedLists, loaded_run, order_lists
from labeler.formats.result_fields import Order, ResultReader
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk
from labeler.formats.spool import Spool, UniqueIds, compact_lines, estimate_size
from labeler.model import (
    Chunk,
    ListSource,
    Loaded,
    LoadedGolden,
    LoadedRetrievals,
    LoadedRun,
    Query,
    format_count,
)
from labeler.model.text import fold_text, visible_text

_NO_SCORE, _NO_RANK = math.nan, -1


@dataclass(slots=True)
class _Question:
    """A question as its first record has it."""

    line: int
    text: str
    metadata: Mapping[str, Any]
    reference: str | None


@dataclass(slots=True)
class _List:
    """A list's chunks by number, with scores (NaN for none), ranks (-1 for none) and lines."""

    time: str | None
    item: Mapping[str, str]
    places: Sequence[int] | None = None
    chunks: array[int] = field(default_factory=lambda: array("i"))
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))

    def add(self, chunk: int, result: RetrievedChunk, line: int) -> None:
        """Append a result."""
        self.chunks.append(chunk)
        self.scores.append(_NO_SCORE if result.score is None else result.score)
        self.ranks.append(_NO_RANK if result.rank is None else result.rank)
        self.lines.append(line)

    def rises(self) -> bool:
        """Return whether a score is larger than that before it."""
        return any(map(operator.lt, self.scores, self.scores[1:]))

    def falls(self) -> bool:
        """Return whether a score is smaller than that before it."""
        return any(map(operator.gt, self.scores, self.scores[1:]))


class RetrievalCollector:
    """What the records of a file say; where a question is asked again, its newest list counts."""

    def __init__(
        self, source: InputFile, order: Order, on_duplicate: OnDuplicate, rule: GradeRule
    ) -> None:
        self.source = source
        self._order, self._on_duplicate = order, on_duplicate
        self._rule = rule
        self._queries: dict[str, _Question] = {}
        self._asked: dict[str, Counter[str]] = {}  # by system
        self._numbers: dict[str, int] = {}
        self._ids: list[str] = []
        self._made: set[int] = set()  # chunks whose id is made of their text
        self._text_lines, self._text_hashes = array("q"), array("q")  # a line of 0: without text
        self._chunks: Spool[Chunk] = Spool()
        self._chunk_lines = array("q")
        self._reworded: dict[int, int] = {}  # chunks with several texts, and the place of the last
        self._lists: dict[str, dict[str, _List]] = {}
        self._grades: list[PeerGrade] = []
        self._items: set[tuple[str, str | None]] = set()
        self._counts: Counter[str] = Counter()
        self._newest: str | None = None
        self._unordered = False  # results one by one, without anything that orders them

    def add(self, found: Retrieval) -> None:
        """Add a record; raises `BadInput` where it contradicts an earlier one."""
        if (span := found.item.get("span")) is not None:
            if (span, found.system) in self._items:
                self._counts["the same span again, left out"] += 1
                return
            self._items.add((span, found.system))
        query_id = self._add_query(found)
        for each in found.graded:
            self._add_grade(found.line, query_id, each)
        if found.results is None:
            return
        self._newest = max(filter(None, (self._newest, found.time)), default=None)
        if found.is_part:
            self._add_part(found, query_id)
        else:
            self._add_list(found, query_id)

    def _add_query(self, found: Retrieval) -> str:
        """Return the id of a record's query, whose text is kept with it."""
        text = None if found.query is None else found.query.strip()
        query_id = found.query_id or query_id_from_text(text or "")
        if text is None:
            return query_id
        known = self._queries.get(query_id)
        if known is None:
            self._queries[query_id] = _Question(found.line, text, found.metadata, found.reference)
        elif known.text != text and fold_text(known.text) != fold_text(text):
            raise BadInput(
                f"query {query_id!r} has the text {short(text)} here and {short(known.text)} on "
                f"line {known.line}; an id names one query"
            )
        elif known.reference is None:
            known.reference = found.reference
        return query_id

    def _add_grade(self, line: int, query_id: str, result: RetrievedChunk) -> None:
        chunk_id = self._ids[self._number_of(result, line)]
        if result.grade is not None and result.grade != "":
            asked = PeerQuery(query_id, None)
            graders = () if result.grader is None else (result.grader,)
            given = (result.grade,), graders, result.note, result.listed
            self._grades.append(PeerGrade(line, asked, chunk_id, *given))

    def _add_part(self, found: Retrieval, query_id: str) -> None:
        """Add one result to its list."""
        mine = self._lists.setdefault(found.system or "", {})
        into = mine.setdefault(query_id, _List(found.time, found.item))
        for result in found.results or ():
            into.add(self._number_of(result, found.line), result, found.line)
            if result.score is None and result.rank is None:
                self._unordered = True

    def _add_list(self, found: Retrieval, query_id: str) -> None:
        mine = self._lists.setdefault(found.system or "", {})
        known = mine.get(query_id)
        self._asked.setdefault(found.system or "", Counter())[query_id] += 1
        new = _List(found.time, found.item, found.places)
        for result in found.results or ():
            new.add(self._number_of(result, found.line), result, found.line)
        if known is not None:
            self._counts["lists of questions asked again; the newest counts"] += 1
            if (new.time or "") < (known.time or ""):
                return
        mine[query_id] = new

    def _number_of(self, result: RetrievedChunk, line: int) -> int:
        """Return the number of a result's chunk, whose text is kept with it."""
        text, chunk_id = visible_text(result.text), result.chunk_id
        if chunk_id is None:
            chunk_id = chunk_id_from_text(result.text or "")
        number = self._numbers.get(chunk_id)
        if number is None:
            number = self._numbers[chunk_id] = len(self._ids)
            self._ids.append(chunk_id)
            self._text_lines.append(0)
            self._text_hashes.append(0)
            if result.chunk_id is None:
                self._made.add(number)
        if text is not None:
            if not self._text_lines[number]:
                self._add_chunk(number, result, line)
            elif self._text_hashes[number] != hash(text):
                self._reword(number, result, line)
        return number

    def _add_chunk(self, number: int, result: RetrievedChunk, line: int) -> None:
        self._text_lines[number], self._text_hashes[number] = line, hash(result.text)
        chunk = Chunk(
            self._ids[number],
            result.text,
            title=result.title,
            document_id=result.document_id,
            metadata=result.metadata,
        )
        size = len(chunk.text or "") + len(chunk.title or "") + estimate_size(chunk.metadata)
        self._chunks.add(chunk, size)
        self._chunk_lines.append(line)

    def _reword(self, number: int, result: RetrievedChunk, line: int) -> None:
        """Take another text of a chunk, from a log; in other files an id has one text."""
        first = self._text_lines[number]
        if not self._items:
            raise BadInput(
                f"chunk {self._ids[number]!r} has another text on line {first}; an id names one "
                "text. If it is the id of a document with several chunks, leave it out: --map "
                "without id makes ids of the texts"
            )
        self._add_chunk(number, result, line)
        self._reworded[number] = len(self._chunks) - 1

    def loaded(
        self, facets: Sequence[str] | None = None, facts: Mapping[str, int | str] = {}
    ) -> LoadedRetrievals:
        """Return what was read; ``facts`` are what its reader says of it."""
        if not self._queries and not self._lists and not self._grades:
            raise self.source.fail(None, "there is no question in it")
        warnings: list[str] = []
        chunks = self._loaded_chunks(self._join_made_ids(), warnings)
        return LoadedRetrievals(
            source=self.source.name,
            queries=self._loaded_queries(facets),
            chunks=chunks,
            runs={system: self._loaded_run(system) for system in self._lists},
            golden=self._golden(),
            items={
                system: {
                    query_id: self._source_of(each) for query_id, each in mine.items() if each.item
                }
                for system, mine in self._lists.items()
            },
            asked=self._counts_of_log(),
            newest=self._newest,
            facts={**facts, **self._counts},
            warnings=tuple(warnings),
        )

    def _loaded_queries(self, facets: Sequence[str] | None) -> Loaded[Query]:
        queries: Spool[Query] = Spool()
        ids = UniqueIds("query")
        for query_id, asked in self._queries.items():
            record = {**asked.metadata, "query_id": query_id, "query": asked.text}
            if asked.reference is not None:
                record["reference"] = asked.reference
            weight = estimate_size(record)
            with self.source.at(asked.line):
                queries.add(parse_query(record, self.source.limits), weight)
                ids.add(query_id, asked.line)
        if not queries:
            return Loaded(self.source.name, (), ())
        return group_queries(self.source, queries, ids, facets)

    def _join_made_ids(self) -> dict[int, int]:
        """Let chunks without an id be those with one and the same text; return these by number."""
        if not self._made:
            return {}
        named: dict[int, int] = {}  # by hash of the text
        for number, text_hash in enumerate(self._text_hashes):
            if self._text_lines[number] and number not in self._made:
                named.setdefault(text_hash, number)
        hashes = self._text_hashes
        same = {each: named[hashes[each]] for each in self._made if hashes[each] in named}
        if not same:
            return {}
        for mine in self._lists.values():
            for one in mine.values():
                one.chunks = array("i", (same.get(each, each) for each in one.chunks))
        ids = {self._ids[made]: self._ids[number] for made, number in same.items()}
        self._grades = [
            each._replace(chunk_id=ids.get(each.chunk_id, each.chunk_id)) for each in self._grades
        ]
        return same

    def _loaded_chunks(self, same: Mapping[int, int], warnings: list[str]) -> Loaded[Chunk]:
        """Return the chunks, each with its last text, without those that are the ``same``."""
        lines = compact_lines(self._chunk_lines)
        chunks: Sequence[Chunk] = self._chunks
        if self._reworded or same:
            places = {self._ids[number]: at for number, at in self._reworded.items()}
            places |= dict.fromkeys((self._ids[number] for number in same), -1)
            last = [at for at, each in enumerate(chunks) if places.get(each.chunk_id, at) == at]
            chunks, lines = [chunks[at] for at in last], [lines[at] for at in last]
        if self._reworded:
            some = format_count(len(places), "chunk has", "chunks have")
            one = self._ids[next(iter(self._reworded))]
            warnings.append(f"{some} several texts in this log, such as {one!r}; the last counts")
        facts: dict[str, int | str] = {"chunks": len(self._ids) - len(same)}
        if bare := self._text_lines.count(0):
            facts["without text"] = bare
        return Loaded(self.source.name, chunks, lines, facts)

    def _loaded_run(self, system: str) -> LoadedRun:
        reader = ResultReader(self._order, self.source.limits)
        reader.unordered = self._unordered
        lists, mine = RankedLists(self.source, reader), self._lists[system]
        scored, ranked = _have_all(mine, "scores"), _have_all(mine, "ranks")
        for query_id, each in mine.items():
            into = lists.list_of(query_id, each.lines[0] if each.lines else 0)
            for at, chunk in enumerate(each.chunks):
                score = each.scores[at] if scored else None
                rank = each.ranks[at] if ranked else None
                lists.add(into, each.lines[at], self._ids[chunk], score, rank)
        rankings, tally, decides = order_lists(lists, self._order, self._on_duplicate)
        run = loaded_run(lists, rankings, lists.first, tally, decides)
        return replace(run, warnings=(*run.warnings, *_order_warnings(mine, scored, decides)))

    def _source_of(self, one: _List) -> ListSource:
        chunk_ids = tuple(self._ids[chunk] for chunk in one.chunks)
        places = None if one.places is None else tuple(one.places)
        if places == tuple(range(len(chunk_ids))):
            places = None
        return ListSource(one.item.get("span"), one.item.get("trace"), chunk_ids, places)

    def _counts_of_log(self) -> dict[str, int]:
        """Return how often each question was asked of one system; none where none was again."""
        most: Counter[str] = Counter()
        for counts in self._asked.values():
            most |= counts
        return dict(most) if any(count > 1 for count in most.values()) else {}

    def _golden(self) -> LoadedGolden:
        if not self._grades:
            return empty_golden(self.source.name)
        pairs = GradeCollector(self.source, self._rule)
        return read_peer_grades(pairs, iter(self._grades))


def _have_all(lists: Mapping[str, _List], column: str) -> bool:
    """Return whether every result has a score, or a rank."""
    if column == "scores":
        return not any(score != score for each in lists.values() for score in each.scores)
    return not any(_NO_RANK in each.ranks for each in lists.values())


def _order_warnings(lists: Mapping[str, _List], scored: bool, decides: Order) -> Iterator[str]:
    """Yield sentences on scores that do not say what the order of the lists does."""
    missing = sum(score != score for each in lists.values() for score in each.scores)
    results = sum(len(each.scores) for each in lists.values())
    if 0 < missing < results:
        yield (
            f"{missing:,} of {results:,} results have no score, so scores order none of them: the "
            "order of the file counts"
        )
    rising = [query_id for query_id, each in lists.items() if scored and each.rises()]
    falling = any(each.falls() for each in lists.values())
    if decides == "score" and rising and falling:
        yield (
            f"the order of {len(rising):,} of {len(lists):,} lists is not that of their scores "
            f"(the first is of query {rising[0]!r}), as in lists that were reranked and kept the "
            "scores from before; the highest score is first here, and --order file keeps the order "
            "of the file"
        )
