"""Folders and archives of MTEB and BEIR in Parquet, as they are on the Hugging Face hub."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from labeler.errors import BadInput, NotFound
from labeler.formats import Limits, guess, read_beir
from labeler.formats.beir_parts import part_of
from labeler.model import Chunk, GoldenGrade, Query

CORPUS: list[dict[str, Any]] = [
    {"_id": "c1", "title": "T", "text": "body"},
    {"_id": "c2", "title": "", "text": "b"},
    {"_id": "c3", "title": "U", "text": "c"},
]
QUERIES = [{"_id": "q1", "text": "why?"}, {"_id": "q2", "text": "how?"}]
QRELS = [
    {"query-id": "q1", "corpus-id": "c1", "score": 1.0},
    {"query-id": "q1", "corpus-id": "c3", "score": 2.0},
    {"query-id": "q2", "corpus-id": "c2", "score": 0.0},
]
DEV = [{"query-id": "q2", "corpus-id": "c2", "score": 3.0}]
CHUNKS = [Chunk("c1", "body", "T"), Chunk("c2", "b"), Chunk("c3", "c", "U")]
GRADES = [GoldenGrade("q1", "c1", 1), GoldenGrade("q1", "c3", 2), GoldenGrade("q2", "c2", 0)]


def content(name: str, rows: list[dict[str, Any]]) -> bytes:
    """Return rows in the format that a name's ending says."""
    if name.removesuffix(".gz").endswith(".tsv"):
        lines = ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]
        data = "\n".join(lines).encode()
    elif ".parquet" in name:
        sink = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist(rows), sink)
        data = sink.getvalue().to_pybytes()
    else:
        data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    return gzip.compress(data) if name.endswith(".gz") else data


def folder_of(tmp_path: Path, parts: dict[str, list[dict[str, Any]]]) -> Path:
    folder = tmp_path / "set"
    for name, rows in parts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content(name, rows))
    return folder


def zip_of(tmp_path: Path, parts: dict[str, list[dict[str, Any]]], root: str) -> Path:
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in parts.items():
            archive.writestr(root + name, content(name, rows))
    return path


LAYOUTS: dict[str, dict[str, list[dict[str, Any]]]] = {
    "MTEB, qrels in data": {
        "README.md": [],
        "corpus/corpus-00000-of-00001.parquet": CORPUS,
        "queries/queries-00000-of-00001.parquet": QUERIES,
        "data/test-00000-of-00001.parquet": QRELS,
        "data/dev-00000-of-00001.parquet": DEV,
    },
    "MTEB, qrels in default": {
        "corpus/test-00000-of-00001.parquet": CORPUS,
        "queries/test-00000-of-00001.parquet": QUERIES,
        "default/test-00000-of-00001.parquet": QRELS,
    },
    "several parts": {
        "corpus/train-00000-of-00002.parquet": CORPUS[:2],
        "corpus/train-00001-of-00002.parquet": CORPUS[2:],
        "queries/queries-00000-of-00002-0123456789abcdef.parquet": QUERIES[:1],
        "queries/queries-00001-of-00002-fedcba9876543210.parquet": QUERIES[1:],
        "qrels/test-00000-of-00002.parquet": QRELS[:1],
        "qrels/test-00001-of-00002.parquet": QRELS[1:],
    },
    "plain names": {
        "corpus.parquet": CORPUS,
        "queries.parquet": QUERIES,
        "qrels/test.parquet": QRELS,
        "qrels/dev.parquet": DEV,
    },
    "parts at the top": {
        "corpus-00000-of-00002.parquet": CORPUS[:1],
        "corpus-00001-of-00002.parquet": CORPUS[1:],
        "queries-00000-of-00001.parquet": QUERIES,
        "qrels.parquet": QRELS,
    },
    "converted by the hub": {
        "corpus/corpus/0000.parquet": CORPUS[:1],
        "corpus/corpus/0001.parquet": CORPUS[1:],
        "queries/queries/0000.parquet": QUERIES,
        "default/test/0000.parquet": QRELS,
        "default/dev/0000.parquet": DEV,
    },
    "written by Spark": {
        "corpus/part-00000-1234.snappy.parquet": CORPUS[:1],
        "corpus/part-00001-1234.snappy.parquet": CORPUS[1:],
        "queries/part-00000-1234.snappy.parquet": QUERIES,
        "qrels/part-00000-1234.snappy.parquet": QRELS,
    },
    "all in one configuration": {
        "data/corpus-00000-of-00001.parquet": CORPUS,
        "data/queries-00000-of-00001.parquet": QUERIES,
        "data/qrels-00000-of-00001.parquet": QRELS,
    },
    "JSON lines and Parquet": {
        "corpus.jsonl": CORPUS,
        "queries/queries-00000-of-00001.parquet": QUERIES,
        "qrels/test.jsonl": QRELS,
    },
    "a corpus in JSON lines and Parquet": {
        "corpus/a.jsonl": CORPUS[:1],
        "corpus/b.jsonl.gz": CORPUS[1:2],
        "corpus/c.parquet": CORPUS[2:],
        "queries.jsonl.gz": QUERIES,
        "qrels/test.tsv": QRELS,
    },
    "a text a split": {
        "corpus/corpus.parquet": CORPUS,
        "queries/test.parquet": QUERIES,
        "queries/train.parquet": [{"_id": "q9", "text": "of another split"}],
        "qrels/test.parquet": QRELS,
        "qrels/train.parquet": DEV,
    },
}


