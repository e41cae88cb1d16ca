"""A quick look at a text: which detectors could find anything in it at all?

It never misses what a detector would find; it may send one in vain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
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
_LONG: Final = 16
_LONG_WORD: Final = b"w" * _LONG
# Each begins with its bracket, so that all else is passed over at the speed of memory.
_SPOKEN: Final = tuple(
    re.compile(bracket + rb" ?(?:at|arroba)[ )\]}]") for bracket in (rb"\(", rb"\[", rb"\{")
)
_SECRET_WORDS: Final = (
    *(
        b"passw",
        b"passphr",
        b"passco",
        b"pass_wor",
        b"pass-wor",
        b"passord",
        b"pwd",
        b" pw",
        b"pw ",
        b"pw:",
        b"de passe",
        b"token",
        b"secret",
    ),
    *(b"kennw", b"zugangs", b"geheimz", b"einmalcode", b"mdp", b"contrase", b"clave", b"parol"),
    *(b"segreta", b"senha", b"palavra", b"wachtw", b"ww:", b"hasl", b"hesl", b"hesel", b"lozink"),
    *(b"geslo", b"slapta", b"salas", b"jelsz", b"losenord", b"adgangsk", b"kodeord", b"lykilor"),
    *(b"sifre", b"sandi", b"laluan", b"khau", b"nenosiri", b"security code", b"one-time"),
    *(b"login", b"log-in", b"credential", b"creds", b"credenz", b"identifiants", b"lozinka"),
)
_CODE_WORDS: Final = (b"pin", b"otp", b"verification code")
_FOUR_DIGITS: Final = b"0000"
_WIDE_SECRET_WORDS: Final = (
    *(
        "арол",
        "АРОЛ",
        "озинк",
        "екретн",
        "одов",
        "ωδικ",
        "пин",
        "ПИН",
        "Пин",
        "пін",
        "огин",
        "密码",
        "密碼",
    ),
    *(
        "口令",
        "パスワ",
        "暗証番号",
        "合言葉",
        "비밀",
        "비번",
        "암호",
        "패스워드",
        "รหัสผ่าน",
        "पासवर्ड",
    ),
    *("कूटशब्द", "পাসওয়ার্ড", "கடவுச்சொல்", "పాస్‌వర్డ్", "סיסמ", "كلم", "السري", "عبور", "گذرواژه"),
    *("پاس", "contraseñ", "ö", "ł", "ş", "Ş", "ậ", "õ", "ž"),
)
_QUAD: Final = re.compile(rb"\.0{1,3}\.0{1,3}\.0")
_ITALIAN: Final = re.compile(rb"00[a-z]00[a-z]000[a-z]")
_ASSIGNED_KEY: Final = re.compile(rb"key[\"':= ]")
_OPTIONS: Final = (
    *(b" -u", b" -p", b" -a", b" -w", b" /user:", b"htpasswd", b"sig=", b"signature=", b"salt"),
    *(b"key',", b'key",', b"key'", b'key"', b"key>"),
)
_IPV6_GROUPS: Final = re.compile(rb":[0-9a-fA-F]{1,4}:[0-9a-fA-F]{1,4}:[0-9a-fA-F]")


def signs_of(text: str) -> int:
    """The signs in a text whose escapes and look-alikes are folded."""
    raw = single_bytes(text)
    low = raw.translate(_LOWER)
    colon = b":" in raw
    signs = _of_words(text, low, assigned=colon or b"=" in raw) | _of_addresses(raw, low, colon)
    if b"0" in low:
        signs |= _of_digits(low)
    if len(raw) >= _LONG and _LONG_WORD in raw.translate(_WORD):
        signs |= LONG_WORD
        if b"bearer " in low or b"basic " in low:
            signs |= LOGIN
    return signs


def single_bytes(text: str) -> bytes:
    """One byte for each character, so that positions agree; a question mark for all but ASCII."""
    return text.encode("ascii", "replace")


def long_words(text: str) -> Iterator[tuple[int, int]]:
    """Where the words are that are as long as a key: of letters, digits, underscores, dashes."""
    words = single_bytes(text).translate(_WORD)
    at = words.find(_LONG_WORD)
    while at >= 0:
        end = words.find(b" ", at)
        end = len(words) if end < 0 else end
        yield at, end
        at = words.find(_LONG_WORD, end)


def _of_addresses(raw: bytes, low: bytes, colon: bool) -> int:
    signs = 0
    if colon and b"ookie" in raw:
        signs = LOGIN
    if b"@" in raw or b"%40" in raw:
        signs |= AT | LOGIN if colon and b"://" in raw else AT
    for opened in _SPOKEN:
        if opened.search(low):
            signs |= SPOKEN_AT
    if colon and (b"::" in raw or _IPV6_GROUPS.search(raw)):
        signs |= COLONS
    if b"-----BEGIN" in raw:
        signs |= PEM
    return signs


def _of_digits(low: bytes) -> int:
    signs = DOTS if _QUAD.search(low) else 0
    # Dates are what digits mostly are; four digits in their place hide nothing beside them.
    dense = low.replace(_DATE, _YEAR).translate(None, _SEPARATORS)
    if _SIX_DIGITS in dense:
        if _MANY_DIGITS in dense:
            return signs | DIGITS | LETTERED
        for six in _AFTER_SIX:
            if six in dense:
                return signs | LETTERED
    return signs | LETTERED if _ITALIAN.search(low) else signs


def _of_words(text: str, low: bytes, *, assigned: bool) -> int:
    signs = SECRET_WORD if _has_secret_word(text, low, assigned=assigned) else 0
    if assigned and b"authoriz" in low:
        signs |= LOGIN
    return signs


def _has_secret_word(text: str, low: bytes, *, assigned: bool) -> bool:
    for word in _SECRET_WORDS:
        if word in low:
            return True
    if any(option in low for option in _OPTIONS):
        return True
    if b"-key" in low or (assigned and b"key" in low and _ASSIGNED_KEY.search(low)):
        return True
    if assigned and b"pass" in low:
        return True
    if _FOUR_DIGITS in low and any(word in low for word in _CODE_WORDS):
        return True
    return not text.isascii() and any(word in text for word in _WIDE_SECRET_WORDS)
