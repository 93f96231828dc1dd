"""Qrels read by the column: exactly the grades that are read line by line, or not taken at all."""

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import Limits, read_golden, read_grades
from labeler.formats.grades import GradeRule
from labeler.formats.lines import file_source, open_blocks
from labeler.formats.trec import GradesByQuery, read_plain_qrels
from tests.support.examples import examples

RULES = [
    GradeRule(),
    GradeRule(negative_as_zero=True),
    GradeRule(negative_as_ungraded=True),
    GradeRule(grade_map={0.5: 1, 4.0: 3}),
]
ODD_LINES = [
    b"",
    b" ",
    b"# q 0 a",
    b"#q 0 a 1",
    b"q 0 a",
    b"q 0 a 1 t",
    b"q 0 a b 1",
    b"\xff 0 a 1",
    b"q \xff a 1",
    b"q\xc3\xa9 \xff a 1",
    b"q \0 a 1",
    b"q 0 a\0 1",
    b"query-id 0 corpus-id 1",
    b"query\t0\tdocid\t2",
    b"[q] 0 a 1",
    b"{ q a 1",
    b'"Query","DocID" 0 x 1',
    b"q\x1c 0 a\x1fb 1",
    b"q\x0b0\x0ca\r1",
    b"\xef\xbb\xbfq 0 a 1",
    b"q 0 " + b"long" * 5 + b" 1",
]
PLAIN_LINES = st.builds(
    "{} {} {} {}".format,
    st.sampled_from(["q1", "q2", "q3", "é", "日本", "007"]),
    st.sampled_from(["0", "Q0", "x"]),
    st.sampled_from([*"abcdefgh", "ü", "a\u00a0b", "#"]),
    st.sampled_from(["0", "1", "2", "3", "1.0", "+2", "0.5", "4", "-1", "-2", "nan", "x", "1_0"]),
).map(str.encode)
GRADED = st.builds(
    "{} 0 {} {}".format, st.sampled_from("pq"), st.integers(0, 999), st.integers(0, 3)
).map(str.encode)


def put(folder: Path, content: bytes) -> Path:
    path = folder / "file"
    path.write_bytes(content)
    return path


def carefully(path: Path, rule: GradeRule, limits: Limits) -> GradesByQuery | str:
    """Return what the reader of golden sets makes of a file: grades by query, or its error."""
    given = (rule.negative_as_zero, rule.grade_map, rule.negative_as_ungraded)
    names = ("negative_as_zero", "grade_map", "negative_as_ungraded")
    try:
        read = read_golden(path, **dict(zip(names, given, strict=True)), limits=limits)
    except BadInput as error:
        return str(error)
    found: GradesByQuery = {}
    for each in [*read.grades.records, *read.ungraded.records]:
        found.setdefault(each.query_id, {})[each.chunk_id] = each.grade
    return found


def told(path: Path, rule: GradeRule, limits: Limits) -> GradesByQuery | str:
    try:
        return read_grades(path, rule, limits)
    except BadInput as error:
        return str(error)


@examples(400)
@given(
    lines=st.lists(GRADED, min_size=1, max_size=30)
    | st.lists(GRADED | PLAIN_LINES, min_size=1, max_size=8)
    | st.lists(GRADED | PLAIN_LINES | st.sampled_from(ODD_LINES), min_size=1, max_size=8),
    end=st.sampled_from([b"\n", b"\r\n"]),
    start=st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\n", b"# made by hand\n"]),
    last=st.booleans(),
    rule=st.sampled_from(RULES),
    pack=st.sampled_from([bytes, gzip.compress]),
)
def test_by_the_column_or_line_by_line_the_grades_and_their_order_are_the_same(
    lines, end, start, last, rule, pack, tmp_path_factory
):
    path = put(tmp_path_factory.getbasetemp(), pack(start + end.join(lines) + end * last))
    limits = Limits(id=16)
    careful, quick = carefully(path, rule, limits), told(path, rule, limits)
    assert quick == careful
    assert repr(quick) == repr(careful)  # dicts that differ in their order are equal
    for size in (1, 64) if isinstance(careful, dict) else ():
        with open_blocks(file_source(path), size=size) as blocks:
            plain = read_plain_qrels(blocks, rule, limits.id)
        assert plain is None or repr(plain) == repr(careful)


PLAIN = b"q1 0 a 2\nq1\tQ0\tb  0\r\n\nq2 0 a 3"


def test_plain_qrels_are_read_by_the_column(tmp_path):
    with open_blocks(file_source(put(tmp_path, PLAIN))) as blocks:
        found = read_plain_qrels(blocks, GradeRule(), 16)
    assert found == {"q1": {"a": 2, "b": 0}, "q2": {"a": 3}}


@pytest.mark.parametrize("odd", [b"q1 0 a 1", b"q1 0 a 2", b"q3 0 c -1", b"q3 0 c 4", b"q3 0 c"])
def test_a_file_with_one_odd_line_is_left_to_the_careful_reader(odd, tmp_path):
    rule = GradeRule(negative_as_ungraded=True)
    with open_blocks(file_source(put(tmp_path, PLAIN + b"\n" + odd))) as blocks:
        assert read_plain_qrels(blocks, rule, 16) is None


def test_qrels_come_through_a_pipe_that_can_be_read_once(tmp_path):
    inner, outer = os.pipe()
    os.write(outer, PLAIN)
    os.close(outer)
    with os.fdopen(inner):
        found = read_grades(f"/dev/fd/{inner}", GradeRule())
    assert found == {"q1": {"a": 2, "b": 0}, "q2": {"a": 3}}
