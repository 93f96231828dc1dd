"""The Slices page: every bucket with its n and unjudged chunks, few ones greyed, none of them
hidden.
"""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from labeler.analysis.comparison import (
    DecisionRules,
    ShownPair,
    assess_pair,
    compare,
    describe_buckets,
)
from labeler.evaluation import Conventions, Scoreboard
from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.render import csv_exports
from labeler.render.palette import SHADE_COLOUR
from labeler.render.tables.slice_plots import MOST_SHADE
from labeler.render.tokens import DARK, LIGHT
from labeler.store import Store
from tests.support.contrast import contrast, mixed
from tests.support.page import (
    add_collapsed_bucket,
    empty_golden_set,
    listed_queries,
    loaded,
    open_page,
    words,
)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def filled(database: Path) -> Path:
    """B wins four queries of one bucket and loses both of the other; one query has no bucket."""
    low, high = ("c1", "c2", "c0"), ("c0", "c1", "c2")
    better = {1: (low, high), 2: (low, high), 3: (low, high), 4: (low, high)}
    worse = {5: (high, low), 6: (high, low)}
    both = {**better, **worse, 7: (high, high)}
    with Store(database) as store:
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(3)]))
        store.queries.load(
            loaded(
                [
                    Query(
                        f"q{n}",
                        f"query {n}",
                        task="single" if n % 2 else "research",
                        buckets={"intent": "<b>refund</b>" if n < 5 else "setup"} if n < 7 else {},
                    )
                    for n in both
                ]
            )
        )
        for at, name in enumerate(("A&A", "B")):
            lists = [Ranking(f"q{n}", given[at]) for n, given in both.items()]
            store.runs.load(loaded(lists), name=name)
        grades = [GoldenGrade(f"q{n}", "c0", 3) for n in both]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return database


def open_slices(**parameters: str | list[str]) -> AppTest:
    return open_page("slices", **parameters)


def row(said: str, name: str) -> list[str]:
    """The cells of the table row that opens with ``name``."""
    rest = re.split(rf"\|{re.escape(name)}\|", said, maxsplit=1)[1]
    return [cell for cell in rest.split("|") if cell.strip()]


def pictures(app: AppTest) -> str:
    """The words of the pictures of every measure, a table's cells set apart by bars."""
    assert not app.exception
    bodies = [each.proto.body for each in app.get("html") if "pictured" in each.proto.body]
    plain = [re.sub(r"<style>.*?</style>|<[^>]+>", "|", body, flags=re.S) for body in bodies]
    return html.unescape("\n".join(plain))


def open_pictures(**parameters: str | list[str]) -> AppTest:
    return open_slices(numbers="true", **parameters)


def test_without_a_run_it_says_what_to_load(database: Path):
    said = words(open_slices())
    assert "labeler load run" in said
    assert "n 0" not in said


