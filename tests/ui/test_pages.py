"""Every page over a real golden set: what it says, what it says when there is nothing to show."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from labeler.analysis import comparison
from labeler.analysis.keywords import KeywordRow
from labeler.evaluation import Conventions, Scoreboard, collect, residual_means
from labeler.model import (
    GOLDEN_RULES,
    Chunk,
    GoldenGrade,
    Judgment,
    LoadedGolden,
    Query,
    Ranking,
)
from labeler.render import csv_exports
from labeler.store import Contents, LeakedQuery, Store
from labeler.ui.data.upload import describe_contents
from labeler.ui.scoreboards import conventions, live_board
from tests.support.page import drawn, empty_golden_set, loaded, open_page, words


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def filled(database: Path) -> Path:
    """Two judged queries in two buckets, one with nothing relevant; one unjudged; two runs."""
    with Store(database) as store:
        store.queries.load(
            loaded(
                [
                    Query("q1", "one", task="single", buckets={"intent": "refund"}),
                    Query("q2", "two", task="single", buckets={"intent": "setup"}),
                    Query("q3", "three", buckets={"intent": "setup"}),
                ]
            )
        )
        store.chunks.load(loaded([Chunk(f"c{n}", f"text {n}") for n in range(4)]))
        lists = [Ranking(f"q{n}", ("c0", "c1", "c2", "c3"), (4, 3, 2, 1)) for n in (1, 2, 3)]
        store.runs.load(loaded(lists), name="all", system="search")
        store.runs.load(loaded([Ranking("q1", ("c3", "c2"))]), name="<b>some</b>")
        grades = [
            GoldenGrade("q1", "c0", 3),
            GoldenGrade("q1", "c3", 1),
            GoldenGrade("q2", "c0", 0),
        ]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return database


@pytest.mark.parametrize("page", ["compare", "slices", "queries"])
def test_nothing_comes_above_what_is_already_read(filled: Path, page: str):
    with drawn() as sent:
        open_page(page, facet="intent")
    parts = [place for place, html in sent if place[0] == 0 and "choice-line" not in html]
    parts.pop()  # the line that says "live", which takes no room
    holders = {place[:length] for place in parts for length in range(len(place))}
    parts = [place for place in parts if place not in holders]  # columns are empty when they come
    assert parts == sorted(parts)


@pytest.mark.parametrize("page", ["label", "scores"])
def test_an_empty_golden_set_says_what_to_load(database: Path, page: str):
    said = words(open_page(page))
    assert "labeler load" in said
    assert "nan" not in said.lower()


def test_queries_without_a_run_ask_for_a_run(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
    said = words(open_page("label"))
    assert "labeler load run" in said
    assert "load queries" not in said


def test_a_missing_golden_set_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LABELER_DB", str(tmp_path / "typo.db"))
    said = words(open_page("scores"))
    assert "there is no golden set here" in said
    assert "Traceback" not in said
    assert not (tmp_path / "typo.db").exists()


def test_scores_show_values_what_is_unjudged_and_over_which_queries(filled: Path):
    said = words(open_page("scores", measure=["nDCG@3", "P@2", "Judged@10"]))
    # q2 has nothing relevant
    assert "1 of 3 queries (1 not graded, 1 with nothing relevant) · 3 grades" in said
    assert re.search(r"\|nDCG@3[| ↓]+P@2\|+Judged@10\|+2 queries\|", said)
    assert re.search(r"\|all\|+search\|", said)
    assert "|unjudged in\nthe top 3|" in said
    assert re.search(r"\|0\.5000\|+0\.3750\|+67%\|", said), "P@2 of all: q1 has one of two"
    assert "gain 2^grade−1" not in said
    computed = words(open_page("scores", view="how computed"))
    assert "gain 2^grade−1" in computed
    assert "1 query without any golden grade: left out" in computed


def test_rbp_is_shown_with_what_ungraded_chunks_could_add(filled: Path):
    """In q1, run all has grades at ranks 1 and 4, the other one at rank 1."""
    app = open_page("scores", measure=["RBP(p=0.5)", "RBP(p=0.5)@1"])
    said = words(app)
    open_to = said.split("value + residual")[-1]
    assert numbers(open_to, "all") == ["0.5625", "0.4375", "1.0000", "0.5000", "0.5000", "1.0000"]
    assert "value + residual" in said
    body = next(each.proto.body for each in app.get("html") if "residual" in each.proto.body)
    assert "&lt;b&gt;some&lt;/b&gt;" in body
    assert "<b>some" not in body
    assert "residual" not in words(open_page("scores", measure=["RR", "ERR"]))


def test_the_residual_of_a_bucket_is_that_of_its_queries(filled: Path):
    every = words(open_page("scores", measure=["RBP(p=0.5)"], facet="intent"))
    residuals = every.split("value + residual|")[1:]
    found = {tuple(numbers(part, "all")) for part in residuals}
    assert found == {("0.5625", "0.4375", "1.0000"), ("–", "–", "–")}, "nothing relevant is known"
    one = words(open_page("scores", measure=["RBP(p=0.5)"], facet="intent", bucket="refund"))
    assert numbers(one.split("value + residual")[-1], "all") == ["0.5625", "0.4375", "1.0000"]
    assert one.count("value + residual|") == 1


def test_a_board_that_is_being_shown_does_not_move_when_another_visitor_looks(filled: Path):
    chosen = Conventions()
    [measure] = chosen.measures("Judged@10")
    with Store(filled) as store:
        shown = live_board(store, chosen)
        before = shown.table([measure])
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q2", "c1", "Ann", grade=2))
        newer = live_board(store, chosen)
        assert newer.revision > shown.revision
        assert newer.table([measure]) != before
        assert (shown.table([measure]), shown.counts.grades) == (before, 3)
        assert newer.notes() == shown.notes()


def test_a_download_of_scores_has_residuals_where_there_are_some(filled: Path):
    conventions = Conventions.of()
    with Store(filled) as store:
        board = Scoreboard(store.collection.read(), conventions)
    measures = conventions.measures("RBP(p=0.5) RR")
    scores, residuals = board.table(measures), residual_means(board, measures)
    text = csv_exports.score_csv(scores, conventions, residuals).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["residual"] for row in rows] == ["0.4375", "", "0.5", ""]
    assert (rows[0]["measure"], rows[0]["full_name"]) == ("RBP(p=0.5)", "RBP(rel=1, p=0.5)")
    assert "residual" not in csv_exports.score_csv(board.table(measures[1:]), conventions).decode()


def test_no_download_of_numbers_holds_a_cell_that_a_spreadsheet_runs():
    formula = "=HYPERLINK(1)"
    qrels, run = {formula: {"c": 3}}, {formula: {"c": 1.0, "d": 0.5}}
    facets = {"intent": {formula: formula}}
    board = Scoreboard(collect(qrels, {formula: run, "+b": run}, facets), Conventions())
    measures = board.conventions.measures("RR")
    compared = comparison.compare(board, formula, "+b", measures, "intent")
    [row] = compared.queries(measures[0])
    tests = comparison.assess_pair(board, formula, "+b")
    shown = comparison.ShownPair(compared, [*compared.deltas, *compared.buckets], tests)
    keywords = KeywordRow(formula, (1.0, 1.0, 1.0), 1, (1.0,), 1, 1.0)
    for content in (
        csv_exports.score_csv(board.table(measures, "intent"), board.conventions),
        csv_exports.comparison_csv(shown),
        csv_exports.query_delta_csv([row], compared, {formula: formula}, {formula: formula}),
        csv_exports.keyword_csv([keywords], 10, ["RR"], board.conventions, substring=False),
    ):
        cells = [cell for line in csv.reader(io.StringIO(content.decode())) for cell in line]
        assert f"'{formula}" in cells
        assert not [cell for cell in cells if cell.startswith(("=", "+"))]


def numbers(said: str, run: str) -> list[str]:
    """Return the numbers in the row of a run, in the last table that has it."""
    *_, row = re.split(rf"\|{run}\|", said)
    return re.findall(r"–|\d\.\d{4}", re.split(r"\|{6}|\n", row)[0])


def ranked(said: str, run: str) -> list[str]:
    """Return the numbers of a run in the table that all views have."""
    found = re.search(rf"\|{run}\|.*?\|+([\d.|–]+)\d+%\|", said.split("|unjudged in")[1])
    return [] if found is None else re.findall(r"–|\d\.\d{4}", found[1])


def test_runs_of_old_addresses_stay_hidden(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q", "one")]))
        store.golden_loads.add(
            LoadedGolden(loaded([]), loaded([GoldenGrade("q", "c", 3)]), loaded([]))
        )
        for name, chunks in {"first": "c x", "second": "x c", "third": "x y c"}.items():
            store.runs.load(loaded([Ranking("q", tuple(chunks.split()))]), name=name)
    said = words(open_page("scores", measure=["RR"], hide=["first", "second"]))
    assert "1 of 3 runs are shown." in said
    assert re.findall(r"\d\.\d{4}\|", said.split("unjudged in")[1]) == ["0.3333|"]


def test_an_absent_query_is_counted_beside_the_zero(filled: Path):
    said = words(open_page("scores", measure=["Judged@10"]))
    assert re.search(r"\|<b>some</b>\|.*1 absent", said.replace("\n", " "))


@pytest.mark.parametrize("of", [{"facet": "intent"}, {"view": "recall over k"}])
def test_the_holes_of_a_run_are_of_the_chunks_that_it_shows(filled: Path, of: dict):
    said = words(open_page("scores", measure=["P@5"], **of))
    assert re.search(r"\|<b>some</b>\|+1 absent\|+◌ 75%\| unjudged chunks, of the top \d+\|", said)
    assert re.search(r"\|all\|+search\|+◌ 62%\| unjudged chunks, of the top \d+\|", said)


def test_names_from_files_are_never_markup(filled: Path):
    bodies = [element.proto.body for element in open_page("scores").get("html")]
    assert any("&lt;b&gt;some&lt;/b&gt;" in body for body in bodies)
    assert not any("<b>some" in body for body in bodies)


def test_columns_of_scores_are_the_parameters_of_the_runs_under_their_names(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q", "text")]))
        store.golden_loads.add(
            LoadedGolden(loaded([]), loaded([GoldenGrade("q", "c", 1)]), loaded([]))
        )
        for k, fusion in ((20, "rrf"), (60, "convex")):
            params = {"k": k, "fusion": fusion, "index": "prod"}
            store.runs.load(loaded([Ranking("q", ("c",))]), name=f"run {k}", params=params)
    said = words(open_page("scores"))
    assert "These names also share: |index prod|" in said
    assert re.search(r"\|fusion\|.*\|20\|.*\|rrf\|.*\|60\|.*\|convex\|", said, re.DOTALL)
    with Store(database) as store:
        assert store.runs.params()["run 20"] == {"k": "20", "fusion": "rrf", "index": "prod"}


def test_folded_names_are_there_whole_without_a_mouse(database: Path):
    beginning = "2026-11-22_production-index_chunk-size"
    with Store(database) as store:
        store.queries.load(loaded([Query("q", "text")]))
        store.golden_loads.add(
            LoadedGolden(loaded([]), loaded([GoldenGrade("q", "c", 1)]), loaded([]))
        )
        for size in (256, 512):
            store.runs.load(loaded([Ranking("q", ("c",))]), name=f"{beginning}-{size}")
    said = words(open_page("scores", view="how computed"))
    assert f"chunk-size-256 is {beginning}-256|" in said
    said = words(open_page("scores", hide=f"{beginning}-256", view="how computed"))
    assert f"{beginning}-256|" not in said
    assert f"chunk-size-512 is {beginning}-512|" in said


def test_one_bucket_is_shown_alone(filled: Path):
    every = words(open_page("scores", facet="intent", measure=["RR", "P@2"]))
    assert re.search(r"\|refund[| ▼]+RR · n 1\|", every)
    assert re.search(r"\|setup[| ▼]+RR · n 0, 1 undefined", every)
    assert "P@2 · n" not in every
    one = words(open_page("scores", facet="intent", bucket="refund", measure=["RR"]))
    assert "The one query of intent = refund" in one
    assert "setup" not in one


def test_trec_eval_conventions_put_the_undefined_query_into_the_mean(filled: Path):
    said = words(open_page("scores", measure=["RR"], preset="trec_eval"))
    assert "2 of 3 queries (1 not graded) · 3 grades" in said


def test_the_budget_and_threshold_are_the_teams(filled: Path):
    with Store(filled) as store:
        store.settings.save(type(store.settings.read())(rel=2, prompt_k=3))
    said = words(open_page("scores", measure=["R@prompt"], view="how computed"))
    assert "R@3" in said
    assert "relevant from grade 2" in said


def test_another_rule_of_several_grades_moves_the_board_and_stands_under_it(filled: Path):
    with Store(filled) as store:
        query_id, chunk_id = store.queries.all()[0].query_id, store.chunks.all()[0].chunk_id
        for grader, grade in (("Ann", 0), ("Bob", 3)):
            store.people.add(grader)
            store.judgments.add(Judgment(f"rule-{grader}", query_id, chunk_id, grader, grade=grade))
        golden = {}
        for rule in GOLDEN_RULES:
            store.settings.save(replace(store.settings.read(), golden_rule=rule))
            board = live_board(store, conventions(store.settings.read()))
            golden[rule] = board.golden(query_id).get(store.chunks.number(chunk_id))
    assert golden == dict(zip(GOLDEN_RULES, (0, 3, 1, None), strict=True))
    assert "several graders: majority" in words(open_page("scores", view="how computed"))


def test_a_wrong_measure_names_the_right_one(filled: Path):
    said = words(open_page("scores", measure=["nDGC@10"]))
    assert "nDCG" in said
    assert "n 1" not in said


def test_one_of_a_kind_is_counted_in_the_singular():
    assert describe_contents(Contents(1, 0, 1, 0, 1, 1, 1, 1, 1)) == (
        "1 query · 1 chunk · 1 run · 1 golden grade · 1 grader · 1 grade of an earlier text"
    )
    assert describe_contents(Contents(2, 0, 0, 0, 2, 2, 0, 2, 2)) == (
        "2 queries · 0 chunks · 2 runs · 2 golden grades · 2 graders"
    )


def test_the_pad_gets_no_token_before_somebody_said_who_is_grading(filled: Path):
    (pad,) = (element for element in open_page("label").main if element.key == "grading_pad")
    given = json.loads(pad.proto.json)
    assert (given["grader"], given["token"]) == (None, None)
    with Store(filled) as store:
        assert store.golden_set.contents().graders == 0


def test_each_task_is_read_by_the_measures_that_fit_it(filled: Path):
    said = words(open_page("scores", view="by task")).split("|each by its own measures|")[1]
    assert "task: single" in words(open_page("scores", view="by task"))
    assert re.search(r"\|Success@3[| ▼]+n 1, 1 undefined", said)
    assert re.search(r"\|single[| ▼]+Success@3 · n 1, 1 undefined", said)
    assert "nDCG@10" not in said
    assert "task: research" not in said


def test_a_view_without_numbers_offers_no_file_of_its_own(filled: Path):
    with Store(filled) as store:
        store.queries.load(
            loaded([replace(q, task=None) for q in store.queries.all()]), update=True
        )
    for view, missing in {"by task": "No query has a task", "trend": "has a date"}.items():
        app = open_page("scores", view=view)
        assert missing in words(app)
        assert [each.label for each in app.get("download_button")] == ["Download CSV"]


@pytest.mark.parametrize("page", ["scores", "compare", "slices", "queries"])
def test_a_measure_that_is_none_can_be_left_behind(filled: Path, page: str):
    given = [
        ("measure", "nDCG@@"),
        *([("bar", "nDCG@@"), ("bar", " ")] if page == "queries" else []),
    ]
    for name, wrong in given:
        app = open_page(page, **{name: wrong})
        assert "measure" in words(app)
        [leave] = [button for button in app.button if button.label == "Go on without it"]
        leave.click().run()
        assert name not in app.query_params
        assert "Go on without it" not in [button.label for button in app.button]


@pytest.mark.parametrize("page", ["scores", "compare", "slices", "queries"])
def test_all_chunkings_are_asked_for_where_no_run_is_of_any(database: Path, page: str):
    assert "labeler load" in words(open_page(page, chunking="*"))


def test_recall_and_precision_are_curves_with_their_tables(filled: Path):
    app = open_page("scores", view="recall over k")
    said = words(app)
    assert len(app.get("vega_lite_chart")) == 2
    for name in ("R@1", "R@100", "P@1", "P@100"):
        assert f"|{name}|" in said
    ends = "all (4), <b>some</b> (2): the longest list ends before rank 100; from there on recall"
    assert ends in said


def test_a_number_that_lies_is_warned_of(filled: Path):
    said = words(open_page("scores", measure=["nDCG@10"]))
    assert "Only 1 query is in the mean: any difference may be chance." in said


def test_leaked_queries_in_the_means_are_said_until_they_are_left_out(filled: Path):
    with Store(filled) as store:
        store.splits.mark_leaked([LeakedQuery("q1", "train.jsonl", 7, "query", 1.0, "words")])
    told = words(open_page("scores", view="how computed"))
    assert "is marked as leaked: no other query is left." in told
    left = words(open_page("scores", view="how computed", leaked="without"))
    assert "marked as leaked" not in left


def test_ties_and_keywords_are_shown_beside_the_means(filled: Path):
    shown = words(open_page("scores", view="ties", measure="RR"))
    assert "highest" in shown or "No run has tied scores" in shown
    assert "No query has keywords" in words(open_page("scores", view="keywords"))
    with Store(filled) as store:
        [first, *_] = store.queries.all()
        wanted = replace(first, keywords=("text",))
        store.queries.load(loaded([wanted]), update=True)
    shown = words(open_page("scores", view="keywords"))
    assert "coverage@10" in shown
    assert "queries with keywords: 1, graded of them: 1" in shown


@pytest.mark.parametrize("measure", ["RR(documents=True)", "EvidenceR@prompt"])
def test_ties_are_told_from_measures_whose_best_order_nobody_knows(filled: Path, measure: str):
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("q1", ("c1", "c0"), (1, 1))]), name="tied")
    said = words(open_page("scores", view="ties", measure=measure))
    assert "other orders are not computed for these measures" in said


def test_queries_without_a_list_are_counted_over_the_buckets_of_a_table(filled: Path):
    with Store(filled) as store:
        store.queries.load(loaded([Query("q0", "zero", buckets={"intent": "refund"})]))
        grades = loaded([GoldenGrade(name, "c2", 3) for name in ("q0", "q3")])
        store.golden_loads.add(LoadedGolden(loaded([]), grades, loaded([])))
    for place in ({}, {"facet": "intent"}):
        assert re.search(r"some[^☆]*3 absent", words(open_page("scores", measure="RR", **place)))


@pytest.mark.parametrize(
    ("page", "odd"),
    [
        ("scores", {"path": "x"}),
        ("compare", {"path": "x", "show": "What moved most"}),
        ("queries", {"path": "x", "view": "Why they fail"}),
        ("queries", {"page": "9" * 5_000}),
        ("compare", {"measure": ["", "nDCG@10"]}),
        ("compare", {"measure": " "}),
        ("scores", {"chunking": ""}),
    ],
)
def test_odd_addresses_are_no_tracebacks(filled: Path, page: str, odd: dict[str, str | list[str]]):
    assert "3 queries" in words(open_page(page, **odd))


@pytest.mark.parametrize(
    "nothing",
    [
        {"view": "recall over k", "hide": ["all", "<b>some</b>"]},
        {"hide": ["all", "<b>some</b>"]},
        {"measure": ["NumRet", "NumRel"]},
    ],
)
def test_no_chart_is_drawn_without_a_point(filled: Path, nothing: dict):
    app = open_page("scores", **nothing)
    assert not app.exception
    assert not app.get("vega_lite_chart")


def test_trust_in_recall_says_what_each_run_alone_found(filled: Path):
    said = words(open_page("scores", view="trust in recall", measure=["RR", "R@2"]))
    assert numbers(said, "all") == ["0.5000", "0.0000"]
    assert "0.0000|2. · n 1|" in said
    assert "two orders by R@2 is not defined: all values of one order are equal" in said
    assert "Chunks are graded because a run returned them." in said
    assert "R@5 without" in words(open_page("scores", view="trust in recall", measure=["RR"]))
    with Store(filled) as store:
        store.runs.change("<b>some</b>", system="search")
    assert "all runs are of one system" in words(open_page("scores", view="trust in recall"))


VIEWS = ["measures", "by task", "recall over k", "ties", "trust in recall", "keywords"]


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_obeys_the_bucket_or_says_that_it_wants_one(filled: Path, view: str):
    """Run tied answers q1 alone, so that only its row tells where ties are asked for."""
    with Store(filled) as store:
        [one, two, three] = store.queries.all()
        asked = [replace(each, keywords=("text",), task="single") for each in (one, two, three)]
        store.queries.load(loaded(asked), update=True)
        store.runs.load(loaded([Ranking("q1", ("c1", "c0"), (1, 1))]), name="tied")
        store.golden_loads.add(
            LoadedGolden(loaded([]), loaded([GoldenGrade("q3", "c2", 3)]), loaded([]))
        )
    every, refund, setup = (
        words(open_page("scores", view=view, measure=["RR"], **place))
        for place in ({}, *({"facet": "intent", "bucket": b} for b in ("refund", "setup")))
    )
    read = ranked if view == "measures" else numbers
    assert read(every, "tied") != read(refund, "tied") != read(setup, "tied")
    assert "of intent = refund" in refund
    if view != "measures":
        unsure = words(open_page("scores", view=view, facet="intent"))
        assert "this shows one bucket of intent at a time" in unsure


def test_scores_say_why_nothing_has_a_value_where_every_grade_is_0(database: Path):
    why = "no measure of relevance has a value yet: nothing relevant is known"
    with Store(database) as store:
        intents = {"q1": {"intent": "refund"}, "q2": {"intent": "setup"}}
        store.queries.load(loaded([Query(name, name, buckets=of) for name, of in intents.items()]))
        store.chunks.load(loaded([Chunk("c1", "a text")]))
        store.runs.load(loaded([Ranking("q1", ("c1",)), Ranking("q2", ("c1",))]), name="a")
        store.people.add("Ann")
        store.judgments.add(Judgment("first", "q1", "c1", "Ann", "grade", 0))
    refund = {"facet": "intent", "bucket": "refund"}
    for place in ({}, refund, {"view": "ties"}):
        assert words(open_page("scores", **place)).count(why) == 1
    assert why not in words(open_page("scores", measure="Judged@10"))
    with Store(database) as store:
        store.judgments.add(Judgment("second", "q2", "c1", "Ann", "grade", 1))
    assert why not in words(open_page("scores"))
    assert words(open_page("scores", **refund)).count(why) == 1
    assert why not in words(open_page("scores", measure=["RR(rel=2)", "RR"]))


@pytest.mark.parametrize("view", [*VIEWS, "trend"])
def test_a_text_that_no_run_holds_leaves_no_row_and_a_way_back(filled: Path, view: str):
    said = words(open_page("scores", view=view, find="no such run"))
    assert "0 of 2 runs are shown" in said
    assert "Show all" in said
    assert "|all|" not in said


@pytest.mark.parametrize("page", ["scores", "compare", "slices", "queries"])
def test_a_split_and_leaked_queries_are_chosen_in_the_address(filled: Path, page: str):
    with Store(filled) as store:
        store.queries.load(loaded([Query("q0", "zero")]))
        store.splits.assign({"q1": "test", "q2": "test", "q3": "dev", "q0": "test"}, {})
        store.splits.mark_leaked([LeakedQuery("q0", "train.jsonl", 7, "query", 1.0, "words")])
    said = words(open_page(page, split="test", leaked="without"))
    assert "split test · leaked queries left out" in said
    assert "split test" not in words(open_page(page))
    astray = open_page(page, split="held-out")
    assert "no split is called 'held-out'; there are: dev, test" in words(astray)
