"""Features of a short expected answer against a reply to the same question."""

from __future__ import annotations

import math
import re
from difflib import SequenceMatcher
from typing import Final, NamedTuple

from monitor.comparison.tables import NEGATIONS
from monitor.comparison.text import PREFIX, Text

ALTERNATIVES_LIMIT: Final = 64
"""Alternatives of one expected answer that are looked at."""
ALTERNATIVE_WORDS: Final = 12
"""Longer parts between slashes are no alternatives."""

ANSWER_FEATURES: Final = (
    "contained",
    "recall_new",
    "recall",
    "fuzzy",
    "spelled",
    "glued",
    "f1",
    "ends",
    "expected_words",
    "in_question",
    "ratio",
    "items",
    "items_found",
    "where",
    "first_sentence",
    "initials",
    "figures",
    "figures_found",
    "any_figure",
    "figure_apart",
    "longest_contained",
    "actual_words",
    "fresh_words",
    "echo",
    "figures_new",
    "refusal",
    "negation",
    "expected_negation",
    "cosine",
    "soft",
    "soft_least",
)
RISING_ANSWER_FEATURES: Final = frozenset(
    {
        "contained",
        "recall_new",
        "recall",
        "fuzzy",
        "spelled",
        "glued",
        "f1",
        "ends",
        "ratio",
        "items_found",
        "first_sentence",
        "initials",
        "figures_found",
        "any_figure",
        "cosine",
        "soft",
        "soft_least",
    }
)
"""More of these never speaks against the answer."""

_REFUSAL: Final = re.compile(
    r"\b(?:i(?:'m| am) (?:sorry|not sure|unable|not aware|afraid)"
    r"|i (?:can ?not|can't|could(?:n't| not)|do(?:n't| not))"
    r" (?:have|find|know|provide|answer|see|tell)"
    r"|no (?:information|results?|records?|data|evidence)"
    r"|not (?:available|specified|known|clear|mentioned|possible)"
    r"|unknown|unclear|there (?:is|was|are) no\b|please provide)"
)
# Each repeat is bounded, so that a hostile text costs no more than its length.
_ITEMS: Final = re.compile(
    r",\s{0,4}(?:and\s{1,4})?|\s{1,4}and\s{1,4}|\s{0,4}&\s{0,4}|\s{1,4}or\s{1,4}|;\s{0,4}"
)
_NUMBER: Final = re.compile(r"\d[\d,]{0,20}(?:\.\d{1,9})?")
_APART: Final = 9.0


class Found(NamedTuple):
    """How far one accepted answer is in the reply; the greatest is the best answer."""

    contained: float
    recall_new: float
    """Share of its words that the question does not say already."""
    recall: float
    fuzzy: float
    spelled: float
    glued: float
    f1: float
    ends: float
    words: float
    in_question: float


class Answer(NamedTuple):
    """A row without what takes an encoder, and the texts that an encoder is to be asked about."""

    row: list[float]
    options: list[str]
    words: list[list[str]]
    """For each option its words that the question does not say."""
    reply: list[str]


def alternatives(text: str) -> list[str]:
    """The text, or its parts where slashes part short names: `Rome/Roma` accepts either."""
    parts = text.split("/")
    if len(parts) == 1 or "://" in text or len(parts) > 4 * ALTERNATIVES_LIMIT:
        return [text]
    if any(not part.strip() or len(part.split()) > ALTERNATIVE_WORDS for part in parts):
        return [text]
    return list(dict.fromkeys(part.strip() for part in parts))[:ALTERNATIVES_LIMIT]


def answer_features(expected: str, actual: str, query: str) -> Answer:
    """In the order of ANSWER_FEATURES; of several alternatives the one found best counts."""
    reply, asked = Text(actual), Text(query)
    options = [Text(option) for option in alternatives(expected)]
    fresh = [word for word in reply.claims if word not in asked.bag]
    found = [_found(option, reply, asked, fresh) for option in options]
    best = max(range(len(found)), key=lambda index: found[index])
    contained = [len(o.claims) for o, f in zip(options, found, strict=True) if f.contained]
    row = [
        *found[best],
        *_closeness(options[best], reply),
        *_figures(options, options[best], reply),
        float(max(contained, default=0)),
        *_reply(reply, asked, options[best], fresh),
    ]
    words = [[w for w in o.claims if w not in asked.bag] or o.claims for o in options]
    return Answer(row, [option.raw for option in options], words, fresh or reply.claims)


