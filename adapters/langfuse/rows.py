"""One observation as any of Langfuse's interfaces writes it, under one set of names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Any, Final

import msgspec

from adapters.shapes import content
from adapters.shapes.parts import first
from adapters.vocabularies.outcomes import NAMES as OUTCOME_NAMES
from adapters.vocabularies.outcomes import outcome_of
from monitor.errors import MalformedPayload
from monitor.model import JsonValue, Usage

CUT: Final = "<truncated due to size exceeding limit>"
"""What the SDKs put in the place of a value that was too large for them."""
VALUE_CHARACTERS: Final = 1024 * 1024
"""Of an input or output; a longer one counts as cut, and what rests on it as ungradable."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_ID_CHARACTERS: Final = 512
_HEX: Final = re.compile(r"[0-9a-f]+")
_INPUTS: Final = ("input", "prompt", "promptTokens", "prompt_tokens", "input_tokens")
_OUTPUTS: Final = ("output", "completion", "completionTokens", "completion_tokens", "output_tokens")


class TraceRow(msgspec.Struct, frozen=True, kw_only=True):
    """What a trace says for all its observations, where it is told apart from them."""

    session_id: str | None = None
    user_id: str | None = None
    release: str | None = None
    metadata: dict[str, JsonValue] = {}
    outcome: float | None = None
    """By the last of its scores that tells how the task ended."""


NO_TRACE: Final = TraceRow()


class Observation(msgspec.Struct, frozen=True, kw_only=True):
    """A row. Ids are as Langfuse has them; times are nanoseconds, 0 where none is told."""

    trace_id: str
    id: str
    parent_id: str | None = None
    type: str = "SPAN"
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    input: JsonValue = None
    output: JsonValue = None
    metadata: dict[str, JsonValue] = {}
    model: str | None = None
    usage: Usage | None = None
    level: str = "DEFAULT"
    status_message: str = ""
    session_id: str | None = None
    user_id: str | None = None
    release: str | None = None
    is_root: bool | None = None
    tool_definitions: JsonValue = None
    tool_calls: tuple[JsonValue, ...] = ()
    """Calls as the server derived them from the output."""


def observation_of(row: JsonValue) -> Observation:
    """The row of an API answer, an export or an ingestion event.

    Names may be in camel or in snake case. Raises MalformedPayload when it has no ids.
    """
    if not isinstance(row, Mapping):
        raise MalformedPayload("an observation is no object")
    row = _in_camel_case(row)
    trace_id, own_id = _text(row.get("traceId")), _text(row.get("id"))
    if not trace_id or not own_id or max(len(trace_id), len(own_id)) > _ID_CHARACTERS:
        raise MalformedPayload("an observation has no id or no trace id")
    told = row.get
    is_root = told("isRootObservation")
    return Observation(
        trace_id=trace_id,
        id=own_id,
        parent_id=_text(told("parentObservationId")),
        type=(_text(told("type")) or "SPAN").upper(),
        name=_text(told("name")) or "",
        start_ns=time_ns(told("startTime")),
        end_ns=time_ns(told("endTime")),
        input=_bounded(told("input")),
        output=_bounded(told("output")),
        metadata=object_of(told("metadata")),
        model=_text(told("providedModelName")) or _text(told("model")),
        usage=_usage(told("usageDetails")) or _usage(told("usage")),
        level=(_text(told("level")) or "DEFAULT").upper(),
        status_message=_text(told("statusMessage")) or "",
        session_id=_text(told("sessionId")),
        user_id=_text(told("userId")),
        release=_text(told("release")),
        is_root=is_root if type(is_root) is bool else None,
        tool_definitions=told("toolDefinitions"),
        tool_calls=_calls(told("toolCalls"), told("toolCallNames")),
    )


def trace_of(row: JsonValue) -> TraceRow:
    """What a trace's own row says for its observations."""
    if not isinstance(row, Mapping):
        return NO_TRACE
    row = _in_camel_case(row)
    return TraceRow(
        session_id=_text(row.get("sessionId")),
        user_id=_text(row.get("userId")),
        release=_text(row.get("release")),
        metadata=object_of(row.get("metadata")),
        outcome=_outcome(row.get("scores")),
    )


def is_outcome(score: Mapping[str, Any]) -> bool:
    """Whether a score tells how a task ended; any other is an opinion of it."""
    return score.get("name") in OUTCOME_NAMES and outcome_scored(score) is not None


