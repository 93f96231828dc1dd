"""Files of ranked lists (runs): TREC, JSON lines, tables and JSON documents.

Large runs are read in portions of complete lists, and each portion is sorted and put on disk
before the next is read, which saves memory. A file whose lists are interleaved is read again as
one portion.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from labeler.errors import BadInput
from labeler.formats.csv_tables import is_header, read_table
from labeler.formats.field_aliases import (
    CHUNK_OF_PAIR,
    GRADE,
    LISTS,
    ONE_QUERY,
    QUERY_OF_PAIR,
    RANK,
)
from labeler.formats.json_records import (
    TOO_LARGE,
    JsonDocument,
    Record,
    Records,
    as_id,
    as_whole_number,
    short,
    take,
    take_id,
)
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.lines import (
    BLOCK,
    Block,
    Blocks,
    InputFile,
    Lines,
    Progress,
    StrPath,
    file_source,
    open_blocks,
    peek_block,
    split_lines,
)
from labeler.formats.peers import ragas
from labeler.formats.peers.detection import identify_peer, not_a_run, read_json
from labeler.formats.peers.ranx import lists_in
from labeler.formats.ranked_lists import (
    OnDuplicate,
    Order,
    RankedLists,
    RunTally,
    loaded_run,
    loaded_run_fields,
    order_lists,
)
from labeler.formats.spool import Spool
from labeler.formats.trec import RUN_COLUMNS, TrecFile
from labeler.model import Loaded, LoadedRun, Ranking, Rankings

if TYPE_CHECKING:
    from labeler.formats.trec_arrow import RunColumns


_ENTRY_ID = (*CHUNK_OF_PAIR, "_id", "id")
_GRADED = tuple(name for name in GRADE if name != "score")
_REQUIRED = {"query id": QUERY_OF_PAIR, "chunk id": CHUNK_OF_PAIR}


def read_run(
    path: StrPath,
    *,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> LoadedRun:
    """Read ranked lists from a TREC run, JSONL, CSV or TSV, plain or gzip, best result first.

    With ``order="score"`` results are sorted by the 64-bit score, descending, with ties in file
    order; without scores by rank, else in file order. ``order="rank"`` sorts by the rank column.
    A chunk that occurs twice in a query's list is refused, with all its lines, or with
    ``on_duplicate="first"`` counts once, at its better rank. ``lines`` holds the first line of
    each list. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    source = _checked_source(path, order, on_duplicate, name, limits)
    with open_blocks(source, progress) as blocks:
        return _loaded(source, blocks, order, on_duplicate)


def stream_run(
    path: StrPath,
    *,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
    name: str | None = None,
    progress: Progress | None = None,
    limits: Limits = LIMITS,
) -> Loaded[Ranking]:
    """Read ranked lists as `read_run` does, but keep those of a large file on disk.

    That needs each list to be in one piece; otherwise all lists are in memory at once.
    """
    source = _checked_source(path, order, on_duplicate, name, limits)
    most = PORTION_SIZE if source.size else None  # a pipe cannot be read again
    return _in_portions(source, progress, order, on_duplicate, most)


def _checked_source(
    path: StrPath, order: Order, on_duplicate: OnDuplicate, name: str | None, limits: Limits
) -> InputFile:
    if order not in get_args(Order):
        raise BadInput(f"a run is read by score or rank, not {order!r}")
    if on_duplicate not in get_args(OnDuplicate):
        raise BadInput(f"duplicates are answered by refuse or first, not {on_duplicate!r}")
    return file_source(path, name, limits)


def _in_portions(
    source: InputFile,
    progress: Progress | None,
    order: Order,
    on_duplicate: OnDuplicate,
    most: int | None,
) -> Loaded[Ranking]:
    """Read a run in portions of ``most`` results or more, or as one if lists are interleaved."""
    try:
        with open_blocks(source, progress) as blocks:
            return _gathered(
                source, blocks, RunPortions(source, order, on_duplicate, most)
            ).loaded()
    except InterleavedLists:
        with open_blocks(source, progress) as blocks:
            return _loaded(source, blocks, order, on_duplicate)


def _loaded(
    source: InputFile,
    blocks: Blocks,
    order: Order,
    on_duplicate: OnDuplicate,
    bulk: bool | None = None,
) -> LoadedRun:
    """Read the blocks of a file as `read_run` does; see `_columns` for ``bulk``."""
    portions = RunPortions(source, order, on_duplicate, None)
    lists = _gathered(source, blocks, portions, bulk).lists
    rankings, tally, by_rank = order_lists(lists, order, on_duplicate)
    return loaded_run(lists, rankings, lists.first, tally, by_rank)


def _gathered(
    source: InputFile, blocks: Blocks, portions: RunPortions, bulk: bool | None = None
) -> RunPortions:
    _read_lists(source, portions, blocks, bulk)
    if not portions.lists.first:
        raise source.fail(None, "there is no result in it")
    return portions


