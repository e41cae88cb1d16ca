"""Where recorded text speaks to its grader, so that it can be withheld for a second opinion."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from monitor.judging.codes import codes
from monitor.judging.disguises import BASE64, HEX, MORSE_RUN, readings
from monitor.judging.orders import COMPILED

REMOVED: Final = "[passage withheld]"
FLOOD_MIN: Final = 4_000
FLOOD_RATIO: Final = 0.06
"""A text that packs to less than this share of itself says one thing over and over."""
PASSAGE_LIMIT: Final = 600
_LETTER: Final = re.compile(r"\w")
HIDDEN: Final = re.compile(
    "[\u202a-\u202e\u2066-\u2069].*[\u202a-\u202e\u2066-\u2069]|"
    "[\U000e0020-\U000e007e]{8}|[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}",
    re.DOTALL,
)
"""Signs that turn the direction of text, and runs of signs that nobody sees."""
MIXED_MIN: Final = 12
"""Words of a tail before its make-up tells anything."""


class Passage(NamedTuple):
    """A suspected piece of one text."""

    text_no: int
    """Index of the text among those that were looked at."""
    start: int
    end: int
    family: str


def suspected(texts: Sequence[str]) -> list[Passage]:
    """The suspected passages of texts in their order.

    Also those that begin in one text and end in the next, or in the next but one.
    """
    passages = [
        Passage(number, start, end, family)
        for number, text in enumerate(texts)
        for start, end, family in _passages(text)
    ]
    return passages + list(_across(texts))


def without(text: str, passages: Sequence[Passage]) -> str:
    """The text with its suspected passages withheld; passages may overlap."""
    kept, at = [], 0
    for passage in sorted(passages, key=lambda passage: (passage.start, passage.end)):
        if passage.end <= at:
            continue
        kept += [text[at : max(at, passage.start)], REMOVED]
        at = passage.end
    cleaned = " ".join(part.strip() for part in (*kept, text[at:]) if part.strip())
    return re.sub(rf"(?:{re.escape(REMOVED)} ?)+", f"{REMOVED} ", cleaned).strip()


@lru_cache(1_024)
def _passages(text: str) -> tuple[tuple[int, int, str], ...]:
    """Those of one text; every later turn of its conversation asks for them again."""
    return tuple(_within(text))


def _within(text: str) -> Iterator[tuple[int, int, str]]:
    if _is_flood(text):
        yield 0, len(text), "flood"
        return
    if order_in(text) is None:
        return
    yield from _encoded(text)
    told = list(sentences(text))
    known: set[int] = set()
    for width in (1, 2, 3):
        for first in range(len(told) - width + 1):
            numbers = range(first, first + width)
            if known.intersection(numbers):
                continue
            start, end = told[first][0], told[numbers[-1]][1]
            family = order_in(text[start:end])
            if family:
                known.update(numbers)
                yield start, end, family


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Orders in a code, whose signs may look like the ends of sentences."""
    for code in (BASE64, HEX, MORSE_RUN, *codes()):
        for found in code.finditer(text):
            family = order_in(found[0])
            if family:
                yield found.start(), found.end(), family


@lru_cache(4_096)
def order_in(text: str) -> str | None:
    """The family of the order that a text holds, under whatever disguise; None: it holds none."""
    for reading in readings(text):
        for family, pattern in COMPILED:
            if pattern.search(reading):
                return family
    if HIDDEN.search(text):
        return "hidden"
    return "gibberish" if _is_mixed(text) else None


def _across(texts: Sequence[str]) -> Iterator[Passage]:
    """Orders that are cut in two: the end of one text with the beginning of a later one."""
    for reach in (1, 2):
        for number in range(len(texts) - reach):
            head, tail = texts[number], texts[number + reach]
            last, first = _last_sentence(head), _first_sentence(tail)
            if not (last[1] > last[0] and first[1] > first[0]):
                continue
            before, after = head[last[0] : last[1]], tail[first[0] : first[1]]
            if order_in(before) or order_in(after):
                continue
            for joint in ("", " "):
                family = order_in(before + joint + after)
                if family:
                    yield Passage(number, *last, family)
                    yield Passage(number + reach, *first, family)
                    break
            yield from _coded_across(texts, number, number + reach)


def _coded_across(texts: Sequence[str], former: int, latter: int) -> Iterator[Passage]:
    """Orders in a code that begins in one text and ends in the other."""
    head, tail = texts[former][-PASSAGE_LIMIT:], texts[latter][:PASSAGE_LIMIT]
    offset = len(texts[former]) - len(head)
    for joint in ("", " "):
        cut = len(head)
        for start, end, family in _encoded(head + joint + tail):
            if start < cut < end - len(joint):
                yield Passage(former, offset + start, offset + cut, family)
                yield Passage(latter, 0, end - cut - len(joint), family)


_END: Final = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+|(?<=[\u3002\uff01\uff1f])")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence or line; long ones are cut."""
    at = 0
    for found in [*_END.finditer(text), None]:
        end = found.start() if found else len(text)
        while end - at > PASSAGE_LIMIT:
            yield at, at + PASSAGE_LIMIT
            at += PASSAGE_LIMIT
        if end > at:
            yield at, end
        at = found.end() if found else end


def _first_sentence(text: str) -> tuple[int, int]:
    """The first that has a letter, with the rules and signs before it."""
    found = list(sentences(text[: PASSAGE_LIMIT * 2])) or [(0, 0)]
    return found[0][0], next((b for a, b in found if _LETTER.search(text[a:b])), found[0][1])


def _last_sentence(text: str) -> tuple[int, int]:
    offset = max(0, len(text) - PASSAGE_LIMIT * 2)
    text = text[offset:]
    found = list(sentences(text)) or [(0, 0)]
    told = (a for a, b in reversed(found) if _LETTER.search(text[a:b]))
    return next(told, found[-1][0]) + offset, found[-1][1] + offset


def _is_flood(text: str) -> bool:
    if len(text) < FLOOD_MIN:
        return False
    data = text.encode("utf-8", "replace")
    return len(zlib.compress(data, 1)) < FLOOD_RATIO * len(data)


def _is_mixed(text: str) -> bool:
    """Whether words and signs are jumbled as no language and no data format jumbles them."""
    words = text.split()
    if len(words) < MIXED_MIN:
        return False
    jumbled = sum(bool(_JUMBLED.search(word)) for word in words)
    return jumbled / len(words) > 0.25


_JUMBLED: Final = re.compile(
    r"[A-Za-z]{2,}[\\\]\[(){}*+!~^|]{1,4}[A-Za-z(\"']|[\\~^!]{2,}[A-Za-z]{2,}"
    r"|[)\]][(\[][A-Za-z]|\"\\|\\\+"
)
