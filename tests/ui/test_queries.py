"""The Queries page: worst first, why each fails, and one query in full."""

from __future__ import annotations

import csv
import html
import io
import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from labeler.analysis import failures as diagnosis
from labeler.analysis.comparison import dcg_table
from labeler.analysis.failures import UsefulInPrompt
from labeler.evaluation import Conventions, RankedChunk, Scoreboard
from labeler.model import Chunk, GoldenGrade, Judgment, LoadedGolden, Query, Ranking, Remark
from labeler.render import csv_exports
from labeler.store import Store
from tests.support.page import empty_golden_set, listed_queries, loaded, open_page, words

HOSTILE = "<img src=x onerror=alert(1)> **bold** :red[x] $y$"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return empty_golden_set(tmp_path)


@pytest.fixture
def filled(database: Path) -> Path:
    """Four queries: fine, below the prompt size, nothing relevant known, not graded; two runs."""
    chunks = tuple(f"c{n}" for n in range(9))
    late = (*chunks[1:8], "c0", "c8")
    with Store(database) as store:
        texts = [f"chunk {n} speaks of thing number {n}" for n in range(9)]
        store.chunks.load(
            loaded([Chunk(name, text, HOSTILE) for name, text in zip(chunks, texts, strict=True)])
        )
        store.queries.load(
            loaded(
                [
                    Query("fine", "one", task="single", buckets={"intent": "refund"}),
                    Query("low", HOSTILE, "research", "the reference", "the guideline"),
                    Query("dark", "three", buckets={"intent": "setup"}),
                    Query("new", "four", buckets={"intent": "setup"}),
                ]
            )
        )
        for name, order in (("first", chunks), ("late", late)):
            lists = [Ranking(q, order, tuple(range(9, 0, -1))) for q in ("fine", "dark", "new")]
            lists.append(Ranking("low", late))
            store.runs.load(loaded(lists), name=name)
        grades = [GoldenGrade("low", name, 0) for name in chunks[1:6]]
        grades += [GoldenGrade("fine", "c0", 3), GoldenGrade("low", "c0", 2)]
        grades += [GoldenGrade("dark", "c1", 0)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    return database


def open_queries(**parameters: str | list[str]) -> AppTest:
    """Open the page with all columns of the list, unless ``numbers`` says otherwise."""
    return open_page("queries", **{"numbers": "true", **parameters})


def listed(app: AppTest) -> list[list[str]]:
    """Id, value and class of each query in the list."""
    assert not app.exception
    frame = listed_queries(app)
    return frame[["query", "RR", "class"]].values.tolist()


def test_holes_of_a_whole_list_are_of_as_many_chunks_as_they_are_counted_in(filled: Path):
    with Store(filled) as store:
        deep = ("c0", *(f"x{n}" for n in range(40)))
        store.runs.load(loaded([Ranking("fine", deep)]), name="deep")
    for measure, shown in (("RR", "9 of 10"), ("nDCG@20", "19 of 20")):
        frame = listed_queries(open_queries(a="deep", measure=[measure]))
        assert dict(zip(frame["query"], frame["unjudged"], strict=True))["fine"] == shown
    [row] = listed_queries(open_queries(a="deep", measure=["RR"], unjudged="90"))["query"]
    assert row == "fine"


def test_without_anything_it_says_what_to_load(database: Path):
    assert "labeler load queries" in words(open_queries())
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
    said = words(open_queries())
    assert "labeler load run" in said
    assert "load queries" not in said


def test_the_worst_come_first_and_what_has_no_value_last(filled: Path):
    rows = listed(open_queries(measure=["RR"]))
    assert rows == [
        ["low", "0.1250", "ranked too low"],
        ["fine", "1.0000", "does not fail"],
        ["dark", "undefined", "nothing relevant known"],
        ["new", "not graded", "not graded yet"],
    ]


def test_with_a_run_a_the_largest_loss_comes_first(filled: Path):
    app = open_queries(run="late", a="first", measure=["RR"])
    assert [row[0] for row in listed(app)] == ["fine", "low", "dark", "new"]
    assert listed_queries(app)["difference"].tolist()[:2] == ["▼ −0.8750", "0.0000"]


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({"facet": "intent", "bucket": "refund"}, {"fine"}),
        ({"facet": "intent", "bucket": "setup"}, {"dark", "new"}),
        ({"task": "research"}, {"low"}),
        ({"class": "failing"}, {"low", "dark"}),
        ({"class": "nothing relevant known"}, {"dark"}),
        ({"class": "not graded yet"}, {"new"}),
        ({"unjudged": "90"}, {"new"}),
        ({"contains": "ONERROR"}, {"low"}),
        ({"facet": "intent", "bucket": "refund", "other": "task", "crossing": "single"}, {"fine"}),
    ],
)
def test_filters_leave_what_they_say(filled: Path, given: dict, left: set[str]):
    found = {row[0] for row in listed(open_queries(measure=["RR"], **given))}
    assert found == left


