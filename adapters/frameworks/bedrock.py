"""Bedrock's event streams: an agent's chunks and traces, or a model's Converse stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from adapters.frameworks.bedrock_traces import AgentEvents
from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    document_key,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.transcript import Step, Transcript
from adapters.shapes import langchain
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message, Usage

_STREAM_KEYS: Final = ("event_stream", "completion", "events", "stream")
_CONVERSE: Final = frozenset({"messageStart", "contentBlockDelta", "contentBlockStart"})


class BedrockDecoder(DocumentDecoder):
    """The events of one invocation with the `user_input` that they answer, or a list of these."""

    name = "bedrock"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """One record per invocation."""
        return document if isinstance(document, list) else (document,)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder."""
        if not isinstance(record, Mapping):
            raise UnreadableDocument("neither an object nor a list of objects")
        events = next((found for key in _STREAM_KEYS if (found := list_in(record, key))), [])
        told = [event for event in events if isinstance(event, Mapping)]
        if not told:
            raise UnreadableDocument("no `event_stream` with events")
        query = text_or_none(first(record, ("user_input", "inputText", "input")))
        steps = [Step(message=Message("user", query))] if query else []
        model, session, usage = text_or_none(record.get("model")), None, None
        start_ns = 0
        if any(key in event for event in told for key in _CONVERSE):
            steps += _converse(told)
        else:
            agent = AgentEvents(told)
            steps += agent.steps
            model, session, usage = model or agent.model, agent.session, agent.usage
            start_ns = agent.start_ns
        names = ("session_id", "sessionId")
        return Transcript(
            source=self.name,
            key=text_or_none(first(record, ("trace_id", "traceId"))) or document_key(record),
            steps=tuple(steps),
            conversation_id=conversation_id(*(record.get(name) for name in names), session),
            model=model,
            release=_release(record),
            usage=usage,
            start_ns=start_ns,
        )


def _release(record: Mapping[str, Any]) -> str | None:
    """An agent's alias is what a deployment moves."""
    alias = text_or_none(first(record, ("alias_id", "agentAliasId")))
    agent = text_or_none(first(record, ("agent_id", "agentId")))
    return f"{agent}:{alias}" if agent and alias else None


def _converse(events: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    """The messages whose deltas the events hold; the arguments of a call come as text in pieces."""
    usage: Usage | None = None
    texts: dict[int, list[str]] = {}
    calls: dict[int, Mapping[str, Any]] = {}
    for event in events:
        start = object_in(event, "contentBlockStart")
        delta = object_in(event, "contentBlockDelta")
        number = _number(start or delta)
        if start:
            calls[number] = object_in(object_in(start, "start"), "toolUse")
        given = object_in(delta, "delta")
        piece = first(given, ("text",)) or object_in(given, "toolUse").get("input")
        if isinstance(piece, str):
            texts.setdefault(number, []).append(piece)
        usage = usage or langchain.usage_of(object_in(event, "metadata").get("usage"))
    parts = Parts()
    for number in sorted({*texts, *calls}):
        text = "".join(texts.get(number, []))
        call = calls.get(number)
        if call:
            parts.add_call(call.get("name"), text or {}, call.get("toolUseId"))
        else:
            parts.add_text(text)
    yield Step(message=parts.message("assistant"), usage=usage)


def _number(block: Mapping[str, Any]) -> int:
    number = block.get("contentBlockIndex")
    return number if isinstance(number, int) and not isinstance(number, bool) else 0
