"""What other tools' files bring, and that a golden set and a run come back from them the same."""

import bz2
import json
import lzma
from pathlib import Path

import pytest

from labeler.errors import BadInput, LabelerError
from labeler.formats import guess, read_chunks, read_golden, read_queries, read_run
from labeler.formats.id_resolution import chunk_id_from_text, query_id_from_text
from labeler.model import Chunk, GoldenGrade, Loaded, LoadedGolden, Query, Ranking
from labeler.services import import_export
from labeler.services.import_export import LoadOptions
from labeler.store import Store

QUERIES = [
    Query("q1", "how long does a refund take?", reference="Three days."),
    Query("q2", '=SUM(A1), or "not"', "single", buckets={"intent": "refund"}),
    Query("q3", "nobody graded this"),
]
GRADES = [
    GoldenGrade("q1", "a#1", 3, ("ann@example.org",), "says it"),
    GoldenGrade("q1", "b", 0),
    GoldenGrade("q2", "a#1", 1, ("ann@example.org", "bob@example.org")),
    GoldenGrade("q2", "c", 2),
]
CHUNKS = [Chunk("a#1", "A refund takes three days."), Chunk("b", "No."), Chunk("c", "So\nit is.")]
PEERS = ("quepid", "quepid-book", "opensearch", "ragas", "ranx")


def loaded(records):
    return Loaded("made here", records, range(1, len(records) + 1))


@pytest.fixture
def given(tmp_path):
    with Store(tmp_path / "given.db", create=True) as store:
        store.queries.load(loaded(QUERIES))
        store.chunks.load(loaded(CHUNKS))
        whole = read_golden(put(tmp_path, "a", "q1 0 b 0\n"))
        store.golden_loads.add(type(whole)(whole.queries, loaded(GRADES), whole.events))
        yield store