@pytest.mark.parametrize("name", LAYOUTS)
@pytest.mark.parametrize(
    "form", ["folder", "zip", "zip of a folder", "zip of a folder called data"]
)
def test_each_layout_gives_the_same_set(name: str, form: str, tmp_path: Path) -> None:
    parts = LAYOUTS[name]
    roots = {"zip": "", "zip of a folder": "set/", "zip of a folder called data": "data/"}
    made = folder_of(tmp_path, parts) if form == "folder" else zip_of(tmp_path, parts, roots[form])
    assert guess(made).kind == "beir"
    seen: list[float] = []
    loaded = read_beir(made, progress=seen.append)
    assert [*loaded.chunks.records] == CHUNKS
    assert [*loaded.queries.records] == [Query("q1", "why?"), Query("q2", "how?")]
    assert [*loaded.golden.grades.records] == GRADES
    assert loaded.chunks.facts["chunks"] == 3
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


@pytest.mark.parametrize("name", ["MTEB, qrels in data", "plain names", "converted by the hub"])
def test_another_split_is_read_when_named_and_a_missing_one_names_those_there_are(
    name: str, tmp_path: Path
) -> None:
    folder = folder_of(tmp_path, LAYOUTS[name])
    assert [*read_beir(folder, split="dev").golden.grades.records] == [GoldenGrade("q2", "c2", 3)]
    with pytest.raises(NotFound) as error:
        read_beir(folder, split="train", name="set")
    assert str(error.value) == "set: there is no qrels/train.tsv; the splits are: dev, test"


def test_texts_by_split_need_the_split(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, LAYOUTS["a text a split"])
    with pytest.raises(NotFound) as error:
        read_beir(folder, split="dev", name="set")
    assert str(error.value) == "set: there are no queries of 'dev'; the splits are: test, train"


