"""Chooses the one vocabulary that reads a span. A new vocabulary is one file and one line here."""

from __future__ import annotations

from typing import Final

from adapters.vocabularies.genai import GenAi
from adapters.vocabularies.moved import MovedContent
from adapters.vocabularies.pydantic_ai import PydanticAi
from monitor.ports import Vocabulary

VOCABULARIES: Final[tuple[Vocabulary, ...]] = (
    PydanticAi(),
    GenAi(),
    MovedContent(),
)
"""In order: the first that recognises a span reads all of it, so no two are ever mixed."""
