"""The third rung: the words of two texts, with guards that no resemblance may overrule."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from monitor.comparison.guards import days_swapped, denied, names_swapped
from monitor.comparison.order import is_free, is_turned, operators_differ, voices_differ
from monitor.comparison.rung import Pair, same
from monitor.comparison.tables import FILLER, NEGATIONS, OPPOSITES
from monitor.comparison.words import alias_of, claim_words, folded, spaced, words_of
from monitor.verdict import Similarity

GUARDED: Final = 0.1
"""Score of texts that a guard keeps apart."""
ACRONYM: Final = 0.9
"""Score of a name and its initials."""
SHORT_WORDS: Final = 3
"""Up to so many claim words a value is a name, and each of its words counts."""
TEXT_LIMIT: Final = 20_000
"""Characters of each text that are looked at."""
EXPRESSION_LIMIT: Final = 80
"""Characters of a text whose signs are an expression's."""

_SIGN: Final = re.compile(r"(?<![<>=!-])(?:[<>=!]=|<>|[<>]|[≤≥≠])(?![<>=])")
_MARKUP: Final = re.compile(r"</?[a-z]")


class Overlap(NamedTuple):
    """How far the claim words of two texts agree, each in [0, 1]."""

    recall: float
    """Share of the expected words that the actual text has."""
    precision: float
    f1: float


class Lexical:
    """Decides texts that are equal but for form, and those that a guard keeps apart."""

    version = "lexical-4"

    def compare(self, pair: Pair) -> Similarity | None:
        """The decision by words; None where meaning would have to be weighed."""
        if not isinstance(pair.expected, str) or not isinstance(pair.actual, str):
            return None
        expected, actual = folded(pair.expected[:TEXT_LIMIT]), folded(pair.actual[:TEXT_LIMIT])
        if expected == actual or _one_name(pair.expected, pair.actual):
            return same("lexical")
        return _by_text(pair, expected, actual)


def _by_text(pair: Pair, expected: str, actual: str) -> Similarity | None:
    if _compares_otherwise(expected, actual):
        return Similarity(GUARDED, "direction")
    first, second = claim_words(expected), claim_words(actual)
    if is_acronym(pair.expected, pair.actual, 2 if pair.hint.field else 3):
        return Similarity(ACRONYM, "lexical")
    if pair.hint.field and (_is_option(pair.expected) or _is_option(pair.actual)):
        return _options(pair.expected, pair.actual)
    if not first or not second:
        return None
    found = _by_words(expected, actual, first, second)
    if found is None and (not pair.hint.field or min(len(first), len(second)) > SHORT_WORDS):
        found = _by_claim(pair)
    return found


def _compares_otherwise(expected: str, actual: str) -> bool:
    """Whether both texts compare by signs, and by others: `> 5`, `< 5`."""
    if len(expected) + len(actual) > 2 * EXPRESSION_LIMIT or _MARKUP.search(expected + actual):
        return False
    first, second = _SIGN.findall(expected), _SIGN.findall(actual)
    return bool(first) and bool(second) and first != second


def _by_claim(pair: Pair) -> Similarity | None:
    """Statements, answers and longer values: what they deny, and whom they speak of."""
    expected, actual = str(pair.expected)[:TEXT_LIMIT], str(pair.actual)[:TEXT_LIMIT]
    if denied(expected, actual):
        return Similarity(GUARDED, "negation")
    if pair.hint.query is None and names_swapped(expected, actual):
        return Similarity(GUARDED, "name")
    return None


def _by_words(expected: str, actual: str, first: list[str], second: list[str]) -> Similarity | None:
    if sorted(first) == sorted(second) and operators_differ(expected, actual):
        return Similarity(GUARDED, "sign")
    if first == second:
        return Similarity(GUARDED, "order") if is_turned(expected, actual) else same("lexical")
    if sorted(first) == sorted(second) and is_free(expected, actual):
        return same("lexical")
    guard = guarded(expected, actual, first, second)
    if guard is None and _values_replaced(expected, actual):
        guard = "value"
    return None if guard is None else Similarity(GUARDED, guard)


def _one_name(expected: str, actual: str) -> bool:
    return alias_of(spaced(expected)) == alias_of(spaced(actual))


def overlap(expected: list[str], actual: list[str]) -> Overlap:
    """Agreement of two lists of words as bags."""
    if not expected or not actual:
        return Overlap(0.0, 0.0, 0.0)
    common = sum((Counter(expected) & Counter(actual)).values())
    recall, precision = common / len(expected), common / len(actual)
    return Overlap(recall, precision, 2 * common / (len(expected) + len(actual)))


