"""Ranked lists of a run file as numpy columns: collected in file order, then sorted.

They are sorted by score, or by rank where chosen or where there are no scores. Columns instead of
objects, because a run may have millions of results.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from labeler.errors import BadInput
from labeler.formats.json_records import format_keys, space_warnings
from labeler.formats.lines import InputFile
from labeler.formats.result_fields import Order, ResultReader
from labeler.model import ChunkNames, LoadedRun, Rankings, format_count

if TYPE_CHECKING:
    from labeler.formats.trec_arrow import PackedIds, RunColumns


Indices: TypeAlias = npt.NDArray[np.intp]
Bools: TypeAlias = npt.NDArray[np.bool_]
Int64s: TypeAlias = npt.NDArray[np.int64]
Int32s: TypeAlias = npt.NDArray[np.int32]
Float64s: TypeAlias = npt.NDArray[np.float64]

_NO_NUMBERS = np.empty(0, np.int64)


class _ResultPart(NamedTuple):
    """Some results in file order; ``repeats`` says how many in a row each query has."""

    queries: Int32s
    repeats: Int64s | int
    scores: Float64s
    ranks: Float64s | Int64s
    lines: Int64s | range


@dataclass(frozen=True, slots=True, eq=False)
class ResultColumns:
    """A file's n results by column, each of shape (n,), list after list.

    ``queries`` and ``chunks`` are indices into ``query_ids`` and ``names``. ``scores`` is None in
    a file without scores; a missing rank is 0. ``spaceless`` is true where no id can hold a space.
    """

    query_ids: Sequence[str]
    names: ChunkNames
    queries: Int32s
    chunks: Int32s
    scores: Float64s | None
    ranks: Int64s
    lines: Int64s
    spaceless: bool

    def at(self, places: Indices | None) -> ResultColumns:
        """Return the results at ``places``, in that order; None means all, unchanged."""
        if places is None:
            return self
        return replace(
            self,
            queries=self.queries[places],
            chunks=self.chunks[places],
            scores=None if self.scores is None else self.scores[places],
            ranks=self.ranks[places],
            lines=self.lines[places],
        )

    def bare(self) -> ResultColumns:
        """Return the results without ranks and lines, which take as much memory as the rest."""
        return replace(self, ranks=_NO_NUMBERS, lines=_NO_NUMBERS)

    def follows(self) -> Bools:
        """Return for each result but the first whether it continues the list before, (n-1,)."""
        return np.equal(self.queries[1:], self.queries[:-1])

    def bounds(self) -> list[int]:
        """Return where each list begins, followed by the end of the last one."""
        wanted = np.arange(len(self.query_ids) + 1, dtype=self.queries.dtype)
        found: list[int] = np.searchsorted(self.queries, wanted).tolist()
        return found

    def pairs(self) -> Int64s:
        """Return a number for each result's pair of query and chunk, the same for equal pairs."""
        return self.queries.astype(np.int64) * len(self.names) + self.chunks


