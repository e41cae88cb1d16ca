"""Why a reply departs from the expected one: which earlier turns explain it, if any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from monitor.scoring.claims import Claim, keyed
from monitor.scoring.provenance import Content
from monitor.scoring.sources import Source
from monitor.scoring.words import is_negation, is_typed, tokens
from monitor.verdict import Finding

MOSTLY: Final = 0.5
"""Share of new words that must come from somewhere for a statement to come from there."""
WHOLLY: Final = 0.8
"""Share of a claim's words that make up the claim."""
_FAILURE: Final = frozenset(
    ("error", "errors", "failed", "failure", "fails", "unsuccessful", "issue")
)


class Evidence(NamedTuple):
    """What the agent had at hand from turns that went right, and what it made of it."""

    chain: int
    good: Callable[[], Sequence[Content]]
    """Tells the results of the good calls behind the reply, one by one; to read them costs."""
    said: AbstractSet[str]
    """All tokens of the reply."""


class _Lost(NamedTuple):
    """What a claim would have told."""

    words: Sequence[str]
    core: Sequence[str]
    """The value of a claim such as `total: 5`, else the same as `words`."""

    def told_in(self, words: AbstractSet[str]) -> bool:
        """Whether the words make up the claim: all its values and most of the rest."""
        return all(
            sum(token in words for token in part) >= WHOLLY * len(part)
            for part in (self.words, self.core)
        ) and all(token in words for token in self.words if is_typed(token))


def explain_claim(
    finding: Finding, sources: Sequence[Source], evidence: Evidence
) -> tuple[Source, ...]:
    """The sources that explain a changed, missing or surplus claim; none: it is the reply's own."""
    due = finding.expected if isinstance(finding.expected, str) else ""
    said = _said(finding.actual, alone=not due) if isinstance(finding.actual, str) else ()
    wanted = tokens(due)
    new = [token for token in said if token not in wanted]
    if new:
        return _brought(new, sources) or _untraceable(new, sources, evidence.chain)
    lost = _lost(due)
    return _of_lost(lost, sources, evidence) if lost.words else ()


def is_told(claim: str, evidence: Evidence) -> bool:
    """Whether one good call alone tells what the claim says."""
    lost = _lost(claim)
    return any(lost.told_in(content.words) for content in evidence.good())


def _lost(text: str) -> _Lost:
    words = tokens(text)
    parts = keyed(Claim(text, words))
    core = tokens(parts[1]) if parts is not None else ()
    return _Lost(words, core or words)


def is_supported(claim: str, contents: Sequence[Content]) -> bool:
    """Whether every value that a surplus claim states was met before."""
    return all(
        any(token in content.words for content in contents)
        for token in tokens(claim)
        if is_typed(token)
    )


def traced(claim: str, sources: Sequence[Source]) -> tuple[Source, ...]:
    """The sources that a surplus claim was taken from; none when it came from elsewhere."""
    return _brought(_said(claim, alone=True), sources)


def _said(claim: str, *, alone: bool) -> Sequence[str]:
    """The words of a claim; of one that stands for no expected one, those that tell something.

    What `note: 5` is about was there before, its value is what came from somewhere.
    """
    return _lost(claim).core if alone else tokens(claim)


def _brought(new: Sequence[str], sources: Sequence[Source]) -> tuple[Source, ...]:
    """The sources that brought the words which were not expected, when they brought most."""
    bringing = tuple(s for s in sources if any(token in s.wrong.words for token in new))
    strange = [t for t in new if not any(t in s.wrong.words for s in bringing)]
    return bringing if len(strange) <= MOSTLY * len(new) and not _typed(strange) else ()


def _untraceable(new: Sequence[str], sources: Sequence[Source], chain: int) -> tuple[Source, ...]:
    """The sources that may have brought the words, since nobody knows what they told."""
    silent = tuple(s for s in sources if not s.told)
    bearing = tuple(s for s in silent if any(token in s.wrong.words for token in new))
    if bearing:
        return bearing
    admits = not _typed(new) and any(token in _FAILURE or is_negation(token) for token in new)
    return tuple(
        s for s in sources if s.place.chain == chain and (not s.told or (admits and s.errored))
    )


def _of_lost(lost: _Lost, sources: Sequence[Source], evidence: Evidence) -> tuple[Source, ...]:
    """The sources that should have told what the reply leaves out, and did not."""
    withheld = tuple(
        s
        for s in sources
        if s.foretold and lost.told_in(s.due.words) and not lost.told_in(s.given.words)
    )
    if withheld:
        return withheld
    # Nobody was to tell it: then it says that all went well, or its source is not known.
    typed = _typed(lost.words)
    unknown = tuple(
        s
        for s in sources
        if s.place.chain == evidence.chain and not s.is_reply and not (s.foretold and typed)
    )
    if not unknown or all(token in evidence.said for token in lost.words):
        return unknown
    kept_back = any(lost.told_in(content.words) for content in evidence.good())
    return () if kept_back else unknown


def _typed(words: Sequence[str]) -> bool:
    return any(map(is_typed, words))
