"""A table and its statements in every form, with names that try to be more than names."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest

from labeler.formats import csv_tables, json_records
from labeler.model.results import ANSWER, CAUTION, DOUBT, NOTE, Column, Statement, Table
from labeler.render.results import (
    format_cell,
    markdown_table,
    statements_markdown,
    statements_records,
    statements_text,
    text_table,
)
from labeler.render.tables.results import html_table_of, statements_html

HTML = "<script>alert(1)</script>"
IMAGE = "![x](http://evil.example/x.png)"
TERMINAL = "\x1b[2Jgone\nrow"
FORMULA = "=HYPERLINK(1)"
COLUMNS = (
    Column("run", "Run", help='The run, as it was "loaded".'),
    Column("value", "Value", "number"),
    Column("ci", "95% interval", "range", parts=("lo", "hi")),
    Column("delta", "Change", "signed"),
    Column("delta_ci", "Of the change", "signed range", parts=("delta_lo", "delta_hi")),
    Column("p", "p", "p-value"),
    Column("n", "n", "count", unit="queries"),
    Column("why", "Why", detail=True),
    Column("moment"),
)
ROW = {
    "run": "bm25",
    "value": 1 / 3,
    "lo": 0.1,
    "hi": 0.25,
    "delta": -0.5,
    "delta_lo": -0.75,
    "delta_hi": 0.25,
    "p": 1e-9,
    "n": 1200,
    "why": None,
    "moment": "2026-01-31T00:00:00Z",
}
MISSING = dict.fromkeys(ROW, math.nan) | {"run": "none", "n": None, "why": "no result"}
TABLE = Table(COLUMNS, [ROW, MISSING])
STATEMENTS = [
    Statement("few", "Only 5 queries.", CAUTION),
    Statement("n", "93 of 105 queries.", NOTE),
    Statement("graders", "B is ahead under every grader.", DOUBT, "Graders"),
    Statement("better", "B is better than A.", ANSWER, numbers={"p": 0.01, "lo": math.nan}),
]


def named(name: str) -> Table:
    """Return a table in which a run, a facet and a bucket have this name."""
    columns = (Column("run", "Run"), Column("bucket", name), Column("n", "n", "count"))
    return Table(columns, [{"run": name, "bucket": name, "n": 1}])


def test_each_format_rounds_in_its_own_way_and_a_missing_number_is_a_dash() -> None:
    shown = TABLE.shown()
    assert [format_cell(column, ROW) for column in shown] == [
        *("bm25", "0.3333", "0.1000 to 0.2500", "−0.5000", "−0.7500 to +0.2500"),
        *("<0.0001", "1,200"),
    ]
    assert [format_cell(column, MISSING) for column in shown] == ["none", *"––––––"]
    figure, signed = (Column("ctr", format=form) for form in ("figure", "signed figure"))
    values = [{"ctr": value} for value in (0.034567, -1200.0, 0.0, math.nan)]
    assert [format_cell(figure, row) for row in values] == ["0.0346", "-1,200", "0.0000", "–"]
    assert [format_cell(signed, row) for row in values] == ["+0.0346", "−1,200", "0.0000", "–"]


def test_a_terminal_gets_texts_to_the_left_and_numbers_to_the_right() -> None:
    assert text_table(Table(COLUMNS[:2], TABLE.rows)) == [
        "Run    Value",
        "bm25  0.3333",
        "none       –",
    ]
    assert text_table(Table(COLUMNS[:2], [])) == ["Run  Value"]
    assert text_table(TABLE, details=True)[0].endswith("Why")


def test_markdown_has_the_same_cells() -> None:
    assert markdown_table(Table(COLUMNS[:2], [ROW])) == [
        "| Run | Value |",
        "| --- | ---: |",
        "| bm25 | 0.3333 |",
    ]


def test_programs_get_every_digit_and_no_number_that_is_not_there() -> None:
    one, two = json.loads(json_records.as_json(TABLE.records()))
    assert (one["value"], one["lo"], one["moment"]) == (1 / 3, 0.1, "2026-01-31T00:00:00Z")
    assert (two["value"], two["n"], two["why"]) == (None, None, "no result")
    first, second = csv.DictReader(io.StringIO(csv_tables.as_csv(TABLE.records())))
    assert (first["value"], first["why"]) == ("0.3333333333333333", "")
    assert second["value"] == ""
    assert list(first) == list(TABLE.names)


def test_a_formula_is_run_by_no_spreadsheet_unless_a_program_asks_for_the_name_as_it_is() -> None:
    [safe] = csv.DictReader(io.StringIO(csv_tables.as_csv(named(FORMULA).records())))
    assert safe["run"] == f"'{FORMULA}"
    [raw] = csv.DictReader(io.StringIO(csv_tables.as_csv(named(FORMULA).records(), raw=True)))
    assert raw["run"] == FORMULA


def test_no_name_moves_a_terminal_or_adds_a_line() -> None:
    lines = text_table(named(TERMINAL))
    assert len(lines) == 2
    assert not re.search(r"[\x00-\x1f]", "".join(lines))
    [line] = statements_text([Statement("k", TERMINAL, DOUBT, TERMINAL)])
    assert not re.search(r"[\x00-\x1f]", line)


@pytest.mark.parametrize("name", [IMAGE, "a | b", TERMINAL, HTML])
def test_no_name_is_markdown(name: str) -> None:
    table, said = markdown_table(named(name)), [Statement("k", name, DOUBT, name)]
    assert {line.count("|") for line in table} == {4}
    shown = "\n".join([*table, *statements_markdown(said)])
    assert "![" not in shown
    assert "<script" not in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("name", [HTML, f'"><img src=x onerror={HTML}>'])
def test_no_name_is_html(name: str) -> None:
    page = str(html_table_of(named(name), label=name, short={name: "x<b>"}))
    page += str(statements_html([Statement("k", name, DOUBT, name, target={"page": name})], str))
    assert "<script" not in page
    assert "<img" not in page
    assert "<b>" not in page.replace("<b>&", "")


def test_a_page_shows_the_meaning_of_a_column_and_sets_each_name_apart() -> None:
    page = str(html_table_of(TABLE, label="Values", lead="value"))
    assert 'aria-label="Values"' in page
    assert 'title="The run, as it was &#34;loaded&#34;."' in page
    assert '<th scope="row" class="words"><bdi>bm25</bdi></th>' in page
    assert '<td class="lead">0.3333</td>' in page
    assert "n<small>queries</small>" in page
    assert "no result" not in page
    assert "<bdi>no result</bdi>" in str(html_table_of(TABLE, label="Values", details=True))


def test_a_page_can_show_one_value_under_another_and_another_where_one_hovers() -> None:
    shown = {"under": {"value": ("p",)}, "hover": {"value": "moment"}}
    page = str(html_table_of(Table(COLUMNS, [ROW]), label="Values", **shown))
    assert "Value<small>p</small>" in page
    assert '<td title="2026-01-31T00:00:00Z">0.3333<small>&lt;0.0001</small></td>' in page
    assert page.count("&lt;0.0001") == 1


def test_long_names_of_runs_are_short_and_whole_where_one_hovers() -> None:
    page = str(html_table_of(TABLE, label="Values", short={"bm25": "b"}))
    assert '<bdi title="bm25">b</bdi>' in page


def test_the_answer_comes_first_then_doubts_cautions_and_notes() -> None:
    assert statements_text(STATEMENTS) == [
        "B is better than A.",
        "Graders: B is ahead under every grader.",
        "! Only 5 queries.",
        "93 of 105 queries.",
    ]
    assert statements_markdown(STATEMENTS) == [
        "**B is better than A.**",
        "",
        "- **Graders:** B is ahead under every grader.",
        "- ! Only 5 queries.",
        "- 93 of 105 queries.",
    ]
    assert statements_text([]) == statements_markdown([]) == []


def test_a_page_shows_the_answer_large_each_doubt_under_its_heading_and_notes_small() -> None:
    page = str(statements_html(STATEMENTS)).partition("</style>")[2]
    assert page == (
        '<div class="statements"><p class="headline">B is better than A.</p>'
        "<p><b>Graders</b> B is ahead under every grader.</p>"
        '<p>! Only 5 queries.</p><p class="aside">93 of 105 queries.</p></div>'
    )
    assert "<div" not in str(statements_html([]))


def test_a_statement_leads_to_its_target_where_the_page_can_link() -> None:
    said = [Statement("hidden", "R@5 hides a fall.", DOUBT, target={"page": "slices"})]
    assert '<a href="/slices"' in str(statements_html(said, lambda target: f"/{target['page']}"))
    assert "<a" not in str(statements_html(said)).partition("</style>")[2]


def test_programs_get_the_kind_the_severity_and_the_numbers_of_each_statement() -> None:
    found = statements_records(STATEMENTS)
    assert [each["severity"] for each in found] == ["answer", "doubt", "caution", "note"]
    assert found[0] == {
        "kind": "better",
        "severity": "answer",
        "heading": "",
        "text": "B is better than A.",
        "numbers": {"p": 0.01, "lo": None},
    }
