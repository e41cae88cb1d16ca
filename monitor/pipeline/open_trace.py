"""A trace that collects its spans in memory, what they repeat held once."""

from __future__ import annotations

from collections.abc import Hashable
from hashlib import blake2b
from typing import Final

import msgspec

from monitor.assembly.segments import AGENTIC
from monitor.assembly.spans import Arrival, SpanSet
from monitor.codec import (
    SHORT_HISTORY,
    encode_span,
    message_key,
    nested_rows,
    nested_spans,
    spans_of,
)
from monitor.model import AgentSpan, Message, ToolDefinition
from monitor.pipeline.limits import PipelineLimits
from monitor.pipeline.shelf import TraceRecord

SPAN_BYTES: Final = 1_500
"""Rough size of a span in memory beside its content, which stands there decoded and encoded."""
LONG_ROW_BYTES: Final = 16_384
"""Of a longer row with a repeated history only a digest is held."""


class OpenTrace:
    """Spans by identity, with what is known of the trace so far. Times are the host's."""

    __slots__ = (
        *("_messages", "_system", "_tools", "agentic", "conversations", "fresh", "held_bytes"),
        *("open", "opened_at", "pieces", "repeating", "rooted", "seen_at", "spans", "trace_id"),
        "unsaved",
    )

    def __init__(self, trace_id: str, now: float) -> None:
        self.trace_id = trace_id
        self.opened_at = now
        self.seen_at = now
        self.spans = SpanSet()
        self.fresh: dict[str, int] = {}
        """Deliveries since the last close, by span id."""
        self.unsaved: list[bytes] = []
        self.pieces = 0
        self.held_bytes = 0
        self.open = False
        self.rooted = False
        self.agentic = False
        self.repeating = False
        """Spans repeat histories, prompts or tools: worth writing these once."""
        self.conversations: tuple[str, ...] = ()
        """Those that the trace was part of when it last closed."""
        self._messages: dict[Hashable, Message] = {}
        self._system: str | None = None
        self._tools: tuple[ToolDefinition, ...] | None = None

    def take_record(self, record: TraceRecord) -> None:
        """Go on from where the trace was closed."""
        self.conversations = record.conversations
        for span in () if record.remembered else spans_of(record.spans):
            self.take(span, encode_span(span))

    def take(self, span: AgentSpan, row: bytes, limit_bytes: int | None = None) -> Arrival | None:
        """Take a span and its encoded form in; None when the trace would hold too much."""
        given, mark, size = span.messages_in, row, 2 * len(row)
        if given is not None and len(given) > SHORT_HISTORY:
            self.repeating = True
            history, new = self._history(given)
            span = msgspec.structs.replace(span, messages_in=history)
            size = 8 * len(given) + 2 * len(row) * new // len(given)
            if len(row) > LONG_ROW_BYTES:
                mark = b"#%d:" % len(row) + blake2b(row, digest_size=16).digest()
        if limit_bytes is not None and self.held_bytes + SPAN_BYTES + size > limit_bytes:
            return None
        arrival = self.spans.add(span, mark)
        if arrival != "duplicate":
            self.held_bytes += SPAN_BYTES + size
            self._note(span)
        return arrival

    def encoded(self) -> msgspec.Raw:
        """All spans as a part of the trace's record."""
        return nested_spans(list(self.spans)) if self.repeating else nested_rows(self.spans.rows())

    def deadline(self, limits: PipelineLimits) -> float:
        """When the trace closes, if nothing more comes."""
        # A root in which no agent acts may be the first span of a trace that comes from afar.
        wait = limits.settle_s if self.rooted and self.agentic else limits.quiet_s
        return min(self.seen_at + wait, self.opened_at + max(limits.max_age_s, wait))

    def _history(self, given: tuple[Message, ...]) -> tuple[tuple[Message, ...], int]:
        """The same messages, those that were seen before shared; and how many were not."""
        before, seen = len(self._messages), self._messages
        kept = [seen.setdefault(message_key(message), message) for message in given]
        return tuple(kept), len(seen) - before

    def _note(self, span: AgentSpan) -> None:
        if span.parent_id is None and not span.detail:
            self.rooted = True
        if span.kind in AGENTIC:
            self.agentic = True
        if self.repeating:
            return
        if span.system is not None:
            self.repeating = span.system == self._system
            self._system = span.system
        if span.tool_definitions is not None:
            self.repeating = self.repeating or span.tool_definitions == self._tools
            self._tools = span.tool_definitions