class RankedLists:
    """All results of a file in file order, and the properties they have in common."""

    def __init__(self, source: InputFile, reader: ResultReader | None = None) -> None:
        self.source, self.reader = source, reader
        self.first: list[int] = []
        self.scored: bool | None = None
        self.unranked = 0
        self.ranked = 0
        self.tags: dict[str, None] = {}
        self.comments = 0
        self._known: dict[str, int] = {}
        self._queries, self._scores = array("i"), array("d")
        self._ranks, self._lines = array("q"), array("q")
        self._chunks: list[str] = []
        self._parts: list[_ResultPart] = []
        self._spaceless = True
        self.size = 0
        self._packed: PackedIds | None = None

    def first_of(self, query_id: str) -> int | None:
        """Return the first line of a query's list, None where there is no list."""
        place = self._known.get(query_id)
        return None if place is None else self.first[place]

    def list_of(self, query_id: str, line: int) -> int:
        """Return the number of a query's list; its first line is ``line`` if it is new."""
        place = self._known.get(query_id)
        if place is None:
            place = self._known[query_id] = len(self.first)
            self.first.append(line)
        return place

    def add(
        self, into: int, line: int, chunk_id: str, score: float | None, rank: int | None
    ) -> None:
        """Append a result; raises `BadInput` where only some results have scores."""
        if (score is not None) is not self.scored:
            if self.scored is not None:
                raise BadInput(
                    f"{'no score here' if score is None else 'a score here'}, but "
                    f"{'none' if score is not None else 'one'} on the lines before; "
                    "all results of a file need one, or none"
                )
            self.scored = score is not None
        self.size += 1
        self._queries.append(into)
        self._chunks.append(chunk_id)
        self._lines.append(line)
        if score is not None:
            self._scores.append(score)
        self._ranks.append(0 if rank is None else rank)
        if rank is None:
            self.unranked = self.unranked or line
        else:
            self.ranked = self.ranked or line

    def extend(self, line: int, columns: RunColumns) -> None:
        """Append a block of results, one per line, the first of them on ``line``."""
        begins = line + np.cumsum(columns.repeats) - columns.repeats
        into = [self.list_of(*each) for each in zip(columns.queries, begins.tolist(), strict=True)]
        self._flush()
        self._spaceless &= columns.ascii
        numbers = np.array(into, np.int32)
        lines = range(line, line + len(columns.ranks))
        self._parts.append(
            _ResultPart(numbers, columns.repeats, columns.scores, columns.ranks, lines)
        )
        self._pack(columns)
        self.size += len(columns.ranks)
        self.scored = True
        self.ranked = self.ranked or line
        self.tags |= dict.fromkeys(columns.tags)

    def _pack(self, columns: RunColumns) -> None:
        if self._packed is None:
            from labeler.formats.trec_arrow import PackedIds

            self._packed = PackedIds()
        self._packed.extend(self._chunks)
        self._packed.extend(columns.chunks)
        self._chunks = []

    def _flush(self) -> None:
        """Move the results that were added one by one to the parts."""
        self._spaceless &= not self._queries
        grown = self._queries, self._scores, self._ranks, self._lines
        queries, *others = map(np.asarray, grown)
        self._parts.append(_ResultPart(queries, 1, *others))
        self._queries, self._scores = array("i"), array("d")
        self._ranks, self._lines = array("q"), array("q")

    def results(self) -> ResultColumns:
        """Return all results and drop them here: lists by first line, each in file order."""
        self._flush()
        columns = list(zip(*self._parts, strict=True))
        self._parts.clear()
        # One column at a time, so that its parts are freed once they are joined.
        lines = np.concatenate([_line_numbers(each) for each in columns.pop()])
        ranks = np.concatenate(columns.pop(), dtype=np.int64, casting="unsafe")
        scores = np.concatenate(columns.pop())
        queries = np.concatenate(list(map(np.repeat, *columns)))
        chunks, names = self._numbered()
        scored = scores if self.scored else None
        query_ids, spaceless = list(self._known), self._spaceless
        found = ResultColumns(query_ids, names, queries, chunks, scored, ranks, lines, spaceless)
        mixed = (queries[1:] < queries[:-1]).any()
        return found.at(np.argsort(queries, kind="stable")) if mixed else found

    def _numbered(self) -> tuple[Int32s, ChunkNames]:
        """Return the chunk of each result as a number, and the chunk ids by number."""
        chunks, self._chunks = self._chunks, []
        if self._packed is not None:
            self._packed.extend(chunks)
            return self._packed.numbered()
        known: dict[str, int] = {}
        each = (known.setdefault(chunk_id, len(known)) for chunk_id in chunks)
        numbers = np.fromiter(each, np.int32, len(chunks))
        return numbers, _ListedNames(known)


class _ListedNames:
    """Chunk ids by number, kept as Python strings."""

    def __init__(self, numbers: Mapping[str, int]) -> None:
        self._numbers = numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def texts(self) -> npt.NDArray[np.object_]:
        return np.fromiter(self._numbers, object, len(self))

    def places_in(self, ids: Sequence[str]) -> Int32s:
        places = {chunk_id: at for at, chunk_id in enumerate(ids)}
        return np.fromiter((places.get(each, -1) for each in self._numbers), np.int32, len(self))


