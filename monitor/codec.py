"""The model as bytes and back, for state, topics and report lines; versioned.

Encoded state starts with a header of seven bytes: the mark `am`, one letter for the kind, the
version, and the low three bytes of a CRC-32 over all else. Readers are kept by (kind, version),
so a release that writes version n+1 can go on reading version n.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, Final, TypeVar
from zlib import crc32

import msgspec

from monitor.errors import DamagedState, StateError
from monitor.model import AgentSpan, Conversation, Message
from monitor.verdict import Report

T = TypeVar("T")

MARK: Final = b"am"
HEADER_BYTES: Final = 7
SPANS: Final = b"s"
CONVERSATION: Final = b"c"
REPORT: Final = b"r"
VERSION: Final = 1
SHORT_HISTORY: Final = 2
"""Histories of no more messages are written where they stand."""
_BIG_INTEGER: Final = 1

_PUBLISHED: Final = tuple(name for name in Report.__struct_fields__ if name != "started_s")


class _Repeats(msgspec.Struct, frozen=True, array_like=True):
    """What of one span stands elsewhere in the record."""

    messages_in: tuple[int, ...] | None = None
    """Numbers of messages; None: they stand in the span."""
    tools_of: int = -1
    """Number of the span that has the same tool definitions; -1: they stand in the span."""
    system_of: int = -1


class _Spans(msgspec.Struct, frozen=True, array_like=True):
    """Spans, with what model calls repeat written once.

    A call may repeat its whole history; without the table a conversation's bytes would grow with
    the square of its length.
    """

    spans: list[AgentSpan]
    messages: tuple[Message, ...] = ()
    repeats: dict[int, _Repeats] = {}


def encode_spans(spans: Sequence[AgentSpan]) -> bytes:
    """Spans as one record of a spool, topic or state store, in their order."""
    return seal(SPANS, _without_repeats(spans))


def encode_span(span: AgentSpan) -> bytes:
    """One span as a row of `encode_rows`. Equal spans give equal bytes."""
    return _to_bytes(span)


def encode_rows(rows: Sequence[bytes]) -> bytes:
    """Spans that were encoded one by one, as the same kind of record; repeats are kept."""
    return seal(SPANS, _of_rows(rows))


def nested_spans(spans: Sequence[AgentSpan]) -> msgspec.Raw:
    """Spans as a part of another record, whose seal covers them."""
    return msgspec.Raw(_to_bytes(_without_repeats(spans)))


def nested_rows(rows: Sequence[bytes]) -> msgspec.Raw:
    """Spans that were encoded one by one, as a part of another record."""
    return msgspec.Raw(_PACK.encode(_of_rows(rows)))


def spans_of(nested: msgspec.Raw) -> list[AgentSpan]:
    """The spans of `nested_spans` or `nested_rows`. Raises DamagedState."""
    try:
        return _read_spans(bytes(nested))
    except (msgspec.MsgspecError, IndexError) as error:
        raise DamagedState(f"stored spans are damaged: {error}") from error


def decode_spans(data: bytes) -> list[AgentSpan]:
    """The spans of `encode_spans`. Raises StateError."""
    return unseal(SPANS, data, _SPAN_READERS)


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
    head, body = MARK + kind + bytes((version,)), _to_bytes(value)
    return head + _checksum(head, body) + body


def unseal(kind: bytes, data: bytes, readers: Mapping[int, Callable[[bytes], T]]) -> T:
    """The value behind the header, read by its version's reader.

    Raises DamagedState, and StateError for a version that nothing here reads.
    """
    name, head, body = kind.decode(), data[:4], data[HEADER_BYTES:]
    if head[:3] != MARK + kind or _checksum(head, body) != data[4:HEADER_BYTES]:
        raise DamagedState(f"stored state of kind {name!r} is cut, foreign or damaged")
    reader = readers.get(head[3])
    if reader is None:
        known = ", ".join(str(version) for version in sorted(readers))
        raise StateError(
            f"stored state of kind {name!r} has version {head[3]}, this release reads {known}; "
            "run the release that wrote it, or remove the state"
        )
    try:
        return reader(body)
    except (msgspec.MsgspecError, IndexError, RecursionError, ValueError) as error:
        raise DamagedState(f"stored state of kind {name!r} is damaged: {error}") from error


def reader_of(shape: type[T]) -> Callable[[bytes], T]:
    """A reader of msgpack bodies of one shape, for `unseal`."""
    return msgspec.msgpack.Decoder(shape, ext_hook=_extension).decode


def _checksum(head: bytes, body: bytes) -> bytes:
    return crc32(body, crc32(head)).to_bytes(4, "big")[1:]


def _without_repeats(spans: Sequence[AgentSpan]) -> _Spans:
    kept: list[AgentSpan] = []
    table: dict[Hashable, int] = {}
    messages: list[Message] = []
    repeats: dict[int, _Repeats] = {}
    tools_at = system_at = -1
    for number, span in enumerate(spans):
        changes: dict[str, Any] = {}
        history, tools_of, system_of = None, -1, -1
        if span.messages_in is not None and len(span.messages_in) > SHORT_HISTORY:
            history = tuple([_number(m, messages, table) for m in span.messages_in])
            changes["messages_in"] = None
        if span.tool_definitions:
            if tools_at >= 0 and spans[tools_at].tool_definitions == span.tool_definitions:
                tools_of, changes["tool_definitions"] = tools_at, None
            else:
                tools_at = number
        if span.system:
            if system_at >= 0 and spans[system_at].system == span.system:
                system_of, changes["system"] = system_at, None
            else:
                system_at = number
        if changes:
            span = msgspec.structs.replace(span, **changes)
            repeats[number] = _Repeats(history, tools_of, system_of)
        kept.append(span)
    return _Spans(kept, tuple(messages), repeats)


def _of_rows(rows: Sequence[bytes]) -> tuple[list[msgspec.Raw]]:
    return ([msgspec.Raw(row) for row in rows],)


def message_key(message: Message) -> Hashable:
    """Equal for messages that encode to the same bytes, and for no others."""
    if message.calls or message.results:
        return _to_bytes(message)
    return message.role, message.text, message.name, message.media, message.compacted


def _number(message: Message, messages: list[Message], table: dict[Hashable, int]) -> int:
    """The message's number in the table, where it is put if it is new."""
    number = table.setdefault(message_key(message), len(messages))
    if number == len(messages):
        messages.append(message)
    return number


def _read_spans(body: bytes) -> list[AgentSpan]:
    record = _SPANS.decode(body)
    spans = record.spans
    for number, repeat in record.repeats.items():
        changes: dict[str, Any] = {}
        if repeat.messages_in is not None:
            changes["messages_in"] = tuple([record.messages[n] for n in repeat.messages_in])
        if repeat.tools_of >= 0:
            changes["tool_definitions"] = spans[repeat.tools_of].tool_definitions
        if repeat.system_of >= 0:
            changes["system"] = spans[repeat.system_of].system
        spans[number] = msgspec.structs.replace(spans[number], **changes)
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
    raise DamagedState(f"stored state holds an unknown extension {code}")


_PACK: Final = msgspec.msgpack.Encoder()
_LINE: Final = msgspec.json.Encoder(order="deterministic")
_SPANS: Final = msgspec.msgpack.Decoder(_Spans, ext_hook=_extension)
_SPAN_READERS: Final = {VERSION: _read_spans}
_CONVERSATION_READERS: Final = {VERSION: reader_of(Conversation)}
_REPORT_READERS: Final = {VERSION: reader_of(Report)}
