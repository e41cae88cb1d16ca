"""Chooses the one vocabulary that reads a span. A new vocabulary is one file and one line here."""

from __future__ import annotations

from typing import Final

from adapters.vocabularies.dialects import Dialects
from adapters.vocabularies.genai import GenAi
from adapters.vocabularies.google_adk import GoogleAdk
from adapters.vocabularies.langfuse import Langfuse
from adapters.vocabularies.langsmith import LangSmith
from adapters.vocabularies.langwatch import LangWatch
from adapters.vocabularies.logfire import Logfire
from adapters.vocabularies.mlflow import MLflow
from adapters.vocabularies.openinference import OpenInference, WithoutKind
from adapters.vocabularies.pydantic_ai import PydanticAi
from adapters.vocabularies.strands import Strands
from adapters.vocabularies.traceloop import Traceloop
from adapters.vocabularies.vercel import Vercel
from monitor.ports import Vocabulary

VOCABULARIES: Final[tuple[Vocabulary, ...]] = (
    Dialects(
        (
            *(Langfuse(typed=True), Logfire(), PydanticAi(), Strands(), GoogleAdk(), LangSmith()),
            *(OpenInference(), Traceloop()),
        )
    ),
    GenAi(),
    Dialects((Vercel(), MLflow(), LangWatch(), Langfuse(typed=False))),
    WithoutKind(),
)
"""In order: the first that recognises a span tells its kind, and all content that it carries.

Dialects of the GenAI conventions go before them. Content of which the first knows nothing may be
told by a later one, whole.
"""