def _line_numbers(lines: Int64s | range) -> Int64s:
    return np.arange(lines.start, lines.stop) if isinstance(lines, range) else lines


OnDuplicate: TypeAlias = Literal["refuse", "first"]

ListsT = TypeVar("ListsT")

_MOST_LINES = 10
_FEWEST_STEPS = 3  # fewer rise by chance


@dataclass(frozen=True, slots=True)
class RunTally:
    """Counts of ranked lists; those of a file are the sum over its portions."""

    queries: int
    results: int
    shortest: int
    longest: int
    tied: tuple[int, int]  # lists with equal scores: in 64 bits, in 32 bits
    dropped: int
    odd: tuple[int, str | None]  # lists that ranks and scores order differently, and the first one
    steps: tuple[int, int]  # from a result to the next in the file: scores that rise, that fall
    spaced_queries: tuple[str, ...]
    spaced_chunks: frozenset[str]

    def __add__(self, other: RunTally) -> RunTally:
        return RunTally(
            self.queries + other.queries,
            self.results + other.results,
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
            (self.tied[0] + other.tied[0], self.tied[1] + other.tied[1]),
            self.dropped + other.dropped,
            (self.odd[0] + other.odd[0], self.odd[1] or other.odd[1]),
            (self.steps[0] + other.steps[0], self.steps[1] + other.steps[1]),
            self.spaced_queries + other.spaced_queries,
            self.spaced_chunks | other.spaced_chunks,
        )


def order_lists(
    lists: RankedLists, order: Order, on_duplicate: OnDuplicate
) -> tuple[Rankings, RunTally, Order]:
    """Return the lists sorted, best result first, their counts, and what decided.

    Raises `BadInput` where a chunk occurs twice in a list, unless the first one counts, and where
    ranks decide but are missing or equal.
    """
    found = lists.results()
    doubled = _lists_with_repeats(found)
    if doubled and on_duplicate == "refuse":
        raise _refused_duplicates(lists.source, found, doubled)
    decides: Order = "rank" if order == "score" and not lists.scored and lists.ranked else order
    as_given = found if decides == "file" else None
    ranked = found.at(_by_rank(lists, found)) if decides == "rank" else None
    steps = _steps(found)
    found = found.at(_by_score(found) if steps[0] else None)
    placed = as_given or ranked or found
    if doubled:
        placed = placed.at(_first_places(placed))
    return _rankings(placed), _tally(lists, found, placed, steps), decides


def loaded_run(
    lists: RankedLists, rankings: Rankings, first: Sequence[int], tally: RunTally, decides: Order
) -> LoadedRun:
    """Return rankings with facts and warnings; ``first`` are the first lines of the lists."""
    return LoadedRun(*loaded_run_fields(lists, rankings, first, tally, decides))


def loaded_run_fields(
    lists: RankedLists, rankings: ListsT, first: Sequence[int], tally: RunTally, decides: Order
) -> tuple[str, ListsT, Sequence[int], dict[str, int | str], tuple[str, ...]]:
    """Return the values of a loaded run, in the order of its fields."""
    warnings = (
        *_disagreement(tally, decides),
        *_order_warnings(lists, tally, decides),
        *_tag_warning(lists),
        *space_warnings(tally.spaced_queries, "query"),
        *space_warnings(sorted(tally.spaced_chunks), "chunk"),
    )
    return lists.source.name, rankings, first, _facts(lists, tally), warnings


