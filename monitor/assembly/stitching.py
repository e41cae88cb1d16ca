"""What a trace without a conversation id tells of where it belongs: the histories it was given.

A bare model client, and many a framework, sends its whole history with each call and names no
conversation. What one trace ended with, the next one then begins with. A footprint tells both as
keys, so that a trace is joined to another by equal keys alone.

A history counts without its system prompt, which may tell the time of day, and as blocks: messages
of one speaker in a row are one, since sources cut them differently.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

import msgspec

from monitor.assembly.calls import canonical
from monitor.assembly.flow import Survey, events_of, in_causal_order
from monitor.assembly.histories import reply_of, words_of
from monitor.assembly.segments import Segment
from monitor.assembly.tree import Tree
from monitor.model import AgentSpan, Message, ToolCall

EVIDENCE_BYTES: Final = 24
"""What users and tools must have said, at least, for equal histories to be no coincidence."""
DIGIT_BYTES: Final = 8
"""What a number adds to that: an order's or a flight's says more than its length."""
WINDOW_EVIDENCE_BYTES: Final = 64
"""The same where only the end of a history was kept: there, two exchanges must be equal."""
SEEKS: Final = 16
WINDOWS: Final = 16
CALLS: Final = 8
KEY_BYTES: Final = 8
_AGENT, _USER, _TOOL = "a", "u", "t"
_DIGIT: Final = re.compile(rb"[0-9]")
_speaker_of: Final = itemgetter(0)


class Footprint(msgspec.Struct, frozen=True, array_like=True):
    """A trace's histories as keys. Equal keys stand for equal histories."""

    start_ns: int
    length: int
    """Blocks of the history that the trace began with."""
    seeks: tuple[bytes, ...]
    """Keys of what a trace before this one may have ended with, the longest first."""
    offers: tuple[bytes, ...]
    """Keys of what a trace after this one may begin with."""


_Heard: TypeAlias = tuple[Sequence[Message], Sequence[Message]]


class _Piece(NamedTuple):
    speaker: str
    content: bytes
    talk: bool
    """Users and the agent said it to each other; no call, nor what a call brought."""


class _Block(NamedTuple):
    speaker: str
    digest: bytes
    evidence: int


class _History(NamedTuple):
    """What a call was given, once whole and once without the work behind the words."""

    whole: list[_Block]
    talk: list[_Block]


def footprint_of(segment: Segment) -> Footprint | None:
    """The segment's footprint; None when it tells no history, so that nothing joins it."""
    heard = _heard(segment)
    if not heard:
        return None
    seeks, length = _sought(messages for messages, _ in heard[:CALLS])
    offers: dict[bytes, None] = {}
    for at, (messages, out) in enumerate(heard[-CALLS:], max(0, len(heard) - CALLS)):
        # What a call led to within the trace, no later trace begins with.
        if at == len(heard) - 1 or not any(message.calls for message in out):
            for ending in _endings(out):
                offers.update(dict.fromkeys(_offered(_told(messages, ending))))
    if not seeks and not offers:
        return None
    starts = [span.start_ns for span in segment.spans if span.start_ns]
    return Footprint(min(starts, default=0), length, tuple(seeks), tuple(offers))


