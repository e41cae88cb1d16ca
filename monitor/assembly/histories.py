"""What of a model call's messages is new: the user's query, and the loop since the last reply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from monitor.model import Message, ToolCall, ToolResult

INJECTED: Final = ("system-reminder", "environment_context", "user_instructions")
"""Elements that frameworks put before a user's words; they are not the user's."""

_INJECTED_BLOCK: Final = re.compile(rf"\s*<({'|'.join(INJECTED)})\b[^>]*>.*?</\1>\s*", re.DOTALL)


class Tail(msgspec.Struct, frozen=True):
    """The end of a history, back to the assistant's last reply."""

    query: str | None = None
    """The user's words since that reply; several messages in a row are joined by newlines."""
    asked: bool = False
    """The user spoke last: the call opens an exchange. Also for words that are not text."""
    calls: tuple[ToolCall, ...] = ()
    """Calls made after the query, in order."""
    results: tuple[ToolResult, ...] = ()
    """Results since the last reply, in order."""


def tail_of(messages: Sequence[Message] | None) -> Tail:
    """The tail of what a model call was given.

    A whole history and the new messages alone give the same tail; what was summarised away
    before it makes no difference.
    """
    calls: list[ToolCall] = []
    results: list[ToolResult] = []
    said: list[str] = []
    found, in_row, asked = False, True, False
    for message in reversed(messages or ()):
        if message.role == "assistant" and not message.calls and message.text:
            break
        words = words_of(message) if message.role == "user" else None
        if words is not None and not found:
            found, asked = True, not calls and not results
        if words and in_row:
            said.append(words)
        elif found and (message.calls or message.results):
            # Before the user's words lies a run that ended without a reply: not this exchange.
            in_row = False
        results.extend(reversed(message.results))
        if not found:
            calls.extend(reversed(message.calls))
    said.reverse()
    return Tail("\n".join(said) or None, asked, tuple(calls[::-1]), tuple(results[::-1]))


def words_of(message: Message) -> str | None:
    """What the user said: "" for media without text; None when the message is no user's."""
    text = message.text
    if text is not None:
        while block := _INJECTED_BLOCK.match(text):
            text = text[block.end() :]
        if text.strip():
            return text
    if message.media and not message.results:
        return ""
    return None


def last_query(messages: Sequence[Message] | None) -> str | None:
    """The last words of the user anywhere in the messages."""
    for message in reversed(messages or ()):
        if message.role == "user" and (said := words_of(message)):
            return said
    return None


def times_asked(messages: Sequence[Message] | None) -> int:
    """How often the user spoke in the messages."""
    return sum(
        message.role == "user" and words_of(message) is not None for message in messages or ()
    )


def reply_of(messages: Sequence[Message] | None) -> str | None:
    """The text of the last message that is the assistant's; None where it only made calls."""
    for message in reversed(messages or ()):
        if message.role == "assistant" or message.role == "model":
            return None if message.calls and not message.text else message.text
    return None
