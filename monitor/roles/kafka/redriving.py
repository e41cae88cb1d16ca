"""Dead letters looked at, and their records sent again once what stopped them is mended."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
from kafka import KafkaProducer
from kafka.errors import KafkaError

from monitor.config.kafka import KafkaSettings
from monitor.errors import BackendUnavailable, InvalidInput, StateError
from monitor.roles.kafka.clients import connection
from monitor.roles.kafka.dead_letters import DeadLetter, letter_of, written
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.outputs import Output
from monitor.roles.kafka.reading import record_at, records
from monitor.roles.kafka.records import (
    Envelope,
    HandedOn,
    Outcome,
    packed,
    read,
    unpacked,
)
from monitor.roles.kafka.records import written as record_of

REDRIVEN: Final = "redriven"
"""A header of a letter: when its record was sent again."""
SEND_S: Final = 30.0


class Aside(NamedTuple):
    """A record that was set aside."""

    letter: DeadLetter
    redriven_s: float | None
    """When it was sent again; None while it waits."""


def asides(given: KafkaSettings) -> list[Aside]:
    """All of them, oldest first, each once though a worker may have told of it twice."""
    found: dict[str, Aside] = {}
    for record in records(given, _names(given).dead_letters):
        try:
            letter = letter_of(record.value or b"")
        except StateError:
            continue
        sent = letter.headers.get(REDRIVEN)
        former = found.get(letter.name)
        at_s = float(sent) if sent else former.redriven_s if former else None
        found[letter.name] = Aside(former.letter if former else letter, at_s)
    return list(found.values())


def chosen(there: Sequence[Aside], names: Iterable[str]) -> list[Aside]:
    """Those of the names. Raises InvalidInput for a name that none has."""
    by_name = {aside.letter.name: aside for aside in there}
    wanted = list(dict.fromkeys(names))
    if strange := [name for name in wanted if name not in by_name]:
        raise InvalidInput(f"no dead letter is named {strange[0]!r}; `list` tells the names")
    return [by_name[name] for name in wanted]


def payload(given: KafkaSettings, letter: DeadLetter) -> bytes | None:
    """What the record held: from the letter, or from its topic while that still has it."""
    if letter.value is not None:
        return letter.value
    found = record_at(given, letter.topic, letter.partition, letter.offset)
    return None if found is None else found.value


def redrive(
    given: KafkaSettings, letters: Sequence[DeadLetter], now_s: float | None = None
) -> list[DeadLetter]:
    """Send their records to their topics again, as new ones; those that are gone from there.

    Each is marked once the brokers have it. A crash between the two sends a record twice, which
    counts its spans as duplicates. Raises BackendUnavailable, and InvalidInput for a record that
    is only part of one.
    """
    gone = []
    try:
        producer = KafkaProducer(**connection(given), acks="all", max_request_size=64 * 2**20)
        for letter in letters:
            value = payload(given, letter)
            if value is None:
                gone.append(letter)
                continue
            at = time.time() if now_s is None else now_s
            _send(producer, again(given, letter, value, at))
            _send(producer, [_marked(given, letter, at)])
        producer.close()
    except KafkaError as error:
        raise BackendUnavailable(f"the broker failed: {type(error).__name__}") from error
    return gone


def again(given: KafkaSettings, letter: DeadLetter, value: bytes, at: float) -> list[Output]:
    """The record without its origin, by which it would be known as read before.

    With a record between the roles goes what keeps the spans' equation: a letter counted its spans
    as dead, and what comes of them now counts them again.
    """
    names, key = _names(given), letter.key or b""
    if letter.topic not in (names.traces, names.conversations):
        return [Output(letter.topic, letter.partition, key, value)]
    try:
        envelope = read(value)
    except StateError as error:
        raise InvalidInput(f"{letter.name} is none of our records, so none can read it") from error
    if envelope.parts > 1:
        raise InvalidInput(
            f"{letter.name} is part {envelope.part + 1} of {envelope.parts} of a record; "
            "`replay-topic` takes the whole from the source"
        )
    fresh = record_of(msgspec.structs.replace(envelope, origin=None))
    found = [Output(letter.topic, letter.partition, key, fresh)]
    if letter.topic == names.conversations and envelope.kind == "traces":
        handed = unpacked(envelope.body, HandedOn)
        spans = sum(sum(each.fresh.values()) for each in handed.traces)
        body = packed(Outcome(counts={"accepted": spans}))
        told = record_of(Envelope("effects", at, body=body))
        found.append(Output(names.reports, letter.partition, b"redriven", told))
    return found


def _marked(given: KafkaSettings, letter: DeadLetter, at: float) -> Output:
    headers = {**letter.headers, REDRIVEN: b"%f" % at}
    marked = msgspec.structs.replace(letter, value=None, headers=headers)
    return Output(_names(given).dead_letters, None, letter.name.encode(), written(marked))


def _send(producer: KafkaProducer, outputs: Sequence[Output]) -> None:
    sent = [
        producer.send(each.topic, each.value, each.key, partition=each.partition)
        for each in outputs
    ]
    for each in sent:
        each.get(timeout=SEND_S)


def _names(given: KafkaSettings) -> Names:
    return Names(given.source, given.prefix)
