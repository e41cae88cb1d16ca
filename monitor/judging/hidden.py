"""What was left out of a judge's sight, and verdicts that it could overturn."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from monitor.judging.reply import Reply
from monitor.judging.sight import Sight

VALUE: Final = re.compile(r"(?<!\w)\w*[0-9]\w*(?:[.,:/-]\w*[0-9]\w*)*", re.ASCII)
"""Amounts, dates, times and ids."""
DIGITS_MIN: Final = 3
"""Of a value that tells something: a short one may be the number of a line."""


def values_in(texts: Iterable[str]) -> set[str]:
    """Every value that stands in one of the texts, as it is written there."""
    return {found for text in texts for found in VALUE.findall(text)}


def is_telling(value: str) -> bool:
    """Whether it is long enough to be more than the number of a line."""
    return sum(map(str.isdigit, value)) >= DIGITS_MIN


def may_be_overturned(reply: Reply, seen: Sight) -> bool:
    """Whether the text that was left out could turn the verdict.

    So it is where something is said to be missing, where a value held to be false stands in what
    was left out, where a part of the turn itself was, and where a value that a reply gives has
    only people's word in sight while a whole result was left out.
    """
    if not seen.cut:
        return False
    if reply.verdict == "fail":
        shown = values_in(item.text for item in seen.evidence)
        doubted = set(filter(is_telling, values_in([reply.quote]) - shown))
        return reply.reason == "incomplete_response" or bool(doubted & values_in(seen.left_out))
    if seen.turn_cut or seen.turn.role == "call" or not seen.result_gone:
        return seen.turn_cut
    by_tools = (item.text for item in seen.evidence if item.role in ("call", "result", "system"))
    return any(map(is_telling, values_in([seen.turn.text]) - values_in(by_tools)))