def test_a_filter_that_leaves_nothing_says_so(filled: Path):
    assert "No query matches these filters" in words(open_queries(contains="nobody asks"))


def test_the_bar_is_a_choice(filled: Path):
    app = open_queries(measure=["RR"], bar="RR", below="0.1")
    assert [row[2] for row in listed(app)] == [
        *("does not fail", "does not fail"),
        *("nothing relevant known", "not graded yet"),
    ]
    assert "a query fails where RR is below 0.1" in words(app)


def test_a_chosen_measure_brings_its_own_bar(filled: Path):
    by_rank = open_queries(measure=["RR"], bar="RR")
    assert "a query fails where RR is below 0.5" in words(by_rank)
    assert [field.value for field in by_rank.number_input if field.label == "is below"] == [0.5]
    by_hit = open_queries(measure=["RR"], bar="Success@8")
    assert "a query fails where Success@8 is below 1" in words(by_hit)
    assert "is below" not in [field.label for field in by_hit.number_input], "there is no other"


def test_another_measure_does_not_keep_the_bar_of_the_one_before(filled: Path):
    app = open_queries(measure=["RR"], bar="RR", below="0.1")
    (field,) = (box for box in app.selectbox if box.label == "A query fails where")
    app = field.set_value("nDCG@10").run()
    assert "a query fails where nDCG@10 is below 0.5" in words(app)


def test_no_task_is_asked_for_a_perfect_ranking(filled: Path):
    said = words(open_queries(measure=["RR"], bar="its task's own measure is low"))
    assert "research: nDCG@10 is below 0.5; compliance: R@5 is below 0.5" in said
    assert "nDCG@10 is below 1" not in said


def test_with_a_run_a_a_query_fails_where_it_loses(filled: Path):
    app = open_queries(run="late", a="first", measure=["RR"])
    said = words(app)
    assert (
        "late: 1 of 3 graded queries fail: the run loses 0.05 or more against A, first, by RR "
        "(1 are worse at all)"
    ) in said
    assert {row[0]: row[2] for row in listed(app)} == {
        "fine": "ranked too low",
        "low": "does not fail",
        "dark": "does not fail",
        "new": "not graded yet",
    }
    assert (
        "late holds nothing that first did not find in all 2 queries that have nothing useful in "
        "the prompt of either; for 1 what is needed is in the list, and reranking did not bring it "
        "up; for 1 that is unknown"
    ) in said
    lenient = open_queries(run="late", a="first", measure=["RR"], loss="0.9")
    said = words(lenient)
    assert "0 of 3 graded queries fail; one fails where the run loses 0.9 or more" in said
    assert "late loses 0.9 or more against first on 0 of 2 queries." in said
    assert "|1 is worse at all.|" in said


def test_a_run_without_a_query_in_common_is_left_behind_by_a_click(filled: Path):
    with Store(filled) as store:
        store.runs.load(loaded([Ranking("unknown", ("c1",))]), name="empty")
    app = open_queries(run="late", a="empty", measure=["RR"])
    assert "'empty' has no result for any query" in words(app)
    [button] = [each for each in app.button if each.label == "Go on without it"]
    assert "late: " in words(button.click().run())


def test_it_says_how_many_fail_and_the_list_why_with_the_grades_by_rank(filled: Path):
    app = open_queries(run="first", measure=["RR"], numbers="false")
    said = words(app)
    assert "Retrieval fails on 1 of 3 graded queries.|" in said
    assert "|1 more has nothing relevant known.|" in said
    assert ": what a perfect reranker of its top 50 would add|" in said
    assert "|3 of 4 queries (1 not graded); 2 with a value by RR|" in said
    frame = listed_queries(app).set_index("query")
    assert frame["why it fails"].to_dict() == {
        "low": "ranked too low",
        "dark": "nothing relevant known",
        "fine": "",
        "new": "not graded yet",
    }
    assert frame["first grade 2+"]["low"] == "8"
    assert "First grade 2+: rank of the first chunk of grade 2 or better, or" in words(app)
    assert frame["first, grades by rank"]["fine"].startswith("3")


