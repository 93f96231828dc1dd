"""Small files that unpack to much: one sentence, and never the memory they ask for."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from streamlit.testing.v1 import AppTest

import labeler
from labeler.cli import main
from labeler.errors import BadInput
from labeler.formats import (
    Limits,
    parse_limits,
    read_beir,
    read_chunks,
    read_golden,
    read_queries,
    read_run,
)
from labeler.store import Store
from tests.support.page import empty_golden_set, open_page, words

READERS = {
    "queries": read_queries,
    "chunks": read_chunks,
    "run": read_run,
    "golden": read_golden,
}
SIZE = 70_000_000
MEMORY = 400_000_000  # bytes of address space beyond what Python and its libraries take
LOAD = """
import resource, sys
import labeler.cli
import labeler.formats.trec_arrow
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
most = taken + int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_AS, (most, most))
labeler.cli.main(prog_name="labeler")
"""


def packed(unit: bytes, size: int = SIZE) -> bytes:
    """Return a gzip file of one unit again and again."""
    packer = zlib.compressobj(1, wbits=31)
    piece = unit * (1_000_000 // len(unit))
    parts = [packer.compress(piece) for _ in range(size // len(piece))]
    return b"".join([*parts, packer.flush()])


@pytest.fixture(scope="module")
def bombs() -> dict[str, bytes]:
    """A gzip of `SIZE` bytes for each thing that says nothing."""
    return {"one line": packed(b"a"), "blank": packed(b"\n"), "comments": packed(b"# nothing\n")}


def load(database: Path, *arguments: object) -> Result:
    """Run ``labeler load`` in this process."""
    return CliRunner().invoke(main, ["--db", str(database), "load", *map(str, arguments)])


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited as Linux can")
def test_a_bomb_is_one_sentence_in_little_memory(bombs, python, tmp_path: Path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(bombs["one line"])
    loading = python(LOAD, MEMORY, "--db", tmp_path / "new.db", "load", "run", path)
    assert loading.communicate() == (
        "",
        f"Error: {path}:1: the line is more than 64 MB, the most that is taken; "
        "--limit line=128MB takes twice as much\n",
    )
    assert not (tmp_path / "new.db").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "bomb", "said"),
    [
        ("run", "blank", "blank lines and comments"),
        ("run", "comments", "blank lines and comments"),
        ("golden", "comments", "blank lines and comments"),
        ("chunks", "blank", "blank lines"),
    ],
)
def test_a_file_that_begins_with_nothing_for_long_is_one_sentence(
    kind, bomb, said, bombs, tmp_path: Path
):
    path = tmp_path / "bomb.gz"
    path.write_bytes(bombs[bomb])
    result = load(tmp_path / "new.db", kind, path)
    assert result.exit_code == 1
    assert result.output == f"Error: {path}: its first 100,000 lines are nothing but {said}\n"


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize(
    ("bomb", "said"),
    [
        ("one line", ":1: the line is more than 2 MB"),
        ("blank", ": its first 100,000 lines are nothing but"),
        ("comments", ": its first 100,000 lines are nothing but|:1: no column for the"),
    ],
    ids=["one line", "blank", "comments"],
)
def test_no_reader_takes_a_bomb(kind, bomb, said, bombs, tmp_path: Path):
    path = tmp_path / "bomb.gz"
    path.write_bytes(bombs[bomb])
    with pytest.raises(BadInput, match=rf"bomb\.gz({said})"):
        READERS[kind](path, limits=Limits(line=2_000_000))


def test_a_bomb_in_an_archive_is_refused_before_it_is_unpacked(bombs, tmp_path: Path):
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("queries.jsonl", '{"_id": "q1", "text": "why?"}\n')
        archive.writestr("corpus.jsonl", b"a" * 20_000_000)
    with pytest.raises(BadInput) as error:
        read_beir(path, name="set.zip", limits=Limits(unpacked=10_000_000))
    assert str(error.value) == (
        "set.zip: what is unpacked from it is more than 10 MB, the most that is taken; "
        "--limit unpacked=20MB takes twice as much"
    )
    with pytest.raises(BadInput, match=r"set\.zip/corpus\.jsonl:1: the line is more than 1 MB"):
        read_beir(path, name="set.zip", limits=Limits(line=1_000_000))


@pytest.mark.parametrize("kind", READERS)
def test_what_unpacks_to_more_than_the_limit_is_refused_and_taken_with_a_larger_one(
    kind, tmp_path: Path
):
    line = {
        "queries": b'{"query_id": "q%d", "query": "why?"}\n',
        "chunks": b'{"chunk_id": "c%d", "text": "so"}\n',
        "run": b"q%d Q0 c 1 1 t\n",
        "golden": b"q%d 0 c 1\n",
    }[kind]
    path = tmp_path / "a.gz"
    content = b"".join(line % number for number in range(1000))
    path.write_bytes(gzip.compress(content))
    with pytest.raises(BadInput) as error:
        READERS[kind](path, name="a.gz", limits=Limits(unpacked=5_000))
    assert str(error.value) == (
        "a.gz: what is unpacked from it is more than 5,000 bytes, the most that is taken; "
        "--limit unpacked=10000 takes twice as much"
    )
    READERS[kind](path, limits=parse_limits([f"unpacked={len(content)}"]))


def test_a_file_that_is_not_packed_may_be_larger_than_what_may_be_unpacked(tmp_path: Path):
    path = tmp_path / "a.trec"
    path.write_bytes(b"".join(b"q%d Q0 c 1 1 t\n" % number for number in range(1000)))
    assert len(read_run(path, limits=Limits(unpacked=5_000)).records) == 1000


def archive_of(names: Iterator[str]) -> bytes:
    """Return a zip archive of empty files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return data.getvalue()


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path):
    path = tmp_path / "set.zip"
    path.write_bytes(archive_of(f"{number}" for number in range(30)))
    with pytest.raises(BadInput) as error:
        read_beir(path, name="set.zip", limits=Limits(members=20))
    assert str(error.value) == (
        "set.zip: the archive has 30 files, and 20 files are the most that is taken; "
        "--limit members=30 takes it"
    )


