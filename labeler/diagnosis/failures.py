"""Why a query fails in a run: one class each, with the lever that fits; knows no pages, no files.

The classes are asked in a fixed order and the first that matches counts: what makes a later one
meaningless comes before it. Nothing relevant can be outranked where nothing relevant is known.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from labeler.errors import BadInput
from labeler.evaluation import Scoreboard
from labeler.likeness import first_alike
from labeler.measures import Measure
from labeler.model import Chunk

Side = Literal["labels", "recall", "ranking"]
SIDES: tuple[Side, ...] = ("ranking", "recall", "labels")
TextOf = Callable[[int], str | None]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """A reason to fail: what it means, what to try, and whose fault it is.

    ``side`` is ``labels`` where too little is known to blame the system, ``recall`` where the
    right chunk was not found, ``ranking`` where it was, and stands too low.
    """

    name: str
    meaning: str
    lever: str
    side: Side


NO_RESULTS = FailureClass(
    "no results",
    "The run has no result for this query.",
    "Look for an error, a time-out or a filter that leaves nothing.",
    "recall",
)
UNCLEAR = FailureClass(
    "the query is unclear",
    "A grader says that nobody can tell what the query asks.",
    "Ask whoever wrote it, write it anew, or retire it.",
    "labels",
)
UNANSWERED = FailureClass(
    "nothing here answers it",
    "A grader says that no chunk answers the query, and none is graded relevant.",
    "Write the missing document, or let the product say that it does not know.",
    "recall",
)
NOTHING_RELEVANT = FailureClass(
    "nothing relevant known",
    "Nobody has found a relevant chunk: all that is graded is too low.",
    "Grade deeper or search by hand; if no document answers it, write one, or let the product say "
    "that it does not know.",
    "labels",
)
NOT_IN_CORPUS = FailureClass(
    "relevant chunk not in the corpus",
    "No relevant chunk is among the chunks that have text.",
    "Load the missing documents; if chunks were cut anew, bring the grades over to the new ids.",
    "recall",
)
MOSTLY_HOLES = FailureClass(
    "mostly holes in the top k",
    "More than half of what reaches the prompt was never graded.",
    "Grade these chunks first: until then nobody knows whether the query fails.",
    "labels",
)
NEVER_RETRIEVED = FailureClass(
    "never retrieved by any run",
    "A relevant chunk is known, and no run has it at any depth.",
    "Change chunking or the embedding, try hybrid search or rewrite the query: its words are not "
    "those of the answer.",
    "recall",
)
OTHER_RUN_ONLY = FailureClass(
    "retrieved by another run only",
    "Another run finds a relevant chunk, this one finds none at any depth.",
    "Combine the two (hybrid search, fusion), or learn what the other does.",
    "recall",
)
CROWDED_OUT = FailureClass(
    "crowded out by near-duplicates",
    "Without near-duplicates in the top k, a relevant chunk would be among them.",
    "Remove duplicates before the prompt: by text, by document, or with a diversifying reranker.",
    "ranking",
)
BELOW_BUDGET = FailureClass(
    "retrieved below the prompt budget",
    "A relevant chunk is in the list, but too low to reach the prompt.",
    "Rerank the candidates; a larger budget would also reach it.",
    "ranking",
)
OUTRANKED = FailureClass(
    "outranked by irrelevant",
    "A relevant chunk reaches the prompt, but what stands above or beside it keeps the value "
    "below the bar.",
    "Look at what is above it: a reranker, or filters for version, region or product.",
    "ranking",
)

CLASSES = (
    NO_RESULTS,
    UNCLEAR,
    UNANSWERED,
    NOTHING_RELEVANT,
    NOT_IN_CORPUS,
    MOSTLY_HOLES,
    NEVER_RETRIEVED,
    OTHER_RUN_ONLY,
    CROWDED_OUT,
    BELOW_BUDGET,
    OUTRANKED,
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A query fails where ``measure`` is below ``least``, or undefined."""

    measure: Measure
    least: float

    def __post_init__(self) -> None:
        if not 0 < self.least <= 1:
            raise BadInput(f"a bar is above 0 and at most 1, not {self.least}")


@dataclass(frozen=True, slots=True)
class Failure:
    """A query that fails: its class, its value (NaN if undefined) and the best relevant rank.

    ``rank`` is that of the first relevant chunk in this run, None where it has none.
    """

    query_id: str
    failure: FailureClass
    bar: Bar
    value: float
    rank: int | None