def _read_lists(
    source: InputFile, portions: RunPortions, blocks: Blocks, bulk: bool | None
) -> None:
    number, first, blocks = peek_block(source, blocks)
    if first.startswith((b"{", b"[")):
        lines = split_lines(blocks)
        found = read_json(source, number, first, lines)
        if found is None:  # ids may begin with a bracket
            _read_lines(portions, file := TrecFile(source, RUN_COLUMNS), lines)
            portions.lists.comments = file.comments
        elif isinstance(found, JsonDocument):
            _read_records(source, portions, _lists_in(found))
        else:
            _read_records(source, portions, found)
    elif is_header(first, QUERY_OF_PAIR, CHUNK_OF_PAIR):
        _read_table(source, portions, split_lines(blocks))
    else:
        _read_trec(source, portions, blocks, bulk)


def _read_trec(source: InputFile, portions: RunPortions, blocks: Blocks, bulk: bool | None) -> None:
    file = TrecFile(source, RUN_COLUMNS)
    for block in blocks:
        columns = _columns(block, bulk, source.limits)
        if columns is None:
            _read_lines(portions, file, split_lines([block]))
        else:
            portions.extend(block.number, columns)
    portions.lists.comments = file.comments


def _columns(block: Block, bulk: bool | None, limits: Limits) -> RunColumns | None:
    """Return the columns of a block, or None where it must be read line by line.

    That is where it is irregular, or where ``bulk`` is false; by default ``bulk`` is false for
    blocks that are too small to be worth loading pyarrow.
    """
    if bulk is None:
        bulk = len(block.data) >= BLOCK or "pyarrow" in sys.modules
    if not bulk:
        return None
    from labeler.formats.trec_arrow import longest_id, parse_run_block

    columns = parse_run_block(block)
    return None if columns is None or longest_id(columns) > limits.id else columns


def _read_lines(portions: RunPortions, file: TrecFile, lines: Lines) -> None:
    for number, (query, _, chunk, rank, score, tag) in file.rows(lines):
        try:
            placed, scored = int(rank), float(score)
            if not abs(scored) < TOO_LARGE or b"_" in rank + score or abs(placed) >> 63:
                raise ValueError
        except ValueError:
            with file.source.at(number):
                placed, scored = _numbers(rank, score)
        query_id = file.text(number, query)
        lists = portions.lists_for(query_id)
        into = lists.list_of(query_id, number)
        lists.add(into, number, file.text(number, chunk), scored, placed)
        lists.tags[file.text(number, tag)] = None


def _numbers(rank: bytes, score: bytes) -> tuple[int, float]:
    """Return rank and score where the fast conversion fails, or raise `BadInput`."""
    scored = _score(score.decode(errors="replace"))
    return as_whole_number(rank.decode(errors="replace"), "rank"), 0.0 if scored is None else scored


def _score(value: object) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        if isinstance(value, str) and not value.isascii():
            raise ValueError  # other scripts' digits
        score = float(value)
        if not math.isfinite(score) or "_" in str(value):
            raise ValueError
    except (ValueError, OverflowError) as error:
        raise BadInput(f"score must be a finite number, not {short(value)}") from error
    if not abs(score) < TOO_LARGE:
        raise BadInput(f"score {short(value)} is larger than a 32-bit number can be (3.4e38)")
    return score


def _rank(record: Record) -> int | None:
    rank = take(record, RANK)
    return None if rank is None else as_whole_number(rank, "rank")


def _read_table(source: InputFile, portions: RunPortions, lines: Lines) -> None:
    for number, record in read_table(source, lines, _REQUIRED, ("score", *RANK, *GRADE)):
        with source.at(number):
            _add_flat(portions, number, record, source.limits)


def _lists_in(document: JsonDocument) -> Records:
    """Return the ranked lists of a document; raises `BadInput` for a document of grades."""
    if identify_peer(document).shape != "by query":
        raise not_a_run(document)
    return lists_in(document)


def _read_records(source: InputFile, portions: RunPortions, records: Records) -> None:
    for number, record in records:
        with source.at(number):
            if any(isinstance(record.get(key), list) for key in LISTS):
                _add_nested(portions, number, record, source.limits)
            elif ragas.is_result(record):
                _add_sample(portions, number, record, source.limits)
            else:
                _add_flat(portions, number, record, source.limits)


def _add_sample(portions: RunPortions, number: int, record: Record, limits: Limits) -> None:
    asked, chunk_ids = ragas.retrieved_in(record, limits)
    _add_nested(portions, number, {"query_id": asked.query_id, "results": chunk_ids}, limits)


def _add_flat(portions: RunPortions, number: int, record: Record, limits: Limits) -> None:
    query_id = take_id(record, QUERY_OF_PAIR, "query", limits, ONE_QUERY)
    _check_ranked(record)
    lists = portions.lists_for(query_id)
    into = lists.list_of(query_id, number)
    chunk_id = take_id(record, CHUNK_OF_PAIR, "chunk", limits)
    lists.add(into, number, chunk_id, _score(take(record, ["score"])), _rank(record))


