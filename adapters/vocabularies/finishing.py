"""Why a model stopped: whether it was cut short before its reply was whole."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from monitor.model import JsonValue

REASON_KEYS: Final = (
    "gen_ai.response.finish_reasons",
    "gen_ai.completion.0.finish_reason",
    "ai.response.finishReason",
    "llm.finish_reason",
    "llm.response.finish_reason",
    "llm.output_messages.0.message.finish_reason",
)
"""Where reasons stand alone."""
_TEXT_KEYS: Final = (
    "gen_ai.output.messages",
    "gcp.vertex.agent.llm_response",
    "output.value",
    "gen_ai.completion",
    "response_data",
    "langfuse.observation.output",
    "traceloop.entity.output",
    "mlflow.spanOutputs",
)
"""Where a whole answer stands, that may tell a reason."""
KEYS: Final = (*REASON_KEYS, *_TEXT_KEYS)
_EVENT_KEYS: Final = ("gen_ai.output.messages", "choice", "message")
_CUT: Final = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "model_length", "incomplete"),
        *("model_context_window_exceeded", "content_filter", "content_filtered", "safety"),
        *("recitation", "blocklist", "prohibited_content", "spii", "error", "aborted"),
        *("cancelled", "canceled", "network_error", "malformed_function_call"),
    }
)
_TOLD: Final = re.compile(
    r"(?:\"|')(?:finish_?reason|stop_?reason|incomplete_details)(?:\"|')\s*:\s*"
    r"(?:\{\s*\"reason\"\s*:\s*)?(?:\"|')([A-Za-z][A-Za-z_.-]{0,63})(?:\"|')",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z_.-]*")
_LOOKED_AT: Final = 65_536
"""Characters at the end of an answer; a reason stands behind the text that it ended."""


def cut_short(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]] = (),
) -> bool:
    """Whether the last reason that is told is one for which a reply is not whole.

    Unknown reasons, and none at all, cut nothing short.
    """
    told = _attribute_reason(attributes)
    if told is None and events:
        told = next(filter(None, map(_event_reason, reversed(events))), None)
    return _cuts(told)


def tells_cut(answer: JsonValue) -> bool:
    """Whether an answer, as text or structure, tells such a reason last."""
    return _cuts(_last_told(answer))


def _attribute_reason(attributes: Mapping[str, JsonValue]) -> str | None:
    for key in REASON_KEYS:
        if key in attributes:
            return _last_word(attributes[key])
    for key in _TEXT_KEYS:
        if key in attributes:
            told = _last_told(attributes[key])
            if told is not None:
                return told
    return None


def _event_reason(event: tuple[str, Mapping[str, JsonValue]]) -> str | None:
    fields = event[1]
    told = _last_word(fields.get("finish_reason")) or _last_word(fields.get(REASON_KEYS[0]))
    for key in _EVENT_KEYS:
        if told is None and key in fields:
            told = _last_told(fields[key])
    return told


def _cuts(reason: str | None) -> bool:
    """The reason in any of its spellings: `content-filter`, `MAX_TOKENS`, `FinishReason.SAFETY`."""
    if reason is None:
        return False
    return reason.rpartition(".")[2].lower().replace("-", "_") in _CUT


def _last_word(value: JsonValue) -> str | None:
    """The last of several reasons: a list, its text, or one word."""
    if isinstance(value, list):
        value = value[-1] if value else None
    if not isinstance(value, str):
        return None
    words = _WORD.findall(value[-_LOOKED_AT:])
    return words[-1] if words else None


def _last_told(value: JsonValue) -> str | None:
    if isinstance(value, str):
        end = value[-_LOOKED_AT:]
        at = end.rfind("eason")
        if at < 0:
            return None
        # The key is mostly the last one of its kind, and the text before it is long.
        told = _TOLD.findall(end[max(0, at - 48) : at + 128]) or _TOLD.findall(end)
        return told[-1] if told else None
    return _in_structure(value)


def _in_structure(value: JsonValue) -> str | None:
    """The last reason of an answer: its own, or that of its last message or choice."""
    if isinstance(value, list):
        return _in_structure(value[-1]) if value and not isinstance(value[-1], str) else None
    if not isinstance(value, dict):
        return None
    for key in ("finish_reason", "finishReason", "stop_reason", "stopReason"):
        found = value.get(key)
        if isinstance(found, str):
            return found
    for key in ("incomplete_details", "choices", "candidates", "message", "response_metadata"):
        found = value.get(key)
        if key == "incomplete_details" and isinstance(found, dict):
            reason = found.get("reason")
            return reason if isinstance(reason, str) else None
        if isinstance(found, list | dict) and found:
            return _in_structure(found)
    return None
