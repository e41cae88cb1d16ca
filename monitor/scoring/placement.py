"""Where an expected turn stands that nothing answers: where it was due, as far as can be told."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from monitor.model import ActionTurn, Conversation
from monitor.scoring.provenance import Content, content_of, content_of_text
from monitor.verdict import ExpectedAction, ExpectedResponse, ExpectedTurn, Reference


class Slot(NamedTuple):
    """An actual turn, an expected turn, or both where one answers the other; by index."""

    turn: int | None
    expected: int | None
    covered: bool = True
    """False for a turn that the reference leaves free: it is held against the contract."""


def placed(
    conversation: Conversation,
    reference: Reference,
    partners: Sequence[int | None],
    covered: set[int],
) -> list[Slot]:
    """All turns in their order, and among them the expected turns that nothing answers.

    With an order, such a turn stands before the next of its kind that is answered; where replies
    lie between, in the exchange whose reply or query speaks of it. Without an order it comes last.
    """
    answered = {partner for partner in partners if partner is not None}
    omitted = [index for index in range(len(reference.turns)) if index not in answered]
    before: dict[int, list[int]] = {}
    for index in omitted:
        place = _place(conversation, reference, partners, index)
        before.setdefault(place, []).append(index)
    slots: list[Slot] = []
    for turn, partner in enumerate(partners):
        slots += [Slot(None, index) for index in before.get(turn, ())]
        slots.append(Slot(turn, partner, partner is not None or turn in covered))
    return slots + [Slot(None, index) for index in before.get(len(partners), ())]


def _place(
    conversation: Conversation,
    reference: Reference,
    partners: Sequence[int | None],
    index: int,
) -> int:
    """The turn before which the expected turn was due; their number when it comes last."""
    end = len(partners)
    if not reference.ordered and reference.pairs is None:
        return end
    together = reference.interleaved or reference.pairs is not None
    kind = type(reference.turns[index])
    start = 0
    for turn, partner in enumerate(partners):
        if partner is None or not (together or isinstance(reference.turns[partner], kind)):
            continue
        if partner > index:
            end = turn
            break
        start = turn + 1
    expected = reference.turns[index]
    if together:
        return end
    if not isinstance(expected, ExpectedAction):
        return _unanswered(conversation, reference, partners, index, range(start, end))
    return _due(conversation, reference, partners, expected, range(start, end))


def _unanswered(
    conversation: Conversation,
    reference: Reference,
    partners: Sequence[int | None],
    index: int,
    gap: range,
) -> int:
    """Within a gap, the end of the exchange that a reply was due in: one that has no reply."""
    turns = conversation.turns
    replied = {turn.exchange for turn in turns if not isinstance(turn, ActionTurn)}
    silent = sorted({turns[t].exchange for t in gap} - replied)
    if not silent:
        return gap.stop
    answered = {partner for partner in partners if partner is not None}
    # Several replies may be missing in a row: each has its own exchange as far as there are any.
    before = index - 1
    while before >= 0 and before not in answered and _is_reply(reference.turns[before]):
        before -= 1
    exchange = silent[min(index - before - 1, len(silent) - 1)]
    return 1 + max(t for t in gap if turns[t].exchange == exchange)


def _is_reply(turn: ExpectedTurn) -> bool:
    return isinstance(turn, ExpectedResponse)


def _due(
    conversation: Conversation,
    reference: Reference,
    partners: Sequence[int | None],
    expected: ExpectedAction,
    gap: range,
) -> int:
    """Within a gap, the reply before which a call was due: the one that speaks of it most."""
    replies = [t for t in gap if not isinstance(conversation.turns[t], ActionTurn)]
    if not replies:
        return gap.stop
    due, args = content_of(expected.result), content_of(expected.args)
    best, best_score = gap.stop, _query_score(conversation, gap.stop, args)
    for turn in replies:
        partner = partners[turn]
        told = None if partner is None else reference.turns[partner]
        score = _told(told, due) + _query_score(conversation, turn, args)
        # A reply with no call behind it is the likeliest to lack one.
        score += 0.5 * (turn == 0 or not isinstance(conversation.turns[turn - 1], ActionTurn))
        if score > best_score:
            best, best_score = turn, score
    return best


def _told(reply: ExpectedTurn | None, due: Content) -> float:
    """Share of a result's values that the expected reply tells."""
    if not isinstance(reply, ExpectedResponse) or not due.values:
        return 0.0
    words = content_of_text(reply.text).words
    return sum(_within(value, words) for value in due.values) / len(due.values)


def _query_score(conversation: Conversation, turn: int, args: Content) -> float:
    """Share of a call's argument values that the user's message of the turn's exchange names."""
    if turn >= len(conversation.turns) or not args.values:
        return 0.0
    exchange = conversation.turns[turn].exchange
    queries = conversation.queries
    query = queries[exchange] if exchange < len(queries) else None
    words = content_of_text(query or "").words
    return sum(_within(value, words) for value in args.values) / len(args.values)


def _within(value: str, words: AbstractSet[str]) -> bool:
    found = content_of_text(value).words
    return bool(found) and found <= words
