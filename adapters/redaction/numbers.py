"""Payment cards, bank accounts and the state's numbers for persons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adapters.redaction import checks
from adapters.redaction.hits import EDGE, END, Hit
from adapters.redaction.words import before, says_american, says_card, says_person, says_thing

_NON_DIGIT: Final = re.compile(r"\D+")
_BETWEEN: Final = re.compile(r"[ .-]")
_CARD: Final = re.compile(
    EDGE + r"(?:\d{13,19}|\d{4}(?P<s>[ .-])\d{4}(?P=s)\d{4}(?P=s)\d{1,7}"
    r"|\d{4}(?P<t>[ -])\d{6}(?P=t)\d{4,5}|\d{4}(?: ?- ?| )\d{4}(?: ?- ?| )\d{4}(?: ?- ?| )\d{4}"
    r"|\d(?:[ -]?\d){12,18})" + END
)
_LOOSE: Final = re.compile(r"[ -]\d[ -]")
_CHINESE: Final = re.compile(EDGE + r"\d{6} ?\d{8} ?\d{3}[\dXx]" + END)
_KOREAN: Final = re.compile(EDGE + r"\d{6}-[1-8]\d{6}" + END)
_BRAZILIAN: Final = re.compile(EDGE + r"\d{3}\.\d{3}\.\d{3}-\d{2}" + END)
_FRENCH: Final = re.compile(EDGE + r"[12] ?\d{2} ?\d{2} ?\d{2} ?\d{3} ?\d{3} ?\d{2}" + END)
_AMERICAN: Final = re.compile(EDGE + r"\d{3}([- .]?)\d{2}\1\d{4}" + END)
_SPANISH: Final = re.compile(EDGE + r"(?:\d{8}|[XYZ]-?\d{7})-?[A-Z]" + END)
_ANY: Final = re.compile(EDGE + r"\d(?:[ ./-]?\d){6,13}" + END)

# Each begins at what is rare in texts, so that the rest is passed over quickly.
_IBAN_HEAD: Final = re.compile(r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![0-9A-Za-z]{3}[0-9])[0-9]")
_BRITISH: Final = re.compile(r"[A-Z](?<=[A-Z]{2})[ -]?[0-9]\d([ -]?)\d{2}\1\d{2}\1[A-D]" + END)
_ITALIAN: Final = re.compile(
    r"[0-9](?<=[A-Z]{6}[0-9])(?<![0-9A-Za-z][A-Z]{6}[0-9])"
    r"\d[ABCDEHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?![0-9A-Za-z])"
)
_IBAN_LIMIT: Final = 34


def cards(text: str, start: int, end: int) -> Iterator[Hit]:
    """Card numbers in a stretch of digits and separators."""
    for found in _CARD.finditer(text, start, end + 2):
        digits = _NON_DIGIT.sub("", found[0])
        if not checks.is_card(digits):
            continue
        # Order numbers pass Luhn's check one time in ten, but nobody writes them in fours.
        if len(digits) == len(found[0]) or found["s"] is None:
            words = before(text, found.start())
            if says_thing(words) and not says_card(words):
                continue
        if _LOOSE.search(found[0]) and found["s"] is None:
            continue
        yield Hit(*found.span(), "CARD", digits)


def person_numbers(text: str, start: int, end: int, count: int, words: str) -> Iterator[Hit]:
    """The state's numbers for persons in a stretch of that many digits and separators."""
    limit = end + 2
    for least, sure, pattern, fits in _CHECKED:
        if count >= least:
            for found in pattern.finditer(text, start, limit):
                value = _BETWEEN.sub("", found[0]).upper()
                if fits(value) and (sure or not says_thing(before(text, found.start()))):
                    yield Hit(*found.span(), "NATIONAL_ID", value)
    yield from _american(text, start, limit)
    yield from _spanish(text, max(0, start - 2), limit)
    if says_person(words):
        yield from _told(text, start, limit)


def _told(text: str, start: int, limit: int) -> Iterator[Hit]:
    """Any number: the words before the stretch say that it is a person's."""
    named = _ANY.search(text, start, limit)
    if named is not None:
        yield Hit(*named.span(), "NATIONAL_ID", _NON_DIGIT.sub("", named[0]))


# Least digits, whether words before it cannot make it anything else, form and check.
_CHECKED: Final = (
    (17, True, _CHINESE, checks.is_chinese_id),
    (13, False, _KOREAN, checks.is_korean_number),
    (11, False, _BRAZILIAN, checks.is_brazilian_number),
    (15, False, _FRENCH, checks.is_french_number),
)


def _american(text: str, start: int, limit: int) -> Iterator[Hit]:
    for found in _AMERICAN.finditer(text, start, limit):
        digits = _NON_DIGIT.sub("", found[0])
        if not checks.is_us_number(digits):
            continue
        words = before(text, found.start())
        if says_american(words) or (found[1] == "-" and not says_thing(words)):
            yield Hit(*found.span(), "SSN", digits)


def _spanish(text: str, start: int, limit: int) -> Iterator[Hit]:
    for found in _SPANISH.finditer(text, start, limit):
        value = found[0].replace("-", "")
        if checks.is_spanish_number(value) and not says_thing(before(text, found.start())):
            yield Hit(*found.span(), "NATIONAL_ID", value)


def accounts(text: str) -> Iterator[Hit]:
    """IBANs, in groups or not."""
    for head in _IBAN_HEAD.finditer(text):
        start = head.start() - 2
        size = checks.IBAN_LENGTHS.get(text[start : start + 2].upper())
        if size is None:
            continue
        found = _collected(text, start, size)
        if found is not None and checks.is_iban(found[0]):
            yield Hit(start, found[1], "IBAN", found[0])


def _collected(text: str, start: int, size: int) -> tuple[str, int] | None:
    """The next `size` letters and digits over single blanks or dashes, and where they end."""
    kept: list[str] = []
    at = start
    stop = min(len(text), start + 2 * _IBAN_LIMIT)
    while at < stop and len(kept) < size:
        char = text[at]
        if char.isascii() and char.isalnum():
            kept.append(char.upper())
        elif char not in " -" or text[at - 1] in " -":
            return None
        at += 1
    if len(kept) < size or (at < len(text) and text[at].isascii() and text[at].isalnum()):
        return None
    return "".join(kept), at


def lettered_numbers(text: str) -> Iterator[Hit]:
    """Numbers for persons that begin with letters."""
    for found in _BRITISH.finditer(text):
        start = found.start() - 1
        if start > 0 and text[start - 1].isascii() and text[start - 1].isalnum():
            continue
        value = re.sub(r"[ -]", "", text[start : found.end()])
        words = before(text, start)
        if checks.is_british_number(value) and not says_thing(words):
            yield Hit(start, found.end(), "NATIONAL_ID", value)


def italian_codes(text: str) -> Iterator[Hit]:
    """Italian tax codes."""
    for found in _ITALIAN.finditer(text):
        value = text[found.start() - 6 : found.end()]
        if checks.is_italian_code(value):
            yield Hit(found.start() - 6, found.end(), "NATIONAL_ID", value)
