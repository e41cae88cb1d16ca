"""What a trace without a conversation id tells of where it belongs: the histories it was given.

A bare model client, and many a framework, sends its whole history with each call and names no
conversation. What one trace ended with, the next one then begins with. A footprint tells both as
keys, so that a trace is joined to another by equal keys alone.

A history counts without its system prompt, which may tell the time of day, and as blocks: messages
of one speaker in a row are one, since sources cut them differently.

Equal histories are one conversation only where they cannot be a coincidence: within one service,
and of users that do not differ. Enough must have been said, or a call made under an id that nobody
gives twice; what says less joins the traces of one known user only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

import msgspec

from monitor.assembly.calls import canonical
from monitor.assembly.flow import Survey, events_of, in_causal_order
from monitor.assembly.histories import reply_of, words_of
from monitor.assembly.segments import Segment
from monitor.assembly.tree import Tree
from monitor.model import AgentSpan, Message, ToolCall

EVIDENCE_BYTES: Final = 24
"""What must have been said, at least, for equal histories of unknown users to be no coincidence."""
ANSWER_SHARE: Final = 2
"""What the agent said counts by this part: greetings repeat more than users' words and results."""
GENERATED_ID: Final = 8
"""Characters of a call id, at least, that nobody gives twice: letters and digits in turns."""
DIGITS_OF_ID: Final = 10
"""The same for one of digits only."""
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
_PARTS: Final = re.compile(r"[A-Za-z0-9]+")
_NUMBER: Final = re.compile(r"[0-9]+")
_RUNS: Final = re.compile(r"[0-9]+|[A-Za-z]+")
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


class _Piece(NamedTuple):
    speaker: str
    content: bytes
    talk: bool
    """Users and the agent said it to each other; no call, nor what a call brought."""
    told: bytes
    """What of the content is evidence."""
    unique: bool = False
    """A call under an id that nobody gives twice."""


class _Block(NamedTuple):
    speaker: str
    digest: bytes
    evidence: int
    unique: bool
    pieces: list[_Piece]


class _History(NamedTuple):
    """What a call was given, once whole and once without the work behind the words."""

    whole: list[_Block]
    talk: list[_Block]


def footprint_of(segment: Segment) -> Footprint | None:
    """The segment's footprint; None when it tells no history, so that nothing joins it."""
    heard = _heard(segment)
    if not heard:
        return None
    party = _party_of(segment, heard[0])
    histories = {id(told.messages): _told(told.messages) for told in heard[:CALLS]}
    seeks, length = _sought([histories[id(told.messages)] for told in heard[:CALLS]], party)
    offers, asks = dict[bytes, None](), dict[bytes, None]()
    for at, told in enumerate(heard[-CALLS:], max(0, len(heard) - CALLS)):
        # What a call led to within the trace, no later trace begins with.
        if at == len(heard) - 1 or not any(message.calls for message in told.out):
            history = histories.get(id(told.messages)) or _told(told.messages)
            for ending in _endings(told.out):
                offers.update(dict.fromkeys(_offered(_continued(history, ending), party)))
            asks.update(dict.fromkeys(_asked(history, party)))
    if not seeks and not offers:
        return None
    starts = [span.start_ns for span in segment.spans if span.start_ns]
    keys = tuple(seeks), tuple(offers), party.user, tuple(asks)
    return Footprint(min(starts, default=0), length, *keys, _voice(heard[0]))


def opening_of(segment: Segment) -> bytes | None:
    """A key of how the history opens, equal for all that are joined but by its end."""
    heard = _heard(segment)
    blocks = _told(heard[0].messages).whole if heard else []
    return _key(blocks[:1], _party_of(segment, heard[0]).service) if blocks else None


def _voice(first: _Heard) -> bytes:
    span = first.span
    system = span.system or next(
        (m.text for m in first.messages if m.text and m.role in ("system", "developer")), ""
    )
    tools = sorted({tool.name for tool in span.tool_definitions or ()})
    return _digest("\0".join([_NUMBER.sub("", system), *tools]).encode("utf-8", "surrogatepass"))


