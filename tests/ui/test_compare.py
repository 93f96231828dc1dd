"""The Compare page without a browser: numbers, words, and what it says when it cannot compare."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from streamlit.testing.v1 import AppTest

from labeler.analysis.active import Decider
from labeler.analysis.comparison import (
    COVERAGE_NOTE,
    METHODS_NOTE,
    SIGNIFICANCE_RULE,
    DecisionRules,
    ShownPair,
    assess_pair,
    compare,
    compare_candidates,
    comparison_table,
    format_p_value,
    sort_queries,
)
from labeler.analysis.comparison.records import STATISTICS
from labeler.analysis.run_verdict import PairResult, describe_pair, direct_sources
from labeler.evaluation import Conventions, Scoreboard, format_number, format_signed
from labeler.model import (
    Chunk,
    GoldenGrade,
    Judgment,
    LoadedGolden,
    Query,
    Ranking,
    capitalize_first,
)
from labeler.model.results import Statement
from labeler.render import csv_exports
from labeler.render.tables.delta_picture import is_detail
from labeler.render.text import format_cell
from labeler.store import Store
from tests.support.page import add_collapsed_bucket, empty_golden_set, loaded, open_page, words

EVIL = "<img src=x onerror=alert(1)> **bold** [x](javascript:y)"


def board_of(store: Store) -> Scoreboard:
    return Scoreboard(store.collection.read(), Conventions.of())


def graded(*grades: tuple[str, str, int]) -> LoadedGolden:
    return LoadedGolden(loaded([]), loaded([GoldenGrade(*grade) for grade in grades]), loaded([]))


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def filled(database: Path) -> Path:
    """B is better for q1 and q2 (refund) and worse for q3 (setup); q4 is not judged."""
    with Store(database) as store:
        store.queries.load(
            loaded(
                [
                    Query("q1", "where is my refund", "single", buckets={"intent": "refund"}),
                    Query("q2", EVIL, "single", buckets={"intent": "refund"}),
                    Query("q3", "how do I set it up", "single", buckets={"intent": "setup"}),
                    Query("q4", "nobody judged this"),
                ]
            )
        )
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n} {EVIL}", f"Title {n}") for n in "123"]))
        a = {"q1": "c1 c2 c3", "q2": "c1 c2 c3", "q3": "c3 c2 c1", "q4": "c1 c2"}
        b = {"q1": "c3 c1 c2", "q2": "c3 c1 c2", "q3": "c1 c2 c3", "q4": "c2 c1"}
        for name, lists in (("old", a), ("new", b)):
            rankings = [Ranking(query, tuple(ids.split())) for query, ids in lists.items()]
            store.runs.load(loaded(rankings), name=name)
        store.golden_loads.add(graded(*((query, "c3", 3) for query in ("q1", "q2", "q3"))))
    return database


def open_compare(**parameters: str | list[str]) -> AppTest:
    return open_page("compare", **parameters)


def component(app: AppTest, key: str) -> dict[str, Any]:
    """What a component was given to draw, wherever it stands."""

    def walk(block: Any) -> list[Any]:
        children = getattr(block, "children", None)
        return [block] if children is None else [x for c in children.values() for x in walk(c)]

    (found,) = (element for element in walk(app.main) if getattr(element, "key", None) == key)
    return json.loads(found.proto.json)


def plain_words(app: AppTest) -> str:
    """All words of a page, with one bar where tags stand side by side."""
    return re.sub(r"\|+", "|", words(app)).replace("| |", "| ")


def as_shown(statement: Statement) -> str:
    """A statement as a page has it: the number apart from what it is of, no heading but folded."""
    if statement.kind == "number":
        figure, _, of = statement.sentence.removesuffix(".").partition(" ")
        return f"|{figure}| {of}|"
    is_headed = is_detail(statement) and statement.heading
    return (
        f"|{statement.heading}| {statement.sentence}|" if is_headed else f"|{statement.sentence}|"
    )


def judged(path: Path, within: tuple[str, str] | None = None) -> PairResult:
    """What is known of "old" and "new", computed at once."""
    with Store(path) as store:
        rules, board = DecisionRules.of(store.settings.read()), board_of(store)
    tests = assess_pair(board, "old", "new", rules)
    sources = direct_sources(board, tests, None, Decider())
    return describe_pair(
        board, tests, compare_candidates(board, "old", "new"), sources, within=within
    )


def test_the_page_shows_the_statements_and_the_table_of_the_verdict(database: Path):
    add_collapsed_bucket(database)
    said, found = plain_words(open_compare(show="Statistics")), judged(database)
    assert len(found.statements) > 5
    for each in found.statements:
        # the button to the grades that decide is the one next step
        assert (as_shown(each) in said) == (each.kind != "useful grades")
    with Store(database) as store:
        board = board_of(store)
    compared = compare(board, "old", "new", board.conventions.measures("RR AP"))
    table = comparison_table([ShownPair(compared, compared.deltas, found.tests)])
    columns = [each for each in table.shown(details=True) if each.name not in STATISTICS]
    said = plain_words(open_compare(measure=["RR", "AP"], show="All numbers"))
    for row in table.rows:
        cells = [cell for each in columns if (cell := format_cell(each, row))]
        assert "|".join(["", *cells, ""]) in said.replace("||", "|")


@pytest.mark.parametrize("shown", [["RR"], ["AP", "Judged@10"], ["P@1", "R@5", "RR", "nDCG@10"]])
def test_the_answer_is_the_same_whatever_is_shown(database: Path, shown: list[str]):
    add_collapsed_bucket(database)
    said = plain_words(open_compare(measure=shown, facet="intent", show="Statistics"))
    for each in judged(database).statements:
        assert (as_shown(each) in said) == (each.kind != "useful grades")


def test_a_bucket_looked_at_by_itself_is_not_surer_than_among_the_others(database: Path):
    names = [f"q{n:02}" for n in range(40)]
    with Store(database) as store:
        store.queries.load(
            loaded([Query(q, q, buckets={"of": "few" if q < "q10" else "many"}) for q in names])
        )
        turned = {*names[:9]}  # which is worse in eight, and better in the ninth
        for run, way in (("old", set()), ("new", turned)):
            lists = [("c2", "c1") if q in way else ("c1", "c2") for q in names]
            ranked = [Ranking(q, each) for q, each in zip(names, lists, strict=True)]
            store.runs.load(loaded(ranked), name=run)
        good = {q: "c2" if q == names[8] else "c1" for q in names}
        store.golden_loads.add(
            graded(*((q, each, 3 * (good[q] == each)) for q in names for each in ("c1", "c2")))
        )
    given = {"a": "old", "b": "new", "measure": ["RR"], "facet": "of", "show": "Statistics"}
    said, found = plain_words(open_compare(bucket="few", **given)), judged(database, ("of", "few"))
    assert found.verdict.test is not None
    assert (found.verdict.test.tests, found.verdict.test.is_clear) == (2, False)
    for each in found.statements:
        assert as_shown(each) in said


@pytest.mark.parametrize("page", ["compare", "slices"])
def test_one_mark_and_one_wording_say_on_both_pages_why_there_is_no_interval(
    database: Path, page: str
):
    """Of three buckets one is tested, one has too few queries that differ, one too few queries."""
    sizes = {"many": 30, "alike": 10, "small": 3}
    names = [f"{bucket}{at}" for bucket, size in sizes.items() for at in range(size)]
    worse = {name for name in names if name.startswith("many")} | {f"alike{at}" for at in range(3)}
    with Store(database) as store:
        buckets = {name: name.rstrip("0123456789") for name in names}
        store.queries.load(loaded([Query(q, q, buckets={"of": buckets[q]}) for q in names]))
        for run, turned in (("old", set()), ("new", worse)):
            lists = [("c2", "c1") if name in turned else ("c1", "c2") for name in names]
            ranked = [Ranking(q, each) for q, each in zip(names, lists, strict=True)]
            store.runs.load(loaded(ranked), name=run)
        store.golden_loads.add(
            graded(*((q, each, 3 * (each == "c1")) for q in names for each in ["c1", "c2"]))
        )
    app = open_page(page, a="old", b="new")
    said, bodies = words(app), "".join(each.proto.body for each in app.get("html"))
    assert '<i class="bare" aria-hidden="true"></i>too few differ: no interval' in bodies
    small = '<i class="plain" aria-hidden="true"></i>fewer than 10 queries: not tested'
    assert (small in bodies) == (page == "slices"), "where it has a row"
    assert "in 1 of the 2 tested buckets; 1 bucket has fewer than 10 queries." in said
    assert 'title="How much of the best possible gain' in bodies or "nDCG@10: How much of" in bodies


@pytest.mark.parametrize("bucket", [None, "setup", "refund"])
def test_the_link_of_the_counts_opens_exactly_the_queries_that_are_worse(
    database: Path, bucket: str | None
):
    add_collapsed_bucket(database)
    within = {"facet": "intent", "bucket": bucket} if bucket else {}
    found = judged(database, ("intent", bucket) if bucket else None)
    bodies = "".join(e.proto.body for e in open_compare(measure=["RR"], **within).get("html"))
    row = found.verdict.row
    assert row is not None
    which, count = ("worse", row.losses) if row.losses else ("better", row.wins)
    (way,) = re.findall(rf'href="([^"]*)"[^>]*>[^<]*worse on {row.losses}', bodies)
    page, _, rest = html.unescape(way).partition("?")
    asked = parse_qs(rest)
    assert (page, asked["which"]) == ("/compare", [which])
    listed = component(open_page("compare", **asked), "strips")["rows"]
    assert len(listed) == count > 0


def test_the_same_run_under_another_name_is_called_identical(filled: Path):
    with Store(filled) as store:
        lists = {"q1": "c1 c2 c3", "q2": "c1 c2 c3", "q3": "c3 c2 c1", "q4": "c1 c2"}
        rankings = [Ranking(query, tuple(ids.split())) for query, ids in lists.items()]
        assert store.runs.load(loaded(rankings), name="copy").warnings
    said = words(open_compare(a="old", b="copy"))
    assert "|old and copy return the same results.|" in said
    assert "|Other questions|" not in said


def test_the_table_has_both_means_the_difference_and_the_outcomes(filled: Path):
    said = words(open_compare(measure=["RR"], show="All numbers"))
    heads = r"(?i)\|old\|+new\|+Difference\|+Wins\|"
    assert re.search(heads, said)
    assert "|Unjudged in old|" in said
    assert "Smallest difference" not in said, "which the statistics have"
    assert re.search(r"\|RR\|+0\.5556\|+0\.7778\|+\+0\.2222\|+2\|+0\|+1\|+3\|", said)
    said = words(open_compare(measure=["RR"], show="How computed"))
    assert "Conventions (graded)" in said
    assert "1 query without any golden grade: left out" in said


def test_how_the_numbers_were_computed_is_folded(database: Path):
    add_collapsed_bucket(database)
    notes = [capitalize_first(note) for note in (SIGNIFICANCE_RULE, METHODS_NOTE, COVERAGE_NOTE)]
    said = words(open_compare(measure=["RR", "R@1"]))
    assert not any(note in said for note in notes)
    opened = words(open_compare(measure=["RR", "R@1"], show="How computed"))
    assert all(note in opened for note in notes)


def test_the_statistics_say_p_its_correction_and_what_so_many_queries_can_show(database: Path):
    add_collapsed_bucket(database)
    said = words(open_compare(show="Statistics"))
    tests = judged(database).tests
    test = tests.of(tests.total)
    p, least = format_p_value(test.p), format_number(test.detectable)
    decides = "not corrected, as nDCG@10 decides and is tested alone"
    assert f"p {p} by a two-sided randomisation test, {decides}." in said
    n = tests.total.n
    assert f"The smallest true difference that {n} queries can show is {least} (80% power)." in said
    assert "|Corrected for|tests|" in said
    assert re.search(r"\|Smallest difference these queries can show\|+More queries needed\|", said)
    assert [row[0] for row in re.findall(r"\|(RR|R@5)\|+[\d.<]+\|+3\|", said)] == ["R", "R"]


def test_the_page_and_its_file_state_one_interval_and_p(database: Path):
    add_collapsed_bucket(database)
    with Store(database) as store:
        rules, board = DecisionRules.of(store.settings.read()), board_of(store)
    found = compare(board, "old", "new", board.conventions.measures("RR nDCG@10"), "intent")
    tests = assess_pair(board, "old", "new", rules)
    rows = [*found.deltas, *found.buckets]
    listed = list(
        csv.DictReader(
            io.StringIO(csv_exports.comparison_csv(ShownPair(found, rows, tests)).decode())
        )
    )
    said = words(open_compare(measure=["RR", "nDCG@10"], facet="intent", show="Statistics"))
    for row in listed[:2]:
        assert f"|{format_signed(float(row['lo']))} to {format_signed(float(row['hi']))}|" in said
    assert {(row["bucket"], row["measure"]): row["tests"] for row in listed} == {
        ("", "RR"): "3",
        ("", "nDCG@10"): "1",
        **{(bucket, "RR"): "" for bucket in ("refund", "setup")},
        **{(bucket, "nDCG@10"): "2" for bucket in ("refund", "setup")},
    }


def test_the_file_of_the_queries_has_all_of_them_in_the_order_of_the_page(filled: Path):
    with Store(filled) as store:
        board = board_of(store)
    found = compare(board, "old", "new", board.conventions.measures("RR"))
    texts = {name: f"text of {name}" for name in board.collection.query_ids}
    for sort, step in (("worst for B", 1), ("best for B", -1)):
        rows = sort_queries(found.queries(found.measures[0]), sort, texts, {})
        file = csv_exports.query_delta_csv(rows, found, texts, {}).decode()
        listed = list(csv.DictReader(io.StringIO(file)))
        assert [row["query_id"] for row in listed] == [row.query_id for row in rows]
        assert [row["place"] for row in listed] == ["1", "2", "3", "4"]
        deltas = [float(row["delta"]) for row in listed if row["delta"]]
        assert deltas == sorted(deltas)[::step]
        assert listed[-1]["reason"] == "nobody has graded a chunk of this query"


def test_without_a_grade_it_does_not_say_that_nothing_is_unjudged(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q", "one")]))
        for name in ("old", "new"):
            store.runs.load(loaded([Ranking("q", ("c1", name))]), name=name)
    said = words(open_compare(a="old", b="new", measure=["RR"]))
    assert "none unjudged" not in said
    assert "old and new share 1.0 of their top 10 on average." in said


def test_without_keywords_it_says_how_they_come(filled: Path):
    app = open_compare(show="Keywords")
    assert "No query has keywords" in words(app)
    assert "`" not in words(app)
    assert [block.value for block in app.code] == ["labeler load queries FILE --update"]


def test_a_bucket_that_collapsed_is_called_out(database: Path):
    add_collapsed_bucket(database)
    said = words(open_compare(measure=["RR"], show="Statistics"))
    assert "|new is ahead of old on the grades so far" in said, "half of the chunks are unjudged"
    assert "new loses clearly in 1 of the 2 buckets.|" in said
    assert "|intent = setup: −0.3691 nDCG@10" in said
    inside = words(open_compare(measure=["RR"], facet="intent", bucket="setup"))
    assert "|intent = setup: new is worse than old" in inside


def test_three_queries_are_called_few_and_nothing_more(filled: Path):
    said = words(open_compare(measure=["RR"], show="Statistics"))
    assert "|Too few queries to compare old and new: 3.|" in said
    assert "No bucket has 10 queries, so none is tested." in said
    inside = words(open_compare(measure=["RR"], facet="intent", bucket="setup"))
    assert "|intent = setup: Too few queries to compare old and new: 1.|" in inside
    assert "No bucket has 10 queries" not in inside


def test_every_query_is_a_row_of_two_strips_the_worst_first(filled: Path):
    data = component(open_compare(measure=["RR"]), "strips")
    assert [row["query_id"] for row in data["rows"]] == ["q3", "q1", "q2", "q4"]
    worst, *_, unjudged = data["rows"]
    assert [lane["cells"] for lane in worst["lanes"]] == ["3··", "··3"]
    assert [lane["value"] for lane in worst["lanes"]] == ["1.0000", "0.3333"]
    assert worst["delta"] == "−0.6667"
    assert (unjudged["lanes"][0], unjudged["delta"]) == ({"cells": "··", "value": "–"}, "–")


def test_buckets_stand_under_the_facets_that_they_are_of(filled: Path):
    with Store(filled) as store:
        store.queries.load(
            loaded([Query("q5", "new", buckets={"intent": "setup", "level": "hard"})])
        )
    data = component(open_compare(measure=["RR"], sort="bucket"), "strips")
    assert data["facets"] == "intent · level · task"
    shown = {row["query_id"]: row["bucket"] for row in data["rows"]}
    assert shown == {
        "q1": "refund · – · single",
        "q2": "refund · – · single",
        "q3": "setup · – · single",
        "q4": "",
        "q5": "setup · hard · –",
    }
    data = component(open_compare(measure=["RR"], facet="level"), "strips")
    assert data["facets"] == "level"
    assert {row["bucket"] for row in data["rows"]} == {"", "hard"}
    assert {row["bucket"] for row in component(open_compare(), "strips")["rows"]} == {""}


def test_the_list_shows_the_queries_of_one_outcome_and_counts_those_of_each(filled: Path):
    app = open_compare(measure=["RR"])
    [kinds] = [each for each in app.get("button_group") if each.key == "which"]
    every = component(app, "strips")["rows"]
    deltas = {row["query_id"]: row["delta"] for row in every}
    worse = [query for query, delta in deltas.items() if delta.startswith("−")]
    better = [query for query, delta in deltas.items() if delta.startswith("+")]
    equal = [query for query, delta in deltas.items() if delta == "0.0000"]
    counts = [len(every), len(worse), len(better), len(equal), 1]
    names = ("all", "worse", "better", "equal", "not compared")
    assert kinds.options == [f"{count} {name}" for count, name in zip(counts, names, strict=True)]
    for which, queries in (("worse", worse), ("better", better[::-1]), ("equal", equal)):
        rows = component(open_compare(measure=["RR"], which=which), "strips")["rows"]
        assert [row["query_id"] for row in rows] == queries
    assert "largest gains first" in words(open_compare(measure=["RR"], which="better"))
    assert "no outcome of a query is called 'best'" in words(open_compare(which="best"))


def test_compare_begins_with_the_measures_of_the_golden_set(filled: Path):
    with Store(filled) as store:
        store.settings.save(replace(store.settings.read(), decide_by="RR", measures="P@5 RR"))
    assert "|all queries · worst for new by RR|" in words(open_compare())
    said = words(open_compare(show="measures"))
    assert "RR, P@5 and 6 more measures" in said


def test_further_runs_have_a_lane_and_a_mean_of_their_own(filled: Path):
    with Store(filled) as store:
        lists = [Ranking(query, ("c2", "c3")) for query in ("q1", "q2", "q3")]
        store.runs.load(loaded(lists), name="third")
    app = open_compare(a="old", b="new", also=["third", "old"], measure=["RR"])
    data = component(app, "strips")
    assert [(side["sign"], side["name"]) for side in data["sides"]] == [
        *(("■", "old"), ("●", "new"), ("▲", "third")),
    ]
    assert [row["query_id"] for row in data["rows"]] == ["q3", "q1", "q2", "q4"], "as without it"
    assert data["rows"][0]["lanes"][2] == {"cells": "·3", "value": "0.5000"}
    assert data["rows"][3]["lanes"][2] == {"cells": "", "value": "–"}
    assert re.search(r"\|RR\|+3 of 3\|+0\.5556\|+0\.7778\|+0\.5000\|+\+0\.2222\|", words(app))
    assert app.multiselect(key="also").value == ["third"]
    numbers = open_compare(a="old", b="new", also=["third"], measure=["RR"], show="All numbers")
    assert re.search(r"(?i)\|new\|+third\|+Difference\|", words(numbers))


@pytest.mark.parametrize("page", ["scores", "compare"])
def test_a_page_that_does_not_narrow_a_bucket_by_another_says_so(filled: Path, page: str):
    bucket = {"facet": "intent", "bucket": "refund"}
    told = "intent: refund · all of it, not the part in task: single"
    assert told in words(open_page(page, **bucket, other="task", crossing="single"))
    assert "all of it" not in words(open_page(page, **bucket, other="task"))


def test_a_further_run_that_is_gone_is_said_in_sight(filled: Path):
    app = open_compare(also=["fourth"])
    assert "no run is called 'fourth'" in words(app)
    folded = [text.value for box in app.expander for text in box.text]
    assert not [text for text in folded if "fourth" in text]


def test_further_runs_stand_in_one_order_in_the_means_and_in_the_strips(filled: Path):
    with Store(filled) as store:
        for name, chunks in {"third": ("c2", "c3"), "fourth": ("c3",)}.items():
            lists = [Ranking(query, chunks) for query in ("q1", "q2", "q3")]
            store.runs.load(loaded(lists), name=name)
    also = {"also": ["fourth", "third"], "show": "All numbers"}
    app = open_compare(a="old", b="new", measure=["RR"], **also)
    sides = [side["name"] for side in component(app, "strips")["sides"]]
    assert sides == ["old", "new", "fourth", "third"]
    assert re.search(r"(?i)\|new\|+fourth\|+third\|+Difference\|", words(app))


def test_with_further_runs_it_says_whose_the_files_are_and_links_carry_them(filled: Path):
    with Store(filled) as store:
        lists = [Ranking(query, ("c2", "c3")) for query in ("q1", "q2", "q3")]
        store.runs.load(loaded(lists), name="third")
    told = "The files have old and new; the file of Scores has the means of further runs."
    app = open_compare(a="old", b="new", also=["third"], measure=["RR"])
    assert told in words(app)
    links = re.findall(
        r'href="(/compare\?[^"]*which=worse[^"]*)"', "".join(e.proto.body for e in app.get("html"))
    )
    assert links
    assert all("also=third" in link for link in links)
    assert told not in words(open_compare(a="old", b="new", measure=["RR"]))


def test_chunks_that_moved_most_lead_to_their_query(filled: Path):
    app = open_compare(measure=["RR"], show="What moved most")
    said = words(app)
    row = r"These help new most.*\|Title 3\|+c3\|+q1\|: 3 → 1, \+0\.6667\|.*\|\+0\.2222\|+3\|"
    assert re.search(row, said, re.S)
    [page] = [e.proto.body for e in app.get("html") if "These help new" in e.proto.body]
    assert 'href="/compare?measure=RR&amp;show=What+moved+most&amp;query=q1&amp;chunk=c3"' in page
    assert "q3|: 1 → 3, −0.6667" in said
    assert "These chunks cost new most" not in said, "c3 costs in one query and helps in two"
    known = words(open_compare(measure=["RR"], show="What moved most", moved="documents"))
    assert "has a known document" in known
    with Store(filled) as store:
        chunks = [Chunk(f"c{n}", f"text {n}", f"Title {n}", document_id="<b>doc") for n in "123"]
        store.chunks.load(loaded(chunks), update=True)
    known = words(open_compare(measure=["RR"], show="What moved most", moved="documents"))
    assert re.search(r"These help new most.*\|<b>doc\|+q1\|: 3 → 1.*\|\+0\.2222\|+3\|", known, re.S)


def test_names_that_differ_in_a_letter_and_names_of_300_letters_stay_apart(filled: Path):
    long = {letter: f"run-{letter}-" + "x" * 290 for letter in "abcdefghijklmnopqrst"}
    with Store(filled) as store:
        for at, name in enumerate(long.values()):
            ids = ("c1", "c2", "c3") if at % 2 else ("c3", "c2", "c1")
            store.runs.load(loaded([Ranking(f"q{n}", ids) for n in (1, 2, 3)]), name=name)
    app = open_compare(a=long["a"], b=long["b"], also=[long["c"], long["t"]], measure=["RR"])
    shown = [side["name"] for side in component(app, "strips")["sides"]]
    assert len(set(shown)) == 4
    assert [side["whole"] for side in component(app, "strips")["sides"]][3] == long["t"]
    said = words(app)
    assert f"|Too few queries to compare {shown[0]} and {shown[1]}: 3.|" in said


def test_where_every_grade_is_0_nothing_is_claimed(database: Path):
    names = [f"q{n:02}" for n in range(12)]
    with Store(database) as store:
        queries = [Query(n, n, buckets={"one": "all", "each": n}) for n in names]
        store.queries.load(loaded(queries))
        for run, ids in (("old", ("c1", "c2")), ("new", ("c2", "c1"))):
            store.runs.load(loaded([Ranking(name, ids) for name in names]), name=run)
        store.golden_loads.add(graded(*((name, "c1", 0) for name in names)))
    for show in ("", "What moved most", "Perfect reranker"):
        said = words(open_compare(show=show) if show else open_compare())
        assert "can't be compared yet: nothing relevant is known for any of these queries" in said
        assert "|Buckets|" not in said
        assert "nan" not in said.lower()
        assert "-0.0000" not in said
        assert "−0.0000" not in said


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("best for B", ["q1", "q2", "q3", "q4"]),
        ("bucket", ["q1", "q2", "q3", "q4"]),
        ("query text", ["q2", "q3", "q4", "q1"]),
    ],
)
def test_the_order_is_chosen(filled: Path, sort: str, order: list[str]):
    data = component(open_compare(measure=["RR"], sort=sort), "strips")
    assert [row["query_id"] for row in data["rows"]] == order


def test_one_bucket_has_its_own_numbers_and_queries(filled: Path):
    app = open_compare(measure=["RR"], facet="intent", bucket="setup")
    assert [row["query_id"] for row in component(app, "strips")["rows"]] == ["q3"]
    assert re.search(r"\|RR\|+1 of 1\|+1\.0000\|+0\.3333\|+−0\.6667\|", words(app))


def test_a_perfect_reranker_of_either_run_is_one_click_away(filled: Path):
    said = words(open_compare(measure=["RR"], show="Perfect reranker"))
    assert "old: a perfect reranker of the top 50 would give RR 1.0000 (+0.4444)" in said
    assert "new: a perfect reranker of the top 50 would give RR 1.0000 (+0.2222)" in said
    bucket = {"facet": "intent", "bucket": "setup"}
    setup = words(open_compare(measure=["RR"], show="Perfect reranker", **bucket))
    assert "new: a perfect reranker of the top 50 would give RR 1.0000 (+0.6667)" in setup
    assert "old: a perfect reranker of the top 50 would give RR 1.0000 (0.0000)" in setup


def test_one_query_shows_what_each_chunk_adds_in_both_lists(filled: Path):
    said = plain_words(open_compare(measure=["RR", "nDCG@10"], by="RR", query="q1"))
    assert "|old ranks the one useful chunk third, new first.|" in said
    assert "|+0.6667| RR, from 0.3333 to 1.0000|" in said
    a, b = said.split("|move|")[0], said.split("|move|")[1]
    assert re.search(r"\|c3\|Title 3\|0\.3333\|rank \|3\|3\|", a)
    assert re.search(r"\|3\|rank \|1\|↑ 2\|c3\|Title 3\|1\.0000\|", b)
    assert re.search(r"\|unjudged\|rank \|2\|↓ 1\|c1\|Title 1\|", b)
    assert "Terms depend on each other" in said
    assert "Enter your name to grade here" in said


def test_where_the_terms_are_not_the_value_no_chunk_is_said_to_add(filled: Path):
    assert "|part of RR|" in plain_words(open_compare(measure=["RR"], query="q1"))
    said = plain_words(open_compare(measure=["NumRet"], by="NumRet", query="q1"))
    assert "|move|" in said
    assert "part of" not in said


def test_a_query_says_of_both_runs_what_tells_them_apart_though_others_differ_more(filled: Path):
    models = ("bge-large-en-v1.5", "e5-mistral-7b-instruct")
    runs = [f"hybrid_{model}_rerank-{n}" for model in models for n in ("no", "t5")]
    with Store(filled) as store:
        for name in runs:
            store.runs.load(loaded([Ranking("q1", ("c1", "c2", "c3"))]), name=name)
    said = plain_words(open_compare(a=runs[0], b=runs[1], query="q1"))
    assert "|…no|part of nDCG@10|rank|" in said
    assert "|rank|move|…t5|part of nDCG@10|" in said


def test_an_ungraded_query_has_lists_but_no_number_that_pretends(filled: Path):
    said = plain_words(open_compare(measure=["RR"], query="q4"))
    assert "|Nobody has graded a chunk of this query.|" in said
    assert "RR, from" not in said
    assert "|Grade 2 unjudged chunks|" in said


def test_a_query_with_nothing_relevant_says_why_it_has_no_value(filled: Path):
    with Store(filled) as store:
        store.golden_loads.add(graded(("q4", "c1", 0), ("q4", "c2", 0)))
    said = plain_words(open_compare(measure=["RR"], query="q4"))
    assert "|No useful chunk of this query is known.|" in said
    assert "No chunk of q4 is known to have grade 1 or more: its RR is undefined" in said
    assert "RR, from" not in said
    assert "What if" not in said, "there is no value that a rank could change"


def test_a_run_that_lacks_the_query_has_an_empty_list(filled: Path):
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("q1", ("c3",))]), name="short")
    said = plain_words(open_compare(a="old", b="short", measure=["RR"], query="q2"))
    assert "short does not return the one useful chunk, old ranks it third." in said
    assert "short has no result for this query." in said
    below = said.split("|below the top 10")[1]
    assert re.search(r"\|unjudged\|rank \|none\|–\|c1\|", below), "its place in A is shown"


def test_text_from_files_is_never_markup(filled: Path):
    app = open_compare(query="q2")
    bodies = [element.proto.body for element in app.get("html")]
    assert any(html.escape(EVIL) in body for body in bodies)
    assert not any("<img" in body for body in bodies)
    assert not any("onerror" in element.value for element in [*app.markdown, *app.caption])


def test_what_if_recomputes_and_saves_nothing(filled: Path):
    app = open_compare(measure=["RR"], query="q1", rank="2")
    said = plain_words(app)
    assert "|What if new had it at …|" in said
    assert "|rank 1 now|1.0000|rank 2|0.5000|−0.5000|rank 3|0.3333|−0.6667|" in said.replace(
        "||", "|"
    )
    assert "At rank 2 the mean of 3 queries would be 0.6111 instead of 0.7778." in said
    of_a = plain_words(open_compare(measure=["RR"], query="q1", tried="a"))
    assert "|What if old had it at …|" in of_a
    with Store(filled) as store:
        assert store.golden_set.contents().judgments == 3


def test_an_unjudged_chunk_is_tried_with_every_grade(filled: Path):
    said = plain_words(open_compare(measure=["RR"], query="q1", chunk="c1", grade="3"))
    assert "|What if it had grade … in new|" in said
    assert "|RR would be|change|" in said, "none of these values was reached"
    assert "With grade 3 the mean of 3 queries would be 0.7778 instead of 0.7778." in said
    judged = plain_words(open_compare(measure=["RR"], query="q1", chunk="c3"))
    assert "What if it had grade" not in judged


def test_the_chosen_chunk_is_in_the_url(filled: Path):
    said = plain_words(open_compare(query="q1", chunk="c2"))
    assert "|Nobody has graded this chunk.|" in said
    assert "text 2 <img" in said


def test_the_opened_chunk_says_who_graded_it(filled: Path):
    with Store(filled) as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q1", "c3", "Ann", grade=2))
    said = plain_words(open_compare(query="q1", chunk="c3"))
    assert "|2|a file 3 · Ann 2|" in said


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"a": "old", "b": "old"}, "A and B are both 'old'"),
        ({"a": "typo"}, "no run is called 'typo'; there are: new, old, empty"),
        ({"b": "empty"}, "run 'empty' has no result for any query"),
        ({"facet": "colour"}, "no facet is called 'colour'; there are: intent, task"),
        ({"facet": "intent", "bucket": "red"}, "no bucket of intent is called 'red'"),
        ({"query": "q99"}, "no query is called 'q99'"),
        ({"measure": "nDGC@10"}, "nDCG"),
    ],
)
def test_bad_input_is_said_in_words(filled: Path, parameters: dict[str, str], sentence: str):
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("unknown", ("c1",))]), name="empty")
    app = open_compare(**parameters)
    assert sentence in words(app)
    assert "0.5556" not in words(app)


def test_runs_without_a_common_query_are_refused(filled: Path):
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="one")
        store.runs.load(loaded([Ranking("q2", ("c1",))]), name="two")
    said = words(open_compare(a="one", b="two"))
    assert "share no query" in said
    assert "Choose another run above" in said
    slices = open_page("slices", a="one", b="two", facet="intent")
    assert "share no query" in words(slices)
    [button] = [each for each in slices.button if each.label == "Go on without it"]
    assert "No bucket of one has 10 queries" in words(button.click().run())


def test_without_two_runs_it_says_what_to_load(database: Path):
    assert "There is no run to compare yet" in words(open_compare())
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="lonely")
    said = words(open_compare())
    assert "There is only one run" in said
    assert "labeler load run FILE" in said


def test_before_the_first_grade_it_says_what_to_do(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="a")
        store.runs.load(loaded([Ranking("q1", ("c2",))]), name="b")
    app = open_compare()
    assert "Nothing is graded yet: about 2 grades will say which" in words(app)
    assert [each.label for each in app.button] == ["Grade the 2 passages that decide most"]
    assert "nan" not in words(app).lower()
    strips = open_compare(show="Rank strips")
    assert component(strips, "strips")["rows"][0]["delta"] == "–"


def test_before_the_first_grade_the_queries_whose_lists_part_most_come_first(database: Path):
    lists = {"a": ("c1", "c2"), "b": ("c1", "c3")}
    with Store(database) as store:
        store.queries.load(loaded([Query("near", "<b>near</b>"), Query("far", "far away")]))
        for name, chunks in lists.items():
            far = Ranking("far", tuple(f"{name}{at}" for at in range(3)))
            store.runs.load(loaded([Ranking("near", chunks), far]), name=name)
    app = open_compare(a="a", b="b")
    page = words(app)
    assert "a and b share 0.5 of their top 10 on average." in page
    assert "In 1 of 2 queries the first result is the same." in page
    assert page.index("far away") < page.index("near")
    assert "<b>near</b>" not in "".join(each.proto.body for each in app.get("html"))
    assert "/compare?a=a&amp;b=b&amp;query=far" in "".join(
        each.proto.body for each in app.get("html")
    )
    assert not app.get("download_button"), "there is no number to download"


def test_chunkings_of_which_one_has_no_grades_have_a_list_without_values(filled: Path):
    with Store(filled) as store:
        store.chunks.load(loaded([Chunk("c1", "text 1")]), chunking="v2")
        store.runs.load(loaded([Ranking("q1", ("c1",))]), name="recut", chunking="v2")
    app = open_compare(a="old", b="recut")
    assert "|Transfer the grades|" in words(app)
    rows = component(app, "strips")["rows"]
    assert rows
    for row in rows:
        assert {lane["value"] for lane in row["lanes"]} == {"–"}
