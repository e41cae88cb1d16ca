"""Text brought to a common form: folded, split into words, synonyms and fillers removed."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from monitor.comparison.dates import Period, split_quarter
from monitor.comparison.tables import ALIASES, FILLER, NUMBER_WORDS, WORDS

_QUOTES: Final = str.maketrans(
    {
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2013": "-",
        "\u2014": "-",
        "\u2212": "-",
        "\u00a0": " ",
        "\u200b": "",
        "\u2026": "...",
    }
)
_WORD: Final = re.compile(
    r"<[a-z_]{2,32}:[0-9a-f]{4,32}>"  # what stands for a redacted value
    r"|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}"
    r"|https?://\S+"
    r"|[$€£¥₹]?[+-]?\d[\d.,:/]{0,40}\d%?|[$€£¥₹]?\d%?"
    r"|[^\W\d_]{1,40}'[^\W\d_]{1,40}|[^\W_]+|&|\*\*|[+*/^=<>%-]"
)
_GROUPS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ZEROS: Final = re.compile(r"(?<=\d)\.0+(?=%?$)|(?<=\.\d)0+(?=%?$)")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")


def folded(text: str) -> str:
    """Compatibility form, case folded, quotes and dashes plain, blanks single."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    return " ".join(text.split()).casefold()


def words_of(text: str) -> list[str]:
    """The words of a folded text in order; marks between them are dropped."""
    return [_word(match) for match in _WORD.findall(text)]


def claim_words(text: str) -> list[str]:
    """The words that carry a claim: no fillers, synonyms replaced, a period as one word."""
    period, rest = split_quarter(text)
    words = [word for word in words_of(rest) if word not in FILLER and word not in _MARKS]
    if period is not None:
        return [_period_word(period), *words]
    return words or words_of(rest)


def squeezed(text: str) -> str:
    """Letters and digits only, for names that differ in case, blanks and marks."""
    return re.sub(r"[\W_]+", "", folded(text))


def spaced(text: str) -> str:
    """A programmer's name as words: `roundTrip`, `round_trip` and `round-trip` are one."""
    return folded(_CAMEL.sub(" ", text).replace("_", " ").replace("-", " "))


def alias_of(text: str) -> str:
    """The usual name behind a short one; the text itself when there is none."""
    return ALIASES.get(text, text)


_COUNTED: Final = {word: str(value) for word, value in NUMBER_WORDS.items() if value > 1}
_MARKS: Final = frozenset({"&", "-", "/", "+", "*", "=", "<", ">", "^", "%", "**"})


def _word(word: str) -> str:
    word = word.removesuffix("'s").replace("'", "")
    if word[-1].isdigit() or word[-1] == "%":
        return _figure(word)
    if word in _COUNTED:
        return _COUNTED[word]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word.removesuffix("s")
    return WORDS.get(word, word)


def _figure(word: str) -> str:
    """Thousands and decimals in one spelling; a currency or percent sign stays."""
    if "," in word:
        word = _GROUPS.sub("", word)
    return _ZEROS.sub("", word) if "." in word else word


def _period_word(period: Period) -> str:
    return f"{period.year or ''}q{period.part - 100}"
