"""Content that AWS' distribution of OpenTelemetry moves off the spans into log events.

The event's body is `{input: {messages: [{role, content}]}, output: {messages: [..]}}`, whatever
convention the span had. A content is text: plain, JSON, or the repr of a Python value. Roles are
only told as `user` and `assistant`, and whether the span was a model call, a tool's run or a step
of a graph is for the span to say; where it never comes, the content's shape does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from adapters.shapes import payload
from monitor.model import AgentSpan, JsonValue, Message, SpanKind, ToolCall

MOVED_CONTENT: Final = "moved content"
"""The name under which the log decoder hands such an event over."""
_END: Final = "__end__"
_STATE: Final = "remaining_steps"


class MovedContent:
    """The vocabulary `moved`."""

    name = "moved"
    keys = frozenset({"input", "output"})

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """Told twice over, as messages and as a tool's run: the span decides which it was."""
        if not events:
            return None
        body = next((fields for name, fields in events if name == MOVED_CONTENT), None)
        if body is None:
            return None
        given, said = _texts(body.get("input")), _texts(body.get("output"))
        if _is_noise(given, said):
            return msgspec.structs.replace(span, vocabulary=self.name)
        messages_in, messages_out = _given(given), _said(said)
        answer = payload.read_answer(said[0][1]) if len(said) == 1 else None
        arguments, state = payload.read_arguments(given[0][1] if len(given) == 1 else None)
        name = (answer.name if answer else None) or ""
        call_id = answer.call_id if answer else None
        return msgspec.structs.replace(
            span,
            kind=_kind(given, said),
            messages_in=messages_in,
            messages_out=messages_out,
            call=ToolCall(name, arguments, call_id, state),
            result=answer.result if answer else None,
            has_result=answer is not None,
            error_type="error" if answer is not None and answer.failed else None,
            vocabulary=self.name,
        )


def is_moved(body: Mapping[str, JsonValue]) -> bool:
    """Whether a log record's body has the form of moved content."""
    return any(
        isinstance(side, dict) and isinstance(side.get("messages"), list)
        for side in (body.get("input"), body.get("output"))
    )


def _texts(side: JsonValue) -> list[tuple[str, JsonValue]]:
    """Role and content of each message. A content may be wrapped once more."""
    listed = side.get("messages") if isinstance(side, dict) else None
    found = []
    for item in listed if isinstance(listed, list) else ():
        if isinstance(item, dict):
            given = item.get("content")
            if isinstance(given, dict) and len(given) == 1:
                given = next(iter(given.values()))
            role = item.get("role")
            found.append((role if isinstance(role, str) and role else "user", given))
    return found


def _is_noise(given: list[tuple[str, JsonValue]], said: list[tuple[str, JsonValue]]) -> bool:
    """A graph's own bookkeeping: an edge to its end, or its state with the steps that are left."""
    if any(text == _END for _, text in said):
        return True
    state = payload.opened(given[0][1])[0] if len(given) == 1 else None
    return isinstance(state, dict) and _STATE in state


def _given(texts: list[tuple[str, JsonValue]]) -> tuple[Message, ...] | None:
    """The messages; a whole request beside its own messages is left out."""
    plain = [(role, text) for role, text in texts if not _is_wrapped(text)]
    found: list[Message] = []
    for role, text in plain or texts:
        if role == "user" or role == "assistant":
            messages = payload.read_given(text).messages or ()
            found += [
                msgspec.structs.replace(message, role=role)
                if len(messages) == 1 and message.role == "user"
                else message
                for message in messages
            ]
        elif isinstance(text, str):
            found.append(Message(role, text))
    return tuple(found) or None


def _said(texts: list[tuple[str, JsonValue]]) -> tuple[Message, ...] | None:
    wrapped = [text for _, text in texts if _is_wrapped(text)]
    # A whole reply tells the calls too; the texts beside it repeat what it says.
    found = [
        message
        for text in wrapped or [text for _, text in texts]
        for message in payload.read_said(text).messages or ()
    ]
    return tuple(found) or None


def _is_wrapped(text: JsonValue) -> bool:
    value, _ = payload.opened(text)
    return isinstance(value, dict | list)


def _kind(given: list[tuple[str, JsonValue]], said: list[tuple[str, JsonValue]]) -> SpanKind:
    """What the content alone tells; "other" is what repeats the content of others."""
    reply: Any = payload.opened(said[0][1])[0] if len(said) == 1 else None
    if isinstance(reply, dict):
        if "generations" in reply or "choices" in reply:
            return "model"
        if "tool_call_id" in reply:
            return "tool"
        return "other"
    if len(given) > 1:
        return "model"
    asked: Any = payload.opened(given[0][1])[0] if given else None
    return "model" if isinstance(asked, str) and isinstance(reply, str) else "other"
