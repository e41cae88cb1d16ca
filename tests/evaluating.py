"""Builders for conversations and references, and the fakes that the evaluator is tested with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from monitor.evaluator import Evaluator
from monitor.model import (
    ActionTurn,
    Conversation,
    JsonValue,
    ResponseTurn,
    ToolCall,
    ToolDefinition,
    Turn,
)
from monitor.ports import Hint
from monitor.references.contracts import ToolContracts
from monitor.scoring.composition import CompositionRule
from monitor.scoring.thresholds import Thresholds
from monitor.verdict import (
    ExpectedAction,
    ExpectedResponse,
    ExpectedTurn,
    Reference,
    Report,
    Similarity,
    Verdict,
)


class TableComparator:
    """Knows the similarities it is told; else 1 for equal text without case, 0 for the rest."""

    version = "table"

    def __init__(self, table: Mapping[tuple[str, str], float | None] | None = None) -> None:
        self.table = dict(table or {})

    def compare(self, expected: JsonValue, actual: JsonValue, hint: Hint) -> Similarity:
        for pair in ((str(expected), str(actual)), (str(actual), str(expected))):
            if pair in self.table:
                return Similarity(self.table[pair], "table")
        if isinstance(expected, int | float) and isinstance(actual, int | float):
            return Similarity(float(expected == actual), "number")
        return Similarity(float(str(expected).casefold() == str(actual).casefold()), "text")


class Given:
    """A reference source that always gives the same answer."""

    def __init__(self, reference: Reference | None) -> None:
        self.answer = reference

    def reference(self, conversation: Conversation) -> Reference | None:
        return self.answer


def call(
    name: str,
    args: dict[str, Any] | None = None,
    result: Any = ...,
    *,
    exchange: int = 0,
    error: bool = False,
    depth: int = 0,
    state: Any = "parsed",
    turn_id: str | None = None,
) -> ActionTurn:
    return ActionTurn(
        turn_id=turn_id or f"{name}({args})@{exchange}",
        call=ToolCall(name, {} if args is None else args, arguments_state=state),
        exchange=exchange,
        result=None if result is ... else result,
        has_result=result is not ...,
        error_type="error" if error else None,
        depth=depth,
    )


def reply(text: str | None, *, exchange: int = 0) -> ResponseTurn:
    return ResponseTurn(turn_id=f"reply {exchange}: {text}", text=text, exchange=exchange)


def talk(*turns: Turn, queries: Iterable[str | None] = (), **more: Any) -> Conversation:
    return Conversation("c1", turns=turns, queries=tuple(queries), **more)


def want(
    name: str, args: dict[str, Any] | None = None, result: Any = ..., **more: Any
) -> ExpectedAction:
    tool_id, _, action = name.rpartition(".")
    return ExpectedAction(
        action=action,
        tool_id=tool_id or None,
        args={} if args is None else args,
        result=None if result is ... else result,
        has_result=result is not ...,
        **more,
    )


def say(text: str, **more: Any) -> ExpectedResponse:
    return ExpectedResponse(text, **more)


def paired(*turns: ExpectedTurn, pairs: Iterable[int | None] | None = None) -> Reference:
    places = tuple(range(len(turns))) if pairs is None else tuple(pairs)
    return Reference("gold", match="pairs", turns=turns, pairs=places)


def listed(*turns: ExpectedTurn, **more: Any) -> Reference:
    return Reference("gold", match="conversation_id", turns=turns, **more)


def tool(
    name: str,
    properties: dict[str, Any] | None = None,
    required: Iterable[str] = (),
    writes: bool | None = None,
    **schema: Any,
) -> ToolDefinition:
    tool_id, _, action = name.rpartition(".")
    parameters = {
        "type": "object",
        "properties": properties or {},
        "required": list(required),
        **schema,
    }
    return ToolDefinition(name, tool_id or None, action, parameters, writes=writes)


def evaluated(
    conversation: Conversation,
    reference: Reference | None = None,
    *,
    tools: Iterable[ToolDefinition] = (),
    similar: Mapping[tuple[str, str], float | None] | None = None,
    closed: bool = True,
    composition: CompositionRule | None = None,
    thresholds: Thresholds | None = None,
) -> Report:
    evaluator = Evaluator(
        [Given(reference)],
        ToolContracts(tools),
        TableComparator(similar),
        composition,
        thresholds,
    )
    return evaluator.evaluate(conversation, closed=closed, revision=1)


def only(report: Report) -> Verdict:
    """The report's one verdict."""
    (verdict,) = report.turns
    return verdict


def outcomes(report: Report) -> list[str]:
    """Each turn's outcome: its reason where it failed, else its verdict."""
    return [verdict.failure_reason or verdict.verdict for verdict in report.turns]
