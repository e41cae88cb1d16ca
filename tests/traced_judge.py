"""Calls to a judge as gateways and instrumented clients trace them, through the real SDK."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

Messages = list[dict[str, str]]
Attributes = dict[str, Any]
Told = tuple[Attributes, list[tuple[str, Attributes]]]
"""A span's attributes and events."""
Convention = Callable[[Messages, str], Told]
MODEL = "grader-1"


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "content": text}]


def genai(messages: Messages, reply: str) -> Told:
    said = [{"role": "assistant", "parts": _parts(reply), "finish_reason": "stop"}]
    asked = [{"role": "user", "parts": _parts(messages[1]["content"])}]
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL,
        "gen_ai.system_instructions": json.dumps(_parts(messages[0]["content"])),
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(said),
    }, []


def genai_in_one(messages: Messages, reply: str) -> Told:
    attributes, _ = genai(messages, reply)
    del attributes["gen_ai.system_instructions"]
    asked = [{"role": m["role"], "parts": _parts(m["content"])} for m in messages]
    return {**attributes, "gen_ai.input.messages": json.dumps(asked)}, []


def genai_events(messages: Messages, reply: str) -> Told:
    common = {"gen_ai.operation.name": "chat", "gen_ai.system": "openai"}
    asked = [(f"gen_ai.{m['role']}.message", {"content": m["content"]}) for m in messages]
    choice = {"index": 0, "message": json.dumps({"content": reply}), "finish_reason": "stop"}
    return {**common, "gen_ai.request.model": MODEL}, [*asked, ("gen_ai.choice", choice)]


def genai_bare(messages: Messages, reply: str) -> Told:
    """With the recording of content off."""
    attributes, _ = genai(messages, reply)
    content = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")
    return {name: value for name, value in attributes.items() if name not in content}, []


def openinference(messages: Messages, reply: str) -> Told:
    found: Attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": MODEL,
        "input.value": json.dumps({"messages": messages}),
        "input.mime_type": "application/json",
        "output.value": reply,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": reply,
    }
    for number, message in enumerate(messages):
        for name, value in message.items():
            found[f"llm.input_messages.{number}.message.{name}"] = value
    return found, []


def openinference_whole(messages: Messages, reply: str) -> Told:
    """The gateway's own span tells the exchange too: see `Tracing`."""
    return openinference(messages, reply)


def traceloop(messages: Messages, reply: str) -> Told:
    found: Attributes = {
        "llm.request.type": "chat",
        "gen_ai.system": "OpenAI",
        "gen_ai.request.model": MODEL,
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": reply,
    }
    for number, message in enumerate(messages):
        for name, value in message.items():
            found[f"gen_ai.prompt.{number}.{name}"] = value
    return found, []


def langfuse(messages: Messages, reply: str) -> Told:
    return {
        "langfuse.observation.type": "generation",
        "langfuse.observation.model.name": MODEL,
        "langfuse.observation.input": json.dumps(messages),
        "langfuse.observation.output": json.dumps({"role": "assistant", "content": reply}),
        "langfuse.trace.input": json.dumps(messages),
        "langfuse.trace.output": reply,
    }, []


CONVENTIONS: Mapping[str, Convention] = {
    each.__name__: each
    for each in (
        *(genai, genai_in_one, genai_events, genai_bare),
        *(openinference, openinference_whole, traceloop, langfuse),
    )
}


class Tracing:
    """An SDK that sends each call to the service at once."""

    def __init__(self, otlp: str, convention: str) -> None:
        self._convention = CONVENTIONS[convention]
        self._whole = convention.endswith("_whole")
        self._provider = TracerProvider(resource=Resource({"service.name": "gateway"}))
        exporter = OTLPSpanExporter(f"{otlp}/v1/traces")
        self._provider.add_span_processor(SimpleSpanProcessor(exporter))
        self.sent = 0

    def trace(self, messages: Messages, reply: str) -> None:
        """A trace of its own: the call, below the gateway's span of the request."""
        tracer = self._provider.get_tracer("gateway")
        attributes, events = self._convention(messages, reply)
        around = {"openinference.span.kind": "CHAIN", "output.value": reply}
        around["input.value"] = json.dumps({"model": MODEL, "messages": messages})
        with (
            tracer.start_as_current_span(
                "POST /v1/chat/completions", attributes=around if self._whole else None
            ),
            tracer.start_as_current_span(f"chat {MODEL}", attributes=attributes) as span,
        ):
            for name, told in events:
                span.add_event(name, told)
        self.sent += 1

    def close(self) -> None:
        self._provider.shutdown()
