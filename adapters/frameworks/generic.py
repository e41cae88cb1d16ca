"""Any JSON, read by a mapping that says where things are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from adapters.frameworks.documents import (
    DocumentDecoder,
    DocumentLimits,
    UnreadableDocument,
    conversation_id,
    document_key,
    text_or_none,
)
from adapters.frameworks.langgraph import turn_position
from adapters.frameworks.listed_calls import with_listed_calls
from adapters.frameworks.mapping import Mapped
from adapters.frameworks.paths import Path
from adapters.frameworks.times import duration_ns, time_ns
from adapters.frameworks.transcript import Step, Transcript, opens
from adapters.shapes import content as contents
from adapters.shapes import langchain, mixed
from adapters.shapes.parts import call_id, tool_call
from monitor.model import JsonValue, Message, ToolResult

_ROLES: Final = {"agent": "assistant", "bot": "assistant", "customer": "user", "client": "user"}


class GenericDecoder(DocumentDecoder):
    """Documents of an own format; `mapping` is what a TOML or JSON file holds."""

    name = "generic"

    def __init__(
        self,
        limits: DocumentLimits | Mapping[str, int] | None = None,
        *,
        mapping: Mapping[str, Any] | None = None,
    ) -> None:
        """Raises ConfigurationError for a mapping that cannot work."""
        super().__init__(limits)
        self._mapped = Mapped(mapping)

    def records(self, document: JsonValue) -> Iterable[Any]:
        """What the path `records` leads to; without it the document is one record."""
        path = self._mapped.paths.get("records")
        return (document,) if path is None else path.all(document)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder."""
        steps = with_listed_calls(list(self._said(record)), list(self._ran(record)))
        query, reply = self._text(record, "query"), self._text(record, "reply")
        if query is not None and not any(opens(step) for step in steps):
            steps.insert(0, Step(message=Message("user", query)))
        if reply is not None and not _is_said(reply, steps):
            steps.append(Step(message=Message("assistant", reply)))
        if not steps:
            raise UnreadableDocument("none of the mapping's paths leads to a message or a call")
        told = {key: path.first(record) for key, path in self._mapped.metadata.items()}
        turn, named = self._at(record, "turn_id"), self._at(record, "session_id")
        trace = self._at(record, "trace_id")
        key = f"turn:{turn}" if turn is not None and conversation_id(named) else None
        return Transcript(
            source=self.name,
            key=key or (str(trace) if isinstance(trace, str | int) else document_key(record)),
            steps=tuple(steps),
            conversation_id=conversation_id(named),
            position=turn_position(turn),
            usage=langchain.usage_of(told),
            model=text_or_none(told.get("model")),
            system=text_or_none(told.get("system")),
            agent=text_or_none(told.get("agent")),
            release=text_or_none(told.get("release")),
        )

    def _said(self, record: JsonValue) -> Iterator[Step]:
        mapped = self._mapped
        for item in [] if mapped.messages is None else mapped.messages.all(record):
            fields = {name: path.first(item) for name, path in mapped.message.items()}
            if isinstance(item, str) or all(value is None for value in fields.values()):
                continue
            shaped = {
                "role": self._role(fields["role_field"]),
                "content": fields["content_field"],
                "tool_calls": fields["tool_calls_field"],
                "tool_call_id": fields["call_id_field"],
                "name": fields["name_field"],
            }
            message = mixed.read_message(shaped, "assistant")
            if message is not None:
                at_ns = time_ns(fields["timestamp_field"])
                yield Step(message=message, start_ns=at_ns, end_ns=at_ns)

    def _role(self, given: JsonValue) -> JsonValue:
        if not isinstance(given, str):
            return given
        return self._mapped.roles.get(given.lower()) or _ROLES.get(given.lower(), given)

    def _ran(self, record: JsonValue) -> Iterator[Step]:
        mapped = self._mapped
        for item in [] if mapped.tool_calls is None else mapped.tool_calls.all(record):
            name = mapped.call["name_field"].first(item)
            if not isinstance(name, str) or not name:
                continue
            fields = {field: path.first(item) for field, path in mapped.call.items()}
            call = tool_call(name, fields["arguments_field"], call_id(fields["call_id_field"]))
            at_ns = time_ns(fields["timestamp_field"])
            took_ns = duration_ns(fields["execution_time_field"]) or 0
            results = _results(mapped.call, item, fields, call.call_id)
            yield Step(
                message=Message("tool", None, (call,), results),
                start_ns=at_ns,
                end_ns=at_ns + took_ns if at_ns else 0,
            )

    def _at(self, record: JsonValue, name: str) -> JsonValue:
        path = self._mapped.paths.get(name)
        return None if path is None else path.first(record)

    def _text(self, record: JsonValue, name: str) -> str | None:
        return text_or_none(self._at(record, name))


def _results(
    paths: Mapping[str, Path], item: JsonValue, fields: Mapping[str, JsonValue], id_: str | None
) -> tuple[ToolResult, ...]:
    error = fields["error_field"]
    if error not in (None, False, ""):
        return (ToolResult(contents.result(error), id_, None, is_error=True),)
    if not paths["result_field"].leads(item):
        return ()
    return (ToolResult(contents.result(fields["result_field"]), id_),)


def _is_said(text: str, steps: list[Step]) -> bool:
    return any(step.message.role == "assistant" and step.message.text == text for step in steps)
