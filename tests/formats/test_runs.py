"""Files of ranked lists."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeler.errors import BadInput
from labeler.formats import read_golden, read_run
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
    "csv of other names": "Question,doc,_score\nq1,c,-1\nq1,a,2.5\nq1,b,2.5\n",
    "jsonl of other names": "\n".join(
        json.dumps({"Query-ID": "q1", "id": chunk, "Relevance Score": score})
        for chunk, score in [LIST[2], *LIST[:2]]
    ),
    "nested jsonl of other names": json.dumps(
        {
            "question": "q1",
            "Results": [{"_id": chunk, "similarity": score} for chunk, score in LIST],
        }
    ),
    "distances": "qid,docno,distance\nq1,c,1.0\nq1,a,-2.5\nq1,b,-2.5\n",
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


def test_scores_are_compared_as_64_bits_and_ties_of_32_bits_are_those_of_trec_eval(tmp_path):
    rows = [("q", "a", 1, "1.00000000001"), ("q", "b", 2, "1.00000000002")]
    loaded = read_run(put(tmp_path, trec(rows)))
    assert loaded.records[0].chunk_ids == ("b", "a")
    assert loaded.facts["queries with tied scores"] == "0, under the preset trec_eval 1"
    same = trec([*rows, ("p", "a", 1, "2.0"), ("p", "b", 2, "2.0")])
    tied = read_run(put(tmp_path, same)).facts["queries with tied scores"]
    assert tied == "1, under the preset trec_eval 2"


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
            "1: the columns are separated by semicolons; save with commas or tabs",
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
    with pytest.raises(BadInput, match=r"^a run is read by score, rank or file, not 'best'"):
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


SCORES = ["_score", "similarity", "relevance_score", "rrf_score", "Cosine Similarity", "scores"]
RANKS = ["rank", "position", "pos", "Ranking"]


def listed(name: str, values: list[object], shape: str) -> str:
    """Return one list of chunks a, b, ... with these values under a name."""
    rows = [("q", chr(97 + at), value) for at, value in enumerate(values)]
    if shape == "csv":
        return f"query_id,chunk_id,{name}\n" + "".join(f"{q},{c},{v}\n" for q, c, v in rows)
    if shape == "jsonl":
        records = [{"query_id": q, "chunk_id": c, name: v} for q, c, v in rows]
        return "".join(f"{json.dumps(each)}\n" for each in records)
    return json.dumps({"query_id": "q", "results": [{"id": c, name: v} for _, c, v in rows]})


SHAPES = pytest.mark.parametrize("shape", ["csv", "jsonl", "nested"])


@SHAPES
@pytest.mark.parametrize("name", SCORES)
def test_a_score_under_any_of_its_names_orders_a_run(name, shape, tmp_path):
    loaded = read_run(put(tmp_path, listed(name, [1.5, 9.5, 4.5, 2.5], shape)))
    assert loaded.records == [Ranking("q", ("b", "c", "d", "a"), (9.5, 4.5, 2.5, 1.5))]
    assert "left" not in loaded.facts
    assert not loaded.warnings


@SHAPES
@pytest.mark.parametrize("name", RANKS)
def test_a_rank_under_any_of_its_names_orders_a_run_without_scores(name, shape, tmp_path):
    loaded = read_run(put(tmp_path, listed(name, [3, 1, 2], shape)))
    assert loaded.records == [Ranking("q", ("b", "c", "a"))]
    assert not loaded.warnings


def test_a_position_beside_a_score_is_no_rank_unless_ranks_decide(tmp_path):
    table = "query_id,chunk_id,score,position\nq,a,2,7\nq,b,1,7\n"
    loaded = read_run(put(tmp_path, table))
    assert (loaded.warnings, loaded.facts["left"]) == ((), "position")
    ranked = put(tmp_path, "query_id,chunk_id,score,position\nq,a,2,2\nq,b,1,1\n")
    assert read_run(ranked, order="rank").records[0].chunk_ids == ("b", "a")


@SHAPES
def test_the_smallest_distance_is_best_and_it_is_said(shape, tmp_path):
    loaded = read_run(put(tmp_path, listed("distance", [0.5, 0.25, 0.75], shape)))
    assert loaded.records == [Ranking("q", ("b", "a", "c"), (-0.25, -0.5, -0.75))]
    assert loaded.warnings == ("the smallest distance is best; scores are minus the distances",)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("query_id,chunk_id,score,rerank_score\nq,a,1,2\n", 2),
        ('{"qid": "q", "docno": "a", "score": 1, "rerank_score": 2}', 1),
        ('{"qid": "q", "chunks": ["x", {"id": "a", "score": 1, "rerank_score": 2}]}', 1),
    ],
)
def test_two_fields_that_could_both_be_the_score_are_refused(content, line, tmp_path):
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, content), name="a")
    assert str(error.value) == (
        f"a:{line}: 'score' and 'rerank_score' could both be the score; leave one of them out"
    )


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("query_id,chunk_id,score,color,source_node\nq,a,1,red,x\n", "color, source_node"),
        ('{"query_id": "q", "chunk_id": "a", "score": 1, "color": "red"}', "color"),
        (
            '{"qid": "q", "query": "why", "results": [{"id": "a", "text": "t", "score": 1}]}',
            "query, text",
        ),
    ],
)
def test_what_is_not_read_is_named(content, left, tmp_path):
    assert read_run(put(tmp_path, content)).facts["left"] == left


@pytest.mark.parametrize("more", ["", ",weight"])
def test_a_table_that_nothing_orders_says_that_the_order_of_the_file_counts(more, tmp_path):
    value = ",1" if more else ""
    path = put(tmp_path, f"query_id,chunk_id{more}\nq,b{value}\nq,a{value}\n")
    loaded = read_run(path)
    assert loaded.records[0].chunk_ids[0] == "b"
    assert loaded.warnings == (
        "neither a score nor a rank is named, so the order of the file counts, best first; "
        "name a column score or rank, or say --order file",
    )
    assert not read_run(path, order="file").warnings


@pytest.mark.parametrize("column", ["system", "run", "Run ID", "tag"])
@pytest.mark.parametrize("shape", ["csv", "jsonl", "nested"])
def test_a_table_of_several_systems_is_no_run(column, shape, tmp_path):
    systems = ["bm25", "dense", "bm25", "hybrid"]
    if shape == "csv":
        rows = "".join(f"q{at},a,{at},{each}\n" for at, each in enumerate(systems))
        content, line = f"query_id,chunk_id,score,{column}\n{rows}", 3
    else:
        result = {"results": ["a"]} if shape == "nested" else {"chunk_id": "a", "score": 1}
        records = [{"query_id": "q", column: each, **result} for each in systems]
        content, line = "\n".join(map(json.dumps, records)), 2
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, content), name="a")
    assert str(error.value).startswith(f"a:{line}: ")
    assert "names 3 systems (bm25, dense, hybrid), and a run is of one; give each" in str(error)


def test_the_one_system_of_a_table_is_named_as_a_tag_is(tmp_path):
    loaded = read_run(put(tmp_path, "query_id,chunk_id,score,system\nq,a,2,bm25\nq,b,1,bm25\n"))
    assert loaded.facts["tag"] == "bm25"
    assert not loaded.warnings


@SHAPES
def test_scores_that_rise_in_every_list_may_be_distances(shape, tmp_path):
    path = put(tmp_path, listed("score", [0.1, 0.2, 0.2, 0.7, 0.9], shape))
    loaded = read_run(path)
    assert loaded.records[0].chunk_ids[0] == "e"
    assert loaded.warnings == (
        "the scores never fall from line to line in any list (3 times they rise): are they "
        "distances? The highest counts as best; --order file takes the file's order",
    )
    by_file = read_run(path, order="file")
    assert by_file.records[0].chunk_ids == ("a", "b", "c", "d", "e")
    assert not by_file.warnings


@pytest.mark.parametrize(
    "values", [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3, 0.4, 0.3], [5.0, 4.0, 3.0, 2.0], [1.0] * 6]
)
def test_scores_that_fall_or_are_few_are_not_asked_about(values, tmp_path):
    assert not read_run(put(tmp_path, listed("score", values, "csv"))).warnings


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("query,expected_ids,retrieved_ids", "query, expected_ids, retrieved_ids"),
        ("qid\tpassage\tlabel", "qid, passage, label"),
        ("question,answer", "question, answer"),
    ],
)
def test_a_table_without_chunks_is_told_which_column_it_lacks(header, found, tmp_path):
    content = header + "\n" + header.replace("q", "x") + "\n"
    with pytest.raises(BadInput) as error:
        read_run(put(tmp_path, content), name="a")
    assert str(error.value) == (
        "a:1: no column for the chunk id; name it chunk_id, docno, doc_id, docid or corpus-id "
        f"(found: {found})"
    )
    with pytest.raises(BadInput, match=r"^a:1: no column for the chunk id; .*\(found: "):
        read_golden(tmp_path / "file", name="a")
