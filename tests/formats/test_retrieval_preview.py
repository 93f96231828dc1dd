"""The preview of a file of retrieval records: its fields, and its first record as read."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from labeler.errors import BadInput
from labeler.formats.retrieval.preview import (
    field_paths,
    first_records,
    has_named_fields,
    preview_retrievals,
)
from labeler.formats.retrieval.tool_maps import map_named

KNOWN = {"question": "why?", "results": [{"id": "c1", "text": "so", "score": 2.5}]}
ODD = {"kind": "search", "in": {"q": "why?"}, "out": {"found": [{"m": {"key": "c1"}, "t": "so"}]}}
ODD_MAP = "query=in.q results=out.found id=m.key text=t where=kind:search"


def written(records: list[Any], form: str) -> bytes:
    lines = "\n".join(map(json.dumps, records)).encode()
    forms = {
        "lines": lines,
        "gzip": gzip.compress(lines),
        "a list": json.dumps(records).encode(),
        "an indented list": json.dumps(records, indent=1).encode(),
        "one indented object": json.dumps(records[0], indent=1).encode(),
    }
    return forms[form]


FORMS = ("lines", "gzip", "a list", "an indented list", "one indented object")


@pytest.mark.parametrize("form", FORMS)
def test_the_first_record_is_read_by_the_map_its_keys_say(form: str):
    found = preview_retrievals("x", written([KNOWN, KNOWN], form))
    assert found.map == "query=question results=results id=id text=text score=score"
    assert found.first is not None
    assert found.first.query == "why?"
    assert [each.chunk_id for each in found.first.results or ()] == ["c1"]


@pytest.mark.parametrize("form", FORMS)
def test_the_first_record_is_read_by_a_map_that_is_given(form: str):
    found = preview_retrievals("x", written([ODD], form), map_named(ODD_MAP))
    assert found.first is not None
    assert found.has_chunks
    assert found.first.query == "why?"


def test_records_that_the_map_does_not_take_are_passed_over():
    found = preview_retrievals("x", written([{"kind": "x"}, ODD], "lines"), map_named(ODD_MAP))
    assert found.first is not None
    assert found.first.line == 2
    with pytest.raises(
        BadInput, match="the map takes none of the first 1 records: see its 'where'"
    ):
        preview_retrievals("x", written([{"kind": "x"}], "lines"), map_named(ODD_MAP))


def test_a_row_of_a_table_is_its_first_record():
    found = preview_retrievals("x", b"query,chunk_id,score,text\nwhy so?,c1,2.5,so\n")
    assert found.first is not None
    assert found.first.is_part
    assert found.has_chunks


def test_what_cannot_be_read_says_why():
    with pytest.raises(BadInput, match="no question with its results is found under known keys"):
        preview_retrievals("x", written([ODD], "lines"))
    with pytest.raises(BadInput, match=r"there is no question under in.question"):
        preview_retrievals("x", written([ODD], "lines"), map_named("query=in.question"))
    with pytest.raises(BadInput, match="the file is a PDF"):
        first_records("x", b"%PDF-1.4")


def test_only_the_beginning_of_a_large_list_is_read():
    large = written([KNOWN] * 5_000, "a list").removesuffix(b"]") + b", broken"
    assert len(first_records("x", large)) == 100


def test_fields_are_named_as_a_map_names_them():
    assert field_paths(ODD) == [
        *("kind", "in.q", "out.found[]"),
        *("out.found[]: m.key", "out.found[]: t"),
    ]
    assert field_paths({"output": '{"documents": [{"id": 1}]}', "empty": {}, "ids": [1, 2]}) == [
        *("output.documents[]", "output.documents[]: id", "empty", "ids"),
    ]


def test_a_table_without_a_header_has_no_named_fields():
    rows = (
        "w1\tThe warranty lasts two years, whatever the country, the shop or the season.\nw2\tx\n"
    )
    [(_, record)] = first_records("x", rows.encode())
    assert not has_named_fields(record)
    assert has_named_fields(KNOWN)


def test_a_map_names_the_columns_of_a_table_without_a_header():
    row = "1\tc1\thow long is it?\tTwo years.\n"
    found = preview_retrievals("x", row.encode(), map_named("ms-marco-top1000"))
    assert found.first is not None
    assert (found.first.query_id, found.first.query) == ("1", "how long is it?")
    assert found.has_chunks
