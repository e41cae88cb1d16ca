"""A conversation as a framework recorded it: what was said and done, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from monitor.model import JsonValue, Message, ToolDefinition, Usage


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One message, with what the record says of its making. Times are 0 where unknown."""

    message: Message
    """A `tool` message with calls tells calls that ran and that no message asked for."""
    agent: str | None = None
    inner: bool = False
    """Said to or by a sub-agent: neither the user's words nor the reply."""
    model: str | None = None
    usage: Usage | None = None
    start_ns: int = 0
    end_ns: int = 0
    truncated: bool = False


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """One record of one conversation, or of one user turn of it."""

    source: str
    """Which format it was; provenance."""
    key: str
    """Tells the record from others of its conversation: the same for the same record."""
    steps: tuple[Step, ...]
    conversation_id: str | None = None
    position: int = 0
    """Number of the first user turn within the conversation, from 0."""
    agent: str | None = None
    model: str | None = None
    """Where a step names none."""
    system: str | None = None
    release: str | None = None
    tools: tuple[ToolDefinition, ...] | None = None
    usage: Usage | None = None
    """Of the whole record; counts where no step tells its own."""
    reply: str | None = None
    """What the user saw at the end, where the record tells it apart from the messages."""
    start_ns: int = 0
    end_ns: int = 0
    error_type: str | None = None
    expected: JsonValue = None


def exchanges_of(steps: Sequence[Step]) -> Iterator[list[Step]]:
    """The steps cut before each user turn; messages of the user in a row open one turn."""
    exchange: list[Step] = []
    answered = False
    for step in steps:
        if opens(step):
            if answered:
                yield exchange
                exchange = []
            answered = False
        elif step.message.role not in ("system", "developer"):
            answered = True
        exchange.append(step)
    if exchange:
        yield exchange


def opens(step: Step) -> bool:
    """Whether the user speaks: a message that only hands results back is the agent's doing."""
    message = step.message
    return (
        message.role == "user"
        and not step.inner
        and (message.text is not None or bool(message.media) or not message.results)
    )


def with_one_voice(steps: Sequence[Step], replying: str | None = None) -> tuple[Step, ...]:
    """The steps of several agents, of whom one speaks to the user: the others become inner.

    It is `replying`, else the agent of each exchange's last words. Answers of tools belong to the
    agent that asked.
    """
    if len({step.agent for step in steps if step.message.role == "assistant"}) < 2:
        return tuple(steps)
    marked: list[Step] = []
    for exchange in exchanges_of(steps):
        voice = replying or _last_voice(exchange)
        inner, agent = False, voice
        for step in exchange:
            message = step.message
            if message.role == "assistant" or (message.calls and step.agent):
                agent = step.agent
                inner = agent != voice
            if opens(step) or message.role in ("system", "developer"):
                marked.append(step)
            else:
                marked.append(msgspec.structs.replace(step, inner=inner, agent=agent))
    return tuple(marked)


def _last_voice(steps: Sequence[Step]) -> str | None:
    said = [step for step in steps if step.message.role == "assistant"]
    words = [step for step in said if step.message.text and not step.message.calls]
    chosen = words or said
    return chosen[-1].agent if chosen else None
