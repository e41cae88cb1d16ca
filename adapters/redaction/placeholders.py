"""What stands in for a removed value: keyed, so that equal values stay equal without any state."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final, Literal, TypeAlias

from monitor.errors import ConfigurationError

Style: TypeAlias = Literal["keyed", "plain"]
"""`keyed`: `<EMAIL:7f3a2c>`. `plain`: `[REDACTED:EMAIL]`, which tells no two values apart."""

LEAST_KEY_BYTES: Final = 16
VALUE_DIGITS: Final = 6
"""Enough for the values of one conversation."""
NAME_DIGITS: Final = 16
"""Enough for all conversations that are ever open together."""


class Placeholders:
    """Makes placeholders under one tenant's key."""

    def __init__(self, key: bytes, style: Style = "keyed") -> None:
        """The key is secret. Raises ConfigurationError when it is too short to be one."""
        if len(key) < LEAST_KEY_BYTES:
            raise ConfigurationError(
                f"the redaction key has {len(key)} bytes and needs {LEAST_KEY_BYTES}; whoever "
                "can guess it can find redacted values by trial"
            )
        # blake2b takes up to 64 bytes of key; a longer one counts as a whole.
        self._key = key if len(key) <= 64 else blake2b(key).digest()
        self._style = style
        self._begun: dict[tuple[str, int], blake2b] = {}

    def make(self, label: str, value: str, digits: int = VALUE_DIGITS) -> str:
        """The placeholder of a value in its normal form; the same in every process."""
        if self._style == "plain":
            return f"[REDACTED:{label}]"
        begun = self._begun.get((label, digits))
        if begun is None:
            begun = self._begun[label, digits] = blake2b(
                digest_size=digits // 2, key=self._key, person=label.encode()[:16]
            )
        keyed = begun.copy()
        keyed.update(value.encode("utf-8", "surrogatepass"))
        found = keyed.hexdigest()
        # A leading digit makes it a token with a digit in every comparison of texts, and so a
        # value; words that differ may mean the same.
        return f"<{label}:{int(found[0], 16) % 10}{found[1:]}>"

    def __repr__(self) -> str:
        return f"Placeholders(style={self._style!r})"
