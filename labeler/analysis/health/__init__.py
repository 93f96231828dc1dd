"""Health of a golden set: its size, sources, confirmations, age, buckets and share of traffic."""

from labeler.analysis.health.golden_set_health import (
    OLD_AFTER,
    GoldenSetHealth,
    HealthInput,
    assess_health,
    spread_of_deltas,
)
from labeler.analysis.health.sections import (
    HealthSection,
    HealthWarning,
    describe_health,
    describe_size,
    health_record,
    summarize_health,
)
