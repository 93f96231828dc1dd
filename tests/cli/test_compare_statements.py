"""What ``labeler compare`` says of two runs, on the sample and on sets that once misled it."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import GoldenGrade, Judgment, LoadedGolden, Query, Ranking
from labeler.paths import folder
from labeler.store import Store
from tests.support.new_golden_set import newborn
from tests.support.page import loaded

SHOWN = [
    "nDCG@10 R@5 P@5 Success@3 RR AP Judged@10",
    "nDCG@10",
    "R@prompt",
    "RR",
    "AP",
    "nDCG@10 AP",
    "nDCG@10 RR AP",
    "Judged@10 R@10",
]


def run(path: Path, *arguments: str) -> str:
    result = CliRunner().invoke(main, ["--db", str(path), *arguments], prog_name="labeler")
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def rows_of(path: Path, *arguments: str) -> list[dict[str, Any]]:
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is not JSON")

    shown = run(path, "compare", *arguments, "--format", "json")
    rows: list[dict[str, Any]] = json.loads(shown, parse_constant=refuse)
    return rows


def statements(path: Path, *arguments: str) -> list[dict[str, Any]]:
    """Return what JSON says of the two runs, without cautions about what is shown."""
    [first, *others] = rows_of(path, *arguments)
    found = [note for note in first["notes"] if "severity" in note]
    for row in others:
        assert [note for note in row["notes"] if "severity" in note] == found
    return found


def line_of(said: Mapping[str, Any]) -> str:
    return f"{said['heading']}: {said['text']}" if said["heading"] else said["text"]


def lines_above(path: Path, *arguments: str) -> list[str]:
    """Return the lines above the table of two runs."""
    return run(path, "compare", *arguments).split("\n\n")[0].splitlines()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, with three runs and the judgments of its graders."""
    path, files = newborn(tmp_path_factory.mktemp("sample") / "golden.db"), folder("sample_data")
    for what, name in (
        ("queries", "queries.jsonl"),
        ("chunks", "chunks.jsonl"),
        *(("run", f"runs/{name}.trec") for name in ("bm25", "lsa", "hybrid")),
        ("golden", "judgments.jsonl"),
    ):
        run(path, "load", what, str(files / name))
    return path


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """Make a golden set of two runs, A and B, from the ranked lists of each query."""

    def make(
        lists: Sequence[tuple[str, str]],
        grades: Mapping[str, int],
        buckets: Sequence[Mapping[str, str]] = (),
    ) -> Path:
        path = newborn(tmp_path / "made.db")
        names = [f"q{at:03}" for at in range(len(lists))]
        facets = buckets or [{}] * len(names)
        queries = [Query(name, name, buckets=of) for name, of in zip(names, facets, strict=True)]
        given = [GoldenGrade(name, chunk, g) for name in names for chunk, g in grades.items()]
        with Store(path) as store:
            store.queries.load(loaded(queries))
            for at, called in enumerate("AB"):
                ranked = [
                    Ranking(name, tuple(pair[at])) for name, pair in zip(names, lists, strict=True)
                ]
                store.runs.load(loaded(ranked), name=called)
            store.golden_loads.add(LoadedGolden(loaded([]), loaded(given), loaded([])))
        return path

    return make


GRADES = {"g": 3, "x": 0, "y": 0, "z": 0}
UP, DOWN, SAME = ("xg", "gx"), ("gx", "xg"), ("gx", "gx")

# The deciding measure ---------------------------------------------------------------------------


AHEAD = "hybrid is ahead on these 93 queries, but that may not hold for other questions."
NOT_CLEAR = "No clear difference between lsa and hybrid."


