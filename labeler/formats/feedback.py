"""Grades for the tools that lists came from: annotations for Phoenix, scores for Langfuse.

Both are JSON lines. Phoenix takes an annotation for each document of a span, Langfuse a score for
an observation, which here are the measures of its list.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeler.model import GoldenGrade

ANNOTATION = "relevance"


@dataclass(frozen=True, slots=True)
class GradedList:
    """A ranked list with a source: its chunks best first, and what is known of them.

    ``places`` are the place of each document in its span, and the rank of its chunk in the list,
    both from 0. ``grades`` are the query's golden grades by chunk, ``values`` those of measures by
    their names.
    """

    run: str
    query_id: str
    span: str | None
    trace: str | None
    chunk_ids: Sequence[str]
    places: Sequence[tuple[int, int]]
    grades: Mapping[str, GoldenGrade]
    values: Mapping[str, float]


def phoenix_annotations(lists: Iterable[GradedList], words: Sequence[str]) -> bytes:
    """Return annotations of documents, as Phoenix' `log_document_annotations_dataframe` takes them.

    ``words`` are the names of the grades. Documents without a golden grade have no annotation.
    """
    rows = []
    for one in lists:
        for place, rank in sorted(one.places):
            grade = one.grades.get(one.chunk_ids[rank])
            if one.span is not None and grade is not None:
                rows.append(_annotation(one, place, grade, words))
    return _json_lines(rows)


def _annotation(
    one: GradedList, place: int, grade: GoldenGrade, words: Sequence[str]
) -> dict[str, Any]:
    return {
        "name": ANNOTATION,
        "annotator_kind": "CODE" if grade.carried_from else "HUMAN",
        "span_id": one.span,
        "document_position": place,
        "label": words[grade.grade],
        "score": grade.grade,
        "explanation": grade.note or "",  # of null a frame makes the text "nan"
        "metadata": {
            "query_id": one.query_id,
            "chunk_id": grade.chunk_id,
            "graders": [*grade.graders],
        },
    }


def langfuse_scores(lists: Iterable[GradedList]) -> bytes:
    """Return scores of observations, as Langfuse's API takes them (POST /api/public/scores).

    A score has an id of its own, so that the same one again replaces it. A list whose query has no
    value has no score.
    """
    return _json_lines(
        _score(one, name, value)
        for one in lists
        if one.trace is not None
        for name, value in one.values.items()
    )


def _score(one: GradedList, name: str, value: float) -> dict[str, Any]:
    grades = [one.grades.get(chunk_id) for chunk_id in one.chunk_ids]
    shown = ", ".join("-" if grade is None else str(grade.grade) for grade in grades)
    found = {
        "id": f"labeler-{one.span or one.trace}-{name}",
        "traceId": one.trace,
        "observationId": one.span,
        "name": name,
        "value": value,
        "dataType": "NUMERIC",
        "comment": f"golden grades in ranked order: {shown}",
        "metadata": {
            "run": one.run,
            "query_id": one.query_id,
            "grades": {grade.chunk_id: grade.grade for grade in grades if grade is not None},
        },
    }
    return {key: each for key, each in found.items() if each is not None}


def _json_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()