@dataclass(frozen=True, slots=True)
class _Case:
    """What the classes look at: one query in one run, relevant by the bar's grade or better."""

    chunks: Sequence[int]
    grades: Mapping[int, int]
    relevant: frozenset[int]
    k: int
    corpus: Collection[int]
    anywhere: bool
    text_of: TextOf | None
    said: Collection[str]

    @property
    def top(self) -> Sequence[int]:
        return self.chunks[: self.k]

    @property
    def ranks(self) -> list[int]:
        return [rank for rank, chunk in enumerate(self.chunks, 1) if chunk in self.relevant]


def default_bar(board: Scoreboard) -> Bar:
    """Return the bar where none is set: a relevant chunk within the prompt budget."""
    [measure] = board.conventions.measures("Success@budget")
    return Bar(measure, 1.0)


def fails_where(board: Scoreboard, bar: Bar, bars: Mapping[str, Bar]) -> str:
    """Say below which value a query fails: those of a task by its bar in ``bars``, others below."""
    return "; ".join(
        f"{f'{task}: ' if task else ''}"
        f"{board.conventions.heading(board.resolve([each.measure])[0])} below {each.least:g}"
        for task, each in [*bars.items(), ("others" if bars else "", bar)]
    )


def diagnose(
    board: Scoreboard,
    run: str,
    *,
    bar: Bar | None = None,
    bars: Mapping[str, Bar] | None = None,
    corpus: Collection[int] = (),
    text_of: TextOf | Mapping[int, str] | None = None,
    said: Mapping[str, Collection[str]] | None = None,
) -> dict[str, Failure | None]:
    """Say of every judged query why it fails in ``run``; None where it does not.

    A query fails below the bar of its task in ``bars``, else below ``bar``, by default Success at
    the prompt budget. Queries that nobody has graded are not in the answer: nobody knows whether
    they fail. "Relevant" is what the bar's measure takes it to be, grade 1 if it takes no
    threshold; the top k is the prompt budget.

    ``corpus`` are the numbers of the chunks that have text; empty, it is taken to be unknown and
    no chunk to be missing. ``text_of`` gives the text of a chunk by number, or None; without it
    nothing is found to be a near-duplicate. ``said`` are the remarks of graders on whole queries:
    ``unanswered``, ``unclear``. "Any run" is any on this board, so give it all of them.
    Raises `NotFound` for an unknown run.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["x", "c"]}, "B": {"q": ["x"]}}
    >>> board = Scoreboard(collect({"q": {"c": 1, "x": 0}}, runs), Conventions.of(budget=1))
    >>> [failure.failure.name for failure in diagnose(board, "A").values()]
    ['retrieved below the prompt budget']
    >>> [failure.failure.name for failure in diagnose(board, "B").values()]
    ['retrieved by another run only']
    """
    board = board.snapshot()
    usual = bar or default_bar(board)
    tasks = board.collection.facets.get("task", (None,) * len(board.collection.query_ids))
    chosen = [(bars or {}).get(task or "", usual) for task in tasks]
    values = {each: _values(board, run, each.measure) for each in dict.fromkeys(chosen)}
    look_up = text_of.get if isinstance(text_of, Mapping) else text_of
    return {
        query_id: None
        if values[each][at] >= each.least
        else _failure(
            _case(board, run, query_id, each, corpus, look_up, (said or {}).get(query_id, ())),
            query_id,
            each,
            float(values[each][at]),
        )
        for at, (query_id, each) in enumerate(zip(board.collection.query_ids, chosen, strict=True))
        if board.judged[at]
    }


def find_failures(
    board: Scoreboard,
    run: str,
    bar: Bar,
    bars: Mapping[str, Bar],
    corpus: frozenset[int],
    texts_of: Callable[[set[int]], Mapping[int, Chunk]],
    said: Mapping[str, Collection[str]] | None = None,
) -> dict[str, Failure | None]:
    """Say of every judged query why it fails, reading texts only where near-duplicates matter.

    That is in the top k of queries that else are retrieved below the budget: few of a large set.
    """
    given = partial(diagnose, board, run, bar=bar, bars=bars, corpus=corpus, said=said)
    first = given()
    low = [name for name, each in first.items() if each and each.failure is BELOW_BUDGET]
    budgets = board.budgets
    tops = {
        int(chunk)
        for name in low
        for chunk in board.chunks(run, name)[: budgets[board.number_of(name)]]
    } & corpus
    if not tops:
        return first
    texts = {number: chunk.text or "" for number, chunk in texts_of(tops).items()}
    return given(text_of=texts)


