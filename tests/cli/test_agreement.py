"""``labeler agreement`` on real files: what it prints, and why where there is no number."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from labeler.analysis.agreement.statements import BANDS_NOTE
from labeler.cli import main
from labeler.model import Chunk, Judgment, Query
from labeler.store import Store
from tests.analysis.test_agreement_numbers import THREE_CODERS
from tests.support.page import empty_golden_set, loaded

HOSTILE = "=1+1 | <b>Bob</b>"
NAMES = ("Ann", HOSTILE, "Cy")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a labeler command on the golden set of `grade`."""
    empty_golden_set(tmp_path)
    monkeypatch.setenv("LABELER_DB", str(tmp_path / "golden.db"))
    return lambda *arguments: CliRunner().invoke(main, ["agreement", *arguments])


@pytest.fixture
def grade(tmp_path: Path, run) -> Callable[..., None]:
    """Let people grade chunk after chunk, a query each; None is no grade."""

    def give(*ratings: Sequence[int | None], blind: bool = True, names=NAMES) -> None:
        with Store(tmp_path / "golden.db") as store:
            chunks = range(len(ratings[0]))
            tasks = ("single", "research")
            queries = [Query(f"q{at}", f"query {at}", tasks[at % 2]) for at in chunks]
            store.queries.load(loaded(queries))
            store.chunks.load(loaded([Chunk(f"c{at}", f"text of chunk {at}") for at in chunks]))
            for name, row in zip(names, ratings, strict=False):
                store.people.add(name)
                for at, value in enumerate(row):
                    if value is not None:
                        event = f"{name}/{at}/{blind}"
                        store.judgments.add(
                            Judgment(event, f"q{at}", f"c{at}", name, grade=value, blind=blind)
                        )

    return give


def rows_of(result: Result) -> list[dict]:
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def one(rows: list[dict], statistic: str, **more: object) -> dict:
    wanted = {"statistic": statistic, "against": "each other", "grader": None, "week": None, **more}
    [found] = [row for row in rows if wanted.items() <= row.items()]
    return found


def three_coders() -> list[list[int | None]]:
    return [[None if each is None else each - 1 for each in row] for row in THREE_CODERS]


@pytest.mark.parametrize(
    ("metric", "value"), [("nominal", 0.691358), ("ordinal", 0.806721), ("interval", 0.810845)]
)
def test_programs_get_the_published_alpha_with_what_it_rests_on(run, grade, metric, value):
    grade(*three_coders())
    alpha = one(rows_of(run("--metric", metric, "--format", "json")), "alpha")
    assert alpha["value"] == pytest.approx(value, abs=5e-7)
    assert (alpha["n"], alpha["queries"], alpha["metric"]) == (12, 12, metric)
    assert alpha["low"] < alpha["value"] <= alpha["high"]
    assert alpha["conventions"]["golden_rule"] == "lower median"
    assert alpha["conventions"]["interval"] == "jackknife"


def test_every_two_graders_have_a_kappa_and_a_confusion_matrix(run, grade):
    grade([0, 1, 2, 3, 3], [0, 1, 2, 3, 1], [1, None, None, None, None])
    rows = rows_of(run("--format", "json"))
    pair = {"grader": HOSTILE, "other": "Ann"}
    assert one(rows, "weighted kappa", **pair)["n"] == 5
    assert one(rows, "same grade", **pair)["value"] == 0.8
    assert one(rows, "confusion", **pair, grade=1, other_grade=3)["n"] == 1
    assert one(rows, "confusion", **pair, grade=3, other_grade=1)["n"] == 0
    assert one(rows, "Fleiss' kappa")["n"] == 1, "one chunk was graded by all three"


def test_each_grader_stands_against_the_agreed_grade_over_all_and_by_week(run, grade):
    grade([0, 1, 2, 3, 3], [0, 1, 2, 3, 1])
    rows = rows_of(run("--format", "json"))
    ann = {"against": "agreed grade", "grader": "Ann"}
    assert one(rows, "mean difference", **ann)["value"] == pytest.approx(0.4)
    assert one(rows, "within one grade", **ann)["value"] == 0.8
    weeks = [row for row in rows if row["week"] is not None and row["grader"] == "Ann"]
    assert [week["value"] for week in weeks] == [pytest.approx(0.4)]


