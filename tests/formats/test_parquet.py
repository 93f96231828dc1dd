"""Parquet files: read wherever JSON lines are, with the same result."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labeler.errors import BadInput
from labeler.formats import (
    Limits,
    guess,
    read_answers,
    read_chunks,
    read_documents,
    read_golden,
    read_grades,
    read_queries,
    read_run,
    read_signals,
    stream_candidates,
    stream_run,
)
from labeler.formats.grades import GradeRule
from labeler.formats.lines import LIMITS, RecordLines, file_source, open_lines, peek_line

QUERIES = [
    {"query_id": "q1", "query": "why?", "task": "research", "metadata": {"lang": "en"}},
    {"query_id": "q2", "query": "where?", "task": None, "metadata": {"lang": "de"}},
    {"query_id": "q3", "query": "Wörter\nand lines", "task": "research", "metadata": None},
]
CHUNKS = [
    {"chunk_id": "c1", "text": "body", "title": "T", "position": 3, "tags": ["a", "b"]},
    {"chunk_id": "c2", "text": "", "title": None, "position": None, "tags": []},
    {"chunk_id": "c3", "text": "x" * 5_000, "title": "", "position": 0, "tags": None},
]
RUN = [
    {"query": query, "docid": f"d{number}", "score": 9.5 - number, "rank": number + 1}
    for query in ("q1", "q2")
    for number in range(5)
]
GOLDEN = [
    {"query-id": "q1", "corpus-id": "c1", "score": 1.0},
    {"query-id": "q1", "corpus-id": "c2", "score": 0.0},
    {"query-id": "q2", "corpus-id": "c1", "score": 3.0},
]
NESTED = [
    {
        "query_id": "q1",
        "results": [{"chunk_id": "c1", "score": 2.0}, {"chunk_id": "c2", "score": 1.0}],
    },
    {"query_id": "q2", "results": [{"chunk_id": "c2", "score": 5.0}]},
]
ANSWERS = [
    {"run": "bm25", "query": "q1", "answer": "so", "correct": True},
    {"run": "bm25", "query": "q2", "answer": "no", "correct": False},
]
SIGNALS = [{"date": "2026-01-02", "system": "a", "name": "clicks", "value": 0.5, "n": 7}]


def parquet(path: Path, rows: list[dict[str, Any]] | pa.Table, **options: Any) -> Path:
    """Write rows as a Parquet file."""
    table = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows)
    pq.write_table(table, path, **options)
    return path


def jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON lines, without what is missing."""
    lines = [{key: value for key, value in row.items() if value is not None} for row in rows]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return path


def rows_of(path: Path, limits: Limits = LIMITS) -> list[tuple[int, dict[str, Any]]]:
    """Return all rows of a Parquet file with their numbers."""
    source = file_source(path, limits=limits)
    with open_lines(source) as lines:
        assert isinstance(lines, RecordLines)
        return [*lines.records]


def run_of(path: Path) -> list[Any]:
    found = read_run(path, order="score")
    return [[each.query_id, *each.chunk_ids, *(each.scores or ())] for each in found.records]


READERS: dict[str, tuple[list[dict[str, Any]], Callable[[Path], Any]]] = {
    "queries": (QUERIES, lambda path: [*read_queries(path).records]),
    "chunks": (CHUNKS, lambda path: [*read_chunks(path).records]),
    "run": (RUN, run_of),
    "nested run": (NESTED, run_of),
    "streamed run": (RUN, lambda path: [*stream_run(path).records]),
    "golden": (GOLDEN, lambda path: [*read_golden(path).grades.records]),
    "grades": (GOLDEN, lambda path: read_grades(path, GradeRule())),
    "documents": (
        [{"document_id": "d1", "text": "whole", "year": 2020}],
        lambda path: [*read_documents(path).records],
    ),
    "answers": (ANSWERS, lambda path: [*read_answers(path).records]),
    "signals": (SIGNALS, lambda path: [*read_signals(path).records]),
}


