"""Results to ranked lists; knows what orders a list and what must not stand in it, no format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from labeler.errors import BadInput
from labeler.formats.reading import Source
from labeler.formats.records import counted, outer_spaces
from labeler.formats.results import Places, RankedLists, Results
from labeler.model import LoadedRun, Rankings

Order: TypeAlias = Literal["score", "rank"]
OnDuplicate: TypeAlias = Literal["refuse", "first"]

_MOST_LINES = 10


def loaded_rankings(lists: RankedLists, order: Order, on_duplicate: OnDuplicate) -> LoadedRun:
    """Return the lists in order, best result first, with facts and warnings.

    Raises `BadInput` where a chunk stands twice in a list, unless the first one counts, and where
    ranks decide but are missing or equal.
    """
    placed, facts, warnings = _placed(lists, order, on_duplicate)
    return LoadedRun(lists.source.name, _rankings(placed), lists.first, facts, warnings)


def _placed(
    lists: RankedLists, order: Order, on_duplicate: OnDuplicate
) -> tuple[Results, dict[str, int | str], tuple[str, ...]]:
    """Return the results in the order of their lists, with facts and warnings."""
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
    warnings = (
        *_disagreement(lists, found, by_rank),
        *_tag_warning(lists),
        *_space_warnings(found),
    )
    return placed.bare(), _facts(lists, placed, len(found.lines) - len(placed.lines)), warnings


def _doubled(found: Results) -> list[int]:
    """Return the numbers of the lists in which a chunk stands twice."""
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


def _facts(lists: RankedLists, placed: Results, dropped: int) -> dict[str, int | str]:
    depths = np.diff(placed.bounds()).tolist()
    low, high = min(depths), max(depths)
    facts: dict[str, int | str] = {
        "queries": len(depths),
        "depth": high if low == high else f"{low} to {high}",
        "results": sum(depths),
    }
    if placed.scores is not None:
        facts["queries with tied scores"] = _tied_lists(placed)
    if dropped:
        facts["duplicates dropped"] = dropped
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


def _disagreement(lists: RankedLists, by_score: Results, by_rank: bool) -> tuple[str, ...]:
    """Return a warning where rank column and scores put a list in different orders."""
    if not lists.scored or lists.unranked:
        return ()
    odd = by_score.follows() & (by_score.ranks[1:] < by_score.ranks[:-1])
    numbers = np.unique(by_score.queries[1:][odd])
    if not len(numbers):
        return ()
    decides, other = ("rank", "score") if by_rank else ("score", "rank")
    return (
        f"the rank column and the scores disagree in {counted(len(numbers), 'query')}, "
        f"such as {by_score.query_ids[numbers[0]]!r}; "
        f"the {decides} decides here (--order {other} takes the other)",
    )


def _tag_warning(lists: RankedLists) -> tuple[str, ...]:
    if len(lists.tags) < 2:
        return ()
    return (f"the file holds {len(lists.tags)} tags; a run should be of one system",)


def _space_warnings(found: Results) -> tuple[str, ...]:
    if found.spaceless:
        return ()
    chunk_ids = sorted(found.names.texts().tolist())
    return (*outer_spaces(found.query_ids, "query"), *outer_spaces(chunk_ids, "chunk"))