def _found(option: Text, reply: Text, asked: Text, fresh: list[str]) -> Found:
    words = option.claims
    if not words:
        return Found(*(0.0,) * 10)
    there = [word for word in words if word in reply.bag]
    new = [word for word in words if word not in asked.bag]
    recall = len(there) / len(words)
    others = sum(word not in option.bag for word in fresh)
    near = sum(word in reply.bag or word[:PREFIX] in reply.prefixes for word in words)
    return Found(
        float(option.run in reply.run),
        sum(word in reply.bag for word in new) / len(new) if new else recall,
        recall,
        near / len(words),
        _spelled(new or words, reply, fresh),
        float(len(option.glued) > 2 and option.glued in reply.glued),
        2 * len(there) / (len(words) + len(there) + others),
        float(words[-1] in reply.bag) + 0.5 * float(words[0] in reply.bag),
        float(len(words)),
        float(len(words) - len(new)),
    )


def _spelled(words: list[str], reply: Text, fresh: list[str]) -> float:
    """Mean likeness of each word to the reply's word that is spelled most like it."""
    total = 0.0
    for word in words[:12]:
        if word in reply.bag:
            total += 1.0
            continue
        rivals = [r for r in fresh[:80] if r[0] == word[0] and abs(len(r) - len(word)) <= 3]
        total += max((SequenceMatcher(None, word, r).ratio() for r in rivals[:8]), default=0.0)
    return total / min(len(words), 12)


def _closeness(option: Text, reply: Text) -> tuple[float, ...]:
    """How the best accepted answer and the reply compare in their build."""
    one, other = option.glued[:200], reply.glued[:200]
    comparable = len(other) < 3 * len(one) + 20
    items = [Text(item) for item in _ITEMS.split(option.raw)[:20] if item.strip()]
    said = [item for item in items if item.bag and item.bag <= reply.bag]
    where = next((i for i, word in enumerate(reply.claims) if word in option.bag), -1)
    return (
        SequenceMatcher(None, one, other, autojunk=False).ratio() if comparable else -1.0,
        float(len(items)),
        len(said) / max(len(items), 1),
        where / max(len(reply.claims), 1),
        len(option.bag & reply.first_sentence.bag) / max(len(option.bag), 1),
        float(_initials(option, reply)),
    )


def _initials(option: Text, reply: Text) -> bool:
    """Whether one is the initials of words of the other."""
    for short, long in ((option, reply), (reply, option)):
        letters = "".join(word[0] for word in long.claims) if len(long.claims) > 1 else ""
        if 2 <= len(short.glued) <= 6 and short.glued.isalpha() and short.glued in letters:
            return True
    return False


def _figures(options: list[Text], best: Text, reply: Text) -> tuple[float, ...]:
    figures = frozenset().union(*(option.figures for option in options))
    return (
        float(bool(best.figures)),
        len(best.figures & reply.figures) / max(len(best.figures), 1),
        float(len(figures & reply.figures)),
        _figure_apart(best.said, reply.said),
    )


def _figure_apart(expected: str, actual: str) -> float:
    """How far the expected number is from the nearest in the reply, as the log of their ratio."""
    due, given = _numbers(expected), _numbers(actual)
    if not due or not given:
        return _APART if due else -1.0
    return max(min(min(_ratio(one, other) for other in given) for one in due[:4]), 0.0)


def _ratio(one: float, other: float) -> float:
    if one == other:
        return 0.0
    return min(abs(math.log(one / other)), _APART) if one > 0 and other > 0 else _APART


def _numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in _NUMBER.findall(text)[:40]]


def _reply(reply: Text, asked: Text, option: Text, fresh: list[str]) -> tuple[float, ...]:
    """What the reply is like."""
    return (
        float(len(reply.claims)),
        float(len(fresh)),
        1 - len(fresh) / max(len(reply.claims), 1),
        float(len(reply.figures - option.figures - asked.figures)),
        float(_REFUSAL.search(reply.said) is not None),
        float(sum(word in NEGATIONS for word in reply.words)),
        float(sum(word in NEGATIONS for word in option.words)),
    )
