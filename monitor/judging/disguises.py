"""What a text may say under a disguise: the readings in which an order is looked for."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from monitor.judging.codes import LETTERS, decoded, pig_latin, shifted, words

CONFUSABLE: Final = str.maketrans(
    "аеорсухкмтнвіјѕԁԛԝһɡοαενικρτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧАВЕКМНОРСТУХІЈЅ",
    "aeopcyxkmthbijsdqwhgoaevikptuxABEZHIKMNOPTYXABEKMHOPCTYXIJS",
)
LEET: Final = str.maketrans("013457@$!", "oieastasi")
MORSE: Final = {
    code: letter
    for letter, code in zip(
        "abcdefghijklmnopqrstuvwxyz0123456789",
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
            "-----",
            ".----",
            "..---",
            "...--",
            "....-",
            ".....",
            "-....",
            "--...",
            "---..",
            "----.",
        ],
        strict=True,
    )
}
BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,4096}={0,2}")
HEX: Final = re.compile(r"(?:(?:0x|\\x)?[0-9a-fA-F]{2}[\s,:]?){8,2048}")
MORSE_RUN: Final = re.compile(
    r"[.\-\u2013\u00b7\u2022]{1,6}(?:[ /]+[.\-\u2013\u00b7\u2022]{1,6}){5,600}"
)
SPACED: Final = re.compile(r"(?<!\w)\w(?:[\s._*-]\w(?!\w)){2,}")
MARKS: Final = re.compile("[\u0300-\u036f]")
TURNED: Final = re.compile(
    "[\u0250\u0254\u01dd\u025f\u0183\u0265\u1d09\u027e\u029e\u026f\u0279\u0287\u028c\u028d\u028e]"
)
UPRIGHT: Final = str.maketrans("bqpdnu", "qbdpun")
"""Letters that are other letters upside down."""
JOINT: Final = re.compile(r"""["'][\s,;+]*(?:(?:let |var )?["']?\w{1,2}["']?\s*[:=]\s*)?["']""")
"""Between two pieces of a text that is to be put together."""
TAGS: Final = range(0xE0020, 0xE007F)


def plain(text: str) -> str:
    """The text as a reader would take it: compatible forms, look-alikes and invisibles folded."""
    spelt = "".join(chr(ord(c) - 0xE0000) if ord(c) in TAGS else c for c in text)
    wide = unicodedata.normalize("NFKC", spelt)
    if MARKS.search(wide):  # such as still stand alone when all that can be is composed
        wide = MARKS.sub("", unicodedata.normalize("NFD", wide))
    seen = "".join(c for c in wide.translate(LETTERS) if unicodedata.category(c) != "Cf")
    return _latin(seen).casefold()


def _latin(text: str) -> str:
    """Look-alikes of other alphabets made Latin, but only in words that mix two alphabets."""

    def mend(found: re.Match[str]) -> str:
        word = found[0]
        mixed = any(c.isascii() for c in word) and not word.isascii()
        return word.translate(CONFUSABLE) if mixed else word

    return re.sub(r"\w+", mend, text)


def readings(text: str) -> Iterator[str]:
    """The text itself, folded, and every decoding of it that gives words, also of a decoding."""
    yield from _once(text)
    for inner in _decoded(text):
        yield from _once(inner)
        for innermost in _decoded(inner):
            yield plain(innermost)


def _once(text: str) -> Iterator[str]:
    seen = plain(text)
    yield seen
    if any(c in seen for c in "013457@$"):
        yield seen.translate(LEET)
    if SPACED.search(seen):
        yield SPACED.sub(lambda found: re.sub(r"[\s._*-]", "", found[0]), seen)
    yield codecs.encode(seen, "rot13")
    yield seen[::-1]
    if TURNED.search(text):
        yield seen[::-1].translate(UPRIGHT)
    if JOINT.search(seen):
        yield JOINT.sub("", seen)
    yield from shifted(seen)
    yield from pig_latin(seen)


def _decoded(text: str) -> Iterator[str]:
    yield from filter(None, (_base64(text), _hex(text), _morse(text)))
    yield from decoded(text)


def _base64(text: str) -> str:
    return " ".join(words(_unpacked(found[0])) for found in BASE64.finditer(text))


def _unpacked(run: str) -> bytes:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run[: len(run) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _hex(text: str) -> str:
    runs = (re.sub(r"0x|\\x|[\s,:]", "", found[0]) for found in HEX.finditer(text))
    return " ".join(words(bytes.fromhex(run[: len(run) // 2 * 2])) for run in runs)


def _morse(text: str) -> str:
    """Each run as letters; read once more without its first sign, which may end a sentence."""
    words = []
    for found in MORSE_RUN.finditer(text):
        run = re.sub("\u2013", "-", re.sub("[\u00b7\u2022]", ".", found[0]))
        for code in (run, run.partition(" ")[2]):
            letters = (
                "".join(MORSE.get(sign, "") for sign in word.split()) for word in code.split("/")
            )
            words.append(" ".join(letters))
    return " ".join(words)