def _check_ranked(record: Record) -> None:
    """Raise `BadInput` for a record with a grade but no order: a table of ratings."""
    graded = next((name for name in _GRADED if record.get(name) is not None), None)
    if graded is not None and not any(name in record for name in ("score", *RANK)):
        raise BadInput(
            f"a {graded} and neither score nor rank: these are golden grades and no run; load "
            "them as golden grades (labeler load golden)"
        )


def _add_nested(portions: RunPortions, number: int, record: Record, limits: Limits) -> None:
    query_id = take_id(record, QUERY_OF_PAIR, "query", limits, ONE_QUERY)
    lists = portions.lists_for(query_id)
    if first := lists.first_of(query_id):
        raise BadInput(f"query {query_id!r} has a list already, on line {first}")
    into = lists.list_of(query_id, number)
    for chunk_id, score, rank in _entries(take(record, LISTS), limits):
        lists.add(into, number, chunk_id, score, rank)


def _entries(results: list[Any], limits: Limits) -> Iterator[tuple[str, float | None, int | None]]:
    for entry in results:
        if isinstance(entry, dict):
            chunk_id = take_id(entry, _ENTRY_ID, "chunk", limits)
            yield chunk_id, _score(take(entry, ["score"])), _rank(entry)
        else:
            yield as_id(entry, "chunk", limits), None, None


PORTION_SIZE = 1_000_000  # results
_RESULT_SIZE = 100  # bytes of one in memory


class InterleavedLists(Exception):
    """The file cannot be read in portions: a list continues after other lists."""


class RunPortions:
    """The lists of a run while it is read, in portions of ``most`` results or more.

    Without ``most`` there is one portion; with it `InterleavedLists` may be raised.
    """

    def __init__(
        self, source: InputFile, order: Order, on_duplicate: OnDuplicate, most: int | None
    ) -> None:
        self.lists = RankedLists(source)
        self._order, self._on_duplicate, self._most = order, on_duplicate, most
        self._earlier: _OrderedPortions | None = None

    def lists_for(self, query_id: str) -> RankedLists:
        """Return the portion for the next result, which is of this query."""
        if self._is_due() and self.lists.first_of(query_id) is None:
            self._sort_portion()
        return self.lists

    def extend(self, line: int, columns: RunColumns) -> None:
        """Append a block of results, one per line, the first of them on ``line``."""
        if not self._is_due():
            self.lists.extend(line, columns)
            return
        whole, last = columns.last_apart()
        if whole is not None:
            self.lists.extend(line, whole)
            line += len(whole.ranks)
        self.lists_for(last.queries[0]).extend(line, last)

    def _is_due(self) -> bool:
        return self._most is not None and self.lists.size >= self._most

    def _sort_portion(self) -> None:
        lists = self.lists
        if self._earlier is None:
            self._earlier = _OrderedPortions()
        self._earlier.add(lists, *order_lists(lists, self._order, self._on_duplicate))
        self.lists = RankedLists(lists.source)
        self.lists.scored, self.lists.tags = lists.scored, lists.tags

    def loaded(self) -> Loaded[Ranking]:
        """Return all lists, best result first, with facts and warnings."""
        lists = self.lists
        if self._earlier is None:
            rankings, tally, by_rank = order_lists(lists, self._order, self._on_duplicate)
            return loaded_run(lists, rankings, lists.first, tally, by_rank)
        self._earlier.add(lists, *order_lists(lists, self._order, self._on_duplicate))
        return self._earlier.loaded(lists)


class _OrderedPortions:
    """The lists of all sorted portions, and their counts."""

    def __init__(self) -> None:
        self._lists: Spool[Ranking] = Spool()
        self._lines: dict[str, int] = {}
        self._tally: RunTally | None = None
        self._alike: tuple[bool, ...] | None = None

    def add(self, lists: RankedLists, rankings: Rankings, tally: RunTally, by_rank: bool) -> None:
        """Add a portion; raises `InterleavedLists` where it conflicts with earlier ones."""
        alike = by_rank, lists.ranked > 0, lists.unranked > 0
        apart = self._lines.keys().isdisjoint(rankings.query_ids)
        if not apart or self._alike not in (None, alike):
            raise InterleavedLists
        self._alike = alike
        self._lines |= zip(rankings.query_ids, lists.first, strict=True)
        for ranking in rankings.in_order(range(len(rankings))):
            self._lists.add(ranking, _RESULT_SIZE * len(ranking.chunk_ids))
        self._tally = tally if self._tally is None else self._tally + tally

    def loaded(self, lists: RankedLists) -> Loaded[Ranking]:
        """Return all portions as one run."""
        if self._tally is None or self._alike is None:
            raise ValueError("no portion has been added")
        first, by_rank = list(self._lines.values()), self._alike[0]
        return Loaded(*loaded_run_fields(lists, self._lists, first, self._tally, by_rank))
