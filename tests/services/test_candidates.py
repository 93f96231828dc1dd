"""Questions that may become queries: from logs, generated, from thumbs, typed; in a terminal."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import DistinctQuestion
from labeler.services.candidates import nearest_queries, sample_questions
from labeler.store import Store, integrity
from tests.support.store_reads import all_suggestions


def run(store: Store, *words: object) -> Result:
    return CliRunner().invoke(main, ["--db", str(store.path), *map(str, words)])


def put(store: Store, tmp_path: Path, content: str, source: str, *more: object, name: str = ""):
    path = tmp_path / (name or f"{source}.csv")
    path.write_text(content)
    return run(store, "load", "candidates", path, "--from", source, *more)


def taken_by(store: Store) -> list[tuple[str | None, int]]:
    """The queries that candidates were taken as, and how often each was asked."""
    return [(each.query_id, each.times) for each in store.candidates.find(state="taken")[0]]


LOG = """question,count,date,channel,session
How long does a refund take?,5,2026-03-01,web,s1
how long does a  refund take,2,2026-03-09T10:00:00Z,app,s2
Where is my parcel?,3,2026-03-02,web,s3
where is my parcel,1,2026-02-27,web,s4
Cancel my order,1,2026-03-03,app,s5
"""


def test_a_log_is_counted_by_what_is_asked_and_not_by_how(filled: Store, tmp_path: Path):
    before = filled.collection.golden_state().hash
    result = put(filled, tmp_path, LOG, "log")
    assert result.exit_code == 0, result.output
    open_ones, count = filled.candidates.find()
    assert [(each.text, each.times) for each in open_ones] == [
        ("Where is my parcel?", 4),
        ("Cancel my order", 1),
    ]
    assert count == 2
    parcel = open_ones[0]
    assert parcel.buckets == {"channel": {"web": 4}}
    assert (parcel.asked_at, parcel.file) == ("2026-03-02", str(tmp_path / "log.csv"))
    [batch] = filled.candidates.batches()
    assert (batch.times, batch.texts, batch.kept) == (12, 3, 3)
    assert batch.buckets == {"channel": {"web": 9, "app": 3}}
    assert (batch.first_asked, batch.last_asked) == ("2026-02-27", "2026-03-09")
    assert "session" in result.output, "what is no facet is said"
    assert filled.collection.golden_state().hash == before


def test_what_a_query_asks_already_is_counted_to_it_and_not_offered(filled: Store, tmp_path: Path):
    put(filled, tmp_path, LOG, "log")
    assert taken_by(filled) == [("q1", 7)]
    assert not filled.candidates.find("refund")[1]


def test_the_same_log_twice_counts_once_and_another_month_is_added(filled: Store, tmp_path: Path):
    put(filled, tmp_path, LOG, "log")
    again = put(filled, tmp_path, LOG, "log", name="copy.csv")
    assert again.exit_code == 0
    assert len(filled.candidates.batches()) == 1
    assert taken_by(filled) == [("q1", 7)]
    put(filled, tmp_path, "query,count\nwhere is my PARCEL,10\n", "log", name="april.csv")
    assert filled.candidates.find("parcel")[0][0].times == 14


def test_a_log_is_drawn_evenly_over_its_buckets_and_a_seed_draws_alike(
    filled: Store, tmp_path: Path
):
    rows = [
        f"question {n} of {'many' if n % 10 else 'few'},{'a' if n % 10 else 'b'}"
        for n in range(100)
    ]
    log = "query,topic\n" + "\n".join(rows) + "\n"
    put(filled, tmp_path, log, "log", "--most", 10)
    found, count = filled.candidates.find()
    buckets = [each.usual_buckets()["topic"] for each in found]
    assert (count, buckets.count("a"), buckets.count("b")) == (10, 5, 5)
    put(filled, tmp_path, log, "log", "--most", 10, name="again.csv")
    assert filled.candidates.find()[1] == 20, "the same log with more asked for brings ten others"
    assert filled.candidates.batches()[0].kept == 20
    texts = [DistinctQuestion(f"q{n}", f"q{n}", n) for n in range(50)]
    first, other = sample_questions(texts, 5, 0), sample_questions(texts, 5, 1)
    assert sample_questions([*texts[25:], *texts[:25]], 5, 0) == first
    assert first != other


def test_a_generated_question_proposes_its_chunk_and_no_grade_counts(filled: Store, tmp_path: Path):
    lines = [
        {"question": "What is text 2?", "chunk_id": "c2", "answer": "Two", "keywords": ["two"]},
        {"question": "what is text 9", "chunk_id": "c9"},
    ]
    content = "".join(json.dumps(line) + "\n" for line in lines)
    before = filled.golden_set.read()
    result = put(filled, tmp_path, content, "generated", name="made.jsonl")
    assert "new chunks, known by id only  1" in result.output
    assert all_suggestions(filled) == [], "nothing is proposed for a query before there is one"
    first = filled.candidates.find("text 2")[0][0]
    assert (first.reference, first.keywords) == ("Two", ("two",))
    taken = run(filled, "queries", "promote", first.number, "--id", "two")
    assert taken.exit_code == 0, taken.output
    [proposal] = filled.suggestions.proposals_of("two")
    assert (proposal.chunk_id, proposal.grade, proposal.source) == ("c2", 3, "generated")
    assert filled.queries.get("two").reference == "Two"
    assert filled.history.origin_of("two").source == "generated"
    assert filled.golden_set.read()[1] == before[1], "what is proposed is no golden grade"


def test_thumbs_propose_what_most_of_them_say(filled: Store, tmp_path: Path):
    thumbs = (
        "query_id,query,chunk_id,vote\n"
        "q1,,c1,up\nq1,,c1,👍\nq1,,c1,down\nq2,,c3,0\n"
        ",how long does a refund take,c2,false\n"
        ",brand new question,c4,1\n"
    )
    result = put(filled, tmp_path, thumbs, "thumbs", "--up", 3)
    assert result.exit_code == 0, result.output
    told = [
        (each.chunk_id, each.grade, each.times, each.against)
        for each in filled.suggestions.proposals_of("q1")
    ]
    assert told == [("c1", 3, 2, 1), ("c2", 0, 1, 0)]
    assert [each.grade for each in filled.suggestions.proposals_of("q2")] == [0]
    assert [each.text for each in filled.candidates.find()[0]] == ["brand new question"]


@pytest.mark.parametrize(
    ("content", "source", "said"),
    [
        ("query,count\nok,1\n,2\n", "log", r"log.csv:3: there is no question on it"),
        ("query,count\nok,0\n", "log", "log.csv:2: a question is asked once or more often, not 0"),
        ("query,date\nok,3/4/26\n", "log", "log.csv:2: date '3/4/26' is not like 2026-01-31"),
        ("number,count\nok,1\n", "log", "no column for the question; name it query"),
        ("query\nok\n", "generated", "generated.csv:2: there is no chunk on it"),
        ("query,chunk_id,vote\nok,c1,meh\n", "thumbs", "thumbs.csv:2: a thumb is up or down"),
        ("query_id,chunk_id,vote\nq1,c1,1\nq9,c1,1\n", "thumbs", "thumbs.csv:3: query 'q9' is not"),
        ("query\n", "log", "there is no question in it"),
    ],
)
def test_a_bad_line_is_named_and_nothing_comes_in(
    filled: Store, tmp_path: Path, content: str, source: str, said: str
):
    result = put(filled, tmp_path, content, source)
    assert result.exit_code == 1
    assert said in result.output
    assert filled.candidates.batches() == []
    assert all_suggestions(filled) == []


def test_facets_that_are_not_there_are_named(filled: Store, tmp_path: Path):
    result = put(filled, tmp_path, LOG, "log", "--evenly", "topic")
    assert "no question has the facet 'topic' (there are: channel)" in result.output
    assert filled.candidates.batches() == []


def test_an_experts_list_is_a_question_a_line_packed_or_not(filled: Store, tmp_path: Path):
    path = tmp_path / "mine.txt.gz"
    path.write_bytes(gzip.compress(b"What, exactly, is covered?\n\n  and what is not?\n"))
    result = run(filled, "load", "candidates", path, "--from", "typed")
    assert result.exit_code == 0, result.output
    assert [each.text for each in filled.candidates.find(source="typed")[0]] == [
        "What, exactly, is covered?",
        "and what is not?",
    ]


def test_a_hostile_question_reaches_no_terminal_as_it_is(filled: Store, tmp_path: Path):
    put(filled, tmp_path, "query\n\x1b[2Jboo <script>\n", "log")
    listed = run(filled, "candidates")
    assert "\x1b" not in listed.output
    assert "<script>" in listed.output


def test_nearly_the_same_is_shown_with_the_query_it_is_near_to(filled: Store, tmp_path: Path):
    put(filled, tmp_path, "query\nhow long does the refund take\nsomething else\n", "log")
    listed = run(filled, "candidates", "--format", "jsonl").output.splitlines()
    near = {record["text"]: record["near"] for record in map(json.loads, listed)}
    assert near == {"how long does the refund take": "q1", "something else": None}
    assert nearest_queries(["???"], {"q": "!!!"}) == [None], "texts without words are like nothing"
    assert nearest_queries(["a", "b"], {}) == [None, None]


def test_candidates_are_taken_linked_set_aside_and_taken_back(filled: Store, tmp_path: Path):
    put(filled, tmp_path, "query,level\none,easy\ntwo,easy\nthree,hard\n", "log")
    numbers = {each.text: each.number for each in filled.candidates.find()[0]}
    run(filled, "queries", "promote", numbers["one"])
    run(filled, "queries", "promote", numbers["two"], "--same-as", "q2")
    run(filled, "drop", "candidates", numbers["three"])
    assert filled.candidates.find()[1] == 0
    assert ("q2", 1) in taken_by(filled)
    new = filled.queries.all()[-1]
    assert (new.text, new.buckets) == ("one", {"level": "easy"})
    again = run(filled, "queries", "promote", numbers["one"])
    assert (again.exit_code, "was taken already" in again.output) == (1, True)
    put(filled, tmp_path, "query\nTHREE\n", "log", name="later.csv")
    assert filled.candidates.find()[1] == 0, "what was set aside does not come back"
    run(filled, "restore", "candidates", numbers["three"])
    assert [each.times for each in filled.candidates.find()[0]] == [2]
    history = run(filled, "history", new.query_id).output
    assert "added" in history
    assert "came from: a log of what users asked" in history


def test_a_chunk_that_is_proposed_is_given_to_graders_like_any_other(filled: Store, tmp_path: Path):
    pool, _ = filled.assignment.pool(10)
    assert filled.chunks.number("c4") not in pool["q2"]
    put(filled, tmp_path, "query_id,chunk_id,vote\nq2,c4,up\nq2,c99,up\n", "thumbs")
    pool, without_text = filled.assignment.pool(10)
    assert pool["q2"][filled.chunks.number("c4")] == []
    assert filled.chunks.number("c99") not in pool["q2"], "what nobody can read is not given"
    assert without_text == 3
    assert filled.chunks.number("c4") not in filled.assignment.pool(10, ["first"])[0]["q2"]


def test_what_is_deleted_is_gone_and_only_what_was_set_aside(filled: Store, tmp_path: Path):
    content = "question,chunk_id,level\nkeep this,c1,a\nforget this,c2,a\n"
    put(filled, tmp_path, content, "generated")
    [forget] = filled.candidates.find("forget")[0]
    assert filled.candidates.forget_dropped() == 0
    filled.candidates.drop([forget.number])
    assert filled.candidates.forget_dropped() == 1
    assert [each.text for each in filled.candidates.find(state=None)[0]] == ["keep this"]
    left = "".join(filled.connection.conn.iterdump())
    assert "forget this" not in left
    with integrity.open_read_only(filled.path) as db:
        assert integrity.broken_references(db) == []
