"""A report as a file: what stands in it, what it may never do, and that it is always the same."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from labeler.analysis.comparison import ComparisonView, DecisionRules, bucket_labels, compare
from labeler.analysis.failures import MinimumValue
from labeler.analysis.run_verdict import judge_pair
from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard, collect
from labeler.model import Chunk, GoldenGrade, Judgment, LoadedGolden, Query, Ranking, SingleGrades
from labeler.render.report import ReportRequest, ReportSource, make_report
from labeler.render.report.failures import RankStrips
from labeler.services.import_export.snapshots import freeze
from labeler.store import Store
from labeler.ui import scoreboards
from labeler.ui.compare.summary import report_of
from tests.support.page import loaded

NOBODYS = SingleGrades.of(0, {}, np.empty((0, 6), dtype=np.int64))
NAME = "</script><!--<script>alert(1)</script><img src=x onerror=alert(2)>&'"
HOSTILE = f"{NAME}\u2028\u2029"


class Page(HTMLParser):
    """What a browser would make of a file: its text, and its elements with their attributes."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.cdata_elem is None:
            self.said.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.said).split())


def report(store: Store, *arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(store.path), "report", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.output


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_a_report_says_how_its_means_mislead(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "review.html"
    report(filled, "first", "-o", str(path))
    assert "⚠ Only 2 queries are in the mean: any difference may be chance." in page_of(path).text


def test_a_report_says_which_run_is_better_where_and_why_queries_fail(
    filled: Store, tmp_path: Path
) -> None:
    path = tmp_path / "review.html"
    said = report(filled, "first", "second", "-o", str(path), "--date", "2026-11-22")
    assert re.fullmatch(rf"{re.escape(str(path))}: second against first, \d\.\d MB\n", said)
    text = page_of(path).text
    assert "second (B) against first (A)" in text
    assert "first , system bm25, of 2026-01-31, 2 queries" in text
    assert "Day 2026-11-22" in text
    golden = filled.collection.read().golden
    assert golden is not None
    assert f"Golden version {golden.hash}" in text
    board = Scoreboard(filled.collection.read(), Conventions.of())
    rules, singles = DecisionRules.of(filled.settings.read()), filled.activity.single_grades()
    found = judge_pair(board, "first", "second", rules, singles=singles)
    assert len(found.statements) > 3
    for each in found.statements:
        assert each.sentence.removesuffix(".") in text
    for words in ("nDCG@10", "difference", "Slices", "refund", "intent", "Conventions (graded)"):
        assert words in text
    assert "B: 1 of 2 graded queries fail" in text
    assert "where are my invoices" in text


def test_a_failing_query_shows_what_stands_at_the_first_ranks_of_both_runs(
    filled: Store, tmp_path: Path
) -> None:
    path = tmp_path / "review.html"
    report(filled, "first", "second", "-o", str(path))
    text = page_of(path).text
    assert "A 1 · B ·" in text, "q2: a grade and an unjudged chunk in A, an unjudged chunk in B"
    assert "a digit is a grade, · a chunk nobody has graded" in text
    failing = text[text.index("The queries that fail") :]
    assert "A 3" not in failing, "q1 does not fail"


def test_relevant_chunks_below_the_strip_are_named_by_their_ranks() -> None:
    names = [f"c{at:02}" for at in range(40)]
    relevant = dict.fromkeys((names[0], names[10], names[20], names[30], names[39]), 2)
    board = Scoreboard(collect({"q": relevant}, {"run": {"q": names}}), Conventions.of())
    page = Page(str(RankStrips(board, {"Run": "run"}).of("q")))
    assert page.text == f"2 {'· ' * 9}11, 21, 31 and 1 more"


def test_keywords_are_in_a_report_where_queries_have_some(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "review.html"
    report(filled, "first", "second", "-o", str(path))
    assert "Keywords" not in page_of(path).text
    queries = [
        replace(query, keywords=("3", "nowhere")) if query.query_id == "q1" else query
        for query in filled.queries.all()
    ]
    filled.queries.load(loaded(queries), update=True)
    report(filled, "first", "second", "-o", str(path), "--force")
    text = page_of(path).text
    assert "Keywords run RR@10 nDCG@10 coverage@10 n first 0.1667" in text
    assert "Only first has these in its top 10: 1 Keyword Query" in text
    assert "1 keyword is in no chunk at all: 'nowhere' of query q1" in text
    report(filled, "second", "-o", str(path), "--force")
    assert "2 keywords are" not in page_of(path).text
    assert "'3' of query q1" in page_of(path).text


def test_of_one_run_there_is_all_but_the_comparison(filled: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.html"
    report(filled, "first", "-o", str(path))
    page = page_of(path)
    assert "Report of first" in page.text
    assert "Scores" in page.text
    assert "Bucket, lowest first" in page.text
    assert "What moved most" not in page.text
    assert not any(attrs.get("id") == "comparison" for _, attrs in page.tags)


def test_the_same_golden_set_gives_the_same_bytes_from_the_command_and_from_compare(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = tmp_path / "one.html", tmp_path / "two.html"
    today = datetime.now(UTC).date().isoformat()
    report(filled, "first", "second", "-o", str(one), "--date", today)
    report(filled, "first", "second", "-o", str(two), "--date", today)
    assert one.read_bytes() == two.read_bytes()
    monkeypatch.setenv("LABELER_DB", str(filled.path))
    board = Scoreboard(filled.collection.read(), scoreboards.conventions(filled.settings.read()))
    measures = board.conventions.measures("nDCG@10 R@prompt P@prompt Success@3 RR AP Judged@10")
    compared = compare(board, "first", "second", measures)
    [by] = board.resolve(measures[:1])
    view = ComparisonView(board, compared, by, compared.queries(by), {}, bucket_labels(board, None))
    assert report_of(view) == one.read_bytes()


def test_a_report_of_a_frozen_version_stays_as_it_was(filled: Store, tmp_path: Path) -> None:
    freeze(filled, "review-1")
    paths = [tmp_path / "before.html", tmp_path / "after.html"]
    asked = ("first", "second", "--golden", "review-1", "--date", "2026-11-22")
    report(filled, *asked, "-o", str(paths[0]))
    filled.judgments.add(Judgment("an event", "q1", "c4", "Ann", "grade", 3))
    report(filled, *asked, "-o", str(paths[1]))
    before, after = (path.read_bytes() for path in paths)
    assert before == after
    assert "Golden version review-1, " in page_of(paths[0]).text


def test_of_some_queries_alone_nothing_is_said_of_the_others(filled: Store, tmp_path: Path) -> None:
    queries = [
        replace(query, split="dev") for query in filled.queries.all() if query.query_id == "q2"
    ]
    filled.queries.load(loaded(queries), update=True)
    path = tmp_path / "dev.html"
    report(filled, "first", "second", "--split", "dev", "-o", str(path))
    text = page_of(path).text
    assert "split dev" in text
    assert "where are my invoices" in text
    assert "how long does a refund take" not in text
    asked = ["--db", str(filled.path), "compare", "first", "second", "--graders", "--split", "dev"]
    graded = CliRunner().invoke(main, asked)
    assert graded.exit_code == 0, graded.output


def test_what_is_there_is_replaced_only_when_asked_and_never_half(
    filled: Store, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_text("mine")
    refused = report(filled, "first", "-o", str(path), exit_code=1)
    assert "is there already; replace it with --force" in refused
    assert path.read_text() == "mine"
    report(filled, "first", "-o", str(path), "--force")
    assert path.read_bytes().startswith(b"<!doctype html>")
    assert [each.name for each in tmp_path.iterdir() if "report" in each.name] == ["report.html"]
    assert report(filled, "first", "-o", "-").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["third"], "no run is called 'third'; there are: first, second"),
        (["first", "first"], "A and B are the same run, 'first'; name two, or one alone"),
        (["first", "--by", "colour"], "no facet is called 'colour'; there are: intent, task"),
        (["first", "--measures", "nDGC@10"], "nDCG"),
    ],
    ids=["run", "twice", "facet", "measure"],
)
def test_what_is_not_there_is_named_and_nothing_is_written(
    filled: Store, tmp_path: Path, arguments: list[str], said: str
) -> None:
    path = tmp_path / "report.html"
    assert said in report(filled, *arguments, "-o", str(path), exit_code=1)
    assert not path.exists()


def test_a_report_is_in_the_audit_as_what_leaves_the_golden_set(
    filled: Store, tmp_path: Path
) -> None:
    report(filled, "first", "-o", str(tmp_path / "report.html"))
    newest = list(filled.audit.log())[-1]
    assert (newest.kind, newest.detail["format"]) == ("export", "report")
    assert newest.subject.endswith("report.html")


def test_nobody_s_names_leave_the_text_they_are(tmp_path: Path) -> None:
    path = tmp_path / "evil.db"
    with Store(path, create=True) as store:
        queries = [Query(f"{HOSTILE}{n}", HOSTILE, buckets={NAME: NAME}) for n in "12"]
        store.queries.load(loaded(queries))
        store.chunks.load(loaded([Chunk(f"{HOSTILE}{n}", HOSTILE, HOSTILE) for n in "abc"]))
        for name, order in (("a", "abc"), ("b", "cab")):
            lists = [Ranking(q.query_id, tuple(f"{HOSTILE}{n}" for n in order)) for q in queries]
            store.runs.load(loaded(lists), name=f"{NAME}{name}", system=NAME)
        grades = [GoldenGrade(query.query_id, f"{HOSTILE}c", 3, (NAME,)) for query in queries]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        report(store, f"{NAME}a", f"{NAME}b", "-o", str(tmp_path / "evil.html"))
    page = page_of(tmp_path / "evil.html")
    assert not [tag for tag, _ in page.tags if tag in ("img", "script", "iframe", "object")]
    assert not [name for _, attrs in page.tags for name in attrs if name.startswith("on")]
    assert not [attrs for _, attrs in page.tags if {"src", "srcset", "data", "action"} & {*attrs}]
    assert page.text.count("alert(1)") > 10
    [policy] = [attrs["content"] for tag, attrs in page.tags if "http-equiv" in attrs and tag]
    assert policy is not None
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in policy


@pytest.mark.slow
def test_a_report_of_a_thousand_queries_is_under_three_megabytes() -> None:
    names = [f"query-{n:04}" for n in range(1_000)]
    qrels = {name: {f"chunk-{at}": at % 4 for at in range(12)} for name in names}
    runs = {
        run: {name: [f"chunk-{(at * step) % 23}" for at in range(20)] for name in names}
        for run, step in (("one", 2), ("two", 5))
    }
    facets = {"topic": {name: f"topic {at % 40}" for at, name in enumerate(names)}}
    board = Scoreboard(collect(qrels, runs, facets), Conventions.of())
    text = "a question of a usual length with some words about what is wanted and what is not"
    queries = {name: Query(name, f"{text} {name}" * 3) for name in names}
    right = {run: dict.fromkeys(names, True) for run in runs}
    source = ReportSource(board, queries, [], NOBODYS, frozenset(), lambda _: {}, right)
    measures = board.conventions.measures("nDCG@10 R@5 RR")
    rule = MinimumValue(measures[0], 1.0)
    made = make_report(source, ReportRequest("one", "two", measures, date(2026, 11, 22), rule=rule))
    assert made.count(b'class="strips"') == 2_000, "every query fails, and is compared"
    assert len(made) < 3_000_000
    assert all(name.encode() in made for name in names)


def test_a_report_of_a_set_that_nobody_graded_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q1", "a question")]))
        for run in ("one", "two"):
            store.runs.load(loaded([Ranking("q1", ("c1", "c2"))]), name=run)
        report(store, "one", "two", "-o", str(tmp_path / "empty.html"))
    text = page_of(tmp_path / "empty.html").text
    assert "0 golden grades, 0 of 1 queries graded" in text
    assert "No query has a value by nDCG@10" in text


def test_making_a_report_needs_no_streamlit() -> None:
    asked = "import labeler.render.report, sys; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
