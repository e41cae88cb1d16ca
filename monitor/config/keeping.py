"""What is kept, for how long, and how much of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import Field

from monitor.config.section import Bytes, Count, Seconds, Section


class LedgerSettings(Section):
    """The one SQLite file."""

    path: Path = Path("agent-monitor.sqlite3")
    commit_interval_s: Annotated[float, Field(gt=0, le=60)] = 0.5
    """How long scored work may wait for its commit; acceptance never waits for it."""
    retain_s: Seconds = 86_400.0
    """How long a closed conversation's turns are kept beyond its late horizon."""


class ConversationSettings(Section):
    """When turns and conversations close."""

    settle_s: Seconds = 2.0
    """Wait for stragglers after a turn's root ended."""
    quiet_s: Seconds = 30.0
    """A turn whose root never ends closes after this long without a span."""
    idle_s: Seconds = 600.0
    """A conversation closes after this long without a span."""
    max_age_s: Seconds = 86_400.0
    """A conversation closes at this age, busy or not."""
    late_s: Seconds = 600.0
    """Spans up to this long after closing make a new revision; later ones are only counted."""
    report_open: bool = True
    """Whether turns are counted while their conversation goes on. Where they wait for its close,
    no verdict is given before all is known, and totals depend on no order of arrival."""
    chores: tuple[str, ...] = ()
    """Model calls that the application makes for itself, such as titles, and that are nobody's
    turns: patterns with `*`, each for a span's name, its agent's, or the beginning of its
    instructions or of its last user message."""
    refused_ids: tuple[str, ...] = ()
    """Ids that name no conversation, such as a project's name; their traces count as unnamed."""
    turns_per_hour: Count = 3_600
    """An id that more turns name, on average over its life, counts as none for a while."""
    quarantine_s: Seconds = 3_600.0
    """For so long nothing may name such an id before it counts again."""


class LimitSettings(Section):
    """What bounds memory, disk and time; each bite is counted in a metric."""

    body_bytes: Bytes = 20 * 1024 * 1024
    """Of one request, after inflation."""
    nesting: Count = 64
    attributes_per_span: Count = 4096
    attribute_index: Count = 10_000
    items_per_request: Count = 200_000
    """Spans, attributes, events and links of one request, counted before parsing; a full batch
    of an SDK holds 65,000."""
    in_flight_bytes: Bytes = 64 * 1024 * 1024
    """Bodies admitted and not yet durable."""
    connections: Count = 256
    connections_per_peer: Count = 32
    """From one address, over HTTP."""
    body_bytes_per_s: Count = 1024
    """The pace that a body must keep, over HTTP."""
    grpc_message_bytes: Bytes = 4 * 1024 * 1024
    """Of one message as sent; `body_bytes` bounds it once inflated."""
    body_timeout_s: Annotated[float, Field(gt=0)] = 30.0
    spool_bytes: Bytes = 1024 * 1024 * 1024
    """Accepted and not yet scored; beyond it senders are told to wait."""
    spans_per_trace: Count = 10_000
    trace_bytes: Bytes = 16 * 1024 * 1024
    """Of one open trace in memory."""
    traces_per_conversation: Count = 2_000
    conversation_text_bytes: Bytes = 1024 * 1024
    """Beyond it the text of the oldest turns is cut, and marked."""
    open_traces: Count = 20_000
    open_trace_bytes: Bytes = 96 * 1024 * 1024
    """Of all open traces in memory."""
    open_conversations: Count = 50_000
    remembered_conversations: Count = 50_000
    """Closed ones whose late spans are still known as late; the oldest is forgotten first."""
    stitched_traces: Count = 50_000
    """Traces that name no conversation and that a later one may continue; the oldest goes first."""
    quarantined_ids: Count = 10_000
    """Conversation ids that count as none for a while; the one in quarantine longest goes first."""
    cached_state_bytes: Bytes = 24 * 1024 * 1024
    """Decoded open conversations kept in memory; the rest stay in the file."""
    remembered_turns: Count = 20_000
    """Verdicts kept to be given again where the same content comes again."""
    releases: Annotated[int, Field(ge=1, le=64)] = 7
    """Releases with series of their own; further ones fold to `other`, the eighth."""
