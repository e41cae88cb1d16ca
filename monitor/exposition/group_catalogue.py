"""The metrics of the roles apart; there only where an export reads from Kafka."""

from __future__ import annotations

from typing import Final

from monitor.exposition.catalogue import PREFIX, Metric

GROUP_LAG: Final = Metric(
    f"{PREFIX}group_lag_records",
    "gauge",
    "Records of a topic that a consumer group has not acknowledged yet.",
    ("group", "topic"),
)
EXPORT_LAG: Final = Metric(
    f"{PREFIX}export_lag_seconds",
    "gauge",
    "Age of the record that the export took last; what a scrape is behind the workers.",
    unit="seconds",
)
LAG_AGE: Final = Metric(
    f"{PREFIX}group_lag_age_seconds",
    "gauge",
    "Time since the groups' lags were measured; they are not shown once that is long ago.",
    unit="seconds",
)
EVERY: Final = (GROUP_LAG, EXPORT_LAG, LAG_AGE)
