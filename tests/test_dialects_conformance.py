"""The dialects keep the promises of their port, in their own scopes and with their own events."""

from __future__ import annotations

import pytest
from vocabulary_conformance import VocabularyConformance

from adapters.vocabularies import event_list, failures, genai
from adapters.vocabularies.google_adk import GoogleAdk
from adapters.vocabularies.langfuse import Langfuse
from adapters.vocabularies.langsmith import LangSmith
from adapters.vocabularies.langwatch import LangWatch
from adapters.vocabularies.logfire import Logfire
from adapters.vocabularies.mlflow import MLflow
from adapters.vocabularies.pydantic_ai import PydanticAi
from adapters.vocabularies.strands import Strands
from adapters.vocabularies.vercel import Vercel
from monitor.ports import Vocabulary

CONTENT = tuple(sorted(genai.CONTENT_EVENTS))


class TestStrands(VocabularyConformance):
    event_names = CONTENT
    scopes = ("strands.telemetry.tracer", "shop")

    def vocabulary(self) -> Vocabulary:
        return Strands()


class TestGoogleAdk(VocabularyConformance):
    scopes = ("gcp.vertex.agent", "shop")

    def vocabulary(self) -> Vocabulary:
        return GoogleAdk()


class TestPydanticAi(VocabularyConformance):
    event_names = CONTENT
    scopes = ("pydantic-ai", "shop")

    def vocabulary(self) -> Vocabulary:
        return PydanticAi()


class TestLogfire(VocabularyConformance):
    scopes = ("logfire.openai", "logfire.anthropic")

    def vocabulary(self) -> Vocabulary:
        return Logfire()


class TestLangfuse(VocabularyConformance):
    def vocabulary(self) -> Vocabulary:
        return Langfuse(typed=True)


class TestLangfuseWithoutType(VocabularyConformance):
    def vocabulary(self) -> Vocabulary:
        return Langfuse(typed=False)


class TestLangSmith(VocabularyConformance):
    def vocabulary(self) -> Vocabulary:
        return LangSmith()


class TestLangWatch(VocabularyConformance):
    def vocabulary(self) -> Vocabulary:
        return LangWatch()


class TestMLflow(VocabularyConformance):
    def vocabulary(self) -> Vocabulary:
        return MLflow()


class TestVercel(VocabularyConformance):
    def vocabulary(self) -> Vocabulary:
        return Vercel()


def test_a_list_of_events_may_hold_anything() -> None:
    odd = '[1, null, {"event.name": 5}, {"event.name": "gen_ai.choice", "message": 7}, []]'
    found = event_list.read_event_list(odd)
    assert (found.system, found.cut) == (None, False)


@pytest.mark.parametrize("text", ["GraphInterrupted!", "no GraphInterrupt", "", None, 5])
def test_other_words_are_failures(text: object) -> None:
    assert not failures.is_control_flow(text)
