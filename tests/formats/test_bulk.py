"""Runs read by the block: exactly what is read line by line, or not taken at all."""

import gzip
import math
import random
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import read_run
from labeler.formats.json_records import TOO_LARGE
from labeler.formats.lines import BLOCK, Block, file_source, open_blocks, open_lines
from labeler.formats.ranked_lists import OnDuplicate, Order
from labeler.formats.runs import _loaded
from labeler.formats.trec_arrow import PackedIds, parse_run_block
from labeler.model import Loaded, Ranking
from tests.support.examples import examples

LINE = b"q Q0 a 1 2.5 t\n"


def put(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def block_of(content: bytes) -> Block:
    return Block(1, content.count(b"\n"), content)


def told(
    path: Path,
    bulk: bool,
    size: int = BLOCK,
    order: Order = "score",
    on_duplicate: OnDuplicate = "refuse",
) -> Loaded[Ranking] | str:
    """Return what reading says of a file, whether records or an error."""
    source = file_source(path, "a.run")
    try:
        with open_blocks(source, size=size) as blocks:
            return _loaded(source, blocks, order, on_duplicate, bulk)
    except BadInput as error:
        return str(error)


def assert_alike(path: Path, **options) -> None:
    """Hold reading by the block, in blocks of all sizes, against reading line by line."""
    careful = told(path, bulk=False, **options)
    for size in (1, 64, BLOCK):
        quick = told(path, bulk=True, size=size, **options)
        assert quick == careful
        assert repr(quick) == repr(careful)  # -0.0 is equal to 0.0, but another score


# Texts: mostly plain, so that most blocks are taken; with everything odd that files hold ----------

IDS = st.one_of(
    st.integers(0, 9).map("d{}".format),
    st.sampled_from(
        [
            "#d",
            "d#1",
            '"d"',
            '"',
            "a,b",
            "a\\tb",
            "\\",
            "é",
            "日本",
            "nan",
            "NULL",
            "007",
            '{"a"',
            "[",
        ]
    ),
    st.sampled_from(
        ["a\u00a0", "\u2003b", "a\x1cb", "\ufeffa", "\x85", "a\x7f", "e\u0301", "x" * 99]
    ),
)
PLAIN_NUMBERS = st.one_of(st.floats(-9, 9).map(repr), st.sampled_from(["1", "1", "2.5", "-1e0"]))
ODD_NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text("0123456789+-.eE_xnaif", min_size=1, max_size=9),
    st.sampled_from(
        ["+5", "0x10", "1_0", "nan", "inf", "Infinity", "1e400", "5e-324", "1.", ".5", "-0.0", "٣"]
    ),
    st.sampled_from([str(2**53), str(2**63), str(-(2**63)), "9" * 400, "0." + "3" * 400, "1e5"]),
)
RANKS = st.integers(1, 30).map(str)
TAGS = st.sampled_from(["t", "t", "t", "u", "é", "\u2003"])


def rows(queries, chunks, ranks, scores):
    cells = st.tuples(queries, st.just("Q0"), chunks, ranks, scores, TAGS)
    return cells.map(lambda row: " ".join(row).encode())