def test_queries_without_buckets_say_how_to_give_some(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
        store.runs.load(loaded([Ranking("q1", ("c0",))]), name="only")
    said = words(open_slices())
    assert '"buckets"' in said
    assert "nan" not in said.lower()


def test_one_run_shows_every_bucket_the_total_and_who_has_no_bucket(filled: Path):
    said = words(open_slices(facet="intent", a="A&A", measure=["RR"]))
    assert row(said, "<b>refund</b>")[:3] == ["intent", "4 of 4", "0.3333"]
    assert row(said, "setup")[:3] == ["intent", "2 of 2", "1.0000"]
    assert row(said, "All queries")[:2] == ["7 of 7", "0.6190"]
    assert "1 judged query has no intent" in said
    assert "gain 2^grade−1" in said
    assert "14 unjudged in" not in said, "the table is folded until asked for"


def test_few_facets_are_tabs_many_or_long_ones_a_box_and_one_is_no_choice(filled: Path):
    def facets() -> tuple[list[str], list[str]]:
        app = open_slices(a="B")
        return [each.key for each in app.button_group], [each.key for each in app.selectbox]

    assert "facet" in facets()[0]
    with Store(filled) as store:
        more = {"intent": "setup", "a facet with a long name": "x"}
        store.queries.load(loaded([Query("q1", "one", buckets=more)]), update=True)
    assert "facet" in facets()[1]


def test_folds_stand_between_the_list_and_the_download(filled: Path):
    said = words(open_slices(a="B"))
    assert said.index("All queries") < said.index("Every measure") < said.index("How computed")
    assert "Keywords" not in said, "no query has some"


def test_every_measure_by_bucket_is_one_click_away(filled: Path):
    said = pictures(open_pictures(facet="intent", a="A&A", measure=["RR", "AP"]))
    assert row(said, "<b>refund</b>")[:4] == ["4", "few", "0.3333", "0.3333"]
    assert row(said, "all judged queries")[:3] == ["7", "few", "0.6190"]


@pytest.mark.parametrize("runs", [{"a": "A&A"}, {"a": "A&A", "b": "B"}])
def test_where_two_facets_cross_each_number_leads_to_its_queries(filled: Path, runs: dict):
    with Store(filled) as store:
        kept = [replace(each, task="single") for each in store.queries.all()]
        store.queries.load(loaded(kept), update=True)
    app = open_slices(facet="intent", other="task", measure=["RR"], **runs)
    said = html.unescape("".join(element.proto.body for element in app.get("html")))
    cell = r'<td[^>]*title="[^"]* \(n (\d+)\)"[^>]*>.*?<a href="([^"]*crossing=[^"]*)">'
    ways = re.findall(cell, said)
    assert len(ways) == 2
    for n, way in ways:
        asked = dict(parse_qsl(way.partition("?")[2]))
        assert len(listed_queries(open_page("queries", **asked))) == int(n)


@pytest.mark.parametrize("runs", [{"a": "A&A"}, {"a": "A&A", "b": "B"}])
def test_it_says_whose_n_stands_beside_a_bucket_where_measures_differ(filled: Path, runs: dict):
    told = "n beside a bucket is for RR; hover over a number for its own."
    with Store(filled) as store:
        buckets = {"intent": "setup"}
        store.queries.load(loaded([Query("zero", "nothing relevant", buckets=buckets)]))
        zero = [GoldenGrade("zero", "c0", 0)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(zero), loaded([])))
    assert told in words(open_pictures(facet="intent", measure=["RR", "Judged@10"], **runs))
    assert told not in words(open_pictures(facet="intent", measure=["RR", "AP"], **runs))


def test_how_few_is_few_is_a_choice_and_hides_nothing(filled: Path):
    said = words(open_slices(facet="intent", measure=["RR"], least="3"))
    assert "too few" not in row(said, "<b>refund</b>")[:4]
    assert "too few" in row(said, "setup")[:4]
    assert "few is under 3" in said


def add_halves(path: Path) -> None:
    """Add the golden set of `add_collapsed_bucket`, with a first facet that splits it in halves."""
    add_collapsed_bucket(path)
    with Store(path) as store:
        kept = [
            replace(each, buckets={"half": f"half {int(each.query_id[1:]) % 2}", **each.buckets})
            for each in store.queries.all()
        ]
        store.queries.load(loaded(kept), update=True)


def test_it_says_of_buckets_what_compare_says_or_of_those_of_the_facet_that_is_shown(
    database: Path,
):
    add_halves(database)
    with Store(database) as store:
        board = Scoreboard(store.collection.read(), Conventions.of())
        tests = assess_pair(board, "old", "new", DecisionRules.of(store.settings.read()))
    assert describe_buckets(tests)[1].sentence.startswith("intent = setup: ")
    for page, facet, of in (
        ("slices", None, None),
        ("slices", "intent", "intent"),
        ("slices", "half", "half"),
        ("compare", "intent", None),
    ):
        asked = {"facet": facet} if facet else {}
        asked |= {"show": "Statistics"} if page == "compare" else {}
        shown = words(open_page(page, a="old", b="new", measure=["RR"], **asked))
        said = describe_buckets(tests, facet=of)
        assert said
        assert all(f"{each.sentence}|" in shown for each in said)


