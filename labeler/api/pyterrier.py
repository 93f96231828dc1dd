"""PyTerrier data frames read from the file of a golden set and written to it.

Their columns are PyTerrier's: ``qid, query`` of topics, ``qid, docno, label`` of qrels, and
``qid, docno, rank, score`` of results, whose ranks count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from labeler.api.grade_scales import grade_rule
from labeler.api.inputs import (
    qrels_to_dicts,
)
from labeler.api.tables import (
    GRADE_COLUMNS,
    SCORE_COLUMNS,
    frame_to_dicts,
)
from labeler.errors import BadInput
from labeler.model import (
    GoldenGrade,
    Loaded,
    LoadedGolden,
    LoadReport,
    Ranking,
    RecordT,
    UnjudgedPair,
)
from labeler.store import Store

_SOURCE = "a frame"


def topics(db: str | Path) -> pd.DataFrame:
    """Return the queries of the golden set in the file ``db``, without retired ones."""
    with Store(db) as store:
        rows = [(query.query_id, query.text) for query in store.queries.all()]
    return pd.DataFrame(rows, columns=["qid", "query"], dtype=object)


def qrels(db: str | Path) -> pd.DataFrame:
    """Return the golden grades; a label of -1 is an unjudged chunk of the pool."""
    with Store(db) as store:
        pairs: list[GoldenGrade | UnjudgedPair] = [
            *store.golden_set.read()[1],
            *store.golden_loads.ungraded(),
        ]
    rows = [(each.query_id, each.chunk_id, each.grade) for each in pairs]
    return pd.DataFrame(rows, columns=["qid", "docno", "label"])


def results(db: str | Path, run: str) -> pd.DataFrame:
    """Return a stored run; missing scores become the negative rank. May raise `NotFound`."""
    with Store(db) as store:
        lists = store.runs.lists(run)
    rows = [
        (each.query_id, chunk_id, rank, -float(rank) if each.scores is None else each.scores[rank])
        for each in lists
        for rank, chunk_id in enumerate(each.chunk_ids)
    ]
    return pd.DataFrame(rows, columns=["qid", "docno", "rank", "score"])


def load_results(db: str | Path, frame: pd.DataFrame, name: str) -> LoadReport:
    """Store a run from a frame of results, ordered by score; ties stay in the frame's order."""
    found = frame_to_dicts(frame, f"run {name!r}", SCORE_COLUMNS)
    rankings = []
    for query_id, scored in found.items():
        ids = sorted(scored, key=scored.__getitem__, reverse=True)
        rankings.append(Ranking(query_id, tuple(ids), tuple(float(scored[each]) for each in ids)))
    if not rankings:
        raise BadInput(f"run {name!r}: there is no result in the frame")
    with Store(db) as store:
        return store.runs.load(_loaded(rankings), name=name)


def load_qrels(
    db: str | Path,
    frame: pd.DataFrame,
    *,
    grade_map: dict[float, int] | None = None,
    negative_as_ungraded: bool = False,
) -> LoadReport:
    """Add golden grades from a frame of qrels; their queries must be stored already."""
    rule = grade_rule(grade_map, False, negative_as_ungraded)
    pairs = [
        (query_id, chunk_id, grade)
        for query_id, grades in qrels_to_dicts(
            frame_to_dicts(frame, "qrels", GRADE_COLUMNS), rule
        ).items()
        for chunk_id, grade in grades.items()
    ]
    golden = LoadedGolden(
        _loaded([]),
        _loaded([GoldenGrade(*pair) for pair in pairs if pair[2] >= 0]),
        _loaded([]),
        _loaded([UnjudgedPair(*pair[:2]) for pair in pairs if pair[2] < 0]),
    )
    with Store(db) as store:
        return store.golden_loads.add(golden)


def _loaded(records: Sequence[RecordT]) -> Loaded[RecordT]:
    return Loaded(_SOURCE, records, range(1, len(records) + 1))