def test_an_archive_with_a_huge_list_is_refused_before_the_list_is_read(tmp_path: Path):
    path = tmp_path / "set.zip"
    path.write_bytes(archive_of("x" * 1000 + str(number) for number in range(30)))
    with pytest.raises(BadInput) as error:
        read_beir(path, name="set.zip", limits=Limits(members=20))
    assert str(error.value) == (
        "set.zip: what the archive lists is more than 20 files, the most that is taken; "
        "--limit members=40 takes twice as much"
    )


def test_an_archive_that_lies_about_its_list_is_damaged_and_nothing_else(tmp_path: Path):
    path = tmp_path / "set.zip"
    data = bytearray(archive_of(["corpus.jsonl"]))
    struct.pack_into("<L", data, len(data) - 10, 0xFFFFFFF0)
    path.write_bytes(data)
    with pytest.raises(BadInput, match="cut off or damaged"):
        read_beir(path)


def test_a_quote_that_is_never_closed_ends_at_the_limit_of_a_row(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'id,text\nc1,good\nc2,"' + b"a\n" * 1_000_000)
    with pytest.raises(BadInput) as error:
        read_chunks(path, name="a.csv", limits=Limits(line=100_000))
    assert str(error.value) == (
        "a.csv:3: the row that begins here is more than 100000 bytes, the most that is taken; "
        "--limit line=200000 takes twice as much"
    ).replace("100000 ", "100,000 ")