def _party_of(segment: Segment, first: _Heard) -> _Party:
    users = (span.user_id for span in segment.spans if span.user_id is not None)
    user = next(users, None)
    service = (first.span.service or "").encode("utf-8", "surrogatepass")
    return _Party(
        blake2b(service, digest_size=KEY_BYTES).digest(),
        b"" if user is None else _digest(user.encode("utf-8", "surrogatepass")),
    )


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=KEY_BYTES).digest()


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


def _sought(histories: Iterable[_History], party: _Party) -> tuple[list[bytes], int]:
    """Keys of what may have been before, by the first call that continues none of the others."""
    known: dict[int, set[bytes]] = {}
    first: tuple[list[bytes], int] | None = None
    for history in histories:
        blocks = history.whole
        if any(_key(blocks[:length]) in keys for length, keys in known.items()):
            continue
        found = (_seeks(history, party), len(blocks))
        if found[0]:
            return found
        first = first or found
        known.setdefault(len(blocks), set()).add(_key(blocks))
    return first or ([], 0)


def _seeks(history: _History, party: _Party) -> list[bytes]:
    keys = dict.fromkeys(_beginnings(history.whole, party))
    if history.talk is not history.whole:
        keys.update(dict.fromkeys(_beginnings(history.talk, party)))
    return list(keys)


def _beginnings(blocks: Sequence[_Block], party: _Party) -> list[bytes]:
    """Keys of the beginnings that something follows, the longest first.

    Each ends with the agent's words, and stands before the same one without them.
    """
    found: list[bytes] = []
    digest = blake2b(party.service, digest_size=KEY_BYTES)
    evidence, unique, spoken = 0, False, False
    for at, block in enumerate(blocks[:-1]):
        if block.speaker == _AGENT and spoken and (unique or evidence >= EVIDENCE_BYTES):
            found.append(digest.digest())
        digest.update(block.digest)
        evidence += block.evidence
        unique = unique or block.unique
        if block.speaker == _AGENT and at:
            if unique or evidence >= EVIDENCE_BYTES:
                found.append(digest.digest())
            elif party.user:
                found.append(_digest(party.user + digest.digest()))
        spoken = spoken or block.speaker == _AGENT
    return found[: -2 * SEEKS - 1 : -1]


def _asked(history: _History, party: _Party) -> Iterator[bytes]:
    """What a call was given, where the agent had spoken before."""
    for blocks in (history.whole, history.talk):
        if not blocks or blocks[-1].speaker == _AGENT:
            continue
        if any(block.speaker == _AGENT for block in blocks) and _is_strong(blocks):
            yield _key(blocks, party.service)


def _offered(history: _History, party: _Party) -> Iterator[bytes]:
    for blocks in (history.whole, history.talk):
        if len(blocks) < 2 or blocks[-1].speaker != _AGENT:
            continue
        key = _key(blocks, party.service)
        if _is_strong(blocks):
            yield key
        elif party.user:
            yield _digest(party.user + key)
        yield from _windows(blocks, party)
        if history.talk is history.whole:
            return


def _windows(blocks: Sequence[_Block], party: _Party) -> Iterator[bytes]:
    """Ends of a history that a client may keep when it trims or sums up the rest."""
    evidence, asked, left, unique = 0, 0, WINDOWS, False
    for at in range(len(blocks) - 1, 0, -1):
        block = blocks[at]
        unique = unique or block.unique
        if block.speaker != _AGENT:
            evidence += block.evidence
        if block.speaker != _USER:
            continue
        asked += 1
        if unique or (asked > 1 and evidence >= WINDOW_EVIDENCE_BYTES):
            yield _key(blocks[at:], party.service)
            left -= 1
            if not left:
                return


