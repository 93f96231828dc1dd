"""Values become Altair charts; knows no Streamlit, no HTML and no database."""

from labeler.render.charts.agreeing import Drift, drift_chart, drift_frame
from labeler.render.charts.comparing import (
    delta_bars,
    delta_scatter,
    query_frame,
)
from labeler.render.charts.failing import (
    failure_chart,
    failure_heat,
)
from labeler.render.charts.heat import HEAT_COLOURS, HeatCell, heat_chart
from labeler.render.charts.reviewing import (
    MOST_DAYS,
    Share,
    day_chart,
    day_frame,
    progress_chart,
    shown_days,
)
from labeler.render.charts.scores import CURVES_AT, curve_chart, score_chart
from labeler.render.charts.signals import signal_chart
from labeler.render.charts.trending import MOST_BANDS, trend_chart

__all__ = [
    "CURVES_AT",
    "HEAT_COLOURS",
    "MOST_BANDS",
    "MOST_DAYS",
    "Drift",
    "HeatCell",
    "Share",
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
