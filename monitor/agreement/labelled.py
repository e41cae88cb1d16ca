"""One line of a labelled set: what people, construction or an environment said of a conversation.

Labels measure the product and are never given to it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from monitor.errors import InvalidInput


class TurnLabel(msgspec.Struct, frozen=True):
    """What is said of one turn."""

    turn_no: int
    verdict: str | None = None
    """`pass`, `fail`, or a word for neither."""
    failure_reason: str | None = None
    role: str | None = None
    """`root`, `cascade`, or a word for neither."""


class Human(msgspec.Struct, frozen=True):
    """What people named; each set asks its own questions."""

    root_cause_turn_nos: tuple[int, ...] = ()
    failed_agent: str | None = None
    mistake_agent: str | None = None
    mistake_step: Any = msgspec.UNSET
    step_labels: Any = msgspec.UNSET
    failures: tuple[dict[str, Any], ...] = ()

    @property
    def blamed_agent(self) -> str | None:
        """The agent that is blamed, in logs with several."""
        if self.mistake_agent:
            return self.mistake_agent
        roots = (failure for failure in self.failures if failure.get("is_root_cause"))
        return next((root["agent"] for root in roots if root.get("agent")), None)

    @property
    def blames_an_agent(self) -> bool:
        """Whether the fault is an agent's, and not the user's or the system's."""
        return self.failed_agent in (None, "Assistant")


class Label(msgspec.Struct, frozen=True):
    """All that is said of one conversation."""

    dialog_id: str
    outcome: dict[str, Any] = {}
    turn_labels: tuple[TurnLabel, ...] = ()
    first_failure_turn: int | None = None
    root_cause: str | None = None
    root_cause_turn: int | None = None
    human: Human | None = None
    corruption: str | None = None
    """Of a constructed conversation: the kind of change that was made."""
    spans: dict[str, str] = {}
    """Span id by turn number, for verdicts on traces."""

    @property
    def passed(self) -> bool | None:
        """The conversation's own outcome; None where the source tells none."""
        told = self.outcome.get("pass")
        return told if isinstance(told, bool) else None

    @property
    def rewrites_arguments(self) -> bool:
        """Whether arguments were written differently and mean the same."""
        kind = self.corruption or ""
        return kind.startswith("ctl_") and not kind.startswith("ctl_resp_")

    @property
    def named_roots(self) -> frozenset[int]:
        """The turns that a person named as the root."""
        if self.human is not None and self.human.root_cause_turn_nos:
            return frozenset(self.human.root_cause_turn_nos)
        return frozenset() if not self.root_cause_turn else frozenset({self.root_cause_turn})

    @property
    def accepted(self) -> frozenset[int]:
        """The turns that count as the right place: a person's root, else the first failure."""
        named = self.named_roots
        if named:
            return named
        return frozenset() if not self.first_failure_turn else frozenset({self.first_failure_turn})


def parse_label(line: bytes, where: str) -> Label:
    """The label of one JSON line. Raises InvalidInput that names the place and the key."""
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{where}: is no label: {error}; its author must mend it") from None


_DECODER = msgspec.json.Decoder(Label)
