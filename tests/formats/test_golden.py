"""Files of grades, and grade maps."""

import json
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.formats import parse_grade_map, read_golden
from labeler.model import GoldenGrade, Judgment, Query

GRADES = [GoldenGrade("q1", "a", 2), GoldenGrade("q1", "b", 0), GoldenGrade("q2", "a", 3)]
FORMATS = {
    "qrels": "# pool of 2024\nq1 0 a 2\nq1\tQ0\tb  0\r\n\nq2 0 a 3",
    "beir": "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\ta\t3\n",
    "csv": "Query,DocID,Rating\nq1,a,2.0\nq1,b,0\nq2,a, 3\n",
    "other csv": '"query_id","chunk_id","other","GRADE"\nq1,a,x,2\nq1,b,,0\nq2,a,,3\n',
    "flat jsonl": '{"query-id":"q1","corpus-id":"a","score":2}\n'
    '{"qid":"q1","docid":"b","grade":"0"}\n'
    '{"query_id":"q2","chunk_id":"a","grade":3.0}\n',
}


def put(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("content", FORMATS.values(), ids=FORMATS.keys())
def test_every_format_is_recognised_by_its_content(content, tmp_path):
    loaded = read_golden(put(tmp_path, content))
    assert loaded.grades.records == GRADES
    assert not loaded.queries.records
    assert not loaded.events.records
    facts = {key: loaded.grades.facts[key] for key in ("judgments", "queries with grades")}
    assert facts == {"judgments": 3, "queries with grades": 2}
    assert [loaded.grades.facts[f"grade {grade}"] for grade in range(4)] == [1, 0, 1, 1]


def test_a_golden_set_brings_its_queries_with_their_buckets_as_they_stand(tmp_path):
    record = {
        "query_id": "q1",
        "query": "why?",
        "task": "single",
        "reference": None,
        "guideline": None,
        "keywords": ["a, b"],
        "buckets": {"intent": "refund"},
        "metadata": {"guideline": "inner", "lang": "en"},
        "judgments": [{"chunk_id": "a", "grade": 2, "graders": ["Ann; B"], "note": "n"}],
    }
    other = {"query_id": "q2", "query": "how?", "judgments": []}
    loaded = read_golden(put(tmp_path, f"{json.dumps(record)}\n{json.dumps(other)}\n"))
    assert loaded.queries.records == [
        Query(
            "q1",
            "why?",
            "single",
            keywords=("a, b",),
            buckets={"intent": "refund"},
            metadata={"guideline": "inner", "lang": "en"},
        ),
        Query("q2", "how?"),
    ]
    assert loaded.grades.records == [GoldenGrade("q1", "a", 2, ("Ann; B",), "n")]
    assert loaded.queries.facts == {"queries": 2, "task single": 1, "facet intent": "1 bucket"}
    assert loaded.grades.warnings == ()


def test_the_log_comes_as_events_and_never_as_grades(tmp_path):
    given = {"event_id": "e1", "query_id": "q", "chunk_id": "c", "grader": "Ann", "grade": 0}
    undone = {**given, "event_id": "e2", "kind": "withdraw", "grade": None, "undoes": "e1"}
    imported = {**given, "event_id": "e3", "kind": "import", "grader": None, "graders": ["B"]}
    loaded = read_golden(
        put(tmp_path, "\n".join(json.dumps(event) for event in (given, undone, imported)))
    )
    assert loaded.events.records == [
        Judgment("e1", "q", "c", "Ann", grade=0),
        Judgment("e2", "q", "c", "Ann", "withdraw", undoes="e1"),
        Judgment("e3", "q", "c", None, "import", 0, graders=("B",)),
    ]
    assert not loaded.grades.records
    assert loaded.events.facts == {
        "events": 3,
        "queries": 1,
        "graders": 1,
        "kind grade": 1,
        "kind withdraw": 1,
        "kind import": 1,
    }


def test_blank_is_not_graded_and_grade_0_is(tmp_path):
    table = "query,docid,rating\nstar wars,1,\nstar trek,,\nstar trek, ,3\nalien,2,0\n"
    loaded = read_golden(put(tmp_path, table))
    assert loaded.grades.records == [GoldenGrade("alien", "2", 0)]
    assert loaded.grades.facts["not graded, skipped"] == 3


def test_a_table_without_any_grade_loads_as_nothing_and_says_so(tmp_path):
    loaded = read_golden(put(tmp_path, "query,docid,rating\n"))
    assert not loaded.grades.records
    assert loaded.grades.warnings == ("there is no grade in it",)


def test_the_same_grade_twice_counts_once(tmp_path):
    loaded = read_golden(put(tmp_path, "q 0 a 1\nq 0 a 1\nq 0 a 1.0\n"))
    assert loaded.grades.records == [GoldenGrade("q", "a", 1)]
    assert loaded.grades.lines == [1]
    assert loaded.grades.facts["duplicates"] == 2


def test_negative_grades_become_0_only_when_asked(tmp_path):
    path = put(tmp_path, "q 0 a -2\nq 0 b 1\n")
    assert [grade.grade for grade in read_golden(path, negative_as_zero=True).grades.records] == [
        0,
        1,
    ]
    with pytest.raises(BadInput) as error:
        read_golden(path, name="a.qrels")
    assert str(error.value) == (
        "a.qrels:1: grade -2 is negative; --negative-as-zero reads it as 0, --negative-as-ungraded "
        "as in the pool, but ungraded"
    )


def test_a_grade_map_says_what_other_numbers_stand_for(tmp_path):
    path = put(tmp_path, "q 0 a 0.3\nq 0 b 1.0\nq 0 c 0\nq 0 d -1\n")
    loaded = read_golden(path, grade_map=parse_grade_map("0.3=1,1=3, -1=2"))
    assert [grade.grade for grade in loaded.grades.records] == [1, 3, 0, 2]


@pytest.mark.parametrize("text", ["", "4:3", "4=5", "4=", "=3", "nan=1", "inf=1", "1_0=1", "a=9"])
def test_a_grade_map_that_cannot_be_read_is_refused(text):
    with pytest.raises(BadInput) as error:
        parse_grade_map(text)
    assert str(error.value) == (
        f"--grade-map: {text!r} must be a number or a word in the file, =, and a grade from 0 to "
        "3, such as 0.3=1,1.0=3"
    )


def test_a_grade_map_gives_no_number_two_grades():
    assert parse_grade_map("4=3,4.0=3") == {4.0: 3}
    with pytest.raises(BadInput, match=r"^--grade-map: 4\.0 is given two grades$"):
        parse_grade_map("4=3,4.0=2")


EVENT = '"event_id":"e","query_id":"q","chunk_id":"c","grader":"Ann","grade":1'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q 0 a 4\n", "1: grade must be 0, 1, 2 or 3, not 4; --grade-map 4=3 reads it as 3"),
        ("q 0 a 1.5\n", "1: grade 1.5 is fractional; --grade-map 1.5=2 reads it as 2"),
        ("q 0 a ?\n", "1: grade must be 0, 1, 2 or 3, not '?'"),
        ("q 0 a nan\n", "1: grade must be 0, 1, 2 or 3, not 'nan'"),
        (
            "q 0 a 1\nq 0 a 1\nq 0 a 2\n",
            "3: chunk 'a' has grade 2 for query 'q', but 1 on line 1; keep one of them",
        ),
        (
            "q a 1\n",
            "1: 3 columns where a TREC file has 4 (query 0 chunk grade); "
            "a CSV or TSV file needs a header such as query,docid,rating",
        ),
        (
            "q,a,1\n",
            "1: 1 column where a TREC file has 4 (query 0 chunk grade); "
            "a CSV or TSV file needs a header such as query,docid,rating",
        ),
        (
            "query,docid,stars\nq,a,1\n",
            "1: no column for the grade; name it grade, rating, relevance, label, rel or score "
            "(found: query, docid, stars)",
        ),
        (
            "query;docid;rating\nq;a;1\n",
            "1: the columns are separated by semicolons; save with commas or tabs",
        ),
        (
            'query,docid,rating\nq,"a\nb",1\nq,c,5\n',
            "4: grade must be 0, 1, 2 or 3, not 5; --grade-map 5=3 reads it as 3",
        ),
        ("query,docid,rating\n,a,1\n", "2: there is no query id; name it query_id, qid, q_id, "
         "query-id, query or query_text"),
        ('{"query_id":"q","chunk_id":"a","grade":[1]}', "1: grade must be 0, 1, 2 or 3, not [1]"),
        (
            '{"a":1}',
            "1: neither a golden set (key judgments), nor a log (keys event_id and grader), "
            "nor one grade per line (key grade), nor what is right for a query (keys "
            "relevant_ids or reference_contexts); the keys found are a",
        ),
        (
            '\n{"query_id":"q","query":"t","judgments":[{"chunk_id":"a"}]}',
            "2: grade must be 0, 1, 2 or 3, not null",
        ),
        (
            '{"query_id":"q","query":"t","judgments":[{"grade":1}]}',
            "1: there is no chunk id; name it chunk_id, docno, doc_id, docid or corpus-id",
        ),
        (
            '{"query_id":"q","query":"t","judgments":[]}\n{"query_id":"r","query":"t"}',
            '2: judgments must be a list of {"chunk_id", "grade", "graders", "note"}, not null',
        ),
        (
            '{"query_id":"q","query":"t","judgments":[]}\n{"query_id":"q","query":"t","judgments":[]}',
            "2: query id 'q' is already on line 1; ids must differ",
        ),
        (
            '{"query_id":"q","query":"t","judgments":[{"chunk_id":"a","grade":1},'
            '{"chunk_id":"a","grade":2}]}',
            "1: chunk 'a' has grade 2 for query 'q', but 1 on line 1; keep one of them",
        ),
        (
            '{"query_id":"q","query":"t","judgments":[{"chunk_id":"a","grade":1,"note":2}]}',
            "1: note must be text, not 2",
        ),
        (f"{{{EVENT}}}\n{{{EVENT}}}", "2: event id 'e' is already on line 1; ids must differ"),
        (f'{{{EVENT},"kind":"like"}}', "1: a judgment's kind can be grade, cannot_tell, withdraw, "
         "adjudicate, import, propose, carry, not 'like'"),
        (f'{{{EVENT},"blind":"yes"}}', '1: blind must be true or false, not \'yes\''),
        (f'{{{EVENT},"created_at":"soon"}}', "1: created_at must be a time such as "
         "2025-01-31T09:30:00Z, not 'soon'"),
        (f'{{{EVENT},"elapsed_ms":1e30}}', "1: elapsed_ms must be a whole number, not 1e+30"),
    ],
)  # fmt: skip
def test_a_bad_line_is_named_and_nothing_is_loaded(content, message, tmp_path):
    with pytest.raises(BadInput) as error:
        read_golden(put(tmp_path, content), name="a.file")
    assert str(error.value) == f"a.file:{message}"


