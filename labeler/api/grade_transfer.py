"""Transfer of grades to another chunking, from dicts and files."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from labeler import rechunking
from labeler.api.grade_scales import grade_rule
from labeler.api.inputs import (
    GivenGrades,
    GivenRun,
    qrels_to_dicts,
    runs_to_lists,
)
from labeler.api.options import RunRule
from labeler.errors import BadInput
from labeler.evaluation import GivenList
from labeler.formats import LIMITS, Limits, read_chunks
from labeler.model import Ranking
from labeler.rechunking import (
    Cut,
    DerivedGrade,
    GradeBasis,
    LocatedChunkings,
    OldGrade,
    cut_from_chunk,
    describe_repeated_pairs,
)

GivenChunks: TypeAlias = "Mapping[str, str] | str | PathLike[str]"
GivenPassages: TypeAlias = "Mapping[str, Mapping[str, Sequence[tuple[int, int]]]]"


def transfer(
    qrels: GivenGrades,
    old: GivenChunks,
    new: GivenChunks,
    run: GivenRun | None = None,
    k: int = 10,
    *,
    passages: GivenPassages | None = None,
    documents: Mapping[str, str] | None = None,
    grade_map: Mapping[float, int] | None = None,
    negative_as_zero: bool = False,
    limits: Limits = LIMITS,
) -> pd.DataFrame:
    """Transfer the grades of one chunking to another: a row for each query and new chunk.

    ``qrels`` and ``run`` are as in `evaluate`, ``old`` and ``new`` the chunks' texts by id, or the
    path of a file that ``labeler load chunks`` reads. Rows are for the top ``k`` of the run;
    without a run, for all new chunks that share text with graded ones. ``passages`` are those
    marked as the reason for a grade, ``{query: {chunk: [(start, end), ...]}}`` in code points of
    the old text. ``documents`` are whole texts by document id, if there are any.

    Columns are ``query_id, doc_id, state, relevance, reason, covered, low, high, rests_on,
    passages``. If the ``state`` is ``decided`` the grade follows from those of the chunks in
    ``rests_on``; a ``proposed`` one is likely, and ``open`` pairs have none. ``covered`` is the
    share of the text that is in graded chunks. ``frame.attrs["qrels"]`` are the decided grades in
    the form `evaluate` takes. ``frame.attrs["notes"]`` count chunks that were not located, and say
    what would decide pairs whose text repeats.

    >>> old = {"o1": "Fees are due in May. Late fees are refused.", "o2": "Dues vary by branch."}
    >>> new = {"n1": "Fees are due in May.", "n2": "Late fees are refused. Dues vary by branch."}
    >>> frame = transfer({"q": {"o1": 3, "o2": 0}}, old, new, passages={"q": {"o1": [(0, 19)]}})
    >>> frame[["doc_id", "state", "relevance", "rests_on"]].values.tolist()
    [['n1', 'decided', 3, ['o1']], ['n2', 'decided', 0, ['o1', 'o2']]]
    >>> frame.attrs["qrels"]
    {'q': {'n1': 3, 'n2': 0}}

    Raises `BadInput` for malformed data, such as a passage outside its text, and `NotFound` for a
    chunk that is graded or retrieved and has no text.
    """
    grades = qrels_to_dicts(qrels, grade_rule(grade_map, negative_as_zero), limits)
    old_cuts, new_cuts = _cuts(old, limits), _cuts(new, limits)
    places = rechunking.find_locations(old_cuts, new_cuts, documents)
    graded = list(_graded_chunks(grades, passages or {}, places))
    pairs = (
        _overlapping_pairs(graded, places)
        if run is None
        else _top_pairs(run, k, RunRule(limits=limits))
    )
    found = rechunking.transfer_grades(graded, pairs, places)
    frame = pd.DataFrame([_row(each, graded) for each in found], columns=_COLUMNS)
    frame["relevance"] = frame["relevance"].astype("Int64")
    decided: dict[str, dict[str, int]] = {}
    for each in found:
        if each.state == "decided" and each.grade is not None:
            decided.setdefault(each.query_id, {})[each.chunk_id] = each.grade
    frame.attrs["qrels"] = decided
    frame.attrs["notes"] = list(_notes(places))
    said = describe_repeated_pairs(found, old_cuts, new_cuts, documents or {}, _NAMES)
    if said is not None:
        frame.attrs["notes"].append(said.line)
    return frame


_NAMES = ("the old chunking", "the new chunking")
_COLUMNS = [
    *("query_id", "doc_id", "state", "relevance", "reason", "covered", "low", "high"),
    *("rests_on", "passages"),
]


def _cuts(given: GivenChunks, limits: Limits) -> list[Cut]:
    if isinstance(given, str | PathLike):
        return list(
            map(cut_from_chunk, read_chunks(Path(os.fsdecode(given)), limits=limits).records)
        )
    if not isinstance(given, Mapping) or not all(
        isinstance(each, str) for pair in given.items() for each in pair
    ):
        raise BadInput("chunks must be {id: text}, or the path of a file of chunks")
    return [Cut(chunk_id, text) for chunk_id, text in given.items()]


def _graded_chunks(
    grades: Mapping[str, Mapping[str, int]], passages: GivenPassages, places: LocatedChunkings
) -> Iterator[OldGrade]:
    """Yield the grades, numbered from 0: here numbers take the place of judgment ids."""
    number = 0
    for query_id, chunks in grades.items():
        for chunk_id, grade in chunks.items():
            spans = passages.get(query_id, {}).get(chunk_id, ())
            own = tuple(sorted((int(start), int(end)) for start, end in spans))
            size = len(places.old_texts.get(chunk_id, ""))
            for start, end in own:
                if not 0 <= start < end <= size:
                    raise BadInput(
                        f"query {query_id!r}, chunk {chunk_id!r}: the passage {start} to {end} is "
                        f"not inside its text, which has {size:,} characters"
                    )
            yield OldGrade(query_id, chunk_id, grade, (GradeBasis(number, own),))
            number += 1


def _overlapping_pairs(
    graded: Sequence[OldGrade], places: LocatedChunkings
) -> list[tuple[str, str]]:
    """Return pairs of a query and a new chunk that shares text with its graded chunks."""
    spans = sorted((*span, name) for name, place in places.new.items() for span in place.spans)
    longest = max((end - start for start, end, _ in spans), default=0)
    found: dict[tuple[str, str], None] = {}
    for grade in graded:
        old = places.old.get(grade.chunk_id)
        for start, end in old.spans if old else ():
            low, high = (bisect_left(spans, (at,)) for at in (start - longest, end))
            near = (name for _, until, name in spans[low:high] if until > start)
            found.update({(grade.query_id, name): None for name in near})
    return list(found)


def _top_pairs(run: GivenRun, k: int, rule: RunRule) -> list[tuple[str, str]]:
    lists = runs_to_lists({"run": run}, rule)["run"]
    return [
        (query_id, each) for query_id, ranked in lists.items() for each in _best_chunks(ranked, k)
    ]


def _best_chunks(ranked: GivenList, k: int) -> Sequence[str]:
    if isinstance(ranked, Ranking):
        return ranked.chunk_ids[:k]
    if isinstance(ranked, Mapping):
        return sorted(ranked, key=lambda chunk_id: -ranked[chunk_id])[:k]
    return list(ranked)[:k]


def _row(each: DerivedGrade, graded: Sequence[OldGrade]) -> tuple[object, ...]:
    state, grade, reason, covered, low, high = each[2:8]
    names = [graded[number].chunk_id for number in each.rests_on]
    return (*each[:2], state, grade, reason, covered, low, high, names, list(each.passages))


def _notes(places: LocatedChunkings) -> Iterator[str]:
    for count, why in (
        (len(places.unplaced), "were not found in the old ones"),
        (len(places.ambiguous), "fit several places equally well"),
    ):
        if count:
            yield f"{count:,} of {len(places.new):,} new chunks {why}; nothing is decided of them"