def test_a_header_of_very_many_columns_is_told_in_few_words(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_bytes(b",".join(b"c%d" % number for number in range(200_000)) + b"\n")
    with pytest.raises(BadInput, match=r"no column for the query id.*199,9\d\d more") as refused:
        read_queries(path)
    assert len(str(refused.value)) < 1_000


@pytest.mark.parametrize("exactly", [10, 999, 300_000])
def test_a_line_of_the_limit_is_taken_and_one_byte_more_is_not(exactly, tmp_path: Path):
    path = tmp_path / "a.jsonl"
    good = '{"query_id": "q1", "query": "why?"}\n'
    path.write_text(good + good.replace("q1", "q2").replace("why?", "w" * 500_000))
    size = len(good) - 1
    assert read_queries(path).lines == [1, 2]
    with pytest.raises(BadInput, match=r"a\.jsonl:2: the line is more than"):
        read_queries(path, name="a.jsonl", limits=Limits(line=max(size, exactly)))
    with pytest.raises(BadInput, match=r"a\.jsonl:1: the line is more than"):
        read_queries(path, name="a.jsonl", limits=Limits(line=size - 1))


@pytest.mark.parametrize(
    ("reader", "content"),
    [
        ("chunks", '{"chunk_id": "c1", "text": "%s"}\n'),
        ("chunks", "id,text\nc1,%s\n"),
        ("chunks", '{"chunk_id": "c1", "text": "a", "metadata": {"a": [{"b": "%s"}]}}\n'),
        ("queries", '{"query_id": "q1", "query": "%s"}\n'),
        ("golden", '{"query_id": "q1", "chunk_id": "c", "grade": 1, "note": "%s"}\n'),
    ],
)
def test_a_text_is_limited_in_bytes_wherever_it_stands(reader, content, tmp_path: Path):
    path = tmp_path / "a"
    path.write_text(content % ("é" * 1000))
    line = 2 if content.startswith("id") else 1
    with pytest.raises(BadInput) as error:
        READERS[reader](path, name="a", limits=Limits(text=1999))
    assert str(error.value) == (
        f"a:{line}: the text '{'é' * 20}'… has 2,000 bytes, and 1,999 bytes are the most that is "
        "taken; --limit text=2000 takes it"
    )
    READERS[reader](path, limits=Limits(text=2000))


LONG = "é" * 600
LONG_IDS = [
    ("queries", f'{{"query_id": "{LONG}", "query": "why?"}}\n', "query"),
    ("chunks", f'{{"chunk_id": "{LONG}"}}\n', "chunk"),
    ("chunks", f'{{"chunk_id": "c", "document_id": "{LONG}"}}\n', "document"),
    ("chunks", f"id,text\n{LONG},a\n", "chunk"),
    ("run", f"{LONG} Q0 c 1 1 t\n", "query or chunk"),
    ("run", f"q Q0 {LONG} 1 1 t\n", "query or chunk"),
    ("run", f'{{"query_id": "q", "results": ["{LONG}"]}}\n', "chunk"),
    ("run", f'{{"query_id": "q", "results": [{{"chunk_id": "{LONG}"}}]}}\n', "chunk"),
    ("golden", f"q 0 {LONG} 1\n", "query or chunk"),
    ("golden", f"query,docid,rating\nq,{LONG},1\n", "chunk"),
    ("golden", f'{{"event_id": "{LONG}", "grader": "A", "query_id": "q"}}\n', "event"),
]


@pytest.mark.parametrize(("reader", "content", "what"), LONG_IDS)
def test_an_id_of_more_than_a_kilobyte_is_refused_by_every_reader(
    reader, content, what, tmp_path: Path
):
    path = tmp_path / "a"
    path.write_text(content)
    line = 2 if "," in content.split("\n")[0] and not content.startswith("{") else 1
    with pytest.raises(BadInput) as error:
        READERS[reader](path, name="a")
    assert str(error.value) == (
        f"a:{line}: the {what} id '{'é' * 20}'… has 1,200 bytes, and 1,024 bytes are the most "
        "that is taken; --limit id=1200 takes it"
    )


def test_a_long_id_in_a_run_read_in_bulk_is_refused_as_well(tmp_path: Path):
    path = tmp_path / "a.trec"
    lines = [f"q Q0 c{number} {number} {-number} t\n" for number in range(120_000)]
    lines[100_000] = f"q Q0 {'x' * 1025} 1 -100000 t\n"
    path.write_text("".join(lines))
    with pytest.raises(BadInput, match=r"^a\.trec:100001: the query or chunk id 'x+'… has 1,025"):
        read_run(path, name="a.trec")
    assert len(read_run(path, limits=Limits(id=1025)).records[0].chunk_ids) == 120_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"chunk_id": "c", "metadata": {"a": %s%s}}\n', "a:1: the JSON's nesting"),
        ('id\tmetadata\nc\t{"a": %s%s}\n', "a:2: metadata: the JSON's nesting"),
    ],
)
def test_json_is_limited_in_depth_in_lines_and_in_cells(content, said, tmp_path: Path):
    path = tmp_path / "a"
    path.write_text(content % ("[" * 99, "]" * 99))
    found = 101 if content.startswith("{") else 100
    with pytest.raises(BadInput) as error:
        read_chunks(path, name="a", limits=Limits(depth=found - 1))
    assert str(error.value) == (
        f"{said} has {found} levels, and {found - 1} levels are the most that is taken; "
        f"--limit depth={found} takes it"
    )
    assert len(read_chunks(path, limits=Limits(depth=found)).records) == 1
    path.write_text(content % ("[" * 50_000, "]" * 50_000))
    with pytest.raises(BadInput, match="the JSON is nested too deeply; 500 levels are the most"):
        read_chunks(path, limits=Limits(depth=500))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("text", "--limit: 'text' must be one of depth, id, line, members, text, unpacked, =, and "
         "a number, such as text=32MB"),
        ("words=3", "--limit: 'words=3' must be one of"),
        ("text=-3", "--limit: 'text=-3' must be one of"),
        ("text=0", "the limit text is a whole number from 1, not 0"),
        ("depth=501", "the limit depth goes up to 500, not 501"),
    ],
)  # fmt: skip
def test_a_limit_that_is_none_is_one_sentence(given, said):
    with pytest.raises(BadInput) as error:
        parse_limits([given])
    assert str(error.value).startswith(said)


