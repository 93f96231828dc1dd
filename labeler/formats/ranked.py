"""Results to ranked lists; knows what orders a list and what must not stand in it, no format."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from labeler.errors import BadInput
from labeler.formats.reading import Source
from labeler.formats.records import counted, outer_spaces
from labeler.model import Loaded, Ranking

Order: TypeAlias = Literal["score", "rank"]
OnDuplicate: TypeAlias = Literal["refuse", "first"]

_MOST_LINES = 10


@dataclass(slots=True)
class RankedList:
    """One query's results in file order; ``scores`` is empty in a file without scores."""

    first: int
    chunks: list[str] = field(default_factory=list)
    scores: array[float] = field(default_factory=lambda: array("d"))
    ranks: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))


class RankedLists:
    """All results of a file, by query, and what the file says for all of them alike."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.by_query: dict[str, RankedList] = {}
        self.scored: bool | None = None
        self.unranked = 0
        self.ranked = 0
        self.tags: list[str] = []
        self.comments = 0

    def list_of(self, query_id: str, line: int) -> RankedList:
        """Return a query's list; its first line is ``line`` if it is new."""
        found = self.by_query.get(query_id)
        if found is None:
            found = self.by_query[query_id] = RankedList(line)
        return found

    def add(
        self, into: RankedList, line: int, chunk_id: str, score: float | None, rank: int | None
    ) -> None:
        """Append a result; refuse a score that others lack, or one lacking that others have."""
        if (score is not None) is not self.scored:
            if self.scored is not None:
                raise BadInput(
                    f"{'no score here' if score is None else 'a score here'}, but "
                    f"{'none' if score is not None else 'one'} on the lines before; "
                    "all results of a file need one, or none"
                )
            self.scored = score is not None
        into.chunks.append(chunk_id)
        into.lines.append(line)
        if score is not None:
            into.scores.append(score)
        into.ranks.append(0 if rank is None else rank)
        if rank is None:
            self.unranked = self.unranked or line
        else:
            self.ranked = self.ranked or line


def loaded_rankings(lists: RankedLists, order: Order, on_duplicate: OnDuplicate) -> Loaded[Ranking]:
    """Return the lists in order, best result first, with facts and warnings.

    Raises `BadInput` where a chunk stands twice in a list, unless the first one counts, and where
    ranks decide but are missing or equal.
    """
    if on_duplicate == "refuse":
        _refuse_duplicates(lists)
    by_rank = _by_rank(lists, order)
    rankings = [
        _ranking(query_id, found, _places(found, by_rank), lists.scored, on_duplicate == "first")
        for query_id, found in lists.by_query.items()
    ]
    return Loaded(
        lists.source.name,
        rankings,
        [found.first for found in lists.by_query.values()],
        _facts(lists, rankings),
        (*_disagreement(lists, by_rank), *_tag_warning(lists), *_space_warnings(rankings)),
    )


def _refuse_duplicates(lists: RankedLists) -> None:
    repeats: list[tuple[int, int, str, str]] = []
    for query_id, found in lists.by_query.items():
        if len(set(found.chunks)) < len(found.chunks):
            repeats += [
                (line, first, chunk, query_id)
                for line, first, chunk in _repeats(found.chunks, found.lines)
            ]
    if repeats:
        repeats.sort()
        line, first, chunk, query_id = repeats[0]
        raise lists.source.fail(
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


def _by_rank(lists: RankedLists, order: Order) -> bool:
    """Say whether the rank column decides; refuse ranks that cannot."""
    wanted = order == "rank" or (not lists.scored and lists.ranked > 0)
    if not wanted:
        return False
    if lists.unranked:
        raise lists.source.fail(lists.unranked, "no rank here; every result needs one")
    for query_id, found in lists.by_query.items():
        ties = list(_repeats(found.ranks, found.lines))
        if ties:
            line, first, rank = ties[0]
            raise lists.source.fail(
                line,
                f"rank {rank} appears twice for query {query_id!r} (first on line {first})"
                f"{_also(sorted({tie[0] for tie in ties} - {line}))}; ranks must differ "
                f"{'(order by score instead)' if lists.scored else '(or leave the ranks out)'}",
            )
    return True


def _places(found: RankedList, by_rank: bool) -> Sequence[int]:
    """Return the list's positions in the file, best first."""
    places = range(len(found.chunks))
    if by_rank:
        return sorted(places, key=found.ranks.__getitem__)
    if len(found.scores):
        # Python keeps ties in their order in reverse sorts as well.
        return sorted(places, key=found.scores.__getitem__, reverse=True)
    return places


def _ranking(
    query_id: str, found: RankedList, places: Sequence[int], scored: bool | None, first_counts: bool
) -> Ranking:
    if first_counts:
        # The first place a chunk has is its best: later ones do not replace it.
        best: dict[str, int] = {}
        for place in places:
            best.setdefault(found.chunks[place], place)
        places = list(best.values())
    return Ranking(
        query_id,
        tuple(found.chunks[place] for place in places),
        tuple(found.scores[place] for place in places) if scored else None,
    )


def _facts(lists: RankedLists, rankings: Sequence[Ranking]) -> dict[str, int | str]:
    depths = [len(ranking.chunk_ids) for ranking in rankings]
    low, high = min(depths), max(depths)
    facts: dict[str, int | str] = {
        "queries": len(rankings),
        "depth": high if low == high else f"{low} to {high}",
        "results": sum(depths),
    }
    if lists.scored:
        facts["queries with tied scores"] = sum(map(_has_ties, rankings))
    dropped = sum(len(found.chunks) for found in lists.by_query.values()) - sum(depths)
    if dropped:
        facts["duplicates dropped"] = dropped
    if lists.comments:
        facts["comment lines"] = lists.comments
    if lists.tags:
        facts["tag"] = ", ".join(lists.tags[:_MOST_LINES])
    return facts


def _has_ties(ranking: Ranking) -> bool:
    """Say whether two results have the same score as a 32-bit float, as trec_eval sees them."""
    with np.errstate(over="ignore"):
        scores = np.array(ranking.scores, dtype=np.float64).astype(np.float32)
    return len(np.unique(scores)) < len(scores)


def _disagreement(lists: RankedLists, by_rank: bool) -> tuple[str, ...]:
    """Return a warning where rank column and scores put a list in different orders."""
    if not lists.scored or lists.unranked:
        return ()
    odd = [query_id for query_id, found in lists.by_query.items() if _disagrees(found)]
    if not odd:
        return ()
    decides, other = ("rank", "score") if by_rank else ("score", "rank")
    some = counted(len(odd), "query")
    return (
        f"the rank column and the scores disagree in {some}, such as {odd[0]!r}; "
        f"the {decides} decides here (--order {other} takes the other)",
    )


def _disagrees(found: RankedList) -> bool:
    ranks = [found.ranks[place] for place in _places(found, by_rank=False)]
    return any(before > after for before, after in pairwise(ranks))


def _tag_warning(lists: RankedLists) -> tuple[str, ...]:
    if len(lists.tags) < 2:
        return ()
    return (f"the file holds {len(lists.tags)} tags; a run should be of one system",)


def _space_warnings(rankings: Sequence[Ranking]) -> tuple[str, ...]:
    queries = outer_spaces((ranking.query_id for ranking in rankings), "query")
    chunks = {chunk_id for ranking in rankings for chunk_id in ranking.chunk_ids}
    return (*queries, *outer_spaces(sorted(chunks), "chunk"))
