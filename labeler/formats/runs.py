"""Files of ranked lists; knows how each format writes a result, and nothing of their order."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from labeler.errors import BadInput
from labeler.formats import ragas
from labeler.formats.by_query import lists_in
from labeler.formats.documents import Document
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.names import CHUNK_OF_PAIR, GRADE, LISTS, ONE_QUERY, QUERY_OF_PAIR, RANK
from labeler.formats.peers import in_json, refused_run, told_peer
from labeler.formats.portions import PORTION, Portions, Scattered
from labeler.formats.ranked import OnDuplicate, Order, loaded_run, place
from labeler.formats.reading import (
    BLOCK,
    Block,
    Blocks,
    Lines,
    Progress,
    Source,
    StrPath,
    file_source,
    lines_of,
    open_blocks,
    peek_block,
)
from labeler.formats.records import (
    TOO_LARGE,
    Record,
    Records,
    as_id,
    short,
    take,
    take_id,
    whole,
)
from labeler.formats.tables import is_header, read_table
from labeler.formats.trec import RUN, TrecFile
from labeler.model import Loaded, LoadedRun, Ranking

if TYPE_CHECKING:  # pyarrow is loaded where it is worth it
    from labeler.formats.bulk import RunColumns

_ENTRY_ID = (*CHUNK_OF_PAIR, "_id", "id")
_GRADED = tuple(name for name in GRADE if name != "score")
_WANTED = {"query id": QUERY_OF_PAIR, "chunk id": CHUNK_OF_PAIR}


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

    With ``order="score"`` the 64-bit score decides, descending, and ties stay in file order;
    files without scores go by rank, else by file order. ``order="rank"`` takes the rank column
    instead. A chunk that stands twice in a query's list is refused with every line named, or
    with ``on_duplicate="first"`` counts once, where it is better placed. ``lines`` holds the
    first line of each list. Raises `BadInput` with file and line, `NotFound` for a missing file.
    """
    source = _checked(path, order, on_duplicate, name, limits)
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
    """Read ranked lists as `read_run` does; those of a large file wait on the disk.

    That is where each list is in one piece; else all of them are in memory at once.
    """
    source = _checked(path, order, on_duplicate, name, limits)
    most = PORTION if source.size else None  # what comes through a pipe cannot be read again
    return _in_portions(source, progress, order, on_duplicate, most)


def _checked(
    path: StrPath, order: Order, on_duplicate: OnDuplicate, name: str | None, limits: Limits
) -> Source:
    if order not in get_args(Order):
        raise BadInput(f"a run is read by score or rank, not {order!r}")
    if on_duplicate not in get_args(OnDuplicate):
        raise BadInput(f"duplicates are answered by refuse or first, not {on_duplicate!r}")
    return file_source(path, name, limits)


def _in_portions(
    source: Source,
    progress: Progress | None,
    order: Order,
    on_duplicate: OnDuplicate,
    most: int | None,
) -> Loaded[Ranking]:
    """Read a run in portions of ``most`` results or more, or as one where its lists are mixed."""
    try:
        with open_blocks(source, progress) as blocks:
            return _gathered(source, blocks, Portions(source, order, on_duplicate, most)).loaded()
    except Scattered:
        with open_blocks(source, progress) as blocks:
            return _loaded(source, blocks, order, on_duplicate)


def _loaded(
    source: Source,
    blocks: Blocks,
    order: Order,
    on_duplicate: OnDuplicate,
    bulk: bool | None = None,
) -> LoadedRun:
    """Return what blocks of a file hold, as `read_run` does; see `_columns` for ``bulk``."""
    portions = Portions(source, order, on_duplicate, None)
    lists = _gathered(source, blocks, portions, bulk).lists
    rankings, tally, by_rank = place(lists, order, on_duplicate)
    return loaded_run(lists, rankings, lists.first, tally, by_rank)


def _gathered(
    source: Source, blocks: Blocks, portions: Portions, bulk: bool | None = None
) -> Portions:
    """Read all blocks into portions, and return these."""
    _read_lists(source, portions, blocks, bulk)
    if not portions.lists.first:
        raise source.fail(None, "there is no result in it")
    return portions


