"""Why a call was never made: who had decided against it, and in which turn.

That a call is missing shows at the end; the fault lies where the agent said no, handed over, or
had barred the way itself. Where the user turned it down no turn is at fault, and where the tool
refused the very call that is expected, nobody could have made it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from monitor.model import ActionTurn, Conversation, JsonValue, ResponseTurn
from monitor.references.contracts import ToolContracts
from monitor.scoring.distance import reads
from monitor.scoring.placement import Slot
from monitor.scoring.structure import expected_name
from monitor.scoring.values import leaves, plain, same
from monitor.scoring.words import TEXT_LIMIT, tokens
from monitor.verdict import ExpectedAction, ExpectedTurn, Finding

COMMON: Final = 5
"""A word that more than one tool in so many has in its name tells little."""
PROBABLE: Final = 0.8
"""How often such a cause is the one: people named 4 of 5 in the labelled retail conversations."""
STEM: Final = 5
"""Letters by which a word is known in all its forms."""
WEIGHTY: Final = 6
"""Characters from which on a value is not met by chance."""
QUOTE: Final = 200

_SENTENCE: Final = re.compile(r"[^.!?\n]{1,600}")
_REFUSAL: Final = re.compile(
    r"\b(?:can(?:not|'t)|can not|unable to|not able to|not (?:possible|allowed|permitted|eligible)"
    r"|isn't (?:possible|allowed)|won't be able)\b",
    re.I,
)
_OFFER: Final = re.compile(
    r"\b(?:confirm|proceed|would you like|shall i|should i|go ahead)\b", re.I
)
_DECLINE: Final = re.compile(
    r"\A\W{0,4}(?:no\b|actually\b.{0,40}\b(?:no need|not|don't)|never ?mind|don't|do not|not now)"
    r"|\bno need\b|\b(?:i )?(?:don't|do not) (?:want|need) (?:to|that|it|this)\b|\brather not\b"
    r"|\bwithout making any changes\b|\bchanged my mind\b",
    re.I | re.S,
)
_HAND_OVER: Final = re.compile(r"transfer|escalat|hand.?(?:over|off)|human", re.I)
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Cause(NamedTuple):
    """What lies behind a call that was never made."""

    position: int | None
    """The slot at fault; None when the user decided."""
    finding: Finding | None = None
    """The fault of that slot."""


class Causes(NamedTuple):
    """What lies behind the calls that were never made, by the position of their slots."""

    of: Mapping[int, Cause]
    impossible: frozenset[int]
    """Calls that the tool refused when they were made exactly as expected."""

    def findings(self, position: int) -> tuple[Finding, ...]:
        """The faults of a slot that has such calls for its consequence, without repeats."""
        if not self.of:
            return ()
        found = [
            cause.finding
            for cause in self.of.values()
            if cause.position == position and cause.finding is not None
        ]
        return tuple(found[:1])


NO_CAUSES: Final = Causes({}, frozenset())


def causes_of(
    conversation: Conversation,
    expected: Sequence[ExpectedTurn],
    contracts: ToolContracts,
    slots: Sequence[Slot],
) -> Causes:
    """Look behind every omitted call, as far as the conversation tells."""
    omitted = {
        position: call
        for position, slot in enumerate(slots)
        if slot.turn is None
        and slot.expected is not None
        and isinstance(call := expected[slot.expected], ExpectedAction)
    }
    if not omitted:
        return NO_CAUSES
    search = _Search(conversation, contracts, slots)
    found: dict[int, Cause] = {}
    impossible: set[int] = set()
    for position, call in omitted.items():
        refused = search.refused(call)
        if refused is not None:
            cause = search.barred(call, *refused)
            impossible.update(() if cause is not None else (position,))
        else:
            cause = search.declined(call) or search.denied(call) or search.handed_over(call)
        if cause is not None and (cause.position is None or cause.position < position):
            found[position] = cause
    return Causes(found, frozenset(impossible))


def asked_for(expected: JsonValue, actual: JsonValue, said: Sequence[str]) -> bool:
    """Whether the user asked for a wrong value, and spoke of it later than of the right one.

    `said`: the user's messages in their order, case folded. Short values are met by chance, and
    only among values of one form, as two order ids are, is there a choice.
    """
    due = {plain(leaf) for _, leaf in leaves(expected)}
    wrong = {plain(leaf) for _, leaf in leaves(actual)} - due
    if not wrong or any(len(value) < WEIGHTY for value in wrong):
        return False
    if {_form(value) for value in wrong} != {_form(value) for value in due - wrong}:
        return False
    latest = {value: _latest(value, said) for value in wrong | due}
    return min(latest[value] for value in wrong) > max(latest[value] for value in due)


def _form(value: str) -> tuple[int, bool, bool, bool]:
    """How many words a value has, what it begins with, and whether there are digits in it."""
    first = value[:1]
    return (
        len(value.split()),
        first.isdigit(),
        first.isalpha(),
        any(map(str.isdigit, value)),
    )


def _latest(value: str, said: Sequence[str]) -> int:
    """The index of the last message that holds the value; -1 when none does."""
    return max((index for index, text in enumerate(said) if value in text), default=-1)


class _Search:
    """Looks through one conversation."""

    def __init__(
        self, conversation: Conversation, contracts: ToolContracts, slots: Sequence[Slot]
    ) -> None:
        self._conversation = conversation
        self._contracts = contracts
        self._turns = [
            (position, conversation.turns[slot.turn])
            for position, slot in enumerate(slots)
            if slot.turn is not None
        ]
        names = [definition.name.rpartition(".")[2] for definition in contracts.definitions]
        self._tools = [set(_stems(name)) for name in names]

    def refused(self, call: ExpectedAction) -> tuple[int, ActionTurn] | None:
        """The call itself, made with the expected arguments and refused."""
        for position, turn in self._turns:
            if (
                isinstance(turn, ActionTurn)
                and turn.error_type is not None
                and turn.call.name.rpartition(".")[2] == call.action
                and isinstance(turn.call.arguments, dict)
                and all(same(turn.call.arguments.get(k), v) for k, v in call.args.items())
            ):
                return position, turn
        return None

    def barred(self, call: ExpectedAction, position: int, refused: ActionTurn) -> Cause | None:
        """The agent's own write to the same thing that stood in the way; else None.

        When both served one message the agent could have made them in the other order, and the
        write is at fault; else the call that came too late.
        """
        things = _ids(call.args)
        before = [
            (at, turn)
            for at, turn in self._turns
            if at < position
            and isinstance(turn, ActionTurn)
            and turn.error_type is None
            and not reads(turn.call.name, self._contracts)
            and things & _ids(turn.call.arguments)
        ]
        if not before:
            return None
        at, writing = before[-1]
        if writing.exchange != refused.exchange:
            at, writing = position, refused
        finding = Finding(
            "action_mismatch",
            "evidence",
            expected=expected_name(call),
            actual=writing.call.name,
            confidence=PROBABLE,
        )
        return Cause(at, finding)

    def declined(self, call: ExpectedAction) -> Cause | None:
        """The user said no when the agent offered the call, and spoke of no other thing."""
        verb = next(iter(_stems(call.action or "")), None)
        things = _ids(call.args)
        return (
            Cause(None)
            if any(verb in offered and named <= things for offered, named in self._declined)
            else None
        )

    def denied(self, call: ExpectedAction) -> Cause | None:
        """The first reply that says no to what the call would have done."""
        telling = self._telling(call)
        for position, sentence, stems in self._refusals:
            if telling & stems:
                finding = Finding(
                    "incomplete_response",
                    "gold",
                    expected=expected_name(call),
                    actual=sentence.strip()[:QUOTE],
                    confidence=PROBABLE,
                )
                return Cause(position, finding)
        return None

    def handed_over(self, call: ExpectedAction) -> Cause | None:
        """The first call that passes the conversation on instead."""
        if _HAND_OVER.search(call.action or ""):
            return None
        for position, turn in self._turns:
            if isinstance(turn, ActionTurn) and _HAND_OVER.search(turn.call.name):
                finding = Finding(
                    "action_mismatch",
                    "gold",
                    detail="replaced",
                    expected=expected_name(call),
                    actual=turn.call.name,
                    confidence=PROBABLE,
                )
                return Cause(position, finding)
        return None

    @cached_property
    def _declined(self) -> list[tuple[set[str], set[str]]]:
        """Of each offer that the user declined: its stems, and the things the user named."""
        queries = self._conversation.queries
        found = []
        for _, reply in self._replies():
            text = (reply.text or "")[:TEXT_LIMIT]
            query = next((q for q in queries[reply.exchange + 1 : reply.exchange + 2]), None)
            if query and _OFFER.search(text) and _DECLINE.search(query[:TEXT_LIMIT]):
                named = {token for token in tokens(query) if _is_name(token)}
                found.append((set(_stems(text)), named))
        return found

    @cached_property
    def _refusals(self) -> list[tuple[int, str, set[str]]]:
        """The sentences in which the agent says no, each with its position and its stems."""
        return [
            (position, match[0], set(_stems(match[0])))
            for position, reply in self._replies()
            for match in _SENTENCE.finditer((reply.text or "")[:TEXT_LIMIT])
            if _REFUSAL.search(match[0])
        ]

    def _telling(self, call: ExpectedAction) -> set[str]:
        """The words of the call's name that few other tools share."""
        limit = max(2, len(self._tools) // COMMON)
        return {
            stem
            for stem in _stems(call.action or "")
            if sum(stem in tool for tool in self._tools) <= limit
        }

    def _replies(self) -> Iterator[tuple[int, ResponseTurn]]:
        return ((at, turn) for at, turn in self._turns if isinstance(turn, ResponseTurn))


def _stems(text: str) -> list[str]:
    return [word.casefold()[:STEM] for word in _WORD.findall(text) if len(word) > 2]


def _ids(arguments: JsonValue) -> set[str]:
    """The values that name single things: they have digits in them."""
    found = (plain(leaf) for _, leaf in leaves(arguments) if isinstance(leaf, str))
    return {text for text in found if _is_name(text)}


def _is_name(value: str) -> bool:
    return len(value) > 4 and any(map(str.isdigit, value)) and not value[0].isdigit()
