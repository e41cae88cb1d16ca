"""LangGraph's stream events, states and per-turn records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    document_key,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.times import duration_ns, time_ns
from adapters.frameworks.transcript import Step, Transcript, opens, with_one_voice
from adapters.shapes import langchain
from adapters.shapes.parts import first
from monitor.model import JsonValue, Message, Usage

_QUERY_KEYS: Final = ("query", "question", "user_input", "input", "user", "prompt")
_MODES: Final = frozenset({"updates", "values", "messages", "custom", "debug", "tasks"})
_START_KEYS: Final = ("start_time", "started_at", "timestamp")


class _Emitted(NamedTuple):
    """A message and the node that emitted it; a node of a subgraph is a sub-agent's."""

    fields: Mapping[str, Any]
    node: str | None


class LangGraphDecoder(DocumentDecoder):
    """A run's stream events, a state with its messages, or a list of such records per turn."""

    name = "langgraph"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """A list holds one record per turn, or the messages of one conversation."""
        if langchain.is_conversation(document):
            return ({"messages": document},)
        return document if isinstance(document, list) else (document,)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder. Turns of one session are ordered by `turn_id`."""
        if not isinstance(record, Mapping):
            raise UnreadableDocument("neither an object nor a list of objects per turn")
        emitted = list(_emitted(record))
        steps = [_step(item) for item in emitted]
        query = _query(record)
        if query is not None and not any(opens(step) for step in steps):
            steps.insert(0, Step(message=Message("user", query)))
        if not steps:
            raise UnreadableDocument("no `stream_events`, `messages` or `values` with messages")
        turn = first(record, ("turn_id", "turn"))
        start_ns = next((time_ns(record[key]) for key in _START_KEYS if key in record), 0)
        waited_ns = duration_ns(record.get("latency"))
        return Transcript(
            source=self.name,
            key=f"turn:{turn}" if turn is not None else document_key(record),
            steps=with_one_voice(steps, text_or_none(record.get("orchestrator_node_name"))),
            conversation_id=_conversation(record),
            position=turn_position(turn),
            model=text_or_none(record.get("model")),
            usage=_usage(record),
            start_ns=start_ns,
            end_ns=start_ns + waited_ns if start_ns and waited_ns is not None else 0,
        )


def turn_position(turn: JsonValue) -> int:
    """A turn's place from 0, out of a number that counts from 1; 0 where there is none."""
    if isinstance(turn, str) and turn.isdecimal() and len(turn) < 10:
        turn = int(turn)
    if isinstance(turn, bool) or not isinstance(turn, int):
        return 0
    return max(turn - 1, 0)


def _conversation(record: Mapping[str, Any]) -> str | None:
    configurable = object_in(record.get("config"), "configurable")
    metadata = object_in(record, "metadata")
    keys = ("session_id", "thread_id", "conversation_id")
    return conversation_id(
        *(found.get(k) for found in (record, configurable, metadata) for k in keys)
    )


def _usage(record: Mapping[str, Any]) -> Usage | None:
    return langchain.usage_of(record)


def _query(record: Mapping[str, Any]) -> str | None:
    given = first(record, _QUERY_KEYS)
    if isinstance(given, Mapping):
        given = first(given, _QUERY_KEYS)
    return text_or_none(given)


def _step(item: _Emitted) -> Step:
    message = langchain.read_message(item.fields) or Message("assistant")
    told = langchain.told(item.fields)
    agent = item.node if message.role == "assistant" else None
    return Step(message=message, agent=agent, model=told.model, usage=told.usage)


def _emitted(record: Mapping[str, Any]) -> Iterable[_Emitted]:
    collected = _Collected()
    events = list_in(record, "stream_events") or list_in(record, "events")
    for event in events:
        collected.add_event(event)
    if not events:
        state = record.get("values")
        collected.add_snapshot(state if isinstance(state, Mapping) else record)
    return collected.messages()


