"""Files out, and back in again."""

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import (
    beir_files,
    read_beir,
    read_golden,
    write_events,
    write_golden,
    zip_files,
)
from labeler.model import (
    Chunk,
    GoldenGrade,
    Judgment,
    Query,
    find_control_character,
)

QUERIES = [
    Query("q2", "how – “quoted”?", "single", "ref", None, ("k",), {"intent": "x"}, {"lang": "en"}),
    Query("q1", "why?"),
]
GRADES = [
    GoldenGrade("q1", "b", 0),
    GoldenGrade("q2", "a", 3, ("Ann", "Bob"), "clear,\nreally"),
    GoldenGrade("q1", "a", 1, ("Ann",)),
]
HOSTILE = [
    "=1+1",
    "+1-1",
    "-x",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
    "'=1",
]


def load(folder: Path, content: bytes):
    path = folder / "out"
    path.write_bytes(content)
    return read_golden(path)


def test_the_golden_set_is_one_query_a_line_in_the_given_order():
    assert write_golden(QUERIES, GRADES, "jsonl").decode() == (
        '{"query_id": "q2", "query": "how – “quoted”?", "task": "single", "reference": "ref", '
        '"guideline": null, "keywords": ["k"], "buckets": {"intent": "x"}, '
        '"metadata": {"lang": "en"}, "judgments": [{"chunk_id": "a", "grade": 3, '
        '"graders": ["Ann", "Bob"], "note": "clear,\\nreally"}]}\n'
        '{"query_id": "q1", "query": "why?", "task": null, "reference": null, '
        '"guideline": null, "keywords": [], "buckets": {}, "metadata": {}, "judgments": ['
        '{"chunk_id": "b", "grade": 0, "graders": [], "note": null}, '
        '{"chunk_id": "a", "grade": 1, "graders": ["Ann"], "note": null}]}\n'
    )


def test_qrels_and_csv_carry_the_same_grades(tmp_path):
    assert write_golden(QUERIES, GRADES, "qrels") == b"q2 0 a 3\nq1 0 b 0\nq1 0 a 1\n"
    table = write_golden(QUERIES, GRADES, "csv").decode()
    assert table == (
        "query,docid,rating,query_text,graders,note\n"
        'q2,a,3,how – “quoted”?,Ann; Bob,"clear,\nreally"\n'
        "q1,b,0,why?,,\n"
        "q1,a,1,why?,Ann,\n"
    )
    assert load(tmp_path, table.encode()).grades.records == [GRADES[1], GRADES[0], GRADES[2]]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_is_run_by_a_spreadsheet_and_none_is_changed_by_coming_back(text, tmp_path):
    grade = GoldenGrade(text, text, 1, (text.strip(),), text)
    content = write_golden([Query(text, text)], [grade], "csv")
    rows = list(csv.reader(io.StringIO(content.decode(), newline="")))
    assert rows[1][2] == "1"
    assert all(cell.startswith("'") for place, cell in enumerate(rows[1]) if place != 2)
    assert load(tmp_path, content).grades.records == [grade]


def test_numbers_stay_numbers_even_with_a_sign():
    content = write_golden([Query("-12", "+3.5")], [GoldenGrade("-12", "-a", 1)], "csv")
    assert content.decode().splitlines()[1] == "-12,'-a,1,+3.5,,"


def test_a_foreign_table_keeps_the_apostrophes_of_its_ids(tmp_path):
    loaded = load(tmp_path, b"query,docid,rating\n'=q,'-d,1\n")
    assert loaded.grades.records == [GoldenGrade("'=q", "'-d", 1)]


@pytest.mark.parametrize(
    ("query_id", "chunk_id", "message"),
    [
        ("a b", "c", "qrels cannot carry the query id 'a b': it holds a blank; JSONL can"),
        ("a", "c\u00a0d", "qrels cannot carry the chunk id 'c\\xa0d': it holds a blank; JSONL can"),
        ("#a", "c", "qrels cannot carry the query id '#a': its line would be a comment; JSONL can"),
        ('{"a', "c", "qrels cannot carry the query id '{\"a': its line would look like JSON; "
         "JSONL can"),
    ],
)  # fmt: skip
def test_qrels_refuse_what_would_not_load_again(query_id, chunk_id, message):
    with pytest.raises(BadInput) as error:
        write_golden([Query(query_id, "t")], [GoldenGrade(query_id, chunk_id, 1)], "qrels")
    assert str(error.value) == message


def test_beir_refuses_tabs_and_line_ends_and_carries_blanks_and_quotes(tmp_path):
    for odd in ("a\tb", "a\nb", "a\rb"):
        with pytest.raises(BadInput) as error:
            beir_files([Query("q", "t")], [], [GoldenGrade("q", odd, 1)])
        assert str(error.value) == (
            f"BEIR cannot carry the chunk id {odd!r}: it holds a tab or a line end; JSONL can"
        )
    grade = GoldenGrade('"q" 1', 'c "2"', 1)
    files = beir_files([Query('"q" 1', "t")], [], [grade])
    assert load(tmp_path, files["qrels/test.tsv"]).grades.records == [grade]


