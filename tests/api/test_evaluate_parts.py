"""Logs evaluated piece by piece: the numbers, columns and notes of one board, to the bit."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import labeler
from labeler.api import partwise
from labeler.errors import BadInput, LabelerError

MEASURES = "nDCG@10 R@prompt RR AP Judged@10 RBP(p=0.8) RBP(p=0.5)@5 Bpref infAP NumRel MRR"
QUERIES = 90


@pytest.fixture(scope="module")
def log() -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Qrels and runs with all that is noted: ties, absences, unknown queries, unanswered ones."""
    draw = np.random.default_rng(7)
    ids = [f"q{at}" for at in draw.permutation(QUERIES)]
    graded = [(q, f"c{c}", g) for q in ids for c, g in enumerate(draw.integers(0, 4, 8)) if c + g]
    graded = [(q, c, 0 if q in ids[:3] else g) for q, c, g in graded]
    runs = {}
    for at, name in enumerate(("even", "tied", "odd", "elsewhere")):
        rows = []
        for q in [*ids, "unknown 1", "unknown 2"]:
            if name == "odd" and int(q[1:] if q in ids else 1) % 2 == 0:
                continue
            chunks = [f"c{c}" for c in draw.permutation(14)[: 3 + at * 2]]
            if name == "elsewhere":
                chunks = [f"other-{c}" for c in chunks]
            scores = np.sort(draw.random(len(chunks)))[::-1]
            if name == "tied":
                scores = scores.round(1)
            rows += [(q, c, s) for c, s in zip(chunks, scores, strict=True)]
        runs[name] = pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])
    return pd.DataFrame(graded, columns=["query_id", "doc_id", "relevance"]), runs


