"""Arguments that a tool's span wraps, as in `{"input": {…}}`, where it is sure that it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from monitor.model import ActionTurn, JsonValue, ToolCall, ToolDefinition, Turn

_ONE: Final = ("input", "inputs", "input_str", "arguments", "tool_input")
_FUNCTION: Final = frozenset({"args", "kwargs", "sanitize_inputs_outputs"})


def as_asked(told: ToolCall, asked: ToolCall) -> ToolCall:
    """The call of a tool's span, without a wrapper that the model's own call does not have."""
    mine, its = told.arguments, asked.arguments
    if told.arguments_state != "parsed" or asked.arguments_state != "parsed" or mine == its:
        return told
    if not isinstance(mine, dict) or not isinstance(its, dict) or not _is_wrapper(mine):
        return told
    same = _inner(mine) == its or _positional(mine, its)
    return msgspec.structs.replace(told, arguments=its) if same else told


def as_declared(turns: Sequence[Turn], tools: Sequence[ToolDefinition]) -> tuple[Turn, ...]:
    """The turns, their calls without wrappers that the tool's own schema rules out.

    So it does where it declares no parameter of the wrapper's name, and all that are inside. A
    tool that takes nothing at all, such as a handoff, was given nothing where nothing is told.
    """
    declared = {tool.name: tool.parameters for tool in tools}
    return tuple([_declared(turn, declared) for turn in turns])


def _declared(turn: Turn, schemas: Mapping[str, JsonValue]) -> Turn:
    if not isinstance(turn, ActionTurn):
        return turn
    schema = schemas.get(turn.call.name)
    found = _arguments_by(schema, turn.call) if isinstance(schema, dict) else None
    if found is None:
        return turn
    call = msgspec.structs.replace(turn.call, arguments=found, arguments_state="parsed")
    return msgspec.structs.replace(turn, call=call)


def _arguments_by(schema: Mapping[str, JsonValue], call: ToolCall) -> JsonValue:
    """What the arguments must be; None where the schema does not tell."""
    properties, given = schema.get("properties"), call.arguments
    if not isinstance(properties, dict):
        return None
    if call.arguments_state == "absent":
        return {} if not properties and schema.get("additionalProperties") is False else None
    if not properties or not isinstance(given, dict) or not _is_wrapper(given):
        return None
    inner = _inner(given)
    if not isinstance(inner, dict) or given.keys() & properties.keys():
        return None
    return inner if inner.keys() <= properties.keys() else None


def _is_wrapper(given: Mapping[str, JsonValue]) -> bool:
    if len(given) == 1 and next(iter(given)) in _ONE:
        return True
    return "kwargs" in given and given.keys() <= _FUNCTION


def _inner(given: Mapping[str, JsonValue]) -> JsonValue:
    """What is wrapped; None where it is no object, or where arguments without names are."""
    if "kwargs" in given:
        return given["kwargs"] if not given.get("args") else None
    found = next(iter(given.values()))
    if isinstance(found, str) and found[:1] == "{":
        try:
            found = msgspec.json.decode(found)
        except (msgspec.DecodeError, RecursionError):
            return None
    return found if isinstance(found, dict) else None


def _positional(given: Mapping[str, JsonValue], asked: Mapping[str, JsonValue]) -> bool:
    """Whether arguments without names are the asked ones, in their order, before the named."""
    args, named = given.get("args"), given.get("kwargs")
    if not isinstance(args, list) or not args or not isinstance(named, dict):
        return False
    left = [value for key, value in asked.items() if key not in named]
    return left == args and named.items() <= asked.items()
