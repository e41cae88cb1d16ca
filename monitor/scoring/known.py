"""What was known at a point of a conversation: every value and word that somebody had said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Final

import msgspec

from monitor.model import PLACEHOLDER, JsonValue
from monitor.scoring.words import MONTHS, TEXT_LIMIT, number_token

CONVERSATION_LIMIT: Final = 1_048_576
"""Characters of one conversation that are looked at."""
DERIVED_LIMIT: Final = 400
"""Known numbers that a sum, difference or multiple is looked for among."""
MULTIPLE_LIMIT: Final = 10
SHORT: Final = 200
"""Characters up to which a text counts as one field."""
INSTRUCTIONS_KEPT: Final = 32
"""Instructions whose values are remembered between conversations."""

_CLOSING: Final = "./:+-@"

# Words with a digit in them: one pass, since no match can begin within a word.
_VALUE: Final = re.compile(r"(?<![\w#])#?[^\W\d]{0,40}\d[\w#@./:+-]*")
# The same as the whole of a field: what stands within a sentence proves little.
_FIELD: Final = re.compile(r"[\"':\[] ?(#?[^\W\d]{0,40}\d[\w#@./:+-]*)(?=[\"']?\s?[,}\]])")
_WORD: Final = re.compile(r"[\w#][\w#@./:+-]*")
_RUN: Final = re.compile(r"\d{3,}")
_NUMBER: Final = re.compile(r"\d{1,15}(?:\.\d{1,9})?")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ISO: Final = re.compile(r"\d{4}-(\d\d-\d\d)(?:[t ]?(\d\d:\d\d))?")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?")
_HALF: Final = re.compile(r"(\d{1,2})(?::(\d\d))?([ap])m")
_SPOKEN: Final = re.compile(
    rf"\b(?:({'|'.join(sorted(MONTHS, key=len, reverse=True))})\.? (\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({'|'.join(MONTHS)}))\b(?:,? \d{{4}}\b)?"
)
_HALF_SPACE: Final = re.compile(r"(?<=\d) (?=[ap]\.?m\b)")


class Known:
    """Grows with the conversation, in time linear in its text; nothing is read twice."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._texts: list[str] = []
        self._left = CONVERSATION_LIMIT
        self._raw: set[str] = set()
        self._values: set[str] = set()
        self._instructed: frozenset[str] = frozenset()
        self._numbers: dict[float, None] = {}
        self._words: set[str] = set()
        self._runs: set[str] = set()
        self._fields: set[str] = set()
        self._read = {"values": 0, "words": 0, "runs": 0, "fields": 0}
        self.cut = False
        """Whether some text was left out, so that a value may stand there."""

    def learn(self, text: str) -> None:
        """Take in what the user, the instructions or a tool said."""
        kept = text[: min(self._left, TEXT_LIMIT)]
        self.cut = self.cut or len(kept) < len(text)
        self._left -= len(kept)
        if kept:
            self._texts.append(kept)

    def learn_instructions(self, text: str) -> None:
        """Take in instructions, which many conversations share: their values are found once."""
        self.learn(text)
        if self._texts and len(self._texts) == 1:
            self._instructed = _instructed(self._texts[0])
            self._read["values"] = 1

    def learn_value(self, value: JsonValue) -> None:
        """Take in a decoded JSON value."""
        if value is not None:
            self.learn(value if isinstance(value, str) else _text_of(value))

    def holds(self, value: str) -> bool:
        """Whether a value in the spelling of `values_of` was said."""
        for text in self._unread("values"):
            self._index(text)
        if value in self._values or value in self._instructed:
            return True
        number = as_number(value)
        return number is not None and number in self._numbers

    def _index(self, text: str) -> None:
        if not text.startswith(("{", "[")):
            found = values_of(text)
        else:
            # Results repeat each other, and hold no spoken dates worth the search.
            new = set(_VALUE.findall(text.casefold())) - self._raw
            self._raw |= new
            found = (value for raw in sorted(new) for value in _spelled(raw.rstrip(_CLOSING)))
        for value in found:
            self._values.add(value)
            number = as_number(value)
            if number is not None:
                self._numbers[number] = None

    def has_field(self, value: str) -> bool:
        """Whether a value was the whole of a field or of a short text, not a word in prose."""
        for text in self._unread("fields"):
            if len(text) <= SHORT:
                self._fields.update(values_of(text))
            else:
                new = set(_FIELD.findall(text.casefold()))
                self._fields.update(v for raw in new for v in _spelled(raw.rstrip(_CLOSING)))
        return value in self._fields

    def has_word(self, word: str) -> bool:
        """Whether a word was said, whatever it is."""
        for text in self._unread("words"):
            self._words.update(_WORD.findall(text.casefold()))
        return word in self._words or self.holds(word)

    def has_run(self, run: str) -> bool:
        """Whether a longer run of digits was said, by itself or within an id."""
        for text in self._unread("runs"):
            self._runs.update(_RUN.findall(text))
        return run in self._runs

    @property
    def veiled(self) -> bool:
        """Whether redaction took something out, so that a value may have been said after all."""
        return any(PLACEHOLDER.search(text) for text in self._texts)

    def derives(self, value: str) -> bool:
        """Whether a number is the sum, difference or small multiple of known ones."""
        number = as_number(value)
        if number is None or self.holds(value):
            return number is not None
        known = self._numbers
        if any(round(number / times, 2) in known for times in range(2, MULTIPLE_LIMIT)):
            return True
        return any(
            round(number - other, 2) in known or round(number + other, 2) in known
            for other in islice(known, DERIVED_LIMIT)
        )

    def _unread(self, index: str) -> Iterator[str]:
        start, self._read[index] = self._read[index], len(self._texts)
        return iter(self._texts[start:])