def test_it_opens_with_all_facets_worst_first_and_keeps_to_one_that_is_chosen(database: Path):
    add_halves(database)
    buckets = r"\|(setup|refund|half [01])\|"
    every = re.findall(buckets, words(open_slices(a="old", b="new")))
    assert (every[0], len(every)) == ("setup", 4)
    assert len(re.findall(buckets, words(open_slices(a="old")))) == 4
    some = words(open_slices(a="old", b="new", facet="half"))
    assert sorted(re.findall(buckets, some)) == ["half 0", "half 1"]
    assert "of the 2 half buckets (corrected for all 4)" in some
    assert "in setup (intent)" not in some


def test_the_largest_loss_stands_at_the_top_with_its_queries_one_click_away(database: Path):
    add_halves(database)
    app = open_slices(a="old", b="new")
    said = words(app)
    assert "−0.3691|" in said
    assert "nDCG@10 in setup (intent), the largest fall: 11 of 11 queries differ." in said
    assert "It is more than chance: corrected for 4 buckets, its interval excludes 0." in said
    assert "11 queries that got worse" in said
    bodies = "".join(element.proto.body for element in app.get("html"))
    (way,) = re.findall(r'<a class="go" href="([^"]*)">See the 11', bodies)
    page, _, rest = html.unescape(way).partition("?")
    asked = dict(parse_qsl(rest))
    assert (asked["facet"], asked["bucket"], asked["b"]) == ("intent", "setup", "new")
    assert (page, asked["which"]) == ("/compare", "worse")


def test_of_one_run_it_says_the_lowest_bucket_and_how_sure_that_is(database: Path):
    add_halves(database)
    said = words(open_slices(a="new"))
    assert "new scores lowest on setup questions (intent)." in said
    assert "the lowest of many buckets tends to look lower than it is" in said


def test_a_bucket_that_is_not_tested_has_its_row_and_the_reason(filled: Path):
    app = open_slices(facet="intent", a="A&A", b="B", measure=["nDCG@10"])
    said = words(app)
    assert "No intent bucket has 10 queries, so none is tested." in said
    assert row(said, "setup")[:6] == [
        *("intent", "2 of 2", "1.0000", "0.5000", "−0.5000", "fewer than 10 queries"),
    ]
    assert any("fewer than 10 queries: not tested" in each.proto.body for each in app.get("html"))


def dots(app: AppTest) -> list[tuple[str, float, str]]:
    """The dots of a page: filled or hollow, how far to the right in per cent, and the number."""
    (body,) = [each.proto.body for each in app.get("html") if "pictured" in each.proto.body]
    found = re.findall(
        r'class="dot (\w+)[^"]*" style="--at: ([\d.]+)%"></span></span><span>(.*?)<', body
    )
    return [(kind, float(place), number) for kind, place, number in found]


def marks(app: AppTest) -> list[tuple[str, float]]:
    """The marks of the list: their look, and how far to the right they stand in per cent."""
    (body,) = [each.proto.body for each in app.get("html") if "listed" in each.proto.body]
    found = re.findall(r'<i class="(dot[^"]*|plain|level)" style="left: ([\d.]+)%"', body)
    return [(look, float(place)) for look, place in found]


def test_differences_are_marks_worst_first_and_filled_where_they_are_clear(database: Path):
    add_halves(database)
    assert "dot" not in {look for look, _ in marks(open_slices(a="old"))}, "one run is not tested"
    found = marks(open_slices(a="old", b="new"))
    assert [look for look, _ in found] == ["dot", "dot square", "dot maybe", "dot maybe", "dot"]
    assert sorted(place for _, place in found[1:]) == [place for _, place in found[1:]]
    untested = marks(open_slices(a="old", b="new", measure=["AP"]))
    assert {look for look, _ in untested[1:]} == {"plain"}, "AP is not tested in buckets"


