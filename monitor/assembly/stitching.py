"""What a trace without a conversation id tells of where it belongs: the histories it was given.

A bare model client, and many a framework, sends its whole history with each call and names no
conversation. What one trace ended with, the next one then begins with. A footprint tells both as
keys, so that a trace is joined to another by equal keys alone.

Equal histories are one conversation only where they cannot be a coincidence: within one service,
and of users that do not differ. Enough must have been said, or a call made under an id that nobody
gives twice; what says less joins the traces of one known user only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from monitor.assembly.blocks import (
    AGENT,
    EVIDENCE_BYTES,
    KEY_BYTES,
    USER,
    WINDOW_EVIDENCE_BYTES,
    Block,
    History,
    continued,
    digest_of,
    endings_of,
    history_of,
    is_strong,
    key_of,
)
from monitor.assembly.flow import Survey, events_of, in_causal_order
from monitor.assembly.histories import reply_of
from monitor.assembly.segments import Segment
from monitor.assembly.tree import Tree
from monitor.model import AgentSpan, Message

SEEKS: Final = 16
WINDOWS: Final = 16
CALLS: Final = 8
_NUMBER: Final = re.compile(r"[0-9]+")


class Footprint(msgspec.Struct, frozen=True, array_like=True):
    """A trace's histories as keys. Equal keys stand for equal histories."""

    start_ns: int
    length: int
    """Blocks of the history that the trace began with."""
    seeks: tuple[bytes, ...]
    """Keys of what a trace before this one may have ended with, the longest first."""
    offers: tuple[bytes, ...]
    """Keys of what a trace after this one may begin with."""
    user: bytes = b""
    """Whose trace it is, as a digest; empty when nobody says it."""
    asks: tuple[bytes, ...] = ()
    """Keys of what the trace was given at its end: what comes after may tell its answer in other
    words than it did."""
    voice: bytes = b""
    """Digest of who spoke: the instructions, numbers apart, and the tools."""


class _Party(NamedTuple):
    """Among whom equal histories are one."""

    service: bytes
    user: bytes


class _Heard(NamedTuple):
    """A call: what it was given, and what it said."""

    messages: Sequence[Message]
    out: Sequence[Message]
    span: AgentSpan


def footprint_of(segment: Segment) -> Footprint | None:
    """The segment's footprint; None when it tells no history, so that nothing joins it."""
    heard = _heard(segment)
    if not heard:
        return None
    party = _party_of(segment, heard[0])
    histories = {id(told.messages): history_of(told.messages) for told in heard[:CALLS]}
    seeks, length = _sought([histories[id(told.messages)] for told in heard[:CALLS]], party)
    offers, asks = dict[bytes, None](), dict[bytes, None]()
    for at, told in enumerate(heard[-CALLS:], max(0, len(heard) - CALLS)):
        # What a call led to within the trace, no later trace begins with.
        if at == len(heard) - 1 or not any(message.calls for message in told.out):
            history = histories.get(id(told.messages)) or history_of(told.messages)
            for ending in endings_of(told.out):
                offers.update(dict.fromkeys(_offered(continued(history, ending), party)))
            asks.update(dict.fromkeys(_asked(history, party)))
    if not seeks and not offers:
        return None
    starts = [span.start_ns for span in segment.spans if span.start_ns]
    keys = tuple(seeks), tuple(offers), party.user, tuple(asks)
    return Footprint(min(starts, default=0), length, *keys, _voice(heard[0]))


def opening_of(segment: Segment) -> bytes | None:
    """A key of how the history opens, equal for all that are joined but by its end."""
    heard = _heard(segment)
    blocks = history_of(heard[0].messages).whole if heard else []
    return key_of(blocks[:1], _party_of(segment, heard[0]).service) if blocks else None


def _voice(first: _Heard) -> bytes:
    span = first.span
    system = span.system or next(
        (m.text for m in first.messages if m.text and m.role in ("system", "developer")), ""
    )
    tools = sorted({tool.name for tool in span.tool_definitions or ()})
    return digest_of("\0".join([_NUMBER.sub("", system), *tools]).encode("utf-8", "surrogatepass"))


def _party_of(segment: Segment, first: _Heard) -> _Party:
    users = (span.user_id for span in segment.spans if span.user_id is not None)
    user = next(users, None)
    service = (first.span.service or "").encode("utf-8", "surrogatepass")
    return _Party(
        blake2b(service, digest_size=KEY_BYTES).digest(),
        b"" if user is None else digest_of(user.encode("utf-8", "surrogatepass")),
    )


