"""Tables and statements as data: which names programs get, and what people see."""

from __future__ import annotations

import pytest

from labeler.model.results import DOUBT, Column, Statement, Table

TABLE = Table(
    (
        Column("run", "Run"),
        Column("ci", "95% interval", "range", parts=("lo", "hi")),
        Column("moment"),
        Column("n", "n", "count", detail=True),
    ),
    [{"run": "bm25", "lo": 0.1, "hi": 0.2, "moment": "2026-01-31T00:00:00Z", "n": 3}],
)


def test_programs_get_each_named_value_in_the_order_of_the_columns() -> None:
    assert TABLE.names == ("run", "lo", "hi", "moment", "n")
    [record] = TABLE.records()
    assert list(record) == list(TABLE.names)
    assert record == dict(TABLE.rows[0])


def test_people_see_columns_with_a_title_and_details_where_they_ask_for_them() -> None:
    assert [each.title for each in TABLE.shown()] == ["Run", "95% interval"]
    assert [each.title for each in TABLE.shown(details=True)] == ["Run", "95% interval", "n"]


def test_a_row_without_one_of_the_values_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="hi"):
        Table(TABLE.columns, [{"run": "bm25", "lo": 0.1}]).records()


def test_a_heading_stands_before_its_sentence() -> None:
    said = Statement("graders", "A is ahead under every grader.", DOUBT, "Graders")
    assert said.line == "Graders: A is ahead under every grader."
    assert Statement("n", "One query.").line == "One query."
