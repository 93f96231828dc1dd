"""Trends of a system over its dated runs: series of values, alerts, and causes of a change."""

from labeler.analysis.trend.alerts import (
    MOST_OPEN_ALERTS,
    NO_THRESHOLDS,
    AlertScan,
    Thresholds,
    below_thresholds,
    scan_for_alerts,
    thresholds_by_series,
)
from labeler.analysis.trend.change_causes import (
    ChangeCauses,
    cause_statements,
    describe_grades,
    describe_missing_grades,
    split_change,
)
from labeler.analysis.trend.series import (
    DIRECTION_RULE,
    WINDOWS,
    DatedRun,
    QueryValues,
    Timeline,
    TrendSeries,
    TrendSummary,
    Window,
    build_series,
    build_timeline,
    describe_window,
    end_of_date,
    parse_moment,
    parse_window,
    summarize_series,
)
from labeler.analysis.trend.signals import (
    SignalSeries,
    SignalValue,
    TimeSpan,
    build_signal_series,
    find_time_span,
    signal_statements,
)
from labeler.analysis.trend.tables import (
    change_causes_table,
    newest_first,
    points_table,
    signal_values_table,
    signals_table,
    summaries_table,
)
