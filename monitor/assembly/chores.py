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

    def __init__(self, patterns: Sequence[str]) -> None:
        """Patterns with `*` and `?`, letter case aside.

        Each is held against one of these as a whole: span name, agent name, the beginning of the
        instructions, the beginning of the last user message.
        """
        self._patterns = [re.compile(translate(p), re.IGNORECASE) for p in patterns]

    def silenced(self, span: AgentSpan) -> AgentSpan:
        """The span as it is, or, when it is a chore, with nothing left that could make a turn."""
        if not self._patterns or not self._is_one(span):
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

    def _is_one(self, span: AgentSpan) -> bool:
        asked = [m.text for m in span.messages_in or () if m.role == "user" and m.text]
        told = (span.name, span.agent, span.system, asked[-1] if asked else None)
        shown = [text[:LOOKED_AT] for text in told if text]
        return any(pattern.match(text) for pattern in self._patterns for text in shown)