def _read_lists(source: Source, portions: Portions, blocks: Blocks, bulk: bool | None) -> None:
    number, first, blocks = peek_block(source, blocks)
    if first.startswith((b"{", b"[")):
        lines = lines_of(blocks)
        found = in_json(source, number, first, lines)
        if found is None:  # ids may begin with a bracket
            _read_lines(portions, file := TrecFile(source, RUN), lines)
            portions.lists.comments = file.comments
        elif isinstance(found, Document):
            _read_records(source, portions, _lists_in(found))
        else:
            _read_records(source, portions, found)
    elif is_header(first, QUERY_OF_PAIR, CHUNK_OF_PAIR):
        _read_table(source, portions, lines_of(blocks))
    else:
        _read_trec(source, portions, blocks, bulk)


def _read_trec(source: Source, portions: Portions, blocks: Blocks, bulk: bool | None) -> None:
    file = TrecFile(source, RUN)
    for block in blocks:
        columns = _columns(block, bulk, source.limits)
        if columns is None:
            _read_lines(portions, file, lines_of([block]))
        else:
            portions.extend(block.number, columns)
    portions.lists.comments = file.comments


def _columns(block: Block, bulk: bool | None, limits: Limits) -> RunColumns | None:
    """Return the columns of a block, or None where it is to be read line by line.

    That is where something in it is odd, where it is too small to be worth loading pyarrow, unless
    ``bulk`` is true, and always where ``bulk`` is false.
    """
    if bulk is None:
        bulk = len(block.data) >= BLOCK or "pyarrow" in sys.modules
    if not bulk:
        return None
    from labeler.formats.bulk import longest_id, run_columns

    columns = run_columns(block)
    return None if columns is None or longest_id(columns) > limits.id else columns


def _read_lines(portions: Portions, file: TrecFile, lines: Lines) -> None:
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
    """Return rank and score where the quick way will not do, or say what is wrong with them."""
    scored = _score(score.decode(errors="replace"))
    return whole(rank.decode(errors="replace"), "rank"), 0.0 if scored is None else scored


def _score(value: object) -> float | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        if isinstance(value, str) and not value.isascii():
            raise ValueError  # digits of another script
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
    return None if rank is None else whole(rank, "rank")


def _read_table(source: Source, portions: Portions, lines: Lines) -> None:
    for number, record in read_table(source, lines, _WANTED, ("score", *RANK, *GRADE)):
        with source.at(number):
            _add_flat(portions, number, record, source.limits)


def _lists_in(document: Document) -> Records:
    """Give the ranked lists of a document; one of grades is refused."""
    if told_peer(document).shape != "by query":
        raise refused_run(document)
    return lists_in(document)


def _read_records(source: Source, portions: Portions, records: Records) -> None:
    for number, record in records:
        with source.at(number):
            if any(isinstance(record.get(key), list) for key in LISTS):
                _add_nested(portions, number, record, source.limits)
            elif ragas.is_result(record):
                _add_sample(portions, number, record, source.limits)
            else:
                _add_flat(portions, number, record, source.limits)


def _add_sample(portions: Portions, number: int, record: Record, limits: Limits) -> None:
    asked, chunk_ids = ragas.found_in(record, limits)
    _add_nested(portions, number, {"query_id": asked.query_id, "results": chunk_ids}, limits)


def _add_flat(portions: Portions, number: int, record: Record, limits: Limits) -> None:
    query_id = take_id(record, QUERY_OF_PAIR, "query", limits, ONE_QUERY)
    _check_ranked(record)
    lists = portions.lists_for(query_id)
    into = lists.list_of(query_id, number)
    chunk_id = take_id(record, CHUNK_OF_PAIR, "chunk", limits)
    lists.add(into, number, chunk_id, _score(take(record, ["score"])), _rank(record))


def _check_ranked(record: Record) -> None:
    """Raise `BadInput` for a table of ratings, whose order means nothing."""
    graded = next((name for name in _GRADED if record.get(name) is not None), None)
    if graded is not None and not any(name in record for name in ("score", *RANK)):
        raise BadInput(
            f"a {graded} and neither score nor rank: these are golden grades and no run; load "
            "them as golden grades (labeler load golden)"
        )


def _add_nested(portions: Portions, number: int, record: Record, limits: Limits) -> None:
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
