"""Which conversations are judged: unequal probabilities, known beforehand and drawn from the id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from hashlib import blake2b
from math import sqrt
from typing import Final, NamedTuple

from monitor.verdict import Report, Verdict

POLICY_VERSION: Final = "active-1"
FLOOR_SHARE: Final = 0.25
"""Of the rate: however sure the cheap score is, so much is looked at."""
TURN_WEIGHT: Final = 0.4
"""How much each further turn of a conversation adds, as its turns err together."""
SPREAD: Final = 0.02
"""Keeps a conversation of which everything is sure worth a look."""

UNCERTAINTY: Final[Mapping[str, float]] = {
    "gold:pass": 0.03,
    "gold:fail": 0.05,
    "contract:pass": 0.10,
    "contract:fail": 0.05,
    "evidence:pass": 0.10,
    "evidence:fail": 0.20,
    "judge:pass": 0.10,
    "judge:fail": 0.10,
    "unscored": 0.15,
}
"""Chance that a turn is not what its cheap verdict says; measured rates overrule it."""


class Rules(NamedTuple):
    """What is always, or never, judged, whatever the draw says; `never` wins."""

    always_tools: frozenset[str] = frozenset()
    never_tools: frozenset[str] = frozenset()
    always_releases: frozenset[str] = frozenset()
    never_releases: frozenset[str] = frozenset()
    always_services: tuple[str, ...] = ()
    never_services: tuple[str, ...] = ()
    """Of tenants, mostly: patterns with `*` over `namespace/name`."""


class Draw(NamedTuple):
    """What was decided for one conversation, before any judge saw it."""

    judged: bool
    probability: float
    """In (0, 1] where a judge may be asked at all; 0 where a rule forbids it."""
    why: str
    """`sampled`, `not_sampled`, `always` or `never`."""
    policy: str = POLICY_VERSION


class Sampler:
    """Draws by conversation id: the same conversation is drawn again, or not again, in any order.

    So nothing is learnt on the way. How many are drawn follows from `level`, the uncertainty at
    which the rate holds; where traffic is more doubtful, more is drawn, up to the budget.
    """

    def __init__(
        self,
        rate: float,
        rates: Mapping[str, float] | None = None,
        rules: Rules | None = None,
        seed: str = "",
        level: float = 0.7,
    ) -> None:
        """`rate` in [0, 1] of conversations; `rates` by release or chain (`chain:3+`) instead."""
        self._rate = rate
        self._rates = dict(rates or {})
        self._rules = rules or Rules()
        self._seed = seed
        self._level = level

    def draw(self, report: Report, tools: Sequence[str], service: str | None = None) -> Draw:
        """Decide for one closed conversation; `tools` are the names that it called."""
        forced = self._forced(report, tools, service or "")
        doubt = uncertainty(report.turns)
        if forced is not None:
            return forced
        rate = self._rate_of(report)
        if rate <= 0:
            return Draw(False, 0.0, "never")
        chance = min(1.0, max(FLOOR_SHARE * rate, rate * doubt / self._level))
        judged = lot(report.conversation_id, self._seed) < chance
        return Draw(judged, chance, "sampled" if judged else "not_sampled")

    def _rate_of(self, report: Report) -> float:
        by_release = self._rates.get(report.release)
        if by_release is not None:
            return by_release
        return self._rates.get(f"chain:{report.chain_length}", self._rate)

    def _forced(self, report: Report, tools: Sequence[str], service: str) -> Draw | None:
        rules, called = self._rules, set(tools)
        if (
            report.release in rules.never_releases
            or called & rules.never_tools
            or _is_one_of(service, rules.never_services)
        ):
            return Draw(False, 0.0, "never")
        if (
            report.release in rules.always_releases
            or called & rules.always_tools
            or _is_one_of(service, rules.always_services)
        ):
            return Draw(True, 1.0, "always")
        return None


def _is_one_of(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def uncertainty(turns: Sequence[Verdict]) -> float:
    """How much a judge could tell about these turns."""
    doubts = [UNCERTAINTY[cell(turn)] for turn in turns]
    total = sum(doubt * (1 - doubt) for doubt in doubts)
    return sqrt(total * (1 + TURN_WEIGHT * max(0, len(doubts) - 1)) + SPREAD)


def cell(turn: Verdict) -> str:
    """The kind of cheap verdict that a turn has; what its calibration is kept by."""
    return "unscored" if turn.verdict == "unscored" else f"{turn.basis}:{turn.verdict}"


def lot(conversation_id: str, seed: str) -> float:
    """A number in [0, 1) that belongs to the conversation for ever."""
    text = f"{len(seed)}:{seed}{conversation_id}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=7, person=b"judge").digest()) / 2**56
