"""How a golden set stands, as `labeler health` and Review > Health say it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from labeler.analysis.health import HealthInput, assess_health, describe_health
from labeler.analysis.health.golden_set_health import compare_with_traffic, suggestion_agreement
from labeler.cli import main
from labeler.errors import BadInput
from labeler.model import (
    Chunk,
    GoldenGrade,
    GradedPair,
    Judgment,
    LoadedGolden,
    Query,
    QueryOrigin,
    SuggestionCheck,
)
from labeler.store import Store
from tests.support.page import add_collapsed_bucket, loaded, open_page, words
from tests.support.traffic import log, propose

NOW = datetime(2026, 11, 23, tzinfo=UTC)


def told(queries: int = 1, **more) -> HealthInput:
    named = [Query(f"q{n}", f"question {n}", buckets={"topic": "a"}) for n in range(queries)]
    given = {"origins": {}, "graded": [], "only_proposed": 0, "met": [], "batches": []}
    return HealthInput(named, **given | more)


def said(found) -> str:
    return " ".join(sentence for part in describe_health(found) for sentence in part.sentences)


def warned(found) -> str:
    return " ".join(each.sentence for part in describe_health(found) for each in part.warnings)


def test_a_set_is_told_what_it_is_good_for_by_how_its_runs_differ() -> None:
    graded = [GradedPair(f"q{n}", 1, False, "2026-11-20T00:00:00Z") for n in range(60)]
    found = assess_health(told(80, graded=graded, spread=(0.5, 3), by="nDCG@10"), NOW)
    assert (found.queries, found.judged) == (80, 60)
    reach = {mark.queries: round(mark.reach, 3) for mark in found.marks}
    assert reach == {50: 0.198, 200: 0.099, 1000: 0.044}
    assert "too few to compare runs" not in warned(found)
    assert "0 of at least 50 queries are graded: enough to look at single failures" in warned(
        assess_health(told(), NOW)
    )


def test_a_failure_that_is_called_met_is_met_that_often() -> None:
    [first, *_] = assess_health(told(), NOW).marks
    drawn = np.random.default_rng(1).random((20_000, first.queries)) < first.rarest
    assert drawn.any(axis=1).mean() == pytest.approx(0.95, abs=0.005)


def test_grades_are_told_by_who_gave_them_and_how_long_ago() -> None:
    graded = [
        GradedPair("q0", 2, False, "2026-11-22T00:00:00Z"),
        GradedPair("q0", 1, True, "2026-11-13T00:00:00Z"),
        GradedPair("q1", 0, True, "2026-11-13T00:00:00Z"),
        GradedPair("q1", 0, False, "2025-11-23T00:00:00Z"),
    ]
    found = assess_health(told(2, graded=graded, only_proposed=5), NOW, after=9)
    own = found.confirmed
    assert (own.pairs, own.by_people, own.twice, own.adjudicated) == (4, 3, 1, 2)
    assert own.only_proposed == 5
    assert found.ages is not None
    assert (found.ages.median, found.ages.oldest, found.ages.old) == (10, 365, 3)
    assert "the oldest 365 days; 75% are older than 9 days." in said(found)
    with pytest.raises(BadInput, match="not -1"):
        assess_health(told(), NOW, after=-1)


def test_grades_of_today_are_not_said_to_be_of_zero_days() -> None:
    graded = [GradedPair("q0", 0, False, "2026-11-22T00:00:01Z")] * 3
    assert "No golden grade is older than a day. A grade" in said(
        assess_health(told(graded=graded), NOW)
    )
    graded.append(GradedPair("q0", 0, False, "2026-11-20T00:00:00Z"))
    with_an_older_one = said(assess_health(told(graded=graded), NOW))
    assert "given within the last day, the oldest 3 days; 0%" in with_an_older_one


def test_a_set_without_grades_has_no_age_and_says_dashes() -> None:
    found = assess_health(told(), NOW)
    assert found.ages is None
    assert ("graded by a person", 0, "–") in [
        row for part in describe_health(found) for row in part.rows
    ]


def test_shares_like_those_of_the_logs_are_not_warned_of_and_others_are() -> None:
    logs = {"topic": {"a": 700, "b": 200, "c": 100}}
    [alike] = compare_with_traffic({"topic": {"a": 66, "b": 24, "c": 10}}, logs)
    assert not alike.differs
    [other] = compare_with_traffic({"topic": {"a": 34, "b": 33, "c": 33}}, logs)
    assert other.differs
    assert other.distance == pytest.approx(0.36)
    assert compare_with_traffic({"intent": {"x": 1}}, logs) == ()


def test_a_warning_of_other_shares_is_rare_where_there_is_none() -> None:
    source, false = np.random.default_rng(3), 0
    names, shares = ["a", "b", "c", "d"], [0.4, 0.3, 0.2, 0.1]
    for _ in range(60):
        own, theirs = (
            dict(zip(names, source.multinomial(n, shares).tolist(), strict=True)) for n in (80, 900)
        )
        false += compare_with_traffic({"topic": own}, {"topic": theirs})[0].differs
    assert false <= 3  # 1 of 100 is what is expected


def test_the_more_facets_are_tested_the_more_each_has_to_show() -> None:
    own, logs = {"a": 60, "b": 40}, {"a": 4600, "b": 5400}
    [alone] = compare_with_traffic({"topic": own}, {"topic": logs})
    many = compare_with_traffic({f"f{n}": own for n in range(9)}, {f"f{n}": logs for n in range(9)})
    assert many[0].p == pytest.approx(9 * alone.p)


def test_sources_of_proposals_are_told_apart_with_intervals_over_queries() -> None:
    met = [SuggestionCheck(f"q{n}", "clicks", 3, 3 if n % 2 else 1) for n in range(40)]
    met += [SuggestionCheck("q0", "chunks", 3, 0)]
    chunks, clicks = suggestion_agreement(met)
    assert (clicks.n, clicks.exact.value, clicks.within_one.value) == (40, 0.5, 0.5)
    assert clicks.difference.value == 1.0
    assert clicks.exact.low < 0.5 < clicks.exact.high
    assert chunks.exact.value == 0.0
    assert np.isnan(chunks.exact.low)
    assert chunks.exact.reason == "it rests on one query"


def test_buckets_with_too_few_queries_are_named_the_emptiest_first() -> None:
    queries = [Query(f"q{n}", "t", buckets={"topic": "a" if n < 12 else "b"}) for n in range(15)]
    graded = [GradedPair(f"q{n}", 1, False, "2026-11-20T00:00:00Z") for n in range(14)]
    found = assess_health(HealthInput(queries, {"q0": QueryOrigin("log")}, graded, 0, [], []), NOW)
    [thin] = found.thin
    assert (thin.buckets, thin.few) == (2, (("b", 2),))
    assert "topic: b (2) has fewer than 10 graded queries" in warned(found)
    assert found.sources == ((None, 14), ("log", 1))


def single(**grades: list[tuple[int, str | None]]) -> HealthInput:
    """Return single-answer queries, each with the grade and the document of its chunks."""
    graded, chunks = [], {}
    for query, pairs in grades.items():
        for grade, document in pairs:
            number = len(graded)
            graded.append(GradedPair(query, 1, False, "2026-11-20T00:00:00Z", number, grade))
            if document is not None:
                chunks[number] = Chunk(f"c{number}", f"text {number}", document_id=document)
    queries = [Query(query, query, task="single") for query in grades]
    return HealthInput(queries, {}, graded, 0, [], [], answers=chunks)


def test_single_answer_queries_with_answers_in_several_documents_are_named() -> None:
    found = assess_health(
        single(
            one=[(3, "a"), (0, "b")],
            on_topic=[(3, "a"), (1, "b"), (1, "c")],
            same_document=[(3, "a"), (2, "a")],
            two=[(3, "a"), (2, "b")],
            three=[(1, "a"), (1, "b"), (1, "c")],
            unknown=[(3, None), (3, None)],
            none=[(0, "a"), (0, "b")],
        ),
        NOW,
    )
    assert found.single.queries == 7
    assert found.single.several == (("three", 3), ("two", 2), ("unknown", 2))
    assert "7 graded queries have the task single" in said(found)
    assert (
        "3 single-answer queries have answers in several documents: three (3), two (2), "
        "unknown (2). RR and Success count only the first answer."
    ) in warned(found)


def test_many_such_queries_are_counted_and_a_few_named() -> None:
    many = single(**{f"q{n}": [(3, "a"), (3, "b")] for n in range(9)})
    assert (
        "9 single-answer queries have answers in several documents: q0 (2), q1 (2), q2 (2), "
        "q3 (2), q4 (2), 4 more. RR"
    ) in warned(assess_health(many, NOW))


def test_other_tasks_copies_of_a_text_and_weaker_grades_than_the_threshold_do_not_count() -> None:
    two = single(two=[(3, "a"), (2, "b")])
    research = replace(two, queries=[replace(two.queries[0], task="research")])
    assert assess_health(research, NOW).single.queries == 0
    assert "task single" not in said(assess_health(research, NOW))
    copy = {number: replace(chunk, text="The same.") for number, chunk in two.answers.items()}
    assert assess_health(replace(two, answers=copy), NOW).single.several == ()
    assert assess_health(replace(two, rel=3), NOW).single.several == ()


def test_the_single_answers_of_a_database_are_looked_up(tmp_path: Path) -> None:
    path = tmp_path / "golden.db"
    with Store(path, create=True) as store:
        store.queries.load(loaded([Query("q", "text", task="single"), Query("r", "other")]))
        documents = {"c1": "a", "c2": "b", "c3": "b"}
        store.chunks.load(
            loaded([Chunk(c, f"of {c}", document_id=d) for c, d in documents.items()])
        )
        grades = [GoldenGrade(q, c, 3) for q in "qr" for c in documents]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    printed = CliRunner().invoke(main, ["--db", str(path), "health"]).output
    assert "! 1 single-answer query has answers in several documents: q (2)." in printed
    as_json = CliRunner().invoke(main, ["--db", str(path), "health", "--format", "json"]).output
    assert json.loads(as_json)["single"] == {"queries": 1, "several": [["q", 2]]}
    assert "q (2)" in words(open_page("review", review="Health"))


@pytest.fixture
def lived(tmp_path: Path) -> Path:
    """A set with a log, and people's grades where clicks and chunks had proposed some."""
    path = tmp_path / "golden.db"
    Store(path, create=True).close()
    add_collapsed_bucket(path)
    log(path, "intent", {"refund": 100, "setup": 900})
    for query, grade in (("q00", 3), ("q01", 1), ("q02", 2)):
        propose(path, query, "c1", grade)
    propose(path, "q05", "c2", 3, "chunks")
    with Store(path) as store:
        store.people.add("Ann")
        store.people.add("Bob")
        for n, (query, grade) in enumerate([("q00", 3), ("q01", 3), ("q01", 1)]):
            store.judgments.add(Judgment(f"e{n}", query, "c1", "Ann", grade=grade))
        store.judgments.add(Judgment("e9", "q00", "c1", "Bob", grade=3))
    return path


