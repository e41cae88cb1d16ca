"""One good document of each format that frameworks write: the same shop conversation."""

from __future__ import annotations

import json
from typing import Any

QUERY = "Where is my order SO-10012?"
REPLY = "Your order SO-10012 was sent on Monday."
ARGUMENTS = {"order_id": "SO-10012"}
RESULT = {"state": "sent", "day": "Monday"}

LANGGRAPH: list[dict[str, Any]] = [
    {
        "session_id": "s-1",
        "turn_id": 1,
        "latency": 1.5,
        "input_tokens": 20,
        "output_tokens": 7,
        "stream_events": [
            {"__start__": {"messages": [{"type": "human", "content": QUERY}]}},
            {
                "agent": {
                    "messages": [
                        {
                            "type": "ai",
                            "content": "",
                            "response_metadata": {"model_name": "m-1"},
                            "tool_calls": [
                                {"name": "find_order", "args": ARGUMENTS, "id": "call-1"}
                            ],
                        }
                    ]
                }
            },
            {
                "tools": {
                    "messages": [
                        {
                            "type": "tool",
                            "content": json.dumps(RESULT),
                            "name": "find_order",
                            "tool_call_id": "call-1",
                        }
                    ]
                }
            },
            {"agent": {"messages": [{"type": "AIMessage", "content": REPLY}]}},
        ],
    }
]
LANGCHAIN: dict[str, Any] = {
    "session_id": "s-1",
    "inputs": {"input": QUERY},
    "intermediate_steps": [
        [{"tool": "find_order", "tool_input": ARGUMENTS, "log": "thinking"}, json.dumps(RESULT)]
    ],
    "outputs": {"output": REPLY},
    "llm_output": {
        "model_name": "m-1",
        "token_usage": {"prompt_tokens": 20, "completion_tokens": 7},
    },
}
LANGCHAIN_RUNS: dict[str, Any] = {
    "session_id": "s-1",
    "runs": [
        {
            "id": "run-1",
            "run_type": "chain",
            "name": "agent",
            "session_id": "the project",
            "inputs": {"input": QUERY},
            "outputs": {"output": REPLY},
            "start_time": "2026-03-01T10:00:00",
            "end_time": "2026-03-01T10:00:04",
            "child_runs": [
                {
                    "id": "run-2",
                    "run_type": "llm",
                    "name": "ChatModel",
                    "start_time": "2026-03-01T10:00:00",
                    "end_time": "2026-03-01T10:00:01",
                    "extra": {"metadata": {"ls_model_name": "m-1"}},
                    "inputs": {"messages": [[{"type": "human", "content": QUERY}]]},
                    "outputs": {
                        "generations": [
                            [
                                {
                                    "text": "",
                                    "message": {
                                        "lc": 1,
                                        "type": "constructor",
                                        "id": ["langchain", "schema", "AIMessage"],
                                        "kwargs": {
                                            "content": "",
                                            "tool_calls": [
                                                {
                                                    "name": "find_order",
                                                    "args": ARGUMENTS,
                                                    "id": "call-1",
                                                }
                                            ],
                                        },
                                    },
                                }
                            ]
                        ],
                        "llm_output": {
                            "token_usage": {"prompt_tokens": 20, "completion_tokens": 7}
                        },
                    },
                },
                {
                    "id": "run-3",
                    "run_type": "tool",
                    "name": "find_order",
                    "start_time": "2026-03-01T10:00:01",
                    "end_time": "2026-03-01T10:00:02",
                    "inputs": {"input": str(ARGUMENTS)},
                    "outputs": {"output": json.dumps(RESULT)},
                },
                {
                    "id": "run-4",
                    "run_type": "llm",
                    "name": "ChatModel",
                    "start_time": "2026-03-01T10:00:02",
                    "end_time": "2026-03-01T10:00:04",
                    "inputs": {"messages": [[{"type": "human", "content": QUERY}]]},
                    "outputs": {"generations": [[{"text": REPLY}]]},
                },
            ],
        }
    ],
}
STRANDS: dict[str, Any] = {
    "session_id": "s-1",
    "model": "m-1",
    "system_prompt": "You help customers.",
    "stop_reason": "end_turn",
    "messages": [
        {"role": "user", "content": [{"text": QUERY}]},
        {
            "role": "assistant",
            "content": [
                {"toolUse": {"toolUseId": "call-1", "name": "find_order", "input": ARGUMENTS}}
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "call-1",
                        "status": "success",
                        "content": [{"json": RESULT}],
                    }
                }
            ],
        },
        {"role": "assistant", "content": [{"text": REPLY}]},
    ],
    "metrics_summary": {"accumulated_usage": {"inputTokens": 20, "outputTokens": 7}},
}


