"""What a reply says of a result's fields by name, `status: delivered`, against the results."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from monitor.model import JsonValue
from monitor.scoring.values import leaves
from monitor.scoring.words import TEXT_LIMIT, is_typed, tokens

CLAIM_LIMIT: Final = 200
"""Named values of one reply that are looked at."""
REMEMBERED_KEYS: Final = 1_024
SHORT_KEY: Final = 64
"""Characters of a key whose words are remembered."""
_NAMED: Final = re.compile(
    r"(?:\A|[\n;.]|[-*\u2022] |\*\*)[ \t*]{0,4}([A-Za-z][\w /-]{1,40}?)(?:\*\*)?:(?:\*\*)?[ \t]+"
    r"([^\n;]{1,200})"
)
_KEY_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LESS: Final = re.compile(
    r"\b(?:no|not|none|out|off|sold|un\w+|in(?:valid|active)|false|empty|closed|cancel\w*|disabled"
    r"|missing|never|nil|expired|denied|failed|error)\b",
    re.I,
)
"""Words of a state that may be called unavailable or none."""
_FACTORS: Final = (10, 100, 1000, 12, 60, 3600, 1.609344, 2.204623, 0.3048, 2.54, 3.785412)
_NOTHING: Final = frozenset(("unavailable", "unknown", "none", "null", "n/a"))

Fields = Mapping[tuple[str, ...], Sequence[JsonValue]]
"""Values by the words of their key."""


class Denied(NamedTuple):
    """A named value that every result with a field of that name denies."""

    field: str
    said: str
    known: JsonValue


def fields_of(results: Sequence[JsonValue]) -> Fields:
    """The scalars of the results by the words of the key that holds them."""
    found: dict[tuple[str, ...], list[JsonValue]] = {}
    for result in results:
        for path, leaf in leaves(result):
            names = [part for part in path.split(".") if not part.isdigit()]
            if names:
                found.setdefault(_words_of(names[-1]), []).append(leaf)
    return found


def named_in(reply: str) -> list[tuple[str, str]]:
    """Name and value of what a reply tells in the form `name: value`.

    Only values of one word or number are taken: a sentence may say the same in other words.
    """
    if ":" not in reply:
        return []
    found = _NAMED.finditer(reply[:TEXT_LIMIT])
    claims = (
        (match[1].strip(), match[2].strip().rstrip(".*").strip())
        for _, match in zip(range(CLAIM_LIMIT), found, strict=False)
    )
    return [(name, said) for name, said in claims if _is_bare(said)]


def denied(claims: Sequence[tuple[str, str]], fields: Fields) -> list[Denied]:
    """Claims that differ from all values of the one field with exactly that name.

    `count: 16` where the tool said 9, and `result: unavailable` where it gave one. A name that the
    reply uses more than once is not the field's.
    """
    wrong: list[Denied] = []
    times = Counter(_words(name) for name, _ in claims)
    for name, said in claims:
        if times[_words(name)] > 1:
            continue
        known = [value for value in fields.get(_words(name), ()) if value is not None]
        if known and not any(_same(said, value) for value in known):
            wrong.append(Denied(name, said, known[0]))
    return wrong


def _is_bare(said: str) -> bool:
    if said.casefold() not in _NOTHING and not _is_number(said):
        return False
    return len(tokens(said, every=True)) == 1


def _is_number(said: str) -> bool:
    return re.fullmatch(r"\d{1,15}(?:\.\d{1,6})?", said) is not None


def _same(said: str, value: JsonValue) -> bool:
    if isinstance(value, bool):
        return True
    if isinstance(value, int | float):
        return not _is_number(said) or _as_reckoned(float(said), value)
    text = str(value)
    if said.casefold() in _NOTHING:
        return not text.strip() or text.casefold() in _NOTHING or bool(_LESS.search(text))
    return said in text or not any(map(is_typed, tokens(text)))


def _as_reckoned(said: float, known: float) -> bool:
    """Whether a number is the known one, rounded or in another unit."""
    if abs(said - known) <= 0.01 * max(1.0, abs(known)) or said == round(known):
        return True
    degrees = (known * 9 / 5 + 32, (known - 32) * 5 / 9)
    others = [*degrees, *(known * f for f in _FACTORS), *(known / f for f in _FACTORS)]
    return any(abs(said - other) <= 0.005 * abs(other) for other in others)


def _words_of(key: str) -> tuple[str, ...]:
    return _words(key) if len(key) > SHORT_KEY else _remembered_words(key)


def _words(name: str) -> tuple[str, ...]:
    return tuple(part.casefold() for part in _KEY_WORD.findall(name))


# A tool has few keys, and every result has them again.
_remembered_words = lru_cache(maxsize=REMEMBERED_KEYS)(_words)
