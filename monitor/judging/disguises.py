"""What a text may say under a disguise: the readings in which an order is looked for."""

from __future__ import annotations

import base64
import binascii
import codecs
import re
import unicodedata
from collections.abc import Iterator
from typing import Final

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
SPACED: Final = re.compile(r"(?:\b\w[\s._*-]){5,}\w\b")
TAGS: Final = range(0xE0020, 0xE007F)


def plain(text: str) -> str:
    """The text as a reader would take it: compatible forms, look-alikes and invisibles folded."""
    spelt = "".join(chr(ord(c) - 0xE0000) if ord(c) in TAGS else c for c in text)
    wide = unicodedata.normalize("NFKC", spelt)
    seen = "".join(c for c in wide if unicodedata.category(c) != "Cf")
    return _latin(seen).casefold()


def _latin(text: str) -> str:
    """Look-alikes of other alphabets made Latin, but only in words that mix two alphabets."""

    def mend(found: re.Match[str]) -> str:
        word = found[0]
        mixed = any(c.isascii() for c in word) and not word.isascii()
        return word.translate(CONFUSABLE) if mixed else word

    return re.sub(r"\w+", mend, text)


def readings(text: str) -> Iterator[str]:
    """The text itself, folded, and every decoding of it that gives words; at most eight."""
    seen = plain(text)
    yield seen
    if any(c in seen for c in "013457@$"):
        yield seen.translate(LEET)
    if SPACED.search(seen):
        yield SPACED.sub(lambda found: re.sub(r"[\s._*-]", "", found[0]), seen)
    yield codecs.encode(seen, "rot13")
    yield seen[::-1]
    for decoded in (_base64(text), _hex(text), _morse(text)):
        if decoded:
            yield plain(decoded)


def _base64(text: str) -> str:
    return " ".join(_words(_unpacked(found[0])) for found in BASE64.finditer(text))


def _unpacked(run: str) -> bytes:
    run = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(run[: len(run) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _hex(text: str) -> str:
    runs = (re.sub(r"0x|\\x|[\s,:]", "", found[0]) for found in HEX.finditer(text))
    return " ".join(_words(bytes.fromhex(run[: len(run) // 2 * 2])) for run in runs)


def _words(data: bytes) -> str:
    """The bytes as text when they are mostly that."""
    text = data.decode("utf-8", "replace")
    good = sum(c.isprintable() and c != "\ufffd" for c in text)
    return text if text and good / len(text) > 0.9 else ""


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
