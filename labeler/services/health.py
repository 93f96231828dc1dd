"""Health of a golden set: reads from the store what it is computed from."""

from __future__ import annotations

from collections.abc import Collection

from labeler.analysis.health import HealthInput
from labeler.analysis.health.task_grades import answering_pairs
from labeler.store import Store


def read_health_input(
    store: Store,
    spread: tuple[float, int] | None,
    by: str,
    alike: int | None = None,
    among: Collection[str] | None = None,
) -> HealthInput:
    """Read all data, or only those of the queries ``among``; logs are always complete."""
    met, only_proposed = store.proposals_met(among)
    queries = [each for each in store.queries() if among is None or each.query_id in among]
    pairs = store.graded_pairs()
    graded = [each for each in pairs if among is None or each.query_id in among]
    rel = store.settings().rel
    answers = answering_pairs(queries, graded, rel).values()
    return HealthInput(
        queries=queries,
        origins=store.origins(),
        graded=graded,
        only_proposed=only_proposed,
        met=met,
        batches=store.batches(),
        spread=spread,
        by=by,
        alike=alike,
        rel=rel,
        answers=store.chunks_numbered(pair.chunk for each in answers for pair in each),
        copies=[each for each in store.copy_grades() if among is None or each.query_id in among],
    )
