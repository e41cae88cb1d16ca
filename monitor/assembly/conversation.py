"""The parts of many traces, put together as one conversation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from monitor.assembly.calls import answered, canonical, matched, tells_apart
from monitor.assembly.turns import Part, TraceTurns, total_usage
from monitor.model import (
    ActionTurn,
    Conversation,
    JsonValue,
    ResponseTurn,
    ToolCall,
    ToolDefinition,
    Turn,
    release_name,
    turn_id,
)


def conversation_of(
    conversation_id: str, traces: Mapping[str, TraceTurns], *, synthetic: bool = False
) -> Conversation:
    """The conversation that the traces tell, the same whatever order they came in."""
    parts = [
        (trace_id, position, part)
        for trace_id, turns in traces.items()
        for position, part in enumerate(turns.parts)
    ]
    parts.sort(key=_by_time)
    if _history_tells_order([part for _, _, part in parts]):
        parts.sort(key=lambda item: item[2].asked)
    exchanges: list[_Exchange] = []
    for _, _, part in parts:
        if part.opens or not exchanges:
            exchanges.append(_Exchange(conversation_id, len(exchanges), part.query))
        exchanges[-1].add(part)
    turns = tuple([turn for exchange in exchanges for turn in exchange.finished()])
    ordered = [traces[trace_id] for trace_id in dict.fromkeys(item[0] for item in parts)]
    ordered = ordered or [traces[trace_id] for trace_id in sorted(traces)]
    model = _answering_model(turns) or _first(trace.model for trace in ordered)
    return Conversation(
        conversation_id=conversation_id,
        turns=turns,
        queries=tuple([exchange.query for exchange in exchanges]),
        release=release_name(_first(trace.release for trace in ordered), model),
        model=model,
        system=_first(trace.system for trace in ordered),
        tools=_tools(ordered),
        expected=_expected(ordered),
        synthetic_id=synthetic,
        usage=total_usage([trace.usage for trace in ordered]),
        unheard=max(0, parts[0][2].asked - 1) if parts else 0,
        broken_off=tuple([at for at, exchange in enumerate(exchanges) if exchange.broke_off]),
        outcome=_first(trace.outcome for trace in reversed(ordered)),
        service=_first(trace.service for trace in ordered),
    )


class _Exchange:
    """One user message and all that was done for it."""

    def __init__(self, conversation_id: str, number: int, query: str | None) -> None:
        self.query = query
        self._conversation_id = conversation_id
        self._number = number
        self._turns: list[Turn] = []
        self._start_ns = 0
        self._end_ns = 0
        self.broke_off = False
        """Whether its last run did."""

    def add(self, part: Part) -> None:
        """Append a part; its history may complete what earlier parts left open."""
        if self._start_ns == 0 or 0 < part.start_ns < self._start_ns:
            self._start_ns = part.start_ns
        self._end_ns = max(self._end_ns, part.end_ns)
        self.broke_off = part.broke_off
        if part.calls:
            self._add_unseen(part)
        turns = part.turns
        if self._turns and not part.opens:
            turns = tuple([self._resumed(turn) for turn in turns])
        if part.results:
            self._complete(part)
        self._turns.extend(turns)

    def finished(self) -> list[Turn]:
        """The turns, numbered by exchange, with attempts counted and times shared out."""
        replies = [at for at, turn in enumerate(self._turns) if isinstance(turn, ResponseTurn)]
        failed: dict[tuple[str, bytes], int] = {}
        since, done = self._start_ns, list[Turn]()
        for at, turn in enumerate(self._turns):
            if isinstance(turn, ActionTurn):
                done.append(self._numbered(turn, failed))
                continue
            end = self._end_ns if at == replies[-1] else min(turn.end_ns, self._end_ns)
            end = max(since, end)
            done.append(
                msgspec.structs.replace(turn, exchange=self._number, start_ns=since, end_ns=end)
            )
            since = end
        return done

    def _numbered(self, turn: ActionTurn, failed: dict[tuple[str, bytes], int]) -> ActionTurn:
        attempt = 1
        if failed or turn.error_type is not None:
            key = (turn.call.name, canonical(turn.call.arguments))
            attempt = failed.pop(key, 0) + 1
            if turn.error_type is not None:
                failed[key] = attempt
        if attempt == 1 and self._number == 0:
            return turn
        return msgspec.structs.replace(turn, exchange=self._number, attempt=attempt)

    def _resumed(self, turn: Turn) -> Turn:
        """A call that waited for a person runs again when the answer is there: one call."""
        if not isinstance(turn, ActionTurn):
            return turn
        waiting = next((known for known in self._turns if _is_resumed(known, turn)), None)
        if waiting is None:
            return turn
        self._turns.remove(waiting)
        return msgspec.structs.replace(turn, model=turn.model or waiting.model)

    def _add_unseen(self, part: Part) -> None:
        """Calls that only the history tells: their own trace never came."""
        known = [turn for turn in self._turns if isinstance(turn, ActionTurn) and not turn.depth]
        told = [_Told(call) for call in part.calls]
        seen = {id(call) for call, _ in matched(told, known)}
        trace_id = part.turns[0].trace_id if part.turns else ""
        for number, item in enumerate(told):
            if id(item) not in seen:
                identity = f"{trace_id}:{item.call.call_id or ''}:{number}"
                self._turns.append(
                    ActionTurn(
                        turn_id=turn_id(self._conversation_id, identity),
                        call=item.call,
                        trace_id=trace_id,
                        start_ns=part.start_ns,
                        end_ns=part.start_ns,
                    )
                )

    def _complete(self, part: Part) -> None:
        calls = [turn for turn in self._turns if isinstance(turn, ActionTurn) and not turn.depth]
        waiting = [turn for turn in calls if not turn.has_result]
        for turn, result in answered(waiting, part.results, among=calls) if waiting else ():
            at = next(at for at, known in enumerate(self._turns) if known is turn)
            error = turn.error_type or ("error" if result.is_error else None)
            self._turns[at] = msgspec.structs.replace(
                turn, result=result.result, has_result=True, error_type=error
            )


def _is_resumed(waiting: Turn, run: ActionTurn) -> bool:
    if not isinstance(waiting, ActionTurn) or waiting.has_result or waiting.error_type:
        return False
    if waiting.depth or run.depth or waiting.trace_id == run.trace_id:
        return False
    mine, its = waiting.call, run.call
    if mine.name != its.name or _differ(mine, its):
        return False
    return canonical(mine.arguments) == canonical(its.arguments)


def _differ(mine: ToolCall, its: ToolCall) -> bool:
    return tells_apart(mine) and tells_apart(its) and mine.call_id != its.call_id


class _Told:
    def __init__(self, call: ToolCall) -> None:
        self.call = call


def _by_time(item: tuple[str, int, Part]) -> tuple[int, int, str, int]:
    trace_id, position, part = item
    return part.start_ns, part.asked, trace_id, position


def _history_tells_order(parts: Sequence[Part]) -> bool:
    """Whether each opening part had heard the user once more often than the one before it.

    Then the histories are whole, and outrank the clocks.
    """
    asked = sorted(part.asked for part in parts if part.opens)
    if len(asked) < 2 or asked != list(range(asked[0], asked[0] + len(asked))):
        return False
    return all(part.opens or part.asked in asked for part in parts)


def _answering_model(turns: Iterable[Turn]) -> str | None:
    replies = (turn for turn in turns if isinstance(turn, ResponseTurn))
    return next((turn.model for turn in replies if turn.model is not None), None)


def _tools(traces: Iterable[TraceTurns]) -> tuple[ToolDefinition, ...]:
    found: list[ToolDefinition] = []
    before: tuple[ToolDefinition, ...] = ()
    for trace in traces:
        if trace.tools != before:
            found.extend(definition for definition in trace.tools if definition not in found)
            before = trace.tools
    return tuple(found)


def _expected(traces: Iterable[TraceTurns]) -> JsonValue:
    """What the traces carry, in their order.

    A reference that every trace repeats counts once. Those that differ are each trace's own:
    lists are joined, also the lists of objects, and of anything else the first counts.
    """
    told: list[JsonValue] = []
    for trace in traces:
        value = _from_text(trace.expected)
        if value is not None and value not in told:
            told.append(value)
    if len(told) > 1 and all(isinstance(value, list) for value in told):
        return [item for value in told for item in value]
    if len(told) > 1 and all(isinstance(value, dict) for value in told):
        return _joined(told)
    return told[0] if told else None


def _joined(objects: list[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    joined: dict[str, JsonValue] = {}
    for value in objects:
        for key, item in value.items():
            if isinstance(item, list) and isinstance(joined.get(key, []), list):
                joined[key] = [*joined.get(key, []), *item]
            else:
                joined.setdefault(key, item)
    return joined


def _from_text(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _first(values: Iterable[JsonValue]) -> JsonValue:
    return next((value for value in values if value is not None), None)
