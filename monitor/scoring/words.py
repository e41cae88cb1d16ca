"""Text as the tokens that carry its meaning: numbers, dates, names of things, content words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

TEXT_LIMIT: Final = 65_536
"""Characters of one text that are looked at."""

REMEMBERED_TEXTS: Final = 8_192
REMEMBERED_CHARACTERS: Final = 1_024
"""Longer texts are taken apart anew each time."""

_MONTH_NAMES: Final = (
    "january jan, february feb, march mar, april apr, may, june jun, july jul, august aug, "
    "september sept sep, october oct, november nov, december dec"
)
MONTHS: Final = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.split(", "), start=1)
    for name in names.split()
}
"""Numbers of the months by their names and short names, in small letters."""
_NUMBER_NAMES: Final = "two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {name: str(number) for number, name in enumerate(_NUMBER_NAMES.split(), start=2)}
_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_TOKEN: Final = re.compile(
    r"(?P<iso>\d{4}-\d{2}-\d{2})(?:[t ](?=\d\d:\d\d)|\b)"
    rf"|(?P<month>{_MONTH})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<year>\d{{4}})\b)?"
    rf"|(?P<day2>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month2>{_MONTH})\b\.?"
    r"(?:,? (?P<year2>\d{4})\b)?"
    r"|(?P<hour>\d{1,2})(?::(?P<minute>\d{2}))? ?(?P<half>[ap])\.?m\b\.?"
    r"|(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)\b"
    r"|(?<![\w.-])(?P<low>\d{1,3})-(?P<high>\d{1,3})(?![\w-])"
    r"|(?P<number>(?<![\w.])[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\w]|[-./:@]\w))"
    r"|(?P<thing>[#@./~]{0,3}\w[\w']*+(?:[-./:@&+#](?=\w)[\w']*+)*+)"
)  # fmt: skip
_NEGATION_WORDS: Final = """
    not no never cannot unable without neither nor none
    nicht kein keine keinen keinem keiner nie niemals pas jamais aucun aucune nunca ningún ninguna
    tampoco não nenhum nenhuma non mai nessuno nessuna niet geen nooit inte ikke nie не нет никогда
    değil नहीं لا لم لن ليس
"""
_NEGATIONS: Final = frozenset(_NEGATION_WORDS.split())
_STOP_WORDS: Final = """
    a an the this that these those it its it's is are was were be been being am i i'm i've i'll i'd
    you you're you've you'll your yours we we've we'll our ours us me my mine he she they them their
    and or but so as at by for from in into of on onto to with about over under up out than then
    there here do does did has have had having will would can could should shall may might must
    which what who whom whose when where why how if while because also just very really please
    sure certainly course absolutely ok okay done set all right alright great perfect thanks thank
    welcome hello hi hey good day happy glad sorry help assist assistance let know feel free
    anything else something further more any some like want need now kindly yes there's that's
    here's what's let's
"""
_GLUE: Final = frozenset(("a", "an", "the", "and", "or"))
_STOP: Final = frozenset(_STOP_WORDS.split())


def tokens(text: str, *, every: bool = False) -> tuple[str, ...]:
    """The meaning-carrying tokens in their order, in one spelling each.

    `1,000.00` and `1000` are one token, so are `May 21, 2024` and `2024-05-21` (a year apart from
    its day), `3 PM` and `15:00`. Words that carry nothing are left out unless `every` is set.
    """
    if len(text) > REMEMBERED_CHARACTERS:
        return _tokens(text, every)
    return _remembered_tokens(text, every)


def _tokens(text: str, every: bool) -> tuple[str, ...]:
    found: list[str] = []
    for match in _TOKEN.finditer(_folded(text)):
        # The outermost group of an alternative closes last, and words are by far the most.
        if match.lastgroup == "thing":
            word = match[0]
            if word.isalnum():
                if word not in _STOP or (every and word not in _GLUE):
                    found.append(_NUMBERS.get(word, word))
            elif (token := _word(word, every)) is not None:
                found.append(token)
        else:
            found.extend(_spelled(match))
    return tuple(found)


# A conversation is scored again with every turn that it gets, and its texts are the same.
_remembered_tokens = lru_cache(maxsize=REMEMBERED_TEXTS)(_tokens)


def is_typed(token: str) -> bool:
    """Whether the token is a value (number, date, id, path, e-mail, tag) and not a word.

    A script without capitals writes words with marks, and whole sentences without a blank.
    """
    if token.isalpha() or "'" in token or token.startswith("year:"):
        return False
    return token.isascii() or not any(unicodedata.category(char) == "Lo" for char in token)


def is_negation(token: str) -> bool:
    """Whether the token turns a statement into its opposite."""
    return token in _NEGATIONS


def normalised(text: str) -> str:
    """The text without regard to case, width, spacing, quote style and closing punctuation."""
    return " ".join(_folded(text).split()).rstrip(" .!")


def _folded(text: str) -> str:
    folded = text[:TEXT_LIMIT]
    if not folded.isascii():
        folded = unicodedata.normalize("NFKC", folded)
        folded = folded.translate({0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'})
    return folded.casefold()


def _spelled(match: re.Match[str]) -> tuple[str, ...]:
    found = match.groupdict()
    if found["number"] is not None:
        return (number_token(found["number"]),)
    if found["clock"] is not None:
        hour, _, rest = found["clock"].partition(":")
        return (f"{int(hour)}:{rest.removesuffix(':00') if len(rest) > 2 else rest}",)
    if found["low"] is not None:
        return number_token(found["low"]), number_token(found["high"])
    if found["half"] is not None:
        return (_half_day(int(found["hour"]), found["minute"] or "00", found["half"]),)
    return _date_of(found)


def number_token(text: str) -> str:
    """A number in one spelling: no thousands separators, no trailing zeros."""
    number = text.replace(",", "").removeprefix("+")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return number.lstrip("0") or "0" if not number.startswith(("0.", "-")) else number


def _word(word: str, every: bool) -> str | None:
    """The word in its one spelling; None when it carries nothing."""
    bare = word.strip("'.-/~@") if not word.startswith(("#", "@", "./", "/")) else word
    if word.endswith("n't"):
        return "not"
    if not bare or (bare in _STOP and not (every and bare not in _GLUE)):
        return None
    return _NUMBERS.get(bare, bare.removesuffix("'s"))


def _date_of(found: dict[str, str | None]) -> tuple[str, ...]:
    if found["iso"] is not None:
        written = found["iso"].split("-")
        return _date(int(written[1]), int(written[2]), written[0])
    name = found["month"] or found["month2"] or ""
    day, year = found["day"] or found["day2"] or "0", found["year"] or found["year2"]
    return _date(MONTHS[name], int(day), year)


def _date(month: int, day: int, year: str | None) -> tuple[str, ...]:
    named = f"{month:02d}-{day:02d}"
    return (named,) if year is None else (named, f"year:{year}")


def _half_day(hour: int, minute: str, half: str) -> str:
    return f"{hour % 12 + (12 if half == 'p' else 0)}:{minute}"
