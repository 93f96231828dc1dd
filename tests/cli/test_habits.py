"""What people type out of habit: other tools' words, options that are not there, no file at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.store import Store

Labeler = Callable[..., Result]


@pytest.fixture
def labeler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Labeler:
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)

    def invoke(*words: str) -> Result:
        return CliRunner().invoke(main, words, prog_name="labeler")

    return invoke


@pytest.fixture
def filled_labeler(labeler: Labeler) -> Labeler:
    """Run a command in a folder with a golden set of twelve queries and two runs."""
    ids = [f"k{number}" for number in range(12)]
    Path("q.tsv").write_text("query_id\tquery\n" + "".join(f"{each}\twhere?\n" for each in ids))
    Path("g.qrels").write_text("".join(f"{each} 0 a 2\n{each} 0 b 0\n" for each in ids))
    for name, first in (("old", "b"), ("new", "a")):
        lists = [f"{each} Q0 {first} 1 2 r\n{each} Q0 c 2 1 r\n" for each in ids]
        Path(f"{name}.trec").write_text("".join(lists))
    assert labeler("load", "queries", "q.tsv").exit_code == 0
    for kind, name in (("qrels", "g.qrels"), ("runs", "old.trec"), ("results", "new.trec")):
        done = labeler("load", kind, name)
        assert done.exit_code == 0, done.output
    return labeler


def test_words_of_other_tools_name_our_kinds_of_files(filled_labeler: Labeler):
    with Store("golden.db") as store:
        assert len(store.golden_set.read()[1]) == 24
        assert store.runs.names() == ["old", "new"]


@pytest.mark.parametrize("word", ["rm", "delete", "remove"])
def test_a_run_is_dropped_by_any_word_for_it(filled_labeler: Labeler, word: str):
    assert filled_labeler(word, "run", "old").exit_code == 0
    assert "old" not in filled_labeler("list").output
    assert "new" in filled_labeler("ls").output


def test_other_words_for_commands_are_understood(filled_labeler: Labeler):
    assert "new.trec" not in filled_labeler("eval", "g.qrels", "new.trec").output
    assert "nDCG" in filled_labeler("metrics").output
    by_rank = filled_labeler("score", "--metrics", "RR").output
    assert by_rank == filled_labeler("score", "--measures", "RR").output
    assert "Usage: labeler load" in filled_labeler("import", "--help").output


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("help", "'labeler --help' lists them"),
        ("version", "'labeler --version' says which this is"),
        ("ui", "'labeler serve' opens the pages"),
        ("init", "'labeler load FILE...' makes a golden set"),
        ("evaluat", "Did you mean 'labeler evaluate'?"),
        ("load quer", "Did you mean 'labeler load queries'?"),
        ("qrels", "Did you mean 'labeler load golden FILE'?"),
        ("grade", "'labeler serve' opens the pages, where people grade"),
        ("ndcg", "Did you mean 'labeler score --measures NAME'?"),
        ("graed", "No such command 'graed'; 'labeler serve' opens the pages, where people grade"),
        ("users", "'labeler people' lists them"),
        ("slices", "Did you mean 'labeler score --by FACET'?"),
        ("load nosuch", "No such command 'nosuch'; there are queries, chunks, documents, run"),
        ("drop qrels", "Did you mean 'labeler undo-load NUMBER'?"),
        ("delete query", "Did you mean 'labeler queries retire ID'?"),
        ("queries show q1", "Did you mean 'labeler history ID'?"),
        ("queries delete q1", "Did you mean 'labeler queries retire ID'?"),
    ],
)
def test_a_word_that_is_no_command_says_what_to_type(labeler: Labeler, typed: str, said: str):
    refused = labeler(*typed.split())
    assert refused.exit_code == 2
    assert said in refused.output


def test_a_word_like_no_command_names_no_other_one(labeler: Labeler):
    assert labeler("migrate").output.endswith("No such command 'migrate'\n")


def test_a_file_that_is_not_there_is_called_so(labeler: Labeler):
    refused = labeler("load", "nosuch.jsonl")
    assert (refused.exit_code, refused.output) == (
        1,
        "Error: nosuch.jsonl: there is no such file\n",
    )


@pytest.mark.parametrize(
    ("typed", "form"),
    [
        ("compare a b --md", "--format md"),
        ("evaluate q r --csv", "--format csv"),
        ("history q --jsonl", "--format jsonl"),
    ],
)
def test_a_form_that_is_typed_as_an_option_says_format(labeler: Labeler, typed: str, form: str):
    refused = labeler(*typed.split())
    assert refused.exit_code == 2
    option = typed.split()[-1]
    assert f"No such option '{option}'. Did you mean '{form}'?" in refused.output


@pytest.mark.parametrize(
    "typed",
    ["score", "compare old new", "trend", "next old new", "versions", "leakage"],
)
def test_json_is_short_for_the_form(filled_labeler: Labeler, typed: str):
    words = typed.split()
    if typed == "trend":
        assert filled_labeler("change", "run", "old", "--date", "2026-01-31").exit_code == 0
    long = filled_labeler(*words, "--format", "json")
    assert long.exit_code == 0, long.output
    assert filled_labeler(*words, "--json").stdout == long.stdout
    json.loads(long.stdout)
    last_wins = filled_labeler(*words, "--json", "--format", "table")
    assert last_wins.stdout == filled_labeler(*words).stdout


def refuse_number(word: str) -> float:
    """Refuse NaN and infinity, which Python reads and JSON does not have."""
    raise ValueError(word)


@pytest.mark.parametrize(
    "typed",
    [
        *(
            "runs",
            "queries",
            "queries list k1",
            "candidates",
            "people",
            "settings",
            "settings words",
            "check",
        ),
        *("audit", "undo-load", "history k1", "history k1 --chunk a"),
        *("measures", "measures nDCG MRR@10", "score", "score --per-query"),
        *("compare old new", "compare old new --graders"),
        *("trend", "trend --points", "recall", "next old new", "agreement", "agreement --drift"),
        *("disagreements", "health", "versions", "leakage", "evaluate g.qrels old.trec new.trec"),
    ],
)
def test_every_command_that_lists_or_computes_prints_json(filled_labeler: Labeler, typed: str):
    assert filled_labeler("change", "run", "old", "--date", "2026-01-31").exit_code == 0
    shown = filled_labeler(*typed.split(), "--json")
    assert shown.exit_code == 0, shown.output
    json.loads(shown.stdout, parse_constant=refuse_number)


def test_a_list_for_programs_has_all_and_one_for_people_the_first(filled_labeler: Labeler):
    more = "".join(f"m{number}\twhere?\n" for number in range(60))
    Path("more.tsv").write_text(f"query_id\tquery\n{more}")
    assert filled_labeler("load", "queries", "more.tsv").exit_code == 0
    assert filled_labeler("queries").output.endswith("... and 22 more; --most lists them\n")
    assert len(json.loads(filled_labeler("queries", "--json").stdout)) == 72
    assert len(json.loads(filled_labeler("queries", "--json", "--most", "3").stdout)) == 3


def test_one_measure_is_explained_by_any_of_its_names(labeler: Labeler):
    assert labeler("measures", "MRR@10").output.startswith("RR\n  meaning")
    refused = labeler("measures", "XYZ")
    assert refused.exit_code == 1
    assert "no measure is called 'XYZ'; there are nDCG" in refused.output


def test_a_gate_prints_json_or_writes_it_to_a_file(filled_labeler: Labeler):
    Path("gate.toml").write_text(filled_labeler("gate", "--example").output)
    shown = filled_labeler("gate", "gate.toml", "--json")
    assert shown.stdout == filled_labeler("gate", "gate.toml", "--format", "json").stdout
    assert json.loads(shown.stdout)["result"] == "passed"
    written = filled_labeler("gate", "gate.toml", "--json", "gate.json")
    assert "passed" in written.stdout.splitlines()[0]
    assert Path("gate.json").read_text() == shown.stdout


@pytest.mark.parametrize(
    "command",
    ["score", "compare", "trend", "recall", "answers", "report", "evaluate", "agreement", "next"],
)
def test_counting_options_are_a_block_of_their_own(labeler: Labeler, command: str):
    shown = labeler(command, "--help").output
    own, shared = shown.split("\nCounting options:\n")
    listed = re.findall(r"^  (--[a-z-]+)", shared, flags=re.MULTILINE)
    assert listed
    assert {*listed} <= {
        *("--preset", "--rel", "--prompt-k", "--undefined", "--split", "--leaked"),
        *("--chunking", "--weighted", "--golden"),
    }
    assert not re.findall(rf"^  ({'|'.join(listed)}) ", own, flags=re.MULTILINE)
    assert own.rstrip().endswith("Show this message and exit.")


def test_an_option_that_is_no_form_is_refused_as_before(labeler: Labeler):
    assert "--format" not in labeler("score", "--yaml").output


def test_a_gate_without_a_file_says_how_one_begins(labeler: Labeler):
    refused = labeler("gate")
    assert refused.exit_code == 2
    assert "Missing argument 'FILE'; 'labeler gate --example' prints one" in refused.output


def test_the_example_of_a_gate_passes_as_it_is(filled_labeler: Labeler):
    shown = filled_labeler("gate", "--example")
    assert shown.exit_code == 0
    Path("gate.toml").write_text(shown.output)
    judged = filled_labeler("gate", "gate.toml")
    assert judged.exit_code == 0, judged.output
    assert "gate.toml: new passed: 2 limits kept" in judged.output
    assert "baseline: old" in judged.output


def test_the_example_of_a_gate_is_about_the_runs_it_is_given(labeler: Labeler):
    shown = labeler("gate", "--example")
    assert 'run = "candidate"' in shown.output
    Path("q.tsv").write_text("query_id\tquery\nk1\twhere?\n")
    Path("r.trec").write_text("k1 Q0 a 1 2 r\n")
    Path("g.qrels").write_text("k1 0 a 2\n")
    assert labeler("load", "files", "q.tsv", "g.qrels", "r.trec").exit_code == 0
    assert labeler("rename", "run", "r", 'he said "now" \\').exit_code == 0
    Path("gate.toml").write_text(labeler("gate", "--example").output)
    judged = labeler("gate", "gate.toml")
    assert judged.exit_code == 0, judged.output


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("queries nosuch", "No query holds 'nosuch' in its id or text."),
        ("queries --retired", "No query is retired."),
        ("queries x --split dev", "No query is in the split dev and holds 'x' in its id or text."),
    ],
)
def test_no_query_is_listed_and_the_words_say_which(filled_labeler: Labeler, typed: str, said: str):
    shown = filled_labeler(*typed.split())
    assert (shown.exit_code, shown.output.strip()) == (0, said)


LONG = "2026-11-27_help-centre_hybrid-rrf-k60_bge-m3_chunk512-overlap64_{}_with-a-long-ending"


def test_names_that_are_too_long_for_a_table_stand_above_it(filled_labeler: Labeler):
    for name in ("old", "new"):
        assert filled_labeler("rename", "run", name, LONG.format(name)).exit_code == 0
    for words in (
        ["score"],
        ["compare", LONG.format("old"), LONG.format("new")],
        ["recall"],
        ["next", LONG.format("old"), LONG.format("new")],
    ):
        lines = filled_labeler(*words).stdout.splitlines()
        above = [line.split() for line in lines if line.endswith(LONG.format("new"))]
        assert above in ([["…new…", LONG.format("new")]], []), words
        table = [line for line in lines if line.startswith(("run ", "Measure", "nDCG@10"))]
        assert all(len(line) < 150 for line in table), words
    for name in ("old", "new"):
        assert filled_labeler("load", "run", "new.trec", "--name", LONG.format(f"again-{name}"))
    several = filled_labeler(
        "compare", *(LONG.format(name) for name in ("old", "new", "again-new"))
    )
    longest = [line for line in several.stdout.splitlines() if LONG[:20] in line]
    assert [line.split()[0] for line in longest] == ["…old…", "…new…", "…again-new…"]
    shown = filled_labeler("score", "--json").stdout
    assert {LONG.format("old"), LONG.format("new")} <= {row["run"] for row in json.loads(shown)}


def test_letters_stand_for_long_names_with_nothing_in_common(filled_labeler: Labeler):
    assert filled_labeler("rename", "run", "new", "x" * 150).exit_code == 0
    lines = filled_labeler("compare", "old", "x" * 150).stdout.splitlines()
    assert lines[0] == "B is better than A."
    at = lines.index("A  old")
    assert lines[at + 1 : at + 3] == [f"B  {'x' * 150}", ""]
    assert lines[at + 3].split()[:3] == ["Measure", "A", "B"]
    marked = filled_labeler("score", "--format", "md").stdout
    assert f"- B: {'x' * 150}" in marked


def test_only_warnings_have_a_mark_and_the_answer_comes_first(filled_labeler: Labeler):
    Path("half.trec").write_text("k1 Q0 a 1 2 r\n")
    assert filled_labeler("load", "run", "half.trec").exit_code == 0
    lines = filled_labeler("score").stdout.splitlines()
    assert lines[0].startswith("new scores ")
    marked = [line for line in lines if line.startswith("! ")]
    assert any("half: no list for 11 queries of 12" in line for line in marked)
    conventions = next(at for at, line in enumerate(lines) if line.startswith("golden "))
    assert not [line for line in lines[conventions:] if line.startswith("! ")]
    assert filled_labeler("trend").exit_code == 1
    assert filled_labeler("change", "run", "old", "--date", "2026-01-31").exit_code == 0
    said = filled_labeler("trend").stdout.splitlines()[0]
    assert said == "There is no trend yet: no system has two runs with a value."
    assert "attention" in filled_labeler("health").stdout.splitlines()[0]


@pytest.mark.parametrize(
    "typed",
    [
        "drop --db other.db run old",
        "delete --db=other.db run old",
        "queries --db other.db list",
        "queries --db other.db --most 3",
        "load --db other.db q.tsv",
        "load --db other.db queries q.tsv",
        "rename --db other.db run old older",
    ],
)
def test_the_golden_set_may_be_named_after_a_group(filled_labeler: Labeler, typed: str):
    assert filled_labeler("backup", "other.db").exit_code == 0
    Path("golden.db").unlink()
    done = filled_labeler(*typed.split())
    assert done.exit_code == 0, done.output


def test_signals_and_trends_have_four_digits_and_names_of_measures(filled_labeler: Labeler):
    Path("s.csv").write_text(
        "date,system,name,value\n2026-01-01,old,ctr,0.411\n2026-01-02,old,ctr,0.46842\n"
    )
    assert filled_labeler("load", "signals", "s.csv").exit_code == 0
    assert filled_labeler("change", "run", "old", "--date", "2026-01-31").exit_code == 0
    shown = filled_labeler("trend").stdout
    assert "0.4397" in shown
    assert "0.4684 " in shown
    assert "R@5" in shown
    assert "R@prompt" not in shown


def test_a_gate_names_long_runs_once_below_its_verdict(filled_labeler: Labeler):
    Path("gate.toml").write_text(filled_labeler("gate", "--example").output)
    assert filled_labeler("rename", "run", "new", "x" * 200).exit_code == 0
    for form in ("table", "md"):
        asked = ["gate", "gate.toml", "--run", "x" * 200, "--format", form]
        lines = filled_labeler(*asked).stdout.splitlines()
        assert lines[0].removeprefix("### ") == "gate.toml: A passed: 2 limits kept"
        assert sum("xxx" in line for line in lines) == 1, form


def test_a_refusal_names_a_few_of_many_runs_or_the_one_that_is_meant(filled_labeler: Labeler):
    for number in range(12):
        copied = filled_labeler("load", "run", "new.trec", "--name", f"{number}-{'x' * 150}")
        assert copied.exit_code == 0
    refused = filled_labeler("score", "nosuch").output
    assert "there are: old, new, 0-xxx" in refused
    assert refused.endswith("… and 4 more\n")
    assert "no run is called 'nwe'; did you mean 'new'?" in filled_labeler("score", "nwe").output