def outcome_scored(score: Mapping[str, Any]) -> float | None:
    """The outcome that a score tells, as a number or as a category."""
    told = outcome_of(score.get("value"))
    return outcome_of(score.get("stringValue")) if told is None else told


def _outcome(scores: JsonValue) -> float | None:
    if not isinstance(scores, list):
        return None
    told = [score for score in scores if isinstance(score, Mapping) and is_outcome(score)]
    told.sort(key=lambda score: time_ns(score.get("timestamp")))
    return outcome_scored(told[-1]) if told else None


def _in_camel_case(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """The row under the names of the API; exports write the same names in snake case."""
    if _SNAKE.keys().isdisjoint(row):
        return row
    renamed = {_SNAKE.get(name, name): value for name, value in row.items()}
    # Where a row has both spellings, the API's own counts.
    return {**renamed, **{name: row[name] for name in _SNAKE.values() if name in row}}


def _bounded(value: JsonValue) -> JsonValue:
    """The value, or what the SDKs themselves put in the place of one that is too large."""
    return CUT if isinstance(value, str) and len(value) > VALUE_CHARACTERS else value


def _text(value: JsonValue) -> str | None:
    """A text that says something."""
    if type(value) is int:
        value = str(value)
    return value.strip() or None if isinstance(value, str) else None


_SNAKE: Final = {
    re.sub(r"([A-Z])", r"_\1", name).lower(): name
    for name in (
        *("traceId", "parentObservationId", "startTime", "endTime", "providedModelName"),
        *("statusMessage", "sessionId", "isRootObservation", "toolDefinitions", "toolCalls"),
        *("toolCallNames", "usageDetails", "userId"),
    )
}


def time_ns(value: JsonValue) -> int:
    """Nanoseconds since 1970 of an ISO time, with or without zone; 0 for what is none."""
    if isinstance(value, datetime):
        moment = value
    elif isinstance(value, str) and value:
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            return 0
    else:
        return 0
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, (moment - _EPOCH) // _MICROSECOND * 1_000)


def object_of(value: JsonValue) -> dict[str, JsonValue]:
    """An object, out of its JSON text where it is text; empty for anything else."""
    if value is None:
        return {}
    if isinstance(value, str) and value.lstrip()[:1] == "{":
        try:
            value = content.decode(value)
        except content.Undecodable:
            return {}
    if isinstance(value, list):
        # Parquet writes a map as its pairs.
        pairs = [item for item in value if isinstance(item, tuple | list) and len(item) == 2]
        value = {str(key): item for key, item in pairs}
    if not isinstance(value, dict):
        return {}
    if not content.is_flat(value):
        content.check_depth(value)
    return value


def _usage(value: JsonValue) -> Usage | None:
    """Tokens in and out. The cached ones are among those that went in, so nothing is added up."""
    if not value:
        return None
    given = object_of(value)
    into, out = _count(first(given, _INPUTS)), _count(first(given, _OUTPUTS))
    return None if into is None and out is None else Usage(into, out)


def _count(value: JsonValue) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 19:
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63:
        return None
    return int(value)


def _calls(calls: JsonValue, names: JsonValue) -> tuple[JsonValue, ...]:
    """Derived calls as objects; their names stand in a list beside them."""
    if not calls:
        return ()
    found: list[JsonValue] = []
    named = names if isinstance(names, list) else []
    for number, call in enumerate(calls if isinstance(calls, list) else ()):
        shape = object_of(call)
        if shape:
            name = shape.get("name") or (named[number] if number < len(named) else None)
            found.append({**shape, "name": name})
    return tuple(found)


def trace_id_of(text: str) -> str:
    """A trace id as 32 hexadecimal digits: its own, a UUID's, else those of a hash."""
    return _hex(text, 32)


def span_id_of(text: str) -> str:
    """An observation's id as 16 hexadecimal digits: its own, else those of a hash."""
    return _hex(text, 16)


def _hex(text: str, digits: int) -> str:
    bare = text.lower()
    if len(bare) == 36 and digits == 32:
        bare = bare.replace("-", "")
    if len(bare) == digits and _HEX.fullmatch(bare) and bare.strip("0"):
        return bare
    encoded = text.encode("utf-8", "surrogatepass")
    return blake2b(encoded, digest_size=digits // 2, person=b"langfuse").hexdigest()