def test_a_column_is_as_wide_as_its_intervals(database: Path):
    """B is ahead in half of the queries, and with the unjudged chunks it could be in all."""
    with Store(database) as store:
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(3)]))
        queries = [
            Query(f"q{n}", f"query {n}", buckets={"intent": "setup" if n < 24 else "refund"})
            for n in range(48)
        ]
        store.queries.load(loaded(queries))
        for name, tops in (("A", ["c1"] * 48), ("B", ["c0", "c2"] * 24)):
            lists = [Ranking(f"q{n}", (top,)) for n, top in enumerate(tops)]
            store.runs.load(loaded(lists), name=name)
        grades = [GoldenGrade(f"q{n}", "c0", 3) for n in range(48)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    app = open_pictures(facet="intent", a="A", b="B", measure=["nDCG@10"])
    (body,) = [each.proto.body for each in app.get("html") if "pictured" in each.proto.body]
    assert "± 0.8" in body
    assert "band" not in body


def test_the_table_names_two_runs_by_what_differs(filled: Path):
    common = "production-eu-west-1-knowledge-base-2026-11-chunks-of-512-tokens-reranked-by-"
    with Store(filled) as store:
        for name, new in (("A&A", f"{common}one"), ("B", f"{common}two")):
            store.runs.rename(name, new)
    more = {"numbers": "true", "other": "task"}
    app = open_slices(facet="intent", a=f"{common}one", b=f"{common}two", measure=["RR"], **more)
    (table,) = [each.proto.body for each in app.get("html") if "unjudged A" in each.proto.body]
    assert re.findall(r">([AB]: [^<]*)<", table) == ["A: …one", "B: …two"]
    assert f'title="{common}one"' in table


def test_greyed_is_explained_where_something_is(filled: Path):
    given = {"facet": "intent", "measure": ["RR"]}
    for runs in ({"a": "B"}, {"a": "A&A", "b": "B"}, {"a": "B", "other": "task"}):
        assert "Greyed: fewer than 10 queries." in words(open_pictures(**given, **runs))
        assert "Greyed" not in words(open_pictures(**given, **runs, least="1"))


def test_a_number_is_greyed_by_its_own_n_and_then_on_no_shade(filled: Path):
    """RR is defined for seven queries and R(rel=3)@5 for two of them, one in each bucket."""
    with Store(filled) as store:
        grades = [GoldenGrade(f"q{n}", "c0", 3 if n in (1, 5) else 1) for n in range(1, 8)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])), update=True)
    given = {"facet": "intent", "measure": ["RR", "R(rel=3)@5"], "least": "2"}
    for runs in ({"a": "B"}, {"a": "A&A", "b": "B"}):
        app = open_pictures(**given, **runs)
        (body,) = [each.proto.body for each in app.get("html") if "pictured" in each.proto.body]
        cells = [row.split("<td")[2:] for row in body.split("<tr")[2:]]
        found = [[bool(re.match(r' class="[^"]*few', each)) for each in row] for row in cells]
        assert found == [[False, False], [False, True], [False, True]]
        assert all("--share" not in each for row in cells for each in row[1:])
        assert "Greyed: fewer than 2 queries." in words(app)


def test_only_what_is_shaded_is_explained_and_few_queries_come_last(filled: Path):
    given = {"facet": "intent", "measure": ["RR"]}
    for more in ({}, {"other": "task"}):
        said = words(open_pictures(**given, **more, a="B", least="1"))
        assert "not greyed" in said
        assert "shade is from" not in words(open_pictures(**given, **more, a="B"))
    pair = {"a": "A&A", "b": "B"}
    assert "Worst RR first, those under 3 queries last." in words(
        open_pictures(**given, **pair, least="3")
    )
    assert "Worst RR first." in words(open_pictures(**given, **pair, least="1"))


def test_where_facets_cross_the_one_scale_is_said_once(filled: Path):
    given = {"facet": "intent", "other": "task", "measure": ["RR"], "a": "A&A", "least": "1"}
    assert words(open_slices(**given, b="B")).count("every column ± 0.8") == 1
    assert words(open_slices(**given)).count("every column 0.33 to 1.00") == 1


def test_a_bucket_of_few_queries_comes_last_and_does_not_widen_the_scale(filled: Path):
    found = dots(open_pictures(facet="intent", a="A&A", b="B", measure=["RR"], least="3"))
    assert [(kind, number) for kind, _, number in found] == [
        ("maybe", "+0.1905"),
        ("plain", "+0.6667"),
        ("plain", "−0.6667"),
    ]


