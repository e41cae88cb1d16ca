"""Judges turns with agentevals: its strict match of trajectories, which compares no prose."""

from __future__ import annotations

import importlib.metadata
import json

from agentevals.trajectory.match import create_trajectory_match_evaluator
from agentevals.trajectory.strict import _scorer
from turns import PairedTurn, Run, main


def messages(query: str, told: dict | None) -> list[dict]:
    """One turn as a trajectory; a turn that was not taken, or not expected, is none."""
    asked = {"role": "user", "content": query}
    if told is None:
        return [asked]
    if "response" in told:
        return [asked, {"role": "assistant", "content": told["response"]}]
    function = {"name": told["tool"], "arguments": json.dumps(told["args"])}
    call = {"id": "call", "type": "function", "function": function}
    return [asked, {"role": "assistant", "content": "", "tool_calls": [call]}]


def prepare(turns: list[PairedTurn]) -> dict[str, Run]:
    """The evaluator as users make it, and the scorer inside."""
    evaluator = create_trajectory_match_evaluator(trajectory_match_mode="strict")
    paired = [
        (messages(turn.query, turn.actual), messages(turn.query, turn.expected)) for turn in turns
    ]

    def normal() -> list[bool]:
        return [
            bool(evaluator(outputs=actual, reference_outputs=expected)["score"])
            for actual, expected in paired
        ]

    def bare() -> list[bool]:
        return [
            _scorer(
                outputs=actual,
                reference_outputs=expected,
                tool_args_match_mode="exact",
                tool_args_match_overrides=None,
            )
            for actual, expected in paired
        ]

    return {"normal": normal, "bare": bare}


if __name__ == "__main__":
    main(importlib.metadata.version("agentevals"), prepare)
