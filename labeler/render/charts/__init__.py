"""Altair charts of scores over k, trends and the review of grades."""

from labeler.render.charts.review import (
    MOST_DAYS,
    BucketProgress,
    Drift,
    day_chart,
    day_frame,
    drift_chart,
    drift_frame,
    progress_chart,
)
from labeler.render.charts.scores import CURVES_AT, curve_chart
from labeler.render.charts.trend import MOST_BANDS, signal_chart, trend_chart
