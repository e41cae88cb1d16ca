"""What was known at a point of a conversation: every value and word that somebody had said."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import Final

import msgspec

from monitor.model import PLACEHOLDER, JsonValue
from monitor.scoring.words import TEXT_LIMIT, number_token

CONVERSATION_LIMIT: Final = 1_048_576
"""Characters of one conversation that are looked at."""
DERIVED_LIMIT: Final = 400
"""Known numbers that a sum, difference or multiple is looked for among."""
MULTIPLE_LIMIT: Final = 10

# A word with what may stand inside an id, a date, a path or an address; one pass, no backtracking.
_WORD: Final = re.compile(r"[\w#][\w#@./:+-]*")
_RUN: Final = re.compile(r"\d{3,}")
_NUMBER: Final = re.compile(r"(?<![\w.#-])\d+(?:\.\d+)?(?![\w-])")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CLOCK: Final = re.compile(r"(?<![\d:])(\d{1,2}):(\d\d)(?!\d)")
_ISO_DAY: Final = re.compile(r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?!\d)")


class Known:
    """Grows with the conversation, in time linear in its text."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._words: set[str] = set()
        self.runs: set[str] = set()
        """Longer runs of digits, which ids are recognised by."""
        self._numbers: dict[float, None] = {}
        self._left = CONVERSATION_LIMIT
        self.veiled = False
        """Whether redaction took something out, so that a value may have been said after all."""
        self.cut = False
        """Whether some text was left out, so that a value may stand there."""

    def learn(self, text: str) -> None:
        """Take in what the user, the instructions, a tool or the agent itself said."""
        kept = text[: min(self._left, TEXT_LIMIT)]
        self.cut = self.cut or len(kept) < len(text)
        self._left -= len(kept)
        plain = _THOUSANDS.sub("", kept).casefold()
        self._words.update(_WORD.findall(plain))
        self.runs.update(_RUN.findall(plain))
        for number in _NUMBER.findall(plain):
            self._numbers[round(float(number), 2)] = None
        for year, month, day in _ISO_DAY.findall(plain):
            self._words.update((f"{year}-{month}-{day}", f"{month}-{day}"))
        for hour, minute in _CLOCK.findall(plain):
            self._words.add(f"{int(hour)}:{minute}")
        self.veiled = self.veiled or PLACEHOLDER.search(kept) is not None

    def learn_value(self, value: JsonValue) -> None:
        """Take in a decoded JSON value."""
        if value is not None:
            self.learn(value if isinstance(value, str) else _text_of(value))

    def holds(self, token: str) -> bool:
        """Whether a token in the spelling of `words.tokens` was said; numbers in any spelling."""
        if token in self._words or token.rstrip(".") in self._words:
            return True
        number = as_number(token)
        return number is not None and number in self._numbers

    def derives(self, token: str) -> bool:
        """Whether a number is the sum, difference or small multiple of known ones."""
        number = as_number(token)
        if number is None:
            return False
        known = self._numbers
        if any(round(number / times, 2) in known for times in range(2, MULTIPLE_LIMIT)):
            return True
        return any(
            round(number - other, 2) in known or round(number + other, 2) in known
            for other in islice(known, DERIVED_LIMIT)
        )


def runs_of(value: str) -> list[str]:
    """The runs of three and more digits in an id."""
    return _RUN.findall(value)


def as_number(token: str) -> float | None:
    """The number that a token is, to two decimals; None for anything else."""
    try:
        return round(float(number_token(token)), 2) if token[:1].isdigit() else None
    except (ValueError, OverflowError):
        return None


def sums_of(numbers: Iterable[float], limit: int = 12) -> set[float]:
    """All sums of some of the first few numbers."""
    found = {0.0}
    for number in islice(numbers, limit):
        found |= {round(number + other, 2) for other in found}
    return found


def _text_of(value: JsonValue) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return str(value)
