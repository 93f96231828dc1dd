"""Made-up collections as truths: retrievers that score chunks by how good they are, and by chance.

No rank makes a chunk relevant here, as the model of ungraded chunks has it: chunks have a worth,
queries are harder or easier for each retriever, retrievers of one family err alike. A collection
without end of them tells whether intervals hold in general, and not of one truth alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from labeler.evaluation import collect
from labeler.model import Collection

CHUNKS, DEPTH = 150, 40


@dataclass(frozen=True)
class Kind:
    """What collections are like: ``sight`` (runs,) is how well each retriever sees worth."""

    queries: int
    relevant: float  # expected per query
    families: tuple[int, ...]
    sight: tuple[float, ...]


KINDS = {
    "few": Kind(120, 4, (0, 0, 1), (1.2, 1.5, 1.0)),
    "some": Kind(80, 15, (0, 0, 1, 1), (1.0, 1.4, 0.6, 1.3)),
    "many": Kind(40, 50, (0, 1, 1, 2, 2), (0.9, 1.2, 0.5, 1.4, 0.8)),
}


def simulate(kind: Kind, seed: int) -> Collection:
    """Make up a collection in which each chunk of each query's top is graded."""
    draw = np.random.default_rng(seed)
    golden, runs = {}, {f"run{at}": {} for at in range(len(kind.sight))}
    spread = draw.uniform(0.2, 0.8)  # how far queries differ in how much is relevant
    ease = draw.uniform(0.1, 0.5)
    for number in range(kind.queries):
        query = f"q{number}"
        worth = draw.normal(0, 1, CHUNKS)
        wanted = min(kind.relevant * np.exp(draw.normal(0, spread)), CHUNKS * 0.9)
        bars = np.quantile(worth, 1 - np.array([1, 0.4, 0.12]) * wanted / CHUNKS)
        grades = (worth[:, np.newaxis] > bars).sum(axis=1)
        shared = draw.normal(0, 1, (max(kind.families) + 1, CHUNKS))
        shown = set()
        for at, (family, sight) in enumerate(zip(kind.families, kind.sight, strict=True)):
            sees = sight * np.exp(draw.normal(0, ease))
            noise = 0.7 * shared[family] + 0.7 * draw.normal(0, 1, CHUNKS)
            order = np.argsort(-(sees * worth + noise))[:DEPTH]
            runs[f"run{at}"][query] = [f"c{chunk}" for chunk in order.tolist()]
            shown.update(order.tolist())
        golden[query] = {f"c{chunk}": int(grades[chunk]) for chunk in sorted(shown)}
    return collect(golden, runs)
