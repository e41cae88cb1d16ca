"""Turns of which the verdict is known, asked now and then: does the judge still judge?"""

from __future__ import annotations

from typing import Final, NamedTuple

from monitor.model import ActionTurn, Conversation, ResponseTurn, ToolCall
from monitor.verdict import Outcome

QUERY: Final = "When does the store in Lyon open on Saturday, and is there parking?"
FACTS: Final = {"store": "Lyon", "saturday": {"opens": "09:30", "closes": "19:00"}, "parking": True}


class Canary(NamedTuple):
    """One known case; its last turn is the one to ask about."""

    conversation: Conversation
    verdict: Outcome


def _asked(name: str, reply: str, verdict: Outcome) -> Canary:
    call = ToolCall("store_hours", {"city": "Lyon"}, "call-1")
    turns = (
        ActionTurn(f"{name}-1", call, result=FACTS, has_result=True),
        ResponseTurn(f"{name}-2", reply),
    )
    return Canary(Conversation(f"canary-{name}", turns, (QUERY,)), verdict)


CANARIES: Final = (
    _asked("good", "On Saturday the Lyon store opens at 09:30, and it has parking.", "pass"),
    _asked("bad", "On Saturday the Lyon store opens at 07:00, and it has no parking.", "fail"),
)
"""A good and a bad one. A judge that passes the bad one, or fails the good one, is not at work."""
