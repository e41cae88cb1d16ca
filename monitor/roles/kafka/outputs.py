"""What a step sends, and how it is numbered."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from monitor.roles.kafka.records import Envelope, Kind, Origin, parted


class Output(NamedTuple):
    """One record for the broker."""

    topic: str
    partition: int | None
    key: bytes
    value: bytes | None
    headers: tuple[tuple[str, bytes], ...] = ()


class Outputs:
    """The outputs of one input, in order. Equal inputs in equal state give equal outputs."""

    def __init__(
        self, source: str, partition: int, offset: int, at: float, limit: int, home: int
    ) -> None:
        """`source` is a short name of the stage's input."""
        self._origin = source, partition, offset
        self._at = at
        self._limit = limit
        self.home = home
        """The input's own partition, for what goes to a topic with as many."""
        self._numbers: Counter[tuple[str, int]] = Counter()
        self.found: list[Output] = []

    def add(self, topic: str, partition: int, key: bytes, kind: Kind, body: bytes) -> None:
        """One output, cut into as many records as it takes."""
        number = self._numbers[topic, partition]
        self._numbers[topic, partition] += 1
        envelope = Envelope(kind, self._at, Origin(*self._origin, number), body=body)
        for value in parted(envelope, self._limit):
            self.found.append(Output(topic, partition, key, value))
