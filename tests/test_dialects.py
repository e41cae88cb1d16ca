"""Single dialects in spans made by hand after their published descriptions, not captured."""

from __future__ import annotations

import json
from typing import Any

import pytest
from otlp_building import JSON, PROTOBUF, body, json_body, span

from adapters.otlp.decoder import OtlpDecoder
from monitor.model import AgentSpan, Message, ToolCall, ToolResult, Usage

OPENAI_CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "look", "arguments": '{"a": 1}'},
}
LOOK = ToolCall("look", {"a": 1}, "c1")
ASKS = Message("assistant", None, (LOOK,))


def read(attributes: dict[str, Any], *, scope: str = "shop", **fields: Any) -> AgentSpan:
    """The one span, the same from both encodings."""
    made = span(attributes, **fields)
    first = OtlpDecoder().decode(body(made, scope=scope), PROTOBUF)
    assert OtlpDecoder().decode(json_body(made, scope=scope), JSON) == first
    assert first.rejections == []
    (found,) = first.spans
    return found


def quoted(attributes: dict[str, Any]) -> dict[str, str]:
    return {key: json.dumps(value) for key, value in attributes.items()}


def test_mlflow_wraps_every_value_in_json() -> None:
    found = read(
        quoted(
            {
                "mlflow.spanType": "CHAT_MODEL",
                "mlflow.spanInputs": {
                    "model": "gpt-x",
                    "messages": [
                        {"role": "system", "content": "Be brief."},
                        {"role": "user", "content": "Hi"},
                    ],
                },
                "mlflow.spanOutputs": {
                    "model": "gpt-x-1",
                    "choices": [{"message": {"role": "assistant", "tool_calls": [OPENAI_CALL]}}],
                },
                "mlflow.chat.tools": [{"type": "function", "function": {"name": "look"}}],
                "mlflow.chat.tokenUsage": {"input_tokens": 7, "output_tokens": 2},
                "mlflow.trace.session": "s-1",
                "mlflow.traceRequestId": "tr-1",
            }
        )
    )
    assert (found.kind, found.vocabulary, found.model) == ("model", "mlflow", "gpt-x-1")
    assert found.conversation_id == "s-1"
    assert found.system == "Be brief."
    assert found.messages_in == (Message("system", "Be brief."), Message("user", "Hi"))
    assert found.messages_out == (ASKS,)
    assert [tool.name for tool in found.tool_definitions or ()] == ["look"]
    assert found.usage == Usage(7, 2)


def test_mlflow_tools_and_agents_speak_plain_text() -> None:
    tool = read(
        quoted(
            {
                "mlflow.spanType": "TOOL",
                "mlflow.spanInputs": {"city": "Paris"},
                "mlflow.spanOutputs": "sunny",
                "mlflow.spanFunctionName": "get_weather",
            }
        ),
        name="get_weather_2",
    )
    assert tool.call == ToolCall("get_weather", {"city": "Paris"})
    assert (tool.result, tool.has_result) == ("sunny", True)
    agent = read(
        quoted(
            {
                "mlflow.spanType": "AGENT",
                "mlflow.spanInputs": {"question": "How is it?"},
                "mlflow.spanOutputs": "Sunny.",
            }
        ),
        name="agent",
    )
    assert (agent.kind, agent.messages_in) == ("agent", (Message("user", "How is it?"),))
    assert agent.messages_out == (Message("assistant", "Sunny."),)


def test_langwatch_says_of_what_kind_a_value_is() -> None:
    found = read(
        {
            "langwatch.span.type": "llm",
            "langwatch.thread.id": "t-1",
            "gen_ai.request.model": "gpt-x",
            "langwatch.input": json.dumps(
                {"type": "chat_messages", "value": [{"role": "user", "content": "Hi"}]}
            ),
            "langwatch.output": json.dumps(
                {"type": "list", "value": [{"type": "text", "value": "Hello."}]}
            ),
            "langwatch.metrics": json.dumps(
                {"type": "json", "value": {"promptTokens": 5, "completionTokens": 1}}
            ),
        }
    )
    assert (found.kind, found.model, found.conversation_id) == ("model", "gpt-x", "t-1")
    assert found.messages_in == (Message("user", "Hi"),)
    assert found.messages_out == (Message("assistant", "Hello."),)
    assert found.usage == Usage(5, 1)
    tool = read(
        {
            "langwatch.span.type": "tool",
            "langwatch.input": json.dumps({"type": "json", "value": {"city": "Paris"}}),
            "langwatch.output": json.dumps({"type": "text", "value": "sunny"}),
        },
        name="get_weather",
    )
    assert (tool.call, tool.result) == (ToolCall("get_weather", {"city": "Paris"}), "sunny")


