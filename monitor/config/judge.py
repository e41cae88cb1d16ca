"""The judge: which model, which turns, and what it may cost."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from monitor.config.section import Count, Seconds, Section, Unit


class PriceSettings(Section):
    """US dollars for a million tokens."""

    input_usd: Annotated[float, Field(ge=0)]
    output_usd: Annotated[float, Field(ge=0)]


class CeilingSettings(Section):
    """The most that a window may take, passed by less than one call; left out is not bounded."""

    calls: Annotated[int, Field(ge=0)] | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None
    usd: Annotated[float, Field(ge=0)] | None = None


class JudgeSettings(Section):
    """A model that is asked about a sample of the conversations; off without a backend.

    Redacted text of the sampled conversations is sent to it. The key of an OpenAI-compatible
    endpoint comes from AGENT_MONITOR_JUDGE_KEY, else OPENAI_API_KEY, in the environment.
    """

    backend: Literal["none", "bedrock", "openai"] = "none"
    model: str | None = None
    """The model's id, as its backend names it."""
    url: str | None = None
    """Of an OpenAI-compatible endpoint, up to and including `/v1`."""
    insecure: bool = False
    """Allow plain http to another machine."""
    region: str | None = None
    """Of Bedrock; else as boto3 finds it."""
    prompt_cache: bool = False
    """Mark what repeats for models on Bedrock that cache prompts."""
    body: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request to an OpenAI-compatible endpoint."""
    rate: Unit = 0.05
    """Share of conversations to judge, on average, at the usual doubt about them."""
    rates: dict[str, Unit] = Field(default_factory=dict)
    """Other rates, by release or by `chain:0` to `chain:3+`."""
    usual_doubt: Annotated[float, Field(gt=0)] = 0.7
    """The doubt about a conversation at which `rate` holds; more doubtful ones are drawn more
    often, never less than a quarter of the rate."""
    seed: str = ""
    """Another seed draws other conversations."""
    always_tools: tuple[str, ...] = ()
    """Conversations that call one of these tools are always judged."""
    never_tools: tuple[str, ...] = ()
    always_releases: tuple[str, ...] = ()
    never_releases: tuple[str, ...] = ()
    always_services: tuple[str, ...] = ()
    """Tenants, mostly: patterns with `*` over `service.namespace/service.name`."""
    never_services: tuple[str, ...] = ()
    per_hour: CeilingSettings = CeilingSettings(calls=500)
    per_day: CeilingSettings = CeilingSettings(calls=5_000)
    prices: dict[str, PriceSettings] = Field(default_factory=dict)
    """By the beginning of a model's id, before those that are built in; of agents' models too."""
    timeout_s: Annotated[float, Field(gt=0)] = 30.0
    """Of one call."""
    pause_s: Annotated[float, Field(gt=0)] = 30.0
    """How long the judge is left alone after five failed calls in a row."""
    concurrency: Count = 4
    queue: Count = 1_000
    """Drawn conversations that may wait; beyond it the oldest are skipped, and counted."""
    answers: Count = 20_000
    """Answers that are remembered."""
    give_up_s: Seconds = 3_600.0
    """A conversation that the judge cannot be asked about so long is reported without it."""
    control: Literal["always", "suspected", "never"] = "always"
    """Which verdicts count only if the judge also answers a control rightly: one more question,
    whose answer is known and the opposite, with the same texts in it. Always: a text that talks a
    judge round is caught however it is worded. It costs one more call for each turn that gets a
    verdict, about the same evidence, which a prompt cache holds already. `suspected`: only beside
    wordings that are known."""
    canary_every: Count = 200
    """Calls between two checks with turns whose verdict is known."""