class _Collected:
    """Messages in the order in which they first came, each once."""

    def __init__(self) -> None:
        self._found: list[_Emitted] = []
        self._places: dict[str, int] = {}
        self._snapshot: list[JsonValue] = []

    def messages(self) -> list[_Emitted]:
        return self._found

    def add_event(self, event: JsonValue, node: str | None = None) -> None:
        """One event of any stream mode."""
        if isinstance(event, list):
            self._add_tuple(event, node)
        elif isinstance(event, Mapping):
            if "event" in event and isinstance(event.get("data"), Mapping):
                self._add_runnable(event)
            elif isinstance(event.get("type"), str) and event["type"] in _MODES:
                self.add_event(event.get("data"), _subgraph(event.get("ns")) or node)
            elif "messages" in event and not isinstance(event["messages"], Mapping):
                self.add_snapshot(event, node)
            else:
                for name, update in event.items():
                    self._add_update(node or name, update)

    def add_snapshot(self, state: Mapping[str, Any], node: str | None = None) -> None:
        """A whole state repeats what came before it."""
        messages = list_in(state, "messages")
        known = self._snapshot
        new = messages[len(known) :] if messages[: len(known)] == known else messages
        self._snapshot = messages
        for message in new:
            self._add(message, node)

    def _add_tuple(self, event: list[JsonValue], node: str | None) -> None:
        """`(mode, event)`, `(namespace, event)`, `(namespace, mode, event)`, `(message, meta)`."""
        *heads, last = event if event else [None]
        for head in heads:
            if isinstance(head, list):
                node = _subgraph(head) or node
            elif isinstance(head, Mapping) and isinstance(last, Mapping):
                return self._add(head, node or text_or_none(last.get("langgraph_node")))
        return self.add_event(last, node) if heads else None

    def _add_runnable(self, event: Mapping[str, Any]) -> None:
        if event["event"] not in ("on_chat_model_end", "on_tool_end"):
            return
        node = object_in(event, "metadata").get("langgraph_node")
        output = event["data"].get("output")
        if isinstance(output, Mapping) and "generations" in output:
            batches = list_in(output, "generations")
            output = batches[0] if batches else None
            output = output[0] if isinstance(output, list) and output else output
            output = output.get("message") if isinstance(output, Mapping) else None
        self._add(output, text_or_none(node))

    def _add_update(self, node: str, update: JsonValue) -> None:
        for part in update if isinstance(update, list) else (update,):
            if isinstance(part, Mapping):
                messages = part.get("messages")
                for message in messages if isinstance(messages, list) else (messages,):
                    self._add(message, node)

    def _add(self, item: JsonValue, node: str | None) -> None:
        fields = langchain.fields_of(item)
        if fields is None or not ("content" in fields or "tool_calls" in fields):
            return
        id_ = fields.get("id")
        place = self._places.get(id_) if isinstance(id_, str) else None
        if place is None:
            if isinstance(id_, str):
                self._places[id_] = len(self._found)
            self._found.append(_Emitted(fields, node))
        else:
            before = self._found[place]
            joined = _joined(before.fields, fields) if _is_chunk(item) else fields
            self._found[place] = _Emitted(joined, before.node or node)


def _subgraph(namespace: JsonValue) -> str | None:
    """The node that runs the subgraph; `name:uuid` in a namespace."""
    if not isinstance(namespace, list) or not namespace or not isinstance(namespace[0], str):
        return None
    return namespace[0].partition(":")[0] or None


def _is_chunk(item: JsonValue) -> bool:
    return isinstance(item, Mapping) and str(item.get("type", "")).endswith("Chunk")


def _joined(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
    """Two chunks of one message; what is no text is taken from the later one."""
    joined = {**before, **{key: value for key, value in after.items() if value}}
    texts = before.get("content"), after.get("content")
    if all(isinstance(text, str) for text in texts):
        joined["content"] = f"{texts[0]}{texts[1]}"
    return joined