def test_two_facets_cross_with_the_empty_crossings_left_to_the_picture(filled: Path):
    given = {"facet": "intent", "other": "task", "b": "B", "measure": ["RR"], "numbers": "true"}
    app = open_slices(a="A&A", **given)
    said = words(app)
    assert re.search(r"\|setup\|+single\|+1\|few", said)
    assert "RR: B − A&A by intent and task" in said
    assert {kind for kind, *_ in dots(app)} == {"plain"}, "nobody asked whether it is chance"


def test_names_from_files_stay_text_and_lead_to_the_queries(filled: Path):
    bodies = [element.proto.body for element in open_slices(a="A&A", facet="intent").get("html")]
    assert not any("<b>refund" in body for body in bodies)
    (address,) = re.findall(r'href="(/queries\?[^"]*setup[^"]*)"', "".join(bodies))
    assert "a=A%26A" in address
    assert "facet=intent" in address


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"a": "nope"}, "no run is called 'nope'; there are: B, A&A"),
        ({"b": "nope"}, "no run is called 'nope'"),
        ({"facet": "nope"}, "no facet is called 'nope'; there are: intent, task"),
        ({"other": "nope"}, "no facet is called 'nope'"),
        ({"a": "B", "b": "B", "facet": "intent"}, "choose two different runs"),
        ({"measure": ["nDGC@10"]}, "nDCG"),
    ],
)
def test_a_wrong_address_is_said_in_words(filled: Path, given: dict, said: str):
    shown = words(open_slices(**given))
    assert said in shown
    assert "0.6190" not in shown


def test_the_file_has_every_digit_and_the_conventions(filled: Path):
    with Store(filled) as store:
        board = Scoreboard(store.collection.read(), Conventions.of())
    found = compare(board, "A&A", "B", board.conventions.measures("RR"), "intent")
    shown = ShownPair(found, [*found.deltas, *found.buckets], assess_pair(board, "A&A", "B"))
    rows = list(csv.DictReader(io.StringIO(csv_exports.comparison_csv(shown).decode())))
    assert [each["bucket"] for each in rows] == ["", "<b>refund</b>", "setup"]
    assert float(rows[1]["a"]) == 1 / 3
    assert (rows[0]["measure"], rows[0]["full_name"]) == ("RR", "RR(rel=1)")
    assert all("gain 2^grade−1" in each["conventions"] for each in rows)


@pytest.mark.parametrize("tokens", [LIGHT, DARK])
def test_shades_leave_numbers_readable_in_the_light_and_in_the_dark(tokens: dict[str, str]):
    darkest = mixed(SHADE_COLOUR, tokens["bg"], MOST_SHADE / 100)
    assert contrast(darkest, tokens["ink"]) >= 4.5


def golden_set(path: Path, grades: dict[str, int], facet: dict[str, str]) -> None:
    """Fill a golden set: two runs over the queries of ``facet``, one relevant chunk in each."""
    ids = list(facet)
    with Store(path) as store:
        store.chunks.load(loaded([Chunk("c0", "one"), Chunk("c1", "two")]))
        given = [Query(q, q, buckets={"topic": facet[q]} if facet[q] else {}) for q in ids]
        store.queries.load(loaded(given))
        for name, order in (("A", ("c0", "c1")), ("B", ("c1", "c0"))):
            store.runs.load(loaded([Ranking(q, order) for q in ids]), name=name)
        golden = [GoldenGrade(q, "c0", grade) for q, grade in grades.items()]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(golden), loaded([])))


BOTH = [{"a": "A"}, {"a": "A", "b": "B"}]


@pytest.mark.parametrize("runs", BOTH)
def test_one_bucket_has_its_row_beside_the_total(database: Path, runs: dict[str, str]):
    golden_set(database, dict.fromkeys(["q1", "q2"], 3), {"q1": "only", "q2": "only"})
    said = words(open_slices(facet="topic", measure=["RR"], **runs))
    assert row(said, "only")[1] == row(said, "All queries")[0] == "2 of 2"


