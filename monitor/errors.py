"""Every error the project raises, drawn as one tree, with who must act on each.

MonitorError
├── MalformedPayload        the sender: these bytes will never decode; do not retry
├── PayloadTooLarge         the sender: a named limit was exceeded; split the payload
├── UnsupportedPayload      the sender: content type or encoding is not spoken here
├── Overloaded              nobody: the sender retries after `retry_after_s`
├── InvalidInput            the author of a dialog, reference or contract file
├── ConfigurationError      the operator: a setting, entry point or address is wrong
├── StateError              the operator: stored state is of another version or damaged
│   └── DamagedState        nobody: these bytes are lost; their reader counts them and goes on
├── LedgerError             the operator: the disk is full, read-only, failing or taken
└── BackendUnavailable      nobody: an encoder or model is down; the work stays unscored
"""

from __future__ import annotations


class MonitorError(Exception):
    """Root of the tree: says what was wrong, where, and who must act."""


class MalformedPayload(MonitorError):
    """Bytes that will never decode; permanent, so the sender must not retry."""


class PayloadTooLarge(MonitorError):
    """A payload beyond a named limit; the sender must split it."""

    def __init__(self, message: str, limit: str) -> None:
        """`limit` is the configuration's name of the limit that bit."""
        super().__init__(message)
        self.limit = limit


class UnsupportedPayload(MonitorError):
    """A content type or content encoding that the receiver does not speak."""


class Overloaded(MonitorError):
    """A queue is full; nothing was accepted and the sender may try again."""

    def __init__(self, message: str, retry_after_s: int) -> None:
        """`retry_after_s` is at least 1."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class InvalidInput(MonitorError):
    """A dialog, reference or contract that breaks its format; its author must mend it."""


class ConfigurationError(MonitorError):
    """A setting, entry point or address that cannot work; the operator must mend it."""


class StateError(MonitorError):
    """Stored state of an unknown version or with damaged bytes; the operator must act."""


class LedgerError(MonitorError):
    """The ledger's file cannot be used now; the operator must act, and nothing was committed."""


class DamagedState(StateError):
    """Stored bytes that no longer are what was written; nothing of them can be read."""


class BackendUnavailable(MonitorError):
    """An encoder or model that does not answer; the caller abstains and goes on."""

    def __init__(
        self,
        message: str,
        why: str = "down",
        retry_after_s: float | None = None,
        *,
        reached: bool = True,
    ) -> None:
        """`why` is of a bounded vocabulary: down, timeout, throttled, refused or garbage.

        `refused` will not change by trying again; `retry_after_s` is what the backend asked for.
        `reached` is False where the question never left, so that it cannot have cost anything.
        """
        super().__init__(message)
        self.why = why
        self.retry_after_s = retry_after_s
        self.reached = reached
