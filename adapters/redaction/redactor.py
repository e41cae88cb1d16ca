"""Redacts spans and JSON values at the door: every string, keys included."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from operator import is_
from typing import Any, Final, NamedTuple, TypeVar

import msgspec

from adapters.redaction.custom import compiled
from adapters.redaction.placeholders import NAME_DIGITS, Placeholders, Style
from adapters.redaction.remembered import Remembered
from adapters.redaction.scanner import KINDS, LEAST_LENGTH, Scanner
from adapters.redaction.secrets import is_secret, names_secret
from adapters.redaction.tally import Tally
from adapters.redaction.words import role_of
from monitor.errors import ConfigurationError
from monitor.model import AgentSpan, JsonValue, Message, ToolCall, ToolDefinition, ToolResult

T = TypeVar("T")

_TEXTS: Final = ("name", "agent", "release", "model", "system", "error_type", "scope", "service")
_IDS: Final = frozenset({"conversation_id", "dialog_id"})
_VALUES: Final = frozenset({"args", "arguments", "result", "variants"})
KEYS_REMEMBERED: Final = 4096
KEY_LENGTH: Final = 128
"""Characters of a key that are looked at for what its value is."""
LEAST_NUMBER: Final = 1_000_000
"""Smaller whole numbers are no personal number."""


class _Named(NamedTuple):
    """A key, and what it says of the value under it."""

    redacted: str
    role: str | None
    """`password`, `token`, `thing` (an order's number or the like), `person`; None: nothing."""
    before: str
    """What to read before the value."""


_NAMELESS: Final = _Named("", None, "")


def _opened(text: str) -> JsonValue:
    """The object or list that a text of JSON holds; None for any other text."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


class Redactor:
    """Replaces personal data and secrets by keyed placeholders.

    Pure: a string and the key beside it decide alone, so equal values get equal placeholders in
    any order, batch and process that has the same key. Memory is bounded; it only saves time.
    """

    def __init__(
        self,
        key: bytes,
        *,
        kinds: Collection[str] = KINDS,
        patterns: Mapping[str, str] | None = None,
        style: Style = "keyed",
    ) -> None:
        """Raises ConfigurationError for a short key, an unknown kind and a pattern it refuses."""
        unknown = sorted(set(kinds) - KINDS)
        if unknown:
            raise ConfigurationError(
                f"redaction: unknown kinds {', '.join(unknown)}; known: {', '.join(sorted(KINDS))}"
            )
        custom = compiled(patterns or {})
        self._least = 1 if custom else LEAST_LENGTH
        self._scanner = Scanner(Placeholders(key, style), kinds, custom)
        self._texts: Remembered[str] = Remembered(self._other_text)
        self._ids: Remembered[str] = Remembered(self._other_id)
        self._values: Remembered[JsonValue] = Remembered(self._other_value)
        self._tools: Remembered[tuple[ToolDefinition, ...]] = Remembered(self._other_tools)
        self._names: dict[str, _Named] = {}
        self._tally = Tally({*KINDS, *custom}, style)
        self._fields: tuple[tuple[str, Callable[[Any], Any]], ...] = (
            ("conversation_id", self.name),
            ("response_id", self.name),
            ("user_id", self.name),
            *((name, self.text) for name in _TEXTS),
            ("messages_in", self._messages),
            ("messages_out", self._messages),
            ("call", self._call),
            ("result", self.value),
            ("tool_definitions", self._definitions),
            ("expected", self.document),
        )

    @property
    def counters(self) -> dict[str, int]:
        """How many values of spans were replaced, by kind in lower case."""
        return self._tally.counts

    def spans(self, spans: Sequence[AgentSpan]) -> list[AgentSpan]:
        """The spans redacted, in their order; a clean span is the same object."""
        return [self.span(span) for span in spans]

    def span(self, span: AgentSpan) -> AgentSpan:
        """The span with every string of its content redacted.

        Its own ids, its vocabulary and digests of media are no content.
        """
        changed: dict[str, object] = {}
        for name, redact in self._fields:
            found = getattr(span, name)
            if found is not None:
                clean = redact(found)
                if clean is not found:
                    changed[name] = clean
        if not changed:
            return span
        self._tally.take([getattr(span, name) for name in changed], list(changed.values()))
        return msgspec.structs.replace(span, **changed)

    def text(self, text: str) -> str:
        """The text redacted; the same object when it is clean."""
        if len(text) < self._least:
            return text
        found = self._texts[text]
        return text if found is None else found

    def name(self, text: str) -> str:
        """A name of one thing among very many, such as a conversation's id.

        Its placeholder is longer, so that no two open conversations ever share one. What is looked
        up by such a name must be filed under this function's result.
        """
        found = self._ids[text]
        return text if found is None else found

    def value(self, value: JsonValue, key: str = "") -> JsonValue:
        """A JSON value redacted, whole numbers and keys included; the same object when clean.

        `key` is the name under which the value stands: it may tell what a bare number is. To be
        compared with what traces hold, reference values must pass through here with the same key.
        """
        if key or not isinstance(value, dict | list):
            return self._value(value, self._named(key) if key else _NAMELESS)
        try:
            found = self._values[msgspec.json.encode(value).decode()]
        except (TypeError, ValueError, RecursionError):
            return self._value(value, _NAMELESS)
        return value if found is None else found

    def document(self, document: JsonValue) -> JsonValue:
        """A reference or dialog redacted, so that it can be held against redacted traces.

        Ids of conversations and dialogs are names; arguments and results are values; under all
        other keys stand texts of their own, as in a trace. JSON inside a text is opened.
        """
        if isinstance(document, str):
            opened = _opened(document)
            return self.text(document) if opened is None else self.document(opened)
        return self._part(document)

    def _part(self, part: JsonValue) -> JsonValue:
        if isinstance(part, dict):
            clean: dict[str, JsonValue] = {}
            for key, item in part.items():
                if key in _IDS and isinstance(item, str):
                    clean[key] = self.name(item)
                else:
                    clean[key] = self.value(item) if key in _VALUES else self._part(item)
            return clean
        if isinstance(part, list):
            return [self._part(item) for item in part]
        return self.text(part) if isinstance(part, str) else part

    def __repr__(self) -> str:
        return "Redactor()"

    def _other_text(self, text: str) -> str | None:
        clean = self._scanner.redact(text)
        return None if clean == text else clean

    def _other_id(self, text: str) -> str | None:
        clean = self._scanner.redact(text, NAME_DIGITS)
        return None if clean == text else clean

    def _other_value(self, text: str) -> JsonValue:
        """The value of a JSON text redacted; None when a glance at the whole finds it clean."""
        if text.isascii() and "\\" not in text and not self._scanner.may_hold(text):
            return None
        value = msgspec.json.decode(text)
        clean = self._value(value, _NAMELESS)
        return None if clean is value else clean

    def _other_tools(self, text: str) -> tuple[ToolDefinition, ...] | None:
        tools = msgspec.json.decode(text, type=tuple[ToolDefinition, ...])
        clean = self._each(tools, self._definition)
        return None if clean is tools else clean

    def _value(self, value: JsonValue, named: _Named) -> JsonValue:
        kind = type(value)
        if kind is str:
            return self._leaf(value, named)
        if kind is dict:
            return self._object(value)
        if kind is list:
            clean = [self._value(item, named) for item in value]
            return value if all(map(is_, clean, value)) else clean
        if kind is int and abs(value) >= LEAST_NUMBER:
            written = str(value)
            redacted = self._leaf(written, named)
            return value if redacted == written else redacted
        return value

    def _object(self, value: dict[str, JsonValue]) -> dict[str, JsonValue]:
        clean: dict[str, JsonValue] = {}
        same = True
        for key, item in value.items():
            named = self._names.get(key) or self._named(key)
            name = named.redacted
            # Two spellings of one address are one placeholder, and still two entries.
            while name in clean:
                name += "~"
            clean[name] = redacted = self._value(item, named)
            same = same and redacted is item and name == key
        return value if same else clean

    def _leaf(self, value: str, named: _Named) -> str:
        clean = self.text(value)
        role = named.role
        if role is None or (clean is value and role == "thing"):
            return clean
        if role in ("password", "token"):
            if clean is value and is_secret(value, password=role == "password"):
                return self._scanner.secret(value)
            return clean
        # The key is read before the value, as in a text; both ways must lead to the same.
        before = named.before
        both = self.text(before + value)
        found = both[len(before) :] if both.startswith(before) else clean
        return value if found == value else found

    def _named(self, key: str) -> _Named:
        """What a key becomes, and what it says of its value."""
        found = self._names.get(key)
        if found is None:
            end = key[-KEY_LENGTH:]
            role = None if end.isdigit() else names_secret(end) or role_of(end)
            found = _Named(self.text(key), role, f"{end}: ")
            if len(self._names) < KEYS_REMEMBERED and len(key) <= KEY_LENGTH:
                self._names[key] = found
        return found

    def _message(self, message: Message) -> Message:
        text = message.text
        clean = Message(
            self.text(message.role),
            None if text is None else self.text(text),
            self._each(message.calls, self._call),
            self._each(message.results, self._result),
            None if message.name is None else self.text(message.name),
            message.media,
            message.compacted,
        )
        same = (
            clean.text is text
            and clean.role is message.role
            and clean.calls is message.calls
            and clean.results is message.results
            and clean.name is message.name
        )
        return message if same else clean

    def _call(self, call: ToolCall) -> ToolCall:
        name, arguments = self.text(call.name), self.value(call.arguments)
        call_id = None if call.call_id is None else self.text(call.call_id)
        if name is call.name and arguments is call.arguments and call_id is call.call_id:
            return call
        return ToolCall(name, arguments, call_id, call.arguments_state)

    def _result(self, result: ToolResult) -> ToolResult:
        value = self.value(result.result)
        call_id = None if result.call_id is None else self.text(result.call_id)
        name = None if result.name is None else self.text(result.name)
        if value is result.result and call_id is result.call_id and name is result.name:
            return result
        return ToolResult(value, call_id, name, result.is_error)

    def _messages(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        return self._each(messages, self._message)

    def _definitions(self, tools: tuple[ToolDefinition, ...]) -> tuple[ToolDefinition, ...]:
        try:
            found = self._tools[msgspec.json.encode(tools).decode()]
        except (TypeError, ValueError, RecursionError):
            return self._each(tools, self._definition)
        return tools if found is None else found

    def _definition(self, tool: ToolDefinition) -> ToolDefinition:
        changed: dict[str, object] = {}
        for name in ("name", "tool_id", "action", "description"):
            found = getattr(tool, name)
            clean = None if found is None else self.text(found)
            if clean is not found:
                changed[name] = clean
        parameters = self.value(tool.parameters)
        if parameters is not tool.parameters:
            changed["parameters"] = parameters
        return msgspec.structs.replace(tool, **changed) if changed else tool

    def _each(self, items: tuple[T, ...], redact: Callable[[T], T]) -> tuple[T, ...]:
        clean = tuple(map(redact, items))
        return items if all(map(is_, clean, items)) else clean
