"""Pairs of question and passage that people graded in an annotation tool: Label Studio, Argilla."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from labeler.errors import BadInput
from labeler.formats.field_aliases import (
    CHUNK_OF_PAIR,
    CHUNK_TEXT,
    DOCUMENT_ID,
    ONE_QUERY,
    QUERY_TEXT,
    TITLE,
    fold_name,
)
from labeler.formats.json_records import Record, as_id, format_keys, short
from labeler.formats.limits import Limits
from labeler.formats.retrieval.field_map import FieldMap
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk

_QUESTION = (*(name for name in QUERY_TEXT if name != "text"), "prompt")
_PASSAGE = (*CHUNK_TEXT, "document", "context", "retrieved_document")
_ITEM_ID = (*CHUNK_OF_PAIR, "id")
_OF_GRADES = re.compile("relevan|grade|rating|judg|label", re.IGNORECASE)
_NOT_RANKED = "_"  # Label Studio's bucket of what nobody sorted


class PersonsGrade(NamedTuple):
    """What one person said of a passage, under the name of the question that the tool asked."""

    question: str
    value: Any
    grader: str | None
    note: str | None = None


class AnnotationReader:
    """Reads the passages of a record with each person's grade; a subclass says what was said."""

    def __init__(self, field_map: FieldMap, limits: Limits) -> None:
        self.map, self.limits = field_map, limits
        self._counts: Counter[str] = Counter()
        self._asked: dict[str, None] = {}  # the questions that grades were read from

    def describe(self) -> str:
        """Return what one record is."""
        return f"{self.map.name}: a question and a passage with its grades"

    def facts(self) -> Mapping[str, int | str]:
        """Return what was taken and what was left."""
        taken = {"grades taken from": format_keys(self._asked)} if self._asked else {}
        return {"read as": self.map.name, **taken, **self._counts}

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield the question of a record with the grades of its passages."""
        fields = self.fields_of(record)
        text = _first(fields, _QUESTION)
        if not isinstance(text, str):
            raise BadInput(
                f"there is no question among its fields ({format_keys(fields)}); name it query"
            )
        self.limits.check_text(text)
        passages = self._passages(fields)
        graded = [*passages.values()]
        for answer in self._of_one_question([*self.answers_in(record)]):
            for key, value in self._values(answer.value, passages):
                chunk = passages[key]
                graded.append(chunk._replace(grade=value, grader=answer.grader, note=answer.note))
        query_id = _first(fields, sorted(ONE_QUERY))
        yield Retrieval(
            line,
            text,
            None if query_id is None else as_id(query_id, "query", self.limits),
            graded=graded,
        )

    def fields_of(self, record: Record) -> Record:
        """Return what was shown of a record."""
        raise NotImplementedError

    def answers_in(self, record: Record) -> Iterator[PersonsGrade]:
        """Yield what people said of a record."""
        raise NotImplementedError

    def _passages(self, fields: Record) -> dict[str, RetrievedChunk]:
        """Return the passages by the id that answers name, the only one by ""."""
        lists = (value for value in fields.values() if isinstance(value, list) and value)
        items = next((each for each in lists if all(isinstance(one, dict) for one in each)), None)
        if items is None:
            return {"": self._chunk(fields, CHUNK_OF_PAIR)}
        return {str(_first(each, ("id", *_ITEM_ID))): self._chunk(each, _ITEM_ID) for each in items}

    def _chunk(self, fields: Record, ids: Sequence[str]) -> RetrievedChunk:
        chunk_id, text = _first(fields, ids), _first(fields, _PASSAGE)
        if chunk_id is None and not isinstance(text, str):
            raise BadInput(
                f"there is no passage among the fields ({format_keys(fields)}); name it text"
            )
        if isinstance(text, str):
            self.limits.check_text(text)
        title, document = _first(fields, TITLE), _first(fields, DOCUMENT_ID)
        return RetrievedChunk(
            None if chunk_id is None else as_id(chunk_id, "chunk", self.limits),
            text if isinstance(text, str) else None,
            title=title if isinstance(title, str) else None,
            document_id=str(document) if isinstance(document, str | int) else None,
        )

    def _of_one_question(self, answers: Sequence[PersonsGrade]) -> Sequence[PersonsGrade]:
        """Return the answers to the question that asks for a grade."""
        names = [*dict.fromkeys(each.question for each in answers)]
        if len(names) > 1:
            named = [name for name in names if _OF_GRADES.search(name)]
            if len(named) != 1:
                raise BadInput(
                    f"people answered several questions ({format_keys(names)}), and which one "
                    "grades is not clear; keep one of them, or name it relevance"
                )
            names = named
        self._asked |= dict.fromkeys(names)
        return [each for each in answers if each.question in names]

    def _values(self, value: Any, passages: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the passages that an answer grades, by their ids."""
        if not isinstance(value, dict):
            if len(passages) > 1:
                raise BadInput(f"{short(value)} grades which of {len(passages)} passages?")
            yield next(iter(passages)), value
            return
        for bucket, ids in value.items():
            for each in ids if bucket != _NOT_RANKED and isinstance(ids, list) else ():
                if str(each) not in passages:
                    raise BadInput(f"{short(each)} is sorted, but is no passage of this record")
                yield str(each), bucket

    def leave(self, what: str) -> None:
        """Count what is not read."""
        self._counts[what] += 1


