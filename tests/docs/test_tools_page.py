"""The page on files of other tools: every row is a file that loads, and its example runs."""

from __future__ import annotations

import re

import pytest

from labeler.formats import TOOL_MAPS
from tests.support.documentation import PAGES
from tests.support.retrieval_shapes import SHAPES

PAGE = PAGES["how-to/bring-your-data.md"]
TABLE = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \|$", PAGE.partition("## ")[0], re.MULTILINE)
ROWS = [cells[0] for cells in TABLE if cells[0] not in ("Tool", "---")]


def words(cell: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", cell.lower()))


def test_every_row_of_the_table_is_a_tool_whose_file_loads_in_a_test() -> None:
    first_words = {re.split(r"[_.]", name)[0] for name in SHAPES}
    assert [row for row in ROWS if not words(row) & first_words] == []


@pytest.mark.parametrize("name", SHAPES)
def test_every_file_of_a_tool_has_a_row(name: str) -> None:
    rows = [row for row in ROWS if re.split(r"[_.]", name)[0] in words(row)]
    assert len(rows) == 1
    options = " ".join(SHAPES[name].options)
    assert "--map" not in options or options in PAGE


def test_every_map_that_has_a_name_is_in_the_table() -> None:
    named = [name for row in ROWS for name in re.findall(r"`([a-z0-9.-]+)`", row)]
    assert sorted(named) == sorted(tool.name for tool in TOOL_MAPS)
