"""Outside text made fit for a metric label."""

from __future__ import annotations

import hashlib
import unicodedata
from typing import Final

OTHER: Final = "other"
"""Where everything goes that a bounded label has no room for."""
MAX_LENGTH: Final = 128

_UNFIT: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_DIGEST_LENGTH: Final = 8


def label_value(text: str) -> str:
    """`text` on one line, of at most 128 characters, valid as UTF-8; "unknown" when empty.

    Control, bidirectional and unassigned characters become `_`. A longer text keeps its start and
    ends in a digest of the whole, so that two long names stay two.
    """
    if text.isascii() and text.isprintable() and 0 < len(text) <= MAX_LENGTH:
        return text.strip() or "unknown"
    clean = "".join("_" if unicodedata.category(char) in _UNFIT else char for char in text).strip()
    if len(clean) > MAX_LENGTH:
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        clean = f"{clean[: MAX_LENGTH - _DIGEST_LENGTH - 1]}~{digest[:_DIGEST_LENGTH]}"
    return clean or "unknown"
