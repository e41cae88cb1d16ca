"""Names of one thing: ids, e-mail addresses, links, telephone numbers."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_EMAIL: Final = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")
_URL: Final = re.compile(r"https?://\S+", re.IGNORECASE)
_PHONE: Final = re.compile(r"\+?[\d(][\d\s().-]{6,22}\d")
_ID: Final = re.compile(r"#?(?=[\w-]*\d)(?=[\w-]*[A-Za-z_#-])[\w#-]{4,64}|#\w{2,64}")
_MARK: Final = "#"


def looks_like_id(text: str) -> bool:
    """Whether the text is one token of letters and digits, or carries a number sign."""
    return _ID.fullmatch(text) is not None


def same_id(expected: str, actual: str) -> bool:
    """Whether both name one thing.

    Each character counts. Only a leading number sign is a matter of display, and so is case when
    one side is written all in capitals and the other all in small letters.
    """
    first, second = expected.strip().removeprefix(_MARK), actual.strip().removeprefix(_MARK)
    if first == second:
        return True
    if first.casefold() != second.casefold():
        return False
    return (first.isupper() and second.islower()) or (first.islower() and second.isupper())


def same_address(expected: str, actual: str) -> bool | None:
    """Whether two e-mail addresses or two links are one; None when they are neither."""
    if _EMAIL.fullmatch(expected.strip()) and _EMAIL.fullmatch(actual.strip()):
        return expected.strip().casefold() == actual.strip().casefold()
    if _URL.fullmatch(expected.strip()) and _URL.fullmatch(actual.strip()):
        return _link(expected.strip()) == _link(actual.strip())
    return None


def same_phone(expected: str, actual: str) -> bool | None:
    """Whether two telephone numbers are one; None when a text is none.

    A bare run of digits counts as one only beside a number that is written as a telephone's.
    """
    if not _PHONE.fullmatch(expected.strip()) or not _PHONE.fullmatch(actual.strip()):
        return None
    if not _dialled(expected) and not _dialled(actual):
        return None
    first, second = (re.sub(r"\D", "", text) for text in (expected, actual))
    if first == second:
        return True
    shorter, longer = sorted((first, second), key=len)
    # The national form leaves out a country code of one to three digits.
    return len(shorter) >= 10 and longer.endswith(shorter) and len(longer) - len(shorter) <= 3


def _dialled(text: str) -> bool:
    digits = sum(char.isdigit() for char in text)
    return digits >= 7 and (
        text.strip().startswith("+")
        or "(" in text
        or bool(re.fullmatch(r"\s*\d{3}[\s.-]\d{3}[\s.-]\d{4}\s*", text))
    )


def _link(text: str) -> tuple[str, str, str, str]:
    try:
        parts = urlsplit(text)
    except ValueError:
        return ("", text, "", "")
    host = parts.netloc.casefold().removeprefix("www.")
    return (host, parts.path.rstrip("/"), parts.query, parts.fragment)
