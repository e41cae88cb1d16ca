"""How many values were replaced, by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from adapters.redaction.placeholders import Style


class Tally:
    """Counts placeholders that redaction put in.

    It looks at what was changed only, so that clean spans cost nothing, and at the result, so
    that a text whose outcome is remembered counts each time that it comes.
    """

    def __init__(self, kinds: Iterable[str], style: Style) -> None:
        """`kinds` are all that can ever be counted, in any case."""
        self.counts: dict[str, int] = dict.fromkeys((kind.lower() for kind in kinds), 0)
        kept = rb"<([A-Z0-9_]{1,64}):[0-9][0-9a-f]{5,15}>"
        self._written = re.compile(kept if style == "keyed" else rb"\[REDACTED:([A-Z0-9_]{1,64})\]")

    def take(self, before: object, after: object) -> None:
        """Count what `after` has more than `before`, which may hold placeholders of its own."""
        found = self._labels(after)
        found.subtract(self._labels(before))
        for label, count in found.items():
            kind = label.decode().lower()
            if count > 0 and kind in self.counts:
                self.counts[kind] += count

    def _labels(self, part: object) -> Counter[bytes]:
        try:
            return Counter(self._written.findall(msgspec.json.encode(part)))
        except (TypeError, ValueError, RecursionError):
            return Counter()
