"""The values in a user's words that make one request another: numbers, dates, ids, addresses."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TEXT_LIMIT: Final = 20_000
"""Characters that are looked at."""

_MONTHS: Final = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_SMALL: Final = {
    word: str(value)
    for value, word in enumerate(
        (
            "zero",
            "one",
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        )
    )
    if word != "one"
}
# Each repeat is bounded, so that a hostile text costs no more than its length.
_VALUE: Final = re.compile(
    r"(?P<placeholder><[a-z_]{2,32}:[0-9a-f]{4,32}>)"
    r"|(?P<email>(?<![\w.+%-])[\w.+%-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8})"
    r"|(?P<link>https?://[^\s<>\"')]+)"
    r"|\"(?P<quoted>[^\"\n]{1,200})\""
    r"|(?<!\w)'(?P<single>[^'\n]{1,200})'(?!\w)"
    r"|`(?P<code>[^`\n]{1,200})`"
    rf"|(?P<named>(?<!\w)(?:{_MONTHS})\.?\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?(?!\w)"
    rf"|(?<!\w)\d{{1,2}}(?:st|nd|rd|th)?(?:\s+of)?\s+(?:{_MONTHS})(?:,?\s+\d{{4}})?(?!\w))"
    r"|(?P<date>(?<!\w)(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})(?!\w))"
    r"|(?P<number>(?:(?<!\w)[+-])?\d{1,40}(?:[.,:]\d{1,40}){0,8}%?(?!\w|-\w))"
    r"|(?P<token>#?\w+(?:-\w+)*)"
)
_QUOTES: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_SPACE: Final = re.compile(r"\s+")


def normalised(text: str) -> str:
    """The text without what does not count in a request: case, blanks, closing marks."""
    text = unicodedata.normalize("NFKC", text[:TEXT_LIMIT]).translate(_QUOTES).casefold()
    return _SPACE.sub(" ", text).strip(" .!?,;")


def typed_values(text: str) -> tuple[str, ...]:
    """Each typed value as `kind:value`, sorted, repeats dropped: equal requests give equal tuples.

    Redaction placeholders count as values. A date keeps the form in which it was written, so two
    spellings of one day are told apart rather than guessed at.
    """
    text = unicodedata.normalize("NFKC", text[:TEXT_LIMIT]).translate(_QUOTES).casefold()
    found = set()
    for match in _VALUE.finditer(text):
        kind = match.lastgroup or "number"
        value = match[kind].strip()
        if kind == "number":
            value = _number(value)
        elif kind == "token":
            kind, value = _token(value)
        elif kind in ("single", "code"):
            kind = "quoted"
        elif kind == "named":
            value = _SPACE.sub(" ", re.sub(r"(?<=\d)(?:st|nd|rd|th)\b|[.,]|\bof\b", "", value))
        if kind:
            found.add(f"{kind}:{value}")
    return tuple(sorted(found))


def _token(token: str) -> tuple[str, str]:
    """Kind and value of a word; the kind of an ordinary word is empty."""
    if token in _SMALL:
        return "number", _SMALL[token]
    named = token[0] == "#" or any(char.isdigit() for char in token)
    return ("id", token) if named else ("", token)


def _number(text: str) -> str:
    plain = re.sub(r",(?=\d{3}(?:\D|$))", "", text).lstrip("+")
    whole, point, rest = plain.partition(".")
    return whole if point and not rest.strip("0") else plain