def test_a_prompt_template_of_langsmith_is_no_chat() -> None:
    found = read(
        {
            "langsmith.span.kind": "prompt",
            "gen_ai.operation.name": "chat",
            "gen_ai.prompt": '{"name": "x"}',
        },
        parent_id="00f067aa0ba902b7",
    )
    assert (found.kind, found.vocabulary) == ("other", "langsmith")


def test_langsmith_wraps_a_tools_arguments_and_its_message() -> None:
    answer = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", "ToolMessage"],
        "kwargs": {"content": '{"t": 18.50}', "tool_call_id": "c1", "status": "success"},
    }
    found = read(
        {
            "langsmith.span.kind": "tool",
            "langsmith.trace.name": "look",
            "langsmith.trace.session_name": "my-project",
            "gen_ai.prompt": json.dumps({"input": "{'a': 1}"}),
            "gen_ai.completion": json.dumps({"output": answer}),
        },
        name="look",
    )
    assert found.call == LOOK
    assert found.result == {"t": 18.5}
    # The session's name is the project's.
    assert found.conversation_id is None


def test_an_announced_span_of_logfire_is_not_read() -> None:
    found = read(
        {
            "logfire.span_type": "pending_span",
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": '[{"role": "user", "parts": []}]',
        }
    )
    assert (found.kind, found.messages_in) == ("other", None)


def test_logfires_list_of_events_is_a_conversation() -> None:
    events = [
        {"event.name": "gen_ai.system.message", "content": "Be brief.", "role": "system"},
        {"event.name": "gen_ai.user.message", "content": "Hi", "role": "user"},
        {
            "event.name": "gen_ai.choice",
            "index": 0,
            "message": {"role": "assistant", "tool_calls": [OPENAI_CALL]},
        },
    ]
    found = read(
        {
            "request_data": json.dumps({"model": "gpt-x", "stream": False}),
            "events": json.dumps(events),
            "gen_ai.request.model": "gpt-x",
        },
        scope="logfire.openai",
    )
    assert (found.kind, found.system, found.model) == ("model", "Be brief.", "gpt-x")
    assert found.messages_in == (Message("system", "Be brief."), Message("user", "Hi"))
    assert found.messages_out == (ASKS,)


def test_logfires_embeddings_are_no_model_call() -> None:
    found = read({"request_data": '{"input": "x", "model": "e"}', "response_data": '{"usage": {}}'})
    assert found.kind == "other"


def test_the_kits_placeholders_are_nothing() -> None:
    merged = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "(merged tools)",
        "gcp.vertex.agent.tool_call_args": "N/A",
    }
    assert read(merged, scope="gcp.vertex.agent").kind == "other"
    unanswered = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "<not specified>",
        "gcp.vertex.agent.llm_request": "{}",
        "gcp.vertex.agent.llm_response": "{}",
        "gcp.vertex.agent.tool_call_args": "{}",
        "gcp.vertex.agent.tool_response": '{"result": "<not specified>"}',
    }
    found = read(unanswered, scope="gcp.vertex.agent")
    # A response was written, so content is on, and the call really had no arguments.
    assert found.call == ToolCall("look", {})
    assert not found.has_result


def test_copies_of_events_on_a_strands_span_do_not_win() -> None:
    """Older releases wrote each event a second time as attributes; the last one stayed."""
    question, answer = [{"text": "Hi"}], [{"text": "Hello."}]
    found = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "strands-agents",
            "content": json.dumps(question),
            "message": json.dumps(answer),
            "langfuse.observation.type": "span",
        },
        scope="strands.telemetry.tracer",
        events=[
            ("gen_ai.user.message", {"content": json.dumps([{"text": "Before"}])}),
            ("gen_ai.user.message", {"content": json.dumps(question)}),
            ("gen_ai.choice", {"message": json.dumps(answer), "finish_reason": "end_turn"}),
        ],
    )
    assert (found.kind, found.vocabulary) == ("model", "strands_events")
    assert found.messages_in == (Message("user", "Before"), Message("user", "Hi"))
    assert found.messages_out == (Message("assistant", "Hello."),)
    tool = read(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.id": "c1",
            "content": '{"a": 1}',
            "message": '[{"text": "[1, 2]"}]',
        },
        scope="strands.telemetry.tracer",
    )
    assert (tool.call, tool.result) == (LOOK, [1, 2])


def test_an_id_that_changes_with_each_call_is_no_conversation() -> None:
    """Microsoft's framework: the conversation is the response before; arguments are text."""
    found = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": "resp_0e32",
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "role": "assistant",
                        "parts": [
                            {
                                "type": "tool_call",
                                "id": "c1",
                                "name": "look",
                                "arguments": '{"a": 1}',
                            }
                        ],
                    }
                ]
            ),
        }
    )
    assert found.conversation_id is None
    assert found.messages_out == (ASKS,)


