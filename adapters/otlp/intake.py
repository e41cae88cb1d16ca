"""Collects what a payload held: the good records, and why each other one was refused."""

from __future__ import annotations

from typing import Final

from adapters.otlp.wire import too_many
from monitor.errors import MalformedPayload, PayloadTooLarge
from monitor.model import AgentSpan
from monitor.ports import Decoded, Rejection


class InvalidId(Exception):
    """A record whose trace id or span id is absent, all zero or of the wrong length."""


class Alien(Exception):
    """A record that is none of its signal: nothing that such a record must carry is there."""


RECORD_ERRORS: Final = (PayloadTooLarge, MalformedPayload, InvalidId, Alien)
"""What `refuse` takes: a fault of one record."""


class Intake:
    """One payload's result as it grows."""

    def __init__(self, record: str, items: int) -> None:
        """`record` is the word for one record; `items` is how many may come in all."""
        self.spans: list[AgentSpan] = []
        self.left = items
        self.passed_over = 0
        """Sound records that carry nothing for the monitor."""
        self._record = record
        self._rejections: list[Rejection] = []
        self._alien = 0

    def spend(self, items: int) -> None:
        """Count attributes, events and links. Raises PayloadTooLarge for the whole payload."""
        self.left -= items
        if self.left < 0:
            raise too_many()

    def refuse(self, error: Exception) -> None:
        """Refuse the record that raised one of RECORD_ERRORS.

        The limit `items` is the whole payload's: its error is raised again.
        """
        if isinstance(error, PayloadTooLarge):
            if error.limit == "items":
                raise error
            self._reject(error.limit, str(error))
        elif isinstance(error, InvalidId):
            self._reject(
                "invalid_id", "its trace id must be 16 bytes and its span id 8, not all zero"
            )
        else:
            self._alien += 1
            self._reject(f"malformed_{self._record.replace(' ', '_')}", str(error))

    def _reject(self, why: str, message: str) -> None:
        self._rejections.append(Rejection(why, f"a {self._record} was refused: {message}"))

    def decoded(self, salvaged: bool) -> Decoded:
        """The result. Raises MalformedPayload when no record is one of this signal at all."""
        known = len(self.spans) + self.passed_over + len(self._rejections) - self._alien
        if self._alien and not known:
            raise MalformedPayload(
                f"no record of the body is a {self._record}; was another signal sent to this "
                "address?"
            )
        return Decoded(self.spans, self._rejections, salvaged)
