"""Results to ranked lists; knows what orders a list and what must not stand in it, no format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from labeler.errors import BadInput
from labeler.formats.reading import Source
from labeler.formats.records import outer_spaces
from labeler.formats.results import Places, RankedLists, Results
from labeler.model import LoadedRun, Rankings, counted

Order: TypeAlias = Literal["score", "rank"]
OnDuplicate: TypeAlias = Literal["refuse", "first"]

ListsT = TypeVar("ListsT")

_MOST_LINES = 10


@dataclass(frozen=True, slots=True)
class Tally:
    """What is counted of lists; that of a file is the sum over its portions."""

    queries: int
    results: int
    shortest: int
    longest: int
    tied: int
    dropped: int
    odd: tuple[int, str | None]  # lists that ranks and scores order differently, and the first
    spaced_queries: tuple[str, ...]
    spaced_chunks: frozenset[str]

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.queries + other.queries,
            self.results + other.results,
            min(self.shortest, other.shortest),
            max(self.longest, other.longest),
            self.tied + other.tied,
            self.dropped + other.dropped,
            (self.odd[0] + other.odd[0], self.odd[1] or other.odd[1]),
            self.spaced_queries + other.spaced_queries,
            self.spaced_chunks | other.spaced_chunks,
        )


def place(
    lists: RankedLists, order: Order, on_duplicate: OnDuplicate
) -> tuple[Rankings, Tally, bool]:
    """Return the lists in order, best result first, what is counted of them, and if ranks decided.

    Raises `BadInput` where a chunk stands twice in a list, unless the first one counts, and where
    ranks decide but are missing or equal.
    """
    found = lists.results()
    doubled = _doubled(found)
    if doubled and on_duplicate == "refuse":
        raise _refused_duplicates(lists.source, found, doubled)
    by_rank = order == "rank" or (not lists.scored and lists.ranked > 0)
    ranked = found.at(_by_rank(lists, found)) if by_rank else None
    found = found.at(_by_score(found))
    placed = found if ranked is None else ranked
    if doubled:
        placed = placed.at(_first_places(placed))
    return _rankings(placed), _tally(lists, found, placed), by_rank


def loaded_run(
    lists: RankedLists, rankings: Rankings, first: Sequence[int], tally: Tally, by_rank: bool
) -> LoadedRun:
    """Return rankings with facts and warnings; ``first`` is the line each list begins on."""
    return LoadedRun(*told_of(lists, rankings, first, tally, by_rank))


def told_of(
    lists: RankedLists, rankings: ListsT, first: Sequence[int], tally: Tally, by_rank: bool
) -> tuple[str, ListsT, Sequence[int], dict[str, int | str], tuple[str, ...]]:
    """Return what a loaded run is made of, in the order of its fields."""
    warnings = (
        *_disagreement(tally, by_rank),
        *_tag_warning(lists),
        *outer_spaces(tally.spaced_queries, "query"),
        *outer_spaces(sorted(tally.spaced_chunks), "chunk"),
    )
    return lists.source.name, rankings, first, _facts(lists, tally), warnings


def _doubled(found: Results) -> list[int]:
    """Return the numbers of the lists in which a chunk stands twice."""
    if len(found.names) == len(found.chunks):  # none stands twice in the whole file
        return []
    pairs = found.pairs()
    pairs.sort()
    twice = pairs[1:][pairs[1:] == pairs[:-1]]
    lists: list[int] = np.unique(twice // max(len(found.names), 1)).tolist()
    return lists


def _refused_duplicates(source: Source, found: Results, doubled: Sequence[int]) -> BadInput:
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
    """Give line, first line and value wherever a value has been there before."""
    seen: dict[Any, int] = {}
    for value, line in zip(values, lines, strict=True):
        if value in seen:
            yield line, seen[value], value
        else:
            seen[value] = line


def _also(lines: Sequence[int]) -> str:
    """Return the further lines of a message, ten lines in all."""
    if not lines:
        return ""
    named = ", ".join(map(str, lines[: _MOST_LINES - 1]))
    more = len(lines) - (_MOST_LINES - 1)
    return f"; also line{'s' if len(lines) > 1 else ''} {named}{f' and {more} more' * (more > 0)}"


def _by_score(found: Results) -> Places | None:
    """Return the places of the results by score, or None where they are in that order."""
    scores = found.scores
    if scores is None or not (found.follows() & (scores[1:] > scores[:-1])).any():
        return None
    return np.lexsort((-scores, found.queries))  # keeps ties in their order


def _by_rank(lists: RankedLists, found: Results) -> Places:
    """Return the places of the results by rank; refuse ranks that cannot decide."""
    if lists.unranked:
        raise lists.source.fail(lists.unranked, "no rank here; every result needs one")
    places = np.lexsort((found.ranks, found.queries))
    placed = found.at(places)
    tied = placed.follows() & (placed.ranks[1:] == placed.ranks[:-1])
    if tied.any():
        raise _refused_ranks(lists, found, int(placed.queries[int(tied.argmax())]))
    return places


def _refused_ranks(lists: RankedLists, found: Results, number: int) -> BadInput:
    mine = found.queries == number
    ties = list(_repeats(found.ranks[mine].tolist(), found.lines[mine].tolist()))
    line, first, rank = ties[0]
    return lists.source.fail(
        line,
        f"rank {rank} appears twice for query {found.query_ids[number]!r} (first on line {first})"
        f"{_also(sorted({tie[0] for tie in ties} - {line}))}; ranks must differ "
        f"{'(order by score instead)' if lists.scored else '(or leave the ranks out)'}",
    )


def _first_places(placed: Results) -> Places:
    """Return the best place of each chunk in its list: later ones do not replace it."""
    _, places = np.unique(placed.pairs(), return_index=True)
    places.sort()
    return places


def _rankings(placed: Results) -> Rankings:
    bounds = np.array(placed.bounds())
    return Rankings(placed.query_ids, bounds, placed.chunks, placed.scores, placed.names)


def _tally(lists: RankedLists, by_score: Results, placed: Results) -> Tally:
    depths = np.diff(placed.bounds())
    spaced = [] if placed.spaceless else filter(_is_spaced, placed.names.texts().tolist())
    return Tally(
        queries=len(depths),
        results=int(depths.sum()),
        shortest=int(depths.min()),
        longest=int(depths.max()),
        tied=0 if placed.scores is None else _tied_lists(placed),
        dropped=len(by_score.lines) - len(placed.lines),
        odd=_odd_lists(lists, by_score),
        spaced_queries=tuple(filter(_is_spaced, () if placed.spaceless else placed.query_ids)),
        spaced_chunks=frozenset(spaced),
    )


def _is_spaced(identifier: str) -> bool:
    return identifier != identifier.strip()


def _facts(lists: RankedLists, tally: Tally) -> dict[str, int | str]:
    low, high = tally.shortest, tally.longest
    facts: dict[str, int | str] = {
        "queries": tally.queries,
        "depth": high if low == high else f"{low} to {high}",
        "results": tally.results,
    }
    if lists.scored:
        facts["queries with tied scores"] = tally.tied
    if tally.dropped:
        facts["duplicates dropped"] = tally.dropped
    if lists.comments:
        facts["comment lines"] = lists.comments
    if lists.tags:
        facts["tag"] = ", ".join(list(lists.tags)[:_MOST_LINES])
    return facts


def _tied_lists(placed: Results) -> int:
    """Count lists where two results have the same score as a 32-bit float, as trec_eval sees it."""
    placed = placed.at(_by_score(placed))
    with np.errstate(over="ignore"):
        scores = np.asarray(placed.scores, dtype=np.float32)
    tied = placed.follows() & (scores[1:] == scores[:-1])
    return len(np.unique(placed.queries[1:][tied]))


def _odd_lists(lists: RankedLists, by_score: Results) -> tuple[int, str | None]:
    """Count the lists that ranks and scores put in different orders, and name the first."""
    if not lists.scored or lists.unranked:
        return 0, None
    odd = by_score.follows() & (by_score.ranks[1:] < by_score.ranks[:-1])
    numbers = np.unique(by_score.queries[1:][odd])
    return len(numbers), by_score.query_ids[numbers[0]] if len(numbers) else None


def _disagreement(tally: Tally, by_rank: bool) -> tuple[str, ...]:
    """Return a warning where rank column and scores put a list in different orders."""
    count, first = tally.odd
    if not count:
        return ()
    decides, other = ("rank", "score") if by_rank else ("score", "rank")
    return (
        f"the rank column and the scores disagree in {counted(count, 'query', 'queries')}, "
        f"such as {first!r}; "
        f"the {decides} decides here (--order {other} takes the other)",
    )


def _tag_warning(lists: RankedLists) -> tuple[str, ...]:
    if len(lists.tags) < 2:
        return ()
    return (f"the file holds {len(lists.tags)} tags; a run should be of one system",)
