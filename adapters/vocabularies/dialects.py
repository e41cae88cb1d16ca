"""Vocabularies that give themselves away by a name, asked together so that others lose no time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from monitor.model import AgentSpan, JsonValue
from monitor.ports import Vocabulary


class Dialect(Vocabulary, Protocol):
    """A vocabulary that reads no span without one of its marks."""

    marks: frozenset[str]
    """Attributes of which one at least is there; empty where only the scope tells."""
    scopes: frozenset[str]
    """Scopes whose spans are its own whatever they carry."""


class Dialects:
    """Several dialects as one vocabulary; the first that recognises a span reads it."""

    def __init__(self, dialects: Iterable[Dialect]) -> None:
        self._dialects = tuple(dialects)
        self.name = "+".join(dialect.name for dialect in self._dialects)
        self.keys = frozenset().union(*[dialect.keys for dialect in self._dialects])
        self._marks = frozenset().union(*[dialect.marks for dialect in self._dialects])
        self._scopes = frozenset().union(*[dialect.scopes for dialect in self._dialects])

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None when none of them knows the span."""
        if attributes.keys().isdisjoint(self._marks) and span.scope not in self._scopes:
            return None
        for dialect in self._dialects:
            found = dialect.read(attributes, events, span)
            if found is not None:
                return found
        return None
