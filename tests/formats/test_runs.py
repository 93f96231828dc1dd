"""Files of ranked lists."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import read_run
from labeler.model import Ranking

LIST = [("a", 2.5), ("b", 2.5), ("c", -1.0)]


def put(folder: Path, text: str | bytes) -> Path:
    path = folder / "file"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def trec(rows: list[tuple[str, str, object, object]]) -> str:
    return "".join(f"{q} Q0 {chunk} {rank} {score} tag\n" for q, chunk, rank, score in rows)


FORMATS = {
    "trec": "# made by hand\nq1 Q0 c 3 -1e0 x\nq1\tQ0\ta  1 2.5 x\r\n\nq1 Q0 b 2 25e-1 x",
    "flat jsonl": "\n".join(
        json.dumps({"query_id": "q1", "chunk_id": chunk, "score": score})
        for chunk, score in [LIST[2], *LIST[:2]]
    ),
    "nested jsonl": json.dumps(
        {
            "query_id": "q1",
            "results": [{"chunk_id": chunk, "score": score} for chunk, score in LIST],
        }
    ),
    "csv": "Query,DocID,Score,extra\nq1,c,-1,\nq1,a,2.5,x\nq1,b,2.5,x\n",
    "tsv": "qid\tdocno\tdocid\tscore\nq1\tc\t0\t-1\nq1\ta\t1\t2.5\nq1\tb\t2\t2.50\n",
}


@pytest.mark.parametrize("content", FORMATS.values(), ids=FORMATS.keys())
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_format_gives_the_same_list_by_score_with_ties_in_file_order(content, pack, tmp_path):
    loaded = read_run(put(tmp_path, pack(content.encode())))
    assert loaded.records == [Ranking("q1", ("a", "b", "c"), (2.5, 2.5, -1.0))]
    assert loaded.facts["queries with tied scores"] == 1
    assert loaded.facts["depth"] == 3


def test_ids_alone_stay_in_file_order_and_have_no_scores(tmp_path):
    content = '{"qid": 1, "chunks": ["b", 7]}\n{"qid": "2", "results": []}\n'
    loaded = read_run(put(tmp_path, content))
    assert loaded.records == [Ranking("1", ("b", "7")), Ranking("2", ())]
    assert loaded.facts == {"queries": 2, "depth": "0 to 2", "results": 2}


def test_an_empty_list_in_a_scored_run_is_a_list_with_no_scores_yet_scored(tmp_path):
    content = '{"qid": 1, "results": []}\n{"qid": 2, "results": [{"id": "a", "score": 1}]}\n'
    assert read_run(put(tmp_path, content)).records == [
        Ranking("1", (), ()),
        Ranking("2", ("a",), (1.0,)),
    ]


def test_without_scores_the_rank_decides(tmp_path):
    table = "query,docid,rank\nq,b,2\nq,a,1.0\n"
    assert read_run(put(tmp_path, table)).records == [Ranking("q", ("a", "b"))]


def test_the_rank_column_decides_when_asked_and_the_disagreement_is_told_both_ways(tmp_path):
    path = put(tmp_path, trec([("q", "a", 2, 9), ("q", "b", 1, 5)]))
    by_score, by_rank = read_run(path), read_run(path, order="rank")
    assert by_score.records == [Ranking("q", ("a", "b"), (9.0, 5.0))]
    assert by_rank.records == [Ranking("q", ("b", "a"), (5.0, 9.0))]
    assert by_score.warnings == (
        "the rank column and the scores disagree in 1 query, such as 'q'; "
        "the score decides here (--order rank takes the other)",
    )
    assert by_rank.warnings == (
        "the rank column and the scores disagree in 1 query, such as 'q'; "
        "the rank decides here (--order score takes the other)",
    )


def test_scores_are_compared_as_64_bits_and_ties_counted_as_32_bits(tmp_path):
    rows = [("q", "a", 1, "1.00000000001"), ("q", "b", 2, "1.00000000002")]
    loaded = read_run(put(tmp_path, trec(rows)))
    assert loaded.records[0].chunk_ids == ("b", "a")
    assert loaded.facts["queries with tied scores"] == 1


def test_lists_may_be_mixed_and_lines_name_where_each_begins(tmp_path):
    rows = [("q1", "a", 1, 3), ("q2", "a", 1, 3), ("q1", "b", 2, 1), ("q2", "b", 2, 1e30)]
    loaded = read_run(put(tmp_path, "\n" + trec(rows)), name="a.trec")
    assert [loaded.where(0), loaded.where(1)] == ["a.trec:2", "a.trec:3"]
    assert loaded.facts == {
        "queries": 2,
        "depth": 2,
        "results": 4,
        "queries with tied scores": 0,
        "tag": "tag",
    }


def test_two_tags_in_a_file_are_told(tmp_path):
    loaded = read_run(put(tmp_path, "q Q0 a 1 2 x\nq Q0 b 2 1 y\n"))
    assert loaded.facts["tag"] == "x, y"
    assert loaded.warnings == ("the file holds 2 tags; a run should be of one system",)


def test_only_ascii_blanks_separate_columns_and_hash_lines_are_comments(tmp_path):
    loaded = read_run(put(tmp_path, "#q Q0 a 1 2 x\nq\u00a01 Q0 a\u2003b\x1cc 1 2 x\n"))
    assert loaded.records == [Ranking("q\u00a01", ("a\u2003b\x1cc",), (2.0,))]
    assert loaded.facts["comment lines"] == 1


def test_duplicates_are_refused_with_every_line_named(tmp_path):
    rows: list[tuple[str, str, object, object]] = [("q", "x", 1, 9), ("q", "y", 2, 8)]
    rows += [("q", "x", 3, 7), ("p", "x", 1, 9), ("q", "y", 4, 6)]
    path = put(tmp_path, trec(rows))
    with pytest.raises(BadInput) as error:
        read_run(path, name="a.trec.gz")
    assert str(error.value) == (
        "a.trec.gz:3: chunk 'x' appears twice for query 'q' (first on line 1); also line 5; "
        "keep the better placed with --on-duplicate first"
    )


def test_of_many_duplicates_ten_lines_are_named_and_the_rest_counted(tmp_path):
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, trec([("q", "x", n, 1) for n in range(13)])), name="a")
    assert "also lines 3, 4, 5, 6, 7, 8, 9, 10, 11 and 2 more;" in str(error.value)


def test_the_better_placed_duplicate_stays_even_where_it_comes_later(tmp_path):
    rows = [("q", "x", 3, 1), ("q", "y", 2, 2), ("q", "x", 1, 3)]
    loaded = read_run(put(tmp_path, trec(rows)), on_duplicate="first")
    assert loaded.records == [Ranking("q", ("x", "y"), (3.0, 2.0))]
    assert loaded.facts["duplicates dropped"] == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q Q0 a 1 nan t\n", "1: score must be a finite number, not 'nan'"),
        ("q Q0 a 1 -inf t\n", "1: score must be a finite number, not '-inf'"),
        ("q Q0 a 1 1e400 t\n", "1: score must be a finite number, not '1e400'"),
        ("q Q0 a 1 1_0 t\n", "1: score must be a finite number, not '1_0'"),
        ("q Q0 a 1.5 2 t\n", "1: rank must be a whole number, not '1.5'"),
        (f"q Q0 a {2**63} 2 t\n", f"1: rank must be a whole number, not '{2**63}'"),
        (
            "q Q0 a 1 2 t\nq Q0 b 2 1\n",
            "2: 5 columns where a TREC file has 6 (query Q0 chunk rank score tag); "
            "a CSV or TSV file needs a header such as query,docid,score",
        ),
        (
            "q,a,1.5\n",
            "1: 1 column where a TREC file has 6 (query Q0 chunk rank score tag); "
            "a CSV or TSV file needs a header such as query,docid,score",
        ),
        (
            b"q Q0 caf\xe9 1 2 t\n",
            "1: byte 9 of the line (0xe9) is not UTF-8; save the file as UTF-8",
        ),
        ("q Q0 a\0b 1 2 t\n", "1: byte 7 of the line is NUL, which no text can hold"),
        (
            "query;docid;score\nq;a;1\n",
            "1: the columns stand between semicolons; save with commas or tabs",
        ),
        (
            "query,docid,score\nq,a,1\nq,b,\n",
            "3: no score here, but one on the lines before; "
            "all results of a file need one, or none",
        ),
        (
            '{"qid": "q", "chunk_id": "a"}\n{"qid": "q", "chunk_id": "b", "score": 1}\n',
            "2: a score here, but none on the lines before; "
            "all results of a file need one, or none",
        ),
        (
            '{"qid": "q", "chunk_id": "a", "score": NaN}\n',
            "1: NaN is not a number that JSON knows; leave the value out",
        ),
        (
            '{"qid": "q", "chunk_id": "a", "score": true}\n',
            "1: score must be a finite number, not true",
        ),
        (
            '{"qid": "q", "chunk_id": "a", "score": 1' + "0" * 400 + "}\n",
            "1: score must be a finite number, not 1" + "0" * 58 + "…",
        ),
        (
            '{"qid": "q", "results": ["a"]}\n{"qid": "q", "results": ["b"]}\n',
            "2: query 'q' has a list already, on line 1",
        ),
        ('{"qid": "q", "results": [["a", 1]]}\n', "1: a chunk id must be text, not ['a', 1]"),
        (
            '{"q": "q"}\n',
            "1: there is no query id; name it query_id, qid, q_id, query-id, query or query_text",
        ),
        (
            "query,docid,rank\nq,a,1\nq,b,1\n",
            "3: rank 1 appears twice for query 'q' (first on line 2); ranks must differ "
            "(or leave the ranks out)",
        ),
        ("query,docid,rank\nq,a,1\nq,b,\n", "3: no rank here; every result needs one"),
        ("query,docid,score\n", " there is no result in it"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_loaded(content, message, tmp_path):
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, content), name="a.run")
    assert str(error.value) == f"a.run:{message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            trec([("q", "a", 1, 3), ("q", "b", 1, 2), ("q", "c", 1, 1)]),
            "2: rank 1 appears twice for query 'q' (first on line 1); also line 3; "
            "ranks must differ (order by score instead)",
        ),
        ("query,docid,score\nq,a,1\n", "2: no rank here; every result needs one"),
    ],
)
def test_ranks_that_cannot_decide_are_refused_when_they_should(content, message, tmp_path):
    path = put(tmp_path, content)
    assert read_run(path).records
    with pytest.raises(BadInput) as error:
        read_run(path, order="rank", name="a.run")
    assert str(error.value) == f"a.run:{message}"


def test_an_unknown_order_is_refused_before_the_file_is_read(tmp_path):
    with pytest.raises(BadInput, match=r"^a run is read by score or rank, not 'best'"):
        read_run(tmp_path / "nowhere", order="best")  # type: ignore[arg-type]


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2"]),
            st.integers(0, 40),
            st.sampled_from([0.0, 0.5, 1e-9, 3.25, -7.0]),
        ),
        min_size=1,
        unique_by=lambda row: row[:2],
    )
)
def test_a_list_is_never_anything_but_its_results_in_stable_order(rows, tmp_path_factory):
    content = "".join(f"{q} Q0 d{chunk} 1 {score!r} t\n" for q, chunk, score in rows)
    loaded = read_run(put(tmp_path_factory.getbasetemp(), content))
    for ranking in loaded.records:
        mine = [(f"d{chunk}", score) for q, chunk, score in rows if q == ranking.query_id]
        ordered = sorted(mine, key=lambda result: -result[1])
        assert list(zip(ranking.chunk_ids, ranking.scores or (), strict=True)) == ordered
