"""Text as a reader sees it: look-alike digits, invisible characters and escapes folded, with a map.

Detectors look at folded text; what they find is replaced in the original, so nothing else of a
text changes.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import lru_cache
from typing import Final, NamedTuple

# Characters that hide a value from a pattern: invisible ones, other blanks and dashes, and the
# digits, letters and signs of other scripts and styles that stand for ASCII ones.
_ODD: Final = re.compile(
    "[\u00a0\u00ad\u034f\u061c\u180e\u2000-\u200f\u2010-\u2015\u2024\u2028-\u202f\u2043"
    "\u205f-\u2064\u2066-\u206f\u2212\u3000\u30fc\ufe00-\ufe0f\ufe50-\ufe6b\ufeff\uff01-\uff5e"
    "\u00b2\u00b3\u00b9\u2070-\u2089\u2460-\u2468\u0660-\u0669\u06f0-\u06f9\u07c0-\u07c9"
    "\u0966-\u096f\u09e6-\u09ef\u0a66-\u0a6f\u0ae6-\u0aef\u0b66-\u0b6f\u0be6-\u0bef"
    "\u0c66-\u0c6f\u0ce6-\u0cef\u0d66-\u0d6f\u0e50-\u0e59\u0ed0-\u0ed9\u0f20-\u0f29"
    "\u1040-\u1049\u17e0-\u17e9\u1810-\u1819\U0001d400-\U0001d7ff\U000e0000-\U000e007f]"
)
# JSON written inside a text keeps its escapes, once or several times over.
_ESCAPE: Final = re.compile(r"\\{1,8}(?:u([0-9a-fA-F]{4})|([nrtbf/\"']))")
# What of these is read as nothing at all; each of the others stands for one character.
_INVISIBLE_ODD: Final = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e007f]"
)
_DASHES: Final = frozenset("\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\ufe58\ufe63\u30fc")
_LETTERS: Final = {"n": "\n", "r": "\n", "t": " ", "b": " ", "f": " "}
_FOREIGN: Final = re.compile(r"[^\x00-\x7f]+")
_LONG_VOWEL: Final = "\u30fc"
_INVISIBLE: Final = frozenset({"Cf", "Mn"})


class Folded(NamedTuple):
    """Folded text, and where its stretches stand in the original."""

    text: str
    starts: list[int]
    """Where each stretch begins in `text`, ascending, the first at 0."""
    begins: list[int]
    """Where it begins in the original."""
    ends: list[int]
    """Where a folded character ends in the original; -1 for a stretch that reads as it stands."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The slice of the original behind a slice (not empty) of the folded text."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_right(self.starts, end - 1) - 1
        begin, finish = self.begins[first], self.ends[last]
        if self.ends[first] < 0:
            begin += start - self.starts[first]
        if finish < 0:
            finish = self.begins[last] + end - self.starts[last]
        return begin, finish


def folded(text: str) -> Folded | None:
    """The text folded; None when it reads the same as it stands."""
    if "\\" not in text and _LONG_VOWEL not in text and not _INVISIBLE_ODD.search(text):
        seen = text if text.isascii() else text.translate(_SEEN)
        if len(seen) == len(text):
            return None if seen == text else Folded(seen, [0], [0], [-1])
    marks = list(_ESCAPE.finditer(text)) if "\\" in text else []
    if not text.isascii():
        escapes = len(marks)
        for run in _FOREIGN.finditer(text):
            marks += [mark for mark in _ODD.finditer(text, *run.span()) if _counts(text, mark)]
        if escapes:
            marks.sort(key=lambda mark: mark.start())
    return _joined(text, marks) if marks else None


def _counts(text: str, mark: re.Match[str]) -> bool:
    """A long vowel's mark is a dash between digits, and elsewhere a part of words."""
    return mark[0] != _LONG_VOWEL or text[mark.start() - 1 : mark.start()].isdigit()


def _joined(text: str, marks: list[re.Match[str]]) -> Folded:
    pieces: list[str] = []
    starts, begins, ends = [0], [0], [-1]
    at = length = 0
    for mark in marks:
        begin, end = mark.span()
        piece = _unescaped(mark) if text[begin] == "\\" else _plain(text[begin])
        pieces += (text[at:begin], piece)
        length += begin - at
        starts += (length, length + len(piece))
        begins += (begin, end)
        ends += (end, -1)
        length += len(piece)
        at = end
    pieces.append(text[at:])
    return Folded("".join(pieces), starts, begins, ends)


def _unescaped(mark: re.Match[str]) -> str:
    if mark[1]:
        char = chr(int(mark[1], 16))
        return _plain(char) if _ODD.match(char) else char
    return _LETTERS.get(mark[2], mark[2])


class _Seen(dict[int, str]):
    """What each character is read as, by its code."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        seen = self[code] = _plain(char) if _ODD.match(char) else char
        return seen


_SEEN: Final = _Seen()


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    """What a reader takes the character for; nothing for an invisible one."""
    if char in _DASHES:
        return "-"
    digit = unicodedata.digit(char, None)
    if digit is not None:
        return str(digit)
    if unicodedata.category(char) in _INVISIBLE:
        return ""
    wide = unicodedata.normalize("NFKC", char)
    return "-" if wide in _DASHES else wide
