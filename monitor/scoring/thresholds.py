"""From which similarity on two values count as the same, by field, tool and sub-metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from monitor.verdict import SubMetric


class FieldPolicy(msgspec.Struct, frozen=True):
    """How the values of one field are compared."""

    kind: str | None = None
    """As in `Hint`; None: infer."""
    tolerance: float | None = None
    """As in `Hint`."""


ANY: Final = FieldPolicy()


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
    policies: Mapping[str, FieldPolicy] = {}
    """By the same names as `fields`; positions in lists are left out."""

    def policy(self, tool: str, field: str) -> FieldPolicy:
        """How values of the field are compared; without a policy, as inferred."""
        if not self.policies:
            return ANY
        path = ".".join(part for part in field.split(".") if not part.isdigit())
        return self.policies.get(f"{tool}:{path}") or self.policies.get(path) or ANY

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
