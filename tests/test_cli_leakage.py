"""``labeler leakage`` as it is typed: what stands where, for people and for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from labeler.cli import leaks, main
from labeler.model import Chunk, Loaded, Query
from labeler.store import Store


def leakage(filled: Store, *arguments: object, exit_code: int = 0) -> str:
    given = ["--db", str(filled.path), "leakage", *map(str, arguments)]
    result = CliRunner().invoke(main, given)
    assert result.exit_code == exit_code, result.output
    return result.output


@pytest.fixture
def training(tmp_path: Path) -> Path:
    path = tmp_path / "train.jsonl"
    lines = [
        {"text": "nothing to see here, really nothing at all"},
        {"prompt": "Q: How long does a REFUND take? A:"},
        {"prompt": "how long does a chargeback take", "by": "=1+1"},
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_people_read_where_a_query_stands_and_how_surely(filled: Store, training: Path) -> None:
    said = leakage(filled, training)
    assert "2 queries looked for in 1 file: 2 finds, 1 of them exact, of 1 query." in said
    rows = [line.split() for line in said.splitlines() if line.startswith("q1")]
    assert [(row[2], row[3], row[-1]) for row in rows] == [
        (f"{training}:2", "prompt", "exact"),
        (f"{training}:3", "prompt", "0.833"),
    ]
    assert "No chunk contains a query word for word." in said
    assert "! 1 query has fewer than 5 words: found only where nothing else stands" in said
    assert "1 find, 1 of them exact" in leakage(filled, training, "--threshold", "0.9")


def test_without_files_chunks_and_twins_are_listed(
    filled: Store, loaded: Callable[..., Loaded[Any]]
) -> None:
    filled.add_queries(loaded([Query("q3", "How long does the refund take?", reference="5 days")]))
    filled.add_chunks(loaded([Chunk("c9", "FAQ. How long does a refund take? Five days.", "t")]))
    said = leakage(filled)
    assert "looked for" not in said
    assert "1 chunk contains a query word for word: to find it is too easy.\n\nquery  chunk" in said
    assert "1 pair of queries is nearly the same: such a question counts twice." in said
    rows = json.loads(leakage(filled, "--format", "json"))
    assert [(row["query_id"], row["found_in"], row["place"], row["exact"]) for row in rows] == [
        ("q1", "chunk", "c9", True),
        ("q1", "query", "q3", False),
    ]


def test_programs_get_every_find_with_all_digits(filled: Store, training: Path) -> None:
    first, second = csv.DictReader(io.StringIO(leakage(filled, training, "--format", "csv")))
    assert (first["query_id"], first["part"], first["line"]) == ("q1", "query", "2")
    assert (second["score"], second["text"]) == (
        *("0.8333333333333334",),
        *("how long does a chargeback take",),
    )


def test_a_reference_answer_is_looked_for_too(
    filled: Store, loaded: Callable[..., Loaded[Any]], training: Path
) -> None:
    there = "nothing to see here, really nothing"
    filled.add_queries(loaded([Query("q3", "is there anything to see", reference=there)]))
    said = leakage(filled, training)
    assert "3 queries and 1 reference answer looked for in 1 file: 3 finds" in said
    assert [line.split()[1] for line in said.splitlines() if line.startswith("q3")] == ["reference"]


def test_of_very_many_finds_the_first_are_listed_and_all_counted(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaks, "MOST_KEPT", 50)
    (tmp_path / "a.txt").write_text("how long does a refund take?\n\n" * 60)
    said = leakage(filled, tmp_path / "a.txt")
    assert "60 finds" in said
    assert "... and 10 more, which --format csv and json have" in said
    assert "! 10 finds beyond the first 50 of a file are not listed" in said


def test_a_file_that_cannot_be_read_is_said_and_nothing_is_listed(
    filled: Store, training: Path, tmp_path: Path
) -> None:
    said = leakage(filled, training, tmp_path / "none.txt", exit_code=1)
    assert "none.txt: there is no such file" in said
    assert "refund" not in said
    assert "--raw goes with --format csv" in leakage(filled, training, "--raw", exit_code=2)
