"""A reply held against the expected one: claim by claim, in any order, then by meaning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final, Literal, NamedTuple

from monitor.comparison.residual import UNAVAILABLE
from monitor.ports import Comparator, Hint
from monitor.scoring.claims import (
    Claim,
    is_swapped,
    keyed,
    loses_item,
    matched_claims,
    slot_of,
    without,
)
from monitor.scoring.judged import Judged
from monitor.scoring.literals import Literals, Replaced, requoted
from monitor.scoring.thresholds import Thresholds
from monitor.scoring.words import is_negation, is_typed, normalised, tokens
from monitor.verdict import ExpectedResponse, Finding, Similarity, SubMetric

PAIR_LIMIT: Final = 60
"""Unmatched claims of one side that are paired; the rest stays unpaired."""
CANDIDATE_LIMIT: Final = 4
"""Claims that one expected claim is compared with by meaning when no words are shared."""
NEAR: Final = 0.6
"""Share of common tokens from which two claims are one sentence with some words exchanged."""
APART: Final = 0.1
"""Likeness up to which two sentences in other words are sure to say something else."""
FEW: Final = 3
"""Words by which two sentences may differ for one to be sure to deny the other."""
SHORT_VALUE: Final = 3
"""Words up to which a value is no sentence."""
COVERED: Final = 0.8
"""Share of a claim's tokens that must be said elsewhere for the claim to count as said."""

BARE_WORDS: Final = 8
"""Words up to which an expected text may be a bare answer and no sentence."""
BARE_CHARACTERS: Final = 2_000

_QUESTION: Final = re.compile(
    r"\b(?:which|who|whom|whose|what|where|when|why|how (?:many|much|old|long|far|often))\b"
    r"|\bname (?:the|a|an)\b",
    re.I,
)

_VERB: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|cannot|could|may|must|do|does|did|been|yes|no|not|i"
    r"|you|your|we)\b|n't\b|'(?:s|m|re|ve|ll)\b",
    re.I,
)

NONE: Final = Literals()

_Outcome = Literal["same", "changed", "missing", "open"]


class ReplyJudge(NamedTuple):
    """What judging replies needs beside the texts."""

    comparator: Comparator
    thresholds: Thresholds

    def judge(
        self,
        expected: ExpectedResponse,
        text: str,
        literals: Literals = NONE,
        query: str | None = None,
    ) -> Judged:
        """Hold a reply against the expected text and its variants; the best one counts.

        `literals` are the texts of the results behind both. Where `query` is a question and a bare
        answer is expected, a reply that gives the answer within a sentence agrees.
        """
        best = self._against(expected.text, text, literals)
        for variant in expected.variants:
            if best.findings or best.why is not None:
                best = min(best, self._against(variant, text, literals), key=_badness)
        if (best.findings or best.why is not None) and query and _QUESTION.search(query):
            for answer in filter(_is_bare_answer, (expected.text, *expected.variants)):
                best = min(best, self._answered(answer, text, query, best), key=_badness)
        return best

    def _answered(self, answer: str, text: str, query: str, otherwise: Judged) -> Judged:
        score = self.comparator.compare(answer, text, Hint(query=query)).score
        if score is None:
            return Judged("gold", why="unsure")
        if score < self.bar:
            return otherwise
        return Judged("gold", scores={"completeness": 1.0, "truthfulness": score})

    def _against(self, expected: str, actual: str, literals: Literals) -> Judged:
        if normalised(expected) == normalised(actual):
            return Judged("gold", scores={"completeness": 1.0, "truthfulness": 1.0})
        return _Comparison(self, expected, actual, literals).judged()

    def similarity(self, expected: str, actual: str) -> Similarity:
        """How far two pieces of text mean the same."""
        return self.comparator.compare(expected, actual, Hint(kind="text"))

    @property
    def bar(self) -> float:
        """From which similarity on a statement agrees."""
        return self.thresholds.of("truthfulness")


