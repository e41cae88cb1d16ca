"""How a task ended, by whoever can tell: an environment's reward, a checker's or a user's score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from monitor.model import JsonValue

OUTCOME: Final = "agent_monitor.outcome"
"""A span attribute, or a key of Langfuse metadata."""
NAMES: Final = frozenset({OUTCOME, "outcome", "reward", "task_success", "goal_success"})
"""Evaluations and scores of these names tell an outcome; any other is somebody's opinion of it."""
EVALUATION: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
SCORE_VALUE: Final = "gen_ai.evaluation.score.value"
SCORE_LABEL: Final = "gen_ai.evaluation.score.label"
KEYS: Final = (OUTCOME, EVALUATION_NAME, SCORE_VALUE, SCORE_LABEL)

_GOOD: Final = frozenset({"pass", "passed", "success", "succeeded", "resolved", "true", "yes"})
_BAD: Final = frozenset({"fail", "failed", "failure", "unresolved", "false", "no"})
_NUMBER_CHARACTERS: Final = 32


def outcome_of(value: JsonValue) -> float | None:
    """The outcome as a number, 1 for success; None for a value that tells none.

    Yes and no, plain words for them, and finite numbers, which are kept as they are.
    """
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return _finite(value)
    if not isinstance(value, str):
        return None
    word = value.strip().lower()
    if word in _GOOD or word in _BAD:
        return float(word in _GOOD)
    try:
        return _finite(float(word)) if len(word) <= _NUMBER_CHARACTERS else None
    except ValueError:
        return None


def outcome_told(
    attributes: Mapping[str, JsonValue],
    events: Sequence[tuple[str, Mapping[str, JsonValue]]],
    keys: Sequence[str] = (OUTCOME,),
) -> float | None:
    """What a span tells: by the first attribute of `keys` that does, else its last evaluation."""
    for key in keys:
        if key in attributes and (told := outcome_of(attributes[key])) is not None:
            return told
    for name, fields in reversed(events):
        if name == EVALUATION and (told := outcome_evaluated(fields)) is not None:
            return told
    return None


def outcome_evaluated(fields: Mapping[str, JsonValue]) -> float | None:
    """What an event `gen_ai.evaluation.result` tells; None where it tells of something else."""
    if fields.get(EVALUATION_NAME) not in NAMES:
        return None
    told = outcome_of(fields.get(SCORE_VALUE))
    return outcome_of(fields.get(SCORE_LABEL)) if told is None else told


def _finite(number: float) -> float | None:
    try:
        found = float(number)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None
