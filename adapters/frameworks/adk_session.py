"""Google ADK's stored sessions: events by author, in snake or in camel case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    document_key,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.times import time_ns
from adapters.frameworks.transcript import Step, Transcript, with_one_voice
from adapters.shapes import gemini, langchain
from adapters.shapes.parts import first
from adapters.vocabularies.definitions import read_definitions
from monitor.model import JsonValue, ToolDefinition

_USER: Final = "user"


class AdkSessionDecoder(DocumentDecoder):
    """A session, a list of sessions, or an object that holds them under `sessions`."""

    name = "adk_session"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """One record per session."""
        if isinstance(document, list):
            return document
        return list_in(document, "sessions") or (document,)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder. Partial events of a stream are left out."""
        events = [event for event in list_in(record, "events") if isinstance(event, Mapping)]
        logs = _logs(record)
        steps = [
            _step(event, logs.get(str(event.get("id")), {}))
            for event in events
            if _is_whole(event) and isinstance(event.get("content"), Mapping)
        ]
        if not steps:
            raise UnreadableDocument("no `events` with an author and content")
        request = next((log["request"] for log in logs.values() if log.get("request")), {})
        config = object_in(request, "config")
        named = first(record, ("id", "session_id", "sessionId"))
        return Transcript(
            source=self.name,
            # A session that is stored again is the same session, however much was said since.
            key="session" if conversation_id(named) else document_key(record),
            steps=with_one_voice(steps),
            conversation_id=conversation_id(named),
            agent=text_or_none(first(record, ("app_name", "appName"))),
            model=text_or_none(request.get("model")),
            system=gemini.text_of(first(config, ("system_instruction", "systemInstruction"))),
            tools=_tools(config),
        )


def _is_whole(event: Mapping[str, Any]) -> bool:
    options = object_in(event, "options")
    return event.get("partial") is not True and options.get("partial") is not True


def _step(event: Mapping[str, Any], log: Mapping[str, Any]) -> Step:
    author = text_or_none(event.get("author"))
    told = object_in(event, "content")
    # Older stores file what tools answered under the role of the user.
    role = _USER if author in (None, _USER) and told.get("role") != "model" else "assistant"
    message = gemini.read_message({**told, "role": role}, role)
    if message.results and not message.calls and message.text is None:
        message = gemini.read_message({**told, "role": "tool"}, "tool")
    at_ns = time_ns(event.get("timestamp"))
    response = log.get("response", {})
    usage = first(event, ("usage_metadata", "usageMetadata"))
    model = first(event, ("model_version", "modelVersion"))
    return Step(
        message=message,
        agent=author if author != _USER else None,
        model=text_or_none(model) or text_or_none(response.get("model_version")),
        usage=langchain.usage_of(usage) or langchain.usage_of(response.get("usage_metadata")),
        start_ns=at_ns,
        end_ns=at_ns,
    )


def _logs(record: JsonValue) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Requests and responses of the model by the event that they made."""
    logs = (log for log in list_in(record, "event_logs") if isinstance(log, Mapping))
    return {
        str(log.get("event_id")): {
            "request": object_in(log, "model_request"),
            "response": object_in(log, "model_response"),
        }
        for log in logs
    }


def _tools(config: Mapping[str, Any]) -> tuple[ToolDefinition, ...] | None:
    declared = gemini.declarations(config.get("tools"))
    if not declared:
        return None
    return read_definitions(gemini.lower_types(declared))
