"""A text as the features see it: words without accents, their set, runs of them, its figures."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import Final

from monitor.comparison.tables import FILLER
from monitor.comparison.words import folded, words_of

WORDS_LIMIT: Final = 600
"""Words of one text that are looked at."""
TEXT_LIMIT: Final = 8_000
"""Characters of one text that are looked at."""
PREFIX: Final = 5
"""Letters by which two forms of one word are recognised."""

_LATIN: Final = "\u024f"
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_GLUED: Final = re.compile(r"[\W_]+")


class Text:
    """One text, taken apart once; parts that are seldom asked for are made when they are."""

    __slots__ = ("__dict__", "bag", "claims", "glued", "raw", "run", "said", "words")

    def __init__(self, raw: str) -> None:
        """`raw` is as it came; what lies beyond the limits is not looked at."""
        self.raw = raw[:TEXT_LIMIT]
        self.said = plain(folded(self.raw))
        """Folded, without accents."""
        self.words = words_of(self.said)[:WORDS_LIMIT]
        """All words in order."""
        kept = [word for word in self.words if word not in FILLER and word[0].isalnum()]
        self.claims = kept or self.words
        """The words without fillers and marks; all of them when nothing else is left."""
        self.bag = frozenset(self.claims)
        self.run = f" {' '.join(self.claims)} "
        """The claim words between blanks, to find a run of words in."""
        self.glued = _GLUED.sub("", self.said)
        """Letters and digits alone."""

    @cached_property
    def is_foreign(self) -> bool:
        """Whether most letters are of another script than Latin."""
        letters = [char for char in self.said[:200] if char.isalpha()]
        return 2 * sum(char > _LATIN for char in letters) > len(letters)

    @cached_property
    def prefixes(self) -> frozenset[str]:
        """The beginnings of the claim words."""
        return frozenset(word[:PREFIX] for word in self.claims if len(word) >= PREFIX)

    @cached_property
    def figures(self) -> frozenset[str]:
        """The claim words that hold a digit."""
        return frozenset(word for word in self.claims if any(map(str.isdigit, word)))

    @cached_property
    def first_sentence(self) -> Text:
        """The first sentence as a text of its own."""
        parts = _SENTENCE.split(self.raw.strip(), 1)
        return self if len(parts) == 1 else Text(parts[0])


def plain(text: str) -> str:
    """The text without accents."""
    if text.isascii():
        return text
    return "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
