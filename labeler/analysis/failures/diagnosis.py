"""Diagnosis of failing queries: one failure class for each, with what to try.

The classes are tested in a fixed order and the first that matches counts, since an earlier one
makes a later one meaningless: nothing relevant is ranked too low where nothing relevant is known.
Unjudged chunks are not a class: they say how sure the diagnosis is, not what happened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from labeler.analysis.failures.failure_rules import (
    FailureRule,
    RuleRequirement,
    UsefulInPrompt,
    rule_requirements,
)
from labeler.analysis.failures.relevant_positions import RelevantPositions, find_positions
from labeler.evaluation import Scoreboard
from labeler.measures import Measure
from labeler.model import Chunk, Remark
from labeler.model.near_duplicates import first_near_duplicates

FailureSide = Literal["ranking", "recall", "unknown", "generation"]


@dataclass(frozen=True, slots=True)
class FailureClass:
    """A reason for failing: what it means, what to try, and which part of the system it concerns.

    ``side`` is ``ranking`` where a better order of the run's own list would be enough, ``recall``
    where it would not, because what the query needs is not in the list, ``unknown`` where nobody
    knows what it needs, and ``generation`` where retrieval succeeded.
    """

    name: str
    meaning: str
    lever: str
    side: FailureSide


NO_RESULTS = FailureClass(
    "no results",
    "The run has no result for this query.",
    "Look for an error, a time-out or a filter that leaves nothing.",
    "recall",
)
UNCLEAR = FailureClass(
    "the query is unclear",
    "A grader says that nobody can tell what the query asks.",
    "Ask whoever wrote it, rewrite it, or retire it.",
    "unknown",
)
UNANSWERED = FailureClass(
    "no answer in the corpus",
    "A grader says that no chunk answers the query, and no relevant one is known.",
    "Write the missing document, or let the product say that it has no answer.",
    "recall",
)
NOTHING_RELEVANT = FailureClass(
    "nothing relevant known",
    "Chunks were graded, and none of them is relevant.",
    "Search by hand, grade deeper, or write the missing document.",
    "unknown",
)
NOT_IN_CORPUS = FailureClass(
    "relevant chunk not in the corpus",
    "The relevant chunks are known by their ids alone: none is among the chunks that were loaded "
    "with their text.",
    "Load the missing documents; if documents were cut again, transfer the grades.",
    "recall",
)
NEVER_RETRIEVED = FailureClass(
    "no run finds it",
    "Relevant chunks are known, but no run returns one.",
    "Often the question uses other words. Try query rewriting, other embeddings or other chunks.",
    "recall",
)
OTHER_RUN_ONLY = FailureClass(
    "only other runs find it",
    "Another run returns a relevant chunk; this one returns none.",
    "Combine the runs (hybrid search, fusion), or learn what the other does.",
    "recall",
)
TOO_FEW = FailureClass(
    "too few retrieved",
    "Some relevant chunks are in the list; even in its best order it would fail.",
    "Retrieve more candidates, combine runs or split the query: a reranker alone is not enough.",
    "recall",
)
CROWDED_OUT = FailureClass(
    "crowded out by near-duplicates",
    "The top says the same thing several times; without the repeats a relevant chunk would be "
    "there.",
    "Remove duplicates before the prompt: by text, by document, or with a diversifying reranker.",
    "ranking",
)
SOME_TOO_LOW = FailureClass(
    "only some near the top",
    "A relevant chunk is first; others that count are further down.",
    "Rerank for completeness, or put more chunks into the prompt.",
    "ranking",
)
LOW_IN_TOP = FailureClass(
    "low within the top",
    "A relevant chunk is in the top, below others that are less useful.",
    "Look at what these share, often a word of the query; filter or rerank.",
    "ranking",
)
BELOW_PARTLY = FailureClass(
    "below partly useful chunks",
    "The top has partly useful chunks only; a better one is further down.",
    "Look at what the better one has and these lack; filter or rerank.",
    "ranking",
)
TOO_LOW = FailureClass(
    "ranked too low",
    "What the query needs is in the list, but below the top, and nothing in the top is of use.",
    "Rerank, or put more chunks into the prompt.",
    "ranking",
)

GENERATION = FailureClass(
    "found, but the answer is wrong",
    "The prompt has what the query needs, and the answer is wrong.",
    "Look at the prompt and the model.",
    "generation",
)

FAILURE_CLASSES = (
    NO_RESULTS,
    UNCLEAR,
    UNANSWERED,
    NOTHING_RELEVANT,
    NOT_IN_CORPUS,
    NEVER_RETRIEVED,
    OTHER_RUN_ONLY,
    TOO_FEW,
    CROWDED_OUT,
    SOME_TOO_LOW,
    LOW_IN_TOP,
    BELOW_PARTLY,
    TOO_LOW,
)
"""In the order in which they are tested; the first that matches counts.

