"""Telephone numbers: international ones, national ones by their form or by the words before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from adapters.redaction.hits import EDGE, END, Hit
from adapters.redaction.words import before, says_phone, says_thing

LABEL: Final = "PHONE"

_WORD: Final = re.compile(r"\S+")
_CODE: Final = re.compile(
    r"1|7|2(?:[07]|[1-6]\d|9[0178])|3(?:[0-469]|[57]\d|8[0-35-79])|4(?:[013-9]|2[013])"
    r"|5(?:[1-8]|[09]\d)|6(?:[0-6]|[78]\d|9[0-2])|8(?:[1246]|0[08]|[578]\d)"
    r"|9(?:[0-58]|[67]\d|9[2-689])"
)
"""Country calling codes."""
_LENGTHS: Final = {
    code: (int(low), int(high))
    for code, low, high in (
        entry.split(":")
        for entry in _WORD.findall(
            "1:10:10 7:10:10 20:8:10 27:9:9 30:10:10 31:9:9 32:8:9 33:9:9 34:9:9 36:8:9 39:6:11 "
            "40:9:9 41:9:9 43:7:12 44:9:10 45:8:8 46:7:10 47:8:8 48:9:9 49:7:12 51:8:9 52:10:11 "
            "54:10:11 55:10:11 56:9:9 57:8:10 58:10:10 60:8:10 61:9:9 62:8:12 63:8:10 64:8:10 "
            "65:8:8 66:8:9 81:9:10 82:8:11 84:9:10 86:10:12 90:10:10 91:10:10 92:9:10 94:9:9 "
            "98:10:10 212:9:9 234:8:10 254:9:10 351:9:9 353:7:9 380:9:9 420:9:9 852:8:8 853:8:8 "
            "886:8:9 966:8:9 971:8:9 972:8:9"
        )
    )
}
_ANY_LENGTH: Final = (6, 12)
_LEAST_ABROAD: Final = 7
_MOST_DIGITS: Final = 15

_GROUP: Final = re.compile(r"\d+")
_NON_DIGIT: Final = re.compile(r"\D+")
_PLUS: Final = re.compile(r"(?<![0-9A-Za-z_+])(?:\+ ?|00)(?=[(]?[1-9])")
_FORMS: Final = re.compile(
    EDGE + r"(?:"
    r"(?P<american>(?:1[ .-]?)?\([2-9]\d{2}\)[ .-]{0,2}\d{3}[ .-]\d{4}"
    r"|(?:1[ .-])?[2-9]\d{2}([.-])\d{3}\2\d{4}|(?:1[ -])?[2-9]\d{2} \d{3}-\d{4})"
    r"|(?P<russian>8[ -]?\(?\d{3}\)?[ -]\d{3}[ -]\d{2}[ -]\d{2})"
    r"|0[1-9]([ .-])\d{2}(?:\4\d{2}){3}"
    r"|0(?:\d{2} \d{4} \d{4}|7\d{3} \d{6}|7\d{3} \d{3} \d{3}|[12]\d{3} \d{6}|\d{3} \d{3} \d{4})"
    r"|0\d{1,3}-\d{3,4}-\d{4}|0[1-9]\d{0,2}-(?:\d{6,8}|\d{2,3} \d{2,3} \d{2}(?: \d{2})?)"
    r"|01[567]\d[ /-]\d{6,8}"
    r"|01[567]\d(?: ?[/-] ?|[ .])\d{3}(?:[ .]\d{4,5}|(?:[ .]\d{2}){2})"
    r"|0[2-9]\d{1,4} / (?:\d{5,8}|\d{3,4} \d{3,5})"
    r"|0\d{2,5}/\d{5,8}(?:-\d{1,4})?"
    r"|\(0\d{1,5}\)[ -]?\d{3,8}(?:[ -]\d{1,6}){0,2}"
    r"|\(\d{2}\) ?9?[ ]?\d{4}-\d{4}"
    r")" + END
)
_CHINESE: Final = re.compile(
    EDGE + r"(?:86[- ]?)?(1(?:3\d|4[5-9]|5[0-35-9]|6[2567]|7[0-8]|8\d|9[0-35-9])"
    r"[ -]?\d{4}[ -]?\d{4})" + END
)
_DAY: Final = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?!\d)")
_EDGE: Final = re.compile(EDGE)
_END: Final = re.compile(END)


def international(text: str, start: int, end: int) -> Iterator[Hit]:
    """Numbers with a country's code in a stretch of digits and separators."""
    for mark in _PLUS.finditer(text, start, end):
        hit = _international(text, mark, end)
        if hit is not None:
            yield hit