def test_a_cause_keeps_the_list_to_its_queries_and_a_second_click_lets_go(filled: Path):
    def way(app: AppTest) -> str:
        body = "".join(each.proto.body for each in app.get("html"))
        [link] = re.findall(r'<a href="([^"]*)"[^>]*><span>1</span><span><b>ranked too', body)
        return html.unescape(link)

    assert "class=ranked+too+low" in way(open_queries(run="first", numbers="false"))
    chosen = {"run": "first", "class": "ranked too low", "numbers": "false"}
    assert "class=" not in way(open_queries(**chosen))
    assert len(listed_queries(open_queries(**chosen))) == 1


def test_with_a_run_a_the_other_ways_to_fail_are_there_as_well(filled: Path):
    given = {"run": "late", "a": "first", "measure": ["RR"]}
    app = open_queries(bar="nothing useful is in the prompt", **given)
    said = words(app)
    assert "late: 3 of 3 graded queries fail: the top 5 hold no chunk of grade 2 or better" in said
    assert "late holds nothing that first did not find in all 2 queries that fail in both" in said


def test_classes_are_counted_in_words_and_a_table_by_bucket(filled: Path):
    app = open_queries(view="Causes by bucket", facet="intent")
    said = words(app)
    assert "first: 2 of 3 graded queries fail: the top 5 hold no chunk of grade 2 or better" in said
    assert "ranking 1 (relevant chunks are in the list, in a poor order" in said
    assert "unknown 1 (no relevant chunk is known)" in said
    assert "1 known of grade 2 or better: 0 in the top 5, 1 further down, 0 never retrieved" in said
    assert "1 failing query has no intent: in no bucket" in said
    row = r"\|nothing relevant known\|.*?\|1\|+50%\|+0 / 0 / 0\|+1\|+0\|+1\|"
    assert re.search(row, said, flags=re.S)
    assert "No query fails by: no results, the query is unclear" in said


def test_what_a_perfect_reranker_would_give_stands_beside_the_reasons(filled: Path):
    app = open_queries(view="Perfect reranker", a="late", measure=["RR", "Judged@10"])
    said = words(app)
    assert (
        "late: a perfect reranker of the top 50 would give RR 1.0000 (+0.8750). The remaining "
        "0.0000, up to 1.0000, is recall"
    ) in said
    gains = said[said.index("Perfectly reranked") :]
    assert "|Judged@10|" not in gains, "no order makes more graded"
    (depth,) = (box for box in app.selectbox if box.label == "A perfect reranker of the top")
    app = depth.set_value("10").run()
    assert "of the top 10 would give RR" in words(app)
    assert app.query_params["reranked"] == "10"
    none = open_queries(view="Perfect reranker", a="late", measure=["Judged@10"])
    assert "No measure is chosen that a better order could raise" in words(none)
    wrong = words(open_queries(view="Perfect reranker", reranked="7"))
    assert "no depth of a reranker is called '7'; there are: 10, 20, 50, 100" in wrong


def test_what_a_perfect_reranker_would_give_is_of_the_queries_that_get_through(filled: Path):
    view = {"view": "Perfect reranker", "a": "late", "measure": ["RR"]}
    assert re.search(r"\|RR\|+0\.1250\|+1\.0000\|+\+0\.8750\|.*\|2\|", words(open_queries(**view)))
    setup = words(open_queries(facet="intent", bucket="setup", **view))
    assert "late: RR has no value here, so there is nothing to gain" in setup


def test_the_filters_of_the_list_go_on_counting_in_an_opened_query(filled: Path):
    app = open_queries(query="low", facet="intent", bucket="setup", measure=["RR"])
    assert "not in the filtered list" in [caption.value for caption in app.caption]
    assert app.query_params["bucket"] == "setup"
    failing = open_queries(query="dark", measure=["RR"], **{"class": "nothing relevant known"})
    assert "1 of 1 nothing relevant known" in [caption.value for caption in failing.caption]