def test_people_read_the_answer_the_doubt_the_tables_and_how_they_are_computed(run, grade):
    grade([0, 1, 2, 3, 3, 0, 0, 0, 0, 1], [0, 1, 2, 3, 1, 0, 0, 0, 0, 1], names=("Ann", "Bob"))
    said = run("--confusion", "--drift").output
    answer, alpha, doubt, *_ = said.splitlines()
    assert answer == "Ann and Bob agree closely."
    assert alpha == (
        "Krippendorff's alpha, ordinal, is 0.940 on the 10 passages of 10 queries that both graded."
    )
    assert re.fullmatch(r"Other queries: The 95% confidence interval is 0\.\d{3} to .*", doubt)
    for expected in ("Fleiss' kappa", "against the agreed grade", "Ann 3", "week from"):
        assert expected in said
    assert "somebody else's" not in said
    assert said.splitlines()[-1] == "--explain says how this is computed"
    assert run("--format", "md").output.startswith("**Ann and Bob agree closely.**\n\n- Kripp")


def test_how_agreement_is_computed_is_said_on_demand(run, grade):
    grade([0, 1, 2, 3, 3], [0, 1, 2, 3, 1], names=("Ann", "Bob"))
    said = run("--metric", "nominal", "--explain").output
    _, explained = said.split("How this is computed\n")
    assert "0 is chance. Two grades are the same or not." in explained
    assert "somebody else's decision, else the lower median of the others' grades" in explained
    assert "alpha nominal · current grades that were given blind" in explained
    assert said.splitlines()[-1] == f"Words: {BANDS_NOTE}"
    assert "alpha nominal · --explain says how" in run("--metric", "nominal").output
    assert "How this is computed:\n\n- Counted" in run("--format", "md", "--explain").output


def test_eight_graders_of_whom_two_share_passages_are_not_eight_who_agree(run, grade):
    """Pairs without a passage in common are one number for people, and rows for programs."""
    alone = [[None] * 12 + [None] * at + [at % 4] + [None] * (5 - at) for at in range(6)]
    graded = [0, 1, 2, 3] * 3 + [None] * 6
    grade(graded, graded, *alone, names=("Ann", "Bob", *"CDEFGH"))
    said = run().output
    assert said.startswith(
        "2 of 8 graders can be compared: Ann and Bob agree closely. "
        "The other six share no passage with anybody.\n"
    )
    assert "27 of 28 pairs share no passage." in said
    assert [line.split()[:2] for line in said.splitlines() if line.startswith(("C ", "D "))] == [
        ["C", "–"],
        ["D", "–"],
    ], "each is in the table of each grader alone"
    rows = rows_of(run("--format", "json"))
    assert sum(row["statistic"] == "weighted kappa" and bool(row["other"]) for row in rows) == 28
    [note] = [each for each in rows[0]["notes"] if each["kind"] == "no overlap"]
    assert note["numbers"] == {"pairs": 28, "apart": 27}


def test_programs_get_the_same_statements_with_the_numbers_that_chose_them(run, grade):
    grade([0, 1, 2, 3] * 3, [3, 2, 1, 0] * 2 + [3, 2, 1, 1], names=("Ann", "Bob"))
    first, *_ = rows_of(run("--format", "json"))[0]["notes"]
    assert first["kind"] == "agree less than by chance"
    assert first["text"] == run().output.splitlines()[0] == "Ann and Bob agree less than by chance."
    assert first["numbers"]["alpha"] < 0
    [row, *_] = csv.DictReader(io.StringIO(run("--format", "csv").output))
    assert row["notes"].startswith(first["text"])


