"""``labeler compare`` on real files: what it prints, and that every number has its words."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.analysis.comparison import (
    DecisionRules,
    ShownPair,
    compare,
    comparison_table,
)
from labeler.analysis.run_verdict import PairResult, judge_pair
from labeler.cli import main
from labeler.evaluation import Conventions, Scoreboard
from labeler.evaluation.conventions import format_signed
from labeler.model import GoldenGrade, LoadedGolden, Query, Ranking
from labeler.model.results import NOTE, Table
from labeler.render.results import markdown_table, statements_records, text_table
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
SHORT_CONVENTIONS = "golden d376070d · --explain says how this is computed"

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


def test_the_answer_comes_first_then_one_table_then_what_is_to_know(run: Labeler) -> None:
    lines = output(run("compare", "a", "b", "--measures", "RR R@1")).splitlines()
    at, end = lines.index(""), lines.index(SHORT_CONVENTIONS)
    assert lines[:at] == [
        "Too few queries to compare a and b: 2.",
        "+0.1157 nDCG@10, from 0.4532 to 0.5689.",
        "2 of 4 queries (1 not graded, 1 with nothing relevant): b is better on 1, worse on 1.",
        "Next step: Grade 8 more queries.",
        "Unjudged chunks: 3 unjudged chunks in the two top 10s could change who is ahead.",
        "Next step: Grade all of them.",
    ]
    assert lines[at + 1 : end] == [
        "Measure       a       b  Difference  Wins  Losses  n  Unjudged in A  Unjudged in B  "
        "Confidence interval       p",
        "RR       0.7500  0.6667     −0.0833     1       1  2              1              2  "
        "                  –  1.0000",
        "R@1      0.2500  0.5000     +0.2500     1       1  2              0              1  "
        "                  –       –",
        "",
    ]
    assert lines[end + 1 :] == [
        "1 query without any golden grade: left out",
        "Buckets: No bucket has 10 queries, so none is tested.",
        "Of +0.1157 nDCG@10: finding 0.0000, ordering +0.1157 (n 2).",
    ]


def said_of(pair: tuple[str, str]) -> tuple[PairResult, Table]:
    """What is said of two runs, and the table of RR and R@1 without ranges."""
    with Store("golden.db") as store:
        board, settings = (
            Scoreboard(store.collection.read(), Conventions.of()),
            store.settings.read(),
        )
        singles = store.activity.single_grades()
    rules = DecisionRules.of(settings)
    said = judge_pair(board, *pair, rules, singles=singles)
    found = compare(board, *pair, board.conventions.measures("RR R@1"))
    return said, comparison_table([ShownPair(found, found.deltas, said.tests)], pair)


def test_every_form_has_the_statements_and_the_table_of_the_comparison(run: Labeler) -> None:
    asked = ("compare", "a", "b", "--measures", "RR R@1", "--format")
    said, table = said_of(("a", "b"))
    text = output(run(*asked, "table")).splitlines()
    above = [each.line for each in said.statements if each.severity != NOTE]
    assert text[: len(above)] == above
    assert text[-2:] == [each.line for each in said.statements if each.severity == NOTE]
    assert "\n".join(text_table(table)) in "\n".join(text)
    markdown = output(run(*asked, "md"))
    assert "\n".join(markdown_table(table)) in markdown
    assert all(each.sentence in markdown for each in said.statements)
    rows = json.loads(output(run(*asked, "json")))
    sentences = {each.sentence for each in said.statements}
    for row, record in zip(rows, table.records(), strict=True):
        notes = [each for each in row["notes"] if each["text"] in sentences]
        assert notes == statements_records(said.statements)
        assert all(same(row[name], value) for name, value in record.items())
    cells = list(csv.DictReader(io.StringIO(output(run(*asked, "csv")))))
    for cell, record in zip(cells, table.records(), strict=True):
        assert all(each.line in cell["notes"] for each in said.statements)
        assert cell.keys() >= record.keys()


def same(shown: object, value: object) -> bool:
    """Whether JSON has a value, null where it is not a number."""
    return shown is None if value is None or value != value else shown == value


def test_by_facet_there_is_a_row_for_each_bucket(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "R@1", "--by", "intent"))
    lines = shown.splitlines()
    at = lines.index("") + 1
    assert lines[at].startswith("intent    Measure       a       b  Difference  Wins")
    assert [line.split()[0] for line in lines[at + 1 : at + 4]] == ["refund", "shipping", "contact"]
    assert lines[at + 3].split()[2:5] == ["–", "–", "–"]
    assert "judged queries in no bucket of 'intent', so in no row: 1" in lines
    few = "fewer than 10 queries (n 1): a difference may be chance"
    assert [line for line in lines if "fewer than" in line] == [
        f"! intent = refund: {few}",
        f"! intent = shipping: {few}",
    ]
    assert "clearly" not in shown
    assert f"! intent = refund: {few}" in output(run("score", "--by", "intent"))


def test_a_bucket_that_collapsed_is_named_whether_or_not_its_facet_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_golden_set(tmp_path)
    add_collapsed_bucket(path)
    monkeypatch.setenv("LABELER_DB", str(path))
    for more in ([], ["--by", "intent"], ["--measures", "Judged@10"]):
        lines = output(CliRunner().invoke(main, ["compare", "old", "new", *more])).splitlines()
        at = lines.index("Buckets: new loses clearly in 1 of the 2 buckets.")
        assert lines[at + 1] == "intent = setup: −0.3691 nDCG@10 (11 of 11 queries differ)."
    by_bucket = ["compare", "old", "new", "--by", "intent", "--measures", "nDCG@10 RR"]
    rows = json.loads(output(CliRunner().invoke(main, [*by_bucket, "--format", "json"])))
    tests = {(row["bucket"], row["measure"]): row["tests"] for row in rows}
    assert {each for each, tested in tests.items() if tested} == {
        ("setup", "nDCG@10"),
        ("refund", "nDCG@10"),
    }, "buckets are tested by the measure that decides"
    [caution] = {row["caution"] for row in rows if row["measure"] == "RR"}
    assert caution == "not tested: buckets are tested by the measure that decides"


def test_people_are_told_three_buckets_of_a_kind_and_how_many_there_are_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = empty_golden_set(tmp_path)
    with Store(path) as store:
        names = [f"q{n:04}" for n in range(100)]
        store.queries.load(loaded([Query(name, name, buckets={"b": name}) for name in names]))
        for run, chunks in (("a", ("c1", "c2")), ("b", ("c2", "c1"))):
            store.runs.load(loaded([Ranking(name, chunks) for name in names]), name=run)
        grades = loaded([GoldenGrade(name, "c1", 3) for name in names])
        store.golden_loads.add(LoadedGolden(loaded([]), grades, loaded([])))
    monkeypatch.setenv("LABELER_DB", str(path))
    asked = ["compare", "a", "b", "--measures", "RR", "--by", "b"]
    lines = output(CliRunner().invoke(main, asked)).splitlines()
    told = [line for line in lines if line.startswith("! ") and "fewer than" in line]
    assert [line.split(":")[0] for line in told] == ["! b = q0000", "! b = q0001", "! b = q0002"]
    assert "! few: 97 more buckets, which --format json has" in lines
    rows = json.loads(output(CliRunner().invoke(main, [*asked, "--format", "json"])))
    kinds = [[note["kind"] for note in row["notes"]] for row in rows]
    assert all(each.count("few") == 1 for each in kinds)


def test_of_more_than_two_runs_all_pairs_are_corrected_together(run: Labeler) -> None:
    asked = ("compare", "a", "b", "reranked", "--measures", "RR nDCG@10")
    lines = output(run(*asked)).splitlines()
    pairs = [("a", "b"), ("a", "reranked"), ("b", "reranked")]
    for one, other in pairs:
        assert f"Too few queries to compare {one} and {other}: 2." in lines
    at = lines.index("") + 1
    assert lines[at].split()[:6] == ["A", "B", "Measure", "of", "A", "of"]
    rows = [tuple(line.split()[:2]) for line in lines[at + 1 : at + 7]]
    assert rows == [p for p in pairs for _ in "12"]
    rows = json.loads(output(run(*asked, "--format", "json")))
    assert [(row["run_a"], row["run_b"]) for row in rows] == [p for p in pairs for _ in "12"]
    assert [row["tests"] for row in rows] == [9, 3] * 3, "three pairs, by three measures or one"
    answers = [each["text"] for row in rows for each in row["notes"][:1]]
    assert answers == [
        f"Too few queries to compare {a} and {b}: 2." for a, b in pairs for _ in "12"
    ]
    per_query = json.loads(output(run(*asked, "--per-query", "--format", "json")))
    assert len(per_query) == 3 * 4 * 2
    assert "tests" not in per_query[0]


def test_of_many_pairs_people_are_told_ten_and_how_many_there_are_more(run: Labeler) -> None:
    for name in "defg":
        Path(f"{name}.trec").write_text(RUN_A.replace(" a\n", f" {name}\n"), encoding="utf-8")
        run("load", "run", f"{name}.trec")
    names = ("a", "b", "d", "e", "f", "g")
    lines = output(run("compare", *names, "--measures", "RR")).splitlines()
    answers = ("Too few queries to compare", "return the same results")
    assert sum(any(words in line for words in answers) for line in lines) == 10
    assert "5 more pairs, which --format json has." in lines


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


def test_where_runs_answered_other_queries_it_is_said_what_both_answered(run: Labeler) -> None:
    Path("short.trec").write_text("q1 Q0 c1 1 3.0 s\n", encoding="utf-8")
    assert run("load", "run", "short.trec").exit_code == 0
    shown = output(run("compare", "a", "short", "--measures", "RR"))
    assert (
        "short has no list for 2 queries, which count 0. "
        "Over the 1 that both runs answered: +0.3691, from 0.6309 to 1.0000."
    ) in shown
    asked = ("compare", "a", "short", "--measures", "RR", "--format", "json")
    [row] = json.loads(output(run(*asked)))
    assert (row["n_both"], row["both_a"], row["both_b"]) == (1, 0.5, 1.0)
    assert "both runs answered" not in output(run("compare", "a", "b", "--measures", "RR"))


def test_what_is_not_tested_has_no_number_and_says_why(run: Labeler) -> None:
    asked = ("compare", "a", "b", "--measures", "nDCG@10 Judged@10 P@1", "--format", "json")
    by_intent = json.loads(output(run(*asked, "--by", "intent")))
    rows = {row["bucket"]: row for row in by_intent if row["measure"] == "nDCG@10"}
    rows |= {row["measure"]: row for row in json.loads(output(run(*asked)))}
    reasons = {
        "refund": "not tested: one query",
        "contact": "not tested: no query counts",
        "Judged@10": "not tested: it does not rank runs",
        "P@1": "not tested: not in the golden set's measures (nDCG@10 R@5 RR)",
    }
    untested = ("lo", "hi", "interval", "level", "p", "p_corrected", "test", "tests", "differ")
    for name, why in reasons.items():
        assert {key: rows[name][key] for key in untested} == dict.fromkeys(untested)
        assert rows[name]["caution"] == why
    few = rows["nDCG@10"]
    assert (few["lo"], few["hi"], few["interval"]) == (None, None, None)
    assert (few["p"], few["tests"]) == (1.0, 1)
    assert few["caution"] == "fewer than 10 queries: too few for an interval"


def test_a_rerank_is_said_plainly(run: Labeler) -> None:
    said = "reranked only reorders what a found: any difference there is one of order."
    lines = output(run("compare", "a", "reranked", "--measures", "nDCG@10")).splitlines()
    assert said in lines
    assert any(": finding 0.0000, ordering " in line for line in lines)
    assert "only reorders" not in output(run("compare", "a", "b", "--measures", "nDCG@10"))


def test_the_same_run_under_another_name_is_called_the_same(run: Labeler) -> None:
    assert "same as that of run 'a'" in output(run("load", "run", "a.trec", "--name", "copy"))
    asked = ("compare", "a", "copy", "--measures", "nDCG@10")
    lines = output(run(*asked)).splitlines()
    assert lines[0] == "a and copy return the same results."
    assert not any("Buckets" in line or "reorders" in line for line in lines)
    [row] = json.loads(output(run(*asked, "--format", "json")))
    assert (row["delta"], row["lo"], row["hi"], row["p"]) == (0.0, None, None, 1.0)


def test_strips_show_the_largest_loss_first_and_undefined_queries_last(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "RR", "--strips"))
    lines = shown.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("query "))
    assert lines[at : at + 5] == [
        "query  a    b      RR delta",
        "q2     1 ·  · · 1   −0.6667",
        "q1     0 3  3 0     +0.5000",
        "q3                        –",
        "q4     0    0             –",
    ]
    assert lines[at - 1] == lines[at + 5] == ""
    assert lines[at + 6] == SHORT_CONVENTIONS


def test_strips_stand_in_markdown_as_text_and_are_refused_to_programs(run: Labeler) -> None:
    shown = output(run("compare", "a", "b", "--measures", "RR", "--strips", "--format", "md"))
    assert "\n\n```text\nquery  a " in shown
    assert "| RR | 0.7500 | 0.6667 | −0.0833 | 1 | 1 | 2 | 1 | 2 | – | 1.0000 |" in shown
    for kind in ("json", "csv"):
        refused = run("compare", "a", "b", "--strips", "--format", kind)
        assert refused.exit_code == 2
        assert "--strips are for people" in refused.stderr


def test_json_rows_carry_everything_and_every_digit(run: Labeler) -> None:
    rows = json.loads(output(run("compare", "a", "b", "--measures", "RR", "--format", "json")))
    [row] = rows
    assert row.pop("conventions")["description"] == CONVENTIONS
    kinds = [note["kind"] for note in row.pop("notes")]
    assert kinds == [
        *("too few queries", "number", "queries", "more queries", "unjudged could change it"),
        *("useful grades", "bucket losses", "parts"),
        *("ungraded", "what is clear", "how it is computed"),
    ]
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
        "lo": None,
        "hi": None,
        "interval": None,
        "level": pytest.approx(1 - 0.05 / 3),
        "p": 1.0,
        "p_corrected": 1.0,
        "test": "exact",
        "tests": 3,
        "differ": 2,
        "detectable": pytest.approx(1.6343, abs=1e-4),
        "more_queries": 768,
        "caution": "fewer than 10 queries: too few for an interval",
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
    at = lines.index("") + 1
    assert lines[at : at + 4 : 2] == [
        "Query  Measure       a       b  Difference  Unjudged in A  Unjudged in B",
        "q2     RR       1.0000  0.3333     −0.6667              1              2",
    ]
    assert (
        lines[at + 3] == "q3     RR            –       –           –              0              0"
    )


def test_options_mean_what_they_mean_for_scores(run: Labeler) -> None:
    shown = output(
        run("compare", "a", "b", "--measures", "R@prompt", "--prompt-k", "1", "--rel", "2")
    )
    assert "\nR@1 " in shown
    assert "relevant from grade 2" in shown
    twice = output(run("compare", "a", "b", "--measures", "RR MRR R@5 R@prompt"))
    assert [line.split()[0] for line in twice.splitlines() if line[:2] in ("RR", "R@")] == [
        *("RR", "R@5")
    ]
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
