"""Spans that guard or evaluate: what runs below them is no turn of the agent's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.model import Aside, JsonValue

KEYS: Final = ("openinference.span.kind", "langfuse.observation.type", "traceloop.span.kind")
_ASIDES: Final[dict[str, Aside]] = {"guardrail": "guardrail", "evaluator": "evaluator"}


def aside_of(attributes: Mapping[str, JsonValue]) -> Aside | None:
    """What of the two the source calls the span, by the first key that says what it is."""
    for key in KEYS:
        if key in attributes:
            return named_aside(attributes[key])
    return None


def named_aside(kind: JsonValue) -> Aside | None:
    """Which of the two a kind is, in any case; None for every other."""
    return _ASIDES.get(kind.lower()) if isinstance(kind, str) else None
