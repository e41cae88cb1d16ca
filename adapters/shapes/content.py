"""Decodes what instrumentations put into one attribute: JSON, JSON in JSON, a Python repr, text."""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

import msgspec

from monitor.errors import PayloadTooLarge
from monitor.model import ArgumentsState, JsonValue

_Shape = TypeVar("_Shape")

NESTING: Final = 64
"""Depth of decoded content, unless a decoder was told another one."""
REPR_CHARACTERS: Final = 16_384
"""A longer Python literal stays text."""
_CONTAINERS: Final = 50_000
_ROUNDS: Final = 3
# Content is decoded far below the decoder that knows the limit, behind ports with no word for it.
_nesting: Final = ContextVar("nesting", default=NESTING)
_ABSENT: Final = frozenset({"", "null", "None"})
_WORDS: Final[dict[str, JsonValue]] = {"true": True, "false": False, "null": None}
_plain = msgspec.json.Decoder()
# Whole escapes are matched so that an escaped backslash before "ud800" is left alone.
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


@contextmanager
def nesting_limit(levels: int) -> Iterator[None]:
    """Within, content that is nested deeper is refused with its span."""
    before = _nesting.set(levels)
    try:
        yield
    finally:
        _nesting.reset(before)


def nesting() -> int:
    """The levels that content may have here."""
    return _nesting.get()


class Undecodable(ValueError):
    """The text is not JSON. `cut` says that it is the beginning of JSON."""

    def __init__(self, cut: bool) -> None:
        """`cut` is True for a value that an exporter's length limit broke off."""
        super().__init__("not JSON")
        self.cut = cut


def decode_shape(text: str, decoder: msgspec.json.Decoder[_Shape]) -> _Shape | None:
    """JSON text straight into a typed shape; None when it is not JSON or not of that shape.

    Raises PayloadTooLarge for a bomb.
    """
    if len(text) > _CONTAINERS:
        _check_containers(text)
    try:
        return decoder.decode(text)
    except RecursionError as error:
        raise _too_deep() from error
    except (msgspec.MsgspecError, ValueError):
        return None


def decode(text: str, containers: int = _CONTAINERS) -> JsonValue:
    """JSON text to a value. Raises Undecodable, and PayloadTooLarge for a bomb.

    More lists and objects than `containers` are a bomb. Lone surrogates are replaced. NaN and
    Infinity, which Python writes, and numbers beyond a double become their text.
    """
    if len(text) > _CONTAINERS:
        _check_containers(text, containers)
    try:
        return _plain.decode(text)
    except RecursionError as error:
        raise _too_deep() from error
    except (msgspec.MsgspecError, ValueError) as error:
        return _decode_again(text, error)


def _decode_again(text: str, first: Exception) -> JsonValue:
    mended = mend_surrogates(text)
    try:
        # Only the standard library reads NaN, Infinity and raw control characters.
        return json.loads(mended, strict=False, parse_constant=str, parse_float=_finite)
    except RecursionError as error:
        raise _too_deep() from error
    except ValueError as error:
        raise Undecodable(cut=_is_cut(mended, first, error)) from error


