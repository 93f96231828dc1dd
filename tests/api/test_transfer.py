"""`labeler.transfer` on plain data: what it takes, what it gives back, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

import labeler
from labeler.errors import BadInput, NotFound

FEES = "Annual fees are due in May, and are taken from the account at the end of that month."
LATE = "A late transfer costs twelve euros, which the branch may waive once in any year it likes."
CARDS = "Cards are sent by letter to the registered address within ten working days of a request."
OLD = {"o1": f"{FEES} {LATE}", "o2": CARDS}
NEW = {"n1": FEES, "n2": f"{LATE} {CARDS}", "n3": "Nobody has ever said this in any branch."}
QRELS = {"q": {"o1": 2, "o2": 0}}
PASSAGES = {"q": {"o1": [(0, 26)]}}


def states(frame: pd.DataFrame) -> list[list[object]]:
    return frame[["doc_id", "state"]].values.tolist()


def test_without_a_run_all_that_shares_text_is_asked_for() -> None:
    frame = labeler.transfer(QRELS, OLD, NEW, passages=PASSAGES)
    assert states(frame) == [["n1", "decided"], ["n2", "decided"]]
    assert frame.relevance.tolist() == [2, 0]
    assert frame.attrs["qrels"] == {"q": {"n1": 2, "n2": 0}}
    assert frame.attrs["notes"] == [
        "1 of 3 new chunks were not found in the old ones; nothing is decided of them"
    ]


def test_a_run_asks_for_its_top() -> None:
    run = {"q": {"n1": 0.5, "n3": 0.9, "n2": 0.7}}
    frame = labeler.transfer(QRELS, OLD, NEW, run, 2, passages=PASSAGES)
    assert states(frame) == [["n3", "open"], ["n2", "decided"]]
    assert frame.relevance.isna().tolist() == [True, False]


def test_decided_grades_are_what_evaluate_takes(tmp_path: Path) -> None:
    run = tmp_path / "b.trec"
    run.write_text("q Q0 n1 1 2.0 b\nq Q0 n2 2 1.0 b\n")
    frame = labeler.transfer(QRELS, OLD, NEW, run, passages=PASSAGES)
    assert labeler.evaluate(frame.attrs["qrels"], {"b": run}, "RR").value.tolist() == [1.0]


def test_chunks_are_read_from_files_with_their_documents(tmp_path: Path) -> None:
    paths = []
    for name, chunks in (("old", OLD), ("new", NEW)):
        path = tmp_path / f"{name}.jsonl"
        lines = [
            json.dumps({"chunk_id": each, "text": text, "document_id": "d", "position": at})
            for at, (each, text) in enumerate(chunks.items())
        ]
        path.write_text("\n".join(lines))
        paths.append(path)
    frame = labeler.transfer(QRELS, *paths, documents={"d": " ".join(OLD.values())})
    assert states(frame) == [["n1", "open"], ["n2", "open"]]


@pytest.mark.parametrize(
    ("passages", "said"),
    [
        ({"q": {"o2": [(80, 900)]}}, "the passage 80 to 900 is not inside its text, which has 8"),
        ({"q": {"o2": [(5, 5)]}}, "the passage 5 to 5 is not inside its text"),
    ],
)
def test_a_passage_outside_its_text_is_refused(
    passages: dict[str, dict[str, list[tuple[int, int]]]], said: str
) -> None:
    with pytest.raises(BadInput, match="query 'q', chunk 'o2'") as refused:
        labeler.transfer(QRELS, OLD, NEW, passages=passages)
    assert said in str(refused.value)


def test_a_graded_chunk_without_text_is_refused() -> None:
    with pytest.raises(NotFound, match="chunk 'o2' is graded, and not in the old chunking"):
        labeler.transfer(QRELS, {"o1": FEES}, NEW)


def test_chunks_are_texts_by_id() -> None:
    with pytest.raises(BadInput, match="chunks must be"):
        labeler.transfer(QRELS, OLD, ["n1", "n2"])