def guarded(expected: str, actual: str, first: list[str], second: list[str]) -> str | None:
    """The guard that keeps two folded texts apart: negation, number, or direction."""
    lost, new = Counter(first) - Counter(second), Counter(second) - Counter(first)
    if _figures_changed(lost, new):
        return "number"
    if _negated(expected) != _negated(actual) and len(lost) <= 2 and len(new) <= 2:
        return "negation"
    if days_swapped(lost, new):
        return "date"
    if _opposed(expected, actual):
        return "direction"
    if not lost and not new and first != second and not voices_differ(expected, actual):
        return "order"
    return None


def _opposed(expected: str, actual: str) -> bool:
    """Whether a word gave way to its opposite; `on` is one where `off` stands in its place.

    A comparison that is told from its other end has both ends exchanged, and is left open.
    """
    one, other = words_of(expected), words_of(actual)
    lost, new = Counter(one) - Counter(other), Counter(other) - Counter(one)
    if not any(not OPPOSITES.get(word, frozenset()).isdisjoint(new) for word in lost):
        return False
    if "than" not in one or "than" not in other:
        return True
    kept = [[word for word in words if word in set(one) & set(other)] for words in (one, other)]
    return kept[0] == kept[1]


def _figures_changed(lost: Counter[str], new: Counter[str]) -> bool:
    """Whether a figure was replaced; one written without its currency sign is the same."""
    gone, come = _figures(lost), _figures(new)
    bare = {word.strip(_SIGNS) for word in come}
    kept = {word for word in gone if word.strip(_SIGNS) in bare and word[0] not in _SIGNS[:5]}
    bare_gone = {word.strip(_SIGNS) for word in gone}
    kept |= {w for w in come if w.strip(_SIGNS) in bare_gone and w[0] not in _SIGNS[:5]}
    kept_values = {word.strip(_SIGNS) for word in kept}
    return bool(
        {w for w in gone if w.strip(_SIGNS) not in kept_values}
        and {w for w in come if w.strip(_SIGNS) not in kept_values}
    )


_SIGNS: Final = "$€£¥₹%"


def _figures(words: Counter[str]) -> set[str]:
    return {word for word in words if any(char.isdigit() for char in word)}


# Each repeat is bounded, so that a hostile text costs no more than its length.
_VALUE: Final = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64}){1,8}"
    r"|https?://\S+"
    r"|(?<!\w)'[^'\n]{1,80}'(?!\w)|\"[^\"\n]{1,80}\""
    r"|(?<![\w/.-])[\w-]{1,80}(?:/[\w-]{1,80}){0,16}(?:\.[\w-]{1,80}){0,4}\.[a-z][a-z0-9]{1,4}(?!\w)"
    r"|#\w{1,80}"
)


def _values_replaced(expected: str, actual: str) -> bool:
    """Whether a quoted value, address, file or tag gave way to another."""
    first = {value.strip("'\"") for value in _VALUE.findall(expected)}
    second = {value.strip("'\"") for value in _VALUE.findall(actual)}
    return any(value not in actual for value in first) and any(
        value not in expected for value in second
    )


def _negated(text: str) -> bool:
    return sum(word in NEGATIONS for word in words_of(text)) % 2 == 1


_OPTION: Final = re.compile(r"[a-z]+(?:_[a-z0-9]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+")


def _is_option(text: str) -> bool:
    """Whether the text is written as a program names its options, such as `round_trip`."""
    return _OPTION.fullmatch(text) is not None


def _options(expected: str, actual: str) -> Similarity | None:
    """One option inside another's name is another option: economy is not basic_economy."""
    first, second = words_of(spaced(expected)), words_of(spaced(actual))
    if first == second:
        return same("lexical")
    lost, new = set(first) - set(second), set(second) - set(first)
    return Similarity(GUARDED, "option") if not lost or not new else None


def is_acronym(expected: str, actual: str, least: int) -> bool:
    """Whether one is the initials of the other's words, of which there are at least so many."""
    for short, long in ((expected, actual), (actual, expected)):
        if not (short.isalpha() and short.isupper() and least <= len(short) <= 6):
            continue
        words = [word for word in words_of(folded(long)) if word[0].isalpha()]
        named = [word for word in words if word not in FILLER]
        if any(
            len(some) >= least and short.casefold() == "".join(word[0] for word in some)
            for some in (words, named)
        ):
            return True
    return False