@pytest.mark.parametrize("runs", [BOTH[0], pytest.param(BOTH[1], marks=pytest.mark.slow)])
def test_of_a_thousand_buckets_forty_are_on_each_page(database: Path, runs: dict[str, str]):
    many = {f"q{n}": f"topic {n}" for n in range(1_000)}
    golden_set(database, dict.fromkeys(many, 3), many)
    app = open_slices(facet="topic", measure=["RR"], **runs)
    assert len(re.findall(r"\|topic \d+\|", words(app))) == 40
    assert max(len(each.proto.body) for each in app.get("html")) < 100_000
    last = words(open_slices(facet="topic", measure=["RR"], page="25", **runs))
    assert len(re.findall(r"\|topic \d+\|", last)) == 40
    drawn = open_pictures(facet="topic", measure=["RR"], **runs)
    assert "960 more buckets of topic: in the file." in words(drawn)


def test_a_row_of_crossed_facets_counts_all_its_queries_though_few_columns_are_drawn(
    database: Path,
):
    many = {f"q{n}": f"topic {n}" for n in range(50)}
    golden_set(database, dict.fromkeys(many, 3), many)
    with Store(database) as store:
        kinds = [replace(query, task="single") for query in store.queries.all()]
        store.queries.load(loaded(kinds), update=True)
    said = words(open_slices(facet="task", other="topic", a="A", measure=["RR"]))
    assert row(said, "single")[0] == "50"
    assert "38 more of topic: in the file." in said


@pytest.mark.parametrize("runs", BOTH)
def test_without_grades_it_says_how_to_get_some(database: Path, runs: dict[str, str]):
    golden_set(database, {}, {"q1": "x", "q2": "y"})
    assert "Nobody has graded a chunk yet" in words(open_slices(facet="topic", **runs))


@pytest.mark.parametrize("runs", BOTH)
def test_where_all_grades_are_0_values_are_undefined_and_not_0(
    database: Path, runs: dict[str, str]
):
    golden_set(database, {"q1": 0, "q2": 0}, {"q1": "x", "q2": "y"})
    said = words(open_slices(facet="topic", measure=["RR"], **runs))
    assert row(said, "x")[0] == "topic"
    assert row(said, "x")[1].startswith("0 of ")
    assert row(said, "x")[2] == "–"
    assert "0 of 2 queries (2 with nothing relevant)" in said
    assert "0.0000" not in said


@pytest.mark.parametrize("runs", BOTH)
def test_a_row_has_the_n_of_the_measure_that_leads(database: Path, runs: dict[str, str]):
    golden_set(database, {"q1": 3, "q2": 3, "q3": 0}, dict.fromkeys(["q1", "q2", "q3"], "x"))
    said = pictures(open_pictures(facet="topic", measure=["RR", "Judged@10"], **runs))
    for name in ("x", "all judged queries"):
        assert row(said, name)[:3] == ["2", "few", " +1 undefined"], "Judged@10 is of 3"


@pytest.mark.parametrize("runs", BOTH)
def test_queries_without_a_value_of_the_facet_are_in_the_total_and_counted(
    database: Path, runs: dict[str, str]
):
    golden_set(database, dict.fromkeys(["q1", "q2", "q3"], 3), {"q1": "x", "q2": "", "q3": ""})
    said = words(open_slices(facet="topic", measure=["RR"], **runs))
    assert (row(said, "x")[1], row(said, "All queries")[0]) == ("1 of 1", "3 of 3")
    assert "2 judged queries have no topic: in no bucket, but in the row of all queries" in said


def test_buckets_of_an_order_of_their_own_keep_it(database: Path):
    levels = {"q1": "hard", "q2": "easy", "q3": "medium"}
    golden_set(database, dict.fromkeys(levels, 3), levels)
    said = pictures(open_pictures(facet="topic", a="A", measure=["RR"]))
    assert re.findall(r"\|(easy|medium|hard)\|", said) == ["easy", "medium", "hard"]
