"""What tokens cost: a small table by the beginning of a model's name, which operators overrule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

CHARACTERS_PER_TOKEN: Final = 3.0
"""On the low side, so that an estimate is rather too dear than too cheap."""
REPLY_TOKENS: Final = 700
"""The longest reply that is asked for."""
TEMPLATE_TOKENS: Final = 128
"""At most what a model's chat template puts around a system and a user message."""


class Price(NamedTuple):
    """US dollars for a million tokens."""

    input_usd: float
    output_usd: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """What so many tokens cost."""
        return (input_tokens * self.input_usd + output_tokens * self.output_usd) / 1_000_000


LISTED: Final[Mapping[str, Price]] = {
    "amazon.nova-micro": Price(0.035, 0.14),
    "amazon.nova-lite": Price(0.06, 0.24),
    "amazon.nova-pro": Price(0.80, 3.20),
    "anthropic.claude-haiku": Price(1.0, 5.0),
    "anthropic.claude-sonnet": Price(3.0, 15.0),
    "gpt-4.1-mini": Price(0.40, 1.60),
    "gpt-4.1": Price(2.0, 8.0),
    "gpt-4o-mini": Price(0.15, 0.60),
    "gpt-4o": Price(2.5, 10.0),
}
"""List prices as they were known when this was written; they change, so set your own."""
UNLISTED: Final = Price(3.0, 15.0)
"""Of a model that nobody priced: dear, so that a budget in money stays on the safe side."""


def price_of(model: str, own: Mapping[str, Price]) -> Price:
    """The price whose key is the longest beginning of the model's name; the operator's first.

    A region's prefix (`us.`, `eu.`, `apac.`, `global.`) does not count as a part of the name.
    """
    return known_price(model, own) or UNLISTED


def known_price(model: str, own: Mapping[str, Price]) -> Price | None:
    """The same, but None for a model that nobody priced."""
    names = [model, model.partition(".")[2] if model.startswith(REGIONS) else model]
    for table in (own, LISTED):
        found = [key for key in table if any(name.startswith(key) for name in names)]
        if found:
            return table[max(found, key=len)]
    return None


REGIONS: Final = ("us.", "eu.", "apac.", "global.", "us-gov.")


def tokens_of(text: str) -> int:
    """About how many tokens a text is, rather too many than too few."""
    return int(len(text) / CHARACTERS_PER_TOKEN) + 1


def most_tokens_of(text: str) -> int:
    """What no text exceeds: a tokenizer makes at most one token of a byte, four times the usual."""
    return len(text.encode("utf-8", "replace"))
