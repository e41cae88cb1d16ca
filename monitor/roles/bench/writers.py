"""The attributes of a span as each of the widespread conventions writes them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, NamedTuple, TypeAlias

from monitor.roles.bench.traffic import INSTRUCTIONS

MODEL: Final = "atlas-4-2026-10"
TOOL: Final = "get_order"
SCHEMA: Final = {
    "type": "object",
    "properties": {"order_id": {"type": "string", "description": "as the customer writes it"}},
    "required": ["order_id"],
}
SYSTEM: Final = INSTRUCTIONS[:600]
Fields: TypeAlias = dict[str, Any]
Chat: TypeAlias = list[Fields]
"""Messages as OpenAI's clients write them."""


class Step(NamedTuple):
    """One span of a turn: its kind, the messages before and after it, the call and its result."""

    kind: str
    given: Chat
    said: Fields
    arguments: str = ""
    result: str = ""


Writer: TypeAlias = Callable[[str, Step], Fields]
"""From the conversation's id and a step to the attributes of its span."""


def _genai(conversation: str, step: Step) -> Fields:
    operation = {"model": "chat", "tool": "execute_tool", "agent": "invoke_agent"}[step.kind]
    common = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": "openai",
        "gen_ai.conversation.id": conversation,
        "gen_ai.agent.name": "bench-agent",
    }
    if step.kind == "tool":
        return common | {
            "gen_ai.tool.name": TOOL,
            "gen_ai.tool.call.id": step.given[0]["tool_call_id"],
            "gen_ai.tool.call.arguments": step.arguments,
            "gen_ai.tool.call.result": step.result,
        }
    said = [{**_parts(step.said), "finish_reason": "stop"}]
    return common | {
        "gen_ai.input.messages": json.dumps([_parts(message) for message in step.given]),
        "gen_ai.output.messages": json.dumps(said),
        "gen_ai.request.model": "atlas-4",
        "gen_ai.response.model": MODEL,
        "gen_ai.usage.input_tokens": 731,
        "gen_ai.usage.output_tokens": 58,
        "gen_ai.request.temperature": 0.2,
    }


def _parts(message: Fields) -> Fields:
    """A message as the GenAI conventions write it."""
    parts: list[Fields] = []
    if message["role"] == "tool":
        answer = json.loads(message["content"])
        id_ = message["tool_call_id"]
        parts.append({"type": "tool_call_response", "id": id_, "response": answer})
    elif message["content"] is not None:
        parts.append({"type": "text", "content": message["content"]})
    for call in message.get("tool_calls", ()):
        arguments = json.loads(call["function"]["arguments"])
        parts.append({"type": "tool_call", "id": call["id"], "name": TOOL, "arguments": arguments})
    return {"role": message["role"], "parts": parts}


def _openinference(conversation: str, step: Step) -> Fields:
    kind = {"model": "LLM", "tool": "TOOL", "agent": "AGENT"}[step.kind]
    common = {"openinference.span.kind": kind, "session.id": conversation}
    if step.kind == "tool":
        return common | {
            "tool.name": TOOL,
            "tool.parameters": json.dumps(SCHEMA),
            "input.value": step.arguments,
            "input.mime_type": "application/json",
            "output.value": step.result,
            "output.mime_type": "application/json",
        }
    if step.kind == "agent":
        return common | {
            "agent.name": "bench-agent",
            "input.value": step.given[-1]["content"],
            "output.value": step.said["content"],
        }
    request = {"model": "atlas-4", "messages": step.given, "temperature": 0.2}
    found = common | {
        "llm.model_name": MODEL,
        "llm.provider": "openai",
        "llm.invocation_parameters": json.dumps({"model": "atlas-4", "temperature": 0.2}),
        "llm.tools.0.tool.json_schema": json.dumps({"name": TOOL, "parameters": SCHEMA}),
        "input.value": json.dumps(request),
        "input.mime_type": "application/json",
        "output.value": json.dumps({"choices": [{"index": 0, "message": step.said}]}),
        "output.mime_type": "application/json",
        "llm.token_count.prompt": 731,
        "llm.token_count.completion": 58,
        "llm.token_count.total": 789,
    }
    for at, message in enumerate(step.given):
        _number_openinference(found, f"llm.input_messages.{at}.message", message)
    _number_openinference(found, "llm.output_messages.0.message", step.said)
    return found


def _number_openinference(found: Fields, name: str, message: Fields) -> None:
    found[f"{name}.role"] = message["role"]
    if message["content"] is not None:
        found[f"{name}.content"] = message["content"]
    if "tool_call_id" in message:
        found[f"{name}.tool_call_id"] = message["tool_call_id"]
    for at, call in enumerate(message.get("tool_calls", ())):
        inner = f"{name}.tool_calls.{at}.tool_call"
        found[f"{inner}.id"] = call["id"]
        found[f"{inner}.function.name"] = TOOL
        found[f"{inner}.function.arguments"] = call["function"]["arguments"]