`GENERATION` is not among them: it concerns answers, of queries that do not fail by a rule.
"""


TextOf = Callable[[int], str | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A failing query: its class, what was required of it, and where its relevant chunks are."""

    query_id: str
    failure: FailureClass
    asked: RuleRequirement
    places: RelevantPositions


@dataclass(frozen=True, slots=True)
class _Case:
    """One query that fails in one run: the input of the class tests."""

    chunks: Sequence[int]
    grades: Mapping[int, int]
    asked: RuleRequirement
    places: RelevantPositions
    best: float
    corpus: Collection[int]
    text_of: TextOf | None
    said: Collection[str]

    @property
    def relevant(self) -> frozenset[int]:
        rel = self.places.rel
        return frozenset(chunk for chunk, grade in self.grades.items() if grade >= rel)

    @property
    def top(self) -> Sequence[int]:
        return self.chunks[: self.places.k]


def remarks_by_query(remarks: Iterable[Remark]) -> dict[str, list[str]]:
    """Return the kinds of graders' remarks on each query, as `diagnose` takes them."""
    kinds: dict[str, list[str]] = {}
    for remark in sorted(remarks, key=lambda remark: remark.query_id):
        kinds.setdefault(remark.query_id, []).append(remark.kind)
    return kinds


def diagnose(
    board: Scoreboard,
    run: str,
    rule: FailureRule | None = None,
    *,
    corpus: Collection[int] = (),
    text_of: TextOf | Mapping[int, str] | None = None,
    said: Mapping[str, Collection[str]] | None = None,
    only: Collection[str] | None = None,
) -> dict[str, Failure | None]:
    """Return why each judged query, or each of those in ``only``, fails in ``run``; None if not.

    ``rule`` says when a query fails, by default `UsefulInPrompt`; it also decides which chunks are
    relevant and how many are the top of a list (see `rule_requirements`). Queries that nobody has
    graded are left out: whether they fail is unknown.

    ``corpus`` are the numbers of the chunks that have text; if it is empty, no chunk counts as
    missing. ``text_of`` returns the text of a chunk by number, or None; without it no
    near-duplicates are found. ``said`` are graders' remarks on whole queries: ``unanswered``,
    ``unclear``. "Any run" means any on this board, so load all runs into it. Raises `NotFound` for
    an unknown run.

    >>> from labeler.evaluation import Conventions, collect
    >>> runs = {"A": {"q": ["x", "c"]}, "B": {"q": ["x"]}}
    >>> board = Scoreboard(collect({"q": {"c": 1, "x": 0}}, runs), Conventions.of(prompt_k=1))
    >>> [failure.failure.name for failure in diagnose(board, "A").values()]
    ['ranked too low']
    >>> [failure.failure.name for failure in diagnose(board, "B").values()]
    ['only other runs find it']
    """
    board = board.snapshot()
    wanted = rule_requirements(board, run, rule or UsefulInPrompt())
    best = _best_orders(board, run, {each.measure for each in wanted})
    look_up = text_of.get if isinstance(text_of, Mapping) else text_of
    found: dict[str, Failure | None] = {}
    for at, (query_id, each) in enumerate(zip(board.collection.query_ids, wanted, strict=True)):
        if not board.judged[at] or (only is not None and query_id not in only):
            continue
        found[query_id] = None
        if each.fails:
            given = (corpus, look_up, (said or {}).get(query_id, ()))
            case = _case(board, run, query_id, each, best[each.measure][at], *given)
            reason = next(reason for reason, matches in _CLASS_TESTS if matches(case))
            found[query_id] = Failure(query_id, reason, each, case.places)
    return found


def find_failures(
    board: Scoreboard,
    run: str,
    rule: FailureRule,
    corpus: frozenset[int],
    texts_of: Callable[[set[int]], Mapping[int, Chunk]],
    said: Mapping[str, Collection[str]] | None = None,
    only: Collection[str] | None = None,
) -> dict[str, Failure | None]:
    """Return what `diagnose` returns, but read texts only where near-duplicates matter.

    They matter only if what the query needs is below the top: few queries of a large set.
    """
    given = partial(diagnose, board, run, rule, corpus=corpus, said=said)
    first = given(only=only)
    low = {name: each.places.k for name, each in first.items() if each and _may_be_crowded(each)}
    tops = {int(chunk) for name, k in low.items() for chunk in board.chunks(run, name)[:k]}
    if not tops & corpus:
        return first
    texts = {number: chunk.text or "" for number, chunk in texts_of(tops & corpus).items()}
    return {**first, **given(text_of=texts, only=low)}