def test_of_many_runs_an_opened_query_says_of_the_chosen_ones_why_it_fails(filled: Path):
    with Store(filled) as store:
        for name in ("third", "fourth", "fifth"):
            store.runs.load(loaded([Ranking("low", ("c0",))]), name=name)
    app = open_queries(query="low", a="first", b="fifth", measure=["RR"])
    said = words(app)
    table = said[said.index("Known relevant") :].split("Conventions")[0]
    named = re.findall(r"\|(first|late|third|fourth|fifth)\|", table)
    assert named == ["fifth", "first"]
    pool = said[said.index("|Grade||Chunk|") :]
    assert re.findall(r"\|(first|late|third|fourth|fifth)\|", pool)[:5] == [
        *("first", "fifth", "late", "third", "fourth")
    ]


def test_one_run_has_one_list_with_what_each_chunk_adds(filled: Path):
    said = re.sub(r"\|[|\s]*", "|", words(open_queries(query="low", a="late", measure=["RR"])))
    assert "|late ranks the one useful chunk eighth.|" in said
    assert "|0.1250|RR|" in said
    assert "|rank|late|part of RR|" in said
    assert "|move|" not in said
    assert re.search(r"\|2\|rank \|8\|c0\|[^|]+\|0\.1250\|", said)
    assert "It is not in the prompt." in said
    assert "|What if late had it at …|" in said


def test_long_names_of_runs_are_shown_by_what_differs_and_kept_whole(filled: Path):
    beginning = "2026-11-22_production-index_chunk-size"
    with Store(filled) as store:
        for old, new in (("first", "256"), ("late", "512")):
            store.runs.rename(old, f"{beginning}-{new}")
    app = open_queries(query="low", measure=["RR"])
    assert "…size-256 ranks the one useful chunk eighth." in words(app)
    bodies = "".join(each.proto.body for each in app.get("html"))
    assert f'title="{beginning}-256"' in bodies
    assert app.selectbox(key="a").value == f"{beginning}-256"


def test_a_class_leads_to_its_queries(filled: Path):
    app = open_page("queries", view="Why they fail", a="late", measure=["RR"])
    bodies = "".join(each.proto.body for each in app.get("html"))
    assert 'href="/queries?a=late&amp;measure=RR&amp;class=ranked+too+low"' in bodies


def test_one_query_in_full_says_why_it_fails_in_each_run(filled: Path):
    said = words(open_queries(query="low", measure=["RR"]))
    assert f"|{HOSTILE}|" in said
    assert "Guideline: the guideline" in said
    assert "Reference: the reference" in said
    where = "1 known of grade 2 or better: 0 in the top 5, 1 at 6–9"
    row = rf"\|late\|+ranked too low\|.*?\|{where}\|+the first at rank 8\|+0\.1250\|"
    assert re.search(row, said)
    assert "Rerank, or put more chunks into the prompt." in said
    assert "Unjudged in the top 10: 3 in first." in said
    assert "gain 2^grade−1" in said


def test_a_hole_is_said_and_never_a_zero(filled: Path):
    bodies = "".join(e.proto.body for e in open_queries(query="low").get("html"))
    lists = bodies[bodies.index('<ol aria-label="Ranked by first">') :]
    lists = lists[: lists.index("</ol>")]
    assert lists.count('<span class="gd g0">0</span>') == 5
    assert lists.count('<span class="unseen">unjudged</span>') == 3
    assert "<img" not in bodies
    assert "onerror=alert(1)&gt; **bold**" in bodies


