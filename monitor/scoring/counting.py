"""How many there are: a number that a reply states of things which a tool has listed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from monitor.model import JsonValue
from monitor.scoring.values import DEPTH_LIMIT
from monitor.scoring.words import TEXT_LIMIT

CLAIM_LIMIT: Final = 20
"""Counts of one reply that are looked at."""
LISTING_LIMIT: Final = 200
"""Listings of one conversation's results that are looked at."""

_NAMES: Final = "two three four five six seven eight nine ten eleven twelve"
_NUMBERS: Final = {name: number for number, name in enumerate(_NAMES.split(), start=2)}
_CLAIM: Final = re.compile(
    rf"\b(?:there (?:are|is)|there're|we (?:currently )?(?:have|offer)|i (?:found|see)|found)"
    rf"\s(?:currently\s|now\s|exactly\s|only\s|a total of\s|\*\*){{0,3}}"
    rf"(\d{{1,4}}|{_NAMES.replace(' ', '|')})(?:\*\*)?\s((?:[\w'-]{{1,30}}[ \t]?){{1,8}})"
)
_SPEAKING: Final = ("there", "we ", "found", "see ")
"""Some such word is in every claim."""
_GENERAL_WORDS: Final = """
    option item variant product choice kind type currently now right at moment present in total our
    we us you your for online store shop catalog stock that are is and of the this these to choose
    from with
"""
_GENERAL: Final = frozenset(_GENERAL_WORDS.split())
"""Words about the listed things that pick none out, in the singular as `_words` has it."""
_WORD: Final = re.compile(r"[a-z]{2,}")


class Listing(NamedTuple):
    """Records of one kind that a result lists."""

    about: frozenset[str]
    """Words of what they are: the key that holds them, and the name beside it."""
    name: frozenset[str]
    size: int
    flags: Mapping[str, int]
    """How many of them are true in each field that says yes or no of all."""


class Claim(NamedTuple):
    """A count that a reply states."""

    stated: int
    words: frozenset[str]
    """What is counted, and how."""
    text: str


class Count(NamedTuple):
    """A claim that is wrong, and the true count."""

    claim: Claim
    true: int


def counts_in(reply: str) -> list[Claim]:
    """The counts that a reply states."""
    text = reply[:TEXT_LIMIT].casefold()
    if not any(word in text for word in _SPEAKING):
        return []
    found = _CLAIM.finditer(text)
    return [
        Claim(_number(match[1]), frozenset(_words(match[2])), match[0].strip())
        for _, match in zip(range(CLAIM_LIMIT), found, strict=False)
    ]


def listings(value: JsonValue) -> Iterator[Listing]:
    """The lists and tables of records in a decoded result, nested ones too."""
    stack: list[tuple[str, JsonValue, frozenset[str], int]] = [("", value, frozenset(), 0)]
    while stack:
        key, item, name, depth = stack.pop()
        if depth >= DEPTH_LIMIT or not isinstance(item, dict | list):
            continue
        records = [*item.values()] if isinstance(item, dict) else item
        if len(records) > 1 and all(isinstance(record, dict) for record in records):
            yield _listing(key, records, name)
        inner = frozenset(_words(item.get("name"))) if isinstance(item, dict) else frozenset()
        children = item.items() if isinstance(item, dict) else ((key, part) for part in item)
        stack += [(str(k), v, inner or name, depth + 1) for k, v in children]


def miscounted(claims: Sequence[Claim], found: Sequence[Listing]) -> tuple[list[Count], bool]:
    """Counts that the listings deny, and whether every claim could be looked up.

    A count is denied when what is counted is named as one listing is, and a field that says yes
    or no of every record is spoken of: `11 available t-shirt options`. Without such a field, or
    with a further word (`blue`), it is open which of the records are meant.
    """
    wrong: list[Count] = []
    sure = True
    for claim in claims:
        flags = [(listing, _flag(claim.words, listing)) for listing in found]
        meant = [(listing, flag) for listing, flag in flags if flag is not None]
        true = {listing.flags[flag] for listing, flag in meant}
        if not true or any(_picks(claim.words, *each) for each in meant):
            sure = sure and claim.stated in true
        elif claim.stated not in true:
            stated = claim.stated
            wrong.append(Count(claim, min(true, key=lambda n: (abs(n - stated), n))))
    return wrong, sure


def _flag(words: frozenset[str], listing: Listing) -> str | None:
    """The field of the listing that the words speak of, when they name the listed things, too."""
    named = listing.name if listing.name else listing.about
    if not named or not named <= words:
        return None
    return next((flag for flag in listing.flags if flag in words), None)


def _picks(words: frozenset[str], listing: Listing, flag: str) -> bool:
    """Whether a word may pick some of the listed things out."""
    return not words <= {*listing.name, *listing.about, flag, *_GENERAL}


def _listing(key: str, records: Sequence[Mapping[str, JsonValue]], name: frozenset[str]) -> Listing:
    shared = set(records[0]).intersection(*records[1:])
    flags = {
        field.casefold(): sum(record[field] is True for record in records)
        for field in sorted(shared)
        if all(isinstance(record[field], bool) for record in records)
    }
    return Listing(frozenset(_words(key)), name, len(records), flags)


def _number(written: str) -> int:
    return _NUMBERS.get(written) or int(written)


def _words(value: JsonValue) -> list[str]:
    """Words in the singular, as far as an s tells."""
    text = value.casefold()[:200] if isinstance(value, str) else ""
    return [word.removesuffix("s") for word in _WORD.findall(text)]
