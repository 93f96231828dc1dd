"""Files that say two things, or one of them wrongly: refused in plain words, or taken knowingly."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.errors import BadInput
from labeler.formats import (
    read_beir,
    read_chunks,
    read_documents,
    read_golden,
    read_queries,
    read_run,
)
from labeler.model import GoldenGrade, LoadedGolden, Query
from labeler.store import Store
from tests.support.page import empty_golden_set, loaded, open_page, words

READERS = {"queries": read_queries, "chunks": read_chunks, "run": read_run, "golden": read_golden}


def put(folder: Path, content: str | bytes, name: str = "a") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


REFUSED = [
    (
        "queries",
        '{"query_id": "q", "query": "one", "query": "two"}\n',
        "a:1: the key 'query' appears twice in one object; keep one of them",
    ),
    (
        "run",
        '{"query_id": "q", "results": [{"chunk_id": "c", "chunk_id": "d"}]}\n',
        "a:1: the key 'chunk_id' appears twice in one object; keep one of them",
    ),
    (
        "chunks",
        'id\tmetadata\nc\t{"a": 1, "a": 2}\n',
        "a:2: metadata: the key 'a' appears twice in one object; keep one of them",
    ),
    (
        "run",
        '{"query_id": "a", "qid": "b", "chunk_id": "c"}\n',
        "a:1: query id 'a', but qid 'b'; keep one of them",
    ),
    (
        "queries",
        "qid,query_id,query\nb,a,why?\n",
        "a:2: query id 'a', but qid 'b'; keep one of them",
    ),
    (
        "golden",
        '{"query-id": 2, "q_id": 1, "corpus-id": "c", "score": 1}\n',
        "a:1: query id '1', but query-id 2; keep one of them",
    ),
    (
        "run",
        "q Q0 c 1 1e39 t\n",
        "a:1: score '1e39' is larger than a 32-bit number can be (3.4e38)",
    ),
    (
        "run",
        '{"query_id": "q", "chunk_id": "c", "score": -1e39}\n',
        "a:1: score -1e+39 is larger than a 32-bit number can be (3.4e38)",
    ),
    ("run", "q Q0 c 1 ٣ t\n", "a:1: score must be a finite number, not '٣'"),
    ("run", "q Q0 c １ 3 t\n", "a:1: rank must be a whole number, not '１'"),
    ("run", "query,docid,score\nq,c,３\n", "a:2: score must be a finite number, not '３'"),
    ("golden", "q 0 c ٣\n", "a:1: grade must be 0, 1, 2 or 3, not '٣'"),
    ("golden", "query,docid,rating\nq,c,２\n", "a:2: grade must be 0, 1, 2 or 3, not '２'"),
    (
        "golden",
        "q 0 c 2.9999999999999999999\n",
        "a:1: grade must be 0, 1, 2 or 3, not '2.9999999999999999999'",
    ),
    (
        "golden",
        '{"query_id": "q", "chunk_id": "c", "grade": 2.9999999999999999999}\n',
        "a:1: grade must be 0, 1, 2 or 3; this number is 3 only when it is rounded",
    ),
    ("golden", "q 0 c 3e-400\n", "a:1: grade must be 0, 1, 2 or 3, not '3e-400'"),
    (
        "golden",
        '{"event_id": "e", "query_id": "q", "chunk_id": "c", "grader": "A", "grade": 1, '
        '"created_at": "2026-01-31T09:30:00"}\n',
        "a:1: created_at '2026-01-31T09:30:00' says of no time zone; a time in UTC ends with Z",
    ),
    (
        "golden",
        '{"event_id": "e", "query_id": "q", "chunk_id": "c", "grader": "A", "grade": 1, '
        '"created_at": "2026-W05-6"}\n',
        "a:1: created_at must be a time such as 2025-01-31T09:30:00Z, not '2026-W05-6'",
    ),
    (
        "queries",
        '{"query_id": "q", "query": "why?", "buckets": {"": "red"}}\n',
        "a:1: a facet name must not be empty",
    ),
    pytest.param(
        "queries",
        gzip.compress(gzip.compress(b'{"query_id": "q", "query": "why?"}\n')),
        "a: the file is compressed twice; unpack it once",
        id="compressed twice",  # the bytes hold the second they were made in
    ),
]


@pytest.mark.parametrize(("kind", "content", "said"), REFUSED)
def test_what_would_hide_an_error_is_refused(kind, content, said, tmp_path: Path):
    with pytest.raises(BadInput) as error:
        READERS[kind](put(tmp_path, content), name="a")
    assert str(error.value) == said


@pytest.mark.parametrize("grade", ["3 ", " 3", "3.0", "1e0", "+2"])
def test_a_grade_that_can_mean_one_thing_only_is_taken(grade, tmp_path: Path):
    path = put(tmp_path, f"query,docid,rating\nq,c,{grade}\n")
    assert [each.grade for each in read_golden(path).grades.records] == [int(float(grade))]


@pytest.mark.parametrize(
    ("kind", "content", "query_id"),
    [
        ("run", "qid\tdocid\tdocno\tscore\nq\t17\tD1\t1\n", "q"),
        ("run", '{"query_id": "q", "query": "why?", "chunk_id": "c"}\n', "q"),
        ("run", '{"query_id": "q", "qid": "q", "chunk_id": "c"}\n', "q"),
        ("run", '{"query_id": null, "qid": 7, "chunk_id": "c"}\n', "7"),
        ("queries", '{"query_id": "q", "id": 17, "query": "why?"}\n', "q"),
    ],
)
def test_two_names_that_may_differ_do(kind, content, query_id, tmp_path: Path):
    assert READERS[kind](put(tmp_path, content)).records[0].query_id == query_id


def test_the_largest_32_bit_scores_are_taken(tmp_path: Path):
    scores = (3.4028234663852886e38, 1e-50, -3.4028235e38)
    lines = "".join(f"q Q0 c{n} {n} {score!r} t\n" for n, score in enumerate(scores))
    assert read_run(put(tmp_path, lines)).records[0].scores == scores


@pytest.mark.parametrize("date", ["20260101", "2026-W01", "2026-W01-1", "26-01-01", "٢٠٢٦-٠١-٠١"])
def test_a_day_is_written_in_one_way(date, store):
    run = loaded([])
    with pytest.raises(BadInput, match="is not like 2026-01-31"):
        store.runs.load(run, name="a", created_at=date)


def zip_of(path: Path, *parts: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts:
            archive.writestr(name, content)
    return path


QUERIES = b'{"_id": "q1", "text": "why?"}\n'
CORPUS = b'{"_id": "c1", "text": "so"}\n'


@pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # it is what is tried here
@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            [("corpus.jsonl", CORPUS), ("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)],
            "set.zip: holds 'corpus.jsonl' 2 times; keep one of them",
        ),
        (
            [("a/corpus.jsonl", CORPUS), ("b/corpus.jsonl", CORPUS), ("b/queries.jsonl", QUERIES)],
            "set.zip: holds 2 BEIR sets (a, b); keep one of them",
        ),
        (
            [("corpus.jsonl", CORPUS), ("old/corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)],
            "set.zip: holds 2 BEIR sets (its root, old); keep one of them",
        ),
        (
            [
                ("corpus.jsonl", CORPUS),
                ("corpus.jsonl.gz", gzip.compress(CORPUS)),
                ("queries.jsonl", QUERIES),
            ],
            "set.zip: holds both corpus.jsonl and corpus.jsonl.gz; keep one of them",
        ),
    ],
)
def test_an_archive_that_holds_something_twice_is_refused(parts, said, tmp_path: Path):
    with pytest.raises(BadInput) as error:
        read_beir(zip_of(tmp_path / "set.zip", *parts), name="set.zip")
    assert str(error.value) == said


def test_an_encrypted_archive_is_said_to_be_one(tmp_path: Path):
    path = zip_of(tmp_path / "set.zip", ("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES))
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + at] |= 1
            place = data.find(mark, place + 1)
    path.write_bytes(data)
    with pytest.raises(BadInput) as error:
        read_beir(path, name="set.zip")
    assert str(error.value) == "set.zip/corpus.jsonl: is encrypted; pack it without a password"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/null", path)])
@pytest.mark.parametrize("command", [["runs"], ["load", "queries", "asked"]])
def test_a_pipe_or_a_device_is_no_golden_set(make, command, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path, '{"query_id": "q", "query": "why?"}\n', "asked")
    make("odd.db")
    result = CliRunner().invoke(main, ["--db", "odd.db", *command])
    assert result.exit_code == 1
    assert result.output == "Error: odd.db: is a pipe or a device; name a file with --db\n"


@pytest.mark.parametrize("given", [["--facet", ""], []])
def test_a_facet_without_a_name_is_never_a_word_of_the_database(given, tmp_path: Path):
    lines = [f'{{"query_id": "q{n}", "query": "why?", "": "red"}}\n' for n in range(4)]
    path = put(tmp_path, "".join(lines))
    result = CliRunner().invoke(
        main, ["--db", str(tmp_path / "new.db"), "load", "queries", str(path), *given]
    )
    assert "CHECK" not in result.output
    assert result.exit_code == len(given) // 2
    if given:
        said = "a facet is named by a field of the queries, not by nothing"
        assert result.output == f"Error: {path}: {said}\n"


def test_a_download_that_an_id_prevents_says_so_on_the_page(tmp_path: Path):
    database = empty_golden_set(tmp_path)
    with Store(database) as store:
        store.queries.load(loaded([Query("q1", "why?")]))
        grades = [GoldenGrade("q1", "two words", 3)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    app = open_page("data", section="Download")
    assert "qrels cannot carry the chunk id 'two words': it holds a blank; JSONL can" in words(app)
    assert "BEIR cannot carry" not in words(app)
    with Store(database) as store:
        grades = [GoldenGrade("q1", "a\tb", 3)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    app.run()
    assert "BEIR cannot carry the chunk id 'a\\tb': it holds a tab or a line end" in words(app)


# A folder of documents --------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of documents, and one beside it that is nobody's business."""
    for name in ("documents", "secrets"):
        (tmp_path / name).mkdir()
        put(tmp_path / name, f"of {name}", "a.md")
    return tmp_path / "documents"


