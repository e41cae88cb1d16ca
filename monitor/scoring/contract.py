"""An action held against its tool's contract, where no reference covers it."""

from __future__ import annotations

from monitor.model import ActionTurn, JsonValue, ToolDefinition
from monitor.references.contracts import ToolContracts
from monitor.scoring.completeness import Keys, is_open, key_findings, properties_of, required_of
from monitor.scoring.judged import Judged, unscored
from monitor.scoring.schema import violations
from monitor.verdict import Finding, UnscoredWhy


def judge_by_contract(turn: ActionTurn, contracts: ToolContracts) -> Judged:
    """Unknown tool or action, keys, then values. Without a schema a call cannot be judged.

    Where there are contracts they are taken as all that the agent holds, so a tool without one is
    unknown, unless it is marked as writing or reading, or has answered: some model calls show only
    a part of the tools, and a tool that answers is there.
    """
    call = turn.call
    definition = contracts.find(call.name)
    there = contracts.marks(call.name) or (turn.has_result and turn.error_type is None)
    if definition is None and not contracts.empty and not there:
        return Judged("contract", (_unknown(call.name, contracts),), {"structural": 0.0})
    lost = content_lost(turn)
    if lost is not None:
        return unscored(lost)
    if definition is None or definition.parameters is None:
        return unscored("no_reference")
    arguments = {} if call.arguments is None else call.arguments
    if not isinstance(arguments, dict):
        return unscored("content_missing")
    return _judged(definition, arguments, definition.parameters)


def content_lost(turn: ActionTurn) -> UnscoredWhy | None:
    """Why the arguments cannot be graded; None when they are whole."""
    state = turn.call.arguments_state
    if state == "truncated" or turn.truncated:
        return "truncated"
    return None if state == "parsed" else "content_missing"


def _judged(
    definition: ToolDefinition, arguments: dict[str, JsonValue], schema: dict[str, JsonValue]
) -> Judged:
    properties = properties_of(schema)
    required = required_of(schema)
    missing = tuple(key for key in required if key not in arguments)
    extra = () if is_open(schema) else tuple(key for key in arguments if key not in properties)
    looked_at = len(required) + len(extra)
    complete = (len(required) - len(missing)) / looked_at if looked_at else 1.0
    findings = key_findings(Keys(missing, extra, complete), arguments, "contract")
    present = broken = 0
    for key, part in properties.items():
        # A null for an optional parameter is how many models leave it out.
        if key not in arguments or (arguments[key] is None and key not in required):
            continue
        present += 1
        if isinstance(part, dict):
            found = [
                Finding("inconsistent_parameter_values", "contract", v.field, actual=v.actual)
                for v in violations(part, arguments[key], key, schema)
            ]
            broken += bool(found)
            findings += found
    truthful = (present - broken) / present if present else 1.0
    return Judged(
        "contract",
        tuple(findings),
        {"structural": 1.0, "completeness": complete, "truthfulness": truthful},
    )


def _unknown(name: str, contracts: ToolContracts) -> Finding:
    tool_id, _ = contracts.split(name)
    known = tool_id is not None and any(
        tool_id in (definition.tool_id, definition.name.rpartition(".")[0])
        for definition in contracts.definitions
    )
    reason = "action_mismatch" if known else "tool_mismatch"
    return Finding(reason, "contract", detail="unknown_tool", actual=name)  # type: ignore[arg-type]
