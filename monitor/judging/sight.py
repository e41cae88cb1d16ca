"""What a turn could see: the conversation before it as numbered items, bounded from the middle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from monitor.judging.rubric import SYSTEM_TEXT_LIMIT
from monitor.model import ActionTurn, Conversation, JsonValue, Turn

Role: TypeAlias = Literal["user", "agent", "call", "result", "system"]

ITEM_TEXT_LIMIT: Final = 8_000
"""Characters of one item; the cut is marked and never falls into a half of the text alone."""
SIGHT_TEXT_LIMIT: Final = 60_000
"""Characters of all evidence; beyond it the oldest items lose their text, and say so:
first what people and the agent said, then calls and results."""
CUT: Final = "[… cut …]"


class Item(NamedTuple):
    """One thing that was said or done before the turn, or the turn itself."""

    number: int
    role: Role
    text: str
    turn_id: str | None = None
    """The turn that the item is of; None for what the user or the operator said."""


class Sight(NamedTuple):
    """A turn with exactly what it could see."""

    evidence: tuple[Item, ...]
    turn: Item
    cut: bool
    """Some text was left out: what rests on its absence cannot be judged."""
    turn_cut: bool = False
    """Of the turn's own text too, so that nobody can say that all of it is right."""
    result_gone: bool = False
    """A tool's result as a whole."""
    left_out: tuple[str, ...] = ()
    """The whole texts of the evidence of which some was left out."""


def sight(conversation: Conversation, position: int) -> Sight:
    """What the turn at `position` (index into the turns) could see, oldest first.

    Numbers are stable: an item has the same number in the sight of every later turn, so that
    prompts of one conversation share their beginning.
    """
    whole = [
        Item(number, role, text, turn_id)
        for number, (role, text, turn_id) in enumerate(_spoken(conversation, position), 1)
    ]
    short = [item._replace(text=_short(item)) for item in whole]
    evidence, turn = _bounded(short[:-1]), short[-1]
    turn_cut = turn.text != whole[-1].text
    cut = [i for i, kept in zip(whole[:-1], evidence, strict=True) if kept.text != i.text]
    return Sight(
        tuple(evidence),
        turn,
        cut=turn_cut or bool(cut),
        turn_cut=turn_cut,
        result_gone=any(item.role == "result" and item.text == CUT for item in evidence),
        left_out=tuple(item.text for item in cut),
    )


def _spoken(conversation: Conversation, position: int) -> Iterator[tuple[Role, str, str | None]]:
    """Everything up to the turn; the turn's own words or call come last."""
    if conversation.system:
        yield "system", conversation.system, None
    exchange = -1
    for index, turn in enumerate(conversation.turns[: position + 1]):
        while exchange < turn.exchange:
            exchange += 1
            if exchange < len(conversation.queries) and conversation.queries[exchange]:
                yield "user", conversation.queries[exchange] or "", None
        for role, text in _told(turn, whole=index < position):
            yield role, text, turn.turn_id


def _told(turn: Turn, *, whole: bool) -> Iterator[tuple[Role, str]]:
    if not isinstance(turn, ActionTurn):
        yield "agent", turn.text or ""
        return
    yield "call", call_text(turn)
    if whole and turn.error_type is not None:
        yield "result", f"error: {as_text(turn.result) or turn.error_type}"
    elif whole and turn.has_result:
        yield "result", as_text(turn.result)


def call_text(turn: ActionTurn) -> str:
    """A call as the judge reads it: the tool's name and the arguments as JSON."""
    return f"{turn.call.name} {as_text(turn.call.arguments)}"


def as_text(value: JsonValue) -> str:
    """A text as it is, anything else as compact JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _short(item: Item) -> str:
    limit = SYSTEM_TEXT_LIMIT if item.role == "system" else ITEM_TEXT_LIMIT
    if len(item.text) <= limit:
        return item.text
    half = (limit - len(CUT)) // 2
    return f"{item.text[:half]}{CUT}{item.text[-half:]}"


def _bounded(items: Sequence[Item]) -> list[Item]:
    """The items with some emptied until all fit; the system text and last request stay."""
    size = sum(len(item.text) for item in items)
    kept = list(items)
    asked = max((i for i, item in enumerate(items) if item.role == "user"), default=-1)
    for roles in (("user", "agent"), ("call", "result")):
        for index, item in enumerate(items):
            if size > SIGHT_TEXT_LIMIT and item.role in roles and index != asked:
                size -= len(item.text) - len(CUT)
                kept[index] = item._replace(text=CUT)
    return kept
