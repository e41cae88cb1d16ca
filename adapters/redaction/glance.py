"""A quick look at a text's bytes: which detectors could find anything in it at all?

It never misses what a detector would find; it may send one in vain.
"""

from __future__ import annotations

import re
from typing import Final

AT: Final = 1
"""A sign that e-mail addresses have."""
SPOKEN_AT: Final = 2
DIGITS: Final = 4
"""Many digits close together."""
LETTERED: Final = 8
"""Digits with letters around them, as some states number persons."""
DOTS: Final = 16
"""Digits around stops, as in an IPv4 address."""
COLONS: Final = 32
"""Colons as in an IPv6 address."""
LONG_WORD: Final = 64
"""A word as long as a key."""
SECRET_WORD: Final = 128
"""A word such as `password`."""
LOGIN: Final = 256
"""A word such as `Authorization`, or a link with an @."""
PEM: Final = 512

_LOWER: Final = bytes(
    48 if 48 <= code < 58 else code + 32 if 65 <= code < 91 else code for code in range(256)
)
_WORD: Final = bytes(
    119 if code < 128 and (chr(code).isalnum() or code in b"_-") else 32 for code in range(256)
)
_SEPARATORS: Final = b" ().-/"
_DATE: Final = b"0000-00-00"
_YEAR: Final = b"0000"
_MANY_DIGITS: Final = b"0" * 7
_SIX_DIGITS: Final = b"0" * 6
_AFTER_SIX: Final = tuple(_SIX_DIGITS + letter for letter in (b"a", b"b", b"c", b"d"))
_LONG_WORD: Final = b"w" * 16
_SPOKEN: Final = (b"(at", b"( at", b"[at", b"[ at", b"{at", b"(arroba", b"[arroba")
_SECRET_WORDS: Final = (
    b"pass", b"pwd", b"secret", b"token", b"key", b"kennwort", b"contrase", b"senha",
)  # fmt: skip
_SPOKEN_SECRETS: Final = (b"passw", b"passp", b"passc", b"token", b"secret", b" key ")
_WIDE_SECRET_WORDS: Final = tuple(
    word.encode() for word in ("парол", "密码", "密碼", "口令", "パスワ", "비밀", "كلمة", "पासवर्ड")
)
_LOGIN_WORDS: Final = (b"authoriz", b"bearer", b"basic")
_IPV6_GROUPS: Final = re.compile(rb":[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:[0-9a-fA-F]")


def signs_of(raw: bytes) -> int:
    """The signs in the text of these bytes, in UTF-8."""
    low = raw.translate(_LOWER)
    signs = _of_digits(low) | _of_words(raw, low)
    if b"@" in raw or b"%40" in raw:
        signs |= AT
        if b"://" in raw:
            signs |= LOGIN
    for spoken in _SPOKEN:
        if spoken in low:
            signs |= SPOKEN_AT
    if b"::" in raw or _IPV6_GROUPS.search(raw):
        signs |= COLONS
    if _LONG_WORD in raw.translate(_WORD):
        signs |= LONG_WORD
    if b"-----BEGIN" in raw:
        signs |= PEM
    return signs


def _of_digits(low: bytes) -> int:
    signs = DOTS if b"0.0" in low and low.count(b".") >= 3 else 0
    # Dates are what digits mostly are; four digits in their place hide nothing beside them.
    dense = low.replace(_DATE, _YEAR).translate(None, _SEPARATORS)
    if _SIX_DIGITS in dense:
        if _MANY_DIGITS in dense:
            signs |= DIGITS | LETTERED
        else:
            for six in _AFTER_SIX:
                if six in dense:
                    signs |= LETTERED
    elif b"fiscale" in low:
        signs |= LETTERED
    return signs


def _of_words(raw: bytes, low: bytes) -> int:
    signs = 0
    for word in _SECRET_WORDS if b":" in low or b"=" in low else _SPOKEN_SECRETS:
        if word in low:
            signs = SECRET_WORD
            break
    if not signs and not raw.isascii():
        for word in _WIDE_SECRET_WORDS:
            if word in raw:
                signs = SECRET_WORD
    for word in _LOGIN_WORDS:
        if word in low:
            signs |= LOGIN
    return signs
