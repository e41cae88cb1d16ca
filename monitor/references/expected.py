"""One expected turn, as dialogs, golden sets and reference lists write it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from monitor.errors import InvalidInput
from monitor.model import JsonValue
from monitor.references.documents import flag_of, list_at, object_at, text_of, texts_of, unwrapped
from monitor.verdict import ExpectedAction, ExpectedResponse, ExpectedTurn

ORDER_INVARIANT = "OrderInvariant_"
_ACTION_KEYS = ("action", "tool_id", "args")
KINDS = ("exact", "number", "date", "enum", "text")


def is_action(layout: Mapping[str, JsonValue]) -> bool | None:
    """Whether the layout is a tool call; None when it is neither a call nor a reply."""
    if "response" in layout:
        return False
    return True if any(key in layout for key in _ACTION_KEYS) else None


def expected_turn(
    gold: JsonValue, beside: Mapping[str, JsonValue], where: str, depends_on: tuple[int, ...] = ()
) -> ExpectedTurn:
    """The expected turn of a gold layout.

    The optional additions (`required`, `kinds`, `weight`, ...) may stand in the layout or
    `beside` it; the layout wins. `depends_on` is given by the caller, who knows the numbering.
    """
    layout = object_at(gold, where)
    additions = {**beside, **layout}
    action = is_action(layout)
    if action is None:
        raise InvalidInput(f"{where}: neither a `response` nor an `action`")
    if action:
        return _action(layout, additions, where, depends_on)
    return _response(layout, additions, where, depends_on)


def numbers_of(entry: Mapping[str, JsonValue], key: str, where: str) -> tuple[int, ...]:
    """The list of turn numbers under a key; empty when absent or null."""
    value = entry.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(type(item) is int and item > 0 for item in value):
        raise InvalidInput(f"{where}: {key} must be a list of turn numbers from 1")
    return tuple(value)


def _action(
    layout: dict[str, JsonValue],
    additions: dict[str, JsonValue],
    where: str,
    depends_on: tuple[int, ...],
) -> ExpectedAction:
    args = layout.get("args")
    action, tool_id = text_of(layout, "action", where), text_of(layout, "tool_id", where)
    if not action and not tool_id:
        raise InvalidInput(f"{where}: an expected call needs an `action` or a `tool_id`")
    return ExpectedAction(
        action=action,
        tool_id=tool_id,
        args={} if args is None else object_at(args, f"{where}: args"),
        result=unwrapped(layout.get("result")),
        has_result="result" in layout,
        required=texts_of(additions, "required", where),
        optional=texts_of(additions, "optional", where) or (),
        group=_group(additions, where),
        depends_on=depends_on,
        kinds=_kinds(additions, where),
        variants=tuple(
            _variant(value, f"{where}: variants") for value in _variants(additions, where)
        ),
        weight=_weight(additions, where),
        critical=flag_of(additions, "critical", where) or False,
    )


def _response(
    layout: dict[str, JsonValue],
    additions: dict[str, JsonValue],
    where: str,
    depends_on: tuple[int, ...],
) -> ExpectedResponse:
    text = text_of(layout, "response", where)
    if text is None:
        raise InvalidInput(f"{where}: response must be text, is null")
    variants = []
    for value in _variants(additions, where):
        variant = value.get("response") if isinstance(value, dict) else value
        if not isinstance(variant, str):
            raise InvalidInput(f"{where}: variants of a response must be texts")
        variants.append(variant)
    return ExpectedResponse(
        text=text,
        variants=tuple(variants),
        group=_group(additions, where),
        depends_on=depends_on,
        weight=_weight(additions, where),
        critical=flag_of(additions, "critical", where) or False,
    )


def _group(additions: Mapping[str, JsonValue], where: str) -> str | None:
    for tag in texts_of(additions, "tags", where) or ():
        if tag.startswith(ORDER_INVARIANT):
            return tag.removeprefix(ORDER_INVARIANT)
    return text_of(additions, "group", where)


def _kinds(additions: Mapping[str, JsonValue], where: str) -> dict[str, str]:
    kinds = object_at(additions.get("kinds") or {}, f"{where}: kinds")
    for name, kind in kinds.items():
        if kind not in KINDS:
            raise InvalidInput(f"{where}: kinds: {name} must be one of {', '.join(KINDS)}")
    return kinds


def _variants(additions: Mapping[str, JsonValue], where: str) -> Sequence[JsonValue]:
    return list_at(additions.get("variants") or [], f"{where}: variants")


def _variant(value: JsonValue, where: str) -> dict[str, JsonValue]:
    variant = object_at(value, where)
    # An argument may itself be called `args`; alone and an object, it is the call layout.
    if isinstance(variant.get("args"), dict) and set(variant) <= set(_ACTION_KEYS):
        return object_at(variant["args"], where)
    return variant


def _weight(additions: Mapping[str, JsonValue], where: str) -> float:
    weight = additions.get("weight")
    if weight is None:
        return 1.0
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise InvalidInput(f"{where}: weight must be a number")
    if not math.isfinite(weight) or weight < 0:
        raise InvalidInput(f"{where}: weight must be zero or more")
    return float(weight)
