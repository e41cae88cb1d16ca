"""The export's place in the reports topic, kept with the totals it has led to."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any, Final

import msgspec

from monitor.codec import VERSION, reader_of, seal, unseal
from monitor.pipeline import Pipeline, PipelineLimits
from monitor.verdict import Report

KEY: Final = "export"
GAUGES: Final = ("open_spans", "open_turns", "open_conversations")


class Place(msgspec.Struct, array_like=True):
    """How far the topic is folded, and what is open by what its stages told last."""

    topic: str = ""
    """Name and identity of the topic; empty before the first record."""
    offsets: dict[int, int] = {}
    """By partition, the next record to take."""
    lines: dict[str, tuple[int, int, int]] = {}
    parts: dict[str, bytes] = {}
    gauges: dict[str, int] = {}
    """By name and line."""


class Told(Pipeline):
    """A pipeline that scores nothing: what is open it was told, and its state is the place."""

    def __init__(self, store: MutableMapping[str, bytes]) -> None:
        data = store.get(KEY)
        self.place = Place() if data is None else unseal(b"X", data, _PLACES)
        self._store = store
        super().__init__(_nothing, {}, PipelineLimits())

    @property
    def open_spans(self) -> int:
        """Of all partitions."""
        return self._sum("open_spans")

    @property
    def open_turns(self) -> int:
        """Of all partitions."""
        return self._sum("open_turns")

    @property
    def open_conversations(self) -> int:
        """Of all partitions."""
        return self._sum("open_conversations")

    def note(self, line: str, gauges: dict[str, int]) -> None:
        """What is open at one partition of a stage."""
        for name, value in gauges.items():
            if name in GAUGES:
                self.place.gauges[f"{name}/{line}"] = value

    def checkpoint(self) -> None:
        """Put the place into the transaction."""
        self._store[KEY] = seal(b"X", self.place)

    def _sum(self, name: str) -> int:
        # A page is drawn while the reading thread notes; a copy in one step is whole.
        known = list(self.place.gauges.items())
        return sum(value for key, value in known if key.startswith(f"{name}/"))


def _nothing(*_: Any, **__: Any) -> Report:
    raise NotImplementedError("reports are made by the workers")


_PLACES: Final = {VERSION: reader_of(Place)}
