"""A history as blocks, for equal histories to be found equal.

Messages of one speaker in a row are one, since sources cut them differently. A history counts
without its system prompt, which may tell the time of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

from monitor.assembly.calls import canonical
from monitor.assembly.histories import words_of
from monitor.model import Message, ToolCall

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
KEY_BYTES: Final = 8
AGENT, USER, TOOL = "a", "u", "t"
_DIGIT: Final = re.compile(rb"[0-9]")
_PARTS: Final = re.compile(r"[A-Za-z0-9]+")
_RUNS: Final = re.compile(r"[0-9]+|[A-Za-z]+")
_speaker_of: Final = itemgetter(0)


class _Piece(NamedTuple):
    speaker: str
    content: bytes
    talk: bool
    """Users and the agent said it to each other; no call, nor what a call brought."""
    told: bytes
    """What of the content is evidence."""
    unique: bool = False
    """A call under an id that nobody gives twice."""


class Block(NamedTuple):
    """What one speaker said, called or was told in a row."""

    speaker: str
    digest: bytes
    evidence: int
    unique: bool
    pieces: list[_Piece]


class History(NamedTuple):
    """What a call was given, once whole and once without the work behind the words."""

    whole: list[Block]
    talk: list[Block]


def history_of(messages: Sequence[Message]) -> History:
    """The blocks of the messages behind the last summary."""
    nothing: list[Block] = []
    return continued(History(nothing, nothing), _kept(messages))


def continued(history: History, messages: Sequence[Message]) -> History:
    """The history with further messages behind it."""
    pieces = [piece for message in messages for piece in _pieces(message)]
    talk = [piece for piece in pieces if piece.talk]
    whole = _joined(history.whole, pieces)
    if len(talk) == len(pieces) and history.talk is history.whole:
        return History(whole, whole)
    return History(whole, _joined(history.talk, talk))


def is_strong(blocks: Sequence[Block]) -> bool:
    """Whether equal histories are no coincidence."""
    if any(block.unique for block in blocks):
        return True
    return sum([block.evidence for block in blocks]) >= EVIDENCE_BYTES


def endings_of(out: Sequence[Message]) -> list[Sequence[Message]]:
    """What the answer may be continued as: the whole, or one of several choices."""
    if not out:
        return []
    if len(out) == 1:
        return [out]
    return [out, *((message,) for message in out[:4])]


def key_of(blocks: Iterable[Block], service: bytes = b"") -> bytes:
    """Equal for equal blocks of one service."""
    return digest_of(service + b"".join(block.digest for block in blocks))


def beginnings_of(blocks: Iterable[Block]) -> Iterator[bytes]:
    """The key of each beginning, the shortest first."""
    digest = blake2b(digest_size=KEY_BYTES)
    for block in blocks:
        digest.update(block.digest)
        yield digest.digest()


def digest_of(content: bytes) -> bytes:
    """Short enough to keep many."""
    return blake2b(content, digest_size=KEY_BYTES).digest()


def _kept(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages behind the last summary of what was before."""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].compacted:
            return messages[at + 1 :]
    return messages


def _joined(blocks: list[Block], pieces: Sequence[_Piece]) -> list[Block]:
    if blocks and pieces and blocks[-1].speaker == pieces[0].speaker:
        blocks, pieces = blocks[:-1], [*blocks[-1].pieces, *pieces]
    groups = groupby(pieces, key=_speaker_of)
    return [*blocks, *(_block(speaker, list(group)) for speaker, group in groups)]


def _block(speaker: str, pieces: list[_Piece]) -> Block:
    evidence, unique = 0, False
    for piece in pieces:
        evidence += len(piece.told)
        unique = unique or piece.unique
    if speaker == AGENT:
        evidence //= ANSWER_SHARE
    if evidence < WINDOW_EVIDENCE_BYTES and any(
        map(_DIGIT.search, [piece.told for piece in pieces])
    ):
        evidence += DIGIT_BYTES
    content = b" ".join([piece.content for piece in pieces])
    return Block(speaker, digest_of(speaker.encode() + content), evidence, unique, pieces)


def _pieces(message: Message) -> Iterator[_Piece]:
    role = message.role
    if role in ("system", "developer"):
        return
    for result in message.results:
        yield _piece(TOOL, canonical(result.result), talk=False)
    if role in ("assistant", "model"):
        yield from _of_agent(message)
    elif role == "user":
        yield from _of_user(message)
    elif message.text and not message.results:
        yield _piece(TOOL, _squeezed(message.text), talk=False)


def _piece(speaker: str, content: bytes, *, talk: bool) -> _Piece:
    return _Piece(speaker, content, talk, content)


def _of_agent(message: Message) -> Iterator[_Piece]:
    if words := _squeezed(message.text or ""):
        yield _piece(AGENT, words, talk=not message.calls)
    for call in message.calls:
        yield _call(call)


def _of_user(message: Message) -> Iterator[_Piece]:
    if words := _squeezed(words_of(message) or ""):
        yield _piece(USER, words, talk=True)
    for medium in message.media if not message.results else ():
        yield _piece(USER, medium.encode("utf-8", "surrogatepass"), talk=True)


def _call(call: ToolCall) -> _Piece:
    told = canonical(call.arguments) if call.arguments_state == "parsed" else b""
    name = f"{call.call_id or ''}\0{call.name}\0".encode("utf-8", "surrogatepass")
    return _Piece(AGENT, name + told, False, told, _is_generated(call.call_id or ""))


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
