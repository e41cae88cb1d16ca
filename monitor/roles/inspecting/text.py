"""An inspection as lines for a terminal: bounded, and with nothing in them that acts on it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

import msgspec

from monitor.model import JsonValue
from monitor.roles.inspecting.inspection import WHYS, Seen, SeenConversation, SeenExchange, SeenTurn

TEXT_CHARACTERS: Final = 200
NAME_CHARACTERS: Final = 100
USAGE_MISSING: Final = "usage_missing"
"""A count of calls, and no fate of spans."""
_LISTED: Final = 10
_NOT_CAPTURED: Final = {"content missing", "arguments not captured"}
_ACTING: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def lines_of(seen: Seen) -> Iterator[str]:
    """Every line, without its end."""
    for conversation in seen.conversations:
        yield from _conversation(conversation)
        yield ""
    yield from _listed("spans outside of any conversation", seen.outside)
    yield from _listed("refused", seen.refused)
    fates = {name: count for name, count in seen.counts.items() if name != USAGE_MISSING}
    spans = ", ".join(f"{count} {name}" for name, count in fates.items())
    yield f"spans: {spans or 'none'}"
    turns = [
        turn
        for conversation in seen.conversations
        for exchange in conversation.exchanges
        for turn in exchange.turns
    ]
    unscored = sum(turn.verdict == "unscored" for turn in turns)
    yield (
        f"{len(seen.conversations)} conversations, {len(turns)} turns, {unscored} unscored, "
        f"{len(seen.refused)} refusals"
    )


def shown(text: str, limit: int = TEXT_CHARACTERS) -> str:
    """The text on one line and within the limit; what acts on a terminal is written out."""
    cut = text[:limit]
    safe = "".join(_visible(character) for character in cut)
    return safe if len(text) <= limit else f"{safe}… ({len(text) - limit} more)"


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _ACTING:
        return character
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def _conversation(seen: SeenConversation) -> Iterator[str]:
    yield f"conversation {shown(seen.conversation_id)}"
    yield f"  id        {shown(seen.id_from)}"
    yield f"  release   {shown(seen.release)}, model {_named(seen.model)}"
    tokens = f"{_number(seen.input_tokens)} in, {_number(seen.output_tokens)} out"
    yield f"  tokens    {tokens}"
    yield f"  system    {'not captured' if seen.system is None else _quoted(seen.system)}"
    tools = ", ".join(shown(name, NAME_CHARACTERS) for name in seen.tools[:_LISTED])
    more = f" and {len(seen.tools) - _LISTED} more" if len(seen.tools) > _LISTED else ""
    yield f"  contracts {tools + more if tools else 'none in the trace'}"
    kinds = ", ".join(f"{count} {kind}" for kind, count in seen.spans.items())
    readers = ", ".join(
        f"{shown(name, NAME_CHARACTERS)} {count}" for name, count in seen.read_by.items()
    )
    yield f"  spans     {kinds} in {seen.traces} traces; read by {readers}"
    for number, exchange in enumerate(seen.exchanges, start=1):
        yield from _exchange(number, exchange)
    for turn in seen.omitted:
        yield "  never taken"
        yield from _turn(turn)
    yield from (f"  {line}" for line in _listed("read by no vocabulary", seen.not_read))


def _exchange(number: int, exchange: SeenExchange) -> Iterator[str]:
    query = "not captured" if exchange.query is None else _quoted(exchange.query)
    yield f"  user turn {number}: {query}"
    if not exchange.turns:
        yield "    no turns: neither a call nor a reply was seen"
    for turn in exchange.turns:
        yield from _turn(turn)


def _turn(turn: SeenTurn) -> Iterator[str]:
    number = "-" if turn.turn_no is None else str(turn.turn_no)
    indent = "  " * min(turn.depth, _LISTED)
    yield f"    {number:>3} {indent}{_what(turn)}"
    about = [f"agent {shown(turn.agent, NAME_CHARACTERS)}"] if turn.agent else []
    if turn.duration_s is not None:
        about.append(f"{turn.duration_s:.3f} s")
    if turn.read_by:
        about.append(f"read by {', '.join(shown(name, NAME_CHARACTERS) for name in turn.read_by)}")
    about += [shown(flag) for flag in turn.flags]
    yield f"        {indent}{_verdict(turn)}" + (f" [{'; '.join(about)}]" if about else "")


def _what(turn: SeenTurn) -> str:
    if turn.kind == "reply":
        return f"reply {'not captured' if turn.text is None else _quoted(turn.text)}"
    name = shown(turn.tool or "(no name)", NAME_CHARACTERS)
    given = "(unknown)" if _is_unknown(turn) else _json(turn.arguments)
    answer = _json(turn.result) if turn.has_result else "(unknown)"
    return f"call {name} {given} -> {answer}"


def _is_unknown(turn: SeenTurn) -> bool:
    return turn.arguments is None and "arguments not captured" in turn.flags


def _verdict(turn: SeenTurn) -> str:
    if turn.verdict == "pass":
        return f"pass, by {turn.basis}"
    if turn.verdict == "fail":
        field = f" in {shown(turn.field, NAME_CHARACTERS)}" if turn.field else ""
        origin = f", inherited from turn {turn.inherited_from}" if turn.inherited_from else ""
        return f"fail, by {turn.basis}: {turn.reason}{field}{origin}"
    why = WHYS.get(turn.why, turn.why) if turn.why is not None else None  # type: ignore[call-overload]
    if turn.why == "no_reference" and turn.kind == "reply":
        why = "no reference to hold it against"
    missing = turn.why != "content_missing" and _NOT_CAPTURED & set(turn.flags)
    more = f"; and {WHYS['content_missing']}" if missing else ""
    return f"unscored: {why or 'not looked at'}{more}"


def _listed(title: str, items: tuple[str, ...]) -> Iterator[str]:
    if not items:
        return
    yield f"{title}:"
    for item in items[:_LISTED]:
        yield f"  {shown(item)}"
    if len(items) > _LISTED:
        yield f"  and {len(items) - _LISTED} more"


def _named(name: str | None) -> str:
    return "unknown" if name is None else shown(name, NAME_CHARACTERS)


def _number(count: int | None) -> str:
    return "unknown" if count is None else str(count)


def _quoted(text: str) -> str:
    return '"' + shown(text).replace('"', '\\"') + '"'


def _json(value: JsonValue) -> str:
    return shown(msgspec.json.encode(value).decode("utf-8", "replace"))