PLAIN_ROWS = rows(st.sampled_from(["q1", "q2", "é"]), IDS, RANKS, PLAIN_NUMBERS)
ODD_LINES = [
    *(b"", b" ", b"# a comment", b"#", b"#q Q0 a 1 2 t", b'{"query_id": "q", "a" 1 }'),
    *(b"q Q0 a 1 2", b"q Q0 a 1 2 t u", b"q Q0 a 1 2 ", b"q  a 1 2 t", b" q a 1 2 t"),
    *(b" q Q0 a 1 2 t", b"q Q0 a 1 2 t ", b"q  Q0 a 1 2 t", b"q Q0 a\t1 2 t"),
    *(b"q Q0 a 1 2 t\r\r", b"q Q0 a\r1 2 t", b"q Q0 a\x0b 1 2 t", b"q Q0\x0c a 1 2 t"),
    *(b"q Q0 a\x1cb 1 2 t", b"q Q0 a\0 1 2 t", b"q Q0 a 1 2 \0", b"q \0 a 1 2 t"),
    *(b"q Q0 \xff 1 2 t", b"q \xff \xc3\xa9 1 2 t", b"q Q0 a 1 2 \xed\xa0\x80"),
]  # fmt: skip
ODD_ROWS = st.one_of(
    rows(st.sampled_from(["q1", "#q", '"q', "\ufeffq"]), IDS, RANKS | ODD_NUMBERS, ODD_NUMBERS),
    st.tuples(PLAIN_ROWS, st.integers(0, 40), st.binary(min_size=1, max_size=2)).map(
        lambda given: given[0][: given[1]] + given[2] + given[0][given[1] :]
    ),
    st.sampled_from(ODD_LINES),
)
CONTENTS = st.one_of(
    st.lists(PLAIN_ROWS, min_size=1, max_size=30),
    st.lists(
        PLAIN_ROWS, min_size=1, max_size=30, unique_by=lambda row: tuple(row.split()[::2][:2])
    ),
    st.lists(st.one_of(PLAIN_ROWS, PLAIN_ROWS, PLAIN_ROWS, ODD_ROWS), min_size=1, max_size=12),
)


@examples(300)
@given(
    lines=CONTENTS,
    end=st.sampled_from([b"\n", b"\n", b"\n", b"\r\n"]),
    separator=st.sampled_from([b" ", b" ", b"\t"]),
    start=st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\n", b"# made by hand\n"]),
    last=st.booleans(),
    order=st.sampled_from(["score", "rank"]),
    on_duplicate=st.sampled_from(["refuse", "first", "first"]),
)
@example(
    lines=[b"q1 Q0 a\xc2\xa0 1 0.0 t", b"q1 \x00Q0 a\xc2\xa0 1 0.0 t"],
    end=b"\n",
    separator=b" ",
    start=b"",
    last=False,
    order="score",
    on_duplicate="refuse",
)
def test_by_the_block_or_line_by_line_is_the_same_to_the_last_word(
    lines, end, separator, start, last, order, on_duplicate, tmp_path_factory
):
    content = start + end.join(line.replace(b" ", separator) for line in lines) + end * last
    path = put(tmp_path_factory.getbasetemp(), content)
    assert_alike(path, order=order, on_duplicate=on_duplicate)


@examples(300)
@given(rank=RANKS | ODD_NUMBERS, score=ODD_NUMBERS)
@example(rank="1", score="2.4703282292062327e-324")
@example(rank="1", score="2.2250738585072011e-308")
@example(rank="1", score="1.7976931348623158e308")
@example(rank="1e5", score="0.1000000000000000055511151231257827021181583404541015625")
def test_a_number_that_is_taken_is_the_number_python_reads(rank, score):
    columns = parse_run_block(block_of(f"q Q0 a {rank} {score} t\n".encode()))
    if columns is not None:
        assert struct.pack("d", columns.scores[0]) == struct.pack("d", float(score))
        assert int(columns.ranks[0]) == float(rank)
        assert "_" not in rank + score
        assert math.isfinite(float(score))


@examples(300)
@given(
    score=st.floats(allow_nan=False, allow_infinity=False),
    write=st.sampled_from([repr, "{:.17g}".format, "{:.3e}".format, "{:.30f}".format]),
)
def test_every_score_is_taken_to_the_last_bit(score, write):
    text = write(score)
    columns = parse_run_block(block_of(f"q Q0 a 1 {text} t\n".encode()))
    assert (columns is None) == (abs(float(text)) >= TOO_LARGE)
    assert columns is None or struct.pack("d", columns.scores[0]) == struct.pack("d", float(text))


ODD_RANKS = [b"0x10", b"1_0", b"1.5", b"nan", b"inf", b"x", "١".encode(), b"%d" % 10**400]
ODD_RANKS += [b"%d" % rank for rank in (2**53, 2**63, -(2**63))]
ODD_SCORES = [b"0x1p3", b"1_0", b"nan", b"-inf", b"1e400", b"x", b"1e", b".", b"1,5", "١".encode()]