def _is_strong(blocks: Sequence[_Block]) -> bool:
    """Whether equal histories are no coincidence."""
    if any(block.unique for block in blocks):
        return True
    return sum([block.evidence for block in blocks]) >= EVIDENCE_BYTES


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


def _key(blocks: Iterable[_Block], service: bytes = b"") -> bytes:
    return _digest(service + b"".join(block.digest for block in blocks))


def _told(messages: Sequence[Message]) -> _History:
    nothing: list[_Block] = []
    return _continued(_History(nothing, nothing), _kept(messages))


def _continued(history: _History, messages: Sequence[Message]) -> _History:
    pieces = [piece for message in messages for piece in _pieces(message)]
    talk = [piece for piece in pieces if piece.talk]
    whole = _joined(history.whole, pieces)
    if len(talk) == len(pieces) and history.talk is history.whole:
        return _History(whole, whole)
    return _History(whole, _joined(history.talk, talk))


def _joined(blocks: list[_Block], pieces: Sequence[_Piece]) -> list[_Block]:
    if blocks and pieces and blocks[-1].speaker == pieces[0].speaker:
        blocks, pieces = blocks[:-1], [*blocks[-1].pieces, *pieces]
    groups = groupby(pieces, key=_speaker_of)
    return [*blocks, *(_block(speaker, list(group)) for speaker, group in groups)]


def _block(speaker: str, pieces: list[_Piece]) -> _Block:
    evidence, unique = 0, False
    for piece in pieces:
        evidence += len(piece.told)
        unique = unique or piece.unique
    if speaker == _AGENT:
        evidence //= ANSWER_SHARE
    if evidence < WINDOW_EVIDENCE_BYTES and any(
        map(_DIGIT.search, [piece.told for piece in pieces])
    ):
        evidence += DIGIT_BYTES
    content = b" ".join([piece.content for piece in pieces])
    return _Block(speaker, _digest(speaker.encode() + content), evidence, unique, pieces)


def _pieces(message: Message) -> Iterator[_Piece]:
    role = message.role
    if role in ("system", "developer"):
        return
    for result in message.results:
        yield _piece(_TOOL, canonical(result.result), talk=False)
    if role in ("assistant", "model"):
        yield from _of_agent(message)
    elif role == "user":
        yield from _of_user(message)
    elif message.text and not message.results:
        yield _piece(_TOOL, _squeezed(message.text), talk=False)


def _piece(speaker: str, content: bytes, *, talk: bool) -> _Piece:
    return _Piece(speaker, content, talk, content)


def _of_agent(message: Message) -> Iterator[_Piece]:
    if words := _squeezed(message.text or ""):
        yield _piece(_AGENT, words, talk=not message.calls)
    for call in message.calls:
        yield _call(call)


def _of_user(message: Message) -> Iterator[_Piece]:
    if words := _squeezed(words_of(message) or ""):
        yield _piece(_USER, words, talk=True)
    for medium in message.media if not message.results else ():
        yield _piece(_USER, medium.encode("utf-8", "surrogatepass"), talk=True)


def _call(call: ToolCall) -> _Piece:
    told = canonical(call.arguments) if call.arguments_state == "parsed" else b""
    name = f"{call.call_id or ''}\0{call.name}\0".encode("utf-8", "surrogatepass")
    return _Piece(_AGENT, name + told, False, told, _is_generated(call.call_id or ""))


def _is_generated(call_id: str) -> bool:
    """Whether an id looks drawn at random: no name, and no number counted up from nought."""
    return any(
        len(part) >= (DIGITS_OF_ID if part.isdigit() else GENERATED_ID)
        and (part.isdigit() or len(_RUNS.findall(part)) > 2)
        for part in _PARTS.findall(call_id)
    )


def _squeezed(text: str) -> bytes:
    """The words without how they are spaced: sources trim and fold lines differently."""
    return " ".join(text.split()).encode("utf-8", "surrogatepass")
