"""Every vocabulary of the house keeps the promises of its port."""

from __future__ import annotations

import pytest
from vocabulary_conformance import VocabularyConformance

from adapters.vocabularies import moved
from adapters.vocabularies.genai import CONTENT_EVENTS, GenAi
from adapters.vocabularies.moved import MovedContent
from adapters.vocabularies.openinference import OpenInference
from adapters.vocabularies.pydantic_ai import PydanticAi
from adapters.vocabularies.registry import VOCABULARIES
from adapters.vocabularies.traceloop import Traceloop
from monitor.ports import Vocabulary


class TestGenAi(VocabularyConformance):
    event_names = (*sorted(CONTENT_EVENTS), "exception")

    def vocabulary(self) -> GenAi:
        return GenAi()


class TestOpenInference(VocabularyConformance):
    scopes = ("openinference.instrumentation.langchain", "shop")

    def vocabulary(self) -> OpenInference:
        return OpenInference()


class TestTraceloop(VocabularyConformance):
    def vocabulary(self) -> Traceloop:
        return Traceloop()


class TestPydanticAi(VocabularyConformance):
    scopes = ("pydantic-ai", "shop")

    def vocabulary(self) -> PydanticAi:
        return PydanticAi()


class TestMovedContent(VocabularyConformance):
    event_names = (moved.MOVED_CONTENT,)

    def vocabulary(self) -> MovedContent:
        return MovedContent()


def members(vocabularies: tuple[Vocabulary, ...]) -> list[Vocabulary]:
    found: list[Vocabulary] = []
    for vocabulary in vocabularies:
        found += getattr(vocabulary, "_dialects", (vocabulary,))
    return found


class Registered(VocabularyConformance):
    """The rest of the registry, without their events."""

    index = 0

    def vocabulary(self) -> Vocabulary:
        return members(VOCABULARIES)[self.index]


@pytest.mark.parametrize("index", range(len(members(VOCABULARIES))))
def test_a_span_without_attributes_tells_nothing(index: int) -> None:
    suite = Registered()
    suite.index = index
    suite.test_a_span_without_attributes_tells_nothing()


def test_names_are_unique() -> None:
    names = [(type(vocabulary), vocabulary.name) for vocabulary in members(VOCABULARIES)]
    assert len({name for _, name in names}) == len({kind for kind, _ in names})
