"""What was known at a point of a conversation: every value and word that somebody had said."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from string import digits
from typing import Final, NamedTuple

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
REMEMBERED_TEXTS: Final = 1_024
REMEMBERED_VALUES: Final = 4_096
SHORT_VALUE: Final = 32
"""Characters of a value whose spelling is remembered; a number has fewer."""
REMEMBERED_CHARACTERS: Final = 8_192
"""Longer texts are searched anew each time."""
SEARCHED: Final = 8
"""Words that are searched for in the texts themselves, before all their words are indexed."""
PLACES_TRIED: Final = 16
"""Places where a text has a word within another one, before its words are indexed."""


def _by_script(pattern: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """The pattern for any text, and the same for ASCII text, where digits are found faster."""
    return re.compile(pattern), re.compile(pattern, re.ASCII)


_CLOSING: Final = "./:+-@"
_LETTERS: Final = 40
"""Letters that a value may begin with, before its first digit."""

# A value is a word with a digit in it. Digits are rare in prose: they are looked for first.
_FROM_DIGIT: Final = _by_script(r"\d[\w#@./:+-]*")
_VALUE: Final = re.compile(rf"(?<![\w#])#?[^\W\d]{{0,{_LETTERS}}}+\d[\w#@./:+-]*+")
# The same as the whole of a field: what stands within a sentence proves little.
_FIELD: Final = re.compile(
    rf"[\"':\[] ?(#?[^\W\d]{{0,{_LETTERS}}}+\d[\w#@./:+-]*+)(?=[\"']?\s?[,}}\]])"
)
_FIELD_TAIL: Final = 3
_FIELD_END: Final = re.compile(r"[\"']?\s?[,}\]]")
_WORD: Final = re.compile(r"[\w#][\w#@./:+-]*")
_JOINED: Final = re.compile(r"[\w#@./:+-]")
_JOINTS: Final = "@./:+-"
_RUN: Final = re.compile(r"\d{3,}")
_DIGITS: Final = 15
_NUMBER: Final = re.compile(rf"\d{{1,{_DIGITS}}}(?:\.\d{{1,9}})?")
_THOUSANDS: Final = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_ISO: Final = re.compile(r"\d{4}-(\d\d-\d\d)(?:[t ]?(\d\d:\d\d))?")
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)(?::\d\d)?")
_HALF: Final = re.compile(r"(\d{1,2})(?::(\d\d))?([ap])m")
_SPOKEN: Final = re.compile(
    rf"\b(?:({'|'.join(sorted(MONTHS, key=len, reverse=True))})\.? (\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|(\d{{1,2}})(?:st|nd|rd|th)? (?:of )?({'|'.join(MONTHS)}))\b(?:,? \d{{4}}\b)?"
)
_MONTH_END: Final = "|".join(sorted({name[-3:] for name in MONTHS}))
_MONTH_START: Final = "|".join(sorted({name[:3] for name in MONTHS}))
# What every spoken date has at one of its sides; texts without it are not searched for dates.
_AFTER_MONTH: Final = re.compile(rf" (?=\d)(?:(?<=(?:{_MONTH_END}) )|(?<=(?:{_MONTH_END})\. ))")
_BEFORE_MONTH: Final = _by_script(rf"\d(?:st|nd|rd|th)? (?:of )?(?:{_MONTH_START})")
_DIGIT: Final = re.compile(r"\d")
_HALF_SPACE: Final = re.compile(r" (?<=\d )(?=[ap]\.?m\b)")
_HALVES: Final = (" am", " pm", " a.m", " p.m")


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
        self._folded: list[str] = []
        self._worded = 0
        self._searches = 0
        self._read = {"values": 0, "folded": 0, "runs": 0, "fields": 0}
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
            found: Iterable[str] = values_of(text)
        else:
            # Results repeat each other, and hold no spoken dates worth the search.
            new = set(_searched(text).values) - self._raw
            self._raw |= new
            found = [value for raw in sorted(new) for value in _spelled(raw.rstrip(_CLOSING))]
        self._values.update(found)
        for value in found:
            if (number := as_number(value)) is not None:
                self._numbers[number] = None

    def has_field(self, value: str) -> bool:
        """Whether a value was the whole of a field or of a short text, not a word in prose."""
        for text in self._unread("fields"):
            if len(text) <= SHORT:
                self._fields.update(values_of(text))
            else:
                for raw in _searched(text).fields:
                    self._fields.update(_spelled(raw.rstrip(_CLOSING)))
        return value in self._fields

    def has_word(self, word: str) -> bool:
        """Whether a word was said, whatever it is."""
        if not word.isalpha() and self.holds(word):
            return True
        self._folded += [text.casefold() for text in self._unread("folded")]
        if self._searches < SEARCHED:
            self._searches += 1
            found = [_is_word_of(word, text) for text in self._folded]
            if True in found or None not in found:
                return True in found
        for text in self._folded[self._worded :]:
            self._words.update(_WORD.findall(text))
        self._worded = len(self._folded)
        return word in self._words

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


def values_of(text: str) -> tuple[str, ...]:
    """Numbers, dates, times and ids of a text, each in one spelling, in their order.

    `$1,095.50` is `1095.5`; of a date its month and day count, `05-24` for May 24, 2024; a time
    is on 24 hours, `15:00` for 3 pm. Ids are in small letters.
    """
    return _values(text) if len(text) > REMEMBERED_CHARACTERS else _remembered_values(text)


def _values(text: str) -> tuple[str, ...]:
    if not _has_digit(text):
        return ()
    plain = text.casefold()
    if "," in plain and not plain.startswith(("{", "[")):
        plain = _THOUSANDS.sub("", plain)
    found: list[str] = []
    if _AFTER_MONTH.search(plain) or _BEFORE_MONTH[plain.isascii()].search(plain):
        for match in _SPOKEN.finditer(plain):
            month = MONTHS[match[1] or match[4]]
            found.append(f"{month:02d}-{int(match[2] or match[3]):02d}")
        if found:
            plain = _SPOKEN.sub("", plain)
    if any(half in plain for half in _HALVES):
        plain = _HALF_SPACE.sub("", plain)
    for raw in _search(plain).values:
        found += _spelled(raw.rstrip(_CLOSING))
    return tuple(found)


class _Raw(NamedTuple):
    """What a text holds, as it is written there."""

    values: Sequence[str]
    fields: Sequence[str]


def _searched(text: str) -> _Raw:
    if len(text) > REMEMBERED_CHARACTERS:
        return _search(text.casefold())
    return _remembered_search(text.casefold())


def _search(text: str) -> _Raw:
    """The matches of the two patterns for values and fields, in the order of the text.

    The patterns themselves try every letter of a text; here they are tried where a digit stands
    in a word whose beginning is no value's.
    """
    values: list[str] = []
    fields: list[str] = []
    for match in _FROM_DIGIT[text.isascii()].finditer(text) if _has_digit(text) else ():
        start, end = match.span()
        first: int | None = start
        if start and ((mark := text[start - 1]).isalnum() or mark in "_#"):
            first = _beginning(text, start)
        if first is None:
            values += _VALUE.findall(text, start, end)
        else:
            values.append(text[first:end])
            before = text[first - 1 : first] if first else ""
            if before == " " and first > 1:
                before = text[first - 2]
            if before and before in "\"':[" and _FIELD_END.match(text, end):
                fields.append(text[first:end])
                continue
        if text.find(":", start, end) >= 0:
            # A field may begin within the word, as the number in `a1:20` does.
            fields += _FIELD.findall(text, start, end + _FIELD_TAIL)
    return _Raw(values, fields)


def _has_digit(text: str) -> bool:
    """Whether there is one; plain searches for each take less than one for their class."""
    if any(digit in text for digit in digits):
        return True
    return not text.isascii() and _DIGIT.search(text) is not None


def _beginning(text: str, digit: int) -> int | None:
    """Where the value begins whose first digit stands there; None where none may begin."""
    start, least = digit, digit - _LETTERS
    while start and ((letter := text[start - 1]).isalnum() or letter == "_"):
        if start == least:
            return None
        start -= 1
    if not start or text[start - 1] != "#":
        return start
    before = text[start - 2 : start - 1] if start > 1 else ""
    return None if before.isalnum() or before in ("_", "#") else start - 1


# A conversation is looked at again with every turn that it gets, and its texts are the same.
_remembered_values = lru_cache(maxsize=REMEMBERED_TEXTS)(_values)
_remembered_search = lru_cache(maxsize=REMEMBERED_TEXTS)(_search)


@lru_cache(maxsize=INSTRUCTIONS_KEPT)
def _instructed(text: str) -> frozenset[str]:
    return frozenset(values_of(text))


def _spelled(value: str) -> tuple[str, ...]:
    return _spell(value) if len(value) > SHORT_VALUE else _remembered_spelling(value)


def _spell(value: str) -> tuple[str, ...]:
    if value.isdecimal() and len(value) <= _DIGITS:
        return (value.lstrip("0") or "0",)
    if value[0].isdigit():
        if _NUMBER.fullmatch(value):
            return (number_token(value),)
        iso = _ISO.match(value)
        if iso is not None:
            return (iso[1],) if iso[2] is None else (iso[1], _time(*iso[2].split(":")))
        clock = _CLOCK.fullmatch(value)
        if clock is not None:
            return (_time(clock[1], clock[2]),)
        half = _HALF.fullmatch(value)
        if half is not None:
            hour = int(half[1]) % 12 + (12 if half[3] == "p" else 0)
            return (_time(str(hour), half[2] or "00"),)
    return (value,)


# Most texts of one trade have the same ids, prices and dates in them.
_remembered_spelling = lru_cache(maxsize=REMEMBERED_VALUES)(_spell)


def _time(hour: str, minute: str) -> str:
    return f"{int(hour)}:{minute}"


def runs_of(value: str) -> list[str]:
    """The runs of three and more digits in an id."""
    return _RUN.findall(value)


def as_number(value: str) -> float | None:
    """The number that a value is, to two decimals; None for anything else."""
    return _remembered_number(value) if len(value) <= SHORT_VALUE else None


@lru_cache(maxsize=REMEMBERED_VALUES)
def _remembered_number(value: str) -> float | None:
    return round(float(value), 2) if _NUMBER.fullmatch(value) else None


def is_sum_of(total: float, numbers: Iterable[float], limit: int = 12) -> bool:
    """Whether it is the sum of some of the first few numbers; none of them is below zero."""
    found, most = {0.0}, total + 1
    for number in islice(numbers, limit):
        found |= {s for other in found if (s := round(number + other, 2)) <= most}
    return total in found


def _is_word_of(word: str, text: str) -> bool | None:
    """Whether the pattern for words finds the word in the text; None after a few vain tries."""
    at = text.find(word)
    if at < 0 or not _WORD.fullmatch(word):
        return False
    for _ in range(PLACES_TRIED):
        end, start = at + len(word), at
        while start and text[start - 1] in _JOINTS:
            start -= 1
        joined = start > 0 and _WORD.match(text, start - 1) is not None
        if not joined and not _JOINED.match(text, end):
            return True
        at = text.find(word, at + 1)
        if at < 0:
            return False
    return None


def _text_of(value: JsonValue) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return str(value)
