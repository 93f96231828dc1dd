"""The command line on real files: what it prints, what it leaves behind, how it ends."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import re
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import labeler
from labeler.cli import main
from labeler.cli.atomic_output import new_golden_set
from labeler.cli.output import progress_bar
from labeler.errors import BadInput
from labeler.model import Judgment, Remark, Settings
from labeler.store import Store

QUERIES = """\
{"query_id": "q1", "query": "how do I get my money back", "task": "single", \
"buckets": {"intent": "refund"}}
{"query_id": "q2", "query": "parcel lost", "task": "research", "buckets": {"intent": "shipping"}}
{"query_id": "q3", "query": "phone number", "buckets": {"intent": "contact"}}
"""
CHUNKS = """\
{"chunk_id": "c1", "text": "Refunds take three days."}
{"chunk_id": "c2", "text": "Report a lost parcel within a week."}
{"chunk_id": "c3", "text": "We are open from nine."}
"""
RUN_A = """\
q1 Q0 c1 1 3.0 a
q1 Q0 c3 2 2.0 a
q2 Q0 c3 1 9.5 a
q2 Q0 c2 2 9.0 a
"""
RUN_B = """\
q1 Q0 c3 1 3.0 b
q1 Q0 c1 2 2.0 b
q2 Q0 c2 1 9.5 b
q2 Q0 c3 2 9.0 b
"""
QRELS = """\
q1 0 c1 3
q1 0 c3 0
q2 0 c2 2
"""
FEW_QUERIES = "! Only 2 queries are in the mean: any difference may be chance\n"

NAMES = ("measure", "full_name")
COUNTS = ("n", "undefined", "unjudged", "missing")
SAID = ("conventions", "notes")

Labeler = Callable[..., Result]


def table_of(result: Result) -> list[str]:
    """Return the lines from the table on: below what is said of the runs."""
    lines = result.output.splitlines()
    heads = [at for at, line in enumerate(lines) if "  " in line or line.startswith("| ")]
    return lines[heads[0] :]


def first_line(result: Result) -> str:
    """Return the first line of what was printed."""
    return result.output.splitlines()[0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder that holds only the input files, in ``in``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LABELER_DB", raising=False)
    (tmp_path / "in").mkdir()
    for name, text in {
        "queries.jsonl": QUERIES,
        "chunks.jsonl": CHUNKS,
        "a.trec": RUN_A,
        "b.trec": RUN_B,
        "grades.qrels": QRELS,
    }.items():
        (tmp_path / "in" / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def run(here: Path) -> Labeler:
    """Run a labeler command in the folder."""

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, prog_name="labeler")

    return invoke


@pytest.fixture
def filled(run: Labeler) -> Labeler:
    """The same, with everything loaded into golden.db."""
    for arguments in (
        ("queries", "in/queries.jsonl"),
        ("chunks", "in/chunks.jsonl"),
        ("run", "in/a.trec", "--date", "2026-01-01"),
        ("run", "in/b.trec", "--date", "2026-01-02", "--system", "bee"),
        ("golden", "in/grades.qrels"),
    ):
        assert run("load", *arguments).exit_code == 0
    return run


def content(database: Path) -> list[str]:
    """Everything the database says, but for the counter that each attempt may not move either."""
    with sqlite3.connect(database) as connection:
        connection.create_function("list_rows", 2, lambda *_: "")
        lines = list(connection.iterdump())
    connection.close()
    return lines


def files(folder: Path) -> list[str]:
    """The names in a folder, hidden ones too."""
    return sorted(os.listdir(folder))


# Loading


def test_a_load_makes_the_file_and_reports_what_it_did(run: Labeler, here: Path) -> None:
    result = run("load", "queries", "in/queries.jsonl")
    assert result.output == (
        "queries from in/queries.jsonl\n"
        "  queries        3\n"
        "  task single    1\n"
        "  task research  1\n"
        "  facet intent   3 buckets\n"
        "  new            3\n"
    )
    assert files(here) == ["golden.db", "in"]


def test_a_failed_load_leaves_no_new_file(run: Labeler, here: Path) -> None:
    (here / "in" / "bad.trec").write_text(RUN_A + "q1 Q0 c1 3 1.0 a\n")
    result = run("load", "run", "in/bad.trec")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: in/bad.trec:5: chunk 'c1' appears twice for query 'q1'")
    assert files(here) == ["in"]


def test_a_load_the_store_refuses_leaves_no_new_file(run: Labeler, here: Path) -> None:
    result = run("load", "golden", "in/grades.qrels")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: in/grades.qrels:1: query 'q1' is not in the golden set; load its queries first: "
        "labeler load queries FILE\n"
    )
    assert files(here) == ["in"]


def test_a_beir_folder_with_grades_of_an_unknown_query_says_which_file_lacks_it(
    run: Labeler, here: Path
) -> None:
    parts = {
        "corpus.jsonl": '{"_id": "c1", "text": "body"}\n',
        "queries.jsonl": '{"_id": "q1", "text": "why?"}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq9\tc1\t2\n",
    }
    for name, text in parts.items():
        path = here / "set" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    result = run("load", "beir", "set")
    assert result.exit_code == 1
    assert result.stderr.endswith(
        "test.tsv:2: query 'q9' is neither in set/queries.jsonl nor in the golden set; add it "
        "there, or leave out its grades\n"
    )


def test_a_failed_load_leaves_the_database_unchanged(filled: Labeler, here: Path) -> None:
    before, raw = content(here / "golden.db"), (here / "golden.db").read_bytes()
    (here / "in" / "more.qrels").write_text("q3 0 c1 1\nq1 0 c1 7\n")
    (here / "in" / "strange.qrels").write_text("q3 0 c1 1\nq9 0 c1 1\n")
    for name in ("more.qrels", "strange.qrels"):
        assert filled("load", "golden", f"in/{name}").exit_code == 1
    assert content(here / "golden.db") == before
    assert (here / "golden.db").read_bytes() == raw
    assert files(here) == ["golden.db", "in"]


def test_the_same_run_twice_is_harmless_and_another_under_its_name_is_refused(
    filled: Labeler, here: Path
) -> None:
    before = content(here / "golden.db")
    again = filled("load", "run", "in/a.trec")
    assert again.output == "run 'a' is already there with the same content\n"
    other = filled("load", "run", "in/b.trec", "--name", "a")
    assert other.exit_code == 1
    assert "already a run named 'a' with other content" in other.stderr
    assert "labeler drop run a" in other.stderr
    assert [line for line in content(here / "golden.db") if "data_revision" not in line] == [
        line for line in before if "data_revision" not in line
    ]


def test_a_run_is_named_after_its_file_and_belongs_to_a_system(filled: Labeler, here: Path) -> None:
    (here / "in" / "bm25-k1.2.run.txt").write_text(RUN_A)
    filled("load", "run", "in/bm25-k1.2.run.txt", "--order", "rank")
    with Store(here / "golden.db") as store:
        shown = [(run.name, run.system, run.created_at) for run in store.runs.all()]
    assert shown[:2] == [("a", "a", "2026-01-01"), ("b", "bee", "2026-01-02")]
    assert shown[2] == ("bm25-k1.2", "bm25-k1.2", None), "nobody said when it was made"


def test_duplicates_and_odd_grades_are_taken_on_request(filled: Labeler, here: Path) -> None:
    (here / "in" / "twice.trec").write_text(RUN_A + "q1 Q0 c1 3 1.0 a\n")
    (here / "in" / "odd.qrels").write_text("q3 0 c1 -1\nq3 0 c2 5\n")
    twice = filled("load", "run", "in/twice.trec", "--on-duplicate", "first")
    assert "duplicates dropped" in twice.output
    odd = filled("load", "golden", "in/odd.qrels", "--negative-as-zero", "--grade-map", "5=3")
    assert odd.exit_code == 0
    assert "imported" in odd.output


def test_a_grade_map_nobody_can_read_is_explained(filled: Labeler) -> None:
    result = filled("load", "golden", "in/grades.qrels", "--grade-map", "five=many")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: --grade-map: 'five=many' must be")


def test_known_queries_with_other_text_need_update(filled: Labeler, here: Path) -> None:
    (here / "in" / "queries.jsonl").write_text(QUERIES.replace("parcel lost", "lost parcel"))
    refused = filled("load", "queries", "in/queries.jsonl")
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: in/queries.jsonl:2: query 'q2' is already")
    assert filled("load", "queries", "in/queries.jsonl", "--update").exit_code == 0


def test_facets_can_be_named(run: Labeler, here: Path) -> None:
    result = run("load", "queries", "in/queries.jsonl", "--facet", "colour")
    assert result.exit_code == 1
    assert "no query has the facet 'colour' (there are: intent)" in result.stderr
    assert run("load", "queries", "in/queries.jsonl", "--facet", "intent").exit_code == 0


def test_a_folder_that_is_not_there_is_not_made(run: Labeler, here: Path) -> None:
    result = run("--db", "nowhere/golden.db", "load", "queries", "in/queries.jsonl")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: nowhere/golden.db: the folder nowhere does not exist; create it first\n"
    )
    assert files(here) == ["in"]


def test_a_file_that_is_no_golden_set_is_refused_and_kept(run: Labeler, here: Path) -> None:
    (here / "notes.db").write_text("these are my notes, not a database\n" * 40)
    result = run("--db", "notes.db", "load", "queries", "in/queries.jsonl")
    assert result.exit_code == 1
    assert "not a golden set of labeler" in result.stderr
    assert (here / "notes.db").read_text().startswith("these are my notes")


def test_an_empty_file_becomes_a_golden_set_or_stays_empty(run: Labeler, here: Path) -> None:
    (here / "mine.db").touch(mode=0o640)
    (here / "link.db").symlink_to("mine.db")
    (here / "in" / "bad.jsonl").write_text("{}\n")
    assert run("--db", "link.db", "load", "queries", "in/bad.jsonl").exit_code == 1
    no_grades = run("--db", "link.db", "load", "golden", "in/grades.qrels")
    assert "load its queries first" in no_grades.stderr
    assert (here / "mine.db").read_bytes() == b""
    assert run("--db", "link.db", "load", "queries", "in/queries.jsonl").exit_code == 0
    with Store(here / "mine.db") as store:
        assert len(store.queries.all()) == 3
    assert (here / "link.db").is_symlink()
    assert stat.S_IMODE((here / "mine.db").stat().st_mode) == 0o640
    assert files(here) == ["in", "link.db", "mine.db"]


LONG = "x" * 300


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("load", "queries", LONG), f"{LONG}: cannot be opened: File name too long"),
        (("load", "beir", LONG), f"{LONG}: cannot be opened: File name too long"),
        (
            ("--db", f"{LONG}.db", "load", "queries", "in/queries.jsonl"),
            f"{LONG}.db: cannot be opened: File name too long",
        ),
        (("export", f"{LONG}.jsonl"), f"{LONG}.jsonl: cannot be written: File name too long"),
        (("export", LONG, "--format", "beir"), f"{LONG}: cannot be written: File name too long"),
        (
            ("--db", "golden.db/x", "load", "queries", "in/queries.jsonl"),
            "golden.db/x: golden.db is a file, not a folder; name another with --db",
        ),
        (("export", "golden.db/x.csv"), "golden.db/x.csv: cannot be written: Not a directory"),
        (
            ("export", "nowhere.csv"),
            "nowhere.csv: is a link to gone, where nothing is; remove the link, or name another "
            "file",
        ),
        (
            ("load", "run", "in/a.trec", "--name", ""),
            "--name '': a run needs a name that is one line and not blank",
        ),
    ],
)
def test_a_place_that_cannot_be_is_one_sentence(
    filled: Labeler, here: Path, arguments: tuple[str, ...], said: str
) -> None:
    (here / "nowhere.csv").symlink_to("gone")
    before = content(here / "golden.db")
    result = filled(*arguments)
    assert (result.exit_code, result.stderr) == (1, f"Error: {said}\n")
    assert files(here) == ["golden.db", "in", "nowhere.csv"]
    assert content(here / "golden.db") == before


def test_a_name_as_long_as_the_system_allows_can_be_exported_to(
    filled: Labeler, here: Path
) -> None:
    name = "x" * 249 + ".jsonl"
    assert filled("export", name).exit_code == 0
    assert files(here) == ["golden.db", "in", f"{name[:246]}.seal.txt", name]


AS_NOBODY = """
import os, sys
from labeler.cli import main
place, *lines = sys.argv[1:]
commands = [*main.commands.values()]  # imported now: nobody may read the modules
os.chdir(place)
del os.environ["LABELER_DB"]
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
for line in lines:
    child = os.fork()
    if not child:
        main(line.split(), prog_name="labeler")
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
"""
MAY_NOT = {
    "load queries secret.jsonl": "secret.jsonl: cannot be opened: Permission denied",
    "load queries closed/f": "closed/f: cannot be opened: Permission denied",
    "load beir closed": "closed: cannot be opened: Permission denied",
    "load beir secret.jsonl": "secret.jsonl: cannot be opened: Permission denied",
    "--db secret.db score": "secret.db: cannot be opened; check the permissions",
}


def test_what_may_not_be_read_is_one_sentence(
    python: Callable[..., subprocess.Popen[str]],
) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o755)
        Store(place / "secret.db", create=True).close()
        (place / "secret.jsonl").write_text(QUERIES)
        (place / "closed").mkdir()
        for secret in place.iterdir():
            secret.chmod(0o000)
        codes, errors = python(AS_NOBODY, place, *MAY_NOT).communicate()
        (place / "closed").chmod(0o700)
    assert codes.split() == ["1"] * len(MAY_NOT)
    for said, expected in zip(errors.splitlines(), MAY_NOT.values(), strict=True):
        assert said.startswith(f"Error: {expected}")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk always full")
@pytest.mark.parametrize(
    "arguments",
    [
        "score",
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in ("export -", "measures", "--help", "load --help")
        ),
    ],
)
def test_a_full_disk_is_one_sentence(filled: Labeler, here: Path, arguments: str) -> None:
    command = [sys.executable, "-m", "labeler", *arguments.split()]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command, cwd=here, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr == "Error: the output cannot be written: No space left on device\n"


def test_a_golden_set_s_report_says_everything_once(filled: Labeler, here: Path) -> None:
    assert filled("export", "golden.jsonl").exit_code == 0
    text = (here / "golden.jsonl").read_text().replace('"q1"', '" q1"')
    (here / "golden.jsonl").write_text(text)
    result = filled("--db", "new.db", "load", "golden", "golden.jsonl")
    names = [line[2:].rsplit("  ", 1)[0].strip() for line in result.stdout.splitlines()[1:]]
    assert len(set(names)) == len(names)
    facts = dict(re.findall(r"^  (\S.*?)  +(\d+)$", result.stdout, flags=re.MULTILINE))
    assert (facts["queries"], facts["queries new"], facts["queries with grades"]) == ("3",) * 2 + (
        "2",
    )
    assert facts["new chunks, known by id only"] == "3"
    assert result.stdout.count("! ") == 1


def test_an_export_counts_the_queries_that_are_in_it(filled: Labeler) -> None:
    assert first_line(filled("export", "a.jsonl")) == "a.jsonl: 3 queries, 3 golden grades"
    assert first_line(filled("export", "a.qrels")) == "a.qrels: 2 queries, 3 golden grades"
    assert first_line(filled("export", "a.csv")) == "a.csv: 2 queries, 3 golden grades"


def test_a_beir_folder_without_qrels_reports_no_grades(filled: Labeler, here: Path) -> None:
    assert filled("export", "set", "--format", "beir").exit_code == 0
    shutil.rmtree(here / "set" / "qrels")
    result = filled("--db", "new.db", "load", "beir", "set")
    assert result.exit_code == 0
    assert "queries from set" in result.output
    assert "golden" not in result.output


def test_a_beir_folder_goes_out_and_comes_in(filled: Labeler, here: Path) -> None:
    exported = filled("export", "set", "--format", "beir")
    assert first_line(exported) == "set: 3 queries, 3 chunks, 3 golden grades"
    loaded = filled("--db", "new.db", "load", "beir", "set")
    assert loaded.exit_code == 0
    missing = filled("--db", "new2.db", "load", "beir", "set", "--split", "dev")
    assert missing.exit_code == 1
    assert "there is no qrels/dev.tsv; the splits are: test" in missing.stderr
    assert files(here) == ["golden.db", "in", "new.db", "set"]


class Terminal(io.StringIO):
    """Something that looks like a terminal."""

    def isatty(self) -> bool:
        return True


def test_long_work_shows_a_bar_and_short_work_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for patience, shown in ((0.0, True), (60.0, False)):
        terminal = Terminal()
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr("labeler.cli.output.PATIENCE_SECONDS", patience)
        with progress_bar("Reading a.trec", then="Storing ...") as tell:
            assert tell is not None
            for share in (0.25, 0.5, 1.0):
                tell(share)
        assert ("Reading a.trec" in terminal.getvalue()) is shown
        assert terminal.getvalue().endswith("Storing ...\n") is shown
        assert ("100%" in terminal.getvalue()) is shown


def test_nobody_is_told_of_progress_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr("sys.stderr", pipe)
    with progress_bar("Reading a.trec", then="Storing ...") as tell:
        assert tell is None
    assert pipe.getvalue() == ""


def test_a_golden_set_that_somebody_made_meanwhile_is_not_replaced(here: Path) -> None:
    path = here / "golden.db"
    with pytest.raises(BadInput, match="has just been made by somebody else"), new_golden_set(path):
        path.write_bytes(b"theirs")
    assert path.read_bytes() == b"theirs"
    assert files(here) == ["golden.db", "in"]


# Scoring


def test_a_typo_in_db_makes_no_file(filled: Labeler, here: Path) -> None:
    for command in (["score"], ["export", "-"], ["drop", "run", "a"], ["serve"]):
        result = filled("--db", "glden.db", *command)
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: glden.db: there is no golden set here")
    assert files(here) == ["golden.db", "in"]


def test_the_table_shows_means_and_what_they_rest_on(filled: Labeler) -> None:
    result = filled("score", "--measures", "nDCG@10 RR", "--measures", "Judged@2")
    assert result.output == (
        "Too few queries to say which run is best: 2.\n"
        "nDCG@10: a 0.8155, b 0.8155.\n"
        "\n"
        "run  nDCG@10      RR  Judged@2  n  unjudged@10\n"
        "a     0.8155  0.7500    0.7500  2            1\n"
        "b     0.8155  0.7500    0.7500  2            1\n"
        "\n"
        f"{FEW_QUERIES}"
        "! More than 20% of the top 10 is unjudged in both runs, most in a (25%): "
        "grading these chunks can change the scores either way\n"
        "\n"
        "golden 119a51a7 · --explain says how this is computed\n"
        "1 query without any golden grade: left out\n"
    )


def test_cautions_are_notes_for_programs_too(filled: Labeler) -> None:
    found = json.loads(filled("score", "--measures", "RR", "--format", "json").output)
    few = {"kind": "few", "text": FEW_QUERIES[2:].strip()}
    assert all(few in row["notes"] for row in found)
    assert f"\n- {FEW_QUERIES}" in filled("score", "--format", "md").output
    assert FEW_QUERIES[2:].strip() in filled("score", "--format", "csv").output
    assert "in the mean" not in filled("score", "--per-query").output


def test_rbp_says_what_ungraded_chunks_could_add(filled: Labeler) -> None:
    """Each list leaves open all but the weights .2 and .16 of the graded ones at its two ranks."""
    said = "RBP(p=0.8): ungraded chunks could add up to 0.7400 (a), 0.7200 (b)\n"
    table = filled("score", "--measures", "RBP(p=0.8) RR").output
    assert f"\n1 query without any golden grade: left out\n{said}" in table
    assert said in filled("score", "--measures", "RBP", "--format", "md").output
    assert "could add" not in filled("score", "--measures", "RR ERR nDCG@10").output
    assert "could add" not in filled("score", "--measures", "RBP", "--by", "task").output


def test_a_run_that_shares_no_query_is_never_a_silent_zero(filled: Labeler, here: Path) -> None:
    (here / "in" / "odd.trec").write_text("zz Q0 c1 1 2 odd\n")
    assert filled("load", "run", "in/odd.trec").exit_code == 0
    refused = filled("score", "odd", "--format", "json")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert refused.stderr.startswith("Error: no query of the golden set is in 'odd'; are the query")
    beside = filled("score", "--format", "json")
    assert (beside.exit_code, beside.stderr) == (0, "")
    of_odd = [row for row in json.loads(beside.stdout) if row["run"] == "odd"]
    assert {(row["value"], row["reason"]) for row in of_odd} == {
        (None, "no result for any query that counts")
    }
    assert (
        "! odd: no result for any query with golden grades, so no value" in filled("score").stdout
    )
    compared = filled("compare", "a", "odd")
    assert "run 'odd' has no result for any query of the golden set" in compared.stderr


def test_queries_that_a_run_has_no_list_for_are_counted(filled: Labeler, here: Path) -> None:
    (here / "in" / "half.trec").write_text("q1 Q0 c1 1 2 half\n")
    filled("load", "run", "in/half.trec")
    assert (
        "! half: no list for 1 query of 2 with golden grades, where its values are 0"
        in filled("score").stdout
    )
    assert filled("score", "--format", "json").stderr == ""


def test_compare_says_how_far_ties_could_move_the_means(filled: Labeler, here: Path) -> None:
    (here / "in" / "tied.trec").write_text("q1 Q0 c3 1 2 t\nq1 Q0 c1 2 2 t\nq2 Q0 c2 1 5 t\n")
    filled("load", "run", "in/tied.trec")
    shown = filled("compare", "a", "tied", "--measures", "RR", "--explain").stdout
    assert "\ntied: other orders of its ties could give RR 0.7500 to 1.0000" in shown
    assert "other orders" not in filled("compare", "a", "b", "--measures", "RR").stdout


def test_programs_get_the_residual_beside_each_value_of_rbp(filled: Labeler) -> None:
    def rows(*more: str) -> list[dict[str, str]]:
        text = filled("score", "a", "--measures", "RBP RR", "--format", "csv", *more).output
        return list(csv.DictReader(io.StringIO(text)))

    assert [(row["measure"], row["residual"][:4]) for row in rows()] == [
        ("RBP", "0.74"),
        ("RR", ""),
    ]
    assert [(row["query_id"], row["residual"][:4]) for row in rows("--per-query")[::2]] == [
        ("q1", "0.64"),
        ("q2", "0.84"),
        ("q3", ""),
    ]
    assert [(row["bucket"], row["residual"][:4]) for row in rows("--by", "task")[:2]] == [
        ("single", "0.64"),
        ("research", "0.84"),
    ]
    rbp, rr = json.loads(filled("score", "a", "--measures", "RBP RR", "--format", "json").output)
    assert rbp["residual"] == pytest.approx(0.74, abs=1e-12)
    assert rr["residual"] is None
    assert "residual" not in filled("score", "--measures", "RR", "--format", "csv").output


def test_programs_find_a_value_under_the_name_they_asked_for(filled: Labeler) -> None:
    asked = "nDCG@10 MRR Recall@5 R@prompt"
    for command in (["score", "a"], ["compare", "a", "b"]):
        for more in ([], ["--per-query"], ["--by", "task"]):
            said = filled(*command, "--measures", asked, "--format", "json", *more).output
            names = dict.fromkeys((row["measure"], row["full_name"]) for row in json.loads(said))
            assert list(names) == [
                ("nDCG@10", "nDCG(dcg='exp-log2')@10"),
                ("MRR", "RR(rel=1)"),
                ("Recall@5", "R(rel=1)@5"),
                ("R@prompt", "R(rel=1)@5"),
            ]
    assert filled("score", "a", "--measures", asked).output.splitlines()[0].split() == [
        *("run", "nDCG@10", "RR", "R@5", "n", "unjudged@10")
    ], "people see each measure once"


@pytest.mark.parametrize("kind", ["score", "compare"])
def test_a_name_is_no_formula_in_a_file_of_values(filled: Labeler, kind: str) -> None:
    assert filled("load", "run", "in/b.trec", "--name", "=1+1").exit_code == 0
    runs = ["=1+1"] if kind == "score" else ["a", "=1+1"]
    said = filled(kind, *runs, "--measures", "RR", "--format", "csv").output
    assert "'=1+1" in said
    assert not re.search(r"(^|,)\"?=", said, flags=re.MULTILINE)


def test_db_may_stand_after_the_command_and_in_the_environment(
    filled: Labeler, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "golden.db").rename("other.db")
    before = filled("--db", "other.db", "score", "a")
    after = filled("score", "a", "--db", "other.db")
    monkeypatch.setenv("LABELER_DB", "other.db")
    assert before.output == after.output == filled("score", "a").output
    assert before.output.startswith("run  nDCG@10")


def test_json_has_every_digit_and_null_for_undefined(filled: Labeler, here: Path) -> None:
    (here / "in" / "zero.qrels").write_text("q3 0 c1 0\n")
    filled("load", "golden", "in/zero.qrels")
    rows = json.loads(filled("score", "--per-query", "--measures", "RR", "--format", "json").output)
    assert [list(row) for row in rows] == [
        ["run", "query_id", *NAMES, "value", "reason", *COUNTS, *SAID]
    ] * 6
    assert [(row["run"], row["query_id"], row["value"], row["n"]) for row in rows] == [
        ("a", "q1", 1.0, 1),
        ("a", "q2", 0.5, 1),
        ("a", "q3", None, 0),
        ("b", "q1", 0.5, 1),
        ("b", "q2", 1.0, 1),
        ("b", "q3", None, 0),
    ]
    assert rows[2]["undefined"] == 1
    assert (rows[0]["measure"], rows[0]["full_name"]) == ("RR", "RR(rel=1)")
    assert rows[0]["conventions"]["preset"] == "graded"
    (mean,) = json.loads(filled("score", "a", "--measures", "nDCG@10", "--format", "json").output)
    unjudged = ("possible_low", "possible_high", "possible_exact", "likely_low", "likely_high")
    ends = (*unjudged, "lowest", "highest")
    assert list(mean) == [*("run", *NAMES, "value", "reason", *COUNTS, *ends, *SAID)]
    assert mean["possible_low"] <= mean["likely_low"] <= mean["likely_high"]
    assert mean["likely_high"] <= mean["possible_high"]
    assert mean["value"] == pytest.approx((1 + 1 / 1.5849625007211562) / 2, abs=1e-15)
    assert (mean["n"], mean["undefined"], mean["unjudged"]) == (2, 1, 1)


def test_buckets_have_rows_of_their_own(filled: Labeler, here: Path) -> None:
    table = filled("score", "--by", "task", "--measures", "RR")
    assert table_of(table)[:5] == [
        "task      run      RR  n  unjudged@10",
        "single    a    1.0000  1            0",
        "single    b    0.5000  1            0",
        "research  a    0.5000  1            1",
        "research  b    1.0000  1            1",
    ]
    rows = list(
        csv.DictReader(
            io.StringIO(
                filled("score", "--by", "intent", "--measures", "RR", "--format", "csv").output
            )
        )
    )
    assert [(row["run"], row["facet"], row["bucket"], row["value"]) for row in rows[:3]] == [
        ("a", "intent", "refund", "1.0"),
        ("a", "intent", "shipping", "0.5"),
        ("a", "intent", "contact", ""),
    ]


def test_queries_in_no_bucket_are_counted(filled: Labeler, here: Path) -> None:
    (here / "in" / "q3.qrels").write_text("q3 0 c1 1\n")
    filled("load", "golden", "in/q3.qrels")
    result = filled("score", "--by", "task", "--measures", "RR")
    assert "\njudged queries in no bucket of 'task', so in no row: 1\n" in result.output


def test_markdown_escapes_what_would_break_its_table(filled: Labeler) -> None:
    filled("load", "run", "in/a.trec", "--name", "a|b![x](http://y)")
    result = filled("score", "--measures", "RR", "--format", "md")
    assert table_of(result)[:5] == [
        "| run | RR | n | unjudged@10 |",
        "| --- | ---: | ---: | ---: |",
        "| a | 0.7500 | 2 | 1 |",
        "| b | 0.7500 | 2 | 1 |",
        "| a&#124;b!&#91;x&#93;(http&#58;//y) | 0.7500 | 2 | 1 |",
    ]


def test_a_measure_unlike_the_conventions_is_spelled_out(filled: Labeler) -> None:
    result = filled("score", "--rel", "2", "--measures", "P@5 P(rel=3)@5 R(rel=2)@5")
    assert table_of(result)[0] == "run     P@5  P(rel=3)@5     R@5    n  unjudged@5"
    assert "relevant from grade 2" in result.output


def test_the_rule_of_several_grades_stands_in_every_form_of_the_conventions(
    filled: Labeler, here: Path
) -> None:
    before = json.loads(filled("score", "--measures", "RR", "--format", "json").output)
    assert {row["conventions"]["golden_rule"] for row in before} == {"lower median"}
    filled("change", "setting", "golden-rule", "majority")
    rows = json.loads(filled("score", "--measures", "RR", "--format", "json").output)
    assert {row["conventions"]["golden_rule"] for row in rows} == {"majority"}
    for command in (["score"], ["score", "--format", "csv"], ["compare", "a", "b"]):
        assert (
            "· several graders: majority, a tie is as ungraded ·"
            in filled(*command, "--measures", "RR").output
        )


def test_threshold_and_budget_come_from_the_settings_unless_given(
    filled: Labeler, here: Path
) -> None:
    with Store(here / "golden.db") as store:
        store.settings.save(Settings(rel=3, prompt_k=1, prompt_k_by_task={"research": 2}))
    table = filled("score", "--measures", "R@prompt", "--per-query")
    assert table_of(table)[0] == "query  run  R@prompt  unjudged@prompt"
    assert "relevant from grade 3" in table.output
    assert "prompt size 1, research 2" in table.output
    given = filled("score", "--measures", "R@prompt", "--prompt-k", "2", "--rel", "1")
    assert table_of(given)[0] == "run     R@2  n  unjudged@2"
    assert "golden ea543d6b · --explain" in given.output


def test_the_preset_of_trec_eval_counts_what_is_undefined_as_zero(
    filled: Labeler, here: Path
) -> None:
    (here / "in" / "zero.qrels").write_text("q3 0 c1 0\n")
    filled("load", "golden", "in/zero.qrels")
    result = filled("score", "a", "--preset", "trec_eval", "--measures", "RR", "--format", "json")
    assert [(row["value"], row["n"]) for row in json.loads(result.output)] == [(0.5, 3)]


def test_what_a_perfect_reranker_would_give_is_said_to_people_and_to_programs(
    filled: Labeler,
) -> None:
    asked = ("score", "a", "--measures", "RR Judged@10", "--reranked", "20")
    said = [line for line in filled(*asked).output.splitlines() if "perfect reranker" in line]
    assert len(said) == 1, "no order makes more graded"
    assert said[0].startswith("a: a perfect reranker of the top 20 would give RR ")
    rr, judged = json.loads(filled(*asked, "--format", "json").output)
    assert [note["text"] for note in rr["notes"] if note["kind"] == "perfect reranker"] == said
    assert "perfect reranker" not in [note["kind"] for note in judged["notes"]]
    assert "perfect reranker" not in filled("score", "a").output


def test_runs_come_in_the_order_asked_for(filled: Labeler) -> None:
    result = filled("score", "b", "a", "b", "--measures", "RR")
    assert [line[0] for line in table_of(result)[1:3]] == ["b", "a"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["c"], 1, "no run is called 'c'; there are: a, b"),
        (["--measures", "nDGC@10"], 1, "no measure is called 'nDGC'; did you mean nDCG"),
        (["--measures", "P"], 1, "needs a cut-off, as in P@5"),
        (["--measures", " "], 1, "no measure is named"),
        (["--by", "colour"], 1, "no facet is called 'colour'; there are: intent, task"),
        (["--by", "task", "--per-query"], 2, "--by and --per-query cannot be asked for together"),
        (["--by", "task", "--reranked", "5"], 2, "--reranked is over all queries"),
        (["--reranked", "0"], 2, "0 is not in the range x>=1"),
        (["--preset", "strict"], 2, "'strict' is not one of 'graded', 'trec_eval'"),
        (["--rel", "0"], 2, "0 is not in the range 1<=x<=3"),
        (["--colour"], 2, "No such option"),
    ],
)
def test_what_cannot_be_scored_is_said_in_one_sentence(
    filled: Labeler, arguments: list[str], code: int, message: str
) -> None:
    result = filled("score", *arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_an_empty_golden_set_says_what_to_load(run: Labeler) -> None:
    run("load", "chunks", "in/chunks.jsonl")
    assert "there are no queries yet" in run("score").stderr
    run("load", "queries", "in/queries.jsonl")
    assert "there are no runs yet" in run("score").stderr


# Writing


def test_a_golden_set_comes_back_byte_for_byte(filled: Labeler, here: Path) -> None:
    assert first_line(filled("export", "g.jsonl")) == "g.jsonl: 3 queries, 3 golden grades"
    filled("--db", "new.db", "load", "golden", "g.jsonl")
    filled("--db", "new.db", "export", "again.jsonl.gz")
    filled("--db", "third.db", "load", "golden", "again.jsonl.gz")
    result = filled("--db", "third.db", "export", "-")
    assert result.stdout_bytes == (here / "g.jsonl").read_bytes()
    assert (here / "again.jsonl.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_the_ending_of_a_path_says_the_format(filled: Labeler, here: Path) -> None:
    filled("export", "g.qrels")
    assert (here / "g.qrels").read_text() == QRELS
    filled("export", "g.csv")
    assert (here / "g.csv").read_text().startswith("query,docid,rating,")
    assert filled("export", "g.zip").exit_code == 0
    assert (here / "g.zip").read_bytes()[:4] == b"PK\x03\x04"
    unclear = filled("export", "g.txt")
    assert unclear.exit_code == 2
    assert "g.txt does not say in which format; add --format" in unclear.stderr


def test_the_log_can_be_carried_into_a_new_file(filled: Labeler, here: Path) -> None:
    with Store(here / "golden.db") as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q2", "c3", "Ann", grade=1))
    assert first_line(filled("export", "log.jsonl", "--format", "events")) == "log.jsonl: 4 events"
    filled("--db", "new.db", "load", "queries", "in/queries.jsonl")
    assert filled("--db", "new.db", "load", "golden", "log.jsonl").exit_code == 0
    assert filled("export", "-").stdout == filled("--db", "new.db", "export", "-").stdout


def test_the_log_s_count_is_that_of_its_lines_and_of_loading_it(
    filled: Labeler, here: Path
) -> None:
    with Store(here / "golden.db") as store:
        store.people.add("Ann")
        store.judgments.add(Judgment("e1", "q2", "c3", "Ann", grade=1))
        store.remarks.add(Remark("r1", "q3", "Ann", "unanswered"))
    said = first_line(filled("export", "log.jsonl", "--format", "events"))
    assert said == "log.jsonl: 5 events"
    *events, seal = (here / "log.jsonl").read_bytes().splitlines()
    assert (len(events), seal[:9]) == (5, b'{"seal": ')
    filled("--db", "new.db", "load", "queries", "in/queries.jsonl")
    loaded = filled("--db", "new.db", "load", "golden", "log.jsonl").output
    assert re.search(r"^  events +5$", loaded, flags=re.MULTILINE)
    assert re.search(r"^  events added +5$", loaded, flags=re.MULTILINE)


def test_an_export_replaces_nothing_without_force(filled: Labeler, here: Path) -> None:
    (here / "g.jsonl").write_text("mine")
    refused = filled("export", "g.jsonl")
    assert refused.exit_code == 1
    assert refused.stderr == "Error: g.jsonl: is there already; replace it with --force\n"
    assert (here / "g.jsonl").read_text() == "mine"
    assert filled("export", "g.jsonl", "--force").exit_code == 0
    assert (here / "g.jsonl").read_text().startswith('{"query_id": "q1"')
    assert files(here) == ["g.jsonl", "g.jsonl.seal.txt", "golden.db", "in"]


def test_force_never_removes_a_folder_of_other_things(filled: Labeler, here: Path) -> None:
    (here / "set").mkdir()
    (here / "set" / "thesis.tex").write_text("years of work")
    refused = filled("export", "set", "--format", "beir", "--force")
    assert refused.exit_code == 1
    assert refused.stderr == (
        "Error: set: holds other files too, such as thesis.tex; name a new folder\n"
    )
    assert (here / "set" / "thesis.tex").read_text() == "years of work"


def test_the_folder_one_stands_in_is_left_alone(
    filled: Labeler, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "empty").mkdir()
    monkeypatch.chdir(here / "empty")
    result = filled("--db", "../golden.db", "export", ".", "--format", "beir", "--force")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: .: cannot be written: ")
    assert files(here) == ["empty", "golden.db", "in"]


def test_a_beir_folder_is_replaced_whole_with_force(filled: Labeler, here: Path) -> None:
    filled("export", "set", "--format", "beir")
    (here / "set" / "queries.jsonl").write_text("old")
    assert filled("export", "set", "--format", "beir").exit_code == 1
    assert filled("export", "set", "--format", "beir", "--force").exit_code == 0
    assert (here / "set" / "queries.jsonl").read_text().startswith('{"_id": "q1"')
    assert files(here) == ["golden.db", "in", "set"]
    assert files(here / "set") == ["corpus.jsonl", "qrels", "queries.jsonl", "seal.txt"]


def test_a_device_or_a_folder_is_not_replaced_by_a_file(filled: Labeler, here: Path) -> None:
    device = filled("export", os.devnull, "--format", "jsonl", "--force")
    assert device.exit_code == 1
    assert "is not an ordinary file" in device.stderr
    assert not Path(os.devnull).is_file()
    assert "is a folder" in filled("export", "in", "--format", "csv", "--force").stderr
    assert filled("export", "-", "--format", "beir").exit_code == 2


def test_a_place_that_cannot_be_written_is_named(filled: Labeler, here: Path) -> None:
    result = filled("export", "nowhere/g.jsonl")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: nowhere/g.jsonl: cannot be written: No such file or directory\n"
    )


# The program itself


def test_the_version_is_the_package_s() -> None:
    result = CliRunner().invoke(main, ["--version"])
    assert result.output == f"labeler {labeler.__version__}\n"


def test_measures_are_explained(run: Labeler) -> None:
    result = run("measures")
    assert "\n  meaning  The share of the top k that is relevant.\n" in result.output
    assert "\n  example  P@5 (takes rel=1, rel=2 or rel=3)\n" in result.output


def test_importing_the_command_line_costs_no_streamlit_and_no_pandas() -> None:
    code = (
        "import sys, labeler.cli\n"
        "dear = ('streamlit', 'altair', 'starlette', 'pandas')\n"
        "print([name for name in dear if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout == "[]\n"


def test_a_closed_pipe_ends_quietly(filled: Labeler, here: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "-m", "labeler", "score", "--format", "json"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert ended.stderr == b""
    assert ended.returncode != 0


def test_a_terminal_without_our_characters_breaks_nothing(filled: Labeler, here: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "labeler", "score", "--per-query", "--explain"],
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
        capture_output=True,
        check=False,
    )
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert rb"gain 2^grade\u22121" in shown.stdout


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """A shell starts background jobs, and all that these start, deaf to Ctrl-C: undo that here."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_ends_a_command_quietly_and_leaves_no_file(here: Path) -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, QUERIES.splitlines()[0].encode() + b"\n")
    loading = subprocess.Popen(
        [sys.executable, "-m", "labeler", "load", "queries", "/dev/stdin"],
        stdin=read_end,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while fcntl.ioctl(read_end, termios.FIONREAD, b"1234") != bytes(4):  # until the command reads
        time.sleep(0.01)
    loading.send_signal(signal.SIGINT)
    os.close(write_end)
    os.close(read_end)
    # The pipe is closed by now: Python sleeps on where a signal comes just before it reads.
    out, err = loading.communicate(timeout=20)
    assert (loading.returncode, out, err.strip()) == (130, b"", b"")
    assert files(here) == ["in"]
