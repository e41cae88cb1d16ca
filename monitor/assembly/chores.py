"""Model calls that an application makes for itself, such as titles: nobody's turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate

import msgspec

from monitor.model import AgentSpan

LOOKED_AT = 400
"""Characters of instructions and of the last user message that a pattern is held against."""


class Chores:
    """Recognises such calls by patterns that the operator names."""

    def __init__(self, patterns: Sequence[str], own: str = "") -> None:
        """Patterns with `*` and `?`, letter case aside.

        Each is held against one of these as a whole: span name, agent name, the beginning of the
        instructions, the beginning of the last user message. Instructions that begin with `own`
        are the monitor's, whose questions to a judge come back where the judge is traced.
        """
        self._own = own
        self._patterns = [re.compile(translate(p), re.IGNORECASE) for p in patterns]

    def silenced(self, span: AgentSpan) -> AgentSpan:
        """The span as it is, or, when it is a chore, with nothing left that could make a turn."""
        if not (self._is_own(span) or (self._patterns and self._is_one(span))):
            return span
        return msgspec.structs.replace(
            span,
            kind="other",
            messages_in=None,
            messages_out=None,
            system=None,
            call=None,
            result=None,
            has_result=False,
            usage=None,
        )

    def _is_own(self, span: AgentSpan) -> bool:
        if not self._own or span.kind != "model":
            return False
        if span.system is not None:
            return span.system.startswith(self._own)
        first = span.messages_in[0] if span.messages_in else None
        return first is not None and first.role == "system" and _begins(first.text, self._own)

    def _is_one(self, span: AgentSpan) -> bool:
        asked = [m.text for m in span.messages_in or () if m.role == "user" and m.text]
        told = (span.name, span.agent, span.system, asked[-1] if asked else None)
        shown = [text[:LOOKED_AT] for text in told if text]
        return any(pattern.match(text) for pattern in self._patterns for text in shown)


def _begins(text: str | None, beginning: str) -> bool:
    return text is not None and text.startswith(beginning)