def same(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Hold everything of a frame against another's: bits, columns, conventions and notes.

    Cautions take the values of all queries at once.
    """
    assert_frame_equal(found, expected, check_exact=True)
    assert found.attrs == {k: each for k, each in expected.attrs.items() if k != "cautions"}


def of(frame: pd.DataFrame, queries: set[str]) -> pd.DataFrame:
    return frame[frame.query_id.isin(queries)]


@pytest.mark.parametrize("preset", ["graded", "trec_eval"])
@pytest.mark.parametrize("count", [1, 7, 50])
def test_any_parts_add_up_to_the_bits_of_one_board(log, preset: str, count: int) -> None:
    qrels, runs = log
    ids = [*dict.fromkeys([*qrels.query_id, *runs["even"].query_id])]
    the_plan = pickle.loads(pickle.dumps(labeler.plan(runs, MEASURES, preset=preset)))
    parts = []
    for at in range(count):
        mine = {*ids[at::count]}
        # "odd" is missing from whole parts, as an argument and as rows
        lists = {name: of(run, mine) for name, run in runs.items() if name != "odd" or at % 2}
        if "odd" not in lists:
            lists |= {"odd": rest} if len(rest := of(runs["odd"], mine)) else {}
        parts.append(pickle.loads(pickle.dumps(the_plan.part(of(qrels, mine), lists))))
    by_id = qrels.sort_values("query_id", kind="stable")
    for per_query in (False, True):
        expected = labeler.evaluate(by_id, runs, MEASURES, preset=preset, per_query=per_query)
        found = the_plan.add_up(parts[::-1], per_query=per_query, foreign_to=lambda _: 8)
        if not per_query:
            kinds = ["ties", "no list for", "not in the golden set", "other orders", "none of its"]
            notes = " ".join(expected.attrs["notes"])
            assert all(kind in notes for kind in kinds), "the data show all that is noted"
        same(found, expected)


def test_a_plan_leaves_a_query_out_of_its_own_list_as_evaluate_does() -> None:
    qrels, runs = {"q1": {"c1": 1}}, {"A": {"q1": ["q1", "c1"]}}
    for leave_out, value in ((False, 0.5), (True, 1.0)):
        the_plan = labeler.plan(runs, "RR", leave_out_self=leave_out)
        assert the_plan.add_up([the_plan.part(qrels, runs)]).value.item() == value
        whole = labeler.evaluate(qrels, runs, "RR", leave_out_self=leave_out)
        assert whole.value.item() == value


def pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partwise, "QUERIES_AT_ONCE", 13)
    monkeypatch.setattr(partwise, "ROWS_AT_ONCE", 300)
    monkeypatch.setattr(partwise, "_LOOKUP_ROWS", 100)


def as_parquet(frame: pd.DataFrame, path: Path) -> Path:
    """Write a file, or where the path has no suffix a folder of two."""
    if path.suffix:
        frame.to_parquet(path)
    else:
        path.mkdir()
        half = len(frame) // 2
        frame[:half].to_parquet(path / "0.parquet")
        frame[half:].to_parquet(path / "1.parquet")
    return path


GIVEN: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "frames": lambda frame, path: frame,
    "files": lambda frame, path: as_parquet(frame, path.with_suffix(".parquet")),
    "folders": as_parquet,
}


@pytest.mark.parametrize("form", GIVEN)
@pytest.mark.parametrize("options", [{}, {"preset": "trec_eval"}, {"per_query": True}])
def test_frames_and_parquet_are_evaluated_in_pieces_to_the_same_bits(
    log, form: str, options: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = log
    expected = labeler.evaluate(qrels, runs, MEASURES, **options)
    pieces(monkeypatch)
    made = GIVEN[form]
    given = {name: made(run, tmp_path / name) for name, run in runs.items()}
    done: list[tuple[int, int]] = []
    found = labeler.evaluate(
        made(qrels, tmp_path / "golden"),
        given,
        MEASURES,
        **options,
        progress=lambda *at: done.append(at),
    )
    same(found, expected)
    assert len(done) > 3, "it was in pieces"
    assert done[-1] == (QUERIES, QUERIES)
    assert done == sorted(done)


def test_several_processes_give_the_same(log, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = log
    expected = labeler.evaluate(qrels, runs, MEASURES)
    pieces(monkeypatch)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))  # a page, after its tests
    same(labeler.evaluate(qrels, runs, MEASURES, workers=2), expected)


def test_a_script_that_runs_again_in_each_process_is_told_what_to_do(
    log, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    qrels, runs = log
    pieces(monkeypatch)
    script = ModuleType("__main__")
    script.__file__ = str(tmp_path / "script.py")
    (tmp_path / "script.py").write_text("raise SystemExit")
    monkeypatch.setitem(sys.modules, "__main__", script)
    with pytest.raises(LabelerError, match="below 'if __name__ == \"__main__\":'"):
        labeler.evaluate(qrels, runs, MEASURES, workers=2)


def test_a_rank_column_orders_pieces_too(log, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = log
    ranked = {
        name: run.assign(rank=run.groupby("query_id").cumcount()).drop(columns="score")
        for name, run in runs.items()
    }
    expected = labeler.evaluate(qrels, ranked, MEASURES, order="rank")
    pieces(monkeypatch)
    same(labeler.evaluate(qrels, ranked, MEASURES, order="rank"), expected)


BAD: dict[str, tuple[Callable[[pd.DataFrame, pd.DataFrame], Any], str]] = {
    "an unjudged chunk": (
        lambda qrels, run: (qrels, run.assign(doc_id=[None, *run.doc_id[1:]])),
        "column 'doc_id' has a row without a value",
    ),
    "a repeat": (
        lambda qrels, run: (qrels, pd.concat([run, run[:1]])),
        "run 'A': chunk '.*' stands twice for query '.*'",
    ),
    "a grade": (lambda qrels, run: (qrels.assign(relevance=7), run), "grade must be 0, 1, 2 or 3"),
    "a column": (lambda qrels, run: (qrels, run.drop(columns="score")), "no column score"),
    "no query": (lambda qrels, run: (qrels[:0], run), "there is no query in the qrels"),
    "other queries": (
        lambda qrels, run: (qrels, run.assign(query_id="x" + run.query_id)),
        "run 'A' and the qrels share no query",
    ),
    "a number": (lambda qrels, run: (qrels, run.assign(query_id=range(len(run)))), "ids are text"),
}


@pytest.mark.parametrize("form", ["frames", "files"])
@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_named_wherever_it_stands(
    log, what: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, message = BAD[what]
    qrels, run = change(log[0], log[1]["even"])
    pieces(monkeypatch)
    given = GIVEN[form](qrels, tmp_path / "golden"), {"A": GIVEN[form](run, tmp_path / "a")}
    with pytest.raises(BadInput, match=message):
        labeler.evaluate(*given, "RR", progress=lambda done, of: None)


def test_parquet_stands_beside_what_has_rows(log, tmp_path: Path) -> None:
    path = as_parquet(log[0], tmp_path / "golden.parquet")
    query = log[0].iloc[0, 0]
    whole = labeler.evaluate(path, {"A": {query: ["c1"]}}, "RR")
    assert whole.n.item() > 1, "a dict beside Parquet: both are read whole"
    with pytest.raises(BadInput, match="must be Parquet files or frames, not dict"):
        labeler.evaluate(path, {"A": {query: ["c1"]}}, "RR", workers=2)
    (tmp_path / "bad.parquet").write_text("query_id,doc_id,score\n")
    with pytest.raises(BadInput, match=r"bad\.parquet: not Parquet, or damaged"):
        labeler.evaluate(path, {"A": tmp_path / "bad.parquet"}, "RR")


def test_a_plan_names_its_runs(log) -> None:
    with pytest.raises(BadInput, match="the plan has no run 'B'; it has 'A'"):
        labeler.plan(["A"]).part({"q": {"c": 1}}, {"B": {"q": ["c"]}})
    with pytest.raises(BadInput, match="name at least one run"):
        labeler.plan([])
    with pytest.raises(BadInput, match="names that differ"):
        labeler.plan(["A", "A"])
    with pytest.raises(BadInput, match="workers is how many processes"):
        labeler.evaluate(*log, "RR", workers=-1)
