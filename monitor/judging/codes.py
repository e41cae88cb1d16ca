"""Codes in which an order may stand: decoded where they give words, never run or followed."""

from __future__ import annotations

import base64
import binascii
import html
import re
import string
import zlib
from collections.abc import Callable, Iterator
from typing import Final
from urllib.parse import unquote

UNPACKED_LIMIT: Final = 8_192
_LOW: Final = string.ascii_lowercase

LETTERS: Final = str.maketrans(
    {
        **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True)),
        **dict(zip("ɐɔǝɟƃɥᴉıɾʞɯɹʇʌʍʎ", "acefghiijkmrtvwy", strict=True)),
        **dict(zip("⠁⠃⠉⠙⠑⠋⠛⠓⠊⠚⠅⠇⠍⠝⠕⠏⠟⠗⠎⠞⠥⠧⠺⠭⠽⠵⠀", f"{_LOW[:21]}vwxyz ", strict=True)),
        **{chr(first + at): _LOW[at] for first in (0x1F1E6, 0x1F170, 0x1F150) for at in range(26)},
        **dict.fromkeys("\u115f\u1160\u3164\uffa0"),
    }
)
"""Letters turned, raised, framed or dotted, as what they stand for; blank letters as nothing."""

NUMBERS: Final = re.compile(r"(?:\b[0-9]{2,3}\b[\s,.;:_-]{0,3}){8,2048}")
BINARY: Final = re.compile(r"(?:[01]{7,8}[\s,._-]?){8,2048}")
PERCENT: Final = re.compile(r"(?:[%=][0-9A-Fa-f]{2}){6,2048}")
ENTITIES: Final = re.compile(r"(?:&#x?[0-9A-Fa-f]{2,6};\s?){6,1024}")
ESCAPES: Final = re.compile(
    r"(?:\\(?:u[0-9A-Fa-f]{4}|u\{[0-9A-Fa-f]{2,6}\}|x[0-9A-Fa-f]{2})|U\+[0-9A-Fa-f]{4,5}\s?){6,1024}"
)
BASE32: Final = re.compile(r"\b[A-Z2-7]{24,4096}(?:=|\b){1,6}")
BASE85: Final = re.compile(r"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{30,4096}")
SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{6,4096}")
CALLED: Final = [
    "alfa",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "juliett",
    "kilo",
    "lima",
    "mike",
    "november",
    "oscar",
    "papa",
    "quebec",
    "romeo",
    "sierra",
    "tango",
    "uniform",
    "victor",
    "whiskey",
    "xray",
    "yankee",
    "zulu",
]
"""The spelling alphabet."""
SPELT: Final = re.compile(
    rf"(?:\b(?:{'|'.join((*CALLED, 'alpha', 'juliet'))})\b[\s,/|.-]{{0,4}}){{6,600}}", re.IGNORECASE
)


def codes() -> tuple[re.Pattern[str], ...]:
    """Where a code stands, for withholding it as a whole."""
    return tuple(pattern for pattern, _ in _DECODERS)


def decoded(text: str) -> Iterator[str]:
    """What the codes in a text say, one reading for each kind that says anything."""
    for pattern, decode in _DECODERS:
        said = " ".join(filter(None, (decode(found[0]) for found in pattern.finditer(text))))
        if said:
            yield said


def words(data: bytes) -> str:
    """The bytes as text when they are mostly that; also packed or in two bytes a letter."""
    if data[:2] == b"\x1f\x8b" or data[:1] == b"\x78":
        try:
            data = zlib.decompressobj(47).decompress(data, UNPACKED_LIMIT)
        except zlib.error:
            return ""
    if data[1::2].count(0) > len(data) * 0.4 or data[::2].count(0) > len(data) * 0.4:
        data = data.replace(b"\0", b"")
    text = data.decode("utf-8", "replace")
    good = sum(c.isprintable() and c != "\ufffd" for c in text)
    return text if text and good / len(text) > 0.9 else ""


