"""Numbers as people say them: figure by figure, in groups, in words, in another script."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from monitor.scoring.words import TEXT_LIMIT

_FIGURES: Final = "zero one two three four five six seven eight nine"
_FIGURE_OF: Final = {name: str(number) for number, name in enumerate(_FIGURES.split())}
_FIGURE_OF["oh"] = "0"
_SMALL: Final = (
    f"{_FIGURES} ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
)
_NUMBER_OF: Final = {name: number for number, name in enumerate(_SMALL.split())}
_NUMBER_WORD: Final = re.compile(
    rf"\b(?:{_SMALL.replace(' ', '|')}|oh|double|triple|hundred|thousand"
    r"|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)\b"
)
_WORD: Final = re.compile(r"[^\W\d_]+|\d")


def digits_of(text: str) -> str:
    """All figures of a text in their order, whatever stands between them, those in words too."""
    found = _WORD.findall(_folded(text))
    return "".join(
        [str(int(part)) if part.isdecimal() else _FIGURE_OF.get(part, "") for part in found]
    )


def spells_numbers(text: str) -> bool:
    """Whether several words of a text are numbers, so that an id may be read out in it."""
    return len(_NUMBER_WORD.findall(_folded(text))) > 1


def names_number(text: str, number: float) -> bool:
    """Whether a text has a small number as a word."""
    return any(_NUMBER_OF.get(word) == number for word in _NUMBER_WORD.findall(_folded(text)))


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text[:TEXT_LIMIT]).casefold()
