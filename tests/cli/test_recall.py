"""``labeler recall`` as it is typed: recall with and without what a system alone brought in."""

from __future__ import annotations

import csv
import io
import json

import pytest
from click.testing import CliRunner

from labeler.cli import main
from labeler.store import Store


def recall(filled: Store, *arguments: str, exit_code: int = 0) -> str:
    result = CliRunner().invoke(main, ["--db", str(filled.path), "recall", *arguments])
    assert result.exit_code == exit_code, result.output
    return result.output


def test_a_line_for_each_run_with_both_ranks_and_tau(filled: Store) -> None:
    answer, tau, _, head, first, second, *_ = recall(filled).splitlines()
    assert answer == "first is best by R@5, with and without its own pool."
    assert tau == "Kendall's tau-b of the two orders of 2 runs by R@5 is 1.0000."
    assert " ".join(head.split()) == (
        "run measure value rank n without rank n only this run only this system"
    )
    assert first.split() == ["first", "R@5", "1.0000", "1", "2", "1.0000", "1", "1", "1", "1"]
    assert second.split() == ["second", "R@5", "0.5000", "2", "2", "0.5000", "2", "2", "0", "0"]


def test_programs_get_every_column_and_the_ranks_among_all_runs(filled: Store) -> None:
    [row] = json.loads(recall(filled, "second", "--format", "json", "--measures", "R@1"))
    assert (row["run"], row["measure"], row["full_name"]) == ("second", "R@1", "R(rel=1)@1")
    assert (row["value"], row["rank"], row["value_without"], row["rank_without"]) == (0, 2, 0, 2)
    assert (row["n"], row["n_without"], row["only_this_run"], row["only_this_system"]) == (
        *(2, 2),
        *(0, 0),
    )
    assert (row["pool_depth"], row["tau"], row["reason"]) == (10, 1.0, None)
    assert row["notes"][0]["kind"] == "own pool"
    [one, two] = csv.DictReader(io.StringIO(recall(filled, "--format", "csv")))
    assert (one["system"], two["system"], one["only_this_system"]) == ("bm25", "second", "1")
    assert "| first | R@5 |" in recall(filled, "--format", "md")


def test_of_one_system_there_is_no_number_and_it_is_said_why(filled: Store) -> None:
    filled.runs.change("second", system="bm25")
    [one, _] = json.loads(recall(filled, "--format", "json"))
    assert (one["value_without"], one["rank_without"], one["tau"]) == (None, None, None)
    assert one["reason"] == "all runs are of one system: nobody else could have found what it did"
    assert "is not defined: all runs are of one system" in recall(filled)


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["--measures", "nDCG@10"], 1, "is no recall; there are R and SetR"),
        (["third"], 1, "no run is called 'third'; there are: first, second"),
        (["--raw"], 2, "--raw goes with --format csv"),
    ],
)
def test_what_cannot_be_asked_is_said(
    filled: Store, arguments: list[str], exit_code: int, said: str
) -> None:
    assert said in recall(filled, *arguments, exit_code=exit_code)
