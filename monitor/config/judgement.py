"""What verdicts rest on: references, contracts, comparison, composition."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from monitor.config.section import Count, Section, Unit
from monitor.verdict import SubMetric


class ReferenceSettings(Section):
    """Expected behaviour."""

    by_id: tuple[Path, ...] = ()
    """JSON lines of references by conversation id, plain or gzip."""
    golden: tuple[Path, ...] = ()
    """JSON lines of golden dialogs, matched by id or by the user's query."""
    query_similarity: Unit = 0.9
    """How alike a query must be to a golden one, every typed value being equal."""


class ToolSettings(Section):
    """Tool contracts, beside those that the traces carry."""

    files: tuple[Path, ...] = ()
    """Complete contracts: a call of a tool that neither they nor the trace define fails."""
    writes: tuple[str, ...] = ()
    """Names of tools that change the world, where no contract says so."""
    reads: tuple[str, ...] = ()
    """Names of tools that do not."""


class EvidenceSettings(Section):
    """Verdicts on turns that no reference covers, from what the conversation itself shows."""

    enabled: bool = True
    """Off: such replies stay unscored, and such calls are held against their contract only."""


class CompositionSettings(Section):
    """How turn verdicts become one number."""

    rule: str = "unweighted_mean"
    parameters: dict[str, Any] = Field(default_factory=dict)


class ComparisonSettings(Section):
    """When two values count as the same."""

    threshold: Unit = 0.5
    """Neutral, not tuned: choose by the price of false alarms against missed errors."""
    sub_metrics: dict[SubMetric, Unit] = Field(default_factory=dict)
    tools: dict[str, Unit] = Field(default_factory=dict)
    """By the tool's name, or by its action alone."""
    fields: dict[str, Unit] = Field(default_factory=dict)
    """By dotted argument path, or by `tool:path` for one tool only; the most specific counts."""


class EmbeddingSettings(Section):
    """The encoder behind text similarity."""

    backend: Literal["wordllama", "none"] = "wordllama"
    cache_entries: Count = 50_000
    persist_path: Path | None = None
    """Keep the vectors across restarts, in a file of their own."""