def test_the_option_that_a_message_names_takes_the_file(tmp_path: Path):
    path = tmp_path / "chunks.jsonl"
    path.write_text(f'{{"chunk_id": "{"c" * 1025}", "text": "a"}}\n')
    refused = load(tmp_path / "new.db", "chunks", path)
    assert refused.output.endswith("; --limit id=1025 takes it\n")
    taken = load(tmp_path / "new.db", "files", path, "--limit", "id=1025")
    assert taken.exit_code == 0
    assert taken.output.startswith("chunks from")


@pytest.mark.slow
def test_what_is_stored_already_is_held_to_no_limit(tmp_path: Path):
    path = tmp_path / "chunks.jsonl"
    path.write_text(f'{{"chunk_id": "{"c" * 2000}", "text": "a"}}\n')
    assert load(tmp_path / "new.db", "chunks", path, "--limit", "id=2000").exit_code == 0
    out = tmp_path / "out"
    export = ["--db", str(tmp_path / "new.db"), "export", str(out), "--format", "beir"]
    assert CliRunner().invoke(main, export).exit_code == 0
    assert "c" * 2000 in (out / "corpus.jsonl").read_text()


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path)])
@pytest.mark.parametrize("kind", [*READERS, "beir", "files"])
def test_pipes_and_devices_are_refused_at_once(make, kind, tmp_path: Path):
    path = tmp_path / "odd"
    make(path)
    result = load(tmp_path / "new.db", kind, path)
    assert result.exit_code == 1
    assert result.output in (
        f"Error: {path}: is a pipe or a device; write what it gives to a file first\n",
        f"Error: {path}: a BEIR set is a folder or a zip archive; this is neither\n",
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
@pytest.mark.parametrize("file", ["gate", "runs"])
def test_a_device_is_no_gate_file_and_no_runs_that_passed(
    file, python, filled: Store, tmp_path: Path
):
    path = Path("/dev/zero")
    if file == "runs":
        path = tmp_path / "gate.toml"
        path.write_text('run = "first"\nlast_passing = "/dev/zero"\n[overall]\nRR = {drop = 0.1}\n')
    judging = python(LOAD, MEMORY, "--db", filled.path, "gate", path)
    assert "/dev/zero: has more than 10,000,000 bytes; that is not a" in judging.communicate()[1]
    assert judging.returncode == 2


def test_what_comes_through_an_open_pipe_is_bounded():
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as stream:
        stream.write(b"q1 Q0 a 1 2.5 t\n" * 100)
    try:
        with pytest.raises(BadInput, match="what is unpacked from it is more than 1,000 bytes"):
            read_run(f"/dev/fd/{read_end}", limits=Limits(unpacked=1000))
    finally:
        os.close(read_end)


def test_a_message_names_the_limit_as_python_has_it(tmp_path: Path):
    path = tmp_path / "a.trec.gz"
    path.write_bytes(gzip.compress(b"q Q0 c 1 1 t\n" * 100_000))
    few = labeler.Limits(unpacked=1_000_000)
    with pytest.raises(BadInput, match=r"; limits=labeler\.Limits\(unpacked=2000000\) takes twice"):
        labeler.evaluate({"q": {"c": 1}}, {"A": path}, "RR", limits=few)
    path.write_bytes(gzip.compress(b"q Q0 c 1 1 t\n"))
    frame = labeler.evaluate({"q": {"c": 1}}, {"A": path}, "RR", limits=few)
    assert frame.value.tolist() == [1.0]


def test_the_data_page_says_its_limits_and_refuses_a_bomb_in_one_sentence(bombs, tmp_path: Path):
    empty_golden_set(tmp_path)
    app: AppTest = open_page("data")
    assert "200 MB per file, 1 GB unpacked" in words(app)
    app.file_uploader[0].set_value([("bomb.gz", bombs["one line"], "")])
    app.run()
    [kind] = [box for box in app.selectbox if (box.key or "").startswith("kind-")]
    kind.set_value("chunks").run()
    [button] = [each for each in app.button if each.label == "Load 1 file"]
    button.click().run()
    said = words(app)
    assert "bomb.gz:1: the line is more than 64 MB" in said
    assert "On this page limits are fixed" in said
    assert not app.exception


def packed_rows(path: Path, text: str, rows: int) -> None:
    """Write a Parquet file of few bytes whose rows are all of one text, also inside of lists."""
    same = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([text]))
    starts = pa.array(range(rows + 1), pa.int32())
    table = pa.table({"a": same, "b": pa.ListArray.from_arrays(starts, same)})
    how = {"compression": "zstd", "dictionary_pagesize_limit": 10**8, "store_schema": False}
    pq.write_table(table, path, **how)
    assert path.stat().st_size < 50_000


