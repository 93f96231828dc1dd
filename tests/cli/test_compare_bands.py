"""``labeler compare`` and the Compare page say the same of what unjudged chunks could make of a
delta.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from labeler.analysis.comparison import compare, describe_unjudged
from labeler.cli import main
from labeler.cli.options import select_runs
from labeler.evaluation import Conventions, Scoreboard
from labeler.stats import LiveRanges
from labeler.store import Store

RUNS = ("a", "b", "c")
MEASURES = "nDCG@10 AP"


@pytest.fixture
def golden_set(tmp_path: Path) -> Path:
    """A golden set of 30 queries, of which each chunk in three has a grade, and three runs."""
    draw = np.random.default_rng(1)
    queries = [f"q{n}" for n in range(30)]
    texts = {"queries.jsonl": "".join(f'{{"query_id": "{q}", "query": "{q}"}}\n' for q in queries)}
    for name in RUNS:
        orders = {query: draw.permutation(12)[:10] for query in queries}
        texts[f"{name}.trec"] = "".join(
            f"{query} Q0 c{chunk} {rank} {20 - rank} {name}\n"
            for query, order in orders.items()
            for rank, chunk in enumerate(order.tolist(), 1)
        )
    texts["grades.qrels"] = "".join(
        f"{query} 0 c{chunk} {draw.integers(4)}\n" for query in queries for chunk in range(4)
    )
    path = tmp_path / "golden.db"
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        what = {"queries.jsonl": "queries", "grades.qrels": "golden"}.get(name, "run")
        loaded = CliRunner().invoke(main, ["load", what, str(tmp_path / name), "--db", str(path)])
        assert loaded.exit_code == 0, loaded.output
    return path


def test_the_terminal_learns_of_holes_from_all_runs_as_the_page_does(golden_set: Path) -> None:
    asked = ["compare", "a", "b", "--measures", MEASURES, "--db", str(golden_set)]
    result = CliRunner().invoke(main, [*asked, "--format", "json"])
    assert result.exit_code == 0, result.output
    with Store(golden_set) as store:
        board = Scoreboard(store.collection.read(), Conventions.of())
    measures = board.conventions.measures(MEASURES)
    on_the_page = LiveRanges(board, ("a", "b")).deltas(board, measures)
    rows = json.loads(result.output)
    assert [(row["likely_low"], row["likely_high"]) for row in rows] == [
        (band.low, band.high) for band in on_the_page.values()
    ]


def test_a_run_named_alone_has_the_bands_that_it_has_on_the_page(golden_set: Path) -> None:
    """The page shows one run with the unjudged chunks of one, and has learnt from all that are
    stored.
    """
    asked = ["score", "b", "--measures", MEASURES, "--db", str(golden_set), "--format", "json"]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.output
    with Store(golden_set) as store:
        board = Scoreboard(store.collection.read(), Conventions.of())
    measures = board.conventions.measures(MEASURES)
    on_the_page = LiveRanges(board, ("b",)).means(board, measures)
    rows = json.loads(result.output)
    assert [(row["run"], row["likely_low"], row["likely_high"]) for row in rows] == [
        ("b", band.low, band.high) for band in on_the_page.values()
    ]
    alone = Scoreboard(select_runs(board.collection, ["b"]), Conventions.of())
    unlearned = LiveRanges(alone).means(alone, measures).values()
    assert [row["likely_high"] for row in rows] != [band.high for band in unlearned]


def test_score_and_compare_print_the_same_ranges_for_a_run(golden_set: Path) -> None:
    def printed(*asked: str) -> list[dict[str, object]]:
        more = ["--measures", MEASURES, "--db", str(golden_set), "--format", "json"]
        result = CliRunner().invoke(main, [*asked, *more])
        assert result.exit_code == 0, result.output
        found: list[dict[str, object]] = json.loads(result.output)
        return found

    names = ("possible_low", "likely_low", "likely_high", "possible_high")
    of_all, of_pair = printed("score"), printed("compare", "a", "c")
    for run, side in (("a", "_a"), ("c", "_b")):
        scored = [[row[name] for name in names] for row in of_all if row["run"] == run]
        compared = [[row[name + side] for name in names] for row in of_pair]
        np.testing.assert_allclose(compared, scored, rtol=0, atol=1e-12)


def test_the_terminal_says_of_unjudged_chunks_what_the_page_says(golden_set: Path) -> None:
    asked = ["compare", "a", "b", "--measures", MEASURES, "--db", str(golden_set)]
    said = CliRunner().invoke(main, asked).output
    with Store(golden_set) as store:
        board, settings = (
            Scoreboard(store.collection.read(), Conventions.of()),
            store.settings.read(),
        )
    measure = board.conventions.measures(settings.decide_by)[0]
    row = compare(board, "a", "b", [measure]).deltas[0]
    band = LiveRanges(board, ("a", "b")).deltas(board, [measure])[measure, None]
    doubt = describe_unjudged(row, band, ("a", "b"))
    assert doubt is not None
    assert f"Unjudged chunks: {doubt.sentence}" in " ".join(said.split())
