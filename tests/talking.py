"""Builders for talks among agents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from monitor.model import ActionTurn, Conversation, ResponseTurn, ToolCall, Turn
from monitor.scoring.delegation.transcript import Transcript, transcripts

CODE = "```python\nprint(1)\n```"
TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 3'


def said(agent: str | None, text: str | None, *, exchange: int = 0, **more: Any) -> ResponseTurn:
    return ResponseTurn(f"{agent}: {text}", text, exchange=exchange, agent=agent, **more)


def ran(
    result: str,
    *,
    error: bool = False,
    args: Mapping[str, Any] | None = None,
    agent: str | None = None,
    exchange: int = 0,
) -> ActionTurn:
    """A run of code; without `args`, of what the message before it held."""
    return ActionTurn(
        turn_id=f"run {result}",
        call=ToolCall("execute_code", dict(args or {})),
        exchange=exchange,
        result=result,
        has_result=True,
        error_type="error" if error else None,
        agent=agent,
    )


def account(
    satisfied: bool = False,
    progress: bool = True,
    loop: bool = False,
    instruction: str = "None",
    speaker: str = "Surfer",
) -> str:
    """A leader's ledger, as orchestrators of the Magentic kind write it."""
    answers: dict[str, Any] = {
        "is_request_satisfied": satisfied,
        "is_in_loop": loop,
        "is_progress_being_made": progress,
        "next_speaker": speaker,
        "instruction_or_question": instruction,
    }
    entries = {key: {"reason": "because", "answer": value} for key, value in answers.items()}
    return "Updated Ledger:\n" + json.dumps(entries, indent=2)


def conversation(*turns: Turn, queries: Iterable[str | None] = ("Who won?",)) -> Conversation:
    return Conversation("c1", turns=turns, queries=tuple(queries))


def transcript(*turns: Turn, query: str = "Who won?") -> Transcript:
    found = list(transcripts(conversation(*turns, queries=(query,))))
    assert len(found) == 1
    return found[0]
