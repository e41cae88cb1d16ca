"""Reads the records of one partition once each, whatever their senders send again."""

from __future__ import annotations

from collections.abc import MutableMapping

import msgspec

from monitor.roles.kafka.records import Envelope, read

PENDING = "x:"


class Inbox:
    """Passes over what was read before, and joins what was cut.

    `lines` tells for each line of origins the last record that was read; parts that wait for
    the rest lie in the store. Both belong to the reader's state.
    """

    def __init__(
        self, lines: dict[str, tuple[int, int, int]], store: MutableMapping[str, bytes]
    ) -> None:
        self._lines = lines
        self._store = store

    def take(self, value: bytes | None) -> Envelope | None:
        """The whole envelope; None when it was read before, or more of it must come.

        Raises StateError for what is no record.
        """
        envelope = read(value)
        if envelope.origin is None:
            return envelope
        line = envelope.origin.line
        place = (*envelope.origin.place, envelope.part)
        if place <= self._lines.get(line, (-1, -1, -1)):
            return None
        self._lines[line] = place
        if envelope.parts == 1:
            return envelope
        return self._joined(envelope, line)

    def _joined(self, envelope: Envelope, line: str) -> Envelope | None:
        if envelope.part < envelope.parts - 1:
            self._store[f"{PENDING}{line}/{envelope.part}"] = envelope.body
            return None
        pieces = []
        for part in range(envelope.part):
            pieces.append(self._store.pop(f"{PENDING}{line}/{part}", b""))
        body = b"".join([*pieces, envelope.body])
        return msgspec.structs.replace(envelope, part=0, parts=1, body=body)