@pytest.mark.parametrize("name", READERS)
def test_parquet_and_json_lines_give_the_same(name: str, tmp_path: Path) -> None:
    rows, read = READERS[name]
    wanted = read(jsonl(tmp_path / "a.jsonl", rows))
    assert wanted
    assert read(parquet(tmp_path / "a.parquet", rows)) == wanted
    assert read(parquet(tmp_path / "small.bin", rows, row_group_size=1)) == wanted
    packed = tmp_path / "a.parquet.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.parquet").read_bytes()))
    assert read(packed) == wanted


@pytest.mark.parametrize("name", ["queries", "chunks", "run", "nested run", "golden", "answers"])
def test_the_kind_of_a_parquet_file_is_guessed_from_its_first_rows(
    name: str, tmp_path: Path
) -> None:
    rows, _ = READERS[name]
    path = parquet(tmp_path / "a.parquet", rows)
    wanted = guess(jsonl(tmp_path / "a.jsonl", rows)).kind
    assert wanted is not None
    assert guess(path).kind == guess("a.parquet", path.read_bytes()).kind == wanted


def test_what_is_guessed_is_said_of_rows_and_columns(tmp_path: Path) -> None:
    rows = [{"query_id": "q", "docno": "c", "rank": 1}]
    assert (
        guess(parquet(tmp_path / "a.parquet", rows)).why == "a query and a chunk per row, with rank"
    )
    unknown = guess(parquet(tmp_path / "b.parquet", [{"a": 1, "b": 2}]))
    assert (unknown.kind, unknown.why.split(";")[0]) == (
        None,
        "its columns ('a', 'b') do not say what the file holds",
    )


def test_a_query_a_row_with_its_questions_in_other_columns_gives_queries(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "a.parquet",
        [{"question": "why?", "doc_id": "c1"}, {"question": "how?", "doc_id": "c1"}],
    )
    assert [each.text for each in read_queries(path).records] == ["why?", "how?"]
    found = [question for _, question in stream_candidates(path, source="generated")]
    assert len(found) == 2


def test_values_are_what_json_would_have(tmp_path: Path) -> None:
    zone = dt.timezone(dt.timedelta(hours=2))
    moment = dt.datetime(2026, 11, 27, 18, 0, 0, 250_000)
    columns = {
        "big": pa.array([2**62 + 1], pa.int64()),
        "larger": pa.array([2**64 - 1], pa.uint64()),
        "small": pa.array([0.1], pa.float32()),
        "half": pa.array([0.5], pa.float16()),
        "whole": pa.array([3.0]),
        "yes": pa.array([True]),
        "at": pa.array([moment], pa.timestamp("us")),
        "nanos": pa.array([1_764_266_400_123_456_789], pa.timestamp("ns")),
        "zoned": pa.array([moment.replace(tzinfo=zone)], pa.timestamp("ms", "+02:00")),
        "day": pa.array([dt.date(2026, 11, 27)]),
        "hour": pa.array([dt.time(18, 30)]),
        "took": pa.array([dt.timedelta(milliseconds=1500)]),
        "exact": pa.array([Decimal("12345678901234567890")]),
        "price": pa.array([Decimal("1.25")]),
        "word": pa.array(["a"]).dictionary_encode(),
        "bytes": pa.array([b"text"]),
        "key": pa.array([b"\xff\x00\x01"]),
        "image": pa.array([b"\xff" * 5_000]),
        "list": pa.array([[1, None, 2]]),
        "map": pa.array([[("a", 1.0), ("b", float("nan"))]], pa.map_(pa.string(), pa.float64())),
        "struct": pa.array([{"a": [{"b": "x", "c": None}], "d": moment}]),
        "infinite": pa.array([float("inf")]),
        "nan": pa.array([float("nan")]),
        "null": pa.nulls(1),
        "none": pa.array([None], pa.string()),
        "__index_level_0__": pa.array([0]),
    }
    [(number, record)] = rows_of(parquet(tmp_path / "a.parquet", pa.table(columns)))
    assert number == 1
    assert record == {
        "big": 2**62 + 1,
        "larger": 2**64 - 1,
        "small": pytest.approx(0.1),
        "half": 0.5,
        "whole": 3.0,
        "yes": True,
        "at": "2026-11-27T18:00:00.250000",
        "nanos": "2025-11-27T18:00:00.123456",
        "zoned": "2026-11-27T18:00:00.250000+02:00",
        "day": "2026-11-27",
        "hour": "18:30:00",
        "took": 1.5,
        "exact": 12345678901234567890,
        "price": 1.25,
        "word": "a",
        "bytes": "text",
        "key": "ff0001",
        "image": "(5,000 bytes)",
        "list": [1, None, 2],
        "map": {"a": 1.0},
        "struct": {"a": [{"b": "x"}], "d": "2026-11-27T18:00:00.250000"},
        "infinite": "inf",
    }


