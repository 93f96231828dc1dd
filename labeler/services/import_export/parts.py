"""Parts of a golden set as files: grades, judgments, queries, chunks and runs, as JSONL or CSV.

JSONL keeps everything and loads back; CSV is for people, and no cell of it is run as a formula.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

from labeler.errors import NotFound
from labeler.formats import csv_tables
from labeler.formats.json_records import without_nan
from labeler.formats.writers import event_fields, grade_fields, query_fields, write_jsonl
from labeler.model import EVERYTHING, Ranking, Selection
from labeler.services.import_export.exports import (
    check_whole,
    extract,
    selected_chunks,
    selected_lists,
)
from labeler.store import Store

Record = dict[str, Any]
PartKind = Literal["jsonl", "csv"]


def write_part(store: Store, part: str, kind: PartKind, selected: Selection = EVERYTHING) -> bytes:
    """Return one of `PARTS` as a file; raises `BadInput` where that has no part of a selection."""
    return write_rows(PARTS[part](store, selected), kind)


def write_rows(rows: Iterable[Mapping[str, Any]], kind: PartKind) -> bytes:
    r"""Return rows as JSONL or CSV.

    In CSV, buckets are columns, a list of texts is one cell, and other lists and objects are JSON.

    >>> write_rows([{"a": ["x", "y"], "b": "=x", "buckets": {"intent": "setup"}}], "csv")
    b"a,b,intent\nx; y,'=x,setup\n"
    """
    if kind == "jsonl":
        return write_jsonl(map(without_nan, rows))
    return csv_tables.as_csv(map(_as_cells, rows)).encode()


def _as_cells(row: Mapping[str, Any]) -> Record:
    cells = {name: _as_cell(value) for name, value in row.items() if name != "buckets"}
    buckets = row.get("buckets") or {}
    return cells | {name: bucket for name, bucket in buckets.items() if name not in cells}


def _as_cell(value: object) -> object:
    if not isinstance(value, (list, tuple, Mapping)):
        return value
    if not value:
        return None
    if all(isinstance(each, str) for each in value) and not isinstance(value, Mapping):
        return "; ".join(value)
    return json.dumps(value, ensure_ascii=False)


def _grades(store: Store, selected: Selection) -> Iterator[Record]:
    for grade in extract(store, selected=selected).grades:
        yield {"query_id": grade.query_id, **grade_fields(grade)}


def _judgments(store: Store, selected: Selection) -> Iterator[Record]:
    check_whole("events", selected)
    yield from map(event_fields, store.judgments.log())
    yield from map(event_fields, store.remarks.log())


def _queries(store: Store, selected: Selection) -> Iterator[Record]:
    for query in extract(store, selected=selected).queries:
        yield query_fields(query)


def _chunks(store: Store, selected: Selection) -> Iterator[Record]:
    for chunk in selected_chunks(store, selected):
        fields = asdict(chunk)
        yield {name: value for name, value in fields.items() if value not in (None, {})}


def _runs(store: Store, selected: Selection) -> Iterator[Record]:
    of_runs = store.chunkings.of_runs()
    for run in store.runs.names():
        if selected.chunkings is not None and of_runs[run] not in selected.chunkings:
            continue
        with suppress(NotFound):  # a run without a list for any of these queries
            for ranking in selected_lists(store, run, selected):
                yield from _results(run, ranking)


def _results(run: str, ranking: Ranking) -> Iterator[Record]:
    for at, chunk_id in enumerate(ranking.chunk_ids):
        row = {"run": run, "query_id": ranking.query_id, "chunk_id": chunk_id, "rank": at + 1}
        yield row if ranking.scores is None else {**row, "score": ranking.scores[at]}


PARTS: Mapping[str, Callable[[Store, Selection], Iterable[Record]]] = {
    "grades": _grades,
    "judgments": _judgments,
    "queries": _queries,
    "chunks": _chunks,
    "runs": _runs,
}
"""The parts by the names of their files."""
