"""How far the groups of the roles apart are behind."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.exposition import group_catalogue as own
from monitor.exposition.families import Family, gauge
from monitor.exposition.live import Groups
from monitor.ledger.labels import label_value


def group_families(groups: Groups | None) -> Iterator[Family]:
    """Nothing where there are no groups."""
    if groups is None:
        return
    behind: dict[tuple[str, ...], float] = {
        (label_value(group), label_value(topic)): lag for (group, topic), lag in groups.lags.items()
    }
    yield gauge(own.GROUP_LAG, behind)
    if groups.export_s is not None:
        yield gauge(own.EXPORT_LAG, {(): groups.export_s})
    if groups.measured_s is not None:
        yield gauge(own.LAG_AGE, {(): groups.measured_s})