LOOK_THROUGH = LOAD.replace(
    "import labeler.formats.trec_arrow", "import pyarrow.parquet, pyarrow.compute"
)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is limited as Linux can")
def test_a_parquet_file_of_a_text_a_thousand_times_is_looked_through_in_little_memory(
    python, filled: Store, tmp_path: Path
):
    path = tmp_path / "bomb.parquet"
    packed_rows(path, "x" * 2_000_000, 1_000)
    looking = python(
        *(LOOK_THROUGH, MEMORY, "--db", filled.path, "leakage", path, "--limit", "unpacked=20MB")
    )
    assert looking.communicate() == (
        "",
        f"Error: {path}: what is unpacked from it is more than 20 MB, the most that is taken; "
        "--limit unpacked=40MB takes twice as much\n",
    )


def test_a_text_of_parquet_is_limited_and_the_option_that_is_named_takes_it(
    filled: Store, tmp_path: Path
):
    path = tmp_path / "long.parquet"
    packed_rows(path, "y" * 3_000, 1)
    command = ["--db", str(filled.path), "leakage", str(path), "--limit"]
    refused = CliRunner().invoke(main, [*command, "text=2999"])
    assert refused.output == (
        f"Error: {path}:1: the text '{'y' * 20}'… has 3,000 bytes, and 2,999 bytes are the most "
        "that is taken; --limit text=3000 takes it\n"
    )
    assert CliRunner().invoke(main, [*command, "text=3000"]).exit_code == 0
