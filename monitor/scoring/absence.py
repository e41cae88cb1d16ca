"""Whether what is missing was left out, or may just not have come before a run broke off."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.model import ActionTurn, Conversation
from monitor.scoring.placement import Slot


def may_not_have_come(conversation: Conversation, slots: Sequence[Slot], position: int) -> bool:
    """Whether a run broke off between the turns around the omitted one at `position`."""
    broken, turns = conversation.broken_off, conversation.turns
    if not broken:
        return False
    before = [turns[slot.turn] for slot in slots[:position] if slot.turn is not None]
    after = [turns[slot.turn] for slot in slots[position:] if slot.turn is not None]
    first = before[-1].exchange if before else 0
    # Words of a run that broke off do not show that it had gone on past what is missing.
    on = [t.exchange for t in after if isinstance(t, ActionTurn) or t.exchange not in broken]
    end = on[0] if on else len(conversation.queries)
    return any(first <= exchange < end for exchange in broken)
