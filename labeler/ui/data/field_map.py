"""Data > Load: the field map of a dropped file, and its first record as that map reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import htpy
import streamlit as st

from labeler.errors import LabelerError
from labeler.formats import (
    TOOL_MAPS,
    FieldMap,
    RetrievalPreview,
    describe_result,
    field_paths,
    first_records,
    has_named_fields,
    map_named,
    map_text,
    preview_retrievals,
)
from labeler.model import LONGEST_MAP
from labeler.render.markup import show_html
from labeler.ui.data.upload_options import MAP, as_pasted

if TYPE_CHECKING:
    from streamlit.runtime.uploaded_file_manager import UploadedFile

EXAMPLE = "query=question results=documents id=metadata.id text=page_content score=score"
MAP_HELP = (
    "For each field the keys that lead to it, joined by dots. Keys of a result begin in the "
    "result; a|b takes the first that exists. Or the name of a tool: "
    + ", ".join(tool.name for tool in TOOL_MAPS)
    + "."
)
LONGEST_TEXT = 160  # characters shown of a text
_KEPT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class RecordSample:
    """The beginning of a file: its fields, and its first record as it is read.

    ``map`` is the map that read the record, ``rows`` are its values by name. With an ``error``
    nothing was read.
    """

    fields: tuple[str, ...] = ()
    map: str = ""
    rows: tuple[tuple[str, str], ...] = ()
    error: str = ""
    has_grades: bool = False
    names_systems: bool = False


@dataclass(frozen=True, slots=True)
class ChosenMap:
    """The map of a file, None for the one inferred from its keys, and what it reads."""

    text: str | None = None
    sample: RecordSample | None = None


@st.cache_data(max_entries=64, ttl=_KEPT_SECONDS, show_spinner=False)
def sample_of(file_id: str, map_given: str, _file: UploadedFile) -> RecordSample:
    """Return the beginning of a dropped file, read with a map or, for '', with its keys."""
    content = _file.getvalue()
    fields: tuple[str, ...] = ()
    try:
        found = first_records(_file.name, content)
        if found and has_named_fields(found[0][1]):
            fields = tuple(field_paths(found[0][1]))
        field_map = map_named(map_given) if map_given else None
        read = preview_retrievals(_file.name, content, field_map)
    except LabelerError as error:
        said = str(error).removeprefix("the file: ").removeprefix("--map: ")
        return RecordSample(fields, error=said)
    used = map_text(field_map) if field_map is not None else read.map or ""
    parts = {part.partition("=")[0] for part in (read.map or "").split()}
    return RecordSample(
        fields,
        used,
        tuple(_rows(read)),
        has_grades=bool(parts & {"grade", "relevant", "relevant_id", "relevant_text"})
        or bool(read.first and read.first.graded),
        names_systems=bool(read.first and read.first.system is not None),
    )


def _rows(read: RetrievalPreview) -> Iterator[tuple[str, str]]:
    """Yield the names and values that are shown of the first record."""
    if read.first is None:
        yield "first record", "none with results near the beginning of the file"
        return
    yield "question", _cut(read.first.query or read.first.query_id or "")
    if read.first.system is not None:
        yield "system", _cut(read.first.system)
    chunks = [*(read.first.results or ()), *read.first.graded]
    if not chunks:
        yield "results", "none in this record"
        return
    yield "first result" if read.first.results else "first graded", _cut(describe_result(chunks[0]))
    yield "its text", _cut(chunks[0].text or "none")


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} …"


def choose_map(
    file: UploadedFile, remembered: FieldMap | None, kind_key: str, *, folded: bool
) -> ChosenMap:
    """Draw the map of a file and what it reads; return the choice.

    The field starts with the ``remembered`` map if that read the file, else with the map inferred
    from the keys. Typing a map makes the file one of questions with their results.
    """
    inferred = sample_of(file.file_id, "", file)
    begins = inferred.map if remembered is None else map_text(remembered)
    key = f"map-{file.file_id}"
    with (
        st.expander("What is read from it", type="compact")
        if folded
        else st.container(gap="xsmall")
    ):
        given = st.text_input(
            MAP,
            begins,
            max_chars=LONGEST_MAP,
            key=key,
            placeholder=EXAMPLE,
            help=MAP_HELP,
            on_change=_choose_records,
            args=(key, kind_key),
        )
        text = as_pasted(given)
        is_inferred = text in ("", inferred.map)  # the inferred map may say more than its text
        sample = inferred if is_inferred else sample_of(file.file_id, text, file)
        show_sample(sample, is_asked=bool(text) or not inferred.error)
    return ChosenMap(None if is_inferred else text, sample)


def _choose_records(map_key: str, kind_key: str) -> None:
    """Treat an unrecognised file with a map as questions with their results."""
    if st.session_state.get(kind_key) is None and st.session_state.get(map_key, "").strip():
        st.session_state[kind_key] = "records"


def show_sample(sample: RecordSample, *, is_asked: bool) -> None:
    """Show a file's first record as it is read, or why it is not, and its fields."""
    if sample.error and is_asked:
        st.text(f"⚠ {sample.error}")
    if sample.rows:
        show_html(_as_list(sample.rows))
    if sample.fields and (sample.error or not sample.rows):
        show_html(_as_list(_fields_by_place(sample.fields).items()))


def _fields_by_place(fields: Iterable[str]) -> Mapping[str, str]:
    """Return the fields of a record, and those in each of its lists, in a line each."""
    found: dict[str, list[str]] = {}
    for field in fields:
        place, colon, path = field.rpartition(": ")
        name = f"in each of {place.removesuffix('[]')}" if colon else "fields found"
        found.setdefault(name, []).append((path if colon else field).removesuffix("[]"))
    return {name: ", ".join(paths) for name, paths in found.items()}


def _as_list(rows: Iterable[tuple[str, str]]) -> htpy.Element:
    return htpy.dl(".sample")[[(htpy.dt[name], htpy.dd[text]) for name, text in rows]]
