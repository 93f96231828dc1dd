"""The notes of a transfer say what would decide pairs whose text repeats."""

from __future__ import annotations

import json
from pathlib import Path

import labeler

CLAUSE = "Fees are due in May, and are taken from the account at the end of that month. "
OWN = [f"Branch {at} opens at {at} and has {9 * at} counters for cards. " for at in (6, 7, 8)]
OLD = [OWN[0], CLAUSE, OWN[1], CLAUSE, OWN[2]]


def written(path: Path, texts: list[str], names: str, **known: list[object]) -> Path:
    rows = [
        {"id": f"{names}{at}", "text": text, **{name: of[at] for name, of in known.items()}}
        for at, text in enumerate(texts)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_a_note_says_what_to_give_and_then_the_pairs_are_decided(tmp_path: Path) -> None:
    old = written(tmp_path / "old.jsonl", OLD, "o", document_id=["d"] * 5, position=[*range(5)])
    grades = {"q": {"o1": 3, "o3": 0}}
    alone = written(tmp_path / "new.jsonl", [CLAUSE], "n", document_id=["d"])
    [before] = labeler.transfer(grades, old, alone).to_dict("records")
    assert before["state"] != "decided"
    notes = labeler.transfer(grades, old, alone).attrs["notes"]
    assert "fit several places equally well" in notes[0]
    assert notes[1] == (
        "Repeated text: Load the chunks of the new chunking with position, or with start and end: "
        "the one pair that repeated text leaves open would be decided."
    )
    places = {"document_id": ["d"] * 5, "position": [*range(5)]}
    known = written(tmp_path / "known.jsonl", OLD, "n", **places)
    frame = labeler.transfer(grades, old, known)
    assert frame.attrs["qrels"] == {"q": {"n1": 3, "n3": 0}}
    assert frame.attrs["notes"] == []
