"""Why a reply departs from the expected one: which earlier turns explain it, if any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.scoring.provenance import Content
from monitor.scoring.sources import Source
from monitor.scoring.words import is_negation, is_typed, tokens
from monitor.verdict import Finding

MOSTLY: Final = 0.5
"""Share of new words that must come from somewhere for a statement to come from there."""
_FAILURE: Final = frozenset(
    ("error", "errors", "failed", "failure", "fails", "unsuccessful", "issue")
)


def explain_claim(
    finding: Finding, sources: Sequence[Source], known: Content, exchange: int
) -> tuple[Source, ...]:
    """The sources that explain a changed, missing or surplus claim; none: it is the reply's own.

    `known` is what the agent had at hand from turns that went right.
    """
    due = tokens(finding.expected) if isinstance(finding.expected, str) else ()
    said = tokens(finding.actual) if isinstance(finding.actual, str) else ()
    new = [token for token in said if token not in due]
    if new:
        return _of_new(new, sources, exchange)
    lost = [token for token in due if token not in said]
    return _of_lost(lost, sources, known, exchange)


def _of_new(new: list[str], sources: Sequence[Source], exchange: int) -> tuple[Source, ...]:
    """The sources that brought words into the reply that were not expected there."""
    bringing = tuple(s for s in sources if any(token in s.wrong.words for token in new))
    strange = [t for t in new if not any(t in s.wrong.words for s in bringing)]
    typed = any(map(is_typed, strange))
    if bringing and not typed and len(strange) <= MOSTLY * len(new):
        return bringing
    # What a turn of unknown output told cannot be traced, so its bearer gets the benefit.
    silent = tuple(s for s in bringing if not s.told) or tuple(
        s for s in sources if not s.told and s.exchange == exchange
    )
    if silent:
        return silent
    admits = any(token in _FAILURE or is_negation(token) for token in new)
    errored = tuple(s for s in sources if s.errored and s.exchange == exchange)
    return errored if admits and errored and not typed else ()


def _of_lost(
    lost: list[str], sources: Sequence[Source], known: Content, exchange: int
) -> tuple[Source, ...]:
    """The sources that should have told what the reply leaves out, and did not."""
    if not lost:
        return ()
    typed = [token for token in lost if is_typed(token)]
    withheld = tuple(
        s for s in sources if s.foretold and any(token in s.lost.words for token in lost)
    )
    gone = [t for t in lost if any(t in s.lost.words for s in withheld)]
    if withheld and all(t in gone for t in typed) and any(t not in known.words for t in gone):
        return withheld
    if all(token in known.words for token in lost):
        return ()
    return tuple(
        s
        for s in sources
        if s.exchange == exchange and not s.is_reply and (not s.foretold or not typed)
    )


def is_supported(claim: str, expected: Content, known: Content) -> bool:
    """Whether every value that a surplus claim states was met before."""
    return all(
        token in known.words or token in expected.words
        for token in tokens(claim)
        if is_typed(token)
    )
