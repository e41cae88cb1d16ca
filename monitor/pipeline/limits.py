"""How long the pipeline waits, and how much it holds."""

from __future__ import annotations

import msgspec

MIB = 1024 * 1024


class PipelineLimits(msgspec.Struct, frozen=True):
    """Every wait and every bound by name. Each bound that bites is counted in the effects.

    Waits count from arrivals, not from the times of the trace: clocks of senders may be wrong.
    """

    settle_s: float = 2.0
    """From the last arrival to a trace's close, once its root is in. Children may trail it."""
    quiet_s: float = 30.0
    """From the last arrival to the close of a trace whose root is not in."""
    idle_s: float = 600.0
    """From the last arrival to a conversation's close."""
    max_age_s: float = 86_400.0
    """From the first arrival to the close of a trace or conversation that never falls quiet."""
    late_s: float = 600.0
    """How long after its close a conversation takes late spans, as new revisions."""
    remember_s: float = 86_400.0
    """How long afterwards its spans are known as late instead of opening it anew."""
    report_open: bool = True
    """Report conversations that are open. Without, a turn's first verdict is that of the close."""
    spans_per_trace: int = 10_000
    """`dropped:spans_per_trace` beyond it."""
    bytes_per_trace: int = 16 * MIB
    """In memory while it is open, a repeated history each time. `dropped:bytes_per_trace`."""
    text_per_conversation_bytes: int = MIB
    """Beyond it, text of the oldest traces is cut and marked: `trimmed_traces`."""
    traces_per_conversation: int = 2_000
    """From then on the id is in quarantine: a constant names no conversation. One that no id
    names drops what comes beyond it: `dropped:traces_per_conversation`."""
    turns_per_hour: int = 3_600
    """Of one conversation, on average over its life or the first hour; beyond it, quarantine."""
    chores: tuple[str, ...] = ()
    """Patterns of model calls that are nobody's turns, see `Chores`."""
    own_instructions: str = ""
    """How the monitor's own questions to a judge begin; they are nobody's turns either."""
    refused_ids: tuple[str, ...] = ()
    """Ids that are known to name no conversation, in quarantine for ever."""
    quarantine_s: float = 3_600.0
    """For so long no trace may name an id in quarantine, before it counts again."""
    quarantined_ids: int = 10_000
    """Beyond it, the id in quarantine longest is let out: `quarantine:let_out`."""
    stitched_traces: int = 50_000
    """Traces without an id that a later one may continue; the oldest goes first: `unstitched`."""
    open_traces: int = 20_000
    """Beyond it, the trace next in line is closed: `early:open_traces`."""
    open_bytes: int = 96 * MIB
    """In memory for all open traces; beyond it, the next in line is closed: `early:open_bytes`."""
    open_conversations: int = 50_000
    """Beyond it, the conversation next in line is closed: `early:open_conversations`."""
    remembered_conversations: int = 50_000
    """Beyond it, the one remembered longest is forgotten: `forgotten`."""
    keep_turns: bool = True
    """Turns that leave memory go to the store. Without, they are built anew from their spans:
    half the state, for stores that lie in memory, and more work."""
    cache_bytes: int = 24 * MIB
    """Decoded conversations kept in memory beside the store, by rough size."""
