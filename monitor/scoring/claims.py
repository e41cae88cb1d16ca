"""A reply cut into claims, and two replies' claims matched with each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from monitor.scoring.literals import quoted
from monitor.scoring.words import TEXT_LIMIT, is_typed, tokens

CLAIM_LIMIT: Final = 400
"""Claims of one reply that are told apart; what follows counts as one last claim."""

SHORT_VALUE: Final = 3
"""Words up to which a value is taken word by word."""

# The patterns have no two unbounded repeats in a row: replies come from outside. Blanks are
# single by the time they are tried. A full stop inside a name is followed by no blank.
_BLANKS: Final = re.compile(r"[^\S\n]+")
_COARSE: Final = re.compile(
    r"(?<=[.!?])[\"')\]]{0,3}\s|; ?| ?\n[ \n]*(?:[-*\u2022] |\d{1,3}[.)] )?"
)
_FINE: Final = re.compile(rf"{_COARSE.pattern}|[.!?]{{0,3}}, (?!\d{{4}}\b)(?:and )?")
_KEYED: Final = re.compile(r"\W{0,8}([^:.!?]{1,60}?)(?:\*\*)?:(?:\*\*)?\s(?=\S)")
_SAID: Final = re.compile(r"\W{0,8}((?:[\w'-]{1,40}\s){1,6}?)(?:is|are|was|were)\s(?=\S)")
_ITEM: Final = re.compile(r":\s|,\s(?:and\s|or\s)?|\s(?:and|or)\s")
_NAME: Final = re.compile(r"\b[A-Z][\w'-]{0,40}")
_MUTUAL: Final = frozenset(
    ("met", "meets", "meet", "married", "equals", "equal", "matches", "versus")
)
"""Words that say the same of both, whoever is named first."""
_DIRECTION: Final = re.compile(r"\b(from|to|into)\s((?:the\s|an?\s)?\S+)", re.IGNORECASE)


class Claim(NamedTuple):
    """One statement of a reply."""

    text: str
    tokens: tuple[str, ...]
    position: int = 0
    """Its place in the reply; claims that follow each other directly differ by 1."""

    @property
    def bag(self) -> frozenset[tuple[str, int]]:
        """The tokens without their order, each with its count."""
        return frozenset(Counter(self.tokens).items())


class Matched(NamedTuple):
    """What is left of two replies once the claims that they share are taken away."""

    expected: tuple[Claim, ...]
    actual: tuple[Claim, ...]
    shared: int


def matched_claims(expected: str, actual: str) -> Matched:
    """Take away equal claims, in any order; cut at commas only where that leaves less over."""
    coarse = _unshared(
        *(_cut(_BLANKS.sub(" ", text[:TEXT_LIMIT]), _COARSE) for text in (expected, actual))
    )
    if not coarse.expected and not coarse.actual:
        return coarse
    fine = _unshared(_cut_finer(coarse.expected), _cut_finer(coarse.actual))
    left = len(fine.expected) + len(fine.actual)
    if left < len(coarse.expected) + len(coarse.actual):
        return fine._replace(shared=fine.shared + coarse.shared)
    return coarse


def keyed(claim: Claim) -> tuple[tuple[str, ...], str] | None:
    """Subject and value of a claim such as `total: 5` or `the total is 5`."""
    return _subject_and_value(claim.text)


def _subject_and_value(text: str) -> tuple[tuple[str, ...], str] | None:
    for pattern in (_KEYED, _SAID):
        found = pattern.match(text)
        if found is not None:
            subject = tokens(found[1])
            if subject:
                return subject, text[found.end() :].rstrip(" .!;,")
    return None


def loses_item(claim: Claim, lost: Sequence[str]) -> bool:
    """Whether the claim lists things and one of them is among the lost tokens as a whole."""
    items = [tokens(item) for item in _ITEM.split(claim.text)]
    return len(items) > 2 and any(item and set(item) <= set(lost) for item in items)


def slot_of(left: Sequence[str], right: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is left of both when their common beginning and end are taken away."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    return [*left[start : len(left) - end]], [*right[start : len(right) - end]]


def is_swapped(left: Claim, right: Claim) -> bool:
    """Whether two things of one claim have changed places in the other.

    Both speak of a way between them, in opposite directions, or all else stands where it stood.
    """
    if _exchanged(left, right):
        return True
    one, other = _ends(left.text), _ends(right.text)
    if one is None or other is None or one[0] == one[1]:
        return False
    return one == (other[1], other[0])


def _exchanged(left: Claim, right: Claim) -> bool:
    """Whether the claims differ in two names or two values that have changed places.

    With nothing but other such things between them they are a list, whose order is free.
    """
    one, other = left.tokens, right.tokens
    if one == other or len(one) != len(other):
        return False
    apart = [at for at, token in enumerate(one) if token != other[at]]
    if len(apart) != 2:
        return False
    first, last = apart
    if (one[first], one[last]) != (other[last], other[first]):
        return False
    names = _names(left.text) & _names(right.text)
    both = {one[first], one[last]}
    if not (all(map(is_typed, both)) or both <= names):
        return False
    between = one[first + 1 : last]
    plain = [token for token in between if not is_typed(token) and token not in names]
    return bool(plain) and _MUTUAL.isdisjoint(plain)


def _names(text: str) -> set[str]:
    return {word for found in _NAME.findall(text) for word in tokens(found)}


def without(tokens_of: Sequence[str], others: Sequence[str]) -> list[str]:
    """The tokens that are left over when each of the others takes one away, in order."""
    waiting = Counter(others)
    left = []
    for token in tokens_of:
        if waiting[token] > 0:
            waiting[token] -= 1
        else:
            left.append(token)
    return left


def _ends(text: str) -> tuple[str, str] | None:
    """What follows `from` and what follows `to`, each as its first token."""
    found = {match[1].casefold(): tokens(match[2]) for match in _DIRECTION.finditer(text)}
    start, end = found.get("from"), found.get("to") or found.get("into")
    return (start[0], end[0]) if start and end else None


def _cut(text: str, pattern: re.Pattern[str], position: int = 0) -> list[Claim]:
    claims: list[Claim] = []
    for part in pattern.split(text, maxsplit=CLAIM_LIMIT):
        found = _claimed(part) if part else ()
        if found:
            claims.append(Claim(part.strip(), found, position + len(claims)))
    return claims


def _claimed(text: str) -> tuple[str, ...]:
    """The tokens of a claim; in a short value every word counts, as in `power: on`."""
    if tokens(text) == ("today",):
        return ()
    parts = _subject_and_value(text)
    if parts is None or len(parts[1].split()) > SHORT_VALUE:
        plain = tokens(text)
        # In what is quoted every word counts, too.
        said = [token for part in quoted(text) for token in tokens(part, every=True)]
        return (*plain, *without(said, plain))
    return (*parts[0], *tokens(parts[1], every=True))


def _cut_finer(claims: Sequence[Claim]) -> list[Claim]:
    return [
        part
        for claim in claims
        for part in _cut(claim.text, _FINE, claim.position * 2 * CLAIM_LIMIT)
    ]


def _unshared(expected: Sequence[Claim], actual: Sequence[Claim]) -> Matched:
    waiting = Counter(claim.bag for claim in actual)
    rest: list[Claim] = []
    mine = {claim.bag: claim for claim in actual}
    for claim in expected:
        if waiting[claim.bag] > 0 and not is_swapped(claim, mine[claim.bag]):
            waiting[claim.bag] -= 1
        else:
            rest.append(claim)
    left: list[Claim] = []
    # The last of equal claims stay, so that a repeated claim is surplus where it is repeated.
    for claim in reversed(actual):
        if waiting[claim.bag] > 0:
            waiting[claim.bag] -= 1
            left.append(claim)
    return Matched(tuple(rest), tuple(reversed(left)), len(expected) - len(rest))
