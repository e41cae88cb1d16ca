"""AgentCore's log lines: message events of the GenAI conventions, or a call's input and output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from adapters.frameworks.documents import list_in, object_in, text_or_none
from adapters.frameworks.times import time_ns
from adapters.frameworks.transcript import Step
from adapters.shapes import content, langchain, mixed
from adapters.shapes.blocks import answer_of
from adapters.shapes.parts import Parts, first
from monitor.model import JsonValue, Message, Usage

_INPUT_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.tool.message": "tool",
}
_OUTPUT_EVENTS: Final = ("gen_ai.choice",)
_HISTORY_EVENTS: Final = ("gen_ai.assistant.message",)
_SESSION_KEYS: Final = ("session.id", "gen_ai.conversation.id")
_NOISE: Final = ("__end__",)


class Entry(NamedTuple):
    """One log record."""

    event: str
    body: Mapping[str, Any]
    attributes: Mapping[str, Any]
    record: Mapping[str, Any]
    at_ns: int


def entries_of(lines: Sequence[JsonValue]) -> list[Entry]:
    """The records that are JSON objects; a runtime also prints other lines."""
    return [entry for line in lines if (entry := _entry(line)) is not None]


def _entry(line: JsonValue) -> Entry | None:
    record = _decoded(line)
    if not isinstance(record, Mapping):
        return None
    body = _decoded(record.get("body"))
    attributes = object_in(record, "attributes")
    event = first(attributes, ("event.name",)) or first(record, ("eventName", "event_name"))
    at = first(record, ("timeUnixNano", "observedTimeUnixNano", "timestamp"))
    return Entry(
        event if isinstance(event, str) else "",
        body if isinstance(body, Mapping) else {},
        attributes,
        record,
        time_ns(at),
    )


def sessions(entries: Sequence[Entry]) -> Iterator[JsonValue]:
    """The conversation ids that the records carry."""
    for entry in entries:
        resource = object_in(object_in(entry.record, "resource"), "attributes")
        for source in (entry.attributes, resource):
            yield first(source, _SESSION_KEYS)


def usage(entries: Sequence[Entry]) -> Usage | None:
    """Tokens that records carry beside their bodies, summed."""
    into = out = None
    for entry in entries:
        told = langchain.usage_of(entry.record.get("usage"))
        if told is not None:
            into = min((into or 0) + (told.input_tokens or 0), langchain.MOST_TOKENS)
            out = min((out or 0) + (told.output_tokens or 0), langchain.MOST_TOKENS)
    return None if into is None else Usage(into, out)


def steps_of(entries: Sequence[Entry], agent: str | None) -> Iterator[Step]:
    """What the records tell, each once: every call's events repeat the history before it."""
    told = _Told(agent)
    for entry in entries:
        if entry.event in _INPUT_EVENTS:
            yield from told.given(entry, _INPUT_EVENTS[entry.event])
        elif entry.event in _HISTORY_EVENTS or entry.event in _OUTPUT_EVENTS:
            yield from told.made(entry)
        elif "input" in entry.body or "output" in entry.body:
            yield from told.exchanged(entry)


class _Told:
    def __init__(self, agent: str | None) -> None:
        self._agent = agent
        self._known: set[str] = set()
        self._asked: set[str | None] = set()
        self._answered: set[str | None] = set()

    def given(self, entry: Entry, role: str) -> Iterator[Step]:
        message = mixed.read_message({**entry.body, "role": role}, role)
        if message is not None:
            yield from self._new(message, entry)

    def made(self, entry: Entry) -> Iterator[Step]:
        inner = entry.body.get("message")
        id_ = entry.body.get("id")
        if isinstance(id_, str) and id_ in self._asked:
            # A tool's own span tells its answer as its choice.
            parts = Parts()
            parts.add_result(_unwrapped(inner), id_)
            yield from self._new(parts.message("tool"), entry)
            return
        if isinstance(inner, Mapping):
            body: JsonValue = inner
        elif inner is not None:
            body = {"content": _decoded(inner)}
        else:
            body = entry.body
        message = mixed.read_message({**body, "role": "assistant"}, "assistant")
        if message is not None:
            yield from self._new(message, entry)

    def exchanged(self, entry: Entry) -> Iterator[Step]:
        """One record that holds a call's messages in and out, their contents as JSON text."""
        for side, role in (("input", "user"), ("output", "assistant")):
            for item in list_in(object_in(entry.body, side), "messages"):
                for message in exchanged_messages(item, role):
                    yield from self._new(message, entry)

    def _new(self, message: Message, entry: Entry) -> Iterator[Step]:
        results = tuple(r for r in message.results if r.call_id not in self._answered)
        repeated = bool(message.results) and not results
        said = f"{message.role}:{message.text}:{[call.call_id for call in message.calls]}"
        calls = {call.call_id for call in message.calls}
        if repeated or (not message.results and said in self._known):
            return
        if calls and None not in calls and calls <= self._asked:
            return
        self._known.add(said)
        self._asked |= calls
        self._answered |= {result.call_id for result in results if result.call_id}
        yield Step(
            message=message,
            agent=self._agent if message.role == "assistant" else None,
            start_ns=entry.at_ns,
            end_ns=entry.at_ns,
        )


def exchanged_messages(item: JsonValue, default_role: str) -> tuple[Message, ...]:
    """The messages inside one stringified content; none for what frameworks add as noise."""
    if not isinstance(item, Mapping):
        return ()
    role = text_or_none(item.get("role")) or default_role
    inner = _decoded(item.get("content"))
    if isinstance(inner, Mapping) and "content" in inner and "role" not in inner:
        deeper = _decoded(inner["content"])
        tool = inner.get("type") == "tool" or "tool_call_id" in inner
        inner = inner if tool else deeper
    if isinstance(inner, Mapping) and "message" in inner:
        inner = _decoded(inner["message"])
    if inner in _NOISE or (isinstance(inner, Mapping) and "remaining_steps" in inner):
        return ()
    if isinstance(inner, list) and not _are_messages(inner):
        inner = {"role": role, "content": inner}
    return mixed.read_messages(inner, role) or ()


def _are_messages(items: list[JsonValue]) -> bool:
    return all(isinstance(item, Mapping) and ("role" in item or "kwargs" in item) for item in items)


def _unwrapped(given: JsonValue) -> JsonValue:
    return answer_of(_decoded(given))


def _decoded(value: JsonValue) -> JsonValue:
    """JSON text as what it says; a text that is none stays."""
    if not isinstance(value, str):
        return value
    found, state = content.arguments(value)
    return found if state == "parsed" else value
