"""Rows of retrieved documents, one each, as Phoenix' `get_retrieved_documents` has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from labeler.errors import BadInput
from labeler.formats.json_records import Record, as_whole_number, format_keys
from labeler.formats.limits import LIMITS, Limits
from labeler.formats.peers.column_wise import refusal
from labeler.formats.retrieval.openinference import score_of
from labeler.formats.retrieval.record import Retrieval, RetrievedChunk
from labeler.model import LoadedRetrievals

_POSITION, _SCORE, _QUESTION, _TEXT = "document_position", "document_score", "input", "reference"
_IDS = ("span_id", "trace_id")
_READ = {_QUESTION, _TEXT, _POSITION, _SCORE, *_IDS, *(f"context.{name}" for name in _IDS)}


def is_document_row(record: Record) -> bool:
    """Return whether a record is a document with the question that it was retrieved for."""
    keys = record.keys()
    return {_QUESTION, _TEXT} <= keys and bool({_POSITION, _SCORE} & keys)


class DocumentRowReader:
    """Reads a row per retrieved document; the rows of one span stand together."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.limits = limits
        self._of: tuple[str | None, str] | None = None
        self._line = 0
        self._item: dict[str, str] = {}
        self._rows: list[tuple[int, RetrievedChunk]] = []
        self._seen: dict[str, frozenset[int]] = {}
        self._counts: Counter[str] = Counter()
        self._left: dict[str, None] = {}

    def describe(self) -> str:
        """Return what one record is."""
        return "a document that was retrieved for a question"

    def read(self, line: int, record: Record) -> Iterator[Retrieval]:
        """Yield the list before, where this row is of another span."""
        question = record.get(_QUESTION)
        if isinstance(question, dict | list):
            raise BadInput(refusal(record))
        if not isinstance(question, str) or not question.strip():
            self._counts["rows without a question, left out"] += 1
            return
        span, trace = (record.get(f"context.{name}", record.get(name)) for name in _IDS)
        of = (None if span is None else str(span), question)
        if of != self._of:
            yield from self.finish()
            self._of, self._line = of, line
            ids = {"span": span, "trace": trace}
            self._item = {key: str(value) for key, value in ids.items() if value is not None}
        self._left |= dict.fromkeys(record.keys() - _READ)
        text = record.get(_TEXT)
        if not isinstance(text, str) or not text.strip():
            self._counts["documents without a text, left out"] += 1
            return
        self.limits.check_text(text)
        place = record.get(_POSITION)
        number = len(self._rows) if place is None else as_whole_number(place, _POSITION)
        self._rows.append((number, RetrievedChunk(None, text, score_of(record.get(_SCORE)))))

    def finish(self) -> Iterator[Retrieval]:
        """Yield the list whose rows have been read."""
        if self._of is None or not self._rows:
            return
        span, question = self._of
        rows, self._rows, self._of = sorted(self._rows, key=lambda row: row[0]), [], None
        places = frozenset(place for place, _ in rows)
        if span is not None:
            if not places & self._seen.get(span, places):
                raise BadInput(
                    f"the rows of span {span} do not stand together; sort the frame by "
                    "context.span_id and document_position"
                )
            self._seen[span] = places
        self._counts["spans of retrievers"] += 1
        yield Retrieval(
            self._line,
            question,
            results=[chunk for _, chunk in rows],
            item=self._item,
            places=[place for place, _ in rows],
        )

    def facts(self) -> dict[str, int | str]:
        """Return field by field what was taken, and what was left."""
        facts: dict[str, int | str] = {
            "read as": "documents retrieved, as Phoenix has them",
            "fields taken": f"query={_QUESTION} text={_TEXT} score={_SCORE} place={_POSITION}",
        }
        if self._left:
            facts["fields left"] = format_keys(sorted(self._left))
        return facts | {name: count for name, count in self._counts.items() if count}

    def settle(self, loaded: LoadedRetrievals) -> LoadedRetrievals:
        """Return what was loaded as it is."""
        return loaded
