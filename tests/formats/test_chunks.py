"""Texts of chunks under the names that other tools give them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from labeler.errors import BadInput
from labeler.formats import read_chunks, read_documents
from labeler.model import Chunk
from labeler.store import Store


def put(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


@pytest.mark.parametrize("name", ["content", "page_content", "body", "chunk", "Page-Content"])
def test_a_text_is_a_text_under_any_of_its_names(name: str, tmp_path: Path):
    line = json.dumps({"id": "d1", name: "Shipping is free.", "meta": {"page": 3}})
    for file, content in (("a.jsonl", line), ("a.csv", f"id,{name}\nd1,Shipping is free.\n")):
        loaded = read_chunks(put(tmp_path, file, content))
        assert [each.text for each in loaded.records] == ["Shipping is free."]
        assert not loaded.warnings


@pytest.mark.parametrize("name", ["doc_id", "doc", "Passage ID", "node_id"])
def test_a_chunk_has_its_id_under_any_of_its_names(name: str, tmp_path: Path):
    loaded = read_chunks(put(tmp_path, "a.jsonl", json.dumps({name: "d-1", "text": "Free."})))
    assert loaded.records == [Chunk("d-1", "Free.")]


def test_a_document_beside_a_chunk_is_its_document(tmp_path: Path):
    loaded = read_chunks(put(tmp_path, "a.csv", "doc_id,chunk_id,text\nD,c1,Free.\n"))
    assert loaded.records == [Chunk("c1", "Free.", document_id="D")]


def test_fields_that_might_be_the_text_are_named_where_no_chunk_has_one(tmp_path: Path):
    loaded = read_chunks(put(tmp_path, "a.jsonl", '{"id": "d1", "words": "Free.", "page": 3}'))
    assert loaded.records[0].metadata == {"words": "Free.", "page": 3}
    assert loaded.warnings == (
        "no chunk has a text; kept as metadata are words, page; if one of them is the text, name "
        "it text, contents or segment",
    )
    assert not read_chunks(put(tmp_path, "b.jsonl", '{"id": "d1"}')).warnings


@pytest.mark.parametrize("content", ['{"chunk_id": "d1", "page": 3}', '{"chunk_id": "d1"}'])
@pytest.mark.parametrize("chunking", ["", "v2"])
def test_an_update_never_replaces_a_text_by_nothing(content: str, chunking: str, tmp_path: Path):
    first = put(tmp_path, "a.csv", "chunk_id,text,title\nd1,Free.,Shipping\n")
    second = put(tmp_path, "b.jsonl", content)
    with Store(tmp_path / "db", create=True) as store:
        store.chunks.load(read_chunks(first), chunking=chunking)
        report = store.chunks.load(read_chunks(second), update=True, chunking=chunking)
        chunk = store.chunks.get(f"{chunking}:d1" if chunking else "d1")
    assert chunk is not None
    assert (chunk.text, chunk.title) == ("Free.", "Shipping")
    assert report.facts["no text here, the text already there kept"] == 1


@pytest.mark.parametrize(
    ("separator", "between"), [("\t", "<TAB>"), (",", ",")], ids=["tabs", "commas"]
)
@pytest.mark.parametrize("more", ["", "x"])
def test_a_header_put_as_the_refusal_says_makes_the_file_load(
    separator: str, between: str, more: str, tmp_path: Path
):
    cells = ["p1", "The warranty lasts two years", *more]
    content = separator.join(cells) + "\n"
    with pytest.raises(BadInput) as refused:
        read_chunks(put(tmp_path, "a", content))
    header = str(refused.value).split("a first line such as ")[1].removesuffix(" above it")
    assert header.startswith(f"chunk_id{between}text")
    content = header.replace("<TAB>", "\t") + "\n" + content
    found = read_chunks(put(tmp_path, "a", content)).records[0]
    assert (found.chunk_id, found.text) == ("p1", "The warranty lasts two years")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"id": "d1", "content": "Free."}', "known by id, now with text"),
        ('{"id": "d1", "words": "Free."}', "known by id, still without text"),
        ('{"id": "d1", "title": "Shipping"}', "known by id, still without text"),
    ],
)
def test_a_chunk_known_by_id_is_with_text_only_if_it_has_one(
    content: str, said: str, tmp_path: Path
):
    first, second = put(tmp_path, "a.jsonl", '{"id": "d1"}'), put(tmp_path, "b.jsonl", content)
    with Store(tmp_path / "db", create=True) as store:
        store.chunks.load(read_chunks(first))
        assert store.chunks.load(read_chunks(second)).facts[said] == 1


@pytest.mark.parametrize("name", ["c.tsv", "c.csv", "c.txt"])
@pytest.mark.parametrize("header", ["chunk_id", "id", "docid"])
def test_a_header_of_one_column_over_rows_with_tabs_is_refused(
    name: str, header: str, tmp_path: Path
):
    path = tmp_path / name
    path.write_text(f"{header}\n0\tOpen at nine.\n1\tShut at five.\n")
    with pytest.raises(BadInput) as error:
        read_chunks(path, name="a")
    assert str(error.value) == (
        "a:2: 2 columns where the header has 1; name each column in the first line, with the "
        "separator of the others"
    )


BLANK = " \n\u00a0\u200b"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("d.csv", f'document_id,text\nd1,"{BLANK}"\n'),
        ("d.jsonl", json.dumps({"document_id": "d1", "text": BLANK}) + "\n"),
        ("d.tsv", f'document_id\ttext\nd1\t"{BLANK}"\n'),
    ],
)
def test_a_document_of_blanks_has_no_text(name: str, content: str, tmp_path: Path):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(BadInput, match="document 'd1' has no text"):
        read_documents(path)


def test_files_of_blanks_in_a_folder_are_left_out(tmp_path: Path):
    for name, text in (("a.md", "Open at nine."), ("b.md", BLANK), ("c.txt", "")):
        (tmp_path / name).write_text(text)
    found = read_documents(tmp_path)
    assert [each.document_id for each in found.records] == ["a.md"]
    assert found.facts["empty files, left out"] == 2


def test_an_update_never_replaces_a_title_by_nothing(tmp_path: Path):
    first = put(tmp_path, "a.csv", "chunk_id,text,title\nd1,Free.,Shipping\n")
    second = put(tmp_path, "b.csv", "chunk_id,text\nd1,Free of charge.\n")
    with Store(tmp_path / "db", create=True) as store:
        store.chunks.load(read_chunks(first))
        store.chunks.load(read_chunks(second), update=True)
        assert store.chunks.get("d1") == Chunk("d1", text="Free of charge.", title="Shipping")