def _heard(segment: Segment) -> list[_Heard]:
    """What the outermost agent's model calls were given and said, in order."""
    tree = Tree(segment.spans)
    events = in_causal_order(events_of(tree.roots, Survey(tree)))
    calls = [event.span for event in events if event.span.kind == "model" and event.depth == 0]
    root = tree.roots[0].span
    heard: list[_Heard] = [
        (span.messages_in, span.messages_out or ()) for span in calls if span.messages_in
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
        return [(root.messages_in, said)] if root.messages_in else []
    given, out = heard[-1]
    return [] if reply == reply_of(out) else [(given, said)]


def _sought(given: Iterable[Sequence[Message]]) -> tuple[list[bytes], int]:
    """Keys of what may have been before, by the first call that continues none of the others."""
    known: dict[int, set[bytes]] = {}
    first: tuple[list[bytes], int] | None = None
    for messages in given:
        history = _told(messages)
        blocks = history.whole
        if any(_key(blocks[:length]) in keys for length, keys in known.items()):
            continue
        found = (_seeks(history), len(blocks))
        if found[0]:
            return found
        first = first or found
        known.setdefault(len(blocks), set()).add(_key(blocks))
    return first or ([], 0)


def _seeks(history: _History) -> list[bytes]:
    keys = dict.fromkeys(_prefixes(history.whole)[-SEEKS:][::-1])
    if history.talk is not history.whole:
        keys.update(dict.fromkeys(_prefixes(history.talk)[-SEEKS:][::-1]))
    return list(keys)


def _prefixes(blocks: Sequence[_Block]) -> list[bytes]:
    """Keys of the beginnings that end with the agent's words and that something follows."""
    found, digest = [], blake2b(digest_size=KEY_BYTES)
    for at, block in enumerate(blocks[:-1]):
        digest.update(block.digest)
        if block.speaker == _AGENT and at:
            found.append(digest.copy().digest())
    return found


def _offered(history: _History) -> Iterator[bytes]:
    for blocks in (history.whole, history.talk):
        if len(blocks) < 2 or blocks[-1].speaker != _AGENT:
            continue
        if sum([block.evidence for block in blocks]) >= EVIDENCE_BYTES:
            yield _key(blocks)
        yield from _windows(blocks)
        if history.talk is history.whole:
            return


def _windows(blocks: Sequence[_Block]) -> Iterator[bytes]:
    """Ends of a history that a client may keep when it trims or sums up the rest."""
    evidence, asked, left = 0, 0, WINDOWS
    for at in range(len(blocks) - 1, 0, -1):
        evidence += blocks[at].evidence
        if blocks[at].speaker != _USER:
            continue
        asked += 1
        if asked > 1 and evidence >= WINDOW_EVIDENCE_BYTES:
            yield _key(blocks[at:])
            left -= 1
            if not left:
                return


def _endings(out: Sequence[Message]) -> list[Sequence[Message]]:
    """What the answer may be continued as: the whole, or one of several choices."""
    if not out:
        return []
    if len(out) == 1:
        return [out]
    return [out, *((message,) for message in out[:4])]


def _kept(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages behind the last summary of what was before."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].compacted:
            return messages[at + 1 :]
    return messages


def _key(blocks: Iterable[_Block]) -> bytes:
    joined = b"".join(block.digest for block in blocks)
    return blake2b(joined, digest_size=KEY_BYTES).digest()


def _told(messages: Sequence[Message], ending: Sequence[Message] = ()) -> _History:
    pieces = [piece for message in (*_kept(messages), *ending) for piece in _pieces(message)]
    whole = _blocks(pieces)
    talk = [piece for piece in pieces if piece.talk]
    return _History(whole, whole if len(talk) == len(pieces) else _blocks(talk))


def _blocks(pieces: Sequence[_Piece]) -> list[_Block]:
    return [
        _block(speaker, [piece.content for piece in group])
        for speaker, group in groupby(pieces, key=_speaker_of)
    ]


def _block(speaker: str, said: list[bytes]) -> _Block:
    content = b" ".join(said)
    evidence = 0
    if speaker != _AGENT:
        evidence = len(content)
        if evidence < WINDOW_EVIDENCE_BYTES and _DIGIT.search(content):
            evidence += DIGIT_BYTES
    digest = blake2b(speaker.encode() + content, digest_size=KEY_BYTES).digest()
    return _Block(speaker, digest, evidence)


def _pieces(message: Message) -> Iterator[_Piece]:
    role = message.role
    if role in ("system", "developer"):
        return
    for result in message.results:
        yield _Piece(_TOOL, canonical(result.result), talk=False)
    if role in ("assistant", "model"):
        yield from _of_agent(message)
    elif role == "user":
        yield from _of_user(message)
    elif message.text and not message.results:
        yield _Piece(_TOOL, _squeezed(message.text), talk=False)


def _of_agent(message: Message) -> Iterator[_Piece]:
    if words := _squeezed(message.text or ""):
        yield _Piece(_AGENT, words, talk=not message.calls)
    for call in message.calls:
        yield _Piece(_AGENT, _call(call), talk=False)


def _of_user(message: Message) -> Iterator[_Piece]:
    if words := _squeezed(words_of(message) or ""):
        yield _Piece(_USER, words, talk=True)
    for medium in message.media if not message.results else ():
        yield _Piece(_USER, medium.encode("utf-8", "surrogatepass"), talk=True)


def _call(call: ToolCall) -> bytes:
    told = canonical(call.arguments) if call.arguments_state == "parsed" else b""
    name = f"{call.call_id or ''}\0{call.name}\0".encode("utf-8", "surrogatepass")
    return name + told


def _squeezed(text: str) -> bytes:
    """The words without how they are spaced: sources trim and fold lines differently."""
    return " ".join(text.split()).encode("utf-8", "surrogatepass")
