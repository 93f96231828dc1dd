"""Trends of a system over its dated runs: series of values, alerts, and causes of a change."""

from labeler.analysis.trend.alerts import (
    MOST_OPEN_ALERTS,
    NO_THRESHOLDS,
    AlertScan,
    Thresholds,
    scan_for_alerts,
    thresholds_by_series,
)
from labeler.analysis.trend.change_causes import CAUSES_ORDER, ChangeCauses, split_change
from labeler.analysis.trend.records import (
    change_cause_records,
    changes_by_point,
    point_records,
    summary_records,
)
from labeler.analysis.trend.series import (
    DIRECTION_RULE,
    WINDOWS,
    DatedRun,
    QueryValues,
    Timeline,
    TrendPoint,
    TrendSeries,
    TrendSummary,
    Window,
    build_series,
    build_timeline,
    end_of_date,
    parse_window,
    summarize_series,
)
from labeler.analysis.trend.signals import (
    NO_CORRELATION_NOTE,
    SIGNAL_MEANING,
    SignalSeries,
    SignalValue,
    TimeSpan,
    build_signal_series,
    find_time_span,
    signal_notes,
    signal_records,
)
