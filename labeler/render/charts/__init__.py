"""Altair charts of scores, comparisons, failures, trends and the review of grades."""

from labeler.render.charts.queries import (
    HEAT_COLOURS,
    HeatCell,
    delta_bars,
    delta_scatter,
    failure_chart,
    failure_heat,
    heat_chart,
    query_frame,
)
from labeler.render.charts.review import (
    MOST_DAYS,
    BucketProgress,
    Drift,
    day_chart,
    day_frame,
    drift_chart,
    drift_frame,
    progress_chart,
    shown_days,
)
from labeler.render.charts.scores import CURVES_AT, curve_chart, score_chart
from labeler.render.charts.trend import MOST_BANDS, signal_chart, trend_chart

__all__ = [
    "CURVES_AT",
    "HEAT_COLOURS",
    "MOST_BANDS",
    "MOST_DAYS",
    "BucketProgress",
    "Drift",
    "HeatCell",
    "curve_chart",
    "day_chart",
    "day_frame",
    "delta_bars",
    "delta_scatter",
    "drift_chart",
    "drift_frame",
    "failure_chart",
    "failure_heat",
    "heat_chart",
    "progress_chart",
    "query_frame",
    "score_chart",
    "shown_days",
    "signal_chart",
    "trend_chart",
]
