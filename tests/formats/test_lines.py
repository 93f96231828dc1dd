"""What holds for every reader: bytes, lines, compression, progress."""

import gzip
import os
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.errors import BadInput, NotFound
from labeler.formats import read_chunks, read_golden, read_queries, read_run

READERS = [read_queries, read_chunks, read_run, read_golden]
LINE = b'{"_id": "q1", "text": "why?"}\n'


def put(folder: Path, content: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("read", READERS)
def test_an_empty_file_is_refused_and_never_taken_for_no_records(read, tmp_path):
    with pytest.raises(BadInput, match=r"^a\.x: the file is empty$"):
        read(put(tmp_path, b""), name="a.x")


@pytest.mark.parametrize("read", READERS)
def test_a_name_no_file_can_have_is_one_sentence(read, tmp_path):
    with pytest.raises(BadInput) as error:
        read(tmp_path / ("x" * 300), name="a.x")
    assert str(error.value) == "a.x: cannot be opened: File name too long"


@pytest.mark.parametrize("read", READERS)
def test_a_file_of_blank_lines_is_refused(read, tmp_path):
    with pytest.raises(BadInput, match=r"^a\.x: there is no (query|chunk|result|grade) in it$"):
        read(put(tmp_path, b"\n\r\n  \n"), name="a.x")


@pytest.mark.parametrize("read", READERS)
def test_a_missing_file_and_a_folder_are_told_apart(read, tmp_path):
    with pytest.raises(NotFound) as missing:
        read(tmp_path / "nowhere.jsonl")
    assert str(missing.value) == f"{tmp_path}/nowhere.jsonl: there is no such file"
    with pytest.raises(BadInput) as folder:
        read(tmp_path)
    assert str(folder.value) == f"{tmp_path}: is a folder; a file is needed here"


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfeq\0", "a.x: the file is UTF-16; save it as UTF-8"),
        (
            b"PK\x03\x04....",
            "a.x: the file is a spreadsheet or a zip archive; save it as CSV or JSONL in UTF-8",
        ),
        ('{"_id": 1}\n'.encode("utf-16-le"), "a.x: the file is UTF-16; save it as UTF-8"),
        ("q1 Q0 d\n".encode("utf-16-be"), "a.x: the file is UTF-16; save it as UTF-8"),
        (
            b'{"_id": 1}\r{"_id": 2}\r',
            "a.x: its line ends are carriage returns alone; save it with line ends LF or CRLF",
        ),
        (
            b"PARE\x10\0\0\0....",
            "a.x: the Parquet file is encrypted; save it without encryption",
        ),
        (b'[["a"]]', 'a.x:1: each entry of the list must be an object, not ["a"]'),
        (
            b'{\n "_id": }',
            "a.x:2: not JSON at column 9 (Expecting value)",
        ),
    ],
)
def test_another_kind_of_file_is_named_for_what_it_is(read, content, message, tmp_path):
    with pytest.raises(BadInput) as error:
        read(put(tmp_path, content), name="a.x")
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b'{"_id": "q2", "text": "caf\xe9"}',
            "byte 27 of the line (0xe9) is not UTF-8; save the file as UTF-8",
        ),
        (
            b'{"_id": "q2", text: 1}',
            "not JSON at column 15 (Expecting property name enclosed in double quotes); "
            "each line must be one whole JSON object",
        ),
        (
            b'{"_id": "q2"} {"_id": "q3"}',
            "not JSON at column 15 (Extra data); each line must be one whole JSON object",
        ),
        (b"7", "each line must be one JSON object {...}, not a number"),
        (b"null", "each line must be one JSON object {...}, not null"),
        (
            b'{"_id": "q2", "text": "a\\ud800b"}',
            "the text holds the character \\ud800, which cannot be stored",
        ),
        (
            b'{"_id": "q2", "text": "x", "metadata": {"a": ["\\u0000"]}}',
            "the text holds the character \\u0000, which cannot be stored",
        ),
        (b'{"_id": "q2", "text": "a\0"}', "byte 25 of the line is NUL, which no text can hold"),
        (
            b'{"_id": "q2", "text": "x", "n": NaN}',
            "NaN is not a number that JSON knows; leave the value out",
        ),
        (b'{"_id": "q2", "text": "x", "n": 1e999}', "the number 1e999 is too large"),
        (
            b'{"_id": "q2", "text": "x", "n": ' + b"9" * 5000 + b"}",
            "the JSON holds a number with too many digits",
        ),
        (
            b'{"_id": "q2", "text": "x", "n": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            "the JSON is nested too deeply; 100 levels are the most that is taken",
        ),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_loaded(line, message, tmp_path):
    with pytest.raises(BadInput) as error:
        read_queries(put(tmp_path, LINE + b"\n" + line + b"\n"), name="a.jsonl")
    assert str(error.value) == f"a.jsonl:3: {message}"


def test_bom_crlf_blank_lines_and_a_missing_last_newline_change_nothing(tmp_path):
    plain = read_queries(put(tmp_path, LINE + b'{"_id": "q2", "text": "how?"}\n'))
    odd = read_queries(
        put(tmp_path, b"\xef\xbb\xbf" + LINE[:-1] + b'\r\n\r\n{"_id": "q2", "text": "how?"}')
    )
    assert odd.records == plain.records
    assert (plain.lines, odd.lines) == ([1, 2], [1, 3])