def written(text: str, start: int, end: int) -> Iterator[Hit]:
    """Numbers within a country that are known by how they are written."""
    for form in _FORMS.finditer(text, start, end + 2):
        yield Hit(*form.span(), LABEL, _national(form[0], form.lastgroup))


def chinese(text: str, start: int, end: int) -> Iterator[Hit]:
    """Chinese mobile numbers, unless the words before name an order or the like."""
    for form in _CHINESE.finditer(text, start, end + 2):
        if not says_thing(before(text, form.start())):
            yield Hit(*form.span(), LABEL, _NON_DIGIT.sub("", form[1]))


def by_words(text: str, start: int, end: int) -> Iterator[Hit]:
    """The first number of the stretch: the words before it say that it is a telephone's."""
    first = _GROUP.search(text, start, end)
    if first is None or not _EDGE.match(text, first.start()):
        return
    begin = start if text[start] in "+(" else first.start()
    if _DAY.match(text, first.start(), end):
        return
    digits, until = "", first.end()
    for group in _GROUP.finditer(text, start, end):
        if len(digits) + len(group[0]) > _MOST_DIGITS:
            break
        if digits and text[until : group.start()].strip() == "" and group.start() - until > 1:
            break
        digits, until = digits + group[0], group.end()
    if len(digits) < 7 or not _END.match(text, until):
        return
    yield Hit(begin, until, LABEL, _bare(digits))


def country_and_rest(digits: str) -> tuple[str, str] | None:
    """The calling code and the number within the country; None when it cannot be one."""
    code = _CODE.match(digits)
    if code is None:
        return None
    low, high = _LENGTHS.get(code[0], _ANY_LENGTH)
    rest = digits[code.end() :]
    return (code[0], rest) if low <= len(rest.lstrip("0")) <= high else None


def _international(text: str, mark: re.Match[str], end: int) -> Hit | None:
    digits, finish = "", None
    for group in _GROUP.finditer(text, mark.end(), end):
        piece = group[0]
        if piece == "0" and text[group.start() - 1] == "(" and digits:
            continue
        digits += piece
        if len(digits) > _MOST_DIGITS:
            break
        if (
            len(digits) >= _LEAST_ABROAD
            and _END.match(text, group.end())
            and country_and_rest(digits) is not None
        ):
            finish = (group.end(), digits)
    if finish is None:
        return None
    until, digits = finish
    if text[mark.start()] == "0" and not _is_dialled(text, mark, until):
        return None
    return Hit(mark.start(), until, LABEL, _within_country(digits))


def _is_dialled(text: str, mark: re.Match[str], until: int) -> bool:
    """Whether zeros are the prefix of a call abroad: so written, or after such words."""
    words = before(text, mark.start())
    code = _CODE.match(text, mark.end(), until)
    apart = code is not None and text[code.end() : code.end() + 1] in (" ", "-", "/")
    return says_phone(words) or (apart and not says_thing(words))


def _within_country(digits: str) -> str:
    """The same for a number with and without its country's code, which are dialled alike."""
    found = country_and_rest(digits)
    return (found[1] if found else digits).lstrip("0")


def _national(written: str, form: str | None) -> str:
    digits = _NON_DIGIT.sub("", written)
    if form == "american":
        return digits[-10:]
    return digits[1:] if form == "russian" else digits.lstrip("0")


def _bare(digits: str) -> str:
    """Normal form of digits that tell no country."""
    if digits.startswith("00"):
        return _within_country(digits[2:])
    if _CHINESE.fullmatch(digits):
        return digits[-11:]
    return _within_country(digits) if len(digits) >= 11 else digits.lstrip("0")
