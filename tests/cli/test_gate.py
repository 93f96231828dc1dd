"""The gate: what stops a build and what does not, seen as exit codes and files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from labeler.cli import main
from labeler.model import GoldenGrade, LoadedGolden, Query, Ranking
from labeler.store import Store
from tests.support.page import add_collapsed_bucket, empty_golden_set, loaded

Gate = Callable[..., Result]
HOSTILE = "=a|b<img src=x>`*_\u202e"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """40 queries; "new" is better than "old" in 29 of refund, and worse in all 11 of setup.

    Beside them runs that nothing can be said of, and a bucket of two queries.
    """
    path = empty_golden_set(tmp_path_factory.mktemp("made"))
    add_collapsed_bucket(path)
    with Store(path) as store:
        store.runs.load(loaded([Ranking("strange", ("c1",))]), name="empty")
        rare = [Query(f"r{n}", "rare", buckets={"kind": "rare"}) for n in range(2)]
        store.queries.load(loaded(rare))
        for name, chunks in (("unjudged", ("c9", "c1")), ("graded", ("c1",))):
            store.runs.load(loaded([Ranking(f"q{n:02}", chunks) for n in range(40)]), name=name)
    add_run(path, "half", worse=0, of=20)
    return path


@pytest.fixture
def database(made: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copy(made, tmp_path / "golden.db"))


@pytest.fixture
def gate(database: Path, tmp_path: Path) -> Gate:
    """Write a gate file and judge by it."""

    def judge(text: str, *arguments: str) -> Result:
        file = tmp_path / "gate.toml"
        file.write_text(text, encoding="utf-8")
        command = ["--db", str(database), "gate", str(file), *arguments]
        return CliRunner().invoke(main, command, prog_name="labeler")

    return judge


def add_run(path: Path, name: str, worse: int, of: int = 40, chunk: str = "c1") -> None:
    """Add a run that puts the one good chunk second for the first queries, and else first."""
    lists = [Ranking(f"q{n:02}", ("c2", chunk) if n < worse else (chunk, "c2")) for n in range(of)]
    with Store(path) as store:
        store.runs.load(loaded(lists), name=name)


def results(printed: Result) -> list[tuple[str, str | None, str]]:
    """Return of each limit its bucket, against what it is, and what came of it."""
    rows = json.loads(printed.stdout)["checks"]
    return [(row["bucket"] or "all", row["against"], row["result"]) for row in rows]


# --- what passes and what does not ---------------------------------------------------------------


def test_a_value_at_its_threshold_passes_and_one_above_it_stops_the_build(gate: Gate):
    new = 29 * 1.0 + 11 / 1.584962500721156
    assert gate(f'run = "new"\n[overall]\n"nDCG@10" = {new / 40!r}').exit_code == 0
    failed = gate('run = "new"\n[overall]\n"nDCG@10" = 0.9')
    assert failed.exit_code == 1
    assert "! all queries: nDCG@10 is 0.8985, below 0.9 (n 40)" in failed.stdout


def test_a_gate_with_a_baseline_says_which_run_is_better_as_compare_does(
    gate: Gate, database: Path
):
    text = 'run = "new"\nbaseline = "old"\n[overall]\nRR = {drop = 0.01}\n'
    said = json.loads(gate(text, "--format", "json").stdout)["verdict"]
    lines = [f"{each['heading']}: {each['text']}".removeprefix(": ") for each in said]
    assert lines[0].startswith("new is ahead of old on the grades so far, but ")
    shown = CliRunner().invoke(main, ["--db", str(database), "compare", "old", "new"]).stdout
    assert set(lines) <= {line.removeprefix("! ") for line in shown.splitlines()}
    assert lines[0] in gate(text).stdout


def test_a_bucket_that_collapsed_under_a_better_mean_stops_the_build(gate: Gate):
    text = 'run = "new"\nbaseline = "old"\n[overall]\nRR = {drop = 0.01}\n'
    assert gate(text).exit_code == 0
    failed = gate(f"{text}[bucket.intent.setup]\nRR = {{drop = 0.1}}\n", "--format", "json")
    assert failed.exit_code == 1
    assert results(failed) == [
        ("all", "baseline", "passed"),
        ("setup", "baseline", "failed"),
    ]
    told = json.loads(failed.stdout)["checks"][1]["sentence"]
    assert told.startswith(
        "RR fell by 0.5000 from the baseline old (1.0000 to 0.5000, n 11); only 0.1 is allowed; "
        "most in q00 (−0.5000)"
    )


def test_each_bucket_of_a_facet_is_held_to_a_rule_unless_it_has_its_own(gate: Gate):
    each = 'run = "new"\nbaseline = "old"\n[each.intent]\nRR = {drop = 0.1}\n'
    failed = gate(each, "--format", "json")
    assert (failed.exit_code, sorted(results(failed))) == (
        1,
        [("refund", "baseline", "passed"), ("setup", "baseline", "failed")],
    )
    allowed = gate(f"{each}[bucket.intent.setup]\nMRR = {{drop = 0.6}}\n", "--format", "json")
    assert allowed.exit_code == 0
    assert sorted(row[0] for row in results(allowed)) == ["refund", "setup"]


def test_with_a_confidence_a_value_has_to_be_surely_above(gate: Gate):
    text = 'run = "new"\n[overall]\n"P@1" = {{at_least = 0.6{}}}\n'
    assert gate(text.format("")).exit_code == 0, "29 of 40 is 0.725"
    sure = gate(text.format(", confidence = 0.95"), "--format", "json")
    [row] = json.loads(sure.stdout)["checks"]
    assert (sure.exit_code, row["interval"], row["value"]) == (1, "Wilson", 0.725)
    assert row["bound"] == pytest.approx(0.597457, abs=1e-6)  # Wilson by hand, z = 1.64485
    assert gate(text.format(", confidence = 0.9")).exit_code == 0


def test_ten_perfect_queries_are_not_surely_perfect(gate: Gate, database: Path):
    with Store(database) as store:
        store.queries.load(
            loaded([Query(f"p{n}", f"perfect {n}", buckets={"kind": "perfect"}) for n in range(10)])
        )
        grades = [GoldenGrade(f"p{n}", "c1", 3) for n in range(10)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        store.runs.load(loaded([Ranking(f"p{n}", ("c1",)) for n in range(10)]), name="perfect")
    text = 'run = "perfect"\nconfidence = 0.95\n[bucket.kind.perfect]\n"nDCG@10" = 0.99\n'
    failed = gate(text)
    assert failed.exit_code == 1
    assert (
        "nDCG@10 is 1.0000 (n 10), with 95% confidence at least 0.7871, below 0.99" in failed.stdout
    )
    assert gate(text.replace("0.99\n", "0.75\n")).exit_code == 0


def test_with_a_confidence_a_drop_has_to_be_surely_small(gate: Gate, database: Path):
    add_run(database, "nearly", worse=8)
    add_run(database, "best", worse=0)
    text = 'run = "nearly"\nbaseline = "best"\n[overall]\nRR = {{drop = {}{}}}\n'
    assert gate(text.format(0.14, "")).exit_code == 0, "8 of 40 queries lost 0.5: 0.1"
    failed = gate(text.format(0.14, ", confidence = 0.95"))
    assert failed.exit_code == 1
    assert "with 95% confidence it fell by 0.1540 at most, only 0.14 is allowed" in failed.stdout
    assert gate(text.format(0.16, ", confidence = 0.95")).exit_code == 0


def test_a_drop_in_few_queries_cannot_be_told_and_says_in_how_many(gate: Gate, database: Path):
    add_run(database, "nearly", worse=2)
    add_run(database, "best", worse=0)
    text = 'run = "nearly"\nbaseline = "best"\nconfidence = 0.95\n[overall]\nRR = {drop = 0.05}\n'
    unsure = gate(text)
    assert unsure.exit_code == 2
    assert (
        "2 of 40 queries differ: too few for an interval; with 95% confidence it fell by 0.1403 "
        "at most, only 0.05 is allowed"
    ) in unsure.stdout
    passed = gate(text.replace("0.05", "0.15"))
    assert passed.exit_code == 0, "if each of the queries that may fall fell by 1, it would pass"
    failed = gate(text.replace("0.05", "0.02"))
    assert failed.exit_code == 1, "the value itself fell by more"
    assert "(1.0000 to 0.9750, n 40, 2 differ)" in failed.stdout


def test_a_run_with_the_same_lists_as_its_baseline_loses_nothing_for_sure(
    gate: Gate, database: Path
):
    add_run(database, "again", worse=11)
    with Store(database) as store:
        fingerprints = store.runs.fingerprints()
        assert fingerprints["again"] == fingerprints["new"]
    text = 'run = "again"\nbaseline = "new"\n[overall]\nRR = {drop = 0, confidence = 0.99}\n'
    passed = gate(text, "--format", "json")
    assert passed.exit_code == 0
    [row] = json.loads(passed.stdout)["checks"]
    assert (row["differing"], row["bound"], row["interval"]) == (0, None, None)
    assert "(0.8625 to 0.8625, n 40): no query differs; 0 is allowed" in row["sentence"]


# --- looked at every commit ----------------------------------------------------------------------


def test_a_bound_for_every_look_is_lower_than_one_for_one_look(gate: Gate):
    text = 'run = "new"\nbaseline = "old"\nconfidence = 0.9\nanytime = true\n'
    text += '[overall]\nRR = {at_least = 0.6, drop = 0.2}\n"P@1" = 0.5\n'
    rows = {}
    for looks in ("true", "false"):
        printed = gate(text.replace("true", looks), "--format", "json")
        said = json.loads(printed.stdout)
        rows[looks] = [row["bound"] for row in said["checks"]]
        assert all(row["anytime"] == (looks == "true") for row in said["checks"])
        kinds = [note["kind"] for note in said["notes"]]
        assert kinds.count("one look") == (looks == "false"), "once, not for each limit"
    assert all(every < one for every, one in zip(rows["true"], rows["false"], strict=True))
    printed = gate(text)
    assert "with 90% confidence at every look" in json.dumps(
        [row["sentence"] for row in json.loads(gate(text, "--format", "json").stdout)["checks"]]
    )
    assert "at least 0.6, 90% sure at every look" in printed.stdout


def test_without_a_confidence_nothing_is_said_of_looks(gate: Gate):
    assert "look" not in gate('run = "new"\n[overall]\nRR = 0.1\n').stdout
    assert (
        "use anytime = true where the gate runs at every commit"
        in gate('run = "new"\nconfidence = 0.9\n[overall]\nRR = 0.1\n').stdout
    )


# --- what cannot be judged -----------------------------------------------------------------------

ASKS = '[overall]\n"nDCG@10" = 0.1\n'
UNJUDGED = {
    "an empty run": (f'run = "empty"\n{ASKS}', "empty: no result for any query that counts"),
    "a run that is not there": (f'run = "nwe"\n{ASKS}', "did you mean 'new'"),
    "a run whose name was lost on the way": (
        f'run = "new"\n{ASKS}',
        "the run '' is not in the golden set",
    ),
    "no run": (ASKS, "does not say which run is judged"),
    "a baseline that is not there": (
        f'run = "new"\nbaseline = "odl"\n{ASKS}',
        "the baseline 'odl' is not in the golden set; did you mean 'old'",
    ),
    "a run and itself": (f'run = "new"\nbaseline = "new"\n{ASKS}', "both 'new'"),
    "too few queries": (
        'run = "new"\nfewest_queries = 41\n' + ASKS,
        "40 queries count, fewer than the 41 it takes to judge",
    ),
    "fewer queries than anything can be said of": (
        'run = "new"\n[bucket.kind.rare]\nRR = 0.1\n',
        "2 queries count, fewer than the 10 it takes",
    ),
    "too many unjudged chunks": (
        'run = "unjudged"\nmost_unjudged = 0.4\n' + ASKS,
        "unjudged: nobody has graded 50.0% of the chunks that count, more than 40%",
    ),
    "a baseline with too many unjudged chunks": (
        'run = "graded"\nbaseline = "unjudged"\nmost_unjudged = 0.4\n[overall]\n'
        '"P@1" = {drop = 0.1}\n',
        "unjudged: nobody has graded 100.0% of the chunks",
    ),
    "a baseline that knows half of the queries": (
        'run = "new"\nbaseline = "half"\n[overall]\nRR = {drop = 0.1}\n',
        "half: no list for 20 of 40 queries, where it would count 0 and hide a drop",
    ),
    "an unknown bucket": (
        'run = "new"\n[bucket.intent.setpu]\nRR = 0.1\n',
        "gate.toml:3: no query is in bucket of 'intent' 'setpu'; did you mean 'setup'?",
    ),
    "an unknown facet": ('run = "new"\n[each.intnet]\nRR = 0.1\n', "did you mean 'intent'?"),
    "each bucket of a facet that nobody is in": (
        'run = "new"\nsplit = "test"\n[overall]\nRR = 0.1\n[each.intent]\nRR = 0.1\n',
        "gate.toml:6: no query that is looked at has a bucket of 'intent'",
    ),
    "an unknown task": ('run = "new"\n[task.single]\nRR = 0.1\n', "no query of the golden set has"),
    "a drop from nothing": ('run = "new"\n[overall]\nRR = {drop = 0.1}\n', "line 3 allows a drop"),
    "nothing asked": ('run = "new"\n', "asks nothing"),
    "an empty file": ("", "asks nothing"),
    "no TOML": ('run = "new"\n[overall]\nnDCG@10 = 0.5\n', "line 3"),
}


@pytest.mark.parametrize("what", UNJUDGED)
def test_what_cannot_be_judged_never_passes(gate: Gate, database: Path, tmp_path: Path, what: str):
    if what.startswith("fewer"):
        with Store(database) as store:
            grades = [GoldenGrade(f"r{n}", "c1", 3) for n in range(2)]
            store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    if what.startswith("each bucket"):
        with Store(database) as store:
            store.queries.load(
                loaded([Query(f"t{n}", f"test {n}", split="test") for n in range(12)])
            )
            grades = [GoldenGrade(f"t{n}", "c1", 3) for n in range(12)]
            store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
    text, said = UNJUDGED[what]
    before = {path: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".toml"}
    judged = gate(text, *(["--run", ""] if "lost" in what else []))
    assert judged.exit_code == 2, judged.output
    assert said in judged.output
    after = {path: path.read_bytes() for path in tmp_path.iterdir() if path.suffix != ".toml"}
    assert after == before


def test_a_gate_file_or_a_golden_set_that_is_not_there_is_not_judged(tmp_path: Path, gate: Gate):
    missing = str(tmp_path / "missing")
    for command in (["--db", missing, "gate", __file__], ["gate", missing]):
        assert CliRunner().invoke(main, command, prog_name="labeler").exit_code == 2
    assert not Path(missing).exists()


def test_a_broken_limit_decides_also_beside_one_that_cannot_be_judged(gate: Gate):
    text = 'run = "new"\n[overall]\nRR = 0.99\n"P@1" = {at_least = 0, fewest_queries = 99}\n'
    failed = gate(text, "--format", "json")
    assert failed.exit_code == 1
    assert [row[2] for row in results(failed)] == ["failed", "not judged"]


def test_absent_queries_of_a_baseline_count_0_where_that_is_allowed(gate: Gate):
    text = 'run = "new"\nbaseline = "half"\n[overall]\nRR = {drop = 0.1, most_absent = 0.5}\n'
    passed = gate(text)
    assert passed.exit_code == 0
    assert "half: no list for 20 queries of 40 with golden grades" in passed.stdout


# --- the last run that passed --------------------------------------------------------------------

KEEPS = 'last_passing = "passed.json"\n[overall]\nRR = {drop = 0.03}\n'


def test_a_gate_without_its_last_passing_run_is_not_judged_until_it_is_begun(
    gate: Gate, tmp_path: Path
):
    lost = gate(KEEPS, "--run", "new")
    assert (lost.exit_code, "begin it with --begin" in lost.output) == (2, True)
    assert not (tmp_path / "passed.json").exists()
    begun = gate(KEEPS, "--run", "new", "--begin")
    assert begun.exit_code == 0, begun.output
    assert "drop from last passing run at most 0.03" in begun.stdout
    assert gate(KEEPS, "--run", "new").exit_code == 0


def test_only_what_passed_is_kept_and_small_losses_do_not_add_up(
    gate: Gate, database: Path, tmp_path: Path
):
    file = tmp_path / "passed.json"
    for worse in (0, 2, 4):
        add_run(database, f"worse in {worse}", worse)
    assert gate(KEEPS, "--run", "worse in 0", "--begin").exit_code == 0
    assert gate(KEEPS, "--run", "worse in 2").exit_code == 0
    kept = file.read_bytes()
    assert json.loads(kept)["last"] != json.loads(kept)["best"][0]["run"]
    failed = gate(KEEPS, "--run", "worse in 4", "--format", "json")
    assert failed.exit_code == 1
    assert results(failed) == [
        ("all", "last passing", "passed"),
        ("all", "best passing", "failed"),
    ]
    assert file.read_bytes() == kept


def test_another_run_of_the_same_name_is_not_taken_for_the_one_that_passed(
    gate: Gate, database: Path
):
    add_run(database, "candidate", worse=0)
    assert gate(KEEPS, "--run", "candidate", "--begin").exit_code == 0
    with Store(database) as store:
        store.runs.drop("candidate")
    add_run(database, "candidate", worse=20)
    judged = gate(KEEPS, "--run", "candidate")
    assert judged.exit_code != 0, "it would be compared with itself"


def test_a_run_that_passed_and_is_dropped_is_still_what_the_next_is_held_against(
    gate: Gate, database: Path, tmp_path: Path
):
    for worse in (0, 1, 4):
        add_run(database, f"worse in {worse}", worse)
    assert gate(KEEPS, "--run", "worse in 0", "--begin").exit_code == 0
    with Store(database) as store:
        store.runs.drop("worse in 0")
    failed = gate(KEEPS, "--run", "worse in 4")
    assert (failed.exit_code, "the last passing run worse in 0 (1.0000" in failed.stdout) == (
        1,
        True,
    )
    assert gate(KEEPS, "--run", "worse in 1").exit_code == 0
    kept = (tmp_path / "passed.json").read_bytes()
    with Store(database) as store:
        grades = [GoldenGrade("q00", "c2", 1)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        store.runs.drop("worse in 1")
    judged = gate(KEEPS, "--run", "worse in 4")
    assert judged.exit_code == 2, "nobody can score it by these grades any more"
    assert "was scored by another golden set and is not in the database" in judged.stdout
    assert (tmp_path / "passed.json").read_bytes() == kept


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"format": 1}',
        '{"format": 1, "last": "x", "best": [], "runs": []}',
        "[" * 9999,
    ],
    ids=["empty", "list", "open", "bare", "without runs", "deep"],
)
def test_a_broken_file_of_runs_that_passed_is_not_judged_and_stays(
    gate: Gate, tmp_path: Path, content: str
):
    file = tmp_path / "passed.json"
    file.write_text(content)
    for arguments in (["--run", "new"], ["--run", "new", "--begin"]):
        judged = gate(KEEPS, *arguments)
        assert (judged.exit_code, "out of the way" in judged.output) == (2, True)
        assert file.read_text() == content


# --- which golden set ----------------------------------------------------------------------------


def test_a_gate_judges_by_the_golden_set_it_names_and_by_no_other(gate: Gate, database: Path):
    labeler = ["--db", str(database)]
    assert CliRunner().invoke(main, [*labeler, "freeze", "release"]).exit_code == 0
    with Store(database) as store:
        was = store.collection.golden_state().hash
        grades = [GoldenGrade(f"q{n:02}", "c2", 3) for n in range(40)]
        store.golden_loads.add(LoadedGolden(loaded([]), loaded(grades), loaded([])))
        now = store.collection.golden_state().hash
    asks = 'run = "new"\n[overall]\nRR = 0.9\n'
    assert gate(asks).exit_code == 0, "both chunks are relevant now"
    for named in ("release", was, was[:8]):
        told = gate(f'golden = "{named}"\n{asks}', "--format", "json")
        assert (told.exit_code, json.loads(told.stdout)["golden"]) == (1, was)
    assert gate(asks, "--golden", "release").exit_code == 1
    live = gate(f'golden = "{now}"\n{asks}', "--format", "json")
    assert (live.exit_code, json.loads(live.stdout)["golden"]) == (0, now)
    missing = gate(f'golden = "relaese"\n{asks}')
    assert (missing.exit_code, f"the golden set is now {now[:8]}" in missing.output) == (2, True)
    other = gate(f'golden = "release"\n{asks}', "--golden", now)
    assert (other.exit_code, "--golden" in other.output) == (2, True)
    assert gate(f'golden = "release"\n{asks}', "--golden", was).exit_code == 1


# --- what it prints ------------------------------------------------------------------------------


def test_all_forms_are_written_at_once_also_where_nothing_could_be_judged(
    gate: Gate, tmp_path: Path
):
    paths = {form: tmp_path / f"out.{form}" for form in ("json", "junit", "md")}
    files = [word for form, path in paths.items() for word in (f"--{form}", str(path))]
    assert gate('run = "new"\n[overall]\nRR = 0.99\n"P@1" = 0.1\n', *files).exit_code == 1
    suite = ET.parse(paths["junit"]).getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "1", "0")
    assert json.loads(paths["json"].read_text())["result"] == "failed"
    assert "| FAILED | all queries | RR | at least 0.99 | 0.8625 |" in paths["md"].read_text()
    assert gate('run = "nwe"\n[overall]\nRR = 0.1\n', *files).exit_code == 2
    suite = ET.parse(paths["junit"]).getroot()[0]
    assert (suite.get("errors"), suite[0][0].tag) == ("1", "error")
    told = json.loads(paths["json"].read_text())
    assert (told["result"], "did you mean 'new'" in told["error"]) == ("not judged", True)
    assert "did you mean 'new'" in paths["md"].read_text()


def test_no_output_takes_the_place_of_what_is_read_or_of_another(
    gate: Gate, database: Path, tmp_path: Path
):
    same = str(tmp_path / "same")
    for arguments in (["--json", str(database)], ["--md", same, "--junit", same]):
        refused = gate('run = "new"\n[overall]\nRR = 0.1\n', *arguments)
        assert (refused.exit_code, "is named twice" in refused.output) == (2, True)
    assert database.read_bytes().startswith(b"SQLite format 3")
    assert not Path(same).exists()


def test_names_act_in_no_form(database: Path, gate: Gate):
    add_run(database, HOSTILE.replace("\u202e", ""), worse=11)
    name = json.dumps(HOSTILE.replace("\u202e", ""))
    text = f"run = {name}\n[overall]\nRR = 0.99\n"
    forms = {form: gate(text, "--format", form).stdout for form in ("table", "junit", "md")}
    assert "&#124;b&#60;img src=x&#62;&#96;" in forms["md"]
    assert "<img" not in forms["md"].replace("&#60;img", "")
    ET.fromstring(forms["junit"])
    missing = 'run = "a\\u001b[2J\\u0000\\uFFFE\\u202e"\n[overall]\nRR = 0.99\n'
    for form in ("table", "md"):
        said = gate(missing, "--format", form).output
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_a_name_that_xml_cannot_carry_leaves_the_report_readable(gate: Gate, tmp_path: Path):
    path = tmp_path / "out.xml"
    missing = 'run = "a\\u001b[2J\\u0000\\uFFFE|"\n[overall]\nRR = 0.99\n'
    assert gate(missing, "--junit", str(path)).exit_code == 2
    assert "\\x1b[2J" in str(ET.parse(path).getroot()[0][0][0].get("message"))


def test_a_server_is_not_started_with_a_gate_file_that_cannot_be_read(
    database: Path, tmp_path: Path
):
    file = tmp_path / "gate.toml"
    for text, said in (
        (None, "there is no such file"),
        ("[overall]\nRR = 9\n", "gate.toml:2: 'at_least'"),
    ):
        if text is not None:
            file.write_text(text)
        command = ["--db", str(database), "serve", "--no-browser", "--gate", str(file)]
        refused = CliRunner().invoke(main, command, prog_name="labeler")
        assert (refused.exit_code, said in refused.output) == (1, True)
