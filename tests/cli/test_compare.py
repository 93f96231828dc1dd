"""``labeler compare`` on real files: what it prints, and that every number has its words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.analysis.comparison import COVERAGE_NOTE, METHODS_NOTE, SIGNIFICANCE_RULE
from labeler.cli import main
from labeler.evaluation.conventions import format_signed
from labeler.model import GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.page import add_collapsed_bucket, empty_golden_set, loaded

QUERIES = """\
{"query_id": "q1", "query": "how do I get my money back", "task": "single", \
"buckets": {"intent": "refund"}}
{"query_id": "q2", "query": "parcel lost", "task": "research", "buckets": {"intent": "shipping"}}
{"query_id": "q3", "query": "phone number", "buckets": {"intent": "contact"}}
{"query_id": "q4", "query": "opening hours"}
"""
RUN_A = """\
q1 Q0 c3 1 3.0 a
q1 Q0 c1 2 2.0 a
q2 Q0 c2 1 9.5 a
q2 Q0 c3 2 9.0 a
q4 Q0 c3 1 9.0 a
"""
RUN_B = """\
q1 Q0 c1 1 3.0 b
q1 Q0 c3 2 2.0 b
q2 Q0 c9 1 9.5 b
q2 Q0 c8 2 9.0 b
q2 Q0 c2 3 8.0 b
q4 Q0 c3 1 9.0 b
"""
RERANKED = """\
q1 Q0 c1 1 3.0 r
q1 Q0 c3 2 2.0 r
q2 Q0 c3 1 9.5 r
q2 Q0 c2 2 9.0 r
q4 Q0 c3 1 9.0 r
"""
ELSEWHERE = "q3 Q0 c1 1 3.0 e\n"
QRELS = """\
q1 0 c1 3
q1 0 c3 0
q2 0 c2 1
q2 0 c7 2
q4 0 c3 0
"""
CONVENTIONS = (
    "golden d376070d · gain 2^grade−1 · relevant from grade 1 · several graders: lower median · "
    "ideal from all golden grades · "
    "unjudged gains nothing · unjudged chunks of whole lists: top 10 · "
    "nothing relevant: undefined, left out · absent query: 0 · "
    "ties in file order"
)

Labeler = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a labeler command in a folder with four runs and a few grades loaded."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, prog_name="labeler")

    files = {
        "queries.jsonl": QUERIES,
        "a.trec": RUN_A,
        "b.trec": RUN_B,
        "reranked.trec": RERANKED,
        "elsewhere.trec": ELSEWHERE,
        "grades.qrels": QRELS,
    }
    for name, text in files.items():
        Path(name).write_text(text, encoding="utf-8")
        what = {"queries.jsonl": "queries", "grades.qrels": "golden"}.get(name, "run")
        assert invoke("load", what, name).exit_code == 0
    return invoke


def output(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return result.output


def test_the_table_has_b_minus_a_and_what_it_rests_on(run: Labeler) -> None:
    lines = output(run("compare", "a", "b", "--measures", "RR R@1")).splitlines()
    assert lines == [
        "measure       a       b    delta  wins  ties  losses  n  undefined  "
        "unjudged A  unjudged B",
        "RR       0.7500  0.6667  −0.0833     1     0       1  2          1  "
        "         1           2",
        "R@1      0.2500  0.5000  +0.2500     1     0       1  2          1  "
        "         0           1",
        "",
        "measure    delta        95% interval       p  Holm p  finds from  more queries"
        "                               caution",
        "RR       −0.0833  −0.6667 to +0.5000  1.0000  1.0000      1.6343           768"
        "  n 2: too few queries to say anything",
        "R@1      +0.2500  −0.5000 to +1.0000  1.0000  1.0000      2.1012           140"
        "  n 2: too few queries to say anything",
        "",
        CONVENTIONS,
        "! 1 query without any golden grade: left out",
        "! Fewer than 10 queries (n 2): any difference of b from a may be chance",
        "! Too few grades to say who will be ahead by RR: 4 of 7 are given, about 3 more are "
        "likely needed.",
        "! RR −0.0833 is 0.0000 by the chunks found and −0.0833 by their order "
        "(n 2; recall of the whole lists 0.7500 in A, 0.7500 in B)",
        f"! {SIGNIFICANCE_RULE}; Holm's correction over all 2 tests shown; {COVERAGE_NOTE}",
        f"! {METHODS_NOTE}",
    ]


def test_by_facet_a_bucket_that_moves_against_the_total_is_called_out(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "R@1", "--by", "intent"))
    lines = shown.splitlines()
    assert lines[0].startswith("intent    measure       a       b    delta  wins")
    assert [line.split()[0] for line in lines[1:4]] == ["refund", "shipping", "contact"]
    assert lines[3].split()[2:5] == ["–", "–", "–"]
    assert "! judged queries in no bucket of 'intent', so in no row: 1" in lines
    few = "fewer than 10 queries (n 1): a difference may be chance"
    assert [line for line in lines if "fewer than" in line] == [
        f"! intent = refund: {few}",
        f"! intent = shipping: {few}",
    ]
    assert "moves against" not in shown
    assert f"! intent = refund: {few}" in output(run("score", "--by", "intent"))


def test_a_bucket_that_collapsed_is_called_out_beside_who_is_better(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_golden_set(tmp_path)
    add_collapsed_bucket(path)
    monkeypatch.setenv("LABELER_DB", str(path))
    asked = ["compare", "old", "new", "--measures", "RR R@1", "--by", "intent"]
    lines = output(CliRunner().invoke(main, asked)).splitlines()
    assert lines[-8].startswith(
        "! Neither is known to be better: RR +0.2250 (95% +0.0750 to +0.3500, corrected p "
        "0.0130) is more than chance, but unjudged chunks may turn it; also more "
        "than chance: R@1, nDCG@10, "
        "AP. The 40 unjudged chunks in the top 20 could make it "
    )
    assert lines[-7:-3] == [
        "! Once all unjudged chunks are graded, new is ahead on these queries by "
        "RR with 65%; it takes about "
        "all of the 40 open grades to settle it.",
        "! intent = setup moves against the total: R@1 falls by 1.0000 (n 11) from old to new, "
        "but over all queries it rises by 0.4500 (n 40)",
        "! intent = setup moves against the total: RR falls by 0.5000 (n 11) from old to new, "
        "but over all queries it rises by 0.2250 (n 40)",
        "! new only reorders what old found: any difference there is one of order",
    ]


def test_people_are_told_three_buckets_of_a_kind_and_how_many_there_are_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        names = [f"q{n:04}" for n in range(100)]
        store.add_queries(loaded([Query(name, name, buckets={"b": name}) for name in names]))
        for run, chunks in (("a", ("c1", "c2")), ("b", ("c2", "c1"))):
            store.add_run(loaded([Ranking(name, chunks) for name in names]), name=run)
        grades = loaded([GoldenGrade(name, "c1", 3) for name in names])
        store.add_golden(LoadedGolden(loaded([]), grades, loaded([])))
    monkeypatch.setenv("LABELER_DB", str(path))
    asked = ["compare", "a", "b", "--measures", "RR", "--by", "b"]
    lines = output(CliRunner().invoke(main, asked)).splitlines()
    told = [line for line in lines if line.startswith("! ") and "fewer than" in line]
    assert [line.split(":")[0] for line in told] == ["! b = q0000", "! b = q0001", "! b = q0002"]
    assert "! few: 97 more buckets, which --format json has" in lines
    rows = json.loads(output(CliRunner().invoke(main, [*asked, "--format", "json"])))
    kinds = [[note["kind"] for note in row["notes"]] for row in rows]
    assert all(each.count("few") == 1 for each in kinds)


def test_of_more_than_two_runs_all_pairs_are_tested_together(run: Labeler) -> None:
    asked = ("compare", "a", "b", "reranked", "--measures", "RR R@1")
    lines = output(run(*asked)).splitlines()
    heads = "A B measure of A of B delta wins ties losses n undefined unjudged A unjudged B"
    assert " ".join(lines[0].split()) == heads
    pairs = [("a", "b"), ("a", "reranked"), ("b", "reranked")]
    assert [tuple(line.split()[:2]) for line in lines[1:7]] == [p for p in pairs for _ in "12"]
    assert any("Holm's correction over all 6 tests shown" in line for line in lines)
    rows = json.loads(output(run(*asked, "--format", "json")))
    assert [(row["run_a"], row["run_b"]) for row in rows] == [p for p in pairs for _ in "12"]
    assert {row["family"] for row in rows} == {6}
    few = [[note["text"] for note in row["notes"] if note["kind"] == "few"] for row in rows]
    assert few[2] == [
        "Fewer than 10 queries (n 2): any difference of reranked from a may be chance"
    ]
    per_query = json.loads(output(run(*asked, "--per-query", "--format", "json")))
    assert len(per_query) == 3 * 4 * 2
    assert "family" not in per_query[0]


def test_a_pair_without_a_query_in_common_is_said_and_the_others_are_compared(
    run: Labeler,
) -> None:
    asked = ("compare", "a", "b", "elsewhere", "--measures", "RR")
    shown = output(run(*asked))
    assert "! runs 'a' and 'elsewhere' share no query; nothing can be compared" in shown
    rows = json.loads(output(run(*asked, "--format", "json")))
    assert [(row["run_a"], row["run_b"]) for row in rows] == [("a", "b")]
    refused = run("compare", "a", "b", "--strips", "reranked")
    assert refused.exit_code == 2
    assert "--strips are of two runs" in refused.stderr


def test_where_runs_answered_other_queries_a_second_line_has_what_both_answered(
    run: Labeler,
) -> None:
    Path("short.trec").write_text("q1 Q0 c1 1 3.0 s\n", encoding="utf-8")
    assert run("load", "run", "short.trec").exit_code == 0
    lines = output(run("compare", "a", "short", "--measures", "RR")).splitlines()
    assert lines[1].split()[:4] == ["RR", "0.7500", "0.5000", "−0.2500"]
    assert lines[2].split() == ["·", "both", "answered", "0.5000", "1.0000", "+0.5000", "1"]
    asked = ("compare", "a", "short", "--measures", "RR", "--format", "json")
    [row] = json.loads(output(run(*asked)))
    assert (row["n_both"], row["both_a"], row["both_b"]) == (1, 0.5, 1.0)
    assert "both answered" not in output(run("compare", "a", "b", "--measures", "RR"))


def test_what_cannot_be_tested_has_no_number_and_says_why(run: Labeler) -> None:
    asked = ("compare", "a", "b", "--measures", "RR", "--by", "intent", "--format", "json")
    rows = {row["bucket"]: row for row in json.loads(output(run(*asked)))}
    one, none = rows["refund"], rows["contact"]
    for row, why in ((one, "not tested: one query"), (none, "not tested: no query counts")):
        unknown = ("lo", "hi", "p", "p_holm", "detectable", "more_queries", "test", "interval")
        assert [row[name] for name in unknown] == [None] * 8
        assert (row["caution"], row["family"]) == (why, 0)
    assert "nothing could be tested" in one["notes"][-2]["text"]


def test_a_rerank_is_said_plainly(run: Labeler) -> None:
    shown = output(run("compare", "a", "reranked", "--measures", "nDCG@10"))
    assert "! reranked only reorders what a found: any difference there is one of order" in shown
    assert " is 0.0000 by the chunks found and " in shown
    assert "only reorders" not in output(run("compare", "a", "b", "--measures", "nDCG@10"))


def test_the_same_run_under_another_name_is_called_identical(run: Labeler) -> None:
    assert "same as that of run 'a'" in output(run("load", "run", "a.trec", "--name", "copy"))
    shown = output(run("compare", "a", "copy", "--measures", "nDCG@10"))
    assert (
        "! copy is identical to a: the same chunks in the same order for each of 3 queries, with "
        "the same scores\n"
    ) in shown
    assert "nDCG@10  0.0000  0.0000 to 0.0000 (percentile)  1.0000  1.0000" in shown
    assert "all queries alike: no spread to resample" in shown
    assert "reorders" not in shown


def test_strips_show_the_largest_loss_first_and_undefined_queries_last(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "RR", "--strips"))
    lines = shown.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("query"))
    assert lines[at : at + 5] == [
        "query  a    b      RR delta",
        "q2     1 ·  · · 1   −0.6667",
        "q1     0 3  3 0     +0.5000",
        "q3                        –",
        "q4     0    0             –",
    ]
    assert lines[at - 1] == lines[at + 5] == ""
    assert lines[at + 6] == CONVENTIONS


def test_strips_stand_in_markdown_as_text_and_are_refused_to_programs(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "RR", "--strips", "--format", "md"))
    assert "\n\n```text\nquery  a " in shown
    assert "| RR | 0.7500 | 0.6667 | −0.0833 | 1 | 0 | 1 | 2 | 1 | 1 | 2 |" in shown
    for kind in ("json", "csv"):
        refused = run("compare", "a", "b", "--strips", "--format", kind)
        assert refused.exit_code == 2
        assert "--strips are for people" in refused.stderr


def test_json_rows_carry_everything_and_every_digit(run: Labeler) -> None:
    rows = json.loads(output(run("compare", "a", "b", "--measures", "RR", "--format", "json")))
    [row] = rows
    assert row.pop("conventions")["description"] == CONVENTIONS
    kinds = [note["kind"] for note in row.pop("notes")]
    assert kinds == ["ungraded", "few", "once all is graded", "parts", "how sure", "how worked out"]
    bands = {
        name: row.pop(name)
        for name in list(row)
        if name.startswith(("possible_low", "possible_high"))
    }
    bands |= {name: row.pop(name) for name in list(row) if name.startswith("likely_")}
    assert all(row.pop(name) for name in ("possible_exact", "possible_exact_a", "possible_exact_b"))
    for side, value in (("", "delta"), ("_a", "a"), ("_b", "b")):
        lowest, highest = bands.pop(f"possible_low{side}"), bands.pop(f"possible_high{side}")
        low, high = bands.pop(f"likely_low{side}"), bands.pop(f"likely_high{side}")
        assert lowest <= row[value] <= highest
        assert lowest <= low <= high <= highest
    assert not bands
    assert row == {
        "run_a": "a",
        "run_b": "b",
        "measure": "RR",
        "full_name": "RR(rel=1)",
        "a": 0.75,
        "b": 0.6666666666666666,
        "delta": -0.08333333333333337,
        "reason": None,
        "wins": 1,
        "ties": 0,
        "losses": 1,
        "n": 2,
        "undefined": 1,
        "unjudged_a": 1,
        "unjudged_b": 2,
        "missing_a": 0,
        "missing_b": 0,
        "lo": pytest.approx(-2 / 3),
        "hi": pytest.approx(0.5),
        "interval": "BCa",
        "p": 1.0,
        "p_holm": 1.0,
        "test": "exact",
        "family": 1,
        "detectable": pytest.approx(1.6343, abs=1e-4),
        "more_queries": 768,
        "caution": "n 2: too few queries to say anything",
        "n_both": None,
        "both_a": None,
        "both_b": None,
        "lowest_a": 0.75,
        "highest_a": 0.75,
        "lowest_b": 0.6666666666666666,
        "highest_b": 0.6666666666666666,
    }


def test_rows_say_their_query_or_bucket_and_null_for_undefined(run: Labeler) -> None:
    shown = output(
        run("compare", "a", "b", "--measures", "RR P@1", "--per-query", "--format", "json")
    )
    rows = json.loads(shown)
    assert [(row["query_id"], row["measure"]) for row in rows[:3]] == [
        ("q1", "RR"),
        ("q1", "P@1"),
        ("q2", "RR"),
    ]
    assert (rows[0]["wins"], rows[2]["losses"]) == (1, 1)
    q3, q4 = rows[4], rows[6]
    assert (q3["delta"], q3["n"], q3["undefined"]) == (None, 0, 0), "nobody has graded it"
    assert (q4["a"], q4["n"], q4["undefined"]) == (None, 0, 1)
    buckets = json.loads(
        output(run("compare", "a", "b", "--measures", "RR", "--by", "task", "--format", "json"))
    )
    assert [(row["facet"], row["bucket"], row["delta"]) for row in buckets] == [
        ("task", "single", 0.5),
        ("task", "research", 1 / 3 - 1),
    ]


def test_csv_has_a_header_and_empty_cells_for_undefined(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "RR", "--per-query", "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(shown)))
    assert [row["query_id"] for row in rows] == ["q1", "q2", "q3", "q4"]
    assert (rows[0]["delta"], rows[2]["delta"]) == ("0.5", "")
    assert rows[0]["conventions"] == CONVENTIONS


def test_per_query_in_a_terminal_has_no_counts_of_one(run: Labeler) -> None:
    lines = output(run("compare", "a", "b", "--measures", "RR", "--per-query")).splitlines()
    assert lines[0] == "query  measure       a       b    delta  unjudged A  unjudged B"
    assert lines[1] == "q1     RR       0.5000  1.0000  +0.5000           0           0"
    assert lines[3] == "q3     RR            –       –        –           0           0"


def test_options_mean_what_they_mean_for_scores(run: Labeler) -> None:
    shown = output(
        run("compare", "a", "b", "--measures", "R@prompt", "--prompt-k", "1", "--rel", "2")
    )
    assert "R@1 " in shown
    assert "relevant from grade 2" in shown
    classic = output(run("compare", "a", "b", "--preset", "trec_eval"))
    assert "gain = grade" in classic


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["a", "a"], 1, "A and B are both 'a'; choose two different runs"),
        (["a", "z"], 1, "no run is called 'z'; there are: a, b, reranked, elsewhere"),
        (["a", "elsewhere"], 1, "runs 'a' and 'elsewhere' share no query"),
        (["a", "b", "--by", "topic"], 1, "no facet is called 'topic'; there are: "),
        (["a", "b", "--measures", "nDGC@10"], 1, "did you mean nDCG"),
        (["a", "b", "--measures", " "], 1, "no measure is named"),
        (["a"], 2, "Missing argument 'B'"),
        (["a", "b", "--by", "intent", "--per-query"], 2, "cannot be asked for together"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_sentence(
    run: Labeler, arguments: Sequence[str], code: int, words: str
) -> None:
    result = run("compare", *arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert "Traceback" not in result.output


def test_without_queries_or_a_file_it_says_what_to_do(run: Labeler, tmp_path: Path) -> None:
    result = run("--db", str(tmp_path / "typo.db"), "compare", "a", "b")
    assert result.exit_code == 1
    assert not (tmp_path / "typo.db").exists()


def test_a_difference_has_a_sign() -> None:
    assert [format_signed(x) for x in (0.25, -0.25, 0.0, float("nan"))] == [
        "+0.2500",
        "−0.2500",
        "0.0000",
        "–",
    ]