def test_the_set_is_the_same_as_in_json_lines(tmp_path: Path) -> None:
    rows = [{**row, "metadata": {"year": 2000 + at}} for at, row in enumerate(CORPUS)]
    lines = {"corpus.jsonl": rows, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}
    wanted = read_beir(folder_of(tmp_path / "a", lines))
    parts = {
        "corpus/corpus-00000-of-00001.parquet": rows,
        "queries/queries-00000-of-00001.parquet": QUERIES,
        "data/test-00000-of-00001.parquet": QRELS,
    }
    found = read_beir(folder_of(tmp_path / "b", parts))
    assert [*found.chunks.records] == [*wanted.chunks.records]
    assert [*found.queries.records] == [*wanted.queries.records]
    assert [*found.golden.grades.records] == [*wanted.golden.grades.records]
    assert found.chunks.facts == wanted.chunks.facts


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"corpus.jsonl": CORPUS}, "set: holds both corpus.parquet and corpus.jsonl; keep one"),
        ({"corpus/a.parquet": CORPUS}, "set: holds both corpus/a.parquet and corpus.parquet; keep"),
        ({"qrels/test.tsv": QRELS}, "set: holds both qrels/test.parquet and qrels/test.tsv; keep"),
        ({"data/test.parquet": QRELS}, "set: holds both data/test.parquet and qrels/test.parquet;"),
        ({"queries.parquet.gz": QUERIES}, "set: holds both queries.parquet and queries.parquet.gz"),
    ],
)
def test_the_same_twice_is_refused(
    more: dict[str, list[dict[str, Any]]], said: str, tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as error:
        read_beir(folder_of(tmp_path, {**LAYOUTS["plain names"], **more}), name="set")
    first, second = said.removeprefix("set: holds both ").split(";")[0].split(" and ")
    assert str(error.value) in (
        f"set: holds both {first} and {second}; keep one of them",
        f"set: holds both {second} and {first}; keep one of them",
    )


def test_an_error_in_a_part_names_the_part_and_the_row_in_it(tmp_path: Path) -> None:
    parts = {**LAYOUTS["several parts"]}
    parts["corpus/train-00001-of-00002.parquet"] = [CORPUS[2], CORPUS[1]]
    with pytest.raises(BadInput) as error:
        read_beir(folder_of(tmp_path, parts), name="set")
    assert str(error.value) == (
        "set/corpus/train-00001-of-00002.parquet:2: chunk id 'c2' is already on line 2 of "
        "set/corpus/train-00000-of-00002.parquet; ids must differ"
    )
    parts = {**LAYOUTS["several parts"]}
    parts["qrels/test-00001-of-00002.parquet"] = [{**QRELS[1], "score": 7.0}]
    with pytest.raises(
        BadInput, match=r"set/qrels/test-00001-of-00002.parquet:1: grade must be 0,"
    ):
        read_beir(folder_of(tmp_path, parts), name="set")


def test_a_damaged_part_is_named(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, LAYOUTS["several parts"])
    part = folder / "corpus/train-00001-of-00002.parquet"
    part.write_bytes(part.read_bytes()[:-30])
    with pytest.raises(
        BadInput, match=r"set/corpus/train-00001-of-00002\.parquet: the Parquet file is"
    ):
        read_beir(folder, name="set")
    part.write_text("no records\n")
    with pytest.raises(
        BadInput, match=r"train-00001-of-00002\.parquet:1: neither JSON lines nor P"
    ):
        read_beir(folder, name="set")


def test_a_folder_without_texts_says_what_a_set_has(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"data/test-00000-of-00001.parquet": QRELS})
    with pytest.raises(NotFound) as error:
        read_beir(folder, name="set")
    assert str(error.value) == (
        "set: there is no corpus.jsonl and no queries.jsonl; a BEIR set has corpus.jsonl, "
        "queries.jsonl and qrels/test.tsv, or folders of Parquet called corpus, queries and qrels"
    )
    assert guess(folder).kind is None


def test_two_sets_in_an_archive_are_refused(tmp_path: Path) -> None:
    layout = LAYOUTS["MTEB, qrels in data"]
    parts = {f"{root}/{name}": rows for root in "ab" for name, rows in layout.items()}
    with pytest.raises(BadInput, match=r"set\.zip: holds 2 BEIR sets \(a, b\); keep one of them"):
        read_beir(zip_of(tmp_path, parts, ""), name="set.zip")


def test_the_limits_hold_inside_of_archives(tmp_path: Path) -> None:
    path = zip_of(tmp_path, LAYOUTS["several parts"], "")
    with pytest.raises(BadInput, match="what is unpacked from it is more than 500 bytes"):
        read_beir(path, name="set.zip", limits=Limits(unpacked=500))


@pytest.mark.parametrize(
    "path",
    [
        *("notes.txt", "train.jsonl", "corpus/readme.md", "data/test.csv", "data/corpus.jsonl"),
        *("data/qrels/test.tsv", "other/corpus.jsonl", "a/b/c/corpus.jsonl", "corpus.tsv"),
    ],
)
def test_other_files_are_no_parts(path: str) -> None:
    assert part_of(path) is None
