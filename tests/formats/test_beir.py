"""BEIR folders and archives."""

import gzip
import zipfile
from pathlib import Path

import pytest

from labeler.errors import BadInput, NotFound
from labeler.formats import read_beir
from labeler.model import Chunk, GoldenGrade, Query

PARTS = {
    "corpus.jsonl": b'{"_id": "c1", "title": "T", "text": "body"}\n{"_id": "c2", "text": "b"}\n',
    "queries.jsonl": b'{"_id": "q1", "text": "why?", "metadata": {}}\n{"_id": "q2", "text": "t"}\n',
    "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\tc1\t2\nq1\tc2\t-1\n",
    "qrels/dev.tsv": b"query-id\tcorpus-id\tscore\nq1\tc1\t1\n",
}


def folder_of(tmp_path: Path, parts: dict[str, bytes]) -> Path:
    folder = tmp_path / "set"
    for part, content in parts.items():
        (folder / part).parent.mkdir(parents=True, exist_ok=True)
        (folder / part).write_bytes(content)
    return folder


def zip_of(tmp_path: Path, parts: dict[str, bytes], root: str) -> Path:
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            archive.writestr(root + part, content)
    return path


def packed(parts: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{part}.gz": gzip.compress(content) for part, content in parts.items()}


@pytest.mark.parametrize(
    "make",
    [
        lambda tmp_path: folder_of(tmp_path, PARTS),
        lambda tmp_path: folder_of(tmp_path, packed(PARTS)),
        lambda tmp_path: zip_of(tmp_path, PARTS, ""),
        lambda tmp_path: zip_of(tmp_path, PARTS, "set/"),
        lambda tmp_path: zip_of(
            tmp_path, {**{f"set/{p}": c for p, c in PARTS.items()}, "__MACOSX/qrels/._x": b"?"}, ""
        ),
    ],
)
def test_a_folder_and_an_archive_give_the_same_and_keep_queries_without_grades(make, tmp_path):
    seen: list[float] = []
    loaded = read_beir(make(tmp_path), negative_as_zero=True, progress=seen.append)
    assert loaded.queries.records == [Query("q1", "why?"), Query("q2", "t")]
    assert loaded.chunks.records == [Chunk("c1", "body", "T"), Chunk("c2", "b")]
    assert loaded.golden.grades.records == [GoldenGrade("q1", "c1", 2), GoldenGrade("q1", "c2", 0)]
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_without_any_qrels_the_golden_set_is_empty(tmp_path):
    parts = {part: PARTS[part] for part in ("corpus.jsonl", "queries.jsonl")}
    assert not read_beir(folder_of(tmp_path, parts)).golden.grades.records


def test_another_split_is_read_when_named(tmp_path):
    loaded = read_beir(folder_of(tmp_path, PARTS), split="dev")
    assert loaded.golden.grades.records == [GoldenGrade("q1", "c1", 1)]


@pytest.mark.parametrize("split", ["train", "../test", "test.tsv"])
def test_a_missing_split_names_those_there_are(split, tmp_path):
    with pytest.raises(NotFound) as error:
        read_beir(folder_of(tmp_path, PARTS), split=split, name="set")
    assert str(error.value) == f"set: there is no qrels/{split}.tsv; the splits are: dev, test"


def test_missing_parts_are_named_together(tmp_path):
    parts = {"qrels/test.tsv": PARTS["qrels/test.tsv"]}
    for path in (folder_of(tmp_path, parts), zip_of(tmp_path, {}, "")):
        with pytest.raises(NotFound) as error:
            read_beir(path, name="set")
        assert str(error.value) == (
            "set: there is no corpus.jsonl and no queries.jsonl; "
            "a BEIR set has corpus.jsonl, queries.jsonl and qrels/test.tsv, or folders of Parquet "
            "called corpus, queries and qrels"
        )


def test_what_is_neither_folder_nor_archive_is_refused(tmp_path):
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(PARTS["corpus.jsonl"])
    with pytest.raises(BadInput, match=r"a BEIR set is a folder or a zip archive; this is nei"):
        read_beir(path)
    with pytest.raises(NotFound, match=r"nowhere: there is no such folder$"):
        read_beir(tmp_path / "nowhere")


def test_a_bad_line_inside_an_archive_is_named_with_its_member(tmp_path):
    parts = {**PARTS, "queries.jsonl": b'{"_id": "q1", "text": "t"}\n{"_id": "q1", "text": "u"}\n'}
    with pytest.raises(BadInput) as error:
        read_beir(zip_of(tmp_path, parts, "set/"), name="set.zip")
    assert str(error.value) == (
        "set.zip/set/queries.jsonl:2: query id 'q1' is already on line 1; ids must differ"
    )


def test_an_archive_that_was_cut_off_is_said_to_be_damaged(tmp_path):
    path = zip_of(tmp_path, PARTS, "")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(BadInput, match="the zip archive is cut off or damaged; copy the file aga"):
        read_beir(path)


def test_a_damaged_archive_is_refused(tmp_path):
    path = zip_of(tmp_path, PARTS, "")
    content = bytearray(path.read_bytes())
    content[60] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"corpus\.jsonl: the compressed data are cut off"):
        read_beir(path)
