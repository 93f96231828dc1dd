"""Files of queries and of chunks."""

import json
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.formats import read_chunks, read_queries
from labeler.formats.id_resolution import query_id_from_text
from labeler.model import Chunk, Query
from labeler.store import Store


def put(folder: Path, text: str) -> Path:
    path = folder / "file"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def put_lines(folder: Path, *records: object) -> Path:
    return put(folder, "".join(json.dumps(record) + "\n" for record in records))


def test_every_name_a_field_may_have_is_understood(tmp_path):
    wanted = Query(
        "q1",
        "why?",
        task="research",
        reference="because",
        guideline="be strict",
        keywords=("a", "b"),
        buckets={"intent": "refund"},
    )
    for ids, text, reference, guideline in [
        ("query_id", "query", "reference", "guideline"),
        ("_id", "text", "referenceAnswer", "guidelines"),
        ("id", "question", "reference", "narrative"),
        ("qid", "query", "reference", "guideline"),
    ]:
        record = {ids: "q1", text: "why?", reference: "because", guideline: "be strict"}
        more = {"task": "research", "keywords": "a, b", "buckets": {"intent": "refund"}}
        assert read_queries(put_lines(tmp_path, record | more)).records == [wanted]


def test_nothing_a_record_says_is_lost(tmp_path):
    record = {"_id": 7, "text": "t", "id": 3, "year": 2024, "x": None, "metadata": {"a": [1]}}
    query = read_queries(put_lines(tmp_path, record)).records[0]
    assert query.query_id == "7"
    assert query.metadata == {"a": [1], "id": 3, "year": 2024, "x": None}


def test_a_guideline_inside_the_metadata_moves_out_of_it_and_is_no_facet(tmp_path):
    metadata = {"narrative": "long text", "domain": "law", "task": "compliance"}
    lines = [{"_id": name, "text": "t", "metadata": metadata} for name in "12"]
    query = read_queries(put_lines(tmp_path, *lines))
    assert query.records[0].guideline == "long text"
    assert query.records[0].task == "compliance"
    assert query.records[0].metadata == {"domain": "law"}
    assert query.records[0].buckets == {"domain": "law"}


def test_a_bucket_without_a_name_is_none(tmp_path):
    records = [
        {"query_id": "1", "query": "t", "buckets": {"half": "", "lang": " ", "kind": "a"}},
        {"query_id": "2", "query": "t", "buckets": {"half": None, "lang": "en"}, "kind": "  "},
        {"query_id": "3", "query": "t", "kind": "b"},
    ]
    path = put_lines(tmp_path, *records)
    wanted = [{"kind": "a"}, {"lang": "en"}, {"kind": "b"}]
    assert [query.buckets for query in read_queries(path).records] == wanted
    named = read_queries(path, facets=["kind"]).records
    assert [query.buckets for query in named] == [{"kind": "a"}, {}, {"kind": "b"}]


def test_a_task_is_any_name_also_in_the_metadata_and_no_facet_beside_the_task(tmp_path):
    tasks = ["QA", " ", 7, "two\nlines", ["QA"]]
    records = [{"_id": f"{n}", "text": "t", "metadata": {"task": t}} for n, t in enumerate(tasks)]
    named = {"_id": "named", "text": "t", "task": "Fact check"}
    blank = {"_id": "blank", "text": "t", "task": " "}
    loaded = read_queries(put_lines(tmp_path, *records, named, blank))
    found = [(query.task, query.metadata.get("task")) for query in loaded.records]
    rest = [(None, task) for task in tasks[1:]]
    assert found == [("QA", None), *rest, ("Fact check", None), (None, None)]
    assert not any(query.buckets for query in loaded.records)
    assert loaded.facts["task QA"] == loaded.facts["task Fact check"] == 1


def test_many_tasks_are_counted_as_the_buckets_of_a_facet_are(tmp_path):
    records = [{"_id": f"{n}", "text": "t", "task": f"task {n}"} for n in range(9)]
    facts = read_queries(put_lines(tmp_path, *records)).facts
    assert facts == {"queries": 9, "facet task": "9 buckets"}


