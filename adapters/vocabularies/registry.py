"""Chooses the one vocabulary that reads a span. A new vocabulary is one file and one line here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.vocabularies.genai import GenAi
from adapters.vocabularies.pydantic_ai import PydanticAi
from monitor.model import AgentSpan, JsonValue
from monitor.ports import Vocabulary

VOCABULARIES: Final[tuple[Vocabulary, ...]] = (
    PydanticAi(),
    GenAi(),
)
"""In order: the first that recognises a span reads all of it, so no two are ever mixed."""


def read_with(
    vocabularies: Sequence[Vocabulary],
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
) -> AgentSpan:
    """The span as the first vocabulary that knows it reads it; else the span unchanged."""
    for vocabulary in vocabularies:
        found = vocabulary.read(attributes, events, span)
        if found is not None:
            return found
    return span