def _lists_with_repeats(found: ResultColumns) -> list[int]:
    if len(found.names) == len(found.chunks):  # none occurs twice in the whole file
        return []
    pairs = found.pairs()
    pairs.sort()
    twice = pairs[1:][pairs[1:] == pairs[:-1]]
    lists: list[int] = np.unique(twice // max(len(found.names), 1)).tolist()
    return lists


def _refused_duplicates(
    source: InputFile, found: ResultColumns, doubled: Sequence[int]
) -> BadInput:
    bounds, texts = found.bounds(), found.names.texts()
    repeats: list[tuple[int, int, str, str]] = []
    for number in doubled:
        mine = slice(bounds[number], bounds[number + 1])
        chunk_ids = texts[found.chunks[mine]].tolist()
        repeats += [
            (line, first, chunk, found.query_ids[number])
            for line, first, chunk in _repeats(chunk_ids, found.lines[mine].tolist())
        ]
    repeats.sort()
    line, first, chunk, query_id = repeats[0]
    return source.fail(
        line,
        f"chunk {chunk!r} appears twice for query {query_id!r} (first on line {first})"
        f"{_also(sorted({repeat[0] for repeat in repeats} - {line}))}; "
        "keep the better placed with --on-duplicate first",
    )


def _repeats(values: Sequence[Any], lines: Sequence[int]) -> Iterator[tuple[int, int, Any]]:
    """Yield line, first line and value for each repeat of a value."""
    seen: dict[Any, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value in seen:
            yield line, seen[value], value
        else:
            seen[value] = line


def _also(lines: Sequence[int]) -> str:
    """Return the other lines for a message, which names ten lines in all."""
    if not lines:
        return ""
    named = ", ".join(map(str, lines[: _MOST_LINES - 1]))
    more = len(lines) - (_MOST_LINES - 1)
    return f"; also line{'s' if len(lines) > 1 else ''} {named}{f' and {more} more' * (more > 0)}"


def _steps(found: ResultColumns) -> tuple[int, int]:
    """Return how often the score rises from a result of a list to the next, and how often falls."""
    if found.scores is None:
        return 0, 0
    follows, scores = found.follows(), found.scores
    rising = int((follows & (scores[1:] > scores[:-1])).sum())
    return rising, int((follows & (scores[1:] < scores[:-1])).sum()) if rising else 0


def _by_score(found: ResultColumns) -> Indices | None:
    """Return the order of the results by score, None where there are none."""
    scores = found.scores
    if scores is None:
        return None
    return np.lexsort((-scores, found.queries))  # keeps ties in their order


def _by_rank(lists: RankedLists, found: ResultColumns) -> Indices:
    """Return the order of the results by rank; raises `BadInput` for missing or equal ranks."""
    if lists.unranked:
        raise lists.source.fail(lists.unranked, "no rank here; every result needs one")
    places = np.lexsort((found.ranks, found.queries))
    placed = found.at(places)
    tied = placed.follows() & (placed.ranks[1:] == placed.ranks[:-1])
    if tied.any():
        raise _refused_ranks(lists, found, int(placed.queries[int(tied.argmax())]))
    return places


def _refused_ranks(lists: RankedLists, found: ResultColumns, number: int) -> BadInput:
    mine = found.queries == number
    ties = list(_repeats(found.ranks[mine].tolist(), found.lines[mine].tolist()))
    line, first, rank = ties[0]
    return lists.source.fail(
        line,
        f"rank {rank} appears twice for query {found.query_ids[number]!r} (first on line {first})"
        f"{_also(sorted({tie[0] for tie in ties} - {line}))}; ranks must differ "
        f"{'(order by score instead)' if lists.scored else '(or leave the ranks out)'}",
    )


def _first_places(placed: ResultColumns) -> Indices:
    """Return the first place of each chunk in its sorted list."""
    _, places = np.unique(placed.pairs(), return_index=True)
    places.sort()
    return places


def _rankings(placed: ResultColumns) -> Rankings:
    bounds = np.array(placed.bounds())
    return Rankings(placed.query_ids, bounds, placed.chunks, placed.scores, placed.names)


def _tally(
    lists: RankedLists, by_score: ResultColumns, placed: ResultColumns, steps: tuple[int, int]
) -> RunTally:
    depths = np.diff(placed.bounds())
    spaced = [] if placed.spaceless else filter(_is_spaced, placed.names.texts().tolist())
    return RunTally(
        queries=len(depths),
        results=int(depths.sum()),
        shortest=int(depths.min()),
        longest=int(depths.max()),
        tied=_tied_lists(placed),
        dropped=len(by_score.lines) - len(placed.lines),
        odd=_inconsistent_lists(lists, by_score),
        steps=steps,
        spaced_queries=tuple(filter(_is_spaced, () if placed.spaceless else placed.query_ids)),
        spaced_chunks=frozenset(spaced),
    )


def _is_spaced(identifier: str) -> bool:
    return identifier != identifier.strip()


def _facts(lists: RankedLists, tally: RunTally) -> dict[str, int | str]:
    low, high = tally.shortest, tally.longest
    facts: dict[str, int | str] = {
        "queries": tally.queries,
        "depth": high if low == high else f"{low} to {high}",
        "results": tally.results,
    }
    if lists.scored:
        tied, as_floats = tally.tied
        more = f"{tied}, under the preset trec_eval {as_floats}"  # `add_run` looks for these, too
        facts["queries with tied scores"] = tied if tied == as_floats else more
    if tally.dropped:
        facts["duplicates dropped"] = tally.dropped
    if lists.comments:
        facts["comment lines"] = lists.comments
    if lists.tags:
        facts["tag"] = ", ".join(list(lists.tags)[:_MOST_LINES])
    if lists.reader is not None and lists.reader.left:
        facts["left"] = format_keys(lists.reader.left)
    return facts


def _tied_lists(placed: ResultColumns) -> tuple[int, int]:
    """Count lists in which two scores are the same, and are in 32 bits, as trec_eval has them."""
    if placed.scores is None:
        return 0, 0
    placed = placed.at(_by_score(placed) if _steps(placed)[0] else None)
    whole, follows = np.asarray(placed.scores), placed.follows()
    with np.errstate(over="ignore"):
        scores = whole.astype(np.float32)
    alike = np.flatnonzero(follows & (scores[1:] == scores[:-1])) + 1
    same = alike[whole[alike] == whole[alike - 1]]
    return len(np.unique(placed.queries[same])), len(np.unique(placed.queries[alike]))


def _inconsistent_lists(lists: RankedLists, by_score: ResultColumns) -> tuple[int, str | None]:
    """Return how many lists ranks and scores order differently, and the first such query."""
    if not lists.scored or lists.unranked:
        return 0, None
    odd = by_score.follows() & (by_score.ranks[1:] < by_score.ranks[:-1])
    numbers = np.unique(by_score.queries[1:][odd])
    return len(numbers), by_score.query_ids[numbers[0]] if len(numbers) else None


def _disagreement(tally: RunTally, decides: Order) -> tuple[str, ...]:
    """Return a warning where rank column and scores order a list differently."""
    count, first = tally.odd
    if not count or decides == "file":
        return ()
    other = "score" if decides == "rank" else "rank"
    return (
        f"the rank column and the scores disagree in {format_count(count, 'query', 'queries')}, "
        f"such as {first!r}; "
        f"the {decides} decides here (--order {other} takes the other)",
    )


def _order_warnings(lists: RankedLists, tally: RunTally, decides: Order) -> Iterator[str]:
    """Yield warnings where the order of the lists is a guess."""
    reader, (rising, falling) = lists.reader, tally.steps
    if decides != "score" or reader is None:
        return
    if reader.unordered and not lists.scored:
        yield (
            "neither a score nor a rank is named, so the order of the file counts, best first; "
            "name a column score or rank, or say --order file"
        )
    if reader.by_distance is not None:
        yield f"the smallest {reader.by_distance} is best; scores are minus the distances"
    elif rising >= _FEWEST_STEPS and not falling and not lists.ranked:
        yield (
            f"the scores never fall from line to line in any list ({rising} times they rise): "
            "are they distances? The highest counts as best; --order file takes the file's order"
        )


def _tag_warning(lists: RankedLists) -> tuple[str, ...]:
    if len(lists.tags) < 2:
        return ()
    return (f"the file holds {len(lists.tags)} tags; a run should be of one system",)