def _log(event: str, body: dict[str, Any], second: int) -> str:
    return json.dumps(
        {
            "timeUnixNano": 1_772_359_200_000_000_000 + second * 1_000_000_000,
            "traceId": "69a40e6000000000000000000000000a",
            "spanId": "000000000000000b",
            "attributes": {"event.name": event},
            "body": body,
        }
    )


_ASKED = {"toolUse": {"toolUseId": "call-1", "name": "find_order", "input": ARGUMENTS}}
AGENTCORE: dict[str, Any] = {
    "user_input": QUERY,
    "final_response": json.dumps({"response": {"role": "assistant", "content": [{"text": REPLY}]}}),
    "session_id": "s-1",
    "agent_runtime_id": "arn:aws:bedrock-agentcore:eu-central-1:0:runtime/shop",
    "trace": [
        "a line that the runtime printed",
        _log("gen_ai.system.message", {"content": "You help customers."}, 0),
        _log("gen_ai.user.message", {"content": [{"text": QUERY}]}, 1),
        _log("gen_ai.choice", {"message": {"role": "assistant", "content": [_ASKED]}}, 2),
        _log("gen_ai.user.message", {"content": [{"text": QUERY}]}, 3),
        _log("gen_ai.assistant.message", {"content": [_ASKED]}, 3),
        _log("gen_ai.tool.message", {"id": "call-1", "content": [{"json": RESULT}]}, 3),
        _log("gen_ai.choice", {"message": {"role": "assistant", "content": [{"text": REPLY}]}}, 4),
    ],
}


def _trace(orchestration: dict[str, Any], second: int) -> dict[str, Any]:
    return {
        "trace": {
            "sessionId": "s-1",
            "eventTime": f"2026-03-01T10:00:0{second}Z",
            "trace": {"orchestrationTrace": orchestration},
        }
    }


