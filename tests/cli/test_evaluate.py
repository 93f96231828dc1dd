"""``labeler evaluate``: measures of files, by qrels in a file, without a golden set."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import pytrec_eval
from click.testing import CliRunner, Result

import labeler
from labeler import paths
from labeler.cli import main
from labeler.errors import BadInput

SAMPLE = paths.folder("sample_data")
QRELS = """\
q1 0 c1 3
q1 0 c2 0
q2 0 c3 1
q2 0 c4 2
"""
RUN_A = """\
q1 Q0 c2 1 2.0 a
q1 Q0 c1 2 1.0 a
q2 Q0 c4 1 9.0 a
"""
RUN_B = """\
q1 Q0 c1 1 2.0 b
q1 Q0 c2 2 1.0 b
q2 Q0 c4 1 9.0 b
q2 Q0 c3 2 8.0 b
"""
GRADES = {"q1": {"c1": 3, "c2": 0}, "q2": {"c3": 1, "c4": 2}}
LISTS = {"a": {"q1": ["c2", "c1"], "q2": ["c4"]}, "b": {"q1": ["c1", "c2"], "q2": ["c4", "c3"]}}

Evaluate = Callable[..., Result]


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluate:
    """Evaluate files in a folder that has qrels and two runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    for name, text in {"qrels.txt": QRELS, "a.trec": RUN_A, "b.run": RUN_B}.items():
        Path(name).write_text(text)

    def invoke(*arguments: object) -> Result:
        words = ["evaluate", *map(str, arguments)]
        return CliRunner().invoke(main, words, prog_name="labeler")

    return invoke


def rows_of(result: Result) -> list[dict[str, str]]:
    """Return the rows of CSV output."""
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.output)))


def test_the_table_begins_with_run_measure_and_value(evaluate: Evaluate):
    result = evaluate("qrels.txt", "a.trec", "b.run", "--measures", "MRR nDCG@10")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[:8] == [
        "Too few queries to say which run is best: 2.",
        "nDCG@10: b 1.0000, a 0.7286.",
        "",
        "run  measure   value      95% interval  n  unjudged",
        "a    RR       0.7500  0.1979 to 0.9733  2         0",
        "a    nDCG@10  0.7286  0.1876 to 0.9690  2         0",
        "b    RR       1.0000  0.3424 to 1.0000  2         0",
        "b    nDCG@10  1.0000  0.3424 to 1.0000  2         0",
    ]
    assert "\n--explain says how this is computed\n" in result.output
    assert "! Only 2 queries are in the mean: any difference may be chance" in result.output
    assert sorted(os.listdir()) == ["a.trec", "b.run", "qrels.txt"], "nothing is stored"


def test_values_are_those_of_python_in_every_digit(evaluate: Evaluate):
    measures = "nDCG@10 MRR MAP Recall@1 RBP(p=0.8)"
    rows = rows_of(
        evaluate("qrels.txt", "a.trec", "b.run", "--measures", measures, "--format", "csv")
    )
    frame = labeler.evaluate(GRADES, LISTS, measures)
    assert [(row["run"], row["measure"], float(row["value"])) for row in rows] == list(
        zip(frame["run"], frame["measure"], frame["value"], strict=True)
    )
    assert rows[0]["interval"]
    assert float(rows[0]["lo"]) < float(rows[0]["value"])


def test_rows_for_programs_are_those_of_score(evaluate: Evaluate):
    for kind, name in (("queries", "q.jsonl"), ("golden", "qrels.txt"), ("run", "a.trec")):
        Path("q.jsonl").write_text(
            "".join(f'{{"query_id": "{q}", "query": "what is {q}"}}\n' for q in GRADES)
        )
        assert CliRunner().invoke(main, ["load", kind, name]).exit_code == 0
    for options in (["--format", "json"], ["--format", "json", "--per-query"]):
        scored = json.loads(CliRunner().invoke(main, ["score", *options]).output)
        evaluated = json.loads(evaluate("qrels.txt", "a.trec", *options).output)
        for ours, theirs in zip(evaluated, scored, strict=True):
            shared = set(theirs) - {"conventions", "transferred"}
            assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}


