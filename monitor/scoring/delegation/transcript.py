"""Agents talking among themselves before the user hears: their talk, read once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

import msgspec

from monitor.model import ActionTurn, Conversation, ResponseTurn, Turn
from monitor.scoring.delegation.texts import Ledger, Saying, exit_code, is_nothing, ledger, saying

_REPLIES_MIN: Final = 3
_LEADER_SHARE: Final = 0.6
_CALLED_SHARE: Final = 0.8


class Run(NamedTuple):
    """One execution or tool call that answered a line."""

    text: str
    failed: bool
    idle: bool
    """There was nothing to run: the line before held no code, and the call no arguments."""

    @property
    def printed_nothing(self) -> bool:
        """Whether it ran well and still told nothing."""
        return not self.failed and not self.idle and is_nothing(self.text)


class Line(NamedTuple):
    """One message of one agent, with what it ran before, and what was run for it right after."""

    turn: int
    """Index into the conversation's turns."""
    agent: str
    text: str
    says: Saying
    ledger: Ledger | None
    runs: tuple[Run, ...]
    own: tuple[Run, ...] = ()
    """Calls that the agent itself made before it spoke."""

    @property
    def all_runs(self) -> tuple[Run, ...]:
        """In their order."""
        return self.own + self.runs


class Transcript(NamedTuple):
    """The talk behind one user message."""

    query: str
    lines: tuple[Line, ...]
    leader: str | None
    """The agent that hands out the work and hears every answer; None in a talk of equals."""
    cut: bool = False
    """The trace of it is not whole: what it lacks at the end may have been said."""


def talks(conversation: Conversation) -> Iterator[range]:
    """The exchanges in which agents spoke with each other, as indices of their turns, in order."""
    end = 0
    for _, group in groupby(conversation.turns, key=lambda turn: turn.exchange):
        turns = list(group)
        start, end = end, end + len(turns)
        replies = sum(isinstance(turn, ResponseTurn) for turn in turns)
        if replies >= _REPLIES_MIN and _is_talk(turns):
            yield range(start, end)


def transcripts(conversation: Conversation) -> Iterator[Transcript]:
    """The talks that can be read, in order; all other exchanges are left out."""
    turns, queries = conversation.turns, conversation.queries
    for talk in talks(conversation):
        said = [turns[index] for index in talk]
        if any(isinstance(one, ResponseTurn) and _is_dim(one) for one in said):
            # What was not captured may hold what the rest seems to lack.
            continue
        exchange = said[0].exchange
        query = queries[exchange] if exchange < len(queries) else None
        lines = tuple(_lines(list(zip(talk, said, strict=True))))
        if not lines:
            continue
        yield Transcript(query or "", lines, _leader(lines), exchange in conversation.broken_off)


def _is_dim(reply: ResponseTurn) -> bool:
    return reply.text is None or reply.truncated


def _is_talk(turns: Sequence[Turn]) -> bool:
    """Whether somebody answered who was neither the user nor a tool."""
    speakers = {turn.agent for turn in turns if isinstance(turn, ResponseTurn) and turn.agent}
    if len(speakers) > 1:
        return True
    kinds = groupby(isinstance(turn, ResponseTurn) for turn in turns)
    return any(is_reply and len(list(row)) >= _REPLIES_MIN for is_reply, row in kinds)


def _lines(turns: Sequence[tuple[int, Turn]]) -> Iterator[Line]:
    at, said = -1, None
    own, ran, ahead = list[Turn](), list[Turn](), list[Turn]()
    for index, turn in turns:
        if isinstance(turn, ActionTurn) and _is_anothers(turn, said):
            ahead.append(turn)
        elif isinstance(turn, ActionTurn) or exit_code(turn.text or "") is not None:
            ran.append(turn)
        else:
            if said is not None:
                yield _line(at, said, own, ran)
            at, said, own, ran, ahead = index, turn, ahead, [], []
    if said is not None:
        yield _line(at, said, own, ran + ahead)


def _is_anothers(call: ActionTurn, said: ResponseTurn | None) -> bool:
    """Whether an agent made the call by itself, and not for the one that spoke before."""
    if said is None:
        return True
    return bool(call.call.arguments and call.agent) and call.agent != said.agent


def _line(index: int, reply: ResponseTurn, own: Sequence[Turn], ran: Sequence[Turn]) -> Line:
    text = reply.text or ""
    says = saying(text)
    runs = tuple([_run(turn, says) for turn in ran])
    before = tuple([_run(turn, says) for turn in own])
    return Line(index, reply.agent or "", text, says, ledger(text), runs, before)


def _run(turn: Turn, says: Saying) -> Run:
    """A call's result, or the message of an agent that does nothing but run code."""
    if isinstance(turn, ResponseTurn):
        text = turn.text or ""
        return Run(text, exit_code(text) != 0, idle=False)
    result = turn.result
    if not isinstance(result, str):
        result = msgspec.json.encode(result).decode("utf-8", "replace") if turn.has_result else ""
    failed = turn.error_type is not None
    return Run(result, failed, idle=not (failed or says.has_code or turn.call.arguments))


def _leader(lines: Sequence[Line]) -> str | None:
    """Who opens, speaks most, and calls by name whoever speaks next."""
    first = lines[0].agent
    spoken = Counter(line.agent for line in lines)
    workers = len(lines) - spoken[first]
    if not workers or spoken[first] < _LEADER_SHARE * len(lines):
        return None
    followed = called = 0
    block: list[str] = []
    for line in lines:
        if line.agent == first:
            block.append(line.text)
            continue
        followed += bool(block)
        called += any(line.agent in text for text in block)
        block = []
    due = _CALLED_SHARE * workers
    return first if followed >= due and called >= due else None