def test_a_chunk_without_a_text_says_so(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
        store.chunks.load(loaded([Chunk("c0", " "), Chunk("c1", "", "Its title")]))
        store.runs.load(loaded([Ranking("q1", ("c0", "c1", "c2"))]), name="only")
    said = words(open_queries(query="q1"))
    assert "|c0||text not loaded|" in said
    assert "Its title" in said
    never = words(open_queries(query="q1", chunk="c2"))
    assert "the chunk's text was never loaded" in never


def test_ndcg_is_worked_out_as_a_textbook_prints_it(filled: Path):
    of_documents = ["nDCG(documents=True)@10"]
    assert "nDCG@10 of" in words(open_queries(query="low", measure=of_documents))
    said = words(open_queries(query="low", measure=["nDCG@10"]))
    assert "nDCG@10 = DCG / IDCG = 0.9464 / 3.0000 = 0.3155" in said
    assert re.search(r"\|8\|+c0\|+2 partly relevant\|+3\|+3\.1699\|+0\.9464\|+0\.9464\|", said)
    assert re.search(r"\|6\|+c6\|+not graded\|+0\|", said)


def test_the_pool_names_every_graded_chunk_best_first(filled: Path):
    said = words(open_queries(query="low"))
    assert "6 chunks are graded; 3 of the runs' top 10 are not" in said
    said = said[said.index("|Grade||Chunk|") :]
    assert said.index("2 partly relevant") < said.index("0 not relevant")


def test_a_query_without_results_is_not_said_to_lack_texts(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one"), Query("q2", "two")]))
        store.chunks.load(loaded([Chunk("c0", "text")]))
        store.runs.load(loaded([Ranking("q1", ("c0",))]), name="only")
    assert "are not loaded" not in words(open_queries(query="q2"))


def test_the_next_query_is_one_click_away(filled: Path):
    app = open_queries(query="low", measure=["RR"])
    (following,) = (button for button in app.button if button.label == "Next")
    app = following.click().run()
    assert "|one|" in words(app)
    assert "2 of 4" in [caption.value for caption in app.caption]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"run": "nope"}, "no run is called 'nope'; there are: first, late"),
        ({"a": "nope"}, "no run is called 'nope'"),
        ({"facet": "nope"}, "no facet is called 'nope'; there are: intent, task"),
        ({"facet": "intent", "bucket": "nope"}, "no bucket of intent is called 'nope'"),
        ({"class": "nope"}, "no class of failure is called 'nope'"),
        ({"query": "nope"}, "no query is called 'nope'"),
        ({"bar": "nope"}, "no measure is called 'nope'"),
        ({"measure": ["nDGC@10"]}, "nDCG"),
    ],
)
def test_a_wrong_address_is_said_in_words(filled: Path, given: dict, said: str):
    app = open_queries(**given)
    assert said in words(app)
    with pytest.raises(ValueError, match="unpack"):
        listed_queries(app)


def test_without_grades_nothing_fails_and_grading_is_suggested(database: Path):
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one")]))
        store.runs.load(loaded([Ranking("q1", ("c0",))]), name="only")
    app = open_queries(measure=["RR"])
    assert "Nobody has graded a chunk yet" in words(app)
    assert listed(app) == [["q1", "not graded", "not graded yet"]]
    assert "The texts of these chunks are not loaded" in words(open_queries(query="q1"))


def test_files_have_every_digit_and_no_grade_for_a_hole(filled: Path):
    with Store(filled) as store:
        board = Scoreboard(store.collection.read(), Conventions.of())
        queries = {query.query_id: query for query in store.queries.all()}
        measures = board.resolve(board.conventions.measures("nDCG@10"))
        found = diagnosis.find_failures(
            board, "late", UsefulInPrompt(), store.chunks.with_text(), store.texts.numbered
        )
    rows = diagnosis.query_rows(board, queries, "late", "first", measures, (None, None), found)
    given = csv_exports.query_list_csv(rows, "late", "first", measures, board.conventions)
    first, low, *_ = csv.DictReader(io.StringIO(given.decode()))
    assert float(first["delta"]) == float(first["nDCG@10"]) - 1
    assert first["full_names"] == "nDCG(dcg='exp-log2')@10"
    assert low["query"] == HOSTILE
    assert "gain 2^grade−1" in low["conventions"]
    lists = csv_exports.lists_csv({"late": board.ranked("late", "low")}, "low", board.conventions)
    grades = [row["grade"] for row in csv.DictReader(io.StringIO(lists.decode()))]
    assert grades == ["0", "0", "0", "0", "0", "", "", "2", ""]
    table = dcg_table(board, "late", "low", measures[0])
    worked = csv_exports.dcg_csv(table, "late", "low", board.conventions).decode()
    worked_rows = list(csv.DictReader(io.StringIO(worked)))
    assert sum(row["list"] == "ideal" for row in worked_rows) == 1
    assert worked_rows[0]["measure"] == "nDCG@10"
    assert worked_rows[0]["full_name"] == "nDCG(dcg='exp-log2')@10"


def test_a_cell_that_a_spreadsheet_would_run_is_neutralised():
    listed = {"=1+1": [RankedChunk(1, 0, "@cmd", None, None)]}
    [row] = csv.DictReader(
        io.StringIO(csv_exports.lists_csv(listed, "-q", Conventions.of()).decode())
    )
    assert (row["run"], row["chunk_id"], row["query_id"]) == ("'=1+1", "'@cmd", "'-q")
    assert row["score"] == ""