@pytest.mark.parametrize(
    ("a", "answer"),
    [("bm25", AHEAD), pytest.param("lsa", NOT_CLEAR, marks=pytest.mark.slow)],
)
def test_what_is_said_does_not_depend_on_the_measures_shown(
    sample: Path, a: str, answer: str
) -> None:
    said = {shown: statements(sample, a, "hybrid", "--measures", shown) for shown in SHOWN}
    about_the_pair = [
        [each for each in found if each["severity"] != "caution"] for found in said.values()
    ]
    assert all(found == about_the_pair[0] for found in about_the_pair)
    first, number, *_ = about_the_pair[0]
    assert first["text"] == answer
    assert number["text"].split(",")[0].endswith(" nDCG@10")
    assert lines_above(sample, a, "hybrid", "--measures", "Judged@10")[0] == answer


def test_a_measure_that_is_shown_alone_is_not_tested_alone(sample: Path) -> None:
    for shown in ("RR", "nDCG@10 R@prompt AP"):
        rows = rows_of(sample, "lsa", "hybrid", "--measures", shown)
        tests = {row["measure"]: row["tests"] for row in rows}
        expected = {"nDCG@10": 1, "R@5": 3, "R@prompt": 3, "RR": 3}
        assert tests == {measure: expected.get(measure) for measure in tests}


def test_across_chunkings_the_answer_names_a_measure_that_holds_across_them(
    sample: Path, tmp_path: Path
) -> None:
    path, files = Path(shutil.copy(sample, tmp_path / "chunkings.db")), folder("sample_data")
    run(path, "load", "documents", str(files / "documents"))
    run(path, "load", "chunks", str(files / "chunks-v2.jsonl"), "--chunking", "v2")
    run(path, "load", "run", str(files / "runs" / "hybrid-v2.trec"), "--chunking", "v2")
    asked = ("hybrid", "hybrid-v2", "--measures")
    before = lines_above(path, *asked, "RR")
    assert before[0].startswith("hybrid and hybrid-v2 can't be compared yet: ")
    assert before[0].endswith("and only one of the two has grades.")
    assert before[1].startswith("Next step: Transfer the grades")
    run(path, "transfer", "--from", "", "--to", "v2")
    choices = ["RR", "RR nDCG(documents=True)@10", "nDCG@10 R@prompt RR"]
    after = [lines_above(path, *asked, shown) for shown in choices]
    assert all(lines == after[0] for lines in after)
    assert after[0][0] == (
        "No clear difference between hybrid and hybrid-v2 by EvidenceR@2000c, a measure that holds "
        "across chunkings."
    )
    assert "(p 0.1250). Mark passages for more queries." in after[0][3]
    tested = {
        row["measure"]: row["p_corrected"]
        for shown in (choices[-1], "EvidenceR@2000c")
        for row in rows_of(path, *asked, shown)
    }
    assert tested == {"nDCG@10": None, "R@prompt": None, "RR": None, "EvidenceR@2000c": 0.125}
    assert reported(path, "hybrid", "hybrid-v2") == sentences_of(path, *asked, "RR")


# One doubt a line -------------------------------------------------------------------------------


def test_each_doubt_has_a_line_of_its_own_under_the_answer(sample: Path) -> None:
    lines = lines_above(sample, "bm25", "hybrid")
    headings = ["Other questions", "Unjudged chunks", "Graders"]
    assert [line.split(":")[0] for line in lines[3:6]] == headings
    for heading in headings:
        assert sum(heading in line for line in lines) == 1
    assert lines[3].endswith(
        "If the true difference is the one seen, about 128 more queries would show it (80% power)."
    )
    assert not any(word in " ".join(lines) for word in ("cannot be told", "settled", "99%"))
    severities = [each["severity"] for each in statements(sample, "bm25", "hybrid")]
    assert severities == sorted(severities, key=["answer", "doubt", "caution", "note"].index)