def test_blocks_of_bedrock_converse_are_read_from_events() -> None:
    use = {"toolUse": {"toolUseId": "c1", "name": "look", "input": {"a": 1}}}
    result = {"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no"}]}}
    found = read(
        {"gen_ai.operation.name": "chat", "gen_ai.system": "aws.bedrock"},
        events=[
            ("gen_ai.user.message", {"content": json.dumps([{"text": "Hi"}])}),
            ("gen_ai.assistant.message", {"content": json.dumps([use])}),
            ("gen_ai.tool.message", {"content": json.dumps([result])}),
            ("gen_ai.choice", {"message": json.dumps({"content": [{"text": "Sorry."}]})}),
        ],
    )
    assert found.messages_in == (
        Message("user", "Hi"),
        ASKS,
        Message("tool", results=(ToolResult("no", "c1", None, is_error=True),)),
    )
    assert found.messages_out == (Message("assistant", "Sorry."),)


def test_names_without_content_leave_arguments_unknown() -> None:
    found = read({"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"})
    assert found.call == ToolCall("look", None, None, "absent")
    assert not found.has_result


def test_a_type_that_tells_nothing_leaves_the_span_to_its_convention() -> None:
    found = read(
        {
            "langfuse.observation.type": "span",
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "clerk",
        }
    )
    assert (found.kind, found.agent, found.vocabulary) == ("agent", "clerk", "genai")


def test_content_that_one_convention_lacks_is_read_whole_from_another() -> None:
    both = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "c1",
        "mlflow.spanInputs": '{"a": 1}',
        "mlflow.spanOutputs": '"found"',
        "mlflow.spanType": '"TOOL"',
    }
    found = read(both)
    assert (found.call, found.result, found.vocabulary) == (LOOK, "found", "genai+mlflow")


def test_two_conventions_messages_are_never_merged() -> None:
    mine = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
    found = read(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps(mine),
            "mlflow.spanType": '"LLM"',
            "mlflow.spanInputs": json.dumps({"messages": [{"role": "user", "content": "Hi"}]}),
            "mlflow.spanOutputs": '"Hello."',
        }
    )
    assert (found.messages_in, found.vocabulary) == ((Message("user", "Hi"),), "genai")
    assert found.messages_out is None


@pytest.mark.parametrize(
    ("given", "arguments", "state"),
    [
        ('{"city": "Paris"}', {"city": "Paris"}, "parsed"),
        ("{'city': 'Paris'}", {"city": "Paris"}, "parsed"),
        ('{"input": {"city": "Paris"}}', {"city": "Paris"}, "parsed"),
        ('{"args": [], "kwargs": {"city": "Paris"}}', {"city": "Paris"}, "parsed"),
        ('{"args": ["Paris"], "kwargs": {}}', '{"args": ["Paris"], "kwargs": {}}', "raw"),
        ("{}", {}, "parsed"),
        ("", None, "absent"),
        ('{"city": "Par', '{"city": "Par', "truncated"),
    ],
)
def test_a_tools_arguments_lose_their_wrapping(given: str, arguments: Any, state: str) -> None:
    found = read(
        {"langfuse.observation.type": "tool", "langfuse.observation.input": given}, name="look"
    )
    assert found.call == ToolCall("look", arguments, None, state)  # type: ignore[arg-type]
    assert found.truncated == (state == "truncated")


def test_tool_definitions_in_messages_are_no_messages() -> None:
    hidden = {"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}
    found = read(
        {
            "langfuse.observation.type": "generation",
            "langfuse.observation.input": json.dumps(
                [{"role": "user", "content": "Hi"}, {"role": "tool", "content": hidden}]
            ),
        }
    )
    assert found.messages_in == (Message("user", "Hi"),)
    assert [tool.name for tool in found.tool_definitions or ()] == ["look"]


@pytest.mark.parametrize("error", ["GraphInterrupt", "langgraph.errors.NodeInterrupt"])
def test_waiting_for_a_person_is_no_failure(error: str) -> None:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "pay"}
    raised = ("exception", {"exception.type": error, "exception.message": "Interrupt(..)"})
    assert read(attributes, failed=True, events=[raised]).error_type is None
    broken = ("exception", {"exception.type": "ValueError", "exception.message": "no"})
    assert read(attributes, failed=True, events=[broken]).error_type == "ValueError"
    told = {
        "langfuse.observation.type": "tool",
        "langfuse.observation.level": "ERROR",
        "langfuse.observation.status_message": f"{error}((Interrupt(value='sure?'),))",
    }
    assert read(told, failed=True, name="pay").error_type is None