class LabelStudioReader(AnnotationReader):
    """Reads tasks of Label Studio: ratings, numbers, single choices, and passages in buckets."""

    def fields_of(self, record: Record) -> Record:
        """Return the data of a task."""
        data = record.get("data")
        if not isinstance(data, dict):
            raise BadInput(f"data must be an object {{...}}, not {short(data)}")
        return data

    def answers_in(self, record: Record) -> Iterator[PersonsGrade]:
        """Yield the results of annotations that were not cancelled."""
        for annotation in _list_under(record, "annotations"):
            if not isinstance(annotation, dict):
                raise BadInput(
                    f"each annotation must be an object {{...}}, not {short(annotation)}"
                )
            if annotation.get("was_cancelled"):
                self.leave("annotations that were skipped, left out")
                continue
            given = _list_under(annotation, "result")
            results = [each for each in given if isinstance(each, dict)]
            grader = _who(annotation.get("completed_by"))
            notes = [_value(each, "text") for each in results if each.get("type") == "textarea"]
            note = next((_one(each) for each in notes if each), None)
            for result in results:
                value = self._value_of(result)
                if value is not None:
                    yield PersonsGrade(str(result.get("from_name")), value, grader, note)

    def _value_of(self, result: Record) -> Any:
        for key in ("rating", "number", "ranker"):
            if (value := _value(result, key)) is not None:
                return value
        choices = _value(result, "choices")
        if isinstance(choices, list) and len(choices) > 1:
            raise BadInput(f"several choices ({format_keys(map(str, choices))}) are no one grade")
        return _one(choices)


class ArgillaReader(AnnotationReader):
    """Reads records of Argilla: responses to a rating or a label question, of versions 1 and 2."""

    def fields_of(self, record: Record) -> Record:
        """Return the fields, and what the metadata adds to them."""
        fields, metadata = record.get("fields"), record.get("metadata")
        if not isinstance(fields, dict):
            raise BadInput(f"fields must be an object {{...}}, not {short(fields)}")
        return {**metadata, **fields} if isinstance(metadata, dict) else fields

    def answers_in(self, record: Record) -> Iterator[PersonsGrade]:
        """Yield the responses, without drafts and what was discarded."""
        if record.get("suggestions"):
            self.leave("records with suggestions, which are no grades")
        responses = record.get("responses") or {}
        if isinstance(responses, dict):
            for name, given in responses.items():
                for each in given if isinstance(given, list) else [given]:
                    if isinstance(each, dict) and self._is_submitted(each):
                        yield PersonsGrade(name, each.get("value"), _who(each.get("user_id")))
            return
        for each in _list_under(record, "responses"):
            values = each.get("values") if isinstance(each, dict) else None
            if isinstance(values, dict) and self._is_submitted(each):
                for name, given in values.items():
                    value = given.get("value") if isinstance(given, dict) else given
                    yield PersonsGrade(name, value, _who(each.get("user_id")))

    def _is_submitted(self, response: Record) -> bool:
        if response.get("status") in (None, "submitted"):
            return True
        self.leave("responses that were not submitted, left out")
        return False


def _first(fields: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the first value under one of the names, however these are written."""
    folded = {fold_name(key): value for key, value in fields.items() if value not in (None, "")}
    return next((folded[fold_name(name)] for name in names if fold_name(name) in folded), None)


def _list_under(record: Record, key: str) -> list[Any]:
    found = record.get(key)
    if found is not None and not isinstance(found, list):
        raise BadInput(f"{key} must be a list [...], not {short(found)}")
    return found or []


def _value(result: Record, key: str) -> Any:
    value = result.get("value")
    return value.get(key) if isinstance(value, dict) else None


def _one(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else None


def _who(value: Any) -> str | None:
    """Return the name of a person, given by an id or an object."""
    if isinstance(value, dict):
        value = value.get("email") or value.get("username") or value.get("id")
    return None if value in (None, "") else str(value)