def values_of(text: str) -> Iterator[str]:
    """Numbers, dates, times and ids of a text, each in one spelling, in their order.

    `$1,095.50` is `1095.5`; of a date its month and day count, `05-24` for May 24, 2024; a time
    is on 24 hours, `15:00` for 3 pm. Ids are in small letters.
    """
    plain = text.casefold()
    if "," in plain and not plain.startswith(("{", "[")):
        plain = _THOUSANDS.sub("", plain)
    spoken = [*_SPOKEN.finditer(plain)]
    for match in spoken:
        month = MONTHS[match[1] or match[4]]
        yield f"{month:02d}-{int(match[2] or match[3]):02d}"
    if spoken:
        plain = _SPOKEN.sub("", plain)
    if "m" in plain:
        plain = _HALF_SPACE.sub("", plain)
    for found in _VALUE.findall(plain):
        yield from _spelled(found.rstrip(_CLOSING))


@lru_cache(maxsize=INSTRUCTIONS_KEPT)
def _instructed(text: str) -> frozenset[str]:
    return frozenset(values_of(text))


def _spelled(value: str) -> Iterator[str]:
    if value[0].isdigit():
        if _NUMBER.fullmatch(value):
            yield number_token(value)
            return
        iso = _ISO.match(value)
        if iso is not None:
            yield iso[1]
            if iso[2] is not None:
                yield _time(*iso[2].split(":"))
            return
        clock = _CLOCK.fullmatch(value)
        if clock is not None:
            yield _time(clock[1], clock[2])
            return
        half = _HALF.fullmatch(value)
        if half is not None:
            yield _time(str(int(half[1]) % 12 + (12 if half[3] == "p" else 0)), half[2] or "00")
            return
    yield value


def _time(hour: str, minute: str) -> str:
    return f"{int(hour)}:{minute}"


def runs_of(value: str) -> list[str]:
    """The runs of three and more digits in an id."""
    return _RUN.findall(value)


def as_number(value: str) -> float | None:
    """The number that a value is, to two decimals; None for anything else."""
    return round(float(value), 2) if _NUMBER.fullmatch(value) else None


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
