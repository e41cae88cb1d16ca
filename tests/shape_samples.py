"""The same call, answer and failure as providers and frameworks write them."""

from __future__ import annotations

from adapters.shapes import aisdk, anthropic, converse, gemini, langchain, openai
from monitor.model import Message, ToolCall, ToolResult

FIND = ToolCall("find_order", {"order_id": "SO-10012"}, "call-1")
FOUND = ToolResult({"state": "sent"}, "call-1")
ASKS = Message("assistant", "Let me look.", (FIND,))

CALLS = {
    "openai": (
        openai,
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "id": "call-1",
                    "type": "function",
                    "function": {"name": "find_order", "arguments": '{"order_id": "SO-10012"}'},
                }
            ],
        },
    ),
    "anthropic": (
        anthropic,
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "Let me look."},
                {
                    "type": "tool_use",
                    "id": "call-1",
                    "name": "find_order",
                    "input": {"order_id": "SO-10012"},
                },
            ],
        },
    ),
    "converse": (
        converse,
        {
            "role": "assistant",
            "content": [
                {"text": "Let me look."},
                {
                    "toolUse": {
                        "toolUseId": "call-1",
                        "name": "find_order",
                        "input": {"order_id": "SO-10012"},
                    }
                },
            ],
        },
    ),
    "gemini": (
        gemini,
        {
            "role": "model",
            "parts": [
                {"text": "I should think.", "thought": True},
                {"text": "Let me look."},
                {
                    "functionCall": {
                        "id": "call-1",
                        "name": "find_order",
                        "args": {"order_id": "SO-10012"},
                    }
                },
            ],
        },
    ),
    "langchain": (
        langchain,
        {
            "type": "ai",
            "content": "Let me look.",
            "tool_calls": [
                {
                    "name": "find_order",
                    "args": {"order_id": "SO-10012"},
                    "id": "call-1",
                    "type": "tool_call",
                }
            ],
        },
    ),
    "langchain in its lc form": (
        langchain,
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain_core", "messages", "AIMessageChunk"],
            "kwargs": {
                "content": "Let me look.",
                "additional_kwargs": {
                    "tool_calls": [
                        {
                            "id": "call-1",
                            "function": {
                                "name": "find_order",
                                "arguments": '{"order_id": "SO-10012"}',
                            },
                        }
                    ]
                },
            },
        },
    ),
    "langchain over anthropic": (
        langchain,
        {
            "type": "ai",
            "content": [
                {"type": "text", "text": "Let me look."},
                {
                    "type": "tool_use",
                    "id": "call-1",
                    "name": "find_order",
                    "input": {"order_id": "SO-10012"},
                },
            ],
            "tool_calls": [
                {"name": "find_order", "args": {"order_id": "SO-10012"}, "id": "call-1"}
            ],
        },
    ),
    "langchain stored by its own functions": (
        langchain,
        {
            "type": "ai",
            "data": {
                "content": "Let me look.",
                "tool_calls": [
                    {"name": "find_order", "args": {"order_id": "SO-10012"}, "id": "call-1"}
                ],
            },
        },
    ),
    "the AI SDK's model message": (
        aisdk,
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {
                    "type": "tool-call",
                    "toolCallId": "call-1",
                    "toolName": "find_order",
                    "input": {"order_id": "SO-10012"},
                },
            ],
        },
    ),
    "the AI SDK's message of the user interface, under way": (
        aisdk,
        {
            "role": "assistant",
            "parts": [
                {"type": "step-start"},
                {"type": "text", "text": "Let me look."},
                {
                    "type": "tool-find_order",
                    "toolCallId": "call-1",
                    "state": "input-available",
                    "input": {"order_id": "SO-10012"},
                },
            ],
        },
    ),
}
ANSWERS = {
    "openai": (
        openai,
        {"role": "tool", "tool_call_id": "call-1", "content": '{"state": "sent"}'},
        Message("tool", None, (), (FOUND,)),
    ),
    "anthropic": (
        anthropic,
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call-1",
                    "content": [{"type": "text", "text": '{"state": "sent"}'}],
                }
            ],
        },
        Message("user", None, (), (FOUND,)),
    ),
    "converse, as text": (
        converse,
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "call-1",
                        "status": "success",
                        "content": [{"text": '{"state": "sent"}'}],
                    }
                }
            ],
        },
        Message("user", None, (), (FOUND,)),
    ),
    "converse, as JSON": (
        converse,
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "call-1", "content": [{"json": {"state": "sent"}}]}}
            ],
        },
        Message("user", None, (), (FOUND,)),
    ),
    "gemini": (
        gemini,
        {
            "role": "user",
            "parts": [
                {
                    "function_response": {
                        "id": "call-1",
                        "name": "find_order",
                        "response": {"state": "sent"},
                    }
                }
            ],
        },
        Message("user", None, (), (ToolResult({"state": "sent"}, "call-1", "find_order"),)),
    ),
    "langchain": (
        langchain,
        {"type": "tool", "content": '{"state": "sent"}', "tool_call_id": "call-1"},
        Message("tool", None, (), (FOUND,)),
    ),
    "the AI SDK": (
        aisdk,
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call-1",
                    "toolName": "find_order",
                    "output": {"type": "json", "value": {"state": "sent"}},
                }
            ],
        },
        Message("tool", None, (), (ToolResult({"state": "sent"}, "call-1", "find_order"),)),
    ),
}
FAILURES = [
    (
        anthropic,
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call-1",
                    "content": "no such order",
                    "is_error": True,
                }
            ],
        },
    ),
    (
        converse,
        {
            "role": "user",
            "content": [
                {
                    "toolResult": {
                        "toolUseId": "call-1",
                        "status": "error",
                        "content": [{"text": "no such order"}],
                    }
                }
            ],
        },
    ),
    (
        langchain,
        {
            "type": "tool",
            "content": "no such order",
            "tool_call_id": "call-1",
            "status": "error",
        },
    ),
    (
        aisdk,
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "call-1",
                    "output": {"type": "error-text", "value": "no such order"},
                }
            ],
        },
    ),
]
