"""Decodes attribute values, from protobuf or JSON, one at a time and within the limits."""

from __future__ import annotations

import math
from typing import Any

import msgspec
from google.protobuf.message import DecodeError

from adapters.otlp.limits import DecodeLimits
from adapters.otlp.messages import AnyValue, ArrayValue, KeyValueList
from adapters.shapes.content import mend_surrogates
from monitor.errors import MalformedPayload, PayloadTooLarge
from monitor.model import JsonValue


class ValueReader:
    """Turns one encoded AnyValue into a plain value; None when it is unset.

    Raises PayloadTooLarge at a limit and MalformedPayload for broken bytes; both concern one span.
    `salvaged` becomes True once text was not UTF-8 and was mended.
    """

    def __init__(self, limits: DecodeLimits) -> None:
        self._limits = limits
        self._left = 0
        self.salvaged = False

    def text(self, raw: bytes) -> str:
        """UTF-8 text, with what is not UTF-8 replaced."""
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.salvaged = True
            return raw.decode(errors="replace")

    def of_span(self, value: Any) -> JsonValue:
        """The value of a `SpanValue` message."""
        kind = value.WhichOneof("value")
        if kind is None:
            return None
        found = getattr(value, kind)
        if kind not in ("array_value", "kvlist_value"):
            return _scalar(found)
        self._check_size(found)
        self._left = self._limits.value_items
        try:
            if kind == "array_value":
                return self._array(ArrayValue.FromString(found), self._limits.nesting - 1)
            return self._kvlist(KeyValueList.FromString(found), self._limits.nesting - 1)
        except DecodeError as error:
            raise _not_protobuf() from error

    def protobuf(self, raw: bytes) -> JsonValue:
        """The value of an encoded `AnyValue` message."""
        self._check_size(raw)
        self._left = self._limits.value_items
        return self._message(raw, self._limits.nesting)

    def _check_size(self, raw: bytes) -> None:
        if len(raw) > self._limits.value_bytes:
            raise _too_large("value_bytes")

    def _message(self, raw: bytes, depth: int) -> JsonValue:
        if depth <= 0:
            raise _too_large("nesting")
        self._spend()
        try:
            value = AnyValue.FromString(raw)
        except DecodeError as error:
            raise _not_protobuf() from error
        kind = value.WhichOneof("value")
        if kind is None:
            return None
        if kind == "string_value":
            return self.text(value.string_value)
        if kind == "array_value":
            return self._array(value.array_value, depth - 1)
        if kind == "kvlist_value":
            return self._kvlist(value.kvlist_value, depth - 1)
        return _scalar(getattr(value, kind))

    def _array(self, array: Any, depth: int) -> JsonValue:
        return [self._message(item, depth) for item in array.values]

    def _kvlist(self, pairs: Any, depth: int) -> JsonValue:
        return {self.text(item.key): self._message(item.value, depth) for item in pairs.values}

    def json(self, raw: msgspec.Raw) -> JsonValue:
        """The value of an OTLP/JSON `AnyValue` object."""
        if len(memoryview(raw)) > 2 * self._limits.value_bytes:
            raise _too_large("value_bytes")
        self._left = self._limits.value_items
        value = self._json_message(raw)
        text = value.string_value if value else None
        if text is not None and len(text) > self._limits.value_bytes:
            raise _too_large("value_bytes")
        return self._json_value(value, self._limits.nesting)

    def _json_message(self, raw: msgspec.Raw) -> JsonAnyValue | None:
        try:
            found: JsonAnyValue | None = decode_json(raw, _JSON_VALUE)
        except MalformedPayload:
            mended = mend(bytes(raw))
            if mended is None:
                raise
            found = decode_json(mended, _JSON_VALUE)
            self.salvaged = True
        return found

    def _json_value(self, value: JsonAnyValue | None, depth: int) -> JsonValue:
        if depth <= 0:
            raise _too_large("nesting")
        self._spend()
        if value is None:
            return None
        if value.string_value is not None:
            return value.string_value
        if value.array_value is not None:
            return [self._json_value(item, depth - 1) for item in value.array_value.values or ()]
        if value.kvlist_value is not None:
            return {
                item.key: self._json_value(item.value, depth - 1)
                for item in value.kvlist_value.values or ()
            }
        return _json_scalar(value)

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _too_large("value_items")


class JsonAnyValue(msgspec.Struct, gc=False, rename="camel"):
    """`AnyValue` as OTLP/JSON spells it."""

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: int | str | None = None
    double_value: float | str | None = None
    array_value: JsonArray | None = None
    kvlist_value: JsonKvlist | None = None
    bytes_value: str | None = None


class JsonPair(msgspec.Struct, gc=False, rename="camel"):
    """One entry of a structured value."""

    key: str = ""
    value: JsonAnyValue | None = None


class JsonArray(msgspec.Struct, gc=False, rename="camel"):
    """`ArrayValue` as OTLP/JSON spells it."""

    values: list[JsonAnyValue | None] | None = None


class JsonKvlist(msgspec.Struct, gc=False, rename="camel"):
    """`KeyValueList` as OTLP/JSON spells it."""

    values: list[JsonPair] | None = None


_JSON_VALUE = msgspec.json.Decoder(JsonAnyValue | None)


def decode_json(raw: msgspec.Raw | bytes, decoder: msgspec.json.Decoder[Any]) -> Any:
    """Decode with the errors of this house.

    Raises MalformedPayload, and PayloadTooLarge for nesting beyond what can be decoded.
    """
    try:
        return decoder.decode(raw)
    except RecursionError as error:
        raise _too_large("nesting") from error
    except (msgspec.MsgspecError, ValueError) as error:
        # A validation message names a path and types; only a decode error may quote bytes.
        why = str(error) if isinstance(error, msgspec.ValidationError) else "it is not valid JSON"
        raise MalformedPayload(f"the body is no OTLP/JSON export: {why}") from error


def mend(body: bytes) -> bytes | None:
    """The JSON text with what is not UTF-8 replaced; None when there was nothing to mend."""
    mended = mend_surrogates(body.decode(errors="replace")).encode()
    return None if mended == body else mended


def integer(value: float | str | None) -> int:
    """A 64-bit integer as OTLP/JSON writes it: a decimal string or a number; absent is 0."""
    if value is None or value == "":
        return 0
    try:
        number = int(value)
    except (ValueError, OverflowError) as error:
        raise MalformedPayload("a 64-bit integer is neither a number nor decimal text") from error
    if not -(1 << 63) <= number < 1 << 64:
        raise MalformedPayload("an integer needs more than 64 bits")
    return number


def _scalar(value: JsonValue) -> JsonValue:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _json_scalar(value: JsonAnyValue) -> JsonValue:
    if value.bool_value is not None:
        return value.bool_value
    if value.int_value is not None:
        return integer(value.int_value)
    if value.double_value is not None:
        return _double(value.double_value)
    if value.bytes_value is not None:
        return f"<{len(value.bytes_value) * 3 // 4 - value.bytes_value.count('=')} bytes>"
    return None


def _double(value: float | str) -> JsonValue:
    try:
        return _scalar(float(value))
    except ValueError as error:
        raise MalformedPayload("a double is neither a number nor NaN or Infinity") from error


def _not_protobuf() -> MalformedPayload:
    return MalformedPayload("an attribute value is not protobuf")


def _too_large(limit: str) -> PayloadTooLarge:
    return PayloadTooLarge(f"an attribute value is beyond the limit `{limit}`", limit)
