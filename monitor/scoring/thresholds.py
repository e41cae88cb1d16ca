"""From which similarity on two values count as the same, by field, tool and sub-metric."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from monitor.verdict import SubMetric


class Thresholds(msgspec.Struct, frozen=True):
    """Bars in [0, 1]; the most specific one that is set counts: field, tool, sub-metric, default.

    `default` is the neutral 0.5 that nobody tuned.
    """

    default: float = 0.5
    sub_metrics: Mapping[SubMetric, float] = {}
    tools: Mapping[str, float] = {}
    """By the tool's name as traces spell it, or by its action alone."""
    fields: Mapping[str, float] = {}
    """By dotted argument path, or by `tool:path` for one tool only."""

    def of(self, sub_metric: SubMetric, tool: str | None = None, field: str | None = None) -> float:
        """The bar for one comparison."""
        if field is not None and self.fields:
            for key in (f"{tool}:{field}", field):
                if key in self.fields:
                    return self.fields[key]
        if tool is not None and self.tools:
            for key in (tool, tool.rpartition(".")[2]):
                if key in self.tools:
                    return self.tools[key]
        return self.sub_metrics.get(sub_metric, self.default)
