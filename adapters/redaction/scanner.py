"""Finds what must go in a text, and puts placeholders in its place."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from adapters.redaction import addresses, glance, keys, numbers, phones, secrets, spoken
from adapters.redaction.folding import folded
from adapters.redaction.hits import Hit
from adapters.redaction.placeholders import VALUE_DIGITS, Placeholders
from adapters.redaction.words import before, says_phone, says_phone_after

KINDS: Final = frozenset(
    ("email", "phone", "card", "iban", "ssn", "national_id", "ip", "jwt", "key", "pem", "secret")
)
LEAST_LENGTH: Final = 6
"""Nothing shorter is found, save by a pattern of the operator's own."""

_STRETCH: Final = re.compile(r"[0-9](?:[ .()/\-]{0,3}[0-9])*")
_LEAST_DIGITS: Final = 7
_CARD_DIGITS: Final = 13
_MOBILE_DIGITS: Final = 11


class Scanner:
    """Redacts single texts. Holds no state: the same text gives the same result everywhere."""

    def __init__(
        self,
        placeholders: Placeholders,
        kinds: Collection[str] = KINDS,
        patterns: Mapping[str, re.Pattern[str]] | None = None,
    ) -> None:
        """`patterns` are the operator's own by label; they come before all others."""
        self._placeholders = placeholders
        self._patterns = dict(patterns or {})
        self._labels = {kind.upper() for kind in kinds} | set(self._patterns)

    def redact(self, text: str, digits: int = VALUE_DIGITS) -> str:
        """The text with placeholders of that many digits; the same object when it is clean."""
        if len(text) < LEAST_LENGTH and not self._patterns:
            return text
        fold = folded(text)
        seen = fold.text if fold else text
        hits = self._hits(seen)
        if not hits:
            return text
        pieces: list[str] = []
        at = 0
        for hit in hits:
            start, end = fold.original(hit.start, hit.end) if fold else (hit.start, hit.end)
            pieces += (text[at:start], self._placeholders.make(hit.label, hit.value, digits))
            at = end
        pieces.append(text[at:])
        return "".join(pieces)

    def secret(self, value: str) -> str:
        """The placeholder of a text that is a secret as a whole; itself where that is no kind."""
        return self._placeholders.make("SECRET", value) if "SECRET" in self._labels else value

    def may_hold(self, text: str) -> bool:
        """Whether a text without escapes or look-alikes could hold anything."""
        signs = glance.signs_of(text)
        if signs == glance.LONG_WORD and not self._patterns:
            # Long words are common, and a sure look at the whole is cheaper than one at each part.
            return any(self._found(text, signs))
        return bool(signs) or bool(self._patterns)

    def _hits(self, text: str) -> list[Hit]:
        """Hits that do not overlap, in order; of two the first found stays."""
        signs = glance.signs_of(text)
        if not signs and not self._patterns:
            return []
        taken: bytearray | None = None
        kept: list[Hit] = []
        for hit in self._found(text, signs):
            if hit.label not in self._labels:
                continue
            if taken is None:
                taken = bytearray(len(text))
            if taken.find(1, hit.start, hit.end) < 0:
                taken[hit.start : hit.end] = b"\1" * (hit.end - hit.start)
                kept.append(hit)
        kept.sort()
        return kept

    def _found(self, text: str, signs: int) -> Iterator[Hit]:
        """All hits, the surer kinds first."""
        for label, pattern in self._patterns.items():
            for found in pattern.finditer(text):
                if found[0]:
                    yield Hit(*found.span(), label, found[0])
        for sign, detect in _DETECTORS:
            if signs & sign:
                yield from detect(text)


def _of_digits(text: str) -> Iterator[Hit]:
    """Hits among the text's stretches of digits; what has few digits is passed over."""
    for stretch in _STRETCH.finditer(text):
        start, end = stretch.span()
        if end - start < _LEAST_DIGITS:
            continue
        written = stretch[0]
        bare = written.isdigit()
        if bare and _says_nothing(text, start, end):
            continue
        count = end - start if bare else sum(map(str.isdigit, written))
        if count >= _LEAST_DIGITS:
            while start and text[start - 1] in "+(":
                start -= 1
            yield from _of_stretch(text, start, end, count)


def _of_stretch(text: str, start: int, end: int, count: int) -> Iterator[Hit]:
    """What the stretch is, the surest first; once the whole is known, nothing more is asked."""
    words = before(text, start)
    for detect in _STRETCHES:
        hits = list(detect(text, start, end, count, words))
        yield from hits
        if hits and hits[0].start <= start and hits[0].end >= end:
            return


def _abroad(text: str, start: int, end: int, count: int, words: str) -> Iterator[Hit]:
    if text[start] in "+(" or text.find("00", start, end) >= 0:
        yield from phones.international(text, start, end)


def _cards(text: str, start: int, end: int, count: int, words: str) -> Iterator[Hit]:
    if count >= _CARD_DIGITS:
        yield from numbers.cards(text, start, end)


def _phones(text: str, start: int, end: int, count: int, words: str) -> Iterator[Hit]:
    if count < end - start:
        yield from phones.written(text, start, end)
    if count >= _MOBILE_DIGITS:
        yield from phones.chinese(text, start, end)
    if says_phone(words) or says_phone_after(text, end):
        yield from phones.by_words(text, start, end)


_STRETCHES: Final = (_abroad, numbers.person_numbers, _cards, _phones)


def _says_nothing(text: str, start: int, end: int) -> bool:
    """Whether bare digits are part of a word, or too few to be anything without words before."""
    if text[end : end + 1].isalpha():
        return False
    before = text[start - 1 : start] if start else ""
    if before.isascii() and (before.isalnum() or before == "_"):
        return True
    return not before and end - start in (7, 8, 9, 10, 12) and text[end : end + 2].isascii()


_DETECTORS: Final = (
    (glance.PEM, keys.pem_blocks),
    (glance.LONG_WORD, keys.keys),
    (glance.LOGIN, secrets.credentials),
    (glance.SECRET_WORD, secrets.named_secrets),
    (glance.SECRET_WORD, secrets.shown_secrets),
    (glance.AT, addresses.emails),
    (glance.SPOKEN_AT, addresses.spoken_emails),
    (glance.COLONS, addresses.ipv6),
    (glance.DOTS, addresses.ipv4),
    (glance.DIGITS, numbers.accounts),
    (glance.LETTERED, numbers.lettered_numbers),
    (glance.LETTERED, numbers.italian_codes),
    (glance.DIGITS, _of_digits),
    (glance.SECRET_WORD, spoken.spoken),
)
"""The surer kinds first: of two hits that overlap the first stays."""
