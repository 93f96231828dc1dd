"""``labeler load golden``: grades that changed, several graders, queries by their text."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.formats import GradeRule, read_golden, read_grades
from labeler.store import Store

Labeler = Callable[..., Result]
QUERIES = "query_id\tquery\nk1\twhen do you open?\nk2\twhere do I park?\n"


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in a folder with a golden set of two queries."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    (tmp_path / "queries.tsv").write_text(QUERIES)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    assert invoke("load", "queries", "queries.tsv").exit_code == 0
    return invoke


def golden() -> dict[tuple[str, str], int]:
    with Store("golden.db") as store:
        return {(each.query_id, each.chunk_id): each.grade for each in store.golden_set.read()[1]}


def people() -> list[tuple[str | None, str, int | None, bool]]:
    with Store("golden.db") as store:
        said = [each for each in store.judgments.log() if each.kind == "grade"]
        return sorted((each.grader, each.chunk_id, each.grade, each.blind) for each in said)


CHANGES = {
    "later.qrels": "k1 0 a 1\nk1 0 b 0\nk2 0 c 3\n",
    "later.csv": "query_id,chunk_id,grade\nk1,a,1\nk1,b,0\nk2,c,3\n",
    "later.json": '{"k1": {"a": 1, "b": 0}, "k2": {"c": 3}}',
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_later_file_changes_grades_only_when_asked(labeler: Labeler, name: str):
    Path("first.qrels").write_text("k1 0 a 3\nk1 0 b 0\n")
    assert labeler("load", "golden", "first.qrels").exit_code == 0
    Path(name).write_text(CHANGES[name])
    refused = labeler("load", "golden", name)
    assert refused.exit_code != 0
    assert (
        "1 of 3 grades differ from those loaded before (chunk 'a' of query 'k1' has 3, and 1 "
        "here); nothing is loaded without --update"
    ) in refused.output
    assert golden() == {("k1", "a"): 3, ("k1", "b"): 0}
    done = labeler("load", "golden", name, "--update")
    assert done.exit_code == 0, done.output
    assert golden() == {("k1", "a"): 1, ("k1", "b"): 0, ("k2", "c"): 3}
    assert [line.split() for line in done.output.splitlines() if "changed" in line] == [
        ["changed", "1"]
    ]


def test_load_files_takes_a_change_when_asked(labeler: Labeler):
    Path("first.qrels").write_text("k1 0 a 3\n")
    Path("later.qrels").write_text("k1 0 a 1\n")
    assert labeler("load", "files", "first.qrels").exit_code == 0
    assert "nothing is loaded without --update" in labeler("load", "files", "later.qrels").output
    assert labeler("load", "files", "later.qrels", "--update").exit_code == 0
    assert golden() == {("k1", "a"): 1}


def test_the_same_grade_without_its_note_takes_nothing_away(labeler: Labeler):
    Path("with.csv").write_text("query_id,chunk_id,grade,graders,note\nk1,a,3,Ann;Bo,see page 2\n")
    Path("without.qrels").write_text("k1 0 a 3\n")
    assert labeler("load", "golden", "with.csv").exit_code == 0
    done = labeler("load", "golden", "without.qrels")
    assert "already imported" in done.output
    with Store("golden.db") as store:
        (kept,) = store.golden_set.read()[1]
    assert (kept.graders, kept.note) == (("Ann", "Bo"), "see page 2")


LONG = {
    "long.csv": "query_id,doc_id,rating,grader\nk1,a,3,ann\nk1,a,1,bob\nk1,a,1,cy\nk1,b,0,ann\n",
    "long.tsv": "query_id\tdocid\tgrade\tannotator\n"
    "k1\ta\t3\tann\nk1\ta\t1\tbob\nk1\ta\t1\tcy\nk1\tb\t0\tann\n",
    "long.jsonl": "".join(
        json.dumps({"query_id": "k1", "chunk_id": chunk, "grade": grade, "judge": name}) + "\n"
        for chunk, grade, name in [
            ("a", 3, "ann"),
            ("a", 1, "bob"),
            ("a", 1, "cy"),
            ("b", 0, "ann"),
        ]
    ),
}


@pytest.mark.parametrize("name", LONG)
def test_several_graders_of_one_pair_have_grades_of_their_own(labeler: Labeler, name: str):
    Path(name).write_text(LONG[name])
    done = labeler("load", "golden", name)
    assert done.exit_code == 0, done.output
    assert "ann, bob, cy" in done.output
    assert "not counted as blind without --blind" in done.output
    expected = [("ann", "a", 3), ("ann", "b", 0), ("bob", "a", 1), ("cy", "a", 1)]
    assert people() == [(*each, False) for each in expected]
    assert golden() == {("k1", "a"): 1, ("k1", "b"): 0}
    assert read_grades(name, GradeRule()) == {"k1": {"a": 1, "b": 0}}
    again = labeler("load", "golden", name)
    assert "already there" in again.output
    assert len(people()) == 4


def test_graders_of_a_file_that_graded_blind_agree(labeler: Labeler):
    Path("long.csv").write_text(LONG["long.csv"])
    assert labeler("load", "golden", "long.csv", "--blind").exit_code == 0
    assert {blind for *_, blind in people()} == {True}
    assert "3 graders" in labeler("agreement").output


def test_a_file_never_changes_what_a_person_said_here(labeler: Labeler):
    Path("long.csv").write_text(LONG["long.csv"])
    assert labeler("load", "golden", "long.csv").exit_code == 0
    Path("later.csv").write_text(LONG["long.csv"].replace("k1,a,1,bob", "k1,a,2,bob"))
    done = labeler("load", "golden", "later.csv", "--update")
    assert "1 grade differs from what its grader said here, which stays" in done.output
    assert ("bob", "a", 1, False) in people()


def test_one_grader_who_says_two_things_is_refused_by_line(labeler: Labeler):
    Path("long.csv").write_text(LONG["long.csv"] + "k1,a,2,bob\n")
    refused = labeler("load", "golden", "long.csv")
    message = "long.csv:6: chunk 'a' has grade 2 for query 'k1', but 1 on line 3; keep one of them"
    assert message in refused.output
    assert people() == []


JOINED = {
    "list.tsv": "query_id\tquery\tdoc_id\tgrade\nn1\tis it open?\ta\t3\nn1\tis it open?\tb\t0\n",
    "list.csv": "qid,query_text,docid,rating\nn1,is it open?,a,3\nn1,is it open?,b,0\n",
    "list.jsonl": "".join(
        json.dumps({"qid": "n1", "question": "is it open?", "docid": chunk, "label": grade}) + "\n"
        for chunk, grade in [("a", 3), ("b", 0)]
    ),
}


@pytest.mark.parametrize("name", JOINED)
@pytest.mark.parametrize("first", ["golden", "files", "queries"])
def test_a_row_for_each_pair_with_id_and_text_brings_its_queries(
    labeler: Labeler, name: str, first: str
):
    Path(name).write_text(JOINED[name])
    for kind in (first, "golden"):
        done = labeler("load", kind, name)
        assert done.exit_code == 0, done.output
    assert golden() == {("n1", "a"): 3, ("n1", "b"): 0}
    with Store("golden.db") as store:
        assert store.queries.texts()["n1"] == "is it open?"


@pytest.mark.parametrize("kind", ["golden", "queries"])
def test_an_id_with_two_texts_is_refused(labeler: Labeler, kind: str):
    Path("list.csv").write_text("qid,query,docid,rating\nn1,is it open?,a,3\nn1,or not?,b,0\n")
    refused = labeler("load", kind, "list.csv")
    assert (
        "list.csv:3: query 'n1' has the text 'or not?' here and 'is it open?' on line 2; an id "
        "names one query"
    ) in refused.output
    assert golden() == {}


def test_an_id_with_another_text_than_in_the_golden_set_is_refused(labeler: Labeler):
    Path("list.csv").write_text("qid,query,docid,rating\nk1,may I pay by card?,a,3\n")
    refused = labeler("load", "golden", "list.csv")
    assert "list.csv:2: query 'k1' is 'may I pay by card?' here" in refused.output
    assert golden() == {}


COMPOSED, APART = "caf\u00e9 open?", "cafe\u0301\u00a0 open?"
ALIKE = {
    "judgments.json": json.dumps(
        {"judgmentRatings": [{"query": APART, "ratings": [{"docId": "a", "rating": "2"}]}]}
    ),
    "table.csv": f"query,docid,rating\n{APART},a,2\n",
    "ragas.jsonl": json.dumps({"user_input": APART, "relevance_map": {"a": 2}}),
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_text_in_another_unicode_form_names_the_same_query(labeler: Labeler, name: str):
    Path("more.jsonl").write_text(json.dumps({"query_id": "k3", "query": COMPOSED}))
    assert labeler("load", "queries", "more.jsonl").exit_code == 0
    Path(name).write_text(ALIKE[name])
    done = labeler("load", "golden", name)
    assert done.exit_code == 0, done.output
    assert "another Unicode form than that in the golden set" in done.output
    assert "('k3')" in done.output
    assert golden() == {("k3", "a"): 2}


def test_two_queries_that_look_alike_are_named_when_they_are_loaded(labeler: Labeler):
    rows = [{"query_id": "k3", "query": COMPOSED}, {"query_id": "k4", "query": APART}]
    Path("more.jsonl").write_text("\n".join(map(json.dumps, rows)))
    done = labeler("load", "queries", "more.jsonl")
    assert "1 query looks like another: only blanks or the Unicode form differ" in done.output
    assert "'k4' and 'k3'" in done.output


def test_plain_queries_say_nothing_of_looks(labeler: Labeler):
    assert "looks like" not in labeler("load", "queries", "queries.tsv").output


def test_the_file_says_of_whom_a_grade_is(tmp_path: Path):
    (tmp_path / "one.csv").write_text("query_id,doc_id,rating,judge\nk1,a,3,ann\n")
    (found,) = read_golden(tmp_path / "one.csv").grades.records
    assert found.graders == ("ann",)


BY_TEXT = {
    "t.csv": "query,doc,relevance\nwhen do you open?,a,3\nwhen do you open?,b,0\nparking,c,2\n",
    "t.jsonl": "".join(
        json.dumps({"question": text, "docid": chunk, "label": grade}) + "\n"
        for text, chunk, grade in [
            ("when do you open?", "a", 3),
            ("when do you open?", "b", 0),
            ("parking", "c", 2),
        ]
    ),
    "t.tsv": "query\tdocid\trating\nwhen do you open?\ta\t3\n"
    "when do you open?\tb\t0\nparking\tc\t2\n",
}


@pytest.mark.parametrize("name", BY_TEXT)
@pytest.mark.parametrize("kind", ["golden", "files"])
def test_a_table_that_names_queries_by_their_texts_brings_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, kind: str
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    Path(name).write_text(BY_TEXT[name])
    done = CliRunner().invoke(main, ["load", kind, name])
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        texts = store.queries.texts()
        found = {(texts[g.query_id], g.chunk_id): g.grade for g in store.golden_set.read()[1]}
    assert sorted(texts.values()) == ["parking", "when do you open?"]
    assert found == {
        ("when do you open?", "a"): 3,
        ("when do you open?", "b"): 0,
        ("parking", "c"): 2,
    }


@pytest.mark.parametrize("name", BY_TEXT)
def test_queries_that_are_there_have_the_grades_of_their_texts(labeler: Labeler, name: str):
    Path(name).write_text(BY_TEXT[name])
    done = labeler("load", "golden", name)
    assert done.exit_code == 0, done.output
    with Store("golden.db") as store:
        assert len(store.queries.texts()) == 3
    assert golden()["k1", "a"] == 3


def test_ids_of_several_words_are_ids_where_one_of_them_is_known(labeler: Labeler):
    Path("more.csv").write_text("query_id,query\nspring 12,when?\n")
    Path("t.csv").write_text("query,doc,relevance\nspring 12,a,3\nspring 13,a,1\n")
    assert labeler("load", "queries", "more.csv").exit_code == 0
    refused = labeler("load", "golden", "t.csv")
    assert "query 'spring 13' is not in the golden set; load its queries first" in refused.output
    Path("t.csv").write_text("query,doc,relevance\nspring 12,a,3\n")
    assert labeler("load", "golden", "t.csv").exit_code == 0
    assert golden() == {("spring 12", "a"): 3}


def test_ids_of_one_word_are_asked_for_as_before(labeler: Labeler):
    Path("t.csv").write_text("query,doc,relevance\nk7,a,3\n")
    assert "load its queries first" in labeler("load", "golden", "t.csv").output
