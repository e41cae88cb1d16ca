"""A judge's quote, found again by our own code in the right place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from monitor.judging.reply import Reply
from monitor.judging.sight import Item, Sight

QUOTE_MIN: Final = 8
"""Characters of a quote, unless the quoted text as a whole is shorter."""
PATH: Final = re.compile(r"[\w$@-]+(?:\[\d{1,4}\]|\.[\w$@-]+)*")
ABSENT_LIMIT: Final = 64
"""Characters of the name of an argument that is missing, which no text of the call can prove."""


def quoted(reply: Reply, seen: Sight, voids: Sequence[str] = ()) -> bool:
    """Whether the quote stands verbatim, after NFC and folded white space, where it must.

    That is in the turn itself; only what was left unanswered is quoted from the user's request.
    A quote that overlaps one of `voids` (suspected injections) proves nothing.
    """
    item = _source(reply, seen)
    if item is None:
        return False
    text, quote = folded(item.text), folded(reply.quote)
    if not quote or quote not in text or len(quote) < min(QUOTE_MIN, len(text)):
        return False
    return not any(_overlap(text, quote, folded(void)) for void in voids)


def argument_path(reply: Reply, seen: Sight) -> str | None:
    """The reply's `field` where it can be an argument of the turn, else None.

    It goes into reports and to other systems, so it is no place for words of the judge's own.
    """
    field, turn = reply.field, seen.turn
    if field is None or turn.role != "call" or not PATH.fullmatch(field):
        return None
    if reply.reason == "missing_parameters":
        return field if len(field) <= ABSENT_LIMIT else None
    names = re.split(r"[.\[\]]+", field.rstrip("]"))
    return field if all(name.isdigit() or name in turn.text for name in names) else None


def _source(reply: Reply, seen: Sight) -> Item | None:
    if reply.source == seen.turn.number:
        return seen.turn
    if reply.reason != "incomplete_response":
        return None
    asked = [item for item in seen.evidence if item.role == "user"]
    return asked[-1] if asked and asked[-1].number == reply.source else None


def folded(text: str) -> str:
    """The text in NFC with every run of white space as one space."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


_SPACE: Final = re.compile(r"\s+")


def _overlap(text: str, quote: str, void: str) -> bool:
    """Whether every place of the quote touches a place of the void."""
    spans = [(found.start(), found.end()) for found in re.finditer(re.escape(quote), text)]
    voids = [(found.start(), found.end()) for found in re.finditer(re.escape(void), text)]
    if not void or not voids:
        return False
    return all(any(a < d and c < b for c, d in voids) for a, b in spans)
