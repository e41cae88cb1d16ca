"""The state of one partition of one stage: in memory, and as changes in a compacted topic.

A step's changes are several records, and a crash may leave only some of them there. So each tells
the source offset that it is of, and a last record, the position, closes the step: when the state is
read again, changes beyond the position are passed over, and so are those that a worker sends which
was thought dead and has been overtaken. Faust's own tables close no step, and let the source be
committed before the broker has their changes; so the state is not in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping
from typing import Final, NamedTuple

import msgspec

from monitor.codec import VERSION, reader_of, seal, unseal
from monitor.errors import DamagedState
from monitor.roles.kafka.records import compressed, inflated

POSITION: Final = "~"
CUT: Final = "\x00"
"""Between a key and the number of a part of its value."""
HEADER: Final = "step"
_STEP_BYTES: Final = 8


class Change(NamedTuple):
    """One record of the topic."""

    key: str
    value: bytes | None
    """Compressed; None: the key is gone."""
    step: int
    """The source offset that the step ended with."""


class Position(msgspec.Struct, array_like=True):
    """How far the source is worked on, and with it the clock and what was read of each line."""

    offset: int = -1
    now: float = 0.0
    lines: dict[str, tuple[int, int, int]] = {}
    """By line of origins: offset, number and part of the last record read."""


class PartitionState(MutableMapping[str, bytes]):
    """Keys to bytes; reads see changes at once."""

    def __init__(self, record_bytes: int) -> None:
        self._record_bytes = record_bytes
        self._values: dict[str, bytes] = {}
        self._parts: dict[str, int] = {}
        self._changed: dict[str, bytes | None] = {}
        """Keys that changed in this step, with what they held before."""
        self.position = Position()
        self._before = Position()

    def load(self, changes: Iterable[Change]) -> None:
        """Take the topic's records in, oldest first. Raises StateError."""
        stored: dict[str, bytes] = {}
        waiting: list[Change] = []
        for change in changes:
            if change.key != POSITION:
                waiting.append(change)
                continue
            position = unseal(b"P", change.value or b"", _POSITIONS)
            if position.offset >= self.position.offset:
                _settle(stored, waiting, self.position.offset, position.offset)
                self.position = position
            waiting = [each for each in waiting if each.step > position.offset]
        self._join(stored)
        self._before = _copied(self.position)

    def revert(self) -> None:
        """Forget what changed since the last step."""
        for key, value in self._changed.items():
            if value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = value
        self._changed = {}
        self.position = _copied(self._before)

    def changes(self) -> list[Change]:
        """The step since the last call as records, its position last."""
        step = self.position.offset
        found = []
        for key in self._changed:
            found += self._cut(key, step)
        self._changed = {}
        self._before = _copied(self.position)
        found.append(Change(POSITION, seal(b"P", self.position), step))
        return found

    def __getitem__(self, key: str) -> bytes:
        return inflated(self._values[key])

    def __setitem__(self, key: str, value: bytes) -> None:
        self._changed.setdefault(key, self._values.get(key))
        self._values[key] = compressed(value)

    def __delitem__(self, key: str) -> None:
        value = self._values.pop(key)
        self._changed.setdefault(key, value)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._values))

    def __len__(self) -> int:
        return len(self._values)

    def _cut(self, key: str, step: int) -> list[Change]:
        value, room = self._values.get(key), self._record_bytes - len(key.encode()) - 64
        pieces = (
            [] if value is None else [value[at : at + room] for at in range(0, len(value), room)]
        )
        former = self._parts.pop(key, 1)
        if len(pieces) > 1:
            self._parts[key] = len(pieces)
        found = [
            Change(_part(key, number), _counted(piece, len(pieces), number), step)
            for number, piece in enumerate(pieces)
        ]
        gone = range(len(pieces), max(former, 1))
        return [*found, *(Change(_part(key, number), None, step) for number in gone)]

    def _join(self, stored: dict[str, bytes]) -> None:
        for key, value in stored.items():
            if CUT in key:
                continue
            parts, piece = value[0], value[1:]
            pieces = [piece]
            for number in range(1, parts):
                rest = stored.get(_part(key, number))
                if rest is None:
                    raise DamagedState(f"the state of {key!r} has lost part {number} of {parts}")
                pieces.append(rest)
            self._values[key] = b"".join(pieces)
            if parts > 1:
                self._parts[key] = parts


def step_header(step: int) -> tuple[str, bytes]:
    """The Kafka header of a change; a key that is gone has no value to tell it in."""
    return HEADER, step.to_bytes(_STEP_BYTES, "big", signed=True)


def change_of(
    key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]]
) -> Change | None:
    """The change that a record tells; None for one that no worker can have written."""
    steps = [step for name, step in headers if name == HEADER and step is not None]
    if key is None or len(steps) != 1 or len(steps[0]) != _STEP_BYTES:
        return None
    try:
        name = key.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return None
    return Change(name, value, int.from_bytes(steps[0], "big", signed=True))


def _copied(position: Position) -> Position:
    return Position(position.offset, position.now, dict(position.lines))


def _part(key: str, number: int) -> str:
    return key if number == 0 else f"{key}{CUT}{number}"


def _counted(piece: bytes, parts: int, number: int) -> bytes:
    """The first part tells how many there are."""
    if number:
        return piece
    if parts > 255:
        raise DamagedState(f"one value of the state needs {parts} records")
    return bytes((parts,)) + piece


def _settle(stored: dict[str, bytes], waiting: Iterable[Change], after: int, until: int) -> None:
    for change in sorted(waiting, key=lambda each: each.step):
        if not after < change.step <= until:
            continue
        if change.value is None:
            stored.pop(change.key, None)
        else:
            stored[change.key] = change.value


_POSITIONS: Final = {VERSION: reader_of(Position)}