def test_an_event_with_an_unknown_key_is_refused_rather_than_cut(tmp_path):
    with pytest.raises(BadInput, match=r"^a:1: an event has no colour; its keys are event_id, "):
        read_golden(put(tmp_path, f'{{{EVENT},"colour":"red"}}'), name="a")


def test_what_a_judgment_cannot_keep_is_told(tmp_path):
    line = '{"query_id":"q","query":"t","judgments":[{"chunk_id":"a","grade":1,"why":"x"}]}'
    assert read_golden(put(tmp_path, line)).grades.warnings == ("not kept from the judgments: why",)


@pytest.mark.parametrize(
    "content",
    [
        "query_id,chunk_id,score,Label\nq,a,2,\nq,b,1,3\n",
        '{"query_id": "q", "chunk_id": "a", "score": 2, "label": null}\n'
        '{"query_id": "q", "chunk_id": "b", "score": 1, "label": 3}\n',
        '[{"Query ID": "q", "doc": "a", "score": 2, "Judgment": ""},\n'
        ' {"Query ID": "q", "doc": "b", "score": 1, "Judgment": 3}]\n',
    ],
    ids=["csv", "jsonl", "json"],
)
def test_a_score_is_no_grade_where_the_grade_beside_it_is_blank(content, tmp_path):
    path = tmp_path / "grades"
    path.write_text(content)
    loaded = read_golden(path)
    assert [(each.chunk_id, each.grade) for each in loaded.grades.records] == [("b", 3)]
    assert loaded.grades.facts["not graded, skipped"] == 1