@pytest.mark.parametrize(
    "odd",
    [
        *ODD_LINES,
        *(b"q Q0 a %s 2 t" % rank for rank in ODD_RANKS),
        *(b"q Q0 a 1 %s t" % score for score in ODD_SCORES),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_block_with_one_odd_line_is_left_to_the_careful_reader(odd, place, tmp_path):
    lines = [b"q Q0 b 1 2 t", b"q Q0 c 2 1 t"]
    content = b"\n".join([*lines[:place], odd, *lines[place:]])
    for each in (content + b"\n", content)[: 2 if odd else 1]:
        assert parse_run_block(block_of(each)) is None
        assert_alike(put(tmp_path, each))


@pytest.mark.parametrize(
    ("content", "queries", "chunks"),
    [
        (b"q Q0 a 1 2 t", ["q"], ["a"]),
        (b"q\tQ0\ta\t1\t2\tt\n", ["q"], ["a"]),
        (b"q Q0 a 1 2 t\r\np Q0 b 1 2 t\n", ["q", "p"], ["a", "b"]),
        (b'"q Q0 a"b 1 2 t\n', ['"q'], ['a"b']),
        (b"q Q0 a,b 1 2 t\nq Q0 a\\ 2 1 t\n", ["q"], ["a,b", "a\\"]),
        (b"q Q0 NULL 1 2 t\np Q0 nan 1 2 t\nq Q0 # 2 1 t\n", ["q", "p", "q"], ["NULL", "nan", "#"]),
        ("é Q0 a\u00a0 1 .5 t\né Q0 日本 2. -0 t\n".encode(), ["é"], ["a\u00a0", "日本"]),
        (b"007 0 1 -3 1E-7 ''\n", ["007"], ["1"]),
    ],
)
def test_ids_are_taken_as_they_stand_whatever_a_table_would_make_of_them(content, queries, chunks):
    columns = parse_run_block(block_of(content))
    assert columns is not None
    assert columns.queries == queries
    assert columns.chunks.to_pylist() == chunks


def test_a_byte_order_mark_is_part_of_an_id_unless_it_begins_the_file(tmp_path):
    path = put(tmp_path, "\ufeffq Q0 a 1 2 t\n\ufeffq Q0 \ufeffa 1 2 t\n".encode())
    assert_alike(path)
    loaded = told(path, bulk=True, size=1)
    assert isinstance(loaded, Loaded)
    assert [ranking.query_id for ranking in loaded.records] == ["q", "\ufeffq"]


# Blocks ------------------------------------------------------------------------------------------


def many(lines: int) -> list[bytes]:
    numbers = random.Random(7)
    return [
        b"q%d Q0 d%d %d %r t\n" % (n // 100, numbers.randrange(10**9), n % 100 + 1, 100.0 - n % 100)
        for n in range(lines)
    ]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_run_of_several_blocks_is_the_run_line_by_line(pack, tmp_path):
    lines = many(150_000)
    content = b"".join(lines)
    assert len(content) > 2 * BLOCK
    path = put(tmp_path, pack(content))
    seen: list[float] = []
    loaded = read_run(path, name="a.run", progress=seen.append)
    assert loaded == told(path, bulk=False)
    assert loaded.facts["results"] == len(lines)
    assert (seen, seen[-1]) == (sorted(set(seen)), 1.0)
    assert len(seen) > 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("odd", "message"),
    [
        (b"# a comment\n", None),
        (
            b"q Q0 a 1 2\n",
            "100001: 5 columns where a TREC file has 6 (query Q0 chunk rank score tag)",
        ),
        (b"q Q0 a 1 nan t\n", "100001: score must be a finite number, not 'nan'"),
    ],
)
def test_an_odd_line_far_down_changes_neither_what_is_read_nor_what_is_said(
    odd, message, pack, tmp_path
):
    lines = many(150_000)
    path = put(tmp_path, pack(b"".join([*lines[:100_000], odd, *lines[100_000:]])))
    seen: list[float] = []
    if message:
        with pytest.raises(BadInput) as error:
            read_run(path, name="a.run", progress=seen.append)
        assert str(error.value).startswith(f"a.run:{message}")
    else:
        loaded = read_run(path, name="a.run", progress=seen.append)
        assert loaded == told(path, bulk=False)
        assert loaded.facts["comment lines"] == 1
        assert loaded.lines[:2] + loaded.lines[-1:] == [1, 101, 149_902]
        assert seen[-1] == 1.0
    assert seen == sorted(set(seen))


def test_a_list_goes_on_over_blocks_and_after_other_lists(tmp_path):
    content = (
        b"p Q0 a 1 9 t\nq Q0 a 1 9 t\nq Q0 b 2 8 u\n#\np Q0 b 2 10 t\nr Q0 a 1 1 t\nq Q0 c 3 7 t\n"
    )
    for size in range(1, len(content) + 1):
        loaded = told(put(tmp_path, content), bulk=True, size=size)
        assert isinstance(loaded, Loaded)
        assert loaded.records == [
            Ranking("p", ("b", "a"), (10.0, 9.0)),
            Ranking("q", ("a", "b", "c"), (9.0, 8.0, 7.0)),
            Ranking("r", ("a",), (1.0,)),
        ]
        assert loaded.lines == [1, 2, 6]
        assert loaded.facts["tag"] == "t, u"
        assert "disagree in 1 query, such as 'p'" in loaded.warnings[0]


def test_duplicates_and_equal_ranks_are_told_with_their_lines_over_blocks(tmp_path):
    path = put(tmp_path, b"q Q0 a 1 9 t\np Q0 a 1 9 t\nq Q0 b 1 8 t\nq Q0 a 2 7 t\n")
    for size in (1, 20, BLOCK):
        assert told(path, bulk=True, size=size) == (
            "a.run:4: chunk 'a' appears twice for query 'q' (first on line 1); "
            "keep the better placed with --on-duplicate first"
        )
        assert told(path, bulk=True, size=size, order="rank", on_duplicate="first") == (
            "a.run:3: rank 1 appears twice for query 'q' (first on line 1); "
            "ranks must differ (order by score instead)"
        )


@pytest.mark.parametrize("bulk", [False, True])
def test_a_tag_that_is_no_text_is_told_with_its_line(bulk, tmp_path):
    path = put(tmp_path, LINE + b"q Q0 b 2 1 caf\xe9\nq Q0 c 3 1 t\n")
    message = "a.run:2: byte 15 of the line (0xe9) is not UTF-8; save the file as UTF-8"
    assert told(path, bulk) == message


@given(content=st.binary(max_size=60), size=st.integers(1, 70))
@example(content=b"a long line\nand", size=13)
@example(content=b"\n" + b"long" * 10, size=2)
def test_blocks_are_all_the_lines_and_never_half_of_one(content, size, tmp_path_factory):
    content = b"-" + content
    source = file_source(put(tmp_path_factory.getbasetemp(), content), "a")
    try:
        with open_lines(source) as lines:
            expected = list(lines)
    except BadInput:
        return  # another kind of file
    with open_blocks(source, size=size) as blocks:
        found = list(blocks)
    assert b"".join(block.data for block in found) == b"".join(line for _, line in expected)
    starts = dict(expected)
    for block in found:
        assert block.data.startswith(starts[block.number])
        assert block.ends == block.data.count(b"\n")
    assert all(len(block.data) >= size and block.data.endswith(b"\n") for block in found[:-1])


@given(
    parts=st.lists(st.lists(st.sampled_from(["a", "é", "", "bb", "c" * 50]))),
    most=st.integers(0, 99),
)
def test_packed_ids_are_numbered_in_order_of_first_appearance(parts, most):
    packed = PackedIds(most)
    for part in parts:
        packed.extend(part)
    packed.extend(["last"])
    numbers, names = packed.numbered()
    ids = [*(each for part in parts for each in part), "last"]
    assert names.texts().tolist() == list(dict.fromkeys(ids))
    assert names.texts()[numbers].tolist() == ids


@pytest.mark.parametrize(
    ("lines", "loaded"), [(100, set()), (150_000, {"pyarrow"})], ids=["small", "large"]
)
def test_only_a_file_worth_it_loads_pyarrow_and_none_loads_pandas(lines, loaded, tmp_path):
    path = put(tmp_path, b"# a comment\n" + b"".join(many(lines)))
    program = (
        "import sys; from labeler.formats import read_run; read_run(sys.argv[1]);"
        "print(*{'pandas', 'pyarrow'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", program, path]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(answer.stdout.split()) == loaded