def _traceloop(conversation: str, step: Step) -> Fields:
    common = {
        "traceloop.workflow.name": "bench",
        "traceloop.association.properties.session_id": conversation,
    }
    if step.kind != "model":
        named = TOOL if step.kind == "tool" else "bench-agent"
        arguments = json.loads(step.arguments) if step.kind == "tool" else {}
        asked = {"args": [], "kwargs": arguments} if arguments else step.given[-1]["content"]
        return common | {
            "traceloop.span.kind": step.kind,
            "traceloop.entity.name": named,
            "traceloop.entity.input": json.dumps(asked),
            "traceloop.entity.output": step.result or json.dumps(step.said["content"]),
        }
    found = common | {
        "llm.request.type": "chat",
        "gen_ai.system": "OpenAI",
        "gen_ai.request.model": "atlas-4",
        "gen_ai.response.model": MODEL,
        "gen_ai.usage.prompt_tokens": 731,
        "gen_ai.usage.completion_tokens": 58,
        "llm.usage.total_tokens": 789,
        "llm.request.functions.0.name": TOOL,
        "llm.request.functions.0.description": "Look an order up",
        "llm.request.functions.0.parameters": json.dumps(SCHEMA),
    }
    for at, message in enumerate(step.given):
        _number_traceloop(found, f"gen_ai.prompt.{at}", message)
    _number_traceloop(found, "gen_ai.completion.0", step.said)
    found["gen_ai.completion.0.finish_reason"] = "stop"
    return found


def _number_traceloop(found: Fields, name: str, message: Fields) -> None:
    found[f"{name}.role"] = message["role"]
    if message["content"] is not None:
        found[f"{name}.content"] = message["content"]
    if "tool_call_id" in message:
        found[f"{name}.tool_call_id"] = message["tool_call_id"]
    for at, call in enumerate(message.get("tool_calls", ())):
        found[f"{name}.tool_calls.{at}.id"] = call["id"]
        found[f"{name}.tool_calls.{at}.name"] = TOOL
        found[f"{name}.tool_calls.{at}.arguments"] = call["function"]["arguments"]


def _langfuse(conversation: str, step: Step) -> Fields:
    kind = {"model": "generation", "tool": "tool", "agent": "agent"}[step.kind]
    common = {
        "langfuse.observation.type": kind,
        "session.id": conversation,
        "user.id": "u-1",
        "langfuse.environment": "production",
        "langfuse.release": "1.0.0",
    }
    if step.kind == "tool":
        return common | {
            "langfuse.observation.input": step.arguments,
            "langfuse.observation.output": step.result,
        }
    if step.kind == "agent":
        return common | {
            "langfuse.observation.input": json.dumps({"query": step.given[-1]["content"]}),
            "langfuse.observation.output": json.dumps(step.said["content"]),
        }
    return common | {
        "langfuse.observation.input": json.dumps(step.given),
        "langfuse.observation.output": json.dumps(step.said),
        "langfuse.observation.model.name": MODEL,
        "langfuse.observation.usage_details": '{"input": 731, "output": 58, "total": 789}',
    }


def _vercel(conversation: str, step: Step) -> Fields:
    operations = {"tool": "ai.toolCall", "agent": "ai.generateText"}
    operation = operations.get(step.kind, "ai.generateText.doGenerate")
    common: Fields = {
        "ai.operationId": operation,
        "operation.name": f"{operation} bench-agent",
        "ai.telemetry.functionId": "bench-agent",
        "ai.telemetry.metadata.sessionId": conversation,
    }
    if step.kind == "tool":
        return common | {
            "ai.toolCall.name": TOOL,
            "ai.toolCall.id": step.given[0]["tool_call_id"],
            "ai.toolCall.args": step.arguments,
            "ai.toolCall.result": step.result,
        }
    common |= {
        "ai.model.id": "atlas-4",
        "ai.model.provider": "openai.chat",
        "ai.response.finishReason": "stop",
        "ai.usage.promptTokens": 731,
        "ai.usage.completionTokens": 58,
    }
    if step.said["content"] is not None:
        common["ai.response.text"] = step.said["content"]
    else:
        call = step.said["tool_calls"][0]
        told = {"type": "tool-call", "toolCallId": call["id"], "toolName": TOOL}
        told["args"] = call["function"]["arguments"]
        common["ai.response.toolCalls"] = json.dumps([told])
    if step.kind == "agent":
        asked = [{"role": "user", "content": step.given[-1]["content"]}]
        return common | {"ai.prompt": json.dumps({"system": SYSTEM, "messages": asked})}
    tool = json.dumps({"type": "function", "name": TOOL, "parameters": SCHEMA})
    return common | {
        "ai.prompt.format": "messages",
        "ai.prompt.messages": json.dumps([_aisdk(message) for message in step.given]),
        "ai.prompt.tools": [tool],
        "ai.response.model": MODEL,
        "gen_ai.request.model": "atlas-4",
        "gen_ai.response.model": MODEL,
        "gen_ai.usage.input_tokens": 731,
        "gen_ai.usage.output_tokens": 58,
    }


def _aisdk(message: Fields) -> Fields:
    """A message as the AI SDK writes it."""
    role, text = message["role"], message["content"]
    if role == "system":
        return {"role": role, "content": text}
    if role == "tool":
        part = {"type": "tool-result", "toolCallId": message["tool_call_id"], "toolName": TOOL}
        return {"role": role, "content": [{**part, "result": json.loads(text)}]}
    parts = [{"type": "text", "text": text}] if text is not None else []
    for call in message.get("tool_calls", ()):
        part = {"type": "tool-call", "toolCallId": call["id"], "toolName": TOOL}
        parts.append({**part, "args": json.loads(call["function"]["arguments"])})
    return {"role": role, "content": parts}


CONVENTIONS: Final[dict[str, Writer]] = {
    "genai_attributes": _genai,
    "openinference": _openinference,
    "openllmetry_numbered": _traceloop,
    "langfuse": _langfuse,
    "vercel": _vercel,
}
CLIENTS: Final[dict[str, Writer]] = {
    "client_openinference_20": _openinference,
    "client_openllmetry_20": _traceloop,
    "client_genai_20": _genai,
}