def _heard(segment: Segment) -> list[_Heard]:
    """What the outermost agent's model calls were given and said, in order."""
    tree = Tree(segment.spans)
    events = in_causal_order(events_of(tree.roots, Survey(tree)))
    calls = [event.span for event in events if event.span.kind == "model" and event.depth == 0]
    root = tree.roots[0].span
    heard = [
        _Heard(span.messages_in, span.messages_out or (), span)
        for span in calls
        if span.messages_in
    ]
    if root.kind == "agent" and root.messages_out:
        heard += _of_root(root, heard)
    return heard


def _of_root(root: AgentSpan, heard: list[_Heard]) -> list[_Heard]:
    """The root's own words: what the user saw may be other than what the model said."""
    reply = reply_of(root.messages_out)
    if not reply:
        return []
    said = (Message("assistant", reply),)
    if not heard:
        return [_Heard(root.messages_in, said, root)] if root.messages_in else []
    last = heard[-1]
    return [] if reply == reply_of(last.out) else [last._replace(out=said)]


def _sought(histories: Iterable[History], party: _Party) -> tuple[list[bytes], int]:
    """Keys of what may have been before, by the first call that continues none of the others."""
    known: dict[int, set[bytes]] = {}
    first: tuple[list[bytes], int] | None = None
    for history in histories:
        blocks = history.whole
        if any(key_of(blocks[:length]) in keys for length, keys in known.items()):
            continue
        found = (_seeks(history, party), len(blocks))
        if found[0]:
            return found
        first = first or found
        known.setdefault(len(blocks), set()).add(key_of(blocks))
    return first or ([], 0)


def _seeks(history: History, party: _Party) -> list[bytes]:
    keys = dict.fromkeys(_beginnings(history.whole, party))
    if history.talk is not history.whole:
        keys.update(dict.fromkeys(_beginnings(history.talk, party)))
    return list(keys)


def _beginnings(blocks: Sequence[Block], party: _Party) -> list[bytes]:
    """Keys of the beginnings that something follows, the longest first.

    Each ends with the agent's words, and stands before the same one without them.
    """
    found: list[bytes] = []
    digest = blake2b(party.service, digest_size=KEY_BYTES)
    evidence, unique, spoken = 0, False, False
    for at, block in enumerate(blocks[:-1]):
        if block.speaker == AGENT and spoken and (unique or evidence >= EVIDENCE_BYTES):
            found.append(digest.digest())
        digest.update(block.digest)
        evidence += block.evidence
        unique = unique or block.unique
        if block.speaker == AGENT and at:
            if unique or evidence >= EVIDENCE_BYTES:
                found.append(digest.digest())
            elif party.user:
                found.append(digest_of(party.user + digest.digest()))
        spoken = spoken or block.speaker == AGENT
    return found[: -2 * SEEKS - 1 : -1]


def _asked(history: History, party: _Party) -> Iterator[bytes]:
    """What a call was given, where the agent had spoken before."""
    for blocks in (history.whole, history.talk):
        if not blocks or blocks[-1].speaker == AGENT:
            continue
        if any(block.speaker == AGENT for block in blocks) and is_strong(blocks):
            yield key_of(blocks, party.service)


def _offered(history: History, party: _Party) -> Iterator[bytes]:
    for blocks in (history.whole, history.talk):
        if len(blocks) < 2 or blocks[-1].speaker != AGENT:
            continue
        key = key_of(blocks, party.service)
        if is_strong(blocks):
            yield key
        elif party.user:
            yield digest_of(party.user + key)
        yield from _windows(blocks, party)
        if history.talk is history.whole:
            return


def _windows(blocks: Sequence[Block], party: _Party) -> Iterator[bytes]:
    """Ends of a history that a client may keep when it trims or sums up the rest."""
    evidence, asked, left, unique = 0, 0, WINDOWS, False
    for at in range(len(blocks) - 1, 0, -1):
        block = blocks[at]
        unique = unique or block.unique
        if block.speaker != AGENT:
            evidence += block.evidence
        if block.speaker != USER:
            continue
        asked += 1
        if unique or (asked > 1 and evidence >= WINDOW_EVIDENCE_BYTES):
            yield key_of(blocks[at:], party.service)
            left -= 1
            if not left:
                return
