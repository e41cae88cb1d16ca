"""The model as bytes and back, for state, topics and report lines; versioned.

Encoded state starts with a header of seven bytes: the mark `am`, one letter for the kind, the
version, and the low three bytes of the body's CRC-32. Readers are kept by (kind, version), so a
release that writes version n+1 can go on reading version n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec

from monitor.errors import StateError
from monitor.model import AgentSpan, Conversation, Message, ToolDefinition
from monitor.verdict import Report

T = TypeVar("T")

MARK: Final = b"am"
HEADER_BYTES: Final = 7
SPANS: Final = b"s"
CONVERSATION: Final = b"c"
REPORT: Final = b"r"
VERSION: Final = 1
_BIG_INTEGER: Final = 1

_PUBLISHED: Final = tuple(name for name in Report.__struct_fields__ if name != "started_s")


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """Spans with every message, tool list and system prompt written once.

    Model calls repeat their history; without the tables a conversation's bytes would grow with
    the square of its length. In a span's place a table's index stands.
    """

    spans: tuple[tuple[AgentSpan, tuple[int, ...] | None, tuple[int, ...] | None, int, int], ...]
    messages: tuple[Message, ...]
    tools: tuple[tuple[ToolDefinition, ...], ...]
    systems: tuple[str, ...]


def encode_spans(spans: Sequence[AgentSpan]) -> bytes:
    """Spans as one record of a spool, topic or state store, in their order."""
    return seal(SPANS, _pack(spans))


def decode_spans(data: bytes) -> list[AgentSpan]:
    """The spans of `encode_spans`. Raises StateError."""
    return _unpack(unseal(SPANS, data, _SPAN_READERS))


def encode_conversation(conversation: Conversation) -> bytes:
    """A conversation with its turns, as a judge case carries it."""
    return seal(CONVERSATION, conversation)


def decode_conversation(data: bytes) -> Conversation:
    """The conversation of `encode_conversation`. Raises StateError."""
    return unseal(CONVERSATION, data, _CONVERSATION_READERS)


def encode_report(report: Report) -> bytes:
    """A report for a topic or the ledger."""
    return seal(REPORT, report)


def decode_report(data: bytes) -> Report:
    """The report of `encode_report`. Raises StateError."""
    return unseal(REPORT, data, _REPORT_READERS)


def report_line(report: Report) -> bytes:
    """The published JSON line of a report: keys as the struct's, equal reports give equal bytes.

    Without the newline. NaN and infinity become null. The time of day at which a conversation
    began is the ledger's business: the same conversation played again gives the same line.
    """
    fields = {name: getattr(report, name) for name in _PUBLISHED}
    try:
        return _LINE.encode(fields)
    except UnicodeEncodeError:
        return _LINE.encode(_cleaned(fields, _replace_surrogates))


def report_schema() -> dict[str, Any]:
    """JSON Schema of `report_line`'s output."""
    schema = msgspec.json.schema(Report)
    del schema["$defs"]["Report"]["properties"]["started_s"]
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def seal(kind: bytes, value: object, version: int = VERSION) -> bytes:
    """The value as msgpack behind a header. For state kinds of other modules as well."""
    body = _to_bytes(value)
    return MARK + kind + bytes((version,)) + _checksum(body) + body


def unseal(kind: bytes, data: bytes, readers: dict[int, Callable[[bytes], T]]) -> T:
    """The value behind the header, read by its version's reader. Raises StateError."""
    name = kind.decode()
    if data[:2] != MARK or len(data) < HEADER_BYTES or data[2:3] != kind:
        raise StateError(
            f"stored state of kind {name!r} has a foreign or cut header; restore it or remove it"
        )
    reader = readers.get(data[3])
    if reader is None:
        known = ", ".join(str(version) for version in sorted(readers))
        raise StateError(
            f"stored state of kind {name!r} has version {data[3]}, this release reads {known}; "
            "run the release that wrote it, or remove the state"
        )
    body = data[HEADER_BYTES:]
    if _checksum(body) != data[4:HEADER_BYTES]:
        raise StateError(f"stored state of kind {name!r} is damaged: its checksum differs")
    try:
        return reader(body)
    except (msgspec.MsgspecError, IndexError, RecursionError, ValueError) as error:
        raise StateError(f"stored state of kind {name!r} is damaged: {error}") from error


