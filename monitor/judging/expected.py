"""A reference as a judge reads it: the expected turns as compact JSON, bounded."""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.verdict import ExpectedAction, Reference

LIMIT: Final = 4_000
TURNS: Final = 60


def expected_text(reference: Reference) -> str:
    """What a correct conversation does and says, in the order of the source."""
    turns: list[dict[str, object]] = []
    for turn in reference.turns[:TURNS]:
        if isinstance(turn, ExpectedAction):
            name = turn.action if turn.tool_id is None else f"{turn.tool_id}.{turn.action}"
            turns.append({"call": name, "arguments": turn.args})
        else:
            turns.append({"reply": turn.text})
    known: dict[str, object] = {"expected_turns": turns}
    if reference.required_outputs:
        known["must_be_said"] = list(reference.required_outputs[:TURNS])
    if reference.scope == "writes":
        known["note"] = "only calls that change something are listed"
    return msgspec.json.encode(known).decode()[:LIMIT]
