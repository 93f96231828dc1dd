"""What a file holds is told by its content, and what cannot be told is named with what it lacks."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from labeler.formats import (
    guess,
    read_beir,
    read_chunks,
    read_golden,
    read_queries,
    read_retrievals,
    read_run,
    zip_files,
)
from labeler.formats.lines import InputFile, read_head

READERS: dict[str, Callable[..., object]] = {
    "queries": read_queries,
    "chunks": read_chunks,
    "golden": read_golden,
    "run": read_run,
    "records": read_retrievals,
    "beir": read_beir,
}


def jsonl(*records: object) -> str:
    return "".join(f"{json.dumps(record)}\n" for record in records)


LONG = "A parcel that comes back within thirty days is paid back to the card it was paid with. " * 4
EVENT = {"event_id": "e1", "query_id": "q1", "chunk_id": "c1", "grader": "Ann", "grade": 3}
REMARK = {"event_id": "r1", "query_id": "q1", "grader": "Ann", "kind": "unclear"}
# What a file of no telling name holds, and the kind it is.
SHAPES: dict[str, tuple[str, str]] = {
    "our queries": (jsonl({"query_id": "q1", "query": "who?", "task": "single"}), "queries"),
    "queries with a text": (jsonl({"qid": "1", "text": "wing flutter"}), "queries"),
    "questions": (jsonl({"id": 1, "question": "who", "answer": "Ann"}), "queries"),
    "BEIR queries": (jsonl({"_id": "1", "text": "who asks?", "metadata": {}}), "queries"),
    "BEIR queries without a mark": (jsonl({"_id": "1", "text": "laws of wing flutter"}), "queries"),
    "a table of queries": ("query_id,query\nq1,who?\n", "queries"),
    "an unusual table of queries": ("ID;Question\n1;who?\n", "queries"),
    "queries between tabs": ("id\ttext\nq1\twho?\nq2\twhere?\n", "queries"),
    "queries that name a document": (
        jsonl({"query_id": "q", "query": "who?", "document_id": "d", "evidence": [[1, 2]]}),
        "queries",
    ),
    "queries with a title": (
        jsonl({"query_id": "q", "query": "who?", "title": "t", "narrative": "n"}),
        "queries",
    ),
    "our chunks": (jsonl({"chunk_id": "c1", "text": "Ann", "document_id": "d"}), "chunks"),
    "BEIR corpus": (jsonl({"_id": "1", "title": "", "text": "Ann?", "metadata": {}}), "chunks"),
    "Anserini's documents": (jsonl({"id": "1", "contents": "Ann"}), "chunks"),
    "chunks by id alone": (jsonl({"chunk_id": "c1"}), "chunks"),
    "chunks that begin a file of any ids": (
        jsonl({"_id": "1", "text": "a"}, {"_id": "2", "text": "b", "title": "t"}),
        "chunks",
    ),
    "long texts": (jsonl(*({"id": n, "text": LONG} for n in range(3))), "chunks"),
    "a table of chunks": ("docno,text\nd1,Ann\n", "chunks"),
    "chunks between tabs": ("id\ttitle\ttext\nd1\tt\tAnn\n", "chunks"),
    "chunks with a made-up question": (
        jsonl({"chunk_id": "c1", "text": "Ann", "question": "who?"}),
        "chunks",
    ),
    "a golden set": (
        jsonl({"query_id": "q1", "query": "who?", "judgments": [{"chunk_id": "c", "grade": 1}]}),
        "golden",
    ),
    "a golden set without a grade": (
        jsonl({"query_id": "q1", "query": "who?", "judgments": []}),
        "golden",
    ),
    "a log": (jsonl(EVENT), "golden"),
    "a log that begins with a remark": (jsonl(REMARK, EVENT), "golden"),
    "qrels": ("q1 0 c1 3\nq1 0 c2 0\n", "golden"),
    "qrels with comments and tabs": ("# by hand\n\nq1\tQ0\tc1\t1\n", "golden"),
    "BEIR qrels": ("query-id\tcorpus-id\tscore\n1\t184\t2\n", "golden"),
    "Quepid's ratings": ("query,docid,rating\nwho?,d1,3\n", "golden"),
    "ratings line by line": (jsonl({"qid": "q", "docno": "d", "label": 0}), "golden"),
    "judgments line by line": (jsonl({"qid": "q", "docid": "d", "judgment": 3}), "golden"),
    "a table of labels": ("Query,Doc,Relevance Grade\nwho?,d1,3\n", "golden"),
    "grades beside the scores that were judged": (
        jsonl({"query_id": "q", "doc": "d", "score": 0.5, "label": 2}),
        "golden",
    ),
    "our CSV": ("query,docid,rating,query_text,graders,note\nq1,c1,3,who?,Ann,\n", "golden"),
    "a TREC run": ("q1 Q0 c1 1 2.5 bm25\n", "run"),
    "a TREC run between tabs": ("q1\tQ0\tc1\t1\t-1e-3\tbm25\r\n", "run"),
    "a run of lists": (jsonl({"query_id": "q", "results": [{"id": "c", "score": 1}]}), "run"),
    "a run of ids": (jsonl({"qid": "q", "query": "who?", "chunks": ["c1", "c2"]}), "records"),
    "a run line by line": (jsonl({"query_id": "q", "chunk_id": "c", "rank": 1}), "run"),
    "a run without scores": ("query_id,chunk_id\nq1,c1\n", "run"),
    "a table of scores": ("qid,docno,score\nq1,d1,12.5\nq1,d2,3\n", "run"),
    "hits of a search engine": ("query_id,_id,_score\nq1,d1,12.5\nq1,d2,3\n", "run"),
    "similarities": (jsonl({"question": "who?", "doc_id": "d", "similarity": 0.5}), "run"),
    "distances": ("qid,document_id,distance\nq1,d1,1\nq1,d2,2\n", "run"),
    "positions": ("query,docid,position\nwho?,d1,1\n", "run"),
    "positions of answers to an input": ("input,doc,pos,model\nwho?,d1,1,x\n", "run"),
    "positions of chunks with a made-up question": (
        jsonl({"chunk_id": "c1", "text": "Ann", "question": "who?", "position": 1}),
        "chunks",
    ),
    "a run of a system": ("qid,docno,system\nq1,d1,bm25\n", "run"),
    "questions without ids": (jsonl({"question": "who?", "answer": "Ann"}), "queries"),
    "a table of questions without ids": ("question,answer\nwho?,Ann\n", "queries"),
    "queries without ids": ('{"query": "who?", "lang": "en"}', "queries"),
    "Haystack's documents": (jsonl({"id": "1", "content": "Ann", "meta": {}}), "chunks"),
    "LangChain's documents": (jsonl({"id": "1", "page_content": "Ann"}), "chunks"),
    "a table of bodies": ("doc_id,body\nd1,Ann\n", "chunks"),
    "PyTerrier's frame": (
        "qid,docid,docno,rank,score,query\n1,7,d7,0,9.1,who?\n",
        "records",
    ),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("how", ["plain", "gzip", "a byte order mark"])
def test_a_shape_is_known_by_its_content_and_its_reader_takes_it(
    name: str, how: str, tmp_path: Path
):
    content, kind = SHAPES[name]
    data = content.encode("utf-8-sig" if how == "a byte order mark" else "utf-8")
    path = tmp_path / "data"
    path.write_bytes(gzip.compress(data) if how == "gzip" else data)
    found = guess(path)
    assert found.kind == kind, found.why
    assert found.why
    assert guess("data", path.read_bytes()) == found
    if ";" not in content:  # a spreadsheet's semicolons are for the reader to refuse with a remedy
        READERS[kind](path)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("queries.jsonl", "queries"),
        ("topics-2026.jsonl", "queries"),
        ("corpus.jsonl", "chunks"),
        ("my passages.jsonl", "chunks"),
        ("data.jsonl", "queries"),
    ],
)
def test_a_name_decides_only_what_the_content_leaves_open(name: str, kind: str):
    content = jsonl({"_id": "1", "text": "laws of wing flutter"}).encode()
    assert guess(name, content).kind == kind
    assert guess(name, b"q1 0 c1 3\n").kind == "golden"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("qrels.csv", "golden"),
        ("my judgments.csv", "golden"),
        ("run_3.csv", "run"),
        ("my-results.csv", "run"),
        ("truncated.csv", None),
    ],
)
def test_a_name_tells_grades_from_scores_that_are_all_small_numbers(name: str, kind: str | None):
    assert guess(name, b"query_id,chunk_id,score\nq,a,3\nq,b,1\n").kind == kind
    assert guess(name, b"query-id\tcorpus-id\tscore\nq\ta\t3\n").kind == "golden"
    assert guess(name, b"query_id,chunk_id,score\nq,a,3\nq,b,10\n").kind == "run"


@pytest.mark.parametrize(
    ("name", "whole", "fractions"),
    [
        ("data.json", "golden", None),
        ("my_run.json", "run", "run"),
        ("runs/qrels.json", "golden", "golden"),
    ],
)
def test_small_numbers_by_query_are_grades_unless_written_or_named_as_scores(
    name: str, whole: str, fractions: str | None
):
    assert guess(name, b'{"q1": {"a": 3, "b": 1}}').kind == whole
    assert guess(name, b'{"q1": {"a": 3.0, "b": 1.0}}').kind == fractions
    assert guess(name, b'{"q1": {"a": 3.5, "b": 1.0}}').kind == "run"


def zipped(*names: str) -> bytes:
    return zip_files(dict.fromkeys(names, b"{}\n"))


CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"


@pytest.mark.parametrize(
    ("names", "qrels"),
    [
        ((CORPUS, QUERIES, QRELS), "and qrels"),
        ((f"set/{CORPUS}.gz", f"set/{QUERIES}", "set/qrels/dev.tsv"), "and qrels"),
        ((CORPUS, QUERIES, "notes.txt"), "no qrels"),
    ],
)
def test_a_zip_of_a_beir_set_is_known_by_its_files(names: tuple[str, ...], qrels: str):
    found = guess("anything.bin", zipped(*names))
    assert found.kind == "beir"
    assert qrels in found.why


def test_a_folder_of_a_beir_set_is_known_and_another_folder_told_apart(tmp_path: Path):
    (tmp_path / CORPUS).write_text("{}")
    assert guess(tmp_path).kind is None
    assert guess(tmp_path).why == (
        "a folder without queries.jsonl is no BEIR set; give its files one by one, or, where they "
        "are whole texts, the folder to 'labeler load documents'"
    )
    (tmp_path / QUERIES).write_text("{}")
    assert guess(tmp_path).kind == "beir"


WIDE = "query_id,query\nq1,who?\n".encode("utf-16")
UNKNOWN: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "blank": (b"\n  \n# a comment\n", "nothing is in it but blank lines and comments"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it is binary, no text"),
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n", "the file is a PDF"),
    "a web page": (b"\n<!DOCTYPE html>\n<title>Log in</title>", "it is a web page or XML"),
    "UTF-16": (WIDE, "the file is UTF-16; save it as UTF-8"),
    "a database": (b"SQLite format 3\0" + bytes(84), "the file is a database"),
    "a spreadsheet": (zipped("[Content_Types].xml", "xl/workbook.xml"), "it is a spreadsheet"),
    "another zip": (zipped("a.txt"), "without corpus.jsonl and queries.jsonl is no BEIR set"),
    "half a zip": (zipped(CORPUS, QUERIES)[:80], "the zip archive is cut off or damaged"),
    "a table without a header": (b"q1,c7,3\nq1,c8,0\n", "3 columns without a header that names"),
    "columns without a header": (b"1\t184\t2\n1\t29\t2\n", "3 columns without a header"),
    "ids and numbers": (b"q1 c7 3\nq1 c8 0\n", "3 columns without a header"),
    "prose": (b"Dear Ann,\n\nhere are six words for you.\nBob\n", "neither a table nor JSON lines"),
    "six words": (b"here are six words for you\n", "neither a table nor JSON lines"),
    "a JSON list": (b'["a", "b"]', "a JSON list without objects in it"),
    "JSON over several lines": (b'\n{\n "query_id": "q1"\n}', "one JSON object of no known kind"),
    "JSON that ends early": (b'{"query_id": "q', "line 1: not JSON at column 14"),
    "one JSON object": (b'{"q1": {"d1": "x"}}', 'its keys ("q1") do not say what the file holds'),
    "other columns": (b"name,score\nAnn,3\n", "its columns ('name', 'score') do not say what"),
    "texts without ids": (
        b'{"text": "who?", "lang": "en"}',
        "each line has a text, but no id; name it query_id, _id, id or qid",
    ),
    "questions with lists of ids": (
        b"query,expected_ids,retrieved_ids\nwho?,a,b\n",
        "a query per row, with expected_ids, retrieved_ids of no known meaning; a run has a chunk "
        "per row, or in JSON a list under results, golden grades a list under relevant_ids",
    ),
    "pairs with an unknown number": (
        b"query_id,chunk_id,value\nq,a,1\n",
        "a query and a chunk per row, but no score, rank or grade of a known name (left are "
        "value); if 'value' is a grade, name it grade and 'labeler load golden' takes it; if it "
        "orders a run, name it score or rank and 'labeler load run' takes it",
    ),
    "pairs with an unknown number in JSON": (
        b'{"qid": "q", "docid": "d", "is_good": 1}',
        "(left are is_good); if 'is_good' is a grade",
    ),
    "pairs and words": (b"query\tdocid\tcolor\nq\ta\tred\n", "(left are color)"),
    "scores that are grades": (
        b"query_id,chunk_id,score\nq,a,3\nq,b,1\n",
        "all of them 0, 1, 2 or 3: grades as well as scores of a run; if they are grades, take "
        "'labeler load golden', if they order a run, 'labeler load run'",
    ),
    "grades without chunks": (
        b"qid,passage,label\nq1,w1,2\n",
        "a query and a label per row, but no id of a chunk; name it chunk_id, docno, doc_id, docid "
        "or corpus-id (found: qid, passage, label)",
    ),
    "results whose chunk is called id": (
        b"query,id,rank\nq1,c1,1\nq1,c2,2\n",
        "if the id is a chunk's, 'labeler load run' takes it; if it is the query's, 'labeler load",
    ),
    "a query many times beside an id": (b"query,id\nq1,c1\nq1,c2\n", "if the id is a chunk's,"),
    "chunks without ids": (
        b"title,text\na,b\n",
        "each row has a text, but no id; name it chunk_id, _id",
    ),
    "topics without a text": (b'{"query_id": "q", "title": "t"}', "do not say what the file holds"),
}


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_cannot_be_told_is_named_with_what_it_lacks(name: str):
    content, why = UNKNOWN[name]
    found = guess("queries-of-words.trec", content)
    assert found.kind is None
    assert why.replace('"', "'") in found.why.replace('"', "'")
    assert "queries-of-words" not in found.why, "the name stands beside it"


@pytest.mark.parametrize("name", [name for name in UNKNOWN if name != "empty"])
def test_nothing_is_told_of_it_when_it_is_packed_either(name: str):
    content, _ = UNKNOWN[name]
    assert guess("queries.jsonl.gz", gzip.compress(content)).kind is None


def test_a_packed_file_that_is_cut_off_says_so():
    packed = gzip.compress(SHAPES["a TREC run"][0].encode() * 9)
    assert "cut off or damaged" in guess("a.trec.gz", packed[:30]).why


def test_a_file_that_is_not_there_or_cannot_be_is_no_crash(tmp_path: Path):
    assert guess(tmp_path / "nowhere.jsonl").why == "there is no such file"
    assert guess(tmp_path / ("x" * 300)).why == "cannot be opened: File name too long"


def test_only_the_beginning_of_a_large_file_is_read():
    taken = []

    class Counted(io.BytesIO):
        def read1(self, size=-1):
            taken.append(size)
            return super().read1(size)

    line = "q1 Q0 c1 1 2.5 bm25"
    many = f"{line}\n".encode() * 1_000_000
    assert guess("a.trec", many).kind == "run"
    lines = read_head(InputFile("a.trec", len(many), lambda: Counted(many)))
    assert 0 < sum(taken) < 1_000_000
    assert {*lines} == {line, ""}, "the last line of the piece is whole"


def test_a_first_line_that_is_very_long_is_read_whole_up_to_a_limit():
    long = jsonl({"chunk_id": "c1", "text": "x" * 300_000}).encode()
    assert guess("a", long * 2).kind == "chunks"
    endless = b'{"chunk_id": "c1", "text": "' + b"x" * 9_000_000
    assert guess("a", endless).kind is None


def test_a_zip_is_not_unpacked_to_be_known():
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(CORPUS, bytes(50_000_000))
        archive.writestr(QUERIES, b"")
    assert guess("bomb.zip", bomb.getvalue()).kind == "beir"


SAMPLE = Path(__file__).parents[2] / "sample_data"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("queries.jsonl", "queries"),
        ("chunks.jsonl", "chunks"),
        ("judgments.jsonl", "golden"),
        ("runs/bm25.trec", "run"),
        ("README.md", None),
        ("documents/recipes.md", None),
        ("guideline.txt", None),
        ("build.py", None),
    ],
)
def test_the_sample_data_are_what_they_are_under_any_name(name: str, kind: str | None):
    assert guess("data", (SAMPLE / name).read_bytes()).kind == kind