def reader_of(shape: type[T]) -> Callable[[bytes], T]:
    """A reader of msgpack bodies of one shape, for `unseal`."""
    return msgspec.msgpack.Decoder(shape, ext_hook=_extension).decode


def _checksum(body: bytes) -> bytes:
    return crc32(body).to_bytes(4, "big")[1:]


class _Table:
    """Values seen so far and their numbers."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, list[int]] = {}

    def number(self, key: object, value: object) -> int:
        """The value's number; `key` is hashable and equal for equal values."""
        numbers = self._numbers.setdefault(key, [])
        for number in numbers:
            if self.values[number] == value:
                return number
        numbers.append(len(self.values))
        self.values.append(value)
        return numbers[-1]


def _pack(spans: Iterable[AgentSpan]) -> Packed:
    messages, tools, systems = _Table(), _Table(), _Table()

    def numbers(given: tuple[Message, ...] | None) -> tuple[int, ...] | None:
        if given is None:
            return None
        return tuple(
            [messages.number((m.role, m.text, len(m.calls), len(m.results)), m) for m in given]
        )

    rows = []
    for span in spans:
        slim = span
        into, out, tool, system = numbers(span.messages_in), numbers(span.messages_out), -1, -1
        if span.tool_definitions is not None:
            key = tuple(definition.name for definition in span.tool_definitions)
            tool = tools.number(key, span.tool_definitions)
        if span.system is not None:
            system = systems.number(span.system, span.system)
        if into is not None or out is not None or tool >= 0 or system >= 0:
            slim = _without_tables(span)
        rows.append((slim, into, out, tool, system))
    return Packed(tuple(rows), tuple(messages.values), tuple(tools.values), tuple(systems.values))


def _without_tables(span: AgentSpan) -> AgentSpan:
    return msgspec.structs.replace(
        span, messages_in=None, messages_out=None, tool_definitions=None, system=None
    )


def _unpack(packed: Packed) -> list[AgentSpan]:
    messages, spans = packed.messages, []
    for slim, into, out, tool, system in packed.spans:
        if into is None and out is None and tool < 0 and system < 0:
            spans.append(slim)
            continue
        spans.append(
            msgspec.structs.replace(
                slim,
                messages_in=None if into is None else tuple([messages[n] for n in into]),
                messages_out=None if out is None else tuple([messages[n] for n in out]),
                tool_definitions=None if tool < 0 else packed.tools[tool],
                system=None if system < 0 else packed.systems[system],
            )
        )
    return spans


def _to_bytes(value: object) -> bytes:
    try:
        return _PACK.encode(value)
    except (OverflowError, UnicodeEncodeError):
        return _PACK.encode(_cleaned(value, _as_extension))


def _cleaned(value: Any, mend: Callable[[Any], Any]) -> Any:
    """The value as builtins, with the leaves that the format cannot hold mended."""
    if isinstance(value, msgspec.Struct):
        return _cleaned_struct(value, mend)
    if isinstance(value, dict):
        return {mend(key): _cleaned(item, mend) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cleaned(item, mend) for item in value]
    return mend(value)


def _cleaned_struct(value: msgspec.Struct, mend: Callable[[Any], Any]) -> Any:
    config = value.__struct_config__
    names = value.__struct_fields__
    items = [_cleaned(getattr(value, name), mend) for name in names]
    if config.array_like:
        return [config.tag, *items] if config.tag is not None else items
    fields = dict(zip(names, items, strict=True))
    return {config.tag_field: config.tag, **fields} if config.tag is not None else fields


def _as_extension(leaf: Any) -> Any:
    if isinstance(leaf, int) and not -(2**63) <= leaf < 2**64:
        return msgspec.msgpack.Ext(_BIG_INTEGER, b"%x" % leaf)
    return _replace_surrogates(leaf)


def _replace_surrogates(leaf: Any) -> Any:
    if isinstance(leaf, str):
        return leaf.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return leaf


def _extension(code: int, data: memoryview) -> Any:
    if code == _BIG_INTEGER:
        return int(bytes(data), 16)
    raise StateError(f"stored state holds an unknown extension {code}")


_PACK: Final = msgspec.msgpack.Encoder()
_LINE: Final = msgspec.json.Encoder(order="deterministic")
_SPAN_READERS: Final = {VERSION: reader_of(Packed)}
_CONVERSATION_READERS: Final = {VERSION: reader_of(Conversation)}
_REPORT_READERS: Final = {VERSION: reader_of(Report)}
