"""``labeler gate --example``: a gate file for the stored runs, which passes as it is."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from labeler.cli.options import conventions_of
from labeler.errors import NotFound
from labeler.evaluation import PRESETS, Score, Scoreboard, format_number
from labeler.services.import_export import snapshots
from labeler.store import Store
from labeler.store.addresses import StoreLocation

_USUAL = 10  # fewest queries in a mean, a gate's default
_MARGIN = 0.02  # how far the least value is below the present one
_TEMPLATE = """\
# Which values a run must reach. Save this as gate.toml; 'labeler gate gate.toml' judges the run.
run = {run}  # the run that is judged; --run names another
{baseline}
fewest_queries = {fewest}  # fewer queries in a mean, and nothing is judged

[overall]
{measure} = {limits}  # {why}

# The same for the queries of one task, or of one bucket of another facet:
# [task.compliance]
# "R@prompt" = 0.9
# [bucket.intent.refund]
# "nDCG@10" = {{drop = 0.05}}
"""


def gate_example(db: StoreLocation) -> str:
    """Return a gate file for the best run and the next best; without runs, for made-up names.

    It checks the measure that decides which of two runs is better.
    """
    try:
        with Store(db) as store:
            collection, settings = snapshots.collection_of(store, None)
    except NotFound:
        return _example("nDCG@10", [])
    board = Scoreboard(collection, conventions_of(settings, PRESETS[0], None, None))
    measures = board.conventions.measures([settings.decide_by])
    scores = [score for score in board.table(measures) if not math.isnan(score.value)]
    return _example(settings.decide_by, sorted(scores, key=lambda score: -score.value))


def _example(measure: str, scores: Sequence[Score]) -> str:
    best = scores[0] if scores else None
    # A missing list would count as 0, and a gate does not judge a drop from that.
    others = [score.run for score in scores[1:] if not score.missing]
    is_compared = bool(others) or best is None
    baseline = f"baseline = {_quoted(others[0] if others else 'production')}"
    least = 0.75 if best is None else max(math.floor((best.value - _MARGIN) * 100) / 100, 0.0)
    return _TEMPLATE.format(
        run=_quoted("candidate" if best is None else best.run),
        baseline=f"{'' if is_compared else '# '}{baseline}  # what it must not fall behind",
        fewest=_USUAL if best is None else max(min(_USUAL, best.n), 1),
        measure=_quoted(measure),
        limits=f"{{at_least = {least}{', drop = 0.02' if is_compared else ''}}}",
        why="at least this" if best is None else f"now {format_number(best.value)}",
    )


def _quoted(text: str) -> str:
    """Quote a text for TOML, which escapes as JSON does, but also DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
