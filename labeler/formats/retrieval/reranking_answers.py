"""Answers of rerankers: results that name their documents by a number, as Cohere answers.

The documents as they came in and as they went out are two lists, each of a system of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from labeler.errors import BadInput
from labeler.formats.json_records import Record, as_whole_number, short
from labeler.formats.limits import Limits
from labeler.formats.result_fields import read_score
from labeler.formats.retrieval.field_map import FieldMap, unpack, value_at
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk
from labeler.formats.retrieval.record_mapper import RecordMapper

_DOCUMENTS = (("documents",), ("request", "documents"), ("docs",), ("passages",))
_RESULTS = (("results",), ("response", "results"), ("data",), ("response", "data"))
_MODELS = (("model",), ("request", "model"), ("response", "model"))
_SCORES = ("relevance_score", "score")
_NO_NAME = "reranker"


class RerankerReader:
    """Reads a question with its documents and a reranker's answer."""

    def __init__(self, field_map: FieldMap, limits: Limits) -> None:
        self.map = field_map
        paths = {**field_map.paths, "results": (("documents",),)}
        self._mapper = RecordMapper(replace(field_map, paths=paths), limits)
        self._whole = False  # whether documents stood beside an answer

    def describe(self) -> str:
        """Return what one record is."""
        return f"{self.map.name}: a question"

    def facts(self) -> Mapping[str, int | str]:
        """Return what was taken and what was left."""
        lists = {"lists of a question": "input and output"} if self._whole else {}
        return {**self._mapper.facts(), **lists}

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield the documents as they came in and as they went out."""
        answered = _first_list(record, _RESULTS)
        if answered is None:
            raise BadInput("there is no list of results with the index of each document")
        documents = _first_list(record, _DOCUMENTS)
        own = [each.get("document") for each in answered if isinstance(each, dict)]
        asked = {key: value for key, value in record.items() if key not in ("results", "data")}
        for came in self._mapper.read(line, {**asked, "documents": documents or own}):
            chunks = came.results or ()
            out = [*_reranked(answered, chunks, documents is not None)]
            if documents is None:
                yield replace(came, results=out)
                continue
            self._whole = True
            models = (value_at(record, path) for path in _MODELS)
            name = next((each for each in models if isinstance(each, str) and each), _NO_NAME)
            yield replace(came, system=f"{name} input")
            yield replace(came, system=f"{name} output", results=out, graded=())


def _first_list(record: Record, paths: Sequence[tuple[str, ...]]) -> list[Any] | None:
    lists = (unpack(value_at(record, path)) for path in paths)
    return next((each for each in lists if isinstance(each, list)), None)


def _reranked(
    answered: Sequence[Any], chunks: Sequence[RetrievedChunk], by_index: bool
) -> Iterator[RetrievedChunk]:
    for place, each in enumerate(answered):
        if not isinstance(each, dict) or each.get("index") is None:
            raise BadInput(f"each of the results has the index of a document, not {short(each)}")
        index = as_whole_number(each["index"], "index") if by_index else place
        if not 0 <= index < len(chunks):
            raise BadInput(
                f"index {index}, but {len(chunks)} documents stand beside the results, from 0 on"
            )
        score = next((each[key] for key in _SCORES if each.get(key) is not None), None)
        yield chunks[index]._replace(score=read_score(score))