def _finite(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def mend_surrogates(text: str) -> str:
    """JSON text whose half surrogate pairs, escaped or not, became replacement characters."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode()
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPE.sub(lambda match: "\\ufffd" if match[1] else match[0], text)


def _is_cut(text: str, first: Exception, second: ValueError) -> bool:
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return False
    at = second.pos if isinstance(second, json.JSONDecodeError) else 0
    unterminated = isinstance(second, json.JSONDecodeError) and second.msg.startswith(
        "Unterminated"
    )
    return unterminated or "truncated" in str(first) or at >= len(text.rstrip())


def arguments(value: JsonValue) -> tuple[JsonValue, ArgumentsState]:
    """A tool's arguments as far as they can be decoded, and how far that went."""
    if value is None:
        return None, "absent"
    if not isinstance(value, str):
        check_depth(value)
        return value, "parsed"
    text = value.strip()
    if text in _ABSENT:
        return None, "absent"
    return _arguments_text(value, text)


def _arguments_text(value: str, text: str) -> tuple[JsonValue, ArgumentsState]:
    current: JsonValue = text
    for _ in range(_ROUNDS):
        if not isinstance(current, str) or current[:1] not in ("{", "[", '"'):
            break
        try:
            current = decode(current)
        except Undecodable as error:
            found = _literal(current)
            if found is not None:
                return found, "parsed"
            return value, "truncated" if error.cut else "raw"
        if isinstance(current, str):
            current = current.strip()
    if isinstance(current, str):
        return (None, "absent") if current in _ABSENT else (value, "raw")
    # Escaping only adds characters, so the outermost text bounds the inner ones.
    if _may_nest(text):
        check_depth(current)
    return current, "parsed"


def result(value: JsonValue) -> JsonValue:
    """A tool's result. Text that is not JSON stays as it is.

    A bare number stays text, so that 18.50, 0012 and 1E5 keep their spelling.
    """
    if not isinstance(value, str):
        check_depth(value)
        return value
    text = value.strip()
    if len(text) < 6 and text in _WORDS:
        return _WORDS[text]
    if text[:1] not in ("{", "[", '"'):
        return value
    try:
        decoded = decode(text)
    except Undecodable:
        found = _literal(text)
        return value if found is None else found
    if isinstance(decoded, str) and decoded[:1] in ("{", "["):
        text, decoded = decoded, _inner(decoded)
    if _may_nest(text):
        check_depth(decoded)
    return decoded


def _inner(text: str) -> JsonValue:
    try:
        return decode(text)
    except Undecodable:
        return text


def _literal(text: str) -> JsonValue:
    """A Python literal of JSON's kinds, such as a dict's repr; None when it is none.

    Nothing is evaluated. Length and depth are bounded first, since the parser's stack is C's.
    """
    if len(text) > REPR_CHARACTERS or text[:1] not in ("{", "[") or _depth_bound(text) > NESTING:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    try:
        return _as_json(value)
    except (ValueError, RecursionError):
        return None


def _depth_bound(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth -= 1
    return deepest


def _as_json(value: Any) -> JsonValue:
    """Raises ValueError for what JSON cannot hold."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {_as_key(key): _as_json(item) for key, item in value.items()}
    raise ValueError("JSON has no such value")


def _as_key(key: Any) -> str:
    if not isinstance(key, str | int | float):
        raise ValueError("JSON has no such key")  # noqa: TRY004 - one error for every misfit
    return str(_as_json(key))


def check_depth(value: JsonValue) -> None:
    """Raises PayloadTooLarge when lists and objects lie deeper in each other than the limit."""
    level: Iterable[JsonValue] = (value,)
    for _ in range(_nesting.get() + 1):
        deeper: list[JsonValue] = []
        for item in level:
            if type(item) is dict:
                deeper.extend(item.values())
            elif type(item) is list:
                deeper.extend(item)
        if not deeper:
            return
        level = deeper
    raise _too_deep()


def _may_nest(text: str) -> bool:
    """Whether JSON text holds enough brackets to nest beyond the limit at all."""
    nesting = _nesting.get()
    return len(text) > 2 * nesting and text.count("{") + text.count("[") > nesting


def is_flat(value: dict[str, JsonValue]) -> bool:
    """Whether no value is a list or an object, so that there is no depth to check."""
    for item in value.values():  # noqa: SIM110 - this stands on the hot path
        if type(item) is dict or type(item) is list:
            return False
    return True


def _check_containers(text: str, limit: int = _CONTAINERS) -> None:
    # Each empty list costs 3 bytes of text and about 70 of memory.
    if text.count("{") + text.count("[") > limit:
        raise PayloadTooLarge(
            f"its JSON holds more lists and objects than the limit `value_items` of {limit}",
            "value_items",
        )


def _too_deep() -> PayloadTooLarge:
    return PayloadTooLarge("an attribute's content is beyond the limit `nesting`", "nesting")