def test_the_first_row_names_all_columns_of_a_known_name(tmp_path: Path) -> None:
    rows = [
        {"query": "q1", "docid": "c1", "grade": None, "other": None},
        {"query": "q1", "docid": "c2", "grade": 2.0, "other": None},
    ]
    path = parquet(tmp_path / "a.parquet", rows)
    assert [record for _, record in rows_of(path)] == [
        {"query": "q1", "docid": "c1", "grade": None},
        {"query": "q1", "docid": "c2", "grade": 2.0},
    ]
    assert [each.chunk_id for each in read_golden(path).grades.records] == ["c2"]


def test_an_error_names_file_and_row(tmp_path: Path) -> None:
    path = parquet(
        tmp_path / "a.parquet", [*GOLDEN, {"query-id": "q3", "corpus-id": "c", "score": 7}]
    )
    with pytest.raises(BadInput, match=r"/a\.parquet:4: grade must be 0, 1, 2 or 3, not 7"):
        read_golden(path)
    path = parquet(tmp_path / "b.parquet", [{"chunk_id": "c", "text": "a"}] * 2, row_group_size=1)
    with pytest.raises(
        BadInput, match=r"/b\.parquet:2: chunk id 'c' is already on line 1; ids mus"
    ):
        read_chunks(path)


@pytest.mark.parametrize(
    ("read", "said"),
    [
        (read_queries, ":1: there is no query id; name it query_id, _id, id or qid"),
        (read_chunks, ":1: there is no chunk id; name it"),
        (read_run, ":1: there is no query id; name it"),
        (read_golden, ":1: neither a golden set (key judgments), nor a log"),
    ],
)
def test_another_schema_is_refused_with_what_is_needed(
    read: Callable[[Path], object], said: str, tmp_path: Path
) -> None:
    path = parquet(tmp_path / "a.parquet", [{"price": 3, "place": "x"}])
    with pytest.raises(BadInput) as error:
        read(path)
    assert str(error.value).startswith(f"{path}{said}")


def test_a_table_column_by_column_is_refused_as_in_json(tmp_path: Path) -> None:
    row = {"query_id": ["q1", "q2"], "chunk_id": ["c1", "c2"], "score": [1.0, 2.0]}
    with pytest.raises(BadInput) as wanted:
        read_run(jsonl(tmp_path / "a.jsonl", [row]))
    with pytest.raises(BadInput) as error:
        read_run(parquet(tmp_path / "a.parquet", [row]))
    assert str(error.value) == str(wanted.value).replace("a.jsonl", "a.parquet")


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    rows = [{"chunk_id": f"c{n}", "text": f"text {n} " * 50} for n in range(2_000)]
    whole = parquet(path, rows, row_group_size=500, compression="none").read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(
        BadInput, match=r"a\.parquet: the Parquet file is cut off or damaged, or no"
    ):
        read_chunks(path)
    path.write_bytes(b"PAR1")
    with pytest.raises(
        BadInput, match=r"a\.parquet: the Parquet file is cut off or damaged, or no"
    ):
        read_chunks(path)
    place = pq.ParquetFile(io.BytesIO(whole)).metadata.row_group(2).column(1).data_page_offset
    path.write_bytes(whole[: place - 30] + b"\xff" * 400 + whole[place + 370 :])
    with pytest.raises(BadInput, match=r"a\.parquet:1001: the Parquet file is cut off or damaged"):
        read_chunks(path)


