"""A vocabulary that somebody adds: one class, handed to the decoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from otlp_building import JSON, PROTOBUF, body, json_body, span

from adapters.otlp.decoder import OtlpDecoder
from adapters.vocabularies.registry import VOCABULARIES
from monitor.model import AgentSpan, JsonValue, Message
from monitor.ports import Decoded


class Numbered:
    """Messages as numbered attributes: `talk.0.text`, `talk.1.text` and so on."""

    name = "numbered"
    keys = frozenset({"talk.", "talk_model"})

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        numbers = sorted(int(key.split(".")[1]) for key in attributes if key.startswith("talk."))
        if not numbers:
            return None
        return msgspec.structs.replace(
            span,
            kind="model",
            model=attributes.get("talk_model"),
            messages_in=tuple(
                Message("user", attributes[f"talk.{number}.text"]) for number in numbers
            ),
            vocabulary=self.name,
        )


def decoded(payload: bytes, content_type: str) -> Decoded:
    decoder = OtlpDecoder({"index": 100}, vocabularies=(Numbered(), *VOCABULARIES))
    return decoder.decode(payload, content_type)


BOTH = pytest.mark.parametrize(("build", "kind"), [(body, PROTOBUF), (json_body, JSON)])


@BOTH
def test_numbered_attributes_reach_their_vocabulary(build, kind) -> None:
    talk = {"talk.10.text": "last", "talk.9.text": "first", "talk_model": "m", "talked": "no"}
    found = decoded(build(span(talk)), kind).spans[0]
    assert (found.kind, found.model, found.vocabulary) == ("model", "m", "numbered")
    assert found.messages_in == (Message("user", "first"), Message("user", "last"))


@BOTH
def test_a_number_beyond_the_limit_costs_its_span(build, kind) -> None:
    found = decoded(build(span({"talk.999999999.text": "x"})), kind)
    assert [rejection.why for rejection in found.rejections] == ["index"]


@BOTH
def test_other_vocabularies_go_on_reading_what_the_new_one_does_not_know(build, kind) -> None:
    found = decoded(build(span({"gen_ai.operation.name": "chat"})), kind)
    assert found.spans[0].vocabulary == "genai"