def test_a_folder_of_documents_brings_in_no_file_from_outside(folder: Path):
    (folder / "b.md").symlink_to(folder.parent / "secrets" / "a.md")
    with pytest.raises(BadInput) as error:
        read_documents(folder, name="documents")
    assert str(error.value) == (
        "documents/b.md: is a link that leads out of the folder; put the file itself in its place"
    )


def test_only_files_and_links_to_them_are_documents_of_a_folder(folder: Path):
    (folder / "b.md").symlink_to(folder / "a.md")
    (folder / "c").symlink_to(folder.parent / "secrets")
    (folder / "d.md").symlink_to(folder)
    os.mkfifo(folder / "e.md")
    (folder / "f.md").symlink_to("/dev/zero")
    read = read_documents(folder).records
    assert [(each.document_id, each.text) for each in read] == [
        ("a.md", "of documents"),
        ("b.md", "of documents"),
    ]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/".join(["x" * 200] * 6), "has 1,208 bytes, and 1,024 bytes are the most that is taken"),
        (os.fsdecode(b"\xff"), "holds a character that cannot be stored"),
    ],
    ids=["a long one", "one that is no text"],
)
def test_a_path_that_can_be_no_id_is_refused_with_its_file(path, said, folder: Path):
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    put(folder, "text", f"{path}.md")
    result = CliRunner().invoke(
        main, ["--db", str(folder.parent / "new.db"), "load", "documents", str(folder)]
    )
    assert result.exit_code == 1
    assert ".md: its path is its id: " in result.output
    assert said in result.output
    assert not (folder.parent / "new.db").exists()