class _Comparison:
    """Two replies, and what is left of them once equal claims are taken away."""

    def __init__(self, judge: ReplyJudge, expected: str, actual: str, literals: Literals) -> None:
        self.judge = judge
        self.texts, self.literals = (expected, actual), literals
        matched = matched_claims(expected, actual)
        self.expected, self.actual, self.shared = matched
        self.all_expected, self.all_actual = set(tokens(expected)), set(tokens(actual))
        self.spare = Counter(token for claim in self.actual for token in claim.tokens)
        """Tokens of the reply that no expected claim has used up."""
        self.scores = [1.0] * self.shared
        self.changed: dict[int, Finding] = {}
        self.missing: list[Claim] = []
        self.surplus: list[str] = []
        self.open = False

    @cached_property
    def replaced(self) -> Replaced:
        return self.literals.replaced(*self.texts)

    def judged(self) -> Judged:
        pairs = _paired(self.expected[:PAIR_LIMIT], self.actual[:PAIR_LIMIT])
        for index, partner in pairs.items():
            self._judge_pair(index, self.expected[index], self.actual[partner])
        taken = set(pairs.values())
        replaced = _continued(self.expected, self.changed, pairs)
        for index, claim in enumerate(self.expected):
            if index not in pairs and index not in replaced and not self._said(claim, taken):
                self.missing.append(claim)
        self.surplus += [claim.text for i, claim in enumerate(self.actual) if i not in taken]
        return self._result()

    def _judge_pair(self, index: int, left: Claim, right: Claim) -> None:
        self.spare.subtract((Counter(left.tokens) & Counter(right.tokens)).elements())
        outcome, score = self._outcome(left, right)
        if score is not None:
            self.scores.append(score)
        if outcome == "changed":
            self.changed[index] = _changed(left, right, score)
        elif outcome == "missing":
            self.missing.append(left)
        elif _typed(set(right.tokens) - self.all_expected):
            self.surplus.append(right.text)
        self.open = self.open or outcome == "open"

    def _result(self) -> Judged:
        self.missing.sort(key=lambda claim: claim.position)
        findings = [
            Finding("incomplete_response", "gold", expected=claim.text) for claim in self.missing
        ]
        total = self.shared + len(self.expected)
        scores: dict[SubMetric, float] = {
            "completeness": (total - len(self.missing)) / total if total else 1.0
        }
        if self.scores or not self.open:
            scores["truthfulness"] = sum(self.scores) / len(self.scores) if self.scores else 1.0
        return Judged(
            "gold",
            (*findings, *self.changed.values()),
            scores,
            "unsure" if self.open else None,
            surplus=tuple(self.surplus),
        )

    def _outcome(self, left: Claim, right: Claim) -> tuple[_Outcome, float | None]:
        """Whether a claim says the same as the one it is paired with; the similarity."""
        lost, new = without(left.tokens, right.tokens), without(right.tokens, left.tokens)
        common = len(left.tokens) - len(lost)
        near = common >= NEAR * max(len(left.tokens), len(right.tokens))
        values = _values_of_one_subject(left, right)
        if not near and values is None:
            # Another way of saying it: what is said elsewhere in the reply is not lost.
            lost = [token for token in lost if token not in self.all_actual]
            new = [token for token in new if token not in self.all_expected]
        if is_swapped(left, right):
            return "changed", 0.0
        if _turned(lost, new):
            # Among many other words a negation may be of something else.
            sure = near or values is not None or len(lost) + len(new) <= FEW
            return ("changed", 0.0) if sure else ("open", None)
        if not lost:
            return "same", 1.0
        if not new:
            return self._left_out(left, right, lost, common / len(left.tokens))
        if _typed(lost):
            replaced = values is not None or near or _typed(new)
            return ("changed", 0.0) if replaced else ("missing", None)
        if values is None and near and slot_of(left.tokens, right.tokens) == (lost, new):
            values = (" ".join(lost), " ".join(new))
        values = values or _subjects_of_one_value(left, right)
        return self._reworded(left, right, values or (left.text, right.text))

    def _reworded(
        self, left: Claim, right: Claim, parts: tuple[str, str]
    ) -> tuple[_Outcome, float | None]:
        """Claims that differ in words only, of which `parts` are to be weighed."""
        outcome, score = self._by_meaning(*parts)
        if outcome == "changed":
            return ("open", None) if _built_apart(left, right) else (outcome, score)
        # What is meant word for word is not said in other words.
        if self.replaced.between(left.text, right.text):
            return "changed", 0.0
        if outcome == "same" and requoted(left.text, right.text, *self.texts):
            return "open", None
        return outcome, score

    def _left_out(
        self, left: Claim, right: Claim, lost: list[str], share: float
    ) -> tuple[_Outcome, float | None]:
        """A claim that is said with some of its words left out."""
        if _typed(token for token in lost if token not in self.all_actual):
            return "missing", None
        if loses_item(left, lost) and not set(lost) <= self.all_actual:
            return "missing", None
        if share >= self.judge.bar:
            return "same", share
        return self._by_meaning(left.text, right.text)

    def _by_meaning(self, expected: str, actual: str) -> tuple[_Outcome, float | None]:
        score = self.judge.similarity(expected, actual).score
        if score is None:
            return "open", None
        if score >= self.judge.bar:
            return "same", score
        words = max(len(expected.split()), len(actual.split()))
        if words <= SHORT_VALUE or (score <= APART and not _state_the_same(expected, actual)):
            return "changed", score
        # Sentences in other words, or of another language: little likeness proves nothing.
        return "open", None

    def _said(self, claim: Claim, taken: set[int]) -> bool:
        """Whether an unpaired claim is said after all: spread over others, or in other words."""
        there = [token for token in claim.tokens if self.spare[token] > 0]
        if len(there) >= COVERED * len(claim.tokens) and not _typed(without(claim.tokens, there)):
            self.spare.subtract(there)
            return True
        unsaid = _typed(token for token in claim.tokens if token not in self.all_actual)
        if unsaid or (":" in claim.text and keyed(claim) is not None):
            return False
        candidates = [i for i in range(len(self.actual)) if i not in taken][:CANDIDATE_LIMIT]
        for index in candidates:
            found = self.judge.similarity(claim.text, self.actual[index].text)
            if found.why == UNAVAILABLE.why:
                # Whether it is said would have been known, had the encoder answered.
                self.open = True
                return True
            score = found.score
            if score is not None and score >= self.judge.bar:
                taken.add(index)
                self.scores.append(score)
                return True
        if candidates or self.open:
            # What is left over, or was said in other words, may say it, too.
            self.open = True
            return True
        return False


