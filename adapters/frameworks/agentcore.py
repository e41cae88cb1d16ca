"""Bedrock AgentCore's invocations: what was sent and answered, with the runtime's log between."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from adapters.frameworks import agentcore_logs, span_records
from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    document_key,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.transcript import Step, Transcript, with_one_voice
from adapters.shapes import content, converse
from adapters.shapes.parts import first
from monitor.model import AgentSpan, JsonValue, Message

_TEXT_KEYS: Final = ("result", "text", "output", "message", "response", "completion", "content")
_EVENT: Final = "data:"
_ROUNDS: Final = 8


class AgentCoreDecoder(DocumentDecoder):
    """An invocation, several of them, or the list of span records that the runtime exports."""

    name = "agentcore"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """Span records belong together; anything else in a list stands for itself."""
        if isinstance(document, list) and not span_records.are_spans(document):
            return document
        return (document,)

    def spans(self, record: Any) -> Iterable[AgentSpan]:
        """Span records are spans already; anything else is told as a transcript."""
        if span_records.are_spans(record):
            return span_records.spans_of_records(record)
        return super().spans(record)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder."""
        if not isinstance(record, Mapping):
            raise UnreadableDocument("neither an object nor a list of objects")
        query = text_or_none(first(record, ("user_input", "prompt")))
        agents = object_in(record, "agents")
        order = [name for name in list_in(record, "agent_order") if name in agents] or [*agents]
        parts: list[tuple[str | None, JsonValue]] = [(str(name), agents[name]) for name in order]
        steps = [Step(message=Message("user", query))] if query else []
        for name, part in parts or [(None, record)]:
            steps += _done(part, name)
        if not steps:
            raise UnreadableDocument("no `user_input`, `final_response` or `trace`")
        logs = agentcore_logs.entries_of(list_in(record, "trace"))
        named = first(record, ("session_id", "runtimeSessionId"))
        return Transcript(
            source=self.name,
            key=text_or_none(record.get("trace_id")) or document_key(record),
            steps=with_one_voice(_once(steps)),
            conversation_id=conversation_id(named, *agentcore_logs.sessions(logs)),
            release=text_or_none(record.get("agent_version")),
            usage=agentcore_logs.usage(logs),
        )


def _done(part: JsonValue, agent: str | None) -> list[Step]:
    """What one agent did: its log, and its answer where the log does not end with it."""
    entries = agentcore_logs.entries_of(list_in(part, "trace"))
    steps = list(agentcore_logs.steps_of(entries, agent))
    reply = _reply(part)
    said = [step.message.text for step in steps if step.message.role == "assistant"]
    if reply and not (said and said[-1] is not None and said[-1].strip() == reply.strip()):
        steps.append(Step(message=Message("assistant", reply), agent=agent))
    return steps


def _once(steps: Sequence[Step]) -> list[Step]:
    """Without a query that the log repeats."""
    kept: list[Step] = []
    asked: set[str | None] = set()
    for step in steps:
        if step.message.role == "user" and not step.message.results:
            if step.message.text in asked or (asked and len(kept) == 1):
                continue
            asked.add(step.message.text)
        kept.append(step)
    # A log that holds the system prompt tells it before the query.
    return kept


def _reply(part: JsonValue) -> str | None:
    if not isinstance(part, Mapping):
        return None
    given = part.get("final_response")
    if given in (None, "", {}):
        given = _joined(list_in(part, "response_chunks"))
    return _text(given)


def _joined(chunks: Sequence[JsonValue]) -> str:
    """Chunks as they came: text, or lines of server-sent events with JSON text in them."""
    lines = [line for chunk in chunks if isinstance(chunk, str) for line in chunk.splitlines(True)]
    events = [line for line in lines if line.startswith(_EVENT)]
    if not events:
        return "".join(lines)
    texts = (_text(line[len(_EVENT) :].strip()) for line in events)
    return "".join(text for text in texts if text)


def _text(given: JsonValue) -> str | None:
    """The words in an answer, which services wrap in objects, or in JSON text of objects."""
    for _ in range(_ROUNDS):
        if isinstance(given, str):
            if given[:1] not in ("{", "[", '"'):
                break
            try:
                given = content.decode(given)
            except content.Undecodable:
                break
        elif isinstance(given, list):
            return converse.text_of(given)
        elif isinstance(given, Mapping):
            given = first(given, _TEXT_KEYS)
        else:
            break
    return given if isinstance(given, str) and given else None
