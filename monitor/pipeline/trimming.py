"""Spans with their long texts cut: enough left to tell turns, too little to judge them."""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.model import AgentSpan, JsonValue, Message, ToolCall

KEPT_CHARACTERS: Final = 200


def trimmed(span: AgentSpan) -> AgentSpan:
    """The span cut and marked as truncated; equal texts stay equal, so turns stay the same."""
    return msgspec.structs.replace(
        span,
        system=_text(span.system),
        messages_in=_messages(span.messages_in),
        messages_out=_messages(span.messages_out),
        call=None if span.call is None else _call(span.call),
        result=_value(span.result),
        tool_definitions=None,
        truncated=True,
    )


def _messages(messages: tuple[Message, ...] | None) -> tuple[Message, ...] | None:
    if messages is None:
        return None
    return tuple([_message(message) for message in messages])


def _message(message: Message) -> Message:
    return msgspec.structs.replace(
        message,
        text=_text(message.text),
        calls=tuple([_call(call) for call in message.calls]),
        results=tuple(
            [msgspec.structs.replace(r, result=_value(r.result)) for r in message.results]
        ),
    )


def _call(call: ToolCall) -> ToolCall:
    kept = _value(call.arguments)
    if kept is call.arguments:
        return call
    return msgspec.structs.replace(call, arguments=kept, arguments_state="truncated")


def _text(text: str | None) -> str | None:
    return text if text is None else text[:KEPT_CHARACTERS]


def _value(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= KEPT_CHARACTERS else value[:KEPT_CHARACTERS]
    if isinstance(value, (dict, list)) and len(msgspec.json.encode(value)) > KEPT_CHARACTERS:
        return None
    return value