def test_health_is_printed_for_people_and_for_programs(lived: Path) -> None:
    result = CliRunner().invoke(main, ["--db", str(lived), "health", "--format", "json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.output)
    assert (found["queries"], found["judged"]) == (40, 40)
    assert found["confirmed"] == {
        "pairs": 40,
        "by_people": 2,
        "twice": 1,
        "adjudicated": 0,
        "only_proposed": 1,
    }
    [clicks] = found["met"]
    # Ann's first grade of q01 counts, not the one she gave after she had seen the proposal.
    assert (clicks["source"], clicks["n"]) == ("clicks", 3)
    assert clicks["exact"]["value"] == pytest.approx(2 / 3)
    [shares] = found["shares"]
    assert shares["differs"]
    assert len(found["golden"]) == 64
    said = CliRunner().invoke(main, ["--db", str(lived), "health"]).output
    assert "! The golden set has other shares of intent than real traffic" in said
    assert re.search(r"only from a file +38 +95%", said)


def test_review_shows_the_same_and_leads_to_the_weighted_mean(lived: Path) -> None:
    app = open_page("review", review="Health")
    said = words(app)
    assert "The golden set has other shares of intent than real traffic" in said
    assert "Scores, weighted by intent" in said
    assert "With 40 of 40 queries graded, you will probably (95%) see any failure" in said
    assert "clicks||3||0.67" in said


def test_grades_grow_old_where_nobody_writes(lived: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "No golden grade is older than a day." in words(open_page("review", review="Health"))

    class Later(datetime):
        @classmethod
        def now(cls, tz=None) -> datetime:
            return datetime.now(tz) + timedelta(days=300)

    monkeypatch.setattr("labeler.ui.review.health.datetime", Later)
    assert "100% are older than 180 days" in words(open_page("review", review="Health"))


def test_an_empty_set_has_no_health_to_speak_of(tmp_path: Path) -> None:
    path = tmp_path / "golden.db"
    Store(path, create=True).close()
    result = CliRunner().invoke(main, ["--db", str(path), "health"])
    assert result.exit_code == 0, result.output
    assert "None of 0 queries is graded yet." in result.output
    assert "There is no query yet" in words(open_page("review", review="Health"))