def test_a_bucket_too_small_to_test_is_named_if_it_falls_altogether(
    made: Callable[..., Path],
) -> None:
    lost = ("gx", "xyzuvwpqrsg")
    buckets = [{"topic": "common"}] * 60 + [{"topic": "legal"}] * 5
    path = made([UP] * 60 + [lost] * 5, GRADES, buckets)
    for more in ((), ("--by", "topic"), ("--measures", "RR")):
        [said] = [
            each for each in statements(path, "A", "B", *more) if each["kind"] == "small bucket"
        ]
        for words in ("topic = legal falls in all 5 queries", "1.0000", "too few to test."):
            assert words in said["text"]
        assert said["numbers"] == {"delta": -1.0, "n": 5}
        lines = lines_above(path, "A", "B", *more)
        assert [line for line in lines if line.removeprefix("! ") == line_of(said)]
    assert "In no bucket" not in run(path, "compare", "A", "B")


def test_a_bucket_of_ten_queries_that_falls_is_clear_among_twelve(
    made: Callable[..., Path],
) -> None:
    buckets = [{"topic": f"t{at // 10}"} for at in range(120)]
    path = made([UP] * 110 + [DOWN] * 10, GRADES, buckets)
    lines = lines_above(path, "A", "B")
    assert "Buckets: B loses clearly in 1 of the 12 buckets." in lines
    assert "topic = t11: −0.3691 nDCG@10 (10 of 10 queries differ)." in lines


def test_a_grader_by_whose_grades_the_other_run_is_ahead_is_named(
    made: Callable[..., Path],
) -> None:
    path = made([("abx", "bax")] * 40, {})
    with Store(path) as store:
        for name in ("Ann", "Bob"):
            store.people.add(name)
        for at in range(40):
            own = (
                {"Ann": (3, 0), "Bob": (0, 0)} if at < 26 else dict.fromkeys(("Ann", "Bob"), (0, 3))
            )
            for name, grades in own.items():
                for chunk, grade in zip("ab", grades, strict=True):
                    event = f"{name}{at}{chunk}"
                    store.judgments.add(Judgment(event, f"q{at:03}", chunk, name, grade=grade))
    lines = lines_above(path, "A", "B", "--measures", "RR AP")
    assert lines[0] == "B is better than A, but not by every grader's grades."
    assert lines[2] == (
        "14 of 40 queries (26 with nothing relevant): B is better on 14, worse on 0."
    )
    [said] = [each for each in statements(path, "A", "B") if each["heading"] == "Graders"]
    assert line_of(said) in lines
    assert said["kind"] == "graders disagree"
    assert said["numbers"]["graders"] == ["Ann"]
    for words in ("own grades", "Ann", "A is ahead", "26"):
        assert words in said["text"]


def test_better_and_no_difference_that_matters_are_never_both_said(
    made: Callable[..., Path],
) -> None:
    before, after = "gxyzuvwphq", "gxyzuvwhpq"
    grades = GRADES | {"h": 3, "v": 0, "w": 0, "p": 0, "q": 0}
    path = made([(before, after)] * 200 + [(before, before)] * 200, grades)
    lines = lines_above(path, "A", "B")
    assert lines[0] == "B is better than A, by less than what matters here (0.01)."
    following = run(path, "next", "A", "B")
    assert following.splitlines()[0] == lines[0]
    for shown in ("\n".join(lines), following):
        assert "no difference" not in shown.lower()
    assert "were needed" not in following


# Numbers that are not made up -------------------------------------------------------------------


def test_five_queries_that_are_all_better_have_no_interval(made: Callable[..., Path]) -> None:
    path = made([UP] * 5, GRADES)
    lines = lines_above(path, "A", "B")
    assert lines[0] == "Too few queries to compare A and B: 5."
    assert not any("interval" in line for line in lines)
    [row] = rows_of(path, "A", "B", "--measures", "nDCG@10")
    assert (row["lo"], row["hi"], row["interval"]) == (None, None, None)
    assert row["caution"] == "fewer than 10 queries: too few for an interval"


