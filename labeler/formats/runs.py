"""Files of ranked lists (runs): TREC, JSON lines, tables and JSON documents.

Large runs are read in portions of complete lists, and each portion is sorted and put on disk
before the next is read, which saves memory. A file whose lists are interleaved is read again as
one portion.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, get_args

from labeler.errors import BadInput
from labeler.formats.csv_tables import begins_table, read_table
from labeler.formats.field_aliases import CHUNK_OF_RESULT, LISTS, QUERY_OF_PAIR, fold_name
from labeler.formats.json_records import (
    TOO_LARGE,
    JsonDocument,
    Record,
    Records,
    as_id,
    as_whole_number,
    take,
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
from labeler.formats.peers.detection import identify_peer, not_a_run, read_json
from labeler.formats.peers.ranx import lists_in
from labeler.formats.ranked_lists import (
    OnDuplicate,
    RankedLists,
    RunTally,
    loaded_run,
    loaded_run_fields,
    order_lists,
)
from labeler.formats.result_fields import KNOWN, Order, ResultReader, of_one_system, read_score
from labeler.formats.retrieval.parts import list_records, retrievals_in, sample
from labeler.formats.retrieval.tool_readers import is_of_tool
from labeler.formats.spool import Spool
from labeler.formats.trec import RUN_COLUMNS, TrecFile
from labeler.model import Loaded, LoadedRun, Ranking, Rankings

if TYPE_CHECKING:
    from labeler.formats.trec_arrow import RunColumns


_REQUIRED = {"query id": QUERY_OF_PAIR, "chunk id": CHUNK_OF_RESULT}
_CHUNK_KEYS = frozenset(map(fold_name, CHUNK_OF_RESULT))


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
    order; without scores by rank, else in file order. ``order="rank"`` sorts by the rank column,
    ``order="file"`` leaves the file's order.
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
    system: str | None = None,
) -> Loaded[Ranking]:
    """Read ranked lists as `read_run` does, but keep those of a large file on disk.

    That needs each list to be in one piece; otherwise all lists are in memory at once. With
    ``system`` the run of this system is read from a table or JSON that names several; without it
    such a file raises `SeveralSystems`.
    """
    source = _checked_source(path, order, on_duplicate, name, limits)
    most = PORTION_SIZE if source.size else None  # a pipe cannot be read again
    return _in_portions(source, progress, order, on_duplicate, most, system)


def _checked_source(
    path: StrPath, order: Order, on_duplicate: OnDuplicate, name: str | None, limits: Limits
) -> InputFile:
    if order not in get_args(Order):
        raise BadInput(f"a run is read by score, rank or file, not {order!r}")
    if on_duplicate not in get_args(OnDuplicate):
        raise BadInput(f"duplicates are answered by refuse or first, not {on_duplicate!r}")
    return file_source(path, name, limits)


def _in_portions(
    source: InputFile,
    progress: Progress | None,
    order: Order,
    on_duplicate: OnDuplicate,
    most: int | None,
    system: str | None = None,
) -> Loaded[Ranking]:
    """Read a run in portions of ``most`` results or more, or as one if lists are interleaved."""
    try:
        with open_blocks(source, progress) as blocks:
            portions = RunPortions(source, order, on_duplicate, most, system)
            return _gathered(source, blocks, portions).loaded()
    except InterleavedLists:
        with open_blocks(source, progress) as blocks:
            return _loaded(source, blocks, order, on_duplicate, system=system)


def _loaded(
    source: InputFile,
    blocks: Blocks,
    order: Order,
    on_duplicate: OnDuplicate,
    bulk: bool | None = None,
    system: str | None = None,
) -> LoadedRun:
    """Read the blocks of a file as `read_run` does; see `_columns` for ``bulk``."""
    portions = RunPortions(source, order, on_duplicate, None, system)
    lists = _gathered(source, blocks, portions, bulk).lists
    rankings, tally, decides = order_lists(lists, order, on_duplicate)
    return loaded_run(lists, rankings, lists.first, tally, decides)


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
    elif begins_table(first, QUERY_OF_PAIR, CHUNK_OF_RESULT):
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
    scored = read_score(score.decode(errors="replace"))
    return as_whole_number(rank.decode(errors="replace"), "rank"), 0.0 if scored is None else scored


def _read_table(source: InputFile, portions: RunPortions, lines: Lines) -> None:
    rows = read_table(source, lines, _REQUIRED, KNOWN)
    for number, record, system in of_one_system(source, rows, portions.reader.system):
        with source.at(number):
            _add_flat(portions, number, record, system)


def _lists_in(document: JsonDocument) -> Records:
    """Return the ranked lists of a document; raises `BadInput` for a document of grades."""
    if identify_peer(document).shape != "by query":
        raise not_a_run(document)
    return lists_in(document)


def _read_records(source: InputFile, portions: RunPortions, records: Records) -> None:
    sampled = sample(records)
    records = sampled.records
    first = [record for _, record in sampled.first]
    if is_of_tool(first) or not any(map(_is_result, first)):
        retrievals = retrievals_in(source, sampled)
        records = records if retrievals is None else list_records(retrievals)
    for number, record, system in of_one_system(source, records, portions.reader.system):
        with source.at(number):
            if any(isinstance(record.get(key), list) for key in LISTS):
                _add_nested(portions, number, record, system)
            else:
                _add_flat(portions, number, record, system)


def _is_result(record: Record) -> bool:
    """Return whether a record names a chunk, or has a list of results under the keys of a run."""
    lists = [record[key] for key in LISTS if isinstance(record.get(key), list)]
    if lists:
        return all(_names_chunk(entry) for entries in lists for entry in entries)
    return _names_chunk(record)


def _names_chunk(entry: object) -> bool:
    if isinstance(entry, dict):
        return any(fold_name(key) in _CHUNK_KEYS for key in entry)
    return isinstance(entry, str | int)


def _add_flat(portions: RunPortions, number: int, record: Record, system: str | None) -> None:
    query_id, found = portions.reader.flat(record)
    lists = portions.lists_for(query_id)
    lists.add(lists.list_of(query_id, number), number, *found)
    _tag(lists, system)


def _add_nested(portions: RunPortions, number: int, record: Record, system: str | None) -> None:
    reader, limits = portions.reader, portions.lists.source.limits
    query_id = reader.query_of(record)
    lists = portions.lists_for(query_id)
    if first := lists.first_of(query_id):
        raise BadInput(f"query {query_id!r} has a list already, on line {first}")
    into = lists.list_of(query_id, number)
    _tag(lists, system)
    reader.note_left(record)
    for entry in take(record, LISTS):
        if isinstance(entry, dict):
            lists.add(into, number, *reader.entry(entry))
        else:
            lists.add(into, number, as_id(entry, "chunk", limits), None, None)


def _tag(lists: RankedLists, system: str | None) -> None:
    if system is not None:
        lists.tags[system] = None


PORTION_SIZE = 1_000_000  # results
_RESULT_SIZE = 100  # bytes of one in memory


class InterleavedLists(Exception):
    """The file cannot be read in portions: a list continues after other lists."""


class RunPortions:
    """The lists of a run while it is read, in portions of ``most`` results or more.

    Without ``most`` there is one portion; with it `InterleavedLists` may be raised.
    """

    def __init__(
        self,
        source: InputFile,
        order: Order,
        on_duplicate: OnDuplicate,
        most: int | None,
        system: str | None = None,
    ) -> None:
        self.reader = ResultReader(order, source.limits, system)
        self.lists = RankedLists(source, self.reader)
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
        self.lists = RankedLists(lists.source, self.reader)
        self.lists.scored, self.lists.tags = lists.scored, lists.tags

    def loaded(self) -> Loaded[Ranking]:
        """Return all lists, best result first, with facts and warnings."""
        lists = self.lists
        if self._earlier is None:
            rankings, tally, decides = order_lists(lists, self._order, self._on_duplicate)
            return loaded_run(lists, rankings, lists.first, tally, decides)
        self._earlier.add(lists, *order_lists(lists, self._order, self._on_duplicate))
        return self._earlier.loaded(lists)


class _OrderedPortions:
    """The lists of all sorted portions, and their counts."""

    def __init__(self) -> None:
        self._lists: Spool[Ranking] = Spool()
        self._lines: dict[str, int] = {}
        self._tally: RunTally | None = None
        self._alike: tuple[Order, bool, bool] | None = None

    def add(self, lists: RankedLists, rankings: Rankings, tally: RunTally, decides: Order) -> None:
        """Add a portion; raises `InterleavedLists` where it conflicts with earlier ones."""
        alike = decides, lists.ranked > 0, lists.unranked > 0
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
        first, decides = list(self._lines.values()), self._alike[0]
        return Loaded(*loaded_run_fields(lists, self._lists, first, self._tally, decides))