def test_a_table_gives_the_same_queries_as_jsonl(tmp_path):
    table = (
        'QUERY_ID, Query ,Domain,Guideline\r\n007,"why, ""so""\r\nnow?",law,\r\n\r\n8,b,law,g\r\n'
    )
    loaded = read_queries(put(tmp_path, table))
    assert loaded.records == [
        Query("007", 'why, "so"\r\nnow?', buckets={"Domain": "law"}, metadata={"Domain": "law"}),
        Query("8", "b", guideline="g", buckets={"Domain": "law"}, metadata={"Domain": "law"}),
    ]
    assert loaded.lines == [2, 5]
    tabs = read_queries(put(tmp_path, "qid\tquery\nq1\ta, b; c\n"))
    assert tabs.records == [Query("q1", "a, b; c")]


def test_facets_are_buckets_and_metadata_texts_with_at_most_fifty_values(tmp_path):
    records = [
        {"_id": f"q{n}", "text": "t", "fifty": f"v{n % 50}", "more": f"v{n}", "size": n,
         "mixed": n if n == 3 else "a", "task": "single", "buckets": {"intent": "i"}}
        for n in range(102)
    ]  # fmt: skip
    loaded = read_queries(put_lines(tmp_path, *records))
    assert loaded.records[0].buckets == {"intent": "i", "fifty": "v0"}
    assert loaded.facts == {
        "queries": 102,
        "task single": 102,
        "facet intent": "1 bucket",
        "facet fifty": "50 buckets",
        "no facet": "more: too many different values, unless named with --facet",
        "kept as metadata": "size, mixed",
    }


def test_free_text_in_a_small_file_is_no_facet_unless_somebody_says_so(tmp_path):
    """Else each query would be a bucket of its own."""
    records = [
        {"query_id": f"q{n}", "query": "t", "answer": f"It takes {n} days.", "lang": "de" * (n % 2),
         "half": f"h{n % 2}", "most": f"m{n % 3}"}
        for n in range(4)
    ]  # fmt: skip
    loaded = read_queries(put_lines(tmp_path, *records))
    assert [query.buckets for query in loaded.records] == [
        {"half": "h0"}, {"lang": "de", "half": "h1"}, {"half": "h0"}, {"lang": "de", "half": "h1"},
    ]  # fmt: skip
    left_out = "answer, most: too many different values, unless named with --facet"
    assert loaded.facts["no facet"] == left_out
    assert not loaded.warnings
    named = read_queries(put_lines(tmp_path, *records), facets=["answer"])
    assert named.records[3].buckets == {"answer": "It takes 3 days."}
    assert "no facet" not in named.facts
    given = [{**record, "buckets": {"answer": record["answer"]}} for record in records]
    loaded = read_queries(put_lines(tmp_path, *given))
    assert loaded.records[3].buckets == {"answer": "It takes 3 days.", "lang": "de", "half": "h1"}
    assert loaded.facts["no facet"].startswith("most: ")


def test_many_fields_that_are_no_facets_are_one_short_line(tmp_path):
    fields = {f"f{n}": "x" for n in range(8)}
    loaded = read_queries(put_lines(tmp_path, {"_id": "1", "text": "t", **fields}))
    assert str(loaded.facts["no facet"]).startswith("f0, f1, f2, f3, f4 and 3 more: too many")


def test_named_facets_replace_the_rule_and_unnamed_buckets_stay_in_the_metadata(tmp_path):
    records = [
        {"_id": "1", "text": "t", "year": 2024, "lang": "en", "buckets": {"intent": "x"}},
        {"_id": "2", "text": "t"},
    ]
    loaded = read_queries(put_lines(tmp_path, *records), facets=["year", "task"])
    assert [query.buckets for query in loaded.records] == [{"year": "2024"}, {}]
    assert loaded.records[0].metadata == {"intent": "x", "year": 2024, "lang": "en"}


