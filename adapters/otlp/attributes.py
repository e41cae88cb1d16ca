"""Picks the attributes that matter out of one payload, in either encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from google.protobuf.message import DecodeError

from adapters.otlp import messages, otlp_json, wire
from adapters.otlp.limits import DecodeLimits
from adapters.otlp.reader import Origin, SpanReader
from adapters.otlp.values import ValueReader
from monitor.errors import MalformedPayload, PayloadTooLarge
from monitor.model import JsonValue

Attributes: TypeAlias = dict[str, JsonValue]
Events: TypeAlias = list[tuple[str, Attributes]]
_ATTRIBUTES_OF_EVENT = frozenset({3})
_ATTRIBUTES_OF_RESOURCE = frozenset({1})
_REMEMBERED_NAMES = 16_384
_REMEMBERED_CHARACTERS = 128


class AttributeReader:
    """Reads attributes by the keys of a SpanReader and within the limits.

    Raises PayloadTooLarge for what is over a limit of one record.
    """

    def __init__(
        self, limits: DecodeLimits, reader: SpanReader, *, base64_ids: bool = False
    ) -> None:
        self.limits = limits
        self.base64_ids = base64_ids
        """Whether JSON may give the ids of its records in base64."""
        self.values = ValueReader(limits)
        self._reader = reader
        self._keys = reader.keys
        self._prefixes = reader.prefixes
        self._wanted = reader.wanted
        self._unwanted = reader.unwanted

    def of_span(self, pairs: Mapping[str, Any]) -> Attributes:
        """From the attributes of a `Span`, which are a map."""
        if len(pairs) > self.limits.attributes:
            raise over("attributes")
        wanted, unwanted, other = self._wanted, self._unwanted, self.values.of_span
        found: Attributes = {}
        for key in pairs:
            # Looked up and not worked out: the same few names come with every span.
            if key in wanted or (key not in unwanted and self._matters(key)):
                value = pairs[key]
                # Nearly every value is a text or a number that is neither empty nor 0, and the
                # fields of a value exclude each other: asking for these first is cheapest.
                found[key] = value.string_value or value.int_value or other(value)
        return found

    def check_texts(self, attributes: Attributes) -> Attributes:
        """The attributes; needed only where one of them can be over `value_bytes` at all."""
        for value in attributes.values():
            if isinstance(value, str) and len(value) > self.limits.value_bytes:
                raise over("value_bytes")
        return attributes

    def of_list(self, pairs: Sequence[Any]) -> Attributes:
        """From a protobuf list whose keys are bytes."""
        if len(pairs) > self.limits.attributes:
            raise over("attributes")
        found: Attributes = {}
        for pair in pairs:
            key = self.values.text(pair.key)
            if key in self._wanted or (key not in self._unwanted and self._matters(key)):
                found[key] = self.values.protobuf(pair.value)
        return found

    def of_json(self, pairs: list[otlp_json.JsonKeyValue] | None) -> Attributes:
        """From a JSON list; a later pair of the same key wins, as in a protobuf map."""
        found: Attributes = {}
        if pairs is None:
            return found
        if len(pairs) > self.limits.attributes:
            raise over("attributes")
        for pair in pairs:
            key = pair.key
            if key in self._wanted or (key not in self._unwanted and self._matters(key)):
                found[key] = self.values.json(pair.value)
        return found

    def events(self, encoded: Sequence[bytes]) -> Events:
        """From encoded span events. Raises MalformedPayload for what is no event."""
        if len(encoded) > self.limits.events:
            raise over("events")
        found: Events = []
        for item in encoded:
            if len(item) > wire.COUNTED_FIRST_BYTES:
                wire.count_items(item, _ATTRIBUTES_OF_EVENT, self.limits.items)
            try:
                event = messages.Event.FromString(item)
            except DecodeError as error:
                raise MalformedPayload("an event is not protobuf") from error
            found.append((self.values.text(event.name), self.of_list(event.attributes)))
        return found

    def json_events(self, events: list[otlp_json.JsonEvent] | None) -> Events:
        """From span events in JSON."""
        if events is None:
            return []
        if len(events) > self.limits.events:
            raise over("events")
        return [(event.name or "", self.of_json(event.attributes)) for event in events]

    def json_origin(self, group: otlp_json.JsonGroup) -> Origin:
        """What the resource and scope say for all their records."""
        return self._reader.origin(self.of_json(group.resource), group.scope)

    def origin(self, group: wire.Group) -> Origin:
        """The same, from their encoded messages. Raises MalformedPayload."""
        for head in (group.resource, group.scope):
            if len(head) > wire.COUNTED_FIRST_BYTES:
                wire.count_items(head, _ATTRIBUTES_OF_RESOURCE, self.limits.items)
        try:
            resource = messages.Resource.FromString(group.resource)
            scope = messages.Scope.FromString(group.scope)
        except DecodeError as error:
            raise MalformedPayload("a resource or scope is not protobuf") from error
        attributes = self.of_list(resource.attributes)
        return self._reader.origin(attributes, self.values.text(scope.name))

    def _matters(self, key: str) -> bool:
        """Whether a vocabulary reads the attribute; remembered for names of ordinary length."""
        matters = key in self._keys
        if not matters and self._prefixes and key.startswith(self._prefixes):
            # A number this high would make a reader allocate what no span holds.
            limit = self.limits.index
            if any(part.isdecimal() and int(part[:10]) > limit for part in key.split(".")):
                raise over("index")
            matters = True
        names = self._wanted if matters else self._unwanted
        if len(names) < _REMEMBERED_NAMES and len(key) <= _REMEMBERED_CHARACTERS:
            names.add(key)
        return matters


def over(limit: str) -> PayloadTooLarge:
    """A record beyond a limit."""
    return PayloadTooLarge(f"it is beyond the limit `{limit}`", limit)