def _numbers(run: str) -> str:
    parts = re.findall(r"\d+", run)
    octal = all(set(part) <= set("01234567") for part in parts)
    found = [words(bytes(n for n in map(int, parts) if n < 256))]
    if octal:
        found.append(words(bytes(n for n in (int(part, 8) for part in parts) if n < 256)))
    return " ".join(filter(None, found))


def _binary(run: str) -> str:
    parts = re.findall(r"[01]{8}|[01]{7}", re.sub(r"[^01 ]", " ", run))
    return words(bytes(int(part, 2) for part in parts))


def _escapes(run: str) -> str:
    return "".join(chr(int(code, 16) % 0x110000) for code in re.findall(r"[0-9A-Fa-f]{2,6}", run))


def _base32(run: str) -> str:
    run = run.rstrip("=")
    try:
        return words(base64.b32decode(run[: len(run) // 8 * 8]))
    except (binascii.Error, ValueError):
        return ""


def _base85(run: str) -> str:
    try:
        return words(base64.b85decode(run[: len(run) // 5 * 5]))
    except ValueError:
        return ""


def _selectors(run: str) -> str:
    return words(bytes(ord(c) - 0xFE00 if c < "\uff00" else ord(c) - 0xE0100 + 16 for c in run))


def _spelt(run: str) -> str:
    """By first letters; a stroke or a bar parts words."""
    return re.sub(
        r"\w+[\s,.-]*", lambda found: found[0][0], re.sub(r"\s*[/|]\s*", " / ", run)
    ).replace("/", " ")


_DECODERS: Final[tuple[tuple[re.Pattern[str], Callable[[str], str]], ...]] = (
    (NUMBERS, _numbers),
    (BINARY, _binary),
    (PERCENT, lambda run: unquote(run.replace("=", "%"))),
    (ENTITIES, html.unescape),
    (ESCAPES, _escapes),
    (BASE32, _base32),
    (BASE85, _base85),
    (SELECTORS, _selectors),
    (SPELT, _spelt),
)


def _shifts() -> dict[str, str]:
    """The telling words under every shift of the alphabet, and mirrored, with the way back."""
    telling = [
        "ignore",
        "disregard",
        "forget",
        "verdict",
        "score",
        "grade",
        "grader",
        "judge",
        "rubric",
        "instructions",
        "previous",
        "passed",
        "correct",
        "evaluation",
        "highest",
        "marks",
        "turn",
        "answer",
    ]
    found: dict[str, str] = {}
    for by in range(1, 26):
        there = str.maketrans(_LOW, _LOW[by:] + _LOW[:by])
        back = _LOW[-by:] + _LOW[:-by]
        found |= {word.translate(there): back for word in telling}
    mirrored = str.maketrans(_LOW, _LOW[::-1])
    return found | {word.translate(mirrored): _LOW[::-1] for word in telling}


_SHIFTED: Final = _shifts()


def shifted(seen: str) -> Iterator[str]:
    """Folded text with its alphabet shifted back or mirrored, where that gives telling words."""
    known = {_SHIFTED[word] for word in re.findall(r"[a-z]+", seen) if word in _SHIFTED}
    for back in sorted(known)[:4]:
        yield seen.translate(str.maketrans(_LOW, back))


_PIG: Final = re.compile(r"\b([a-z]+?)(?:way|ay)\b")


def pig_latin(seen: str) -> Iterator[str]:
    """Folded text of which most words end as that game has them, with one or two letters moved."""
    parts = seen.split()
    if len(parts) < 4 or sum(bool(_PIG.match(part)) for part in parts) < 0.6 * len(parts):
        return
    for moved in (1, 2):
        yield " ".join(_moved(part.strip(".,!?"), moved) for part in parts)


def _moved(word: str, letters: int) -> str:
    if word.endswith("way"):
        return word[:-3]
    stem = word.removesuffix("ay")
    return stem[-letters:] + stem[:-letters]
