"""Builds an AgentSpan from one span's identity, times and the attributes that matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from adapters.vocabularies import content
from adapters.vocabularies.asides import KEYS as ASIDE_KEYS
from adapters.vocabularies.asides import aside_of
from adapters.vocabularies.completing import completed, lacks_content
from adapters.vocabularies.failures import ERROR_TYPE, failure_of
from adapters.vocabularies.failures import KEYS as FAILURE_KEYS
from adapters.vocabularies.finishing import KEYS as FINISH_KEYS
from adapters.vocabularies.finishing import cut_short
from adapters.vocabularies.identity import (
    CONVERSATION_KEYS,
    RELEASE_KEYS,
    RESPONSE_ID,
    SERVICE_NAME,
    SERVICE_NAMESPACE,
    USER_KEYS,
    conversation_id,
    named,
    release,
    service,
    user_id,
)
from adapters.vocabularies.outcomes import KEYS as OUTCOME_KEYS
from adapters.vocabularies.outcomes import OUTCOME, outcome_told
from adapters.vocabularies.registry import VOCABULARIES
from monitor.model import AgentSpan, IdRemark, JsonValue
from monitor.ports import Vocabulary

EXPECTED: Final = "agent_monitor.expected"
_NAME_CHARACTERS: Final = 1_024


class Origin(NamedTuple):
    """What the resource and the scope say for all their spans."""

    scope: str
    conversation_id: str | None
    release: str | None
    service: str | None = None
    """The bare name, which some pass for a conversation."""
    user_id: str | None = None
    whole_service: str | None = None
    """The name behind its namespace."""


class SpanReader:
    """Reads spans with a fixed choice of vocabularies and configured attribute names."""

    def __init__(
        self,
        vocabularies: Sequence[Vocabulary] = VOCABULARIES,
        conversation_attribute: str | None = None,
        release_attribute: str | None = None,
        extra: Sequence[str] = (),
        outcome_attribute: str | None = None,
    ) -> None:
        self._vocabularies = tuple(vocabularies)
        self._conversation_keys = _with_first(conversation_attribute, CONVERSATION_KEYS)
        self._release_keys = _with_first(release_attribute, RELEASE_KEYS)
        self._outcome_keys = _with_first(outcome_attribute, (OUTCOME,))
        names = {EXPECTED, *self._outcome_keys, *OUTCOME_KEYS, RESPONSE_ID, SERVICE_NAME, *extra}
        names.update(FAILURE_KEYS, FINISH_KEYS, ASIDE_KEYS)
        names.update(self._conversation_keys, self._release_keys, USER_KEYS, (SERVICE_NAMESPACE,))
        for vocabulary in self._vocabularies:
            names.update(vocabulary.keys)
        self.keys = frozenset(name for name in names if not name.endswith("."))
        """The attributes that matter."""
        self.prefixes = tuple(sorted(name for name in names if name.endswith(".")))
        """Attributes that matter when their name starts so."""
        self.wanted = set(self.keys)
        """Names that are known to matter by now; it grows to a limit."""
        self.unwanted: set[str] = set()
        """Names that are known not to; it grows to a limit."""
        told = (*self._conversation_keys, *self._release_keys, *USER_KEYS)
        self.origin_keys = frozenset((*told, SERVICE_NAME, SERVICE_NAMESPACE))
        """The resource attributes that matter."""

    def origin(self, resource: Mapping[str, JsonValue], scope: str) -> Origin:
        """What holds for all spans of one scope of one resource."""
        return Origin(
            scope[:_NAME_CHARACTERS],
            conversation_id(resource, self._conversation_keys),
            release(resource, self._release_keys),
            _text(resource.get(SERVICE_NAME)),
            user_id(resource),
            service(resource),
        )

    def read(
        self,
        origin: Origin,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        trace_id: str,
        span_id: str,
        parent_id: str | None = None,
        name: str = "",
        start_ns: int = 0,
        end_ns: int = 0,
        failed: bool = False,
        truncated: bool = False,
        detail: bool = False,
    ) -> AgentSpan:
        """The span in the monitor's words; kind "other" when no vocabulary knows it.

        `truncated`: the exporter dropped what may be content. Raises PayloadTooLarge at a limit.
        """
        error_type = None
        if failed or events or ERROR_TYPE in attributes:
            error_type, events = failure_of(attributes, events, failed=failed)
        conversation, remark = self._conversation(attributes, origin)
        span = AgentSpan(
            trace_id,
            span_id,
            "other",
            name[:_NAME_CHARACTERS],
            parent_id,
            start_ns,
            end_ns,
            conversation,
            None,
            release(attributes, self._release_keys) or origin.release,
            error_type=error_type,
            expected=_expected(attributes[EXPECTED]) if EXPECTED in attributes else None,
            truncated=truncated,
            detail=detail,
            scope=origin.scope,
            response_id=_text(attributes.get(RESPONSE_ID)),
            id_remark=remark,
            user_id=user_id(attributes) or origin.user_id,
            service=origin.whole_service,
        )
        found = _marked(self._told(attributes, events, span), attributes, events)
        outcome = outcome_told(attributes, events, self._outcome_keys)
        return found if outcome is None else msgspec.structs.replace(found, outcome=outcome)

    def _told(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan:
        """The span as the first vocabulary that knows it, and those behind it, tell it."""
        for position, vocabulary in enumerate(self._vocabularies, 1):
            found = vocabulary.read(attributes, events, span)
            if found is not None:
                if found.messages_in is not None or not lacks_content(found):
                    return found
                return _completed(found, self._vocabularies[position:], attributes, events, span)
        return span

    def _conversation(
        self, attributes: Mapping[str, JsonValue], origin: Origin
    ) -> tuple[str | None, IdRemark | None]:
        """The id, and what is to be said of it; the resource's own when the span has none."""
        conversation, remark = named(attributes, self._conversation_keys, origin.service)
        if conversation is None and origin.conversation_id is not None:
            return origin.conversation_id, "resource"
        return conversation, remark


def _marked(
    found: AgentSpan,
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
) -> AgentSpan:
    """The span with what its source says of it, whichever vocabulary read the rest."""
    if found.kind == "other" and (aside := aside_of(attributes)):
        return msgspec.structs.replace(found, aside=aside)
    speaks = found.kind in ("model", "agent") or found.detail
    if speaks and cut_short(attributes, events):
        return msgspec.structs.replace(found, cut_short=True)
    return found


def _completed(
    found: AgentSpan,
    later: Sequence[Vocabulary],
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    span: AgentSpan,
) -> AgentSpan:
    """A span whose vocabulary knows none of its content, told by those that come later."""
    for vocabulary in later:
        other = vocabulary.read(attributes, events, span)
        if other is not None:
            found = completed(found, other)
            if not lacks_content(found):
                break
    return found


def _with_first(name: str | None, keys: tuple[str, ...]) -> tuple[str, ...]:
    return (name, *keys) if name else keys


def _text(value: JsonValue) -> str | None:
    return value[:_NAME_CHARACTERS] if isinstance(value, str) and value else None


def _expected(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    try:
        return content.decode(value)
    except content.Undecodable:
        return None