def test_an_encrypted_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PARE\x10\x00\x00\x00" + b"x" * 100 + b"PARE")
    with pytest.raises(
        BadInput, match=r"a\.parquet: the Parquet file is encrypted; save it without"
    ):
        read_chunks(path)
    assert guess(path).why == "the Parquet file is encrypted; save it without encryption"


def test_a_file_without_rows_has_no_records(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", pa.table({"query_id": pa.array([], pa.string())}))
    with pytest.raises(BadInput, match="there is no query in it"):
        read_queries(path)
    assert guess(path).why == "the file has no rows"


@pytest.mark.parametrize("word", ["PAR1", "PARE", "PAR1: a question", "PARENTAL leave"])
def test_a_text_that_begins_as_parquet_does_is_a_text(word: str, tmp_path: Path) -> None:
    run = tmp_path / "a.trec"
    run.write_text(f"{word.split()[0]} Q0 c1 1 2.5 tag\n")
    assert [each.query_id for each in read_run(run).records] == [word.split()[0]]


def test_texts_that_cannot_be_stored_are_refused_with_their_row(tmp_path: Path) -> None:
    rows = [{"chunk_id": "c1", "text": "a", "metadata": {"b": ["c"]}}] * 3
    for bad in ({"text": "a\0b"}, {"metadata": {"b": ["\0"]}}):
        table = [*rows[:2], {**rows[2], **bad}]
        with pytest.raises(BadInput, match=r"a\.parquet:3: the text holds the character \\u0000"):
            rows_of(parquet(tmp_path / "a.parquet", table))
    broken = pa.array([b"ok", b"\xff\xfe"]).view(pa.string())
    with pytest.raises(
        BadInput, match=r"a\.parquet:2: the column 'text' has a value that cannot be"
    ):
        rows_of(parquet(tmp_path / "a.parquet", pa.table({"text": broken})))


def test_columns_that_cannot_be_keys_are_refused(tmp_path: Path) -> None:
    twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["text", "text"])
    with pytest.raises(BadInput, match=r"a\.parquet: the column 'text' stands twice in it"):
        rows_of(parquet(tmp_path / "a.parquet", twice))


def test_the_limits_of_text_id_depth_line_and_size_count(tmp_path: Path) -> None:
    rows = [{"chunk_id": "c1", "text": "short"}, {"chunk_id": "c" * 40, "text": "y" * 3_000}]
    path = parquet(tmp_path / "a.parquet", rows)
    refused = {
        Limits(
            text=2_999
        ): r":2: the text 'y{20}'… has 3,000 bytes, .*; --limit text=3000 takes it",
        Limits(id=39): r":2: the chunk id 'c{20}'… has 40 bytes, .*; --limit id=40 takes it",
        Limits(line=2_000): r":2: the row has 3,\d\d\d bytes, and 2,000 bytes are the most that is",
        Limits(unpacked=3_000): r": what is unpacked from it ",
    }
    for limits, said in refused.items():
        with pytest.raises(BadInput, match=rf"/a\.parquet{said}"):
            read_chunks(path, limits=limits)
    assert len(read_chunks(path, limits=Limits(text=3_000, id=40, line=3_100)).records) == 2
    deep: Any = "x"
    for _ in range(30):
        deep = [deep]
    nested = parquet(tmp_path / "b.parquet", [{"chunk_id": "c", "deep": deep}])
    with pytest.raises(
        BadInput, match=r"b\.parquet: the nesting of its columns has 31 levels, and"
    ):
        read_chunks(nested, limits=Limits(depth=30))
    assert len(read_chunks(nested).records) == 1