def test_values_of_each_query(evaluate: Evaluate):
    result = evaluate("qrels.txt", "a.trec", "--measures", "RR", "--per-query")
    assert result.output.splitlines()[:3] == [
        "run  query  measure   value  unjudged",
        "a    q1     RR       0.5000         0",
        "a    q2     RR       1.0000         0",
    ]


@pytest.mark.parametrize("rel", [1, 2, 3])
def test_under_its_preset_means_are_those_of_trec_eval(tmp_path: Path, rel: int):
    grades: dict[str, dict[str, int]] = {}
    for line in (SAMPLE / "judgments.jsonl").read_text(encoding="utf-8").splitlines():
        event = json.loads(line)
        if event["kind"] == "grade" and event["grade"] is not None:
            grades.setdefault(event["query_id"], {})[event["chunk_id"]] = event["grade"]
    qrels = tmp_path / "grades.qrels"
    qrels.write_text("".join(f"{q} 0 {c} {g}\n" for q in grades for c, g in grades[q].items()))
    names = {
        "nDCG@10": "ndcg_cut_10",
        "P@5": "P_5",
        "R@5": "recall_5",
        "Success@5": "success_5",
        "RR": "recip_rank",
        "AP": "map",
        "Bpref": "bpref",
        "Rprec": "Rprec",
    }
    runs = sorted((SAMPLE / "runs").glob("*.trec"))[:2]
    command = ["evaluate", str(qrels), *map(str, runs), "--measures", " ".join(names)]
    command += ["--preset", "trec_eval", "--rel", str(rel), "--format", "json", "--per-query"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 0, done.output
    ours = {(r["run"], r["query_id"], r["measure"]): r["value"] for r in json.loads(done.output)}
    judge = pytrec_eval.RelevanceEvaluator(grades, {*names.values()}, relevance_level=rel)
    compared = 0
    for path in runs:
        lists: dict[str, dict[str, float]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            query, _, chunk, _, score, _ = line.split()
            lists.setdefault(query, {})[chunk] = float(score)
        for query, values in judge.evaluate(lists).items():
            for name, theirs in names.items():
                assert ours[path.stem, query, name] == pytest.approx(values[theirs], abs=1e-12)
                compared += 1
    assert compared > 1000


FORMS: dict[str, dict[str, str]] = {
    "csv": {
        "qrels.csv": "query,docid,rating\nq1,c1,3\nq1,c2,0\nq2,c3,1\nq2,c4,2\n",
        "a.csv": "query_id,chunk_id,score\nq1,c2,2\nq1,c1,1\nq2,c4,9\n",
    },
    "json lines": {
        "qrels.jsonl": "".join(
            json.dumps({"query_id": q, "chunk_id": c, "grade": g}) + "\n"
            for q in GRADES
            for c, g in GRADES[q].items()
        ),
        "a.jsonl": "".join(
            json.dumps({"query_id": q, "results": found}) + "\n" for q, found in LISTS["a"].items()
        ),
    },
    "json by query": {
        "qrels.json": json.dumps(GRADES),
        "a.json": json.dumps({"q1": {"c2": 2.5, "c1": 1.5}, "q2": {"c4": 9.5}}),
    },
}


@pytest.mark.parametrize("form", FORMS)
def test_files_of_any_format_give_the_same_values(evaluate: Evaluate, form: str):
    for name, text in FORMS[form].items():
        Path(name).write_text(text)
    expected = rows_of(evaluate("qrels.txt", "a.trec", "--format", "csv"))
    found = rows_of(evaluate(*FORMS[form], "--format", "csv"))
    assert [(row["run"], row["value"]) for row in found] == [
        (row["run"], row["value"]) for row in expected
    ]


def test_parquet_stands_beside_other_files(evaluate: Evaluate):
    for name, column, nested in (
        ("qrels", "relevance", GRADES),
        ("a", "score", {"q1": {"c2": 2.0, "c1": 1.0}, "q2": {"c4": 9.0}}),
    ):
        rows = [(q, c, value) for q, chunks in nested.items() for c, value in chunks.items()]
        frame = pd.DataFrame(rows, columns=["query_id", "doc_id", column])
        frame.to_parquet(f"{name}.parquet")
    expected = rows_of(evaluate("qrels.txt", "a.trec", "--format", "csv"))
    for files in (("qrels.parquet", "a.parquet"), ("qrels.txt", "a.parquet")):
        found = rows_of(evaluate(*files, "--format", "csv"))
        assert [row["value"] for row in found] == [row["value"] for row in expected]
    Path("bad.parquet").write_text("no such thing")
    result = evaluate("qrels.txt", "bad.parquet")
    assert (result.exit_code, result.output[:27]) == (1, "Error: bad.parquet: not Par")
    result = evaluate("qrels.txt", "none.parquet")
    assert (result.exit_code, result.output) == (
        1,
        "Error: none.parquet: there is no such file\n",
    )


def test_options_on_files_are_those_of_load(evaluate: Evaluate):
    Path("qrels.txt").write_text("q1 0 c1 4\nq1 0 c2 -1\n")
    result = evaluate("qrels.txt", "a.trec")
    assert result.exit_code == 1
    assert "qrels.txt:1: " in result.output
    assert "--grade-map" in result.output
    result = evaluate("qrels.txt", "a.trec", "--grade-map", "4=3")
    assert "qrels.txt:2: " in result.output
    assert "--negative-as-zero" in result.output
    asked = ("--grade-map", "4=3", "--measures", "RR", "--format", "csv")
    for option in ("--negative-as-zero", "--negative-as-ungraded", "--preset=trec_eval"):
        [row] = rows_of(evaluate("qrels.txt", "a.trec", *asked, option))
        assert row["value"] == "0.5", option
    Path("ranks.csv").write_text("query_id,chunk_id,rank,score\nq1,c1,1,1\nq1,c2,2,9\n")
    asked = (*asked, "--negative-as-zero")
    values = [
        rows_of(evaluate("qrels.txt", "ranks.csv", *asked, "--order", order))[0]["value"]
        for order in ("score", "rank", "file")
    ]
    assert values == ["0.5", "1.0", "1.0"]


def test_queries_from_the_corpus_can_be_left_out_of_their_own_lists(evaluate: Evaluate):
    Path("self.trec").write_text("q1 Q0 q1 1 9.0 a\nq1 Q0 c1 2 1.0 a\nq2 Q0 c4 1 9.0 a\n")
    Path("self.csv").write_text("query_id,chunk_id,score\nq1,q1,9\nq1,c1,1\nq2,c4,9\n")
    pd.read_csv("self.csv", dtype={"query_id": str, "chunk_id": str}).to_parquet("self.parquet")
    for name in ("self.trec", "self.csv", "self.parquet"):
        asked = ("qrels.txt", name, "--measures", "RR", "--format", "csv")
        assert rows_of(evaluate(*asked))[0]["value"] == "0.75"
        assert rows_of(evaluate(*asked, "--leave-out-self"))[0]["value"] == "1.0"


def test_options_have_the_help_that_score_and_load_have():
    def helps(*path: str) -> dict[str, str | None]:
        command = main
        for name in path:
            command = command.commands[name]
        return {each.name: getattr(each, "help", None) for each in command.params}

    ours, score = helps("evaluate"), helps("score")
    for name in ("preset", "undefined", "per_query", "kind", "raw"):
        assert ours[name] == score[name]
    golden, run = helps("load", "golden"), helps("load", "run")
    for name in ("grade_map", "negative_as_zero", "negative_as_ungraded", "limits"):
        assert ours[name] == golden[name]
    for name in ("order", "on_duplicate", "leave_out_self"):
        assert ours[name] == run[name]


def test_what_a_reader_warns_of_is_said(evaluate: Evaluate):
    Path("a.trec").write_text(RUN_A.replace("9.0 a", "9.0 other"))
    result = evaluate("qrels.txt", "a.trec")
    assert "! a.trec: " in result.output, "two tags in one file"


def test_two_runs_are_compared_in_the_words_of_compare(evaluate: Evaluate):
    result = evaluate("qrels.txt", "a.trec", "b.run", "--compare", "a", "b")
    assert result.exit_code == 0, result.output
    frame = labeler.compare(GRADES, {"a": LISTS["a"], "b": LISTS["b"]})
    assert result.output.splitlines()[0] == frame.attrs["verdict"][0]
    assert "Measure" in result.output
    assert "Difference" in result.output
    by_file = evaluate("qrels.txt", "a.trec", "b.run", "--compare", "a.trec", "b.run")
    assert by_file.output == result.output
    rows = rows_of(
        evaluate("qrels.txt", "a.trec", "b.run", "--compare", "b", "a", "--format", "csv")
    )
    assert [row["run_a"] + row["run_b"] for row in rows] == ["ba"] * len(frame)
    assert [float(row["delta"]) for row in rows] == [-delta for delta in frame["delta"]]
    told = evaluate("qrels.txt", "a.trec", "b.run", "--compare", "a", "b", "--per-query")
    assert "q2" in told.output


SYSTEMS = [
    ("one", "q1", "c2", 2),
    ("two", "q1", "c1", 9),
    ("one", "q1", "c1", 1),
    ("two", "q2", "c4", 1),
]


def test_each_system_of_one_table_is_a_run(evaluate: Evaluate):
    keys = ("system", "query_id", "chunk_id", "score")
    rows = [dict(zip(keys, row, strict=True)) for row in SYSTEMS]
    pd.DataFrame(rows).to_csv("both.csv", index=False)
    Path("both.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name in ("both.csv", "both.jsonl"):
        asked = ("qrels.txt", "a.trec", name, "--measures", "RR", "--format", "csv")
        found = {row["run"]: row["value"] for row in rows_of(evaluate(*asked))}
        assert found == {"a": "0.75", "one": "0.25", "two": "1.0"}
        assert rows_of(evaluate(*asked, "--compare", "one", "two"))[0]["delta"] == "0.75"
    Path("one.trec").write_text(RUN_A)
    result = evaluate("qrels.txt", "one.trec", "both.csv")
    assert result.exit_code == 1
    assert result.output.startswith("Error: two runs are called 'one'")
    with pytest.raises(BadInput, match="names 2 systems"):
        labeler.evaluate(GRADES, {"both": "both.csv"}, "RR")


def test_other_runs_say_nothing_in_a_comparison_of_two(evaluate: Evaluate):
    Path("c.trec").write_text("q1 Q0 c1 1 1.0 c\n")
    result = evaluate("qrels.txt", "a.trec", "b.run", "c.trec", "--compare", "a", "b")
    assert result.exit_code == 0, result.output
    assert "! c: " not in result.output


def test_files_of_one_name_are_told_apart_by_their_paths(evaluate: Evaluate):
    for folder in ("new", "old"):
        Path(folder).mkdir()
    Path("new/x.trec").write_text(RUN_B)
    Path("old/x.jsonl").write_text(FORMS["json lines"]["a.jsonl"])
    rows = rows_of(evaluate("qrels.txt", "new/x.trec", "old/x.jsonl", "--format", "csv"))
    assert [*dict.fromkeys(row["run"] for row in rows)] == ["new/x.trec", "old/x.jsonl"]
    result = evaluate("qrels.txt", "a.trec", "a.trec")
    assert (result.exit_code, result.output) == (
        1,
        "Error: a.trec: is given twice; give each run once\n",
    )


WRONG = {
    ("nosuch", "a.trec"): "nosuch: there is no such file",
    ("qrels.txt", "nosuch"): "nosuch: there is no such file",
    ("a.trec", "qrels.txt"): "a.trec:1: 6 columns where a TREC file has 4 (query 0 chunk grade); "
    "a CSV or TSV file needs a header such as query,docid,rating; it reads like a run: QRELS come "
    "first, then RUNs",
    ("qrels.txt", "twice"): "twice:2: ",
    ("empty", "a.trec"): "empty: the file is empty",
    ("qrels.txt", "empty"): "empty: the file is empty",
    ("qrels.txt", "foreign"): "run 'foreign' and the qrels share no query (the qrels begin with "
    "'q1', the run with 'x'); are the query ids the same in both?",
    (
        "qrels.txt",
        "a.trec",
        "--measures",
        "nDGC@10",
    ): "no measure is called 'nDGC'; did you mean nDCG?",
    ("qrels.txt", "a.trec", "--compare", "a", "z"): "no run is called 'z'; there are: a",
    ("qrels.txt", "a.trec", "--compare", "a", "a"): "--compare takes two runs, and was given 'a' "
    "twice",
}


@pytest.mark.parametrize("given", WRONG, ids=" ".join)
def test_bad_input_is_one_sentence(evaluate: Evaluate, given: tuple[str, ...]):
    Path("twice").write_text("q1 Q0 c1 1 2.0 a\nq1 Q0 c1 2 1.0 a\n")
    Path("empty").touch()
    Path("foreign").write_text("x Q0 c1 1 2.0 a\n")
    result = evaluate(*given)
    assert result.exit_code == 1, result.output
    assert result.output.startswith(f"Error: {WRONG[given]}"), result.output


@pytest.mark.parametrize(
    "given",
    [(), ("qrels.txt",), ("qrels.txt", "a.trec", "--raw"), ("qrels.txt", "a.trec", "--rel", "4")],
    ids=" ".join,
)
def test_a_wrong_command_line_ends_with_2(evaluate: Evaluate, given: tuple[str, ...]):
    assert evaluate(*given).exit_code == 2


def test_names_are_hostile_input(evaluate: Evaluate):
    name = "=cmd\x1b[31m|<b>.trec"
    shutil.copy("a.trec", name)
    Path("qrels.txt").write_text(QRELS.replace("q2", "q\x1b[2J"))
    Path(name).write_text(RUN_A.replace("q2", "q\x1b[2J"))
    for options in ([], ["--per-query"], ["--format", "md"], ["--compare", name, "b"]):
        told = evaluate("qrels.txt", name, "b.run", *options)
        assert told.exit_code == 0, told.output
        assert "\x1b" not in told.output
    asked = ("qrels.txt", name, "--format", "csv")
    assert rows_of(evaluate(*asked))[0]["run"].startswith("'=cmd")
    assert rows_of(evaluate(*asked, "--raw"))[0]["run"].startswith("=cmd")
    assert "\x1b" not in evaluate("qrels.txt", name, "--compare", name, "\x1b[2J").output


def test_a_file_whose_name_no_run_can_have_is_named(evaluate: Evaluate):
    name = os.fsdecode(b"\xff.trec")
    Path(name).write_text(RUN_A)
    result = evaluate("qrels.txt", name)
    assert result.exit_code == 1
    assert result.output.startswith("Error: ")
    assert result.output.endswith("; give the file another name\n")


SCRIPT = """
import sys
from labeler.cli import main
try:
    main(sys.argv[1:])
finally:
    print(*({"pandas", "pyarrow", "sqlite_utils", "streamlit"} & {*sys.modules}))
"""


@pytest.mark.parametrize("options", [(), ("--per-query",), ("--format", "json")])
def test_nothing_heavy_is_imported_for_files_of_text(evaluate: Evaluate, options: tuple[str, ...]):
    command = [sys.executable, "-c", SCRIPT, "evaluate", "qrels.txt", "a.trec", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == ""


def test_pandas_is_not_imported_for_large_runs(evaluate: Evaluate):
    lines = [f"q{n} Q0 c{k} {k} {1 - k / 100} a\n" for n in range(1000) for k in range(100)]
    Path("large.trec").write_text("".join(lines))
    command = [sys.executable, "-c", SCRIPT, "evaluate", "qrels.txt", "large.trec"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "pyarrow"


@pytest.mark.parametrize("named", ["query,docid,rating\nhow long?,c1,2\n", None])
def test_dumps_meet_grades_of_queries_that_are_named_by_their_text(evaluate: Evaluate, named):
    sample = {"user_input": "how long?", "reference_context_ids": ["c1"]}
    Path("g.txt").write_text(named or json.dumps(sample))
    found = [{"id": "c2", "text": "No."}, {"id": "c1", "text": "Three days."}]
    Path("dump.json").write_text(json.dumps([{"question": "how long?", "documents": found}]))
    Path("ids.json").write_text(json.dumps([{"query": "how long?", "results": ["c1", "c2"]}]))
    rows = rows_of(evaluate("g.txt", "dump.json", "ids.json", "--measures", "RR", "--format=csv"))
    assert [(row["run"], float(row["value"])) for row in rows] == [("dump", 0.5), ("ids", 1.0)]
