"""Which tool span carried out which call that a model asked for, and which result belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, TypeVar

import msgspec

from monitor.model import JsonValue, ToolCall, ToolResult

_JSON = msgspec.json.Encoder(order="sorted")


class Asked(Protocol):
    """A call that waits for its tool span or result."""

    @property
    def call(self) -> ToolCall:
        """What was asked for."""
        ...


A = TypeVar("A", bound=Asked)
B = TypeVar("B", bound=Asked)


def canonical(arguments: JsonValue) -> bytes:
    """Equal for arguments that differ in key order only."""
    try:
        return _JSON.encode(arguments)
    except (UnicodeEncodeError, TypeError, msgspec.MsgspecError):
        return repr(arguments).encode("utf-8", "surrogatepass")


def matched(asked: Sequence[A], done: Sequence[B]) -> list[tuple[A, B]]:
    """Pairs of a call in a message and its tool span, both in order, each used once.

    By id and name, since sources reuse ids; by id alone; by name and arguments; by name and order.
    """
    if len(asked) == 1 == len(done) and asked[0].call.name == done[0].call.name:
        return [(asked[0], done[0])]
    pairs: list[tuple[A, B]] = []
    left, right = list(asked), list(done)
    for key in (_by_id_and_name, _by_id, _by_arguments, _by_name):
        if not left or not right:
            break
        _pair_off(left, right, key, pairs)
    return pairs


def answered(
    asked: Sequence[A], results: Iterable[ToolResult], among: Sequence[A] = ()
) -> list[tuple[A, ToolResult]]:
    """Pairs of a call and its result in a later message.

    By id, the first result of an id going to the first call with it. A result of which no call has
    the id goes by name, else by order, to one of the calls without an id; a result without an id
    to any. `among` are all calls whose ids count, where `asked` are only the ones looked at.
    """
    pairs: list[tuple[A, ToolResult]] = []
    open_calls, left = list(asked), []
    named = {call.call.call_id for call in among or asked} - {None}
    for result in results:
        if result.call_id not in named:
            left.append(result)
            continue
        found = next((c for c in open_calls if c.call.call_id == result.call_id), None)
        if found is not None:
            open_calls.remove(found)
            pairs.append((found, result))
    for result in left:
        found = next((call for call in open_calls if _may_be_of(result, call.call)), None)
        if found is not None:
            open_calls.remove(found)
            pairs.append((found, result))
    return pairs


def _may_be_of(result: ToolResult, call: ToolCall) -> bool:
    """Whether nothing speaks against it, for a result whose id is no call's."""
    if result.call_id is not None and call.call_id is not None:
        return False
    return result.name is None or result.name == call.name


def _pair_off(
    left: list[A],
    right: list[B],
    key: Callable[[ToolCall], Hashable],
    pairs: list[tuple[A, B]],
) -> None:
    waiting: dict[Hashable, list[A]] = {}
    for item in left:
        if (name := key(item.call)) is not None:
            waiting.setdefault(name, []).append(item)
    for done in tuple(right):
        name = key(done.call)
        if name is None or not waiting.get(name):
            continue
        item = waiting[name].pop(0)
        left.remove(item)
        right.remove(done)
        pairs.append((item, done))


def _by_id_and_name(call: ToolCall) -> Hashable:
    return (call.call_id, call.name) if tells_apart(call) else None


def _by_id(call: ToolCall) -> Hashable:
    return call.call_id if tells_apart(call) else None


def tells_apart(call: ToolCall) -> bool:
    """Whether the call has an id; some sources write the tool's name in its place."""
    return bool(call.call_id) and call.call_id != call.name


def _by_arguments(call: ToolCall) -> Hashable:
    if call.arguments_state != "parsed":
        return None
    return call.name, canonical(call.arguments)


def _by_name(call: ToolCall) -> Hashable:
    return call.name
