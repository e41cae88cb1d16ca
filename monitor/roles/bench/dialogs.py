"""Dialogs for the scoring benchmark: the demo's shop played as it should go, and with slips."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

from monitor.roles.demo.shop import STORIES, Agent, Call, Exchange, Habit, Shop, careful, new_order
from monitor.roles.demo.traffic import forgets_the_reason, looks_up_instead, rounds_refunds_down

HABITS: tuple[Habit, ...] = (careful, careful, careful, rounds_refunds_down, forgets_the_reason)
OTHER_TOOL: Habit = looks_up_instead


def shop_dialogs(count: int, seed: int = 5) -> Iterator[dict[str, Any]]:
    """Dialogs in the golden layout, every turn with its gold; same seed, same dialogs."""
    rng = random.Random(seed)  # noqa: S311  reproducible traffic, no secret
    for number in range(count):
        story, order = STORIES[number % len(STORIES)], new_order(rng)
        habit = OTHER_TOOL if number % 11 == 0 else HABITS[number % len(HABITS)]
        words = rng.random()
        played = [
            story(Agent(Shop([deepcopy(order)]), each), order, random.Random(words))  # noqa: S311
            for each in (careful, habit)
        ]
        yield {"dialog_id": f"shop-{number}", "turns": _turns(*played)}


def _turns(gold: list[Exchange], actual: list[Exchange]) -> list[dict[str, Any]]:
    turns: list[dict[str, Any]] = []
    for expected, done in zip(gold, actual, strict=True):
        opening: dict[str, Any] = {"user": expected.user}
        for one, other in zip(expected.calls, done.calls, strict=True):
            turn = {"turn": "Tool", "gold_turn": _action(one), "predict_turn": _action(other)}
            turns.append({**opening, **turn, "is_error": other.error is not None})
            opening = {}
        reply = {"turn": "Agent", "gold_turn": {"response": expected.reply}}
        turns.append({**opening, **reply, "predict_turn": {"response": done.reply}})
    return [{"turn_no": number, **each} for number, each in enumerate(turns, start=1)]


def _action(call: Call) -> dict[str, Any]:
    return {
        "tool_id": "shop",
        "action": call.tool,
        "args": call.arguments,
        "result": call.result,
    }
