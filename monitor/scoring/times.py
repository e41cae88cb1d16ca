"""How long turns and conversations took, by the trace's own clock."""

from __future__ import annotations

from monitor.model import Conversation, ResponseTurn, Turn


def duration_s(turn: Turn) -> float | None:
    """Of one turn; None when its times are not known."""
    return (turn.end_ns - turn.start_ns) / 1e9 if turn.end_ns >= turn.start_ns > 0 else None


def accumulated_s(conversation: Conversation) -> float | None:
    """What the user waited for all replies together; None when no reply tells its times."""
    waited = [
        turn.end_ns - turn.start_ns
        for turn in conversation.turns
        if isinstance(turn, ResponseTurn) and turn.end_ns >= turn.start_ns > 0
    ]
    return sum(waited) / 1e9 if waited else None


def started_s(conversation: Conversation) -> float | None:
    """When the first turn began; None when no turn tells its times."""
    started = [turn.start_ns for turn in conversation.turns if turn.start_ns > 0]
    return min(started) / 1e9 if started else None
