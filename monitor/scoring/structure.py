"""Is it the right action of the right tool? Comes before both sub-metrics."""

from __future__ import annotations

from typing import NamedTuple

from monitor.model import ToolCall
from monitor.references.contracts import ToolContracts
from monitor.verdict import ExpectedAction, Finding


class Names(NamedTuple):
    """A call's tool and action, as far as either is known, and the name it was made under."""

    tool_id: str | None
    action: str | None
    name: str


def names_of(call: ToolCall, contracts: ToolContracts) -> Names:
    """The call's parts: by contract, else split at the last dot, else the action alone."""
    return Names(*contracts.split(call.name), call.name)


def expected_name(expected: ExpectedAction) -> str:
    """The expected call as a trace that spells both parts would name it."""
    if expected.tool_id and expected.action:
        return f"{expected.tool_id}.{expected.action}"
    return expected.action or expected.tool_id or ""


def structural_finding(expected: ExpectedAction, actual: Names) -> Finding | None:
    """The mismatch, if any. A tool that one side does not tell is no mismatch by itself."""
    if _tool_differs(expected, actual):
        reason = "tool_mismatch"
    elif _action_differs(expected, actual):
        reason = "action_mismatch"
    else:
        return None
    return Finding(
        reason,  # type: ignore[arg-type]
        "gold",
        detail="replaced",
        expected=expected_name(expected),
        actual=actual.name,
    )


def _tool_differs(expected: ExpectedAction, actual: Names) -> bool:
    if expected.tool_id is None:
        return False
    if expected.action is None:
        return expected.tool_id not in (actual.tool_id, actual.action, actual.name)
    return actual.tool_id is not None and actual.tool_id != expected.tool_id


def _action_differs(expected: ExpectedAction, actual: Names) -> bool:
    if expected.action is None:
        return False
    return expected.action not in (actual.action, actual.name)