def _is_bare_answer(expected: str) -> bool:
    """Whether the text names what was asked for and states nothing of it: `Paris`."""
    text = expected.strip()
    if not text or len(text) > BARE_CHARACTERS or text[-1] in ".!?:" or ": " in text:
        return False
    options = text.split("/")
    return all(len(option.split()) <= BARE_WORDS for option in options) and all(
        _VERB.search(option) is None for option in options[:1]
    )


def _badness(judged: Judged) -> tuple[int, bool]:
    return len(judged.findings), judged.why is not None


def _changed(left: Claim, right: Claim, score: float | None) -> Finding:
    return Finding(
        "inconsistent_response", "gold", expected=left.text, actual=right.text, score=score
    )


def _paired(expected: Sequence[Claim], actual: Sequence[Claim]) -> dict[int, int]:
    """A changed claim goes with the claim it replaces: the one it shares most with."""
    found = []
    others = [(Counter(claim.tokens), keyed(claim), claim) for claim in actual]
    for g, claim in enumerate(expected):
        bag, mine = Counter(claim.tokens), keyed(claim)
        for a, (other_bag, its, other) in enumerate(others):
            common = sum((bag & other_bag).values())
            share = common / min(len(claim.tokens), len(other.tokens))
            subject = mine is not None and its is not None and mine[0] == its[0]
            if share >= 0.5 or subject or (common and _contradict(claim, other)):
                found.append((not subject, -share, -common, g, a))
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for *_, g, a in sorted(found):
        if g not in pairs and a not in taken:
            pairs[g] = a
            taken.add(a)
    return pairs


def _contradict(left: Claim, right: Claim) -> bool:
    """Whether both claims state values and share none."""
    one, other = set(filter(is_typed, left.tokens)), set(filter(is_typed, right.tokens))
    return bool(one) and bool(other) and not one & other


def _continued(
    expected: Sequence[Claim], changed: Iterable[int], pairs: dict[int, int]
) -> set[int]:
    """Unpaired claims that run on from a changed one: its old value had several sentences."""
    replaced: set[int] = set()
    for start in changed:
        index = start + 1
        while (
            index < len(expected)
            and index not in pairs
            and expected[index].position == expected[index - 1].position + 1
            and keyed(expected[index]) is None
        ):
            replaced.add(index)
            index += 1
    return replaced


def _values_of_one_subject(left: Claim, right: Claim) -> tuple[str, str] | None:
    """Both values when both claims tell the value of one subject."""
    one, other = keyed(left), keyed(right)
    if one is None or other is None or one[0] != other[0]:
        return None
    return one[1], other[1]


def _subjects_of_one_value(left: Claim, right: Claim) -> tuple[str, str] | None:
    """Both subjects when both claims tell the same value of something."""
    one, other = keyed(left), keyed(right)
    if one is None or other is None or tokens(one[1]) != tokens(other[1]):
        return None
    return " ".join(one[0]), " ".join(other[0])


def _built_apart(left: Claim, right: Claim) -> bool:
    """Whether two sentences of different build state the same values: it costs 5, its price is 5.

    Then word stands against word by accident, and their meanings say little.
    """
    one, other = (sorted(filter(is_typed, claim.tokens)) for claim in (left, right))
    return bool(one) and one == other and (keyed(left) is None) != (keyed(right) is None)


def _state_the_same(expected: str, actual: str) -> bool:
    """Whether two texts state the same values, of which there are some."""
    one, other = (set(filter(is_typed, tokens(text))) for text in (expected, actual))
    return bool(one) and one == other


def _turned(lost: Iterable[str], new: Iterable[str]) -> bool:
    """Whether one side denies what the other affirms."""
    return any(map(is_negation, lost)) != any(map(is_negation, new))


def _typed(found: Iterable[str]) -> bool:
    return any(map(is_typed, found))
