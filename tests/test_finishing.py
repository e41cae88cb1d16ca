"""Reasons for which a model stopped, wherever and however they are written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from adapters.vocabularies.finishing import cut_short, tells_cut


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.response.finish_reasons": ["length"]},
        {"gen_ai.response.finish_reasons": '["content_filter"]'},
        {"gen_ai.response.finish_reasons": "('max_tokens',)"},
        {"gen_ai.response.finish_reasons": ["FinishReason.MAX_TOKENS"]},
        {"gen_ai.completion.0.finish_reason": "length"},
        {"ai.response.finishReason": "content-filter"},
        {"llm.finish_reason": "length"},
        {"gen_ai.output.messages": json.dumps([{"role": "assistant", "finish_reason": "length"}])},
        {"gen_ai.output.messages": [{"role": "assistant", "finish_reason": "length"}]},
        {"gcp.vertex.agent.llm_response": '{"content":{},"finish_reason":"MAX_TOKENS"}'},
        {"output.value": '{"choices":[{"finish_reason": "length", "message": {}}]}'},
        {"output.value": '{"stop_reason":"max_tokens"}'},
        {"output.value": '{"incomplete_details":{"reason":"max_output_tokens"}}'},
    ],
)
def test_a_limit_or_a_filter_cuts_a_reply_short(attributes: dict[str, Any]) -> None:
    assert cut_short(attributes)


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"gen_ai.response.finish_reasons": ["stop"]},
        {"gen_ai.response.finish_reasons": []},
        {"gen_ai.response.finish_reasons": ["length", "stop"]},
        {"gen_ai.response.finish_reasons": 7},
        {"ai.response.finishReason": "tool-calls"},
        {"output.value": '{"stop_reason":"end_turn","incomplete_details":null}'},
        {"output.value": '{"finish_reason":"stop","content":"the length of it"}'},
        # A reply that quotes such a reason is text, and not one.
        {"output.value": json.dumps({"content": '{"finish_reason": "length"}'})},
        {"gen_ai.output.messages": "length"},
    ],
)
def test_what_ended_by_itself_or_tells_nothing_is_whole(attributes: dict[str, Any]) -> None:
    assert not cut_short(attributes)


def test_events_and_langfuse_outputs_tell_reasons_too() -> None:
    assert cut_short({}, [("gen_ai.choice", {"finish_reason": "max_tokens"})])
    assert not cut_short({}, [("gen_ai.choice", {"finish_reason": "end_turn"})])
    answer = [{"gen_ai.output.messages": json.dumps([{"finish_reason": "length"}])}]
    assert cut_short({}, [("gen_ai.client.inference.operation.details", answer[0])])
    assert tells_cut({"choices": [{"finish_reason": "length"}]})
    assert tells_cut({"role": "assistant", "response_metadata": {"finish_reason": "length"}})
    assert not tells_cut({"role": "assistant", "content": "done"})
