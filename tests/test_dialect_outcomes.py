"""What dialects say of a call that is done: the model that answered, and what a tool gave back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from otlp_building import PROTOBUF, body, span

from adapters.otlp.decoder import OtlpDecoder
from monitor.model import AgentSpan


def read(attributes: dict[str, Any], scope: str = "shop") -> AgentSpan:
    decoded = OtlpDecoder().decode(body(span(attributes), scope=scope), PROTOBUF)
    (found,) = decoded.spans
    return found


def test_the_model_that_answered_outranks_the_one_in_the_kits_request() -> None:
    asked = {
        "gcp.vertex.agent.llm_request": '{"model": "gemini-latest", "contents": []}',
        "gcp.vertex.agent.llm_response": '{"content": {"parts": [{"text": "Hi"}]}}',
        "gen_ai.request.model": "gemini-latest",
    }
    assert read(asked, "gcp.vertex.agent").model == "gemini-latest"
    answered = asked | {"gen_ai.response.model": "gemini-3.5-flash-001"}
    assert read(answered, "gcp.vertex.agent").model == "gemini-3.5-flash-001"


@pytest.mark.parametrize(
    ("written", "result"),
    [
        ({"output": "not found: 4712"}, "not found: 4712"),
        ({"output": {"state": "sent"}}, {"state": "sent"}),
        ({"output": {"output": 3}}, {"output": 3}),
        ({"output": None}, None),
        ({"state": "sent"}, {"state": "sent"}),
        ({"output": 1, "more": 2}, {"output": 1, "more": 2}),
    ],
)
def test_langsmith_keeps_what_a_tool_gave_back_under_output(written: Any, result: Any) -> None:
    told = {
        "langsmith.span.kind": "tool",
        "langsmith.trace.name": "look",
        "gen_ai.prompt": '{"input": {"a": 1}}',
        "gen_ai.completion": json.dumps(written),
    }
    found = read(told)
    assert (found.result, found.has_result) == (result, True)
