"""A system over time: its runs in order of date, what they say together, what fell and why.

Knows no page, no chart and no file; which golden grades are meant is the board's.
"""

from labeler.analysis.trend.alerts import (
    MOST_SHOWN,
    NO_THRESHOLDS,
    Alert,
    Looked,
    Thresholds,
    look,
    thresholds_of,
)
from labeler.analysis.trend.parting import NO_GRADES, ORDER, Parts, part
from labeler.analysis.trend.records import changes, part_records, point_records, summary_records
from labeler.analysis.trend.series import (
    DIRECTION,
    Place,
    Point,
    Series,
    Summary,
    Values,
    series_of,
    summaries,
)
from labeler.analysis.trend.signals import (
    MEANT,
    NO_CLAIM,
    Heard,
    Signals,
    Span,
    signal_notes,
    signal_records,
    signals_of,
    span_of,
)
from labeler.analysis.trend.timeline import (
    WINDOWS,
    Dated,
    Timeline,
    Window,
    end_of,
    moment_of,
    timeline,
    window_of,
)

__all__ = [
    "DIRECTION",
    "MEANT",
    "MOST_SHOWN",
    "NO_CLAIM",
    "NO_GRADES",
    "NO_THRESHOLDS",
    "ORDER",
    "WINDOWS",
    "Alert",
    "Dated",
    "Heard",
    "Looked",
    "Parts",
    "Place",
    "Point",
    "Series",
    "Signals",
    "Span",
    "Summary",
    "Thresholds",
    "Timeline",
    "Values",
    "Window",
    "changes",
    "end_of",
    "look",
    "moment_of",
    "part",
    "part_records",
    "point_records",
    "series_of",
    "signal_notes",
    "signal_records",
    "signals_of",
    "span_of",
    "summaries",
    "summary_records",
    "thresholds_of",
    "timeline",
    "window_of",
]
