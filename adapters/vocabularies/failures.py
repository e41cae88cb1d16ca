"""Whether a span failed, and with what; a run that only waits for a person did not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from adapters.vocabularies.genai import EXCEPTION_EVENT, text_or_none
from monitor.model import JsonValue

Events: TypeAlias = Sequence[tuple[str, Mapping[str, JsonValue]]]
ERROR_TYPE: Final = "error.type"
EXCEPTION_TYPE: Final = "exception.type"
EXCEPTION_MESSAGE: Final = "exception.message"
KEYS: Final = frozenset({ERROR_TYPE, EXCEPTION_TYPE, EXCEPTION_MESSAGE})
_TYPE_CHARACTERS: Final = 200
# Frameworks leave a graph or a tool by raising these: to ask a person, to hand over, to wait.
_CONTROL: Final = re.compile(
    r"\W*(?:\w+\.)*"
    r"(?:GraphBubbleUp|GraphInterrupt|NodeInterrupt|ParentCommand|CallDeferred|ApprovalRequired)\b"
)


def is_control_flow(text: JsonValue) -> bool:
    """Whether an exception's name, or a message that begins with it, tells of no failure."""
    return isinstance(text, str) and _CONTROL.match(text) is not None


def failure_of(
    attributes: Mapping[str, JsonValue], events: Events, *, failed: bool
) -> tuple[str | None, Events]:
    """What the span failed with, None where it did not; and the events that still say so."""
    named = text_or_none(attributes.get(ERROR_TYPE))
    raised = None
    for name, fields in events:
        if name == EXCEPTION_EVENT:
            raised = text_or_none(fields.get(EXCEPTION_TYPE))
            if is_control_flow(raised) or is_control_flow(fields.get(EXCEPTION_MESSAGE)):
                return None, [event for event in events if event[0] != EXCEPTION_EVENT]
    if is_control_flow(named):
        return None, events
    if not failed:
        return named, events
    return named or (raised[:_TYPE_CHARACTERS] if raised else "error"), events