def count_classes(found: Mapping[str, Failure | None]) -> dict[FailureClass, int]:
    """Count the failing queries of each class, including 0, in the order of `FAILURE_CLASSES`.

    `GENERATION` comes last, and only where a query has it.
    """
    failures = [each.failure for each in found.values() if each is not None]
    return {each: failures.count(each) for each in classes_to_count(failures)}


def classes_to_count(failures: Collection[FailureClass]) -> tuple[FailureClass, ...]:
    """Return the classes to count: those of retrieval, and `GENERATION` where it occurs."""
    return (*FAILURE_CLASSES, GENERATION) if GENERATION in failures else FAILURE_CLASSES


def count_by_bucket(
    board: Scoreboard, found: Mapping[str, Failure | None], facet: str
) -> dict[str, dict[FailureClass, int]]:
    """Count the classes in each bucket of ``facet``, in the order of the buckets' names.

    A query in no bucket is not counted. Raises `NotFound` for an unknown facet.
    """
    buckets, group = board.groups(facet)
    places = dict(zip(board.collection.query_ids, group.tolist(), strict=True))
    kinds = count_classes(found)
    return {
        str(bucket): dict.fromkeys(kinds, 0)
        | count_classes(
            {query_id: each for query_id, each in found.items() if places[query_id] == place}
        )
        for place, bucket in enumerate(buckets)
    }


def _best_orders(board: Scoreboard, run: str, measures: set[Measure]) -> dict[Measure, list[float]]:
    """Return each query's value if the run's own list were in its best order."""
    hits = board.hits(run).best_order
    return {measure: board.measured(measure, hits).tolist() for measure in measures}


def _case(
    board: Scoreboard,
    run: str,
    query_id: str,
    asked: RuleRequirement,
    best: float,
    corpus: Collection[int],
    text_of: TextOf | None,
    said: Collection[str],
) -> _Case:
    return _Case(
        chunks=board.chunks(run, query_id).tolist(),
        grades=board.golden(query_id),
        asked=asked,
        places=find_positions(board, run, query_id, asked),
        best=best,
        corpus=corpus,
        text_of=text_of,
        said=said,
    )


def _is_too_few(case: _Case) -> bool:
    return case.asked._replace(value=case.best).fails


def _may_be_crowded(failure: Failure) -> bool:
    return failure.failure in (TOO_LOW, BELOW_PARTLY) and not failure.places.top


def _is_crowded_out(case: _Case) -> bool:
    """Return whether the first relevant chunk would rise into the top without near-duplicates."""
    if case.text_of is None or case.places.top or case.places.first is None:
        return False
    alike = first_near_duplicates(map(case.text_of, case.top))
    duplicates = sum(other is not None for other in alike)
    return case.places.first - duplicates <= case.places.k


def _has_partly_useful_top(case: _Case) -> bool:
    """Return whether the top has chunks of some use, though none that the query needs."""
    return any(case.grades.get(chunk, 0) > 0 for chunk in case.top)


_CLASS_TESTS: tuple[tuple[FailureClass, Callable[[_Case], bool]], ...] = (
    (NO_RESULTS, lambda case: not case.chunks),
    (UNCLEAR, lambda case: "unclear" in case.said),
    (UNANSWERED, lambda case: "unanswered" in case.said and not case.places.known),
    (NOTHING_RELEVANT, lambda case: not case.places.known),
    (NOT_IN_CORPUS, lambda case: bool(case.corpus) and case.relevant.isdisjoint(case.corpus)),
    (NEVER_RETRIEVED, lambda case: case.places.nowhere == case.places.known and _is_too_few(case)),
    (OTHER_RUN_ONLY, lambda case: case.places.first is None and _is_too_few(case)),
    (TOO_FEW, _is_too_few),
    (CROWDED_OUT, _is_crowded_out),
    (SOME_TOO_LOW, lambda case: case.places.top > 0 and case.places.first == 1),
    (LOW_IN_TOP, lambda case: case.places.top > 0),
    (BELOW_PARTLY, _has_partly_useful_top),
    (TOO_LOW, lambda case: True),
)