def count_classes(found: Mapping[str, Failure | None]) -> dict[FailureClass, int]:
    """Count the failing queries of each class, in the order of `CLASSES`, also where 0."""
    failures = [each.failure for each in found.values() if each is not None]
    return {each: failures.count(each) for each in CLASSES}


def count_by_bucket(
    board: Scoreboard, found: Mapping[str, Failure | None], facet: str
) -> dict[str, dict[FailureClass, int]]:
    """Count the classes in each bucket of ``facet``, in the order of the buckets' names.

    A query in no bucket is counted nowhere. Raises `NotFound` for an unknown facet.
    """
    buckets, group = board.groups(facet)
    places = dict(zip(board.collection.query_ids, group.tolist(), strict=True))
    return {
        str(bucket): count_classes(
            {query_id: each for query_id, each in found.items() if places[query_id] == place}
        )
        for place, bucket in enumerate(buckets)
    }


def in_words(found: Mapping[str, Failure | None]) -> str:
    """Say in a sentence whether failing queries are a matter of ranking, recall or labels.

    >>> in_words({"q1": None})
    'no query fails'
    """
    sides = [each.failure.side for each in found.values() if each is not None]
    if not sides:
        return "no query fails"
    if set(sides) == {"labels"}:
        return (
            f"too little is known of any failing query to tell ranking from recall ({len(sides)})"
        )
    shares = {side: f"{sides.count(side) / len(sides):.0%}" for side in SIDES}
    sentence = (
        f"{shares['ranking']} of failing queries are ranking, not recall "
        f"({sides.count('ranking')} of {len(sides)})"
    )
    if "labels" not in sides:
        return sentence
    return f"{sentence}; {shares['labels']} cannot be told, because too little is known"


def _values(board: Scoreboard, run: str, measure: Measure) -> list[float]:
    values: list[float] = board.values(measure)[:, board.column_of(run)].tolist()
    return values


def _case(
    board: Scoreboard,
    run: str,
    query_id: str,
    bar: Bar,
    corpus: Collection[int],
    text_of: TextOf | None,
    said: Collection[str],
) -> _Case:
    rel = bar.measure.rel or 1
    grades = board.golden(query_id)
    relevant = frozenset(chunk for chunk, grade in grades.items() if grade >= rel)
    lists = (board.chunks(name, query_id).tolist() for name in board.run_names)
    return _Case(
        chunks=board.chunks(run, query_id).tolist(),
        grades=grades,
        relevant=relevant,
        k=int(board.budgets[board.number_of(query_id)]),
        corpus=corpus,
        anywhere=any(not relevant.isdisjoint(chunks) for chunks in lists),
        text_of=text_of,
        said=said,
    )


def _failure(case: _Case, query_id: str, bar: Bar, value: float) -> Failure:
    found = next(each for each, matches in _TESTS if matches(case))
    return Failure(query_id, found, bar, value, case.ranks[0] if case.ranks else None)


def _is_mostly_holes(case: _Case) -> bool:
    return 2 * sum(chunk not in case.grades for chunk in case.top) > len(case.top)


def _is_crowded_out(case: _Case) -> bool:
    """Say whether the first relevant chunk would rise into the top k without near-duplicates."""
    first = case.ranks[0]
    if case.text_of is None or first <= case.k:
        return False
    alike = first_alike(map(case.text_of, case.top))
    duplicates = sum(other is not None for other in alike)
    return first - duplicates <= case.k


_TESTS: tuple[tuple[FailureClass, Callable[[_Case], bool]], ...] = (
    (NO_RESULTS, lambda case: not case.chunks),
    (UNCLEAR, lambda case: "unclear" in case.said),
    (UNANSWERED, lambda case: "unanswered" in case.said and not case.relevant),
    (NOTHING_RELEVANT, lambda case: not case.relevant),
    (NOT_IN_CORPUS, lambda case: bool(case.corpus) and case.relevant.isdisjoint(case.corpus)),
    (MOSTLY_HOLES, _is_mostly_holes),
    (NEVER_RETRIEVED, lambda case: not case.anywhere),
    (OTHER_RUN_ONLY, lambda case: not case.ranks),
    (CROWDED_OUT, _is_crowded_out),
    (BELOW_BUDGET, lambda case: case.ranks[0] > case.k),
    (OUTRANKED, lambda case: True),
)
