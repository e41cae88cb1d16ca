"""Values that some reply must state: which no reply ever said, and where each was due."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from monitor.model import ActionTurn, Conversation, ResponseTurn
from monitor.scoring.judged import Judged, unscored
from monitor.scoring.known import Known, as_number, values_of
from monitor.scoring.placement import Slot
from monitor.scoring.words import normalised, tokens
from monitor.verdict import Finding, SubMetric

COUNTED: Final = 999
"""Whole numbers up to this one may be counts, which no result states."""

_ID_LENGTH: Final = 6
_ID_DIGITS: Final = 4
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[^\W\d_]")

_Findings = Mapping[int, tuple[Finding, ...]]
_NONE: Final[_Findings] = MappingProxyType({})


class Outputs(NamedTuple):
    """What the replies owe, by the position of the slot where it shows."""

    own: _Findings = _NONE
    hinging: _Findings = _NONE
    """What only a call that went wrong could have told."""
    unknown: frozenset[int] = frozenset()
    """Where nothing can be said, since some reply is not wholly known."""

    def joined(self, position: int, judged: Judged, *, changed: bool) -> Judged:
        """A slot's judgement with what it owes; `changed`: a call that writes went wrong before.

        An output that no result could have given, although every call was made, may belong to
        another conversation: then it cannot be said that the reply leaves it out.
        """
        if position in self.unknown:
            return judged if judged.findings else unscored("content_missing")
        own, hinging = self.own.get(position, ()), self.hinging.get(position, ())
        if any(finding.detail == "omitted" for finding in judged.findings):
            return judged._replace(findings=(*judged.findings, *hinging))
        if hinging and not changed:
            if not own and not judged.findings:
                return unscored("unsure")
            hinging = ()
        if not own and not hinging:
            return judged
        scores: dict[SubMetric, float] = {**judged.scores, "completeness": 0.0}
        return judged._replace(basis="gold", own=own, hinging=hinging, scores=scores, why=None)


NO_OUTPUTS: Final = Outputs()


def outputs_of(
    required: Sequence[str],
    conversation: Conversation,
    slots: Sequence[Slot],
    omitted: Sequence[int],
    *,
    whole: bool = True,
) -> Outputs:
    """Where the required outputs that no reply states were due.

    At the last reply, or where a reply states another value of the same form in its place. What
    no result could have given is due with the first call of `omitted`, the positions of the calls
    that were never made. `whole`: whether all replies are there as they were sent.
    """
    turns = conversation.turns
    replies = [
        (position, turn)
        for position, slot in enumerate(slots)
        if slot.turn is not None and isinstance(turn := turns[slot.turn], ResponseTurn)
    ]
    if not required or not replies:
        return NO_OUTPUTS
    missing = unsaid(required, [turn.text for _, turn in replies if turn.text is not None])
    if not missing:
        return NO_OUTPUTS
    last = replies[-1][0]
    if not whole or any(turn.text is None or turn.truncated for _, turn in replies):
        return Outputs(unknown=frozenset((last,)))
    told, untold = _told(missing, conversation)
    own: dict[int, tuple[Finding, ...]] = {last: tuple(map(_left_out, told))} if told else {}
    for output in told:
        for position, rival in _rivals(output, required, replies, conversation):
            finding = Finding("inconsistent_response", "gold", expected=output, actual=rival)
            own[position] = (*own.get(position, ()), finding)
    due = next(iter(omitted), last)
    return Outputs(own, {due: tuple(map(_left_out, untold))} if untold else {})


def unsaid(outputs: Sequence[str], replies: Iterable[str]) -> tuple[str, ...]:
    """The outputs that no reply states, in their order.

    A number counts in any spelling (`1,000.00` for 1000), a text wherever it occurs, without
    regard to case, as whole words.
    """
    said: set[str] = set()
    texts: list[str] = []
    for reply in replies:
        said.update(tokens(reply))
        texts.append(f" {normalised(reply)} ")
    return tuple(output for output in outputs if not _is_said(output, said, texts))


def _told(
    missing: Sequence[str], conversation: Conversation
) -> tuple[Sequence[str], Sequence[str]]:
    """The outputs that the results could have given, and the others.

    A word alone tells little: it goes with the values. Without results nothing is told of them.
    """
    results = [turn.result for turn in conversation.turns if isinstance(turn, ActionTurn)]
    given = Known()
    for result in results:
        given.learn_value(result)
    if all(result is None for result in results):
        return missing, ()
    valued = [output for output in missing if _DIGIT.search(output)]
    can = {output for output in valued if _can_be_told(output, given)}
    if len(can) < len(valued) - len(can):
        # Where most could not be told, the others were met by chance.
        return (), missing
    return (
        [output for output in missing if output in can or output not in valued],
        [output for output in valued if output not in can],
    )


def _can_be_told(output: str, given: Known) -> bool:
    if given.cut:
        return True
    found = [*values_of(output)]
    number = as_number(found[0]) if len(found) == 1 else None
    if number is None:
        return all(given.holds(value) for value in found)
    if number.is_integer() and number <= COUNTED:
        return True
    return given.holds(found[0]) or given.derives(found[0])


def _rivals(
    output: str,
    required: Sequence[str],
    replies: Sequence[tuple[int, ResponseTurn]],
    conversation: Conversation,
) -> Iterable[tuple[int, str]]:
    """The first reply that states another id of the same form, which nobody had asked about."""
    form = _form(output)
    if form is None:
        return
    asked = {token for query in conversation.queries for token in tokens(query or "")}
    wanted = {token for other in required for token in tokens(other)}
    for position, reply in replies:
        for token in tokens(reply.text or ""):
            if _form(token) == form and token not in asked and token not in wanted:
                yield position, token
                return


def _form(value: str) -> str | None:
    """The form of an id, all its digits alike and all its letters; None for any other value."""
    if len(value) < _ID_LENGTH or "." in value or len(_DIGIT.findall(value)) < _ID_DIGITS:
        return None
    return _LETTER.sub("a", _DIGIT.sub("0", value.casefold()))


def _left_out(output: str) -> Finding:
    return Finding("incomplete_response", "gold", expected=output)


def _is_said(output: str, said: set[str], texts: list[str]) -> bool:
    wanted = tokens(output)
    if len(wanted) == 1 and wanted[0] in said:
        return True
    text = normalised(output)
    return any(_occurs(text, reply) for reply in texts)


def _occurs(text: str, reply: str) -> bool:
    start = reply.find(text)
    while start >= 0:
        before, after = reply[start - 1 : start], reply[start + len(text) : start + len(text) + 1]
        if not (text[:1].isalnum() and before.isalnum()) and not (
            text[-1:].isalnum() and after.isalnum()
        ):
            return True
        start = reply.find(text, start + 1)
    return not text
