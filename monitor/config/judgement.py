"""What verdicts rest on: references, contracts, comparison, composition."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator

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
    outcome_bar: float = 0.5
    """From here on the outcome that a trace tells, such as a reward, is a success."""


class FieldSettings(Section):
    """How the values of one field are compared."""

    compare: (
        Literal[
            "literal",
            "typed",
            "semantic",
            "number",
            "date",
            "enum",
            "text",
            "id",
            "boolean",
            "place",
        ]
        | None
    ) = None
    """`literal`: any difference counts. `typed`: rules alone decide, and what they leave open is
    unsure. `semantic`: likeness may decide, whatever the field is called. The other names declare
    the type of the value. Else all is inferred from the schema and the field's name."""
    threshold: Unit | None = None
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """How far two numbers may lie apart, in the expected value's own unit."""


class ComparisonSettings(Section):
    """When two values count as the same."""

    threshold: Unit = 0.5
    """Neutral, not tuned: choose by the price of false alarms against missed errors."""
    sub_metrics: dict[SubMetric, Unit] = Field(default_factory=dict)
    tools: dict[str, Unit] = Field(default_factory=dict)
    """By the tool's name, or by its action alone."""
    fields: dict[str, FieldSettings] = Field(default_factory=dict)
    """By dotted argument path, or by `tool:path` for one tool only; the most specific counts.
    A number alone is the threshold, a word alone the way to compare."""
    calibration: Path | None = None
    """What `agent-monitor calibrate` wrote; else the one that comes with the package."""

    @field_validator("fields", mode="before")
    @classmethod
    def _in_full(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: _in_full(one) for name, one in value.items()}


class EmbeddingSettings(Section):
    """The encoder behind text similarity."""

    backend: Literal["wordllama", "minilm", "bedrock", "http", "none"] = "wordllama"
    """`minilm` needs the extra of that name, `bedrock` (Titan) the extra `aws`; `http` is any
    OpenAI-compatible endpoint."""
    url: str | None = None
    """Of `http`, up to and without `/embeddings`."""
    key: SecretStr | None = None
    """Sent to `url` as a bearer token; set it in the environment."""
    insecure: bool = False
    """Allow plain http to another machine."""
    model: str | None = None
    """Of `http` (needed) and `bedrock`."""
    dimensions: Annotated[int, Field(ge=1, le=8192)] | None = None
    """Length of a vector, where the backend offers several."""
    region: str | None = None
    """Of `bedrock`; else the environment's."""
    timeout_s: Annotated[float, Field(gt=0, le=60)] = 2.0
    """The longest that scoring waits for one batch of `bedrock` or `http`."""
    tenant: str = ""
    """Part of every key, so that tenants who share a file share no vector."""
    cache_entries: Count = 50_000
    persist_path: Path | None = None
    """Keep the vectors across restarts, in a file of their own."""


def _in_full(policy: Any) -> Any:
    if isinstance(policy, str):
        return {"compare": policy}
    if isinstance(policy, int | float) and not isinstance(policy, bool):
        return {"threshold": policy}
    return policy