def put(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def load(store: Store, kind: str, path: Path, **options):
    return import_export.read(kind, path, LoadOptions(**options))(store)


def pairs(store: Store) -> list[tuple[str, str, int]]:
    return [(each.query_id, each.chunk_id, each.grade) for each in store.golden_set.read()[1]]


@pytest.mark.parametrize("kind", PEERS)
def test_a_golden_set_goes_through_another_tools_format_and_comes_back(kind, given, tmp_path):
    content = import_export.export(given, kind)
    path = put(tmp_path, import_export.EXPORTS[kind], content)
    assert guess(path).kind == ("records" if kind == "ragas" else "golden")
    with Store(tmp_path / "other.db", create=True) as other:
        other.queries.load(loaded(QUERIES))
        load(other, "golden", path)
        assert pairs(other) == pairs(given)
        assert other.queries.all() == given.queries.all(), "no query is made, and none is changed"
        assert not load(other, "golden", path)[0].changed
        assert import_export.export(other, "qrels") == import_export.export(given, "qrels")


def test_a_book_brings_its_judges_and_what_they_explained(given, tmp_path):
    path = put(tmp_path, "book.json", import_export.export(given, "quepid-book"))
    assert list(read_golden(path).grades.records) == [
        GoldenGrade(query_id_from_text(QUERIES[int(grade.query_id[1]) - 1].text), *told)
        for grade, told in (
            (grade, (grade.chunk_id, grade.grade, grade.graders, grade.note)) for grade in GRADES
        )
    ]


def test_what_a_judge_put_off_is_no_grade_and_of_several_the_lower_median_counts(tmp_path):
    judgements = [
        {"rating": 3.0, "user_email": "a@x.org", "unrateable": False, "judge_later": False},
        {"rating": 1.0, "user_email": "b@x.org", "unrateable": False},
        {"rating": None, "user_email": "c@x.org", "judge_later": True},
        {"rating": 0.0, "user_email": "d@x.org", "unrateable": True},
    ]
    pair = {"query_text": "why?", "doc_id": "d", "position": 1, "judgements": judgements}
    bare = {"query": "why?", "doc_id": "e", "judgements": []}
    book = json.dumps({"name": "b", "query_doc_pairs": [pair, bare]}, indent=2)
    found = read_golden(put(tmp_path, "book.json", book))
    assert list(found.grades.records) == [
        GoldenGrade(query_id_from_text("why?"), "d", 1, ("a@x.org", "b@x.org"))
    ]
    assert found.grades.facts["not graded, skipped"] == 1
    assert "1 pairs have different ratings" in found.grades.warnings[0]


def test_queries_of_another_tool_come_with_their_grades_where_nobody_knows_them(given, tmp_path):
    for kind in ("quepid-book", "opensearch"):
        path = put(tmp_path, kind, import_export.export(given, kind))
        with Store(tmp_path / f"{kind}.db", create=True) as other:
            load(other, "golden", path)
            assert {query.text for query in other.queries.all()} == {
                each.text for each in QUERIES[:2]
            }
            assert [grade for _, _, grade in pairs(other)] == [3, 0, 1, 2]


def test_a_table_of_ratings_names_queries_by_text_or_by_id_and_is_a_file_of_them(given, tmp_path):
    table = put(tmp_path, "r.csv", import_export.export(given, "quepid"))
    assert b'" =SUM(A1), or ""not""",a#1,1' in table.read_bytes(), "no spreadsheet runs it"
    assert {query.text for query in read_queries(table).records} == {each.text for each in QUERIES}
    with Store(tmp_path / "other.db", create=True) as other:
        load(other, "golden", table)
        load(other, "queries", table)
        assert sorted(other.queries.texts().values()) == sorted(each.text for each in QUERIES)
        load(other, "golden", table)
        assert len(pairs(other)) == 4
    by_id = put(tmp_path, "ids.csv", "query,docid,rating\nq3,c,2\n")
    load(given, "golden", by_id)
    assert ("q3", "c", 2) in pairs(given)


@pytest.mark.parametrize("kind", ["csv", *PEERS])
def test_ids_that_begin_like_formulas_come_back_as_they_were(kind, tmp_path):
    ids = ["-xYz1", "=A1", "+7", "@me", " -x", "=HYPERLINK(1)", " =SUM(1)", "  @a b", "-2+3|x"]
    grades = [GoldenGrade("q1", each, 2) for each in ids]
    with (
        Store(tmp_path / "given.db", create=True) as store,
        Store(tmp_path / "other.db", create=True) as other,
    ):
        for each in (store, other):
            each.queries.load(loaded(QUERIES))
        nothing = loaded([])
        store.golden_loads.add(LoadedGolden(nothing, loaded(grades), nothing))
        path = put(tmp_path, import_export.EXPORTS[kind], import_export.export(store, kind))
        load(other, "golden", path)
        assert sorted(pairs(other)) == sorted(("q1", each, 2) for each in ids)
    if kind == "quepid":
        written = path.read_text()
        assert ",-xYz1," in written, "Quepid knows it by this id"
        assert ", =HYPERLINK(1)," in written, "no spreadsheet runs it"


MAPS = {
    "graded, not listed": ({"a": 3, "b": 1}, "gives chunk 'b' the grade 1, and it is not in the"),
    "listed, graded 0": ({"a": 0}, "gives chunk 'a' the grade 0, and it is in the list"),
}


@pytest.mark.parametrize(("given_map", "said"), MAPS.values(), ids=MAPS.keys())
def test_a_list_and_a_map_that_differ_are_said(given_map, said, tmp_path):
    record = {"query": "why?", "relevant_ids": ["a"], "relevance_map": given_map}
    for content in (record, {"test_queries": [record], "corpus": {}}):
        found = read_golden(put(tmp_path, "t.json", json.dumps(content)))
        assert {each.chunk_id: each.grade for each in found.grades.records} == given_map
        assert any("differ on 1 pair" in each and said in each for each in found.grades.warnings)


def test_a_list_and_a_map_that_agree_say_nothing(tmp_path):
    record = {"query": "why?", "relevant_ids": ["a"], "relevance_map": {"a": 3, "b": 0}}
    assert not read_golden(put(tmp_path, "t.json", json.dumps(record))).grades.warnings


def test_a_text_that_two_queries_have_names_neither(given, tmp_path):
    given.queries.load(loaded([Query("q4", QUERIES[2].text)]))
    table = put(tmp_path, "r.csv", f"query,docid,rating\n{QUERIES[2].text},c,2\n")
    before = pairs(given)
    with pytest.raises(
        BadInput, match=r"2 queries have the text 'nobody graded this' \('q3', 'q4'"
    ):
        load(given, "golden", table)
    assert pairs(given) == before
    given.golden_loads.add(read_golden(put(tmp_path, "q", "q3 0 c 1\nq4 0 c 1\n")))
    for kind in ("quepid", "quepid-book", "opensearch"):
        assert "has the same text" in import_export.refusals(given)[kind]
        with pytest.raises(BadInput, match="query 'q3' has the same text"):
            import_export.export(given, kind)


QUEPID_TABLES = {
    "detailed": (
        "Team Name,Case Name,Case ID,Query Text,Doc ID,Title,Rating,overview\n"
        "T,C,4,how long does a refund take?,a#1,t,3,o\nT,C,4,nobody graded this,b,t,,o\n"
    ),
    "snapshot": (
        "Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position\n"
        "S,now,4,how long does a refund take?,b,2\nS,now,4,how long does a refund take?,a#1,1\n"
    ),
}


def test_a_case_in_detail_is_golden_grades_and_a_snapshot_is_a_run(given, tmp_path):
    detailed = put(tmp_path, "detailed.csv", QUEPID_TABLES["detailed"])
    snapshot = put(tmp_path, "snapshot.csv", QUEPID_TABLES["snapshot"])
    assert (guess(detailed).kind, guess(snapshot).kind) == ("golden", "records")
    assert not load(given, "golden", detailed)[0].warnings
    load(given, "records", snapshot)
    assert given.runs.lists("snapshot") == [Ranking("q1", ("a#1", "b"))]


def test_a_quepid_book_as_a_table_has_a_column_for_each_judge(tmp_path):
    table = "query,docid,Ann Lee,bob@example.org, =Cy\nfirst?,a,3,2,\nfirst?,b,,,\nnext?,c,1,1,0\n"
    path = put(tmp_path, "book.csv", table)
    assert guess(path).kind == "golden"
    found = read_golden(path)
    assert [(each.grade, each.graders) for each in found.grades.records] == [
        (2, ("Ann Lee", "bob@example.org")),
        (1, ("Ann Lee", "bob@example.org", "=Cy")),
    ]
    assert [query.text for query in found.asked.records] == ["first?", "next?"]
    said = " ".join(found.grades.warnings)
    assert "read as a table of a Quepid book, with a column by each of: 'Ann Lee'" in said
    assert "2 pairs have different ratings by different judges" in said
    assert [query.text for query in read_queries(path).records] == ["first?", "next?"]
    words = put(tmp_path, "words.csv", "query,docid,stars,why\nfirst?,a,3,fine\n")
    with pytest.raises(BadInput, match=r"words\.csv:2: the column 'why' holds 'fine'; beside"):
        read_golden(words)
    assert guess(words).kind is None


def test_a_case_of_quepid_is_read_in_both_shapes(tmp_path):
    as_list = {"query_text": "why?", "ratings": [{"doc_id": "d", "rating": 2}]}
    as_map = {"query": "how?", "ratings": {"e": 0}}
    case = put(tmp_path, "case.json", json.dumps({"queries": [as_list, as_map]}, indent=1))
    assert [each.grade for each in read_golden(case).grades.records] == [2, 0]
    assert [each.text for each in read_queries(case).records] == ["why?", "how?"]


def test_judgments_of_opensearch_are_read_as_an_answer_of_its_api_too(tmp_path):
    ratings = [{"query": "why?", "ratings": [{"docId": "d", "rating": "2.000"}]}]
    one = {"_source": {"judgmentRatings": ratings}}
    answer = put(tmp_path, "a.json", json.dumps({"hits": {"hits": [one]}}))
    assert [each.grade for each in read_golden(answer).grades.records] == [2]
    two = put(tmp_path, "two.json", json.dumps({"hits": {"hits": [one, one]}}))
    with pytest.raises(BadInput, match="holds 2 lists of judgments; keep one"):
        read_golden(two)


SAMPLES = [
    {
        "user_input": "why?",
        "retrieved_contexts": ["Text A", "Text B"],
        "reference_contexts": ["Text B"],
        "response": "Because.",
        "reference": "B says so.",
        "persona_name": "clerk",
    },
    {"user_input": "how?", "retrieved_contexts": ["Text B"], "reference_contexts": ["Text B"]},
]


@pytest.mark.parametrize("as_list", [False, True], ids=["lines", "a list"])
def test_samples_of_ragas_are_queries_chunks_a_run_and_golden_grades(as_list, tmp_path):
    lines = json.dumps(SAMPLES, indent=1) if as_list else "\n".join(map(json.dumps, SAMPLES))
    path = put(tmp_path, "ragas.json", lines)
    assert guess(path).kind == "records"
    why = read_queries(path).records[0]
    assert (why.query_id, why.reference) == (query_id_from_text("why?"), "B says so.")
    assert set(why.metadata) == {"persona_name"}
    a, b = chunk_id_from_text("Text A"), chunk_id_from_text("Text B")
    assert list(read_chunks(path).records) == [Chunk(a, "Text A"), Chunk(b, "Text B")]
    assert [each.chunk_ids for each in read_run(path).records] == [(a, b), (b,)]
    golden = read_golden(path).grades.records
    assert [(each.query_id, each.chunk_id, each.grade) for each in golden] == [
        (query_id_from_text("why?"), b, 1),
        (query_id_from_text("how?"), b, 1),
    ]


def test_contexts_without_ids_are_the_chunks_that_have_their_texts(given, tmp_path):
    sample = {"user_input": QUERIES[2].text, "retrieved_contexts": ["No.", "not known"]}
    load(given, "run", put(tmp_path, "r.jsonl", json.dumps(sample)))
    assert given.runs.lists("r") == [Ranking("q3", ("b", chunk_id_from_text("not known")))]


def test_contexts_and_their_ids_must_be_as_many(tmp_path):
    sample = {"user_input": "?", "reference_contexts": ["a"], "reference_context_ids": ["1", "2"]}
    with pytest.raises(BadInput, match=r"r:1: 1 reference_contexts, but 2 reference_context_ids"):
        read_golden(put(tmp_path, "r", json.dumps(sample)))
    turns = {"user_input": [{"content": "hi", "type": "human"}], "reference_contexts": []}
    with pytest.raises(BadInput, match="a conversation of several turns"):
        read_golden(put(tmp_path, "t", json.dumps(turns)))


def test_lists_of_what_is_relevant_are_read_with_their_grades(tmp_path):
    told = [
        {"query": "why?", "relevant_ids": ["a", "b"], "relevance_map": {"a": 3}},
        {"query": "how?", "relevant_ids": ["c"]},
    ]
    found = read_golden(put(tmp_path, "l.json", json.dumps(told, indent=2)))
    graded = [(each.chunk_id, each.grade) for each in found.grades.records]
    assert graded == [("a", 3), ("b", 1), ("c", 1)]
    assert [query.text for query in found.asked.records] == ["why?", "how?"]
    assert found.asked.lines == [2, 12]


def test_a_plain_list_by_query_is_what_is_relevant_or_a_run(tmp_path):
    path = put(tmp_path, "a.json", '{"q1": ["a", "b"], "q2": []}')
    assert [(each.chunk_id, each.grade) for each in read_golden(path).grades.records] == [
        ("a", 1),
        ("b", 1),
    ]
    assert [each.grade for each in read_golden(path, grade_map={1: 3}).grades.records] == [3, 3]
    assert read_run(path).records[0].chunk_ids == ("a", "b")


def test_scores_by_query_are_a_run_and_whole_numbers_up_to_3_are_grades(tmp_path):
    run = put(tmp_path, "run.json", '{\n"q1": {"a": 0.5, "b": 7.25},\n"q2": {"a": 1}\n}\n')
    assert guess(run).kind == "run"
    assert read_run(run).records[0] == Ranking("q1", ("b", "a"), (7.25, 0.5))
    grades = put(tmp_path, "q.json", '{"q1": {"a": 0, "b": 3}}')
    assert guess(grades).kind == "golden"
    with pytest.raises(BadInput, match=r"run\.json:2: grade 0\.5 is fractional"):
        read_golden(run)


@pytest.mark.parametrize("kind", ["trec", "ranx"])
def test_a_stored_run_leaves_and_comes_back_bit_for_bit(kind, given, tmp_path):
    lists = [Ranking("q1", ("b", "a#1"), (0.1, 0.1)), Ranking("zz", ("c",), (1e-30,))]
    given.runs.load(loaded(lists), name="my run")
    path = put(tmp_path, "again", import_export.export_run(given, "my run", kind))
    [report] = load(given, "run", path)
    assert report.warnings[0] == "its content is the same as that of run 'my run'"


def test_a_run_without_scores_keeps_its_order_and_ids_with_blanks_stay_at_home(given):
    given.runs.load(loaded([Ranking("q1", ("c", "a#1"))]), name="r")
    assert import_export.export_run(given, "r", "trec") == b"q1 Q0 c 1 -1.0 r\nq1 Q0 a#1 2 -2.0 r\n"
    given.runs.load(loaded([Ranking("q1", ("c", "b"), (1.0, 2.0))]), name="by rank")
    assert import_export.export_run(given, "by rank", "trec").split()[5] == b"by-rank"
    assert b" 1 -1.0 " in import_export.export_run(given, "by rank", "trec"), "not by its scores"
    given.runs.load(loaded([Ranking("q1", ("c d",))]), name="blank")
    with pytest.raises(BadInput, match="TREC cannot carry the chunk id 'c d': it holds a blank"):
        import_export.export_run(given, "blank", "trec")
    with pytest.raises(LabelerError, match="there is no run named 'x'; there are: r, by rank"):
        import_export.export_run(given, "x", "trec")


def test_a_run_leaves_for_ragas_with_its_texts(given, tmp_path):
    given.runs.load(loaded([Ranking("q1", ("c", "a#1"))]), name="r")
    content = import_export.export_run(given, "r", "ragas")
    assert json.loads(content)["retrieved_contexts"] == ["So\nit is.", "A refund takes three days."]
    [report] = load(given, "run", put(tmp_path, "again", content))
    assert "the same as that of run 'r'" in report.warnings[0]


def test_words_after_the_tag_are_left_out_and_a_blank_in_an_id_is_not_taken_for_one(tmp_path):
    run = put(tmp_path, "r", "q1 Q0 a 1 2.5 bm25 with words\nq1 Q0 b 2 1.5 bm25\n")
    assert guess(run).kind == "run"
    assert read_run(run).records[0] == Ranking("q1", ("a", "b"), (2.5, 1.5))
    with pytest.raises(BadInput, match="b:1: 7 columns where a TREC file has 6"):
        read_run(put(tmp_path, "b", "q1 Q0 a 7 1 2.5 bm25\n"))


def test_a_table_of_ratings_is_not_taken_for_a_run(tmp_path):
    with pytest.raises(BadInput, match=r"r\.csv:2: a rating and neither score nor rank"):
        read_run(put(tmp_path, "r.csv", "query,docid,rating\nq1,a,3\n"))
    book = put(tmp_path, "b.json", '{"query_doc_pairs": []}')
    with pytest.raises(BadInput, match="a Quepid book, with grades and no ranked lists"):
        read_run(book)


def test_topics_without_a_header_are_told_that_it_is_missing(tmp_path):
    with pytest.raises(
        BadInput, match="a header is missing: put a first line such as query_id<TAB>"
    ):
        read_queries(put(tmp_path, "t.tsv", "q1\twhat is it\nq2\twhy\n"))


LZ4 = b"\x04\x22\x4d\x18" + bytes(20)
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.mark.parametrize("read", [read_queries, read_chunks, read_golden, read_run])
@pytest.mark.parametrize(
    ("content", "name"),
    [
        (bz2.compress(b"q1 0 a 1\n"), "bzip2"),
        (lzma.compress(b"q1 0 a 1\n"), "xz"),
        (LZ4, "lz4"),
        (POINTER, "git lfs pull"),
    ],
    ids=["bz2", "xz", "lz4", "lfs"],
)
def test_what_is_packed_otherwise_is_refused_by_name(read, content, name, tmp_path):
    path = put(tmp_path, "q.txt", content)
    with pytest.raises(BadInput, match=name):
        read(path)
    assert name in guess(path).why


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('{"judgmentRatings": [{"ratings": []}]}', "1: there is no query"),
        (
            '{\n"judgmentRatings": [\n{"query": "w", "ratings": [{"docId": "a"}]}]}',
            "3: there is no r",
        ),
        ('{\n"judgmentRatings": [\n{"query": "w", "ratings": 3}]}', "3: ratings must be a list"),
        (
            '{\n"query_doc_pairs": [\n{"query": "w", "doc_id": "d", "judgements": [7]}]}',
            "3: each of",
        ),
        (
            '{\n"query_doc_pairs": [\n{"query": " ", "doc_id": "d"}]}',
            "3: a query is named by its te",
        ),
        (
            '{\n"queries": [\n{"query": "w", "ratings": [{"rating": 1}]}]}',
            "3: there is no document",
        ),
        ('{\n"q1": {"a": 1},\n"q2": {"a": 9}}', "3: grade must be 0, 1, 2 or 3, not 9"),
        ('{\n"judgmentRatings": [\n', "3: not JSON"),
        ('[{"query": "w", "relevance_map": {"a": [1]}}]', "1: grade must be 0, 1, 2 or 3, not [1]"),
    ],
)
def test_a_malformed_export_names_its_line_and_changes_nothing(content, where, given, tmp_path):
    before = import_export.export(given, "jsonl")
    with pytest.raises(BadInput) as error:
        load(given, "golden", put(tmp_path, "p.json", content))
    assert f"p.json:{where}" in str(error.value)
    assert import_export.export(given, "jsonl") == before