BEDROCK: dict[str, Any] = {
    "user_input": QUERY,
    "agent_id": "SHOP",
    "alias_id": "LIVE",
    "event_stream": [
        _trace({"modelInvocationInput": {"foundationModel": "m-1", "text": "a prompt"}}, 0),
        _trace(
            {
                "modelInvocationOutput": {
                    "metadata": {"usage": {"inputTokens": 20, "outputTokens": 7}}
                }
            },
            1,
        ),
        _trace(
            {
                "invocationInput": {
                    "actionGroupInvocationInput": {
                        "function": "find_order",
                        "parameters": [{"name": "order_id", "type": "string", "value": "SO-10012"}],
                    }
                }
            },
            1,
        ),
        _trace({"observation": {"actionGroupInvocationOutput": {"text": json.dumps(RESULT)}}}, 2),
        _trace({"observation": {"finalResponse": {"text": REPLY}}}, 4),
        {"chunk": {"bytes": REPLY[:5]}},
        {"chunk": {"bytes": REPLY[5:]}},
    ],
}
AGENT_TRACE: dict[str, Any] = {
    "trace_id": "5c8f1f3e-0d5c-4d3a-9a8e-3f3f3f3f3f3f",
    "session_id": "s-1",
    "messages": [
        {"role": "user", "content": QUERY, "timestamp": "2026-03-01T10:00:00Z"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "name": "find_order",
                    "arguments": ARGUMENTS,
                    "timestamp": "2026-03-01T10:00:01Z",
                }
            ],
            "timestamp": "2026-03-01T10:00:01Z",
        },
        {
            "role": "assistant",
            "content": REPLY,
            "metadata": {"finish": "stop"},
            "timestamp": "2026-03-01T10:00:04Z",
        },
    ],
    "tool_calls": [
        {
            "name": "find_order",
            "arguments": ARGUMENTS,
            "result": RESULT,
            "timestamp": "2026-03-01T10:00:01Z",
            "execution_time": 0.5,
        }
    ],
    "input_tokens": 20,
    "output_tokens": 7,
    "latency": 4.0,
    "cost": 0.002,
    "metadata": {"model": "m-1"},
    "framework": "strands",
    "timestamp": "2026-03-01T10:00:05Z",
}
ADK_SESSION: dict[str, Any] = {
    "id": "s-1",
    "appName": "shop",
    "events": [
        {
            "author": "user",
            "content": {"role": "user", "parts": [{"text": QUERY}]},
            "timestamp": 1772359200.0,
        },
        {
            "author": "agent",
            "partial": True,
            "content": {"role": "model", "parts": [{"text": "Let"}]},
            "timestamp": 1772359200.5,
        },
        {
            "author": "agent",
            "content": {
                "role": "model",
                "parts": [{"functionCall": {"name": "find_order", "args": ARGUMENTS}}],
            },
            "modelVersion": "m-1",
            "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 7},
            "timestamp": 1772359201.0,
        },
        {
            "author": "agent",
            "content": {
                "role": "user",
                "parts": [{"functionResponse": {"name": "find_order", "response": RESULT}}],
            },
            "timestamp": 1772359202.0,
        },
        {
            "author": "agent",
            "content": {"role": "model", "parts": [{"text": REPLY}]},
            "modelVersion": "m-1",
            "timestamp": 1772359204.0,
        },
    ],
}
GENERIC: dict[str, Any] = {
    "session_id": "s-1",
    "model": "m-1",
    "usage": {"input_tokens": 20, "output_tokens": 7},
    "messages": [
        {"role": "customer", "content": QUERY},
        {"role": "agent", "content": REPLY},
    ],
    "tool_calls": [{"name": "find_order", "arguments": ARGUMENTS, "result": RESULT}],
}


def _span(number: int, name: str, seconds: tuple[int, int], **attributes: Any) -> dict[str, Any]:
    """As an SDK's console exporter writes it, save that the exporter spreads it over lines."""
    keys = {"conversation_id": "conversation.id", "operation": "operation.name"}
    return {
        "name": name,
        "context": {"trace_id": f"0x{7:032x}", "span_id": f"0x{number:016x}", "trace_state": "[]"},
        "parent_id": None if number == 1 else f"0x{1:016x}",
        "start_time": f"2026-03-01T10:00:0{seconds[0]}.000000Z",
        "end_time": f"2026-03-01T10:00:0{seconds[1]}.000000Z",
        "status": {"status_code": "UNSET"},
        "attributes": {
            f"gen_ai.{keys.get(key, key.replace('__', '.'))}": value
            for key, value in {"conversation_id": "s-1", **attributes}.items()
        },
        "events": [],
        "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
    }


def _said(role: str, **part: Any) -> str:
    return json.dumps([{"role": role, "parts": [part]}])


SPANS: list[dict[str, Any]] = [
    _span(
        1,
        "invoke_agent shop",
        (0, 4),
        operation="invoke_agent",
        input__messages=_said("user", type="text", content=QUERY),
        output__messages=_said("assistant", type="text", content=REPLY),
    ),
    _span(
        2,
        "chat m-1",
        (0, 1),
        operation="chat",
        response__model="m-1",
        input__messages=_said("user", type="text", content=QUERY),
        output__messages=_said(
            "assistant", type="tool_call", id="call-1", name="find_order", arguments=ARGUMENTS
        ),
        usage__input_tokens=20,
        usage__output_tokens=7,
    ),
    _span(
        3,
        "execute_tool find_order",
        (1, 2),
        operation="execute_tool",
        tool__name="find_order",
        tool__call__id="call-1",
        tool__call__arguments=json.dumps(ARGUMENTS),
        tool__call__result=json.dumps(RESULT),
    ),
]