def same_text(path: Path, text: str, rows: int, **options: Any) -> Path:
    """Write few bytes whose rows are all of one text, flat and inside of one row's list."""
    same = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    starts = pa.array([0, *[rows] * rows], pa.int32())
    table = pa.table({"text": same, "list": pa.ListArray.from_arrays(starts, same)})
    how = {"compression": "zstd", "dictionary_pagesize_limit": 10**8, "store_schema": False}
    return parquet(path, table, **how, **options)


def test_a_text_that_is_a_thousand_times_in_few_bytes_is_not_expanded(tmp_path: Path) -> None:
    path = same_text(tmp_path / "a.parquet", "x" * 6_000_000, 1_000)
    assert path.stat().st_size < 50_000
    with pytest.raises(
        BadInput, match=r"a\.parquet:1: the row has 6,006,0\d\d,\d\d\d bytes, and 64 MB"
    ):
        rows_of(path)
    found = rows_of(same_text(tmp_path / "b.parquet", "abc" * 100, 50))
    assert [record["text"] for _, record in found] == ["abc" * 100] * 50
    assert (found[0][1]["list"], found[1][1]["list"]) == (["abc" * 100] * 50, [])


def test_many_batches_and_row_groups_keep_order_and_number(tmp_path: Path) -> None:
    rows = [{"chunk_id": f"c{n}", "text": f"text {n}" * 40, "n": n} for n in range(20_000)]
    path = parquet(tmp_path / "a.parquet", rows, row_group_size=7_000)
    assert rows_of(path) == [*enumerate(rows, 1)]
    loaded = read_chunks(path)
    assert loaded.lines[-1] == 20_000
    assert [each.chunk_id for each in loaded.records] == [row["chunk_id"] for row in rows]


def test_progress_ends_at_one(tmp_path: Path) -> None:
    rows = [{"chunk_id": f"c{n}", "text": "t"} for n in range(20_000)]
    seen: list[float] = []
    read_chunks(parquet(tmp_path / "a.parquet", rows, row_group_size=1_000), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_lines_of_records_are_json_for_readers_of_text(tmp_path: Path) -> None:
    source = file_source(parquet(tmp_path / "a.parquet", [{"a": "Ü"}, {"a": "b"}]))
    with open_lines(source) as raw:
        number, first, lines = peek_line(source, raw)
        assert (number, first) == (1, '{"a": "Ü"}'.encode())
        assert [*lines] == [(1, '{"a": "Ü"}\n'.encode()), (2, b'{"a": "b"}\n')]


@pytest.mark.parametrize(
    "options",
    [
        *({"compression": each} for each in ("none", "zstd", "gzip", "brotli", "lz4")),
        {"data_page_version": "2.0"},
        {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY"}},
        {"use_dictionary": False, "column_encoding": {"text": "DELTA_LENGTH_BYTE_ARRAY"}},
        {"store_schema": False, "version": "1.0"},
    ],
)
def test_every_way_of_writing_is_read(options: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"n": n, "text": f"text {n % 7}", "list": [f"a{n}"] * (n % 3)} for n in range(500)]
    assert rows_of(parquet(tmp_path / "a.parquet", rows, **options)) == [*enumerate(rows, 1)]


def test_maps_lists_and_objects_are_right_in_parts_of_a_batch(tmp_path: Path) -> None:
    rows = [
        {"map": [(f"k{n}", "x" * n)] * (n % 2), "objects": [{"a": "y" * n, "b": None}], "n": n}
        for n in range(40)
    ]
    kinds = pa.schema(
        [
            ("map", pa.map_(pa.string(), pa.string())),
            ("objects", pa.list_(pa.struct([("a", pa.string()), ("b", pa.string())]))),
            ("n", pa.int64()),
        ]
    )
    path = parquet(tmp_path / "a.parquet", pa.Table.from_pylist(rows, kinds))
    assert [record for _, record in rows_of(path, Limits(line=400))] == [
        {"map": {f"k{n}": "x" * n} if n % 2 else {}, "objects": [{"a": "y" * n}], "n": n}
        for n in range(40)
    ]
