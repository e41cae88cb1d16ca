"""Check digits and other arithmetic that tells a number from a number of some kind."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

_WORD: Final = re.compile(r"\S+")
_CHINESE_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_DOUBLED: Final = str.maketrans("0123456789", "0246813579")
"""Each digit doubled, its own digits summed."""
_SPANISH_LETTERS: Final = "TRWAGMYFPDXBNJZSQVHLCKE"
_ITALIAN_ODD: Final = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16)
_ITALIAN_REST: Final = (10, 22, 25, 24, 23)
_CHINESE_REGIONS: Final = frozenset(
    _WORD.findall(
        "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 "
        "65 71 81 82 83"
    )
)

IBAN_LENGTHS: Final = {
    entry[:2]: int(entry[2:])
    for entry in _WORD.findall(
        "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 "
        "DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 "
        "IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 "
        "MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 "
        "SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30"
    )
}

# Issuer prefixes as ranges over the first six digits, with the lengths that the issuer uses.
_ISSUERS: Final = (
    (400000, 499999, (13, 16, 19)),  # Visa
    (510000, 559999, (16,)),  # Mastercard
    (222100, 272099, (16,)),
    (340000, 349999, (15,)),  # American Express
    (370000, 379999, (15,)),
    (601100, 601199, (16, 17, 18, 19)),  # Discover
    (644000, 659999, (16, 17, 18, 19)),
    (300000, 305999, (14, 16)),  # Diners Club
    (309500, 309599, (14, 16)),
    (360000, 369999, (14, 16)),
    (380000, 399999, (14, 16)),
    (352800, 358999, (16, 17, 18, 19)),  # JCB
    (620000, 629999, (16, 17, 18, 19)),  # UnionPay
    (810000, 817199, (16, 17, 18, 19)),
    (220000, 220499, (16, 17, 18, 19)),  # Mir
    (500000, 509999, (16, 17, 18, 19)),  # Maestro, RuPay, Elo
    (560000, 589999, (16, 17, 18, 19)),
    (600000, 601099, (16,)),  # RuPay
    (606985, 608500, (16,)),
    (979200, 979289, (16,)),  # Troy
)


def is_card(digits: str) -> bool:
    """Whether the digits have a card issuer's prefix and length, and Luhn's check digit."""
    size = len(digits)
    if not 13 <= size <= 19:
        return False
    head = int(digits[:6])
    known = any(low <= head <= high and size in sizes for low, high, sizes in _ISSUERS)
    return known and luhn(digits) and len(set(digits)) > 1


def luhn(digits: str) -> bool:
    """Whether the last digit is Luhn's check digit."""
    doubled = digits[-2::-2].translate(_DOUBLED)
    return (sum(map(int, digits[-1::-2])) + sum(map(int, doubled))) % 10 == 0


def is_iban(text: str) -> bool:
    """Whether capitals and digits are an IBAN of its country's length with remainder 1."""
    if IBAN_LENGTHS.get(text[:2]) != len(text):
        return False
    number = "".join(
        char if char.isdigit() else str(ord(char) - 55) for char in text[4:] + text[:4]
    )
    return int(number) % 97 == 1


def is_chinese_id(text: str) -> bool:
    """Whether 17 digits and a check character name a region and a birthday."""
    if text[:2] not in _CHINESE_REGIONS or not is_day(text[6:10], text[10:12], text[12:14]):
        return False
    total = sum(
        int(char) * weight for char, weight in zip(text[:17], _CHINESE_WEIGHTS, strict=True)
    )
    return "10X98765432"[total % 11] == text[17].upper()


def is_day(year: str, month: str, day: str) -> bool:
    """Whether the three make a date on which a living person can have been born."""
    try:
        return 1890 <= date(int(year), int(month), int(day)).year <= 2100
    except ValueError:
        return False


def is_us_number(digits: str) -> bool:
    """Whether nine digits lie in the areas of US social security numbers."""
    area = digits[:3]
    if area in ("000", "666") or area[0] == "9":
        return False
    return digits[3:5] != "00" and digits[5:] != "0000" and len(set(digits)) > 1


def is_british_number(text: str) -> bool:
    """Whether two letters, six digits and a letter are a UK National Insurance number."""
    first, second = text[0], text[1]
    if first in "DFIQUV" or second in "DFIOQUV":
        return False
    return text[:2] not in ("BG", "GB", "NK", "KN", "TN", "NT", "ZZ") and text[8] in "ABCD"


def is_brazilian_number(digits: str) -> bool:
    """Whether eleven digits have the two check digits of a CPF."""
    if len(set(digits)) == 1:
        return False
    for size in (9, 10):
        total = sum(int(char) * (size + 1 - place) for place, char in enumerate(digits[:size]))
        if total * 10 % 11 % 10 != int(digits[size]):
            return False
    return True


def is_korean_number(digits: str) -> bool:
    """Whether thirteen digits begin with a birthday and a figure for century and sex.

    Numbers given out since 2020 have no check digit.
    """
    if digits[6] not in "12345678":
        return False
    century = "20" if digits[6] in "3478" else "19"
    return is_day(century + digits[:2], digits[2:4], digits[4:6])


def is_spanish_number(text: str) -> bool:
    """Whether eight digits, or X, Y or Z and seven, end in the letter of a DNI or NIE."""
    number = text[:-1].translate(str.maketrans("XYZ", "012"))
    return _SPANISH_LETTERS[int(number) % 23] == text[-1]


def is_italian_code(text: str) -> bool:
    """Whether sixteen capitals and digits end in the check letter of a codice fiscale."""
    odd = _ITALIAN_ODD + _ITALIAN_REST
    total = 0
    for place, char in enumerate(text[:15]):
        value = int(char) if char.isdigit() else ord(char) - 65
        total += value if place % 2 else odd[value]
    return chr(65 + total % 26) == text[15]


def is_french_number(digits: str) -> bool:
    """Whether fifteen digits end in the key of a French social security number."""
    month = int(digits[3:5])
    valid_month = 1 <= month <= 12 or 20 <= month <= 42 or month >= 50
    return digits[0] in "12" and valid_month and 97 - int(digits[:13]) % 97 == int(digits[13:])
