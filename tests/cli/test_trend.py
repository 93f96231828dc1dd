"""``labeler trend`` as it is typed: systems over time, every point, causes of a change."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.model import Chunk, Judgment, Loaded, Query, Ranking
from labeler.store import Store


@pytest.fixture
def dated(filled: Store) -> Store:
    """Two runs of one system, four weeks apart."""
    filled.runs.change("second", system="bm25")
    return filled


def trend(store: Store, *arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(store.path), "trend", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_a_line_for_each_measure_says_where_the_system_stands(dated: Store) -> None:
    said, _, head, first, second, *rest = trend(dated, "--measures", "RR R@5").splitlines()
    assert said == "Nothing fell clearly."
    assert head.split()[:4] == ["System", "Measure", "Current", "Date"]
    assert first.split()[:4] == ["bm25", "RR", "0.2500", "2026-02-28"]
    assert "no direction beyond chance" in second
    assert "The trend is over all runs." in rest
    assert any("over all 2 comparisons" in line for line in rest)


def test_every_point_has_its_date_interval_and_change(dated: Store) -> None:
    *_, first, second = trend(dated, "bm25", "--points", "--measures", "RR").splitlines()[:5]
    assert first.split()[2:5] == ["2026-01-31", "first", "1.0000"]
    assert second.split()[2:5] == ["2026-02-28", "second", "0.2500"]
    assert second.split()[-3] == "−0.7500"


def test_the_runs_of_one_chunking_are_shown_and_the_others_counted(dated: Store, loaded) -> None:
    dated.chunks.load(loaded([Chunk("c1", "cut anew")]), chunking="v2")
    lists = loaded([Ranking("q1", ("c1",))])
    for name, system in (("third", "bm25"), ("new", "hybrid")):
        of = {"system": system, "created_at": "2026-03-31", "chunking": "v2"}
        dated.runs.load(lists, name=name, **of)
    said = trend(dated, "--measures", "RR")
    assert [line.split()[:2] for line in said.splitlines()[3:4]] == [["bm25", "RR"]]
    assert "2 runs of chunking v2 not in these numbers" in said
    for asked in (["bm25"], ["--by", "intent"], ["--points"], ["--chunking", "v2"]):
        assert "bm25" in trend(dated, "--measures", "RR", *asked)
    said = trend(dated, "--between", "first", "new", exit_code=1)
    assert "run 'first' is of the default chunking and 'new' of chunking v2" in said


def test_a_facet_that_no_chosen_query_has_is_said_to_have_no_bucket(dated: Store) -> None:
    dated.splits.assign({"q1": "dev", "q2": "test"}, {})
    dated.queries.load(
        Loaded("test", [Query("q1", "how long", buckets={"place": "eu"})], [1]), update=True
    )
    for command in (["trend"], ["score"]):
        asked = ["--db", str(dated.path), *command, "--by", "place", "--split", "test"]
        result = CliRunner().invoke(main, asked)
        assert result.exit_code == 1, result.output
        assert "none of the queries that are chosen has a bucket of 'place'" in result.output


def test_programs_get_points_or_summaries_with_every_digit(dated: Store) -> None:
    asked = ("--measures", "MRR", "--format")
    [one, two] = json.loads(trend(dated, "--points", *asked, "json"))
    assert (one["system"], one["run"], one["date"], one["value"]) == (
        *("bm25", "first"),
        *("2026-01-31", 1.0),
    )
    assert (one["measure"], one["moment"]) == ("MRR", "2026-01-31T00:00:00Z")
    assert (one["change"], two["change"], one["threshold"]) == (None, -0.75, None)
    assert one["lo"] <= one["value"] <= one["hi"]
    [row] = csv.DictReader(io.StringIO(trend(dated, *asked, "csv")))
    assert (row["runs"], row["current_run"], row["lowest_run"]) == ("2", "second", "second")
    assert (row["direction"], row["alert"]) == ("no direction beyond chance", "")
    assert "The trend is over all runs. · Change is what" in row["notes"]
    said = trend(dated, "--measures", "RR", "--format", "md").splitlines()
    assert said[0] == "**Nothing fell clearly.**"
    assert "| bm25 | RR | 0.2500 | 2026-02-28 |" in said[4]
    assert "- The trend is over all runs." in said


def test_one_bucket_or_every_one(dated: Store) -> None:
    asked = ("--measures", "RR", "--by", "intent", "--format", "json")
    assert [row["bucket"] for row in json.loads(trend(dated, *asked))] == ["refund", "billing"]
    [row] = json.loads(trend(dated, *asked, "--bucket", "billing"))
    assert (row["facet"], row["bucket"], row["current"]) == ("intent", "billing", 0.0)


def test_a_window_looks_back_so_far(dated: Store) -> None:
    asked = ("--measures", "RR", "--format", "json")
    for window, runs in (("1 runs", 1), ("10 days", 1), ("30 days", 2)):
        [row] = json.loads(trend(dated, *asked, "--window", window))
        assert row["runs"] == runs


def test_runs_without_a_date_or_a_system_are_said(dated: Store) -> None:
    dated.runs.change("second", system="other", created_at="")
    said = trend(dated)
    assert "\nRuns without a date, which are in no trend: 1. " in said
    assert "\nSystems with only one run, each a single point: 1. " in said
    dated.runs.change("first", created_at="")
    assert "no run has a date; 'labeler change run NAME" in trend(dated, exit_code=1)


def test_a_change_is_split_by_the_grades_of_the_older_runs_day(dated: Store) -> None:
    dated.judgments.add(
        Judgment("e", "q1", "c2", "Ann", grade=3, created_at="2026-01-31T10:00:00.000Z")
    )
    [row] = json.loads(trend(dated, "--between", "first", "second", *RR))
    parts = [row[name] for name in ("of_run", "of_grades", "of_queries")]
    assert (row["before"], row["now"], row["n_before"], row["n_now"]) == (0.5, 0.25, 1, 2)
    assert parts == [-0.5, 0.5, -0.25]  # q1 alone counted then: 0.5 there, 1.0 by the grades of now
    assert sum(parts) == pytest.approx(row["change"], abs=1e-12)
    assert row["notes"][0]["text"].startswith("The older run is scored by the grades of 2026-01-31")


def test_a_gate_file_gives_the_thresholds(dated: Store, tmp_path: Path) -> None:
    gate = tmp_path / "gate.toml"
    gate.write_text('run = "second"\n[overall]\n"RR" = 0.6\n', encoding="utf-8")
    [one, _] = json.loads(trend(dated, "--gate", str(gate), "--points", *RR))
    assert one["threshold"] == 0.6
    said = trend(dated, "--gate", str(gate), "--measures", "RR")
    assert "! bm25: RR is 0.2500, below the threshold 0.6." in said
    gate.write_text('leaked = "without"\n[overall]\n"RR" = 0.6\n', encoding="utf-8")
    [one, _] = json.loads(trend(dated, "--gate", str(gate), "--points", *RR))
    assert one["threshold"] is None
    said = " ".join(note["text"] for note in one["notes"])
    assert "gate.toml asks for values of leaked queries left out" in said
    gate.write_text("[overall", encoding="utf-8")
    assert "gate.toml" in trend(dated, "--gate", str(gate), exit_code=1)
    assert "there is no such file" in trend(dated, "--gate", str(tmp_path / "no.toml"), exit_code=1)


def test_points_and_the_older_run_can_be_by_a_frozen_version(dated: Store) -> None:
    result = CliRunner().invoke(main, ["--db", str(dated.path), "freeze", "march"])
    assert result.exit_code == 0, result.output
    dated.judgments.add(Judgment("e1", "q1", "c1", "Ann", grade=0))
    dated.judgments.add(Judgment("e2", "q1", "c2", "Ann", grade=3))
    live, frozen = (
        json.loads(trend(dated, "--points", *RR, *golden))[0]
        for golden in ((), ("--golden", "march"))
    )
    assert (live["value"], frozen["value"]) == (0.75, 1.0)
    assert frozen["conventions"]["frozen"] == "march"
    asked = ("--between", "first", "second", "--grades", "march")
    [row] = json.loads(trend(dated, *asked, *RR))
    assert (row["before"], row["n_before"]) == (1.0, 2)
    assert "frozen as 'march'" in row["notes"][0]["text"]


def test_before_anything_was_graded_both_runs_are_by_the_grades_of_now(dated: Store) -> None:
    [row] = json.loads(trend(dated, "--between", "first", "second", *RR))
    assert (row["of_run"], row["of_grades"], row["of_queries"]) == (-0.75, 0.0, 0.0)
    assert "Nothing was graded yet by 2026-01-31" in row["notes"][0]["text"]
    asked = ("--between", "first", "second", "--grades", "2020-01-01")
    [row] = json.loads(trend(dated, *asked, *RR))
    assert (row["of_run"], row["reason"]) == (None, "no query counted yet by the older grades")
    assert "! No query counted yet by the older grades." in trend(dated, *asked)


RR = ("--measures", "RR", "--format", "json")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["third"], 1, "no system called 'third' has a run with a date; there are: bm25"),
        (["--window", "3 weeks"], 2, "write it like 'all runs', '30 runs' or '90 days'"),
        (["--by", "topic"], 1, "no facet is called 'topic'"),
        (["--by", "intent", "--bucket", "law"], 1, "'law'"),
        (["--bucket", "law"], 2, "--bucket needs --by"),
        (["--grades", "2026-01-31"], 2, "--grades goes with --between"),
        (["--between", "first", "third"], 1, "no run is called 'third'"),
        (["--between", "first", "second", "--by", "intent"], 2, "name it with --bucket"),
        (["--between", "first", "second", "--points"], 2, "cannot be asked for together"),
        (["--between", "first", "second", "--grades", "spring"], 1, "is not like 2026-01-31"),
        (["--raw"], 2, "--raw goes with --format csv"),
    ],
)
def test_what_cannot_be_asked_is_said(
    dated: Store, arguments: list[str], exit_code: int, said: str
) -> None:
    assert said in trend(dated, *arguments, exit_code=exit_code)