def test_a_bucket_has_a_line_of_its_own(run, grade):
    grade([0, 1, 2, 3, 3, 1], [0, 1, 2, 0, 3, 1], names=("Ann", "Bob"))
    rows = rows_of(run("--by", "task", "--format", "json"))
    assert one(rows, "alpha", facet="task", bucket="single")["value"] == 1
    assert one(rows, "alpha", facet="task", bucket="research")["value"] < 0.7
    assert "research" in run("--by", "task").output


def test_only_those_who_are_named_count(run, grade):
    grade([0, 1, 2], [0, 1, 3], [3, 2, 0])
    assert one(rows_of(run("Ann", HOSTILE, "--format", "json")), "alpha")["value"] > 0.8
    refused = run("Ann", "Dee")
    assert refused.exit_code == 1
    assert "no grader called 'Dee' has graded blind; there are: " in refused.output


@pytest.mark.parametrize(
    ("ratings", "said"),
    [
        ([], "Nobody has graded blind yet"),
        ([[1, 2]], "Only Ann has graded blind. Agreement needs two graders."),
        ([[1, None], [None, 2]], "Ann and Bob share no passage, so their agreement cannot be"),
        ([[2, 2], [2, 2]], "Everybody gave 2 to the 2 passages of 2 queries"),
        (
            [[0, 1, 3], [2, 2, 2]],
            "Bob gave 2 to all passages shared with Ann, so their kappa is 0.",
        ),
        ([[0, 1, None], [1, 0, None], [None, None, 2]], "Cy shares no passage with anybody."),
    ],
    ids=["nobody", "one", "nothing shared", "one grade", "constant", "some apart"],
)
def test_where_there_is_no_number_it_says_why(run, grade, ratings, said):
    if ratings:
        grade(*ratings, names=("Ann", "Bob", "Cy", "Dee"))
    result = run()
    assert result.exit_code == 0
    assert said in result.output
    assert "nan" not in result.output
    for row in rows_of(run("--format", "json")):
        assert row["value"] is not None or row["reason"] or row["statistic"] == "confusion"


def test_grades_not_given_blind_are_counted_and_not_compared(run, grade):
    grade([0, 1], [0, 1], names=("Ann", "Bob"))
    grade([3, 3], blind=False, names=("Bob",))
    result = run()
    assert "2 grades were not given blind and left out: Bob 2." in result.output
    [row] = [row for row in rows_of(run("--format", "json")) if row["statistic"][:9] == "not blind"]
    assert (row["grader"], row["n"]) == ("Bob", 2)


def test_the_agreed_grade_follows_the_golden_sets_rule(run, grade, tmp_path):
    grade([3, 3], [0, 0], [2, 2])
    ann = {"against": "agreed grade", "grader": "Ann"}
    assert one(rows_of(run("--format", "json")), "mean difference", **ann)["value"] == 3 - 0
    changed = CliRunner().invoke(main, ["change", "setting", "golden-rule", "upper median"])
    assert changed.exit_code == 0, changed.output
    found = one(rows_of(run("--format", "json")), "mean difference", **ann)
    assert found["value"] == 3 - 2
    assert found["conventions"]["golden_rule"] == "upper median"


def test_no_name_is_a_formula_a_column_or_an_escape(run, grade):
    grade([0, 1], [0, 1])
    table = list(csv.DictReader(io.StringIO(run("--format", "csv").output)))
    assert {row["grader"] for row in table} == {"", "Ann", f"'{HOSTILE}"}
    assert "'=1" not in run("--format", "csv", "--raw").output
    assert "<b>" not in run("--format", "md", "--confusion", "--drift").output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--raw"], "--raw goes with --format csv"),
        (["--by", "task", "--drift"], "over all queries, without --by"),
        (["--metric", "ratio"], "'ratio' is not one of"),
    ],
    ids=["raw", "drift by bucket", "metric"],
)
def test_what_does_not_go_together_is_a_wrong_command_line(run, arguments, said):
    result = run(*arguments)
    assert (result.exit_code, said in result.output) == (2, True)


def test_an_unknown_facet_is_bad_input(run, grade):
    grade([0], [1])
    result = run("--by", "nope")
    assert result.exit_code == 1
    assert "no facet is called 'nope'; there are: task" in result.output