MADE = {
    "one query": [UP],
    "all better by the same": [UP] * 30,
    "the same values": [SAME] * 30,
    "few differ": [SAME] * 27 + [UP] * 3,
    "as many wins as losses": [UP] * 15 + [DOWN] * 15,
    "nothing found": [("xy", "yx")] * 12,
}


@pytest.mark.parametrize("name", MADE)
def test_json_has_null_for_what_is_not_known_and_no_interval_without_width(
    made: Callable[..., Path], name: str
) -> None:
    path = made(MADE[name], GRADES)
    for more in ((), ("--per-query",)):
        for row in rows_of(path, "A", "B", *more):
            for said in filter(lambda note: "severity" in note, row["notes"]):
                numbers = said["numbers"]
                assert numbers.get("lo") is None or numbers["lo"] < numbers["hi"]
    for row in rows_of(path, "A", "B"):
        assert (row["lo"] is None) == (row["hi"] is None) == (row["interval"] is None)
        assert row["lo"] is None or row["lo"] < row["hi"]
        assert (row["p"] is None) == (row["tests"] is None) == (row["test"] is None)
        assert (row["p"] is None) == (row["p_corrected"] is None) == (row["level"] is None)
        assert row["lo"] is not None or row["caution"], "why there is none"
        assert (row["delta"] is None) == (row["reason"] is not None)
        if row["measure"] not in ("nDCG@10", "R@prompt", "RR"):
            assert row["p"] is None


def test_three_of_thirty_queries_that_differ_have_no_interval_that_denies_the_test(
    made: Callable[..., Path],
) -> None:
    path = made(MADE["few differ"], GRADES)
    run(path, "change", "setting", "decide-by", "Success@1")
    lines = lines_above(path, "A", "B")
    assert lines[0] == "No clear difference between A and B."
    assert lines[3].startswith("Other questions: Only 3 of 30 queries differ")
    assert "(p 0.2500)" in lines[3]
    [row] = rows_of(path, "A", "B", "--measures", "Success@1")
    assert row["lo"] is None or row["lo"] <= 0


# The same on every surface ----------------------------------------------------------------------


def reported(path: Path, a: str, b: str) -> list[str]:
    """Return the sentences of the verdict in a report and of its statistics, sorted."""
    page = run(path, "report", a, b, "--output", "-")
    [verdict] = re.findall(r'aria-label="Verdict">(.*?</details>)</section>', page, re.DOTALL)
    answer, statistics = verdict.split('<div class="picture">')[0], verdict.split("<details>")[1]
    parts = re.findall(r"<(h2|p)[^>]*>(.*?)</\1>", answer + statistics, re.DOTALL)
    unheaded = [re.sub(r"^<b>[A-Z][^<]*</b> ", "", each) for _, each in parts]
    return sorted(html.unescape(re.sub("<[^>]+>", "", each)).rstrip(".") for each in unheaded)


def sentences_of(path: Path, *arguments: str) -> list[str]:
    """Return the sentences about two runs without their headings, sorted, as a report has them."""
    found = statements(path, *arguments)
    asked = [each for each in found if not each["text"].startswith("Grade ")]  # of graders
    return sorted(each["text"].rstrip(".") for each in asked)


@pytest.mark.parametrize("a", ["lsa", pytest.param("bm25", marks=pytest.mark.slow)])
def test_text_markdown_json_csv_and_report_say_the_same(sample: Path, a: str) -> None:
    said = [line_of(each) for each in statements(sample, a, "hybrid")]
    text = run(sample, "compare", a, "hybrid").splitlines()
    above = lines_above(sample, a, "hybrid")
    assert [line.removeprefix("! ") for line in (*above, text[-1])] == said
    markdown = run(sample, "compare", a, "hybrid", "--format", "md").replace("*", "")
    places = [markdown.index(line) for line in said]
    assert places == sorted(places)
    assert " · ".join(said) in run(sample, "compare", a, "hybrid", "--format", "csv")
    assert reported(sample, a, "hybrid") == sentences_of(sample, a, "hybrid")