def test_a_refused_scale_is_described_whole_in_one_hint(tmp_path):
    lines = "".join(f"q1 0 c{grade} {grade}\n" for grade in (0, 2, 4, 8, 16))
    with pytest.raises(BadInput) as error:
        read_golden(put(tmp_path, "a", lines), name="a")
    assert str(error.value) == (
        "a:3: grade must be 0, 1, 2 or 3, not 4; the grades here are 0 2 4 8 16, which "
        "--grade-map 2=1,4=2,8=3,16=3 would read"
    )


def test_fractions_are_read_only_through_a_map_that_names_them_all(tmp_path):
    path = put(tmp_path, "a", "q 0 a 0.3\nq 0 b 1.0\nq 0 c 0.7\nq 0 d 0\n")
    with pytest.raises(BadInput) as error:
        read_golden(path, name="a")
    assert str(error.value) == (
        "a:1: grade 0.3 is fractional; the grades here are 0 0.3 0.7 1, which "
        "--grade-map 0.3=1,0.7=2,1=3 would read"
    )
    with pytest.raises(BadInput, match="a:2: grade 1 is not in the map, and a map with fractions"):
        read_golden(path, name="a", grade_map={0.3: 1, 0.7: 2})
    found = read_golden(path, grade_map={0.3: 1, 0.7: 2, 1.0: 3}).grades.records
    assert [each.grade for each in found] == [1, 3, 2, 0]


def test_no_message_is_longer_than_a_thousand_characters(tmp_path):
    wide = put(tmp_path, "w.csv", ",".join(f"column{at}" for at in range(2_000)) + "\n1\n")
    for read in (read_queries, read_golden, read_run):
        with pytest.raises(BadInput) as error:
            read(wide)
        assert len(str(error.value)) <= 1_000
    said = str(BadInput("a" * 5_000 + "; the remedy"))
    assert len(said) == 1_000
    assert said.endswith("; the remedy")
    assert str(BadInput("a\n" * 900)) == "a\n" * 900, "of several messages each is measured"