def test_what_graders_say_of_a_query_is_its_class_and_stands_with_it(filled: Path):
    before = {row[0]: row[2] for row in listed(open_queries(measure="RR", run="late"))}
    with Store(filled) as store:
        for name in ("Ann", "Bob"):
            store.people.add(name)
        store.remarks.add(Remark("r1", "dark", "Ann", "unanswered", HOSTILE))
        store.remarks.add(Remark("r2", "low", "Bob", "unclear"))
        store.remarks.add(Remark("r3", "fine", "Bob", "unclear"))
    after = {row[0]: row[2] for row in listed(open_queries(measure="RR", run="late"))}
    assert before["dark"] == "nothing relevant known"
    assert (after["dark"], after["low"]) == ("no answer in the corpus", "the query is unclear")
    assert f"Ann says: none of these passages answers it ({HOSTILE})" in words(
        open_queries(query="dark")
    )
    with Store(filled) as store:
        store.remarks.add(Remark("r4", "dark", "Ann", "withdraw"))
    again = {row[0]: row[2] for row in listed(open_queries(measure="RR", run="late"))}
    assert again["dark"] == before["dark"], "what is taken back does not count"


def test_a_chunk_that_a_grader_found_is_marked_in_the_pool(filled: Path):
    with Store(filled) as store:
        store.chunks.load(loaded([Chunk("c-hidden", "no run has it")]))
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "low", "c-hidden", "Ann", grade=3, source="search"))
        store.judgments.add(Judgment("e2", "low", "c8", "Ann", grade=3, source="pool"))
    shown = words(open_queries(query="low"))
    assert shown.count("found by hand") == 1
    shown = shown[shown.index("|Grade||Chunk|") :]
    assert shown.index("c8") < shown.index("c-hidden") < shown.index("found by hand")


GAIN = "RR, from 0.2500 to 0.5000: what a perfect reranker of its top 50 would add"


@pytest.mark.parametrize(
    ("grade", "sentences"),
    [
        (0, ["unknown 1 (no relevant chunk is known)"]),
        (1, ["fail: the top 5 hold no chunk of grade 1 or better", GAIN]),
        (3, ["the top 5 hold no chunk of grade 2 or better", GAIN]),
    ],
)
def test_a_set_of_one_grade_and_a_run_that_is_absent_say_so(
    database: Path, grade: int, sentences: list[str]
):
    """Of two queries one has a bucket, and the run a list for it."""
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "one", buckets={"topic": "a"}), Query("q2", "two")]))
        store.runs.load(loaded([Ranking("q1", ("c0", "c1"))]), name="only")
        grades = [GoldenGrade(query, "c1", grade) for query in ("q1", "q2")]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    said = words(open_queries(measure=["RR"], view="Why they fail", facet="topic"))
    assert [sentence for sentence in sentences if sentence not in said] == []
    assert re.search(r"\|no results\|.*?\|1\|", said, flags=re.S)
    assert {row[0] for row in listed(open_queries(measure=["RR"], facet="topic"))} == {"q1", "q2"}


def test_of_an_opened_query_it_is_said_what_reranking_did_for_it(filled: Path):
    given = {"a": "first", "b": "late", "measure": ["RR"]}
    assert (
        "late holds nothing here that first did not find; what is needed is in the list, and "
        "reranking did not bring it up"
    ) in words(open_queries(query="low", **given))
    nothing = "late holds nothing here"
    assert nothing not in words(open_queries(query="fine", **given)), "A does not fail"
    assert nothing not in words(open_queries(query="new", **given)), "nobody graded it"


@pytest.mark.parametrize("given", [{}, {"a": "first"}])
def test_a_list_that_follows_the_grades_is_the_one_of_a_page_opened_anew(filled: Path, given: dict):
    page = open_queries(**given)
    said = [words(page)]
    events = [("dark", "c3", 3), ("new", "c2", 2), ("low", "c1", 3), ("dark", "c3", 0)]
    with Store(filled) as store:
        store.people.add("Ann")
    for number, (query, chunk, grade) in enumerate(events):
        with Store(filled) as store:
            store.judgments.add(Judgment(f"e{number}", query, chunk, "Ann", grade=grade))
        said.append(words(page.run()))
        st.cache_resource.clear()
        anew = open_queries(**given)
        # rows stay where they were
        assert sorted(said[-1].split("|")) == sorted(words(anew).split("|"))
        assert sorted(listed(page)) == sorted(listed(anew))
    assert len(set(said)) == len(said)
