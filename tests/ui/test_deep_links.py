"""Where a run loses, each page says and leads there: to the bucket's queries, the worst first."""

from __future__ import annotations

import html
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from labeler.model import Chunk, GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.page import (
    add_collapsed_bucket,
    empty_golden_set,
    listed_queries,
    loaded,
    open_page,
    words,
)

LOST = "intent = setup: −0.3691 nDCG@10"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Forty queries; "new" is better than "old" in refund, and worse in all 11 of setup."""
    path = empty_golden_set(tmp_path)
    add_collapsed_bucket(path)
    return path


def ways(app: AppTest) -> dict[str, str]:
    """Return the address of each link of a page, by its name where it has one."""
    found: dict[str, str] = {}
    for body in (element.proto.body for element in app.get("html")):
        for attributes, text in re.findall(r"<a ([^>]*)>(.*?)</a>", body, re.S):
            [href] = re.findall(r'href="([^"]*)"', attributes)
            name = re.findall(r'aria-label="([^"]*)"', attributes) or [re.sub("<[^>]*>", "", text)]
            found[html.unescape(name[0])] = html.unescape(href)
    return found


def link_of(app: AppTest, name: str) -> str:
    """Return the address of the one link whose name begins so."""
    [found] = [href for each, href in ways(app).items() if each.startswith(name)]
    return found


def open_link(app: AppTest, name: str) -> AppTest:
    """Open the page that a link leads to."""
    parts = urlsplit(link_of(app, name))
    return open_page(parts.path.strip("/"), **parse_qs(parts.query))


def check_shows_setup(app: AppTest) -> None:
    """See to it that Compare shows what "new" loses against "old" in setup, and nothing else."""
    said = words(app)
    assert "All 11 queries of intent = setup: new is better on 0, worse on 11." in said
    assert "Queries 1-11 of 11, nDCG@10" in said
    assert "intent: setup · worst for new by nDCG@10" in said
    assert app.selectbox("a").value == "old"
    assert app.selectbox("b").value == "new"


def test_what_compare_says_of_a_bucket_leads_to_its_worst_queries_and_to_its_facet(database: Path):
    given = {"a": "old", "b": "new", "by": "RR", "leaked": "with", "show": "Statistics"}
    app = open_page("compare", measure=["RR", "R@1"], **given)
    check_shows_setup(open_link(app, LOST))
    slices = open_link(app, "new loses clearly in 1 of the 2 buckets")
    assert slices.query_params["facet"] == "intent"
    check_shows_setup(open_link(slices, LOST))
    link = urlsplit(link_of(app, LOST)).query
    assert parse_qs(link)["leaked"] == ["with"], "which queries count goes along"


def test_scores_lead_to_whether_the_best_run_is_better_than_the_next(database: Path):
    there = "Compare the 2 marked runs"
    for sort in ("-RR", "RR"):
        app = open_page("scores", measure=["RR"], sort=sort)
        link = parse_qs(urlsplit(ways(app)[there]).query)
        assert (link["a"], link["b"], link["measure"]) == (["old"], ["new"], ["RR"])
    marked = open_page("scores", a="new", b="old")
    link = parse_qs(urlsplit(ways(marked)[there]).query)
    assert (link["a"], link["b"]) == (["new"], ["old"]), "as the address has it"
    left = parse_qs(urlsplit(ways(marked)["Unmark old"]).query)
    assert left["a"] == ["new"]
    assert "b" not in left
    assert there not in ways(open_page("scores", a="new"))


def test_the_worst_queries_by_one_measure_leave_a_page_its_others(database: Path):
    app = open_page("compare", a="old", b="new", by="RR", show="Statistics")
    link = parse_qs(urlsplit(link_of(app, LOST)).query)
    assert link["by"] == ["nDCG@10"], "which decides, and which the sentence is about"
    assert "measure" not in link
    queries = open_page("queries", a="old", b="new", by="RR")
    assert [each for each in listed_queries(queries) if each in ("RR", "nDCG@10")] == ["RR"]
    assert "by=RR" not in ways(queries)["Compare"]


def test_where_no_bucket_loses_compare_leads_to_the_worst_of_all_queries(tmp_path: Path):
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        store.queries.load(loaded([Query(f"q{n}", f"query {n}") for n in range(3)]))
        for run, first in (("old", 1), ("new", 2)):
            lists = [
                Ranking(f"q{n}", ("c1", "c2") if n < first else ("c2", "c1")) for n in range(3)
            ]
            store.runs.load(loaded(lists), name=run)
        grades = [GoldenGrade(f"q{n}", "c2", 3) for n in range(3)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    app = open_page("compare", a="old", b="new", measure=["RR"])
    queries = open_link(app, "All 3 queries")
    assert "Queries 1-1 of 1, nDCG@10" in words(queries), "the one that is worse"
    assert (queries.selectbox("a").value, queries.selectbox("b").value) == ("old", "new")


def test_the_worst_queries_of_runs_of_two_chunkings_are_those_of_compare(tmp_path: Path):
    """Queries shows one chunking at a time, so not what B loses against A."""
    with Store(empty_golden_set(tmp_path)) as store:
        store.queries.load(loaded([Query(f"q{n}", f"query {n}") for n in range(2)]))
        for chunking, first in (("", "c1"), ("v2", "c2")):
            chunks = [Chunk("c1", "a" if not chunking else "b"), Chunk("c2", "b" + chunking)]
            store.chunks.load(loaded(chunks), chunking=chunking)
            lists = [Ranking(f"q{n}", (first, "c1" if first == "c2" else "c2")) for n in range(2)]
            store.runs.load(loaded(lists), name=f"run{chunking}", chunking=chunking)
            grades = [GoldenGrade(f"q{n}", "c1", 3) for n in range(2)]
            golden = LoadedGolden(loaded([]), loaded(grades), loaded([]))
            store.golden_loads.add(golden, chunking=chunking)
    app = open_page("compare", a="run", b="runv2", measure=["RR"])
    assert link_of(app, "All 2 queries").startswith("/compare?")
    assert "Too few queries to compare run and runv2" in words(open_link(app, "All 2 queries"))


def test_inside_a_bucket_compare_leads_to_the_worst_queries_of_that_bucket(database: Path):
    app = open_page("compare", a="old", b="new", measure=["RR"], facet="intent", bucket="setup")
    check_shows_setup(open_link(app, "All 11 queries"))


def test_slices_of_two_runs_leads_to_the_queries_of_the_bucket_it_names(database: Path):
    app = open_page("slices", a="new", b="old", facet="intent", measure=["RR"])
    link = link_of(app, "intent = refund: −")
    assert "a=new&b=old" in link
    assert "bucket=refund" in link


def test_of_one_run_slices_says_where_it_is_lowest_and_leads_there(database: Path):
    app = open_page("slices", a="new", facet="intent", measure=["RR"])
    assert "new scores lowest on setup questions (intent).|" in words(app)
    assert "|0.5000| |RR on 11 queries" in words(app)
    queries = open_link(app, "See its queries, worst first")
    assert queries.selectbox("a").value == "new"
    assert "11 of 40 queries · worst first" in words(queries)


def test_scores_by_bucket_lead_to_the_lowest_bucket_of_each_run(database: Path):
    app = open_page("scores", facet="intent", measure=["RR"])
    found = {name: href for name, href in ways(app).items() if "the lowest bucket of" in name}
    assert {
        name.partition(", ")[2]: parse_qs(urlsplit(to).query) for name, to in found.items()
    } == {
        f"the lowest bucket of {run}: its worst queries in {bucket}": {
            "facet": ["intent"],
            "measure": ["RR"],
            "by": ["RR"],
            "a": [run],
            "bucket": [bucket],
        }
        for run, bucket in (("old", "refund"), ("new", "setup"))
    }
    lowest = next(name for name in found if name.endswith("in setup"))
    assert open_link(app, lowest).selectbox("a").value == "new"
    assert "n 29" in "".join(ways(app)), "and a column to the queries of its bucket"
    refund = next(name for name in ways(app) if name.endswith("the queries of refund"))
    assert "intent: refund" in words(open_link(app, refund))


def test_where_few_queries_decide_nothing_is_called_lowest(tmp_path: Path):
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        buckets = [{"intent": name} for name in ("refund", "setup")]
        store.queries.load(loaded([Query(f"q{n}", "?", buckets=b) for n, b in enumerate(buckets)]))
        lists = [Ranking("q0", ("c1",)), Ranking("q1", ("c2",))]
        store.runs.load(loaded(lists), name="one")
    add_collapsed_bucket(path)
    assert "lowest in" not in words(open_page("slices", a="one", facet="intent", measure=["RR"]))