def test_what_cannot_be_written_is_refused():
    with pytest.raises(
        BadInput,
        match=r"^a golden set is written as jsonl, qrels, csv, quepid, quepid-book, opensearch, "
        "ragas, ranx, not 'xml'",
    ):
        write_golden([], [], "xml")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"^chunk 'c' is graded for an unknown query 'q'$"):
        write_golden([], [GoldenGrade("q", "c", 1)], "jsonl")
    with pytest.raises(BadInput, match=r"which UTF-8 cannot carry$"):
        write_golden([Query("q", "\ud800")], [], "jsonl")
    with pytest.raises(BadInput, match=r"^CSV cannot carry the chunk id ' ': it is blank"):
        write_golden([Query("q", "t")], [GoldenGrade("q", " ", 1)], "csv")
    with pytest.raises(BadInput, match=r"^a split is named by letters and digits"):
        beir_files([], [], [], split="../test")


def test_the_log_round_trips_with_every_field(tmp_path):
    events = [
        Judgment("e1", "q\u2028", "c", "Änn", grade=0, blind=False, elapsed_ms=7, text_hash="h",
                 created_at="2025-01-31T09:30:00+00:00"),
        Judgment("e2", "q", "c", "Bob", "cannot_tell", reason="r", note="n", source="s"),
        Judgment("e3", "q", "c", None, "import", 2, ("A", "B, C"), undoes="e1"),
    ]  # fmt: skip
    content = write_events(events)
    assert list(json.loads(content.split(b"\n")[0]))[:3] == ["event_id", "query_id", "chunk_id"]
    assert load(tmp_path, content).events.records == events


def test_a_zip_archive_is_the_same_bytes_whatever_the_order_and_the_hour():
    one = zip_files({"b": b"2", "a/c": b"1"})
    assert one == zip_files({"a/c": b"1", "b": b"2"})
    with zipfile.ZipFile(io.BytesIO(one)) as archive:
        assert archive.namelist() == ["a/c", "b"]
        assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


letters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
odd = st.sampled_from("\"'\\\n\r\t\u2028\x85\x1f,;=# {[\ufeff😀\u202eא")
texts = st.text(st.one_of(odd, letters), max_size=6)
ids = texts.filter(bool)
plain = texts.filter(lambda text: find_control_character(text) is None)
names = plain.filter(bool)
buckets = plain.filter(str.strip)  # a blank one is none
finite = st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=3,
)  # fmt: skip

queries = st.builds(
    Query,
    query_id=ids,
    text=texts.filter(str.strip),
    task=st.none() | names,
    reference=st.none() | texts,
    guideline=st.none() | texts,
    keywords=st.lists(texts, max_size=2).map(tuple),
    buckets=st.dictionaries(names.filter(lambda facet: facet != "task"), buckets, max_size=2),
    metadata=st.dictionaries(
        texts | st.sampled_from(["guideline", "task"]), json_values, max_size=2
    ),
)
query_lists = st.lists(queries, max_size=3, min_size=1, unique_by=lambda query: query.query_id)
golden_sets = query_lists.flatmap(
    lambda found: st.tuples(
        st.just(found),
        st.lists(
            st.builds(
                GoldenGrade,
                query_id=st.sampled_from([query.query_id for query in found]),
                chunk_id=ids,
                grade=st.integers(0, 3),
                graders=st.lists(names, max_size=2).map(tuple),
                note=st.none() | texts,
            ),
            max_size=5,
            unique_by=lambda grade: (grade.query_id, grade.chunk_id),
        ),
    )
)  # fmt: skip


@given(golden_sets)
def test_a_golden_set_loads_and_exports_again_byte_for_byte(tmp_path_factory, golden):
    content = write_golden(*golden, "jsonl")
    loaded = load(tmp_path_factory.getbasetemp(), content)
    assert list(loaded.queries.records) == golden[0]
    assert sorted(map(repr, loaded.grades.records)) == sorted(map(repr, golden[1]))
    assert write_golden(loaded.queries.records, loaded.grades.records, "jsonl") == content


@given(golden_sets, st.sampled_from(["qrels", "csv", "beir"]))
def test_what_a_lesser_format_writes_it_reads_again_and_else_it_refuses(
    tmp_path_factory, golden, kind
):
    found, grades = golden
    try:
        if kind == "beir":
            content = beir_files(found, [], grades)["qrels/test.tsv"]
        else:
            content = write_golden(found, grades, kind)
    except BadInput as error:
        refused = str(error)
        assert refused.endswith("; JSONL can")
        return
    if content:
        loaded = load(tmp_path_factory.getbasetemp(), content).grades.records
        assert {(g.query_id, g.chunk_id, g.grade) for g in loaded} == {
            (g.query_id, g.chunk_id, g.grade) for g in grades
        }


@given(golden_sets)
def test_no_exported_cell_starts_a_formula(golden):
    try:
        content = write_golden(*golden, "csv").decode()
    except BadInput:
        return
    for row in list(csv.reader(io.StringIO(content, newline="")))[1:]:
        assert len(row) == 6
        for cell in row:
            assert not cell.startswith(tuple("=@\t\r\n＝＋－＠"))


def test_a_beir_folder_and_its_zip_bring_everything_back(tmp_path):
    chunks = [Chunk("a", "text\u2028", "T", "d", 2, {"url": "u"}), Chunk("b")]
    query = Query("q1", "why?", "single", "r", "g", ("k",), {"intent": "x"}, {"n": 1})
    grades = [GoldenGrade("q1", "b", 2)]
    files = beir_files([query], chunks, grades, split="dev")
    archive = tmp_path / "set.zip"
    archive.write_bytes(zip_files({f"set/{path}": content for path, content in files.items()}))
    loaded = read_beir(archive, split="dev")
    assert loaded.queries.records == [query]
    assert loaded.chunks.records == chunks
    assert loaded.golden.grades.records == grades
    assert loaded.chunks.where(1) == f"{archive}/set/corpus.jsonl:2"
