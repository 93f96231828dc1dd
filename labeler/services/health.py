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
    met, only_proposed = store.suggestions.met(among)
    queries = [each for each in store.queries.all() if among is None or each.query_id in among]
    pairs = store.suggestions.graded_pairs()
    graded = [each for each in pairs if among is None or each.query_id in among]
    rel = store.settings.read().rel
    answers = answering_pairs(queries, graded, rel).values()
    return HealthInput(
        queries=queries,
        origins=store.history.origins(),
        graded=graded,
        only_proposed=only_proposed,
        met=met,
        batches=store.candidates.batches(),
        spread=spread,
        by=by,
        alike=alike,
        rel=rel,
        answers=store.texts.numbered(pair.chunk for each in answers for pair in each),
        copies=[each for each in store.copies.grades() if among is None or each.query_id in among],
    )
