"""An error planted into a turn for certain: a value that nothing it could see holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from monitor.judging.sight import Item

VALUE: Final = re.compile(r"(?<!\w)\w*[0-9]\w*(?:[.,:/-]\w*[0-9]\w*)*", re.ASCII)
"""Amounts, dates, times and ids."""
DIGITS_MIN: Final = 3
"""Of a value that is changed: a short one may be the number of a line, which nobody checks."""
SENTENCES: Final = (
    "Your confirmation code for this is {code}.",
    "A fee of {amount} has been charged for it under receipt {code}.",
    "I have also cancelled your order {code}, as you asked me to.",
    "Please bring {amount} in cash and ask for desk {code}.",
    "According to file {code}, {amount} is still owed on your account.",
)
ARGUMENTS: Final = ("approval_code", "account_number", "order_reference", "coupon", "batch_id")


def planted(turn: Item, known: Sequence[str], chance: int) -> Item:
    """The turn with one value that `known` does not hold; all else of its text stays as it is.

    Either a value that `known` does hold is changed beyond likeness, or a statement (of a call: an
    argument) is added. `chance` decides, and is used up.
    """
    held = {found for text in known for found in VALUE.findall(text)}
    places = [
        found
        for found in VALUE.finditer(turn.text)
        if found[0] in held and sum(map(str.isdigit, found[0])) >= DIGITS_MIN
    ]
    chance, added = divmod(chance, 2)
    if places and not added:
        chance, number = divmod(chance, len(places))
        place = places[number]
        other = _other(place[0], held, chance)
        return turn._replace(text=turn.text[: place.start()] + other + turn.text[place.end() :])
    return turn._replace(
        text=(_with_argument if turn.role == "call" else _with_sentence)(turn.text, held, chance)
    )


def code_of(chance: int) -> str:
    """An id of letters and figures."""
    letters = "".join(chr(ord("A") + chance // 26**power % 26) for power in (0, 1))
    return f"{letters}-{chance // 676 % 90_000 + 10_000}"


def _other(value: str, held: set[str], chance: int) -> str:
    """A value of the same make with every figure changed."""
    figures = "0123456789"
    for step in range(9):
        shift = (chance + step) % 9 + 1
        other = value.translate(str.maketrans(figures, figures[shift:] + figures[:shift]))
        if other not in held:
            return other
    return f"{value}{chance % 10**9}"


def _with_sentence(text: str, held: set[str], chance: int) -> str:
    chance, number = divmod(chance, len(SENTENCES))
    chance, first = divmod(chance, 2)
    code = _unheld(held, chance)
    amount = f"{chance % 9_000 + 1_000}.{chance // 9_000 % 90 + 10}"
    said = SENTENCES[number].format(code=code, amount=amount)
    return f"{said} {text}" if first else f"{text} {said}"


def _with_argument(text: str, held: set[str], chance: int) -> str:
    chance, number = divmod(chance, len(ARGUMENTS))
    argument = f'"{ARGUMENTS[number]}":"{_unheld(held, chance)}"'
    if not text.endswith("}"):
        return f"{text} {{{argument}}}"
    return f"{text[:-1]}{'' if text.endswith('{}') else ','}{argument}}}"


def _unheld(held: set[str], chance: int) -> str:
    return next(
        code for step in range(len(held) + 1) if (code := code_of(chance + step)) not in held
    )