def test_the_first_bad_query_is_named(tmp_path):
    cases: list[tuple[list[object], str]] = [
        ([{"text": "t"}], "1: there is no query id; name it query_id, _id, id or qid"),
        ([{"_id": True, "text": "t"}], "1: a query id must be text, not True"),
        ([{"_id": "", "text": "t"}], "1: a query id must not be empty"),
        ([{"_id": "a"}], "1: query 'a' has no text; give it one as query, text or question"),
        ([{"_id": "a", "text": 5}], "1: query must be text, not 5"),
        ([{"_id": "a", "text": "t", "keywords": [1]}], "1: keywords must be a list of texts"
         ", not [1]"),
        ([{"_id": "a", "text": "t", "metadata": [1]}], "1: metadata must be an object {...}"
         ", not [1]"),
        (
            [{"_id": "a", "text": "t", "task": "q\na"}],
            "1: task name 'q\\na' holds the control character \\n; take it out",
        ),
        (
            [{"_id": "a", "text": "t", "x": 1, "metadata": {"x": 2}}],
            "1: 'x' has one value beside metadata and another inside it",
        ),
        (
            [{"_id": "a", "text": "t", "buckets": {"task": "single"}}],
            "1: the facet 'task' is the query's own task; give it as task, not in buckets",
        ),
        (
            [{"_id": "a", "text": "t", "buckets": {"tag": ["x"]}}],
            "1: facet 'tag' needs one value per query, not [\"x\"]",
        ),
        (
            [{"_id": "a", "text": "t"}, {"_id": "b", "text": "t"}, {"_id": "a", "text": "u"}],
            "3: query id 'a' is already on line 1; ids must differ",
        ),
    ]  # fmt: skip
    for records, message in cases:
        with pytest.raises(BadInput) as error:
            read_queries(put_lines(tmp_path, *records), name="q.jsonl")
        assert str(error.value) == f"q.jsonl:{message}"


def test_a_named_facet_nobody_has_or_with_a_list_is_an_error(tmp_path):
    path = put_lines(tmp_path, {"_id": "a", "text": "t", "year": [1], "lang": "en"})
    with pytest.raises(BadInput) as missing:
        read_queries(path, facets=["domain"], name="q.jsonl")
    assert str(missing.value) == "q.jsonl: no query has the facet 'domain' (there are: lang, year)"
    with pytest.raises(BadInput) as several:
        read_queries(path, facets=["year"], name="q.jsonl")
    assert str(several.value) == "q.jsonl:1: facet 'year' needs one value per query, not [1]"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "id;query\n1;a\n",
            "1: the columns are separated by semicolons; save with commas or tabs",
        ),
        (
            "1\twhat is it\n",
            "1: no column for the query id; name it query_id, _id, id or qid "
            "(found: 1, what is it); if this line is data, a header is missing: put a first line "
            "such as query_id<TAB>query above it",
        ),
        ("id,query,Query\n1,a,b\n", "1: the column 'query' appears twice in the header"),
        (
            "id,query\n1,a\n2,b,c\n",
            "3: 3 columns where the header has 2; a cell that holds the separator needs quotes",
        ),
        (
            "id,query\n1\n",
            "2: 1 column where the header has 2; a cell that holds the separator needs quotes",
        ),
        ('id,query\n1,"a\nb"\n2,"c\n\n', "4: a quote that opens in this record is never closed"),
        ('id,query\n1,"a"b\n', '2: a quote inside a quoted cell must be doubled ("")'),
        (
            "id,query\n1,a\rb\n",
            "2: a cell holds a lone carriage return; put the cell in quotes",
        ),
        ("id,query\n,a\n", "2: there is no query id; name it query_id, _id, id or qid"),
        (",,\n,,\n", "1: no column for the query id; name it query_id, _id, id or qid (found: none)"
         "; if this line is data, a header is missing: put a first line such as "
         "query_id,query above it"),
        ("id,query,metadata\n1,a,{'b': 1}\n", "2: metadata: not JSON at column 2 (Expecting "
         "property name enclosed in double quotes)"),
    ],
)  # fmt: skip
def test_a_bad_table_is_named_with_the_first_line_of_its_record(table, message, tmp_path):
    with pytest.raises(BadInput) as error:
        read_queries(put(tmp_path, table), name="q.csv")
    assert str(error.value) == f"q.csv:{message}"


def test_a_header_without_rows_is_no_query(tmp_path):
    with pytest.raises(BadInput, match=r"^q\.csv: there is no query in it$"):
        read_queries(put(tmp_path, "id,query\n"), name="q.csv")


def test_an_id_with_a_space_at_its_end_is_kept_and_told(tmp_path):
    loaded = read_queries(put(tmp_path, "id,query\n1 ,a\n"))
    assert loaded.records[0].query_id == "1 "
    assert loaded.warnings == (
        "1 query id with a space at one end, such as '1 '; ids are kept exactly",
    )