@pytest.mark.parametrize("letter", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_newline_ends_a_line(letter, tmp_path):
    quoted = f'chunk_id,text\nc1,"a{letter}b"\nc2,d\n'.encode()
    loaded = read_chunks(put(tmp_path, quoted))
    assert [chunk.text for chunk in loaded.records] == [f"a{letter}b", "d"]
    assert loaded.lines == [2, 3]


def test_gzip_is_recognised_by_content_whatever_the_name(tmp_path):
    packed = read_queries(put(tmp_path, gzip.compress(LINE), "queries.jsonl"))
    plain = read_queries(put(tmp_path, LINE, "queries.jsonl.gz"))
    assert packed.records == plain.records


@pytest.mark.parametrize("spoil", ["cut", "checksum", "garbage"])
def test_damaged_gzip_is_refused_even_after_good_lines(spoil, tmp_path):
    content = b"".join(b"q%d Q0 d 1 1.5 t\n" % number for number in range(3000))
    packed = gzip.compress(content)
    spoilt = {
        "cut": packed[:-9],
        "checksum": packed[:-8] + b"\0\0\0\0" + packed[-4:],
        "garbage": packed + b"garbage",
    }[spoil]
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, spoilt), name="a.gz")
    place, _, text = str(error.value).partition(": ")
    assert text == "the compressed data are cut off or damaged; copy the file again"
    assert place == ("a.gz:3001" if spoil == "cut" else "a.gz")


def test_the_line_at_which_compressed_data_end_is_named(tmp_path):
    lines = [b"q%d Q0 d%d 1 1.5 t\n" % (number, number * 7919) for number in range(60_000)]
    packed = gzip.compress(b"".join(lines))
    cut = packed[: len(packed) * 2 // 3]
    there = zlib.decompressobj(wbits=31).decompress(cut)
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, cut), name="a.gz")
    line = there.count(b"\n") + 1
    assert str(error.value).startswith(f"a.gz:{line}: the compressed data are cut off")


def test_two_gzip_members_one_after_the_other_are_one_file(tmp_path):
    packed = gzip.compress(b"q1 Q0 a 1 2 t\n") + gzip.compress(b"q2 Q0 b 1 1 t\n")
    assert [ranking.query_id for ranking in read_run(put(tmp_path, packed)).records] == ["q1", "q2"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_progress_rises_to_one_in_few_steps(pack, tmp_path):
    seen: list[float] = []
    numbers = random.Random(7)
    lines = (b"q%d Q0 d%d 1 1.5 t\n" % (n, numbers.randrange(10**18)) for n in range(40_000))
    read_run(put(tmp_path, pack(b"".join(lines))), progress=seen.append)
    assert seen == sorted(set(seen))
    assert seen[-1] == 1.0
    assert 1 < len(seen) <= 201


def test_a_pipe_can_be_read_although_it_has_no_size_and_no_second_time(tmp_path):
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as stream:
        stream.write(b"# a comment\nq1 Q0 a 1 2.5 t\n")
    try:
        loaded = read_run(f"/dev/fd/{read_end}", name="pipe", progress=lambda _: None)
    finally:
        os.close(read_end)
    assert loaded.records[0].chunk_ids == ("a",)


PIECES = [
    *(bytes([letter]) for letter in b"\n\r\t, \"#{}[]:'=1\0\xff"),
    *(b"\x1f\x8b", b"\xef\xbb\xbf", b"-1", b"2.5", b"nan", b"1e999", b"q", b"Q0"),
    *(b'"query_id"', b'"chunk_id"', b'"judgments"', b'"event_id"', b'"grader"', b'"grade"'),
    *(b"null", b"\\ud800", b'"results"', b'"metadata"', b'"buckets"', b'"text"'),
    *(b"query,docid,rating\n", b"id\tquery\ttext\n", b"query\tdocid\tscore\n"),
]  # fmt: skip


@example(content=b"q 0 a\r1\n")
@given(content=st.one_of(st.binary(max_size=99), st.lists(st.sampled_from(PIECES)).map(b"".join)))
def test_no_bytes_whatever_bring_out_anything_but_our_own_error(content, tmp_path_factory):
    path = put(tmp_path_factory.getbasetemp(), content, "any")
    refusals = [refusal(read, path) for read in READERS]
    assert all(text is None or text.startswith("any:") for text in refusals)


def refusal(read, path: Path) -> str | None:
    try:
        read(path, name="any")
    except BadInput as error:
        return str(error)
    return None


def test_a_text_of_two_megabytes_is_read_whole(tmp_path):
    text = 'word, "quoted"\n' * 140_000
    table = 'chunk_id,text\nc1,"' + text.replace('"', '""') + '"\nc2,short\n'
    loaded = read_chunks(put(tmp_path, table.encode()))
    assert loaded.records[0].text == text
    assert loaded.lines == [2, 140_003]
    assert loaded.facts["longest text (characters)"] == len(text)
