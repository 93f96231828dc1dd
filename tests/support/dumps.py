"""Dumps of two retrievers over a made-up collection whose right grades are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np

QUERIES, CHUNKS, DEPTH = 60, 30, 20
NOISE = {"bm25": 14.0, "dense": 4.0}
"""How far a retriever's ranks are from the best order: dense is the better one."""

RightGrades = Mapping[tuple[str, str], int]
"""The right grade of a question and a passage, by their texts."""


def write_dumps(folder: Path, seed: int = 4) -> tuple[Path, Path, RightGrades]:
    """Write bm25.json and dense.json; return them and the right grades.

    Of a question's thirty passages eight may be relevant. No id occurs with two questions.
    """
    draw = np.random.default_rng(seed)
    grades: dict[tuple[str, str], int] = {}
    dumps: dict[str, list[dict[str, object]]] = {name: [] for name in NOISE}
    for number in range(QUERIES):
        question = f"What does the manual say of part {number}?"
        texts = [f"Part {number}, paragraph {at}: turn it by {at * 7} degrees." for at in range(30)]
        right = draw.choice(4, size=CHUNKS, p=[0.2, 0.2, 0.3, 0.3]) * (np.arange(CHUNKS) < 8)
        grades.update({(question, text): int(g) for text, g in zip(texts, right, strict=True)})
        for name, noise in NOISE.items():
            order = np.argsort(np.arange(CHUNKS) + draw.normal(0, noise, CHUNKS))[:DEPTH]
            results = [
                {"id": f"p{number}-{at}", "text": texts[at], "score": round(1 - rank / 100, 2)}
                for rank, at in enumerate(order.tolist())
            ]
            dumps[name].append({"query": question, "results": results})
    for name, records in dumps.items():
        (folder / f"{name}.json").write_text(json.dumps(records), encoding="utf-8")
    return folder / "bm25.json", folder / "dense.json", grades
