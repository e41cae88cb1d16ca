"""Builds an AgentSpan from one span's identity, times and the attributes that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from adapters.vocabularies import content, identity
from adapters.vocabularies.registry import VOCABULARIES, read_with
from monitor.model import AgentSpan, JsonValue
from monitor.ports import Vocabulary

EXPECTED: Final = "agent_monitor.expected"
ERROR_TYPE: Final = "error.type"
_NAME_CHARACTERS: Final = 1_024


class Origin(NamedTuple):
    """What the resource and the scope say for all their spans."""

    scope: str
    conversation_id: str | None
    release: str | None


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One span without its attributes."""

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    start_ns: int = 0
    end_ns: int = 0
    failed: bool = False
    dropped_attributes: int = 0
    dropped_events: int = 0
    detail: bool = False


class SpanReader:
    """Reads spans with a fixed choice of vocabularies and configured attribute names."""

    def __init__(
        self,
        vocabularies: Sequence[Vocabulary] = VOCABULARIES,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        extra: Sequence[str] = (),
    ) -> None:
        self._vocabularies = tuple(vocabularies)
        self._conversation_keys = _with_first(conversation_attribute, identity.CONVERSATION_KEYS)
        self._release_keys = _with_first(release_attribute, identity.RELEASE_KEYS)
        names = {EXPECTED, ERROR_TYPE, identity.RESPONSE_ID, *extra}
        names.update(self._conversation_keys, self._release_keys)
        for vocabulary in self._vocabularies:
            names.update(vocabulary.keys)
        self.keys = frozenset(name for name in names if not name.endswith("."))
        """The attributes that matter."""
        self.prefixes = tuple(sorted(name for name in names if name.endswith(".")))
        """Attributes that matter when their name starts so."""
        self.origin_keys = frozenset(self._conversation_keys + self._release_keys)
        """The resource attributes that matter."""

    def origin(self, resource: Mapping[str, JsonValue], scope: str) -> Origin:
        """What holds for all spans of one scope of one resource."""
        return Origin(
            scope[:_NAME_CHARACTERS],
            identity.conversation_id(resource, self._conversation_keys),
            identity.release(resource, self._release_keys),
        )

    def read(
        self,
        origin: Origin,
        frame: Frame,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    ) -> AgentSpan:
        """The span in the monitor's words; kind "other" when no vocabulary knows it.

        Raises PayloadTooLarge when its content is beyond a limit.
        """
        error_type = attributes.get(ERROR_TYPE)
        if not isinstance(error_type, str) or not error_type:
            error_type = "error" if frame.failed else None
        span = AgentSpan(
            frame.trace_id,
            frame.span_id,
            "other",
            frame.name[:_NAME_CHARACTERS],
            frame.parent_id,
            frame.start_ns,
            frame.end_ns,
            identity.conversation_id(attributes, self._conversation_keys) or origin.conversation_id,
            release=identity.release(attributes, self._release_keys) or origin.release,
            error_type=error_type,
            expected=_expected(attributes[EXPECTED]) if EXPECTED in attributes else None,
            # Content may stand in events, so a dropped event may be a dropped message.
            truncated=frame.dropped_attributes > 0 or frame.dropped_events > 0,
            detail=frame.detail,
            scope=origin.scope,
        )
        return read_with(self._vocabularies, attributes, events, span)


def _with_first(name: str | None, keys: tuple[str, ...]) -> tuple[str, ...]:
    return (name, *keys) if name else keys


def _expected(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    try:
        return content.decode(value)
    except content.Undecodable:
        return None