def test_chunks_come_from_beir_jsonl_and_tables_alike(tmp_path):
    beir = {"_id": "c1", "title": "", "text": "body", "metadata": {"lang": "en"}, "url": "u"}
    own = {"chunk_id": "c2", "contents": "a\u0001b", "title": "T", "doc_id": 5, "position": 3}
    loaded = read_chunks(put_lines(tmp_path, beir, own, {"docno": "c3"}))
    assert loaded.records == [
        Chunk("c1", "body", metadata={"lang": "en", "url": "u"}),
        Chunk("c2", "a\u0001b", "T", "5", 3),
        Chunk("c3"),
    ]
    assert loaded.facts == {
        "chunks": 3,
        "documents": 1,
        "without text": 1,
        "longest text (characters)": 4,
        "kept as metadata": "lang, url",
    }
    table = read_chunks(put(tmp_path, "docid,segment,document,Position,url\nc1,body,d,3.0,u\n"))
    assert table.records == [Chunk("c1", "body", None, "d", 3, {"url": "u"})]


def test_the_first_bad_chunk_is_named(tmp_path):
    ids = "chunk_id, _id, id, docid or docno"
    cases: list[tuple[list[object], str]] = [
        ([{"text": "t"}], f"1: there is no chunk id; name it {ids}"),
        ([{"_id": 1.5}], "1: a chunk id must be text, not 1.5"),
        ([{"_id": "a", "text": ["t"]}], '1: text must be text, not ["t"]'),
        ([{"_id": "a", "position": 1.5}], "1: position must be a whole number, not 1.5"),
        ([{"_id": "a", "position": True}], "1: position must be a whole number, not true"),
        ([{"_id": "a", "position": 2**63}], f"1: position must be a whole number, not {2**63}"),
        ([{"_id": "a"}, {"_id": "b"}, {"_id": "b"}], "3: chunk id 'b' is already on line 2; "
         "ids must differ"),
    ]  # fmt: skip
    for records, message in cases:
        with pytest.raises(BadInput) as error:
            read_chunks(put_lines(tmp_path, *records), name="c.jsonl")
        assert str(error.value) == f"c.jsonl:{message}"


@pytest.mark.parametrize(
    "content",
    [
        "question,topic\nHow long?,a\nWho pays?,b\nHow long?,a\n",
        "".join(
            json.dumps({"Question": text, "topic": topic}) + "\n"
            for text, topic in [("How long?", "a"), ("Who pays?", "b"), ("How long?", "a")]
        ),
        json.dumps([{"query": "How long?", "topic": "a"}, {"input": "Who pays?", "topic": "b"}]),
    ],
    ids=["csv", "jsonl", "json"],
)
def test_questions_without_ids_get_one_made_of_their_text_in_every_format(content, tmp_path):
    loaded = read_queries(put(tmp_path, content))
    assert [query.text for query in loaded.records] == ["How long?", "Who pays?"]
    assert loaded.records[0].metadata == {"topic": "a"}
    assert loaded.records[0].query_id == query_id_from_text("How long?")


LESS = {
    "b.jsonl": '{"query_id": "q1", "query": "When?"}',
    "b.csv": "query_id,query,reference\nq1,When?,\n",
    "b.json": '[{"qid": "q1", "question": "When?", "guideline": " "}]',
}


@pytest.mark.parametrize("name", LESS)
@pytest.mark.parametrize("update", [False, True])
def test_no_load_replaces_a_reference_or_guideline_by_nothing(name, update, tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / name
    first.write_text(
        '{"query_id": "q1", "query": "When?", "reference": "At nine.", "guideline": "Be strict."}'
    )
    second.write_text(LESS[name])
    with Store(tmp_path / "db", create=True) as store:
        store.queries.load(read_queries(first))
        report = store.queries.load(read_queries(second), update=update)
        (query,) = store.queries.all()
    assert (query.reference, query.guideline) == ("At nine.", "Be strict.")
    kept = "no reference or guideline here, the one already there kept"
    assert (report.facts[kept], report.facts["already there"]) == (1, 1)


def test_an_update_changes_a_reference_that_it_has(tmp_path):
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text('{"query_id": "q1", "query": "When?", "reference": "At nine."}')
    second.write_text('{"query_id": "q1", "query": "When?", "reference": "At ten."}')
    with Store(tmp_path / "db", create=True) as store:
        store.queries.load(read_queries(first))
        assert store.queries.load(read_queries(second), update=True).facts["updated"] == 1
        assert store.queries.all()[0].reference == "At ten."
