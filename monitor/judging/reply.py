"""A judge's reply, read strictly: one object, nothing beside it, and nothing that is guessed."""

from __future__ import annotations

import json
import math
import re
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from monitor.model import JsonValue
from monitor.verdict import REASONS, Reason

REPLY_LIMIT_BYTES: Final = 4_096
QUOTE_LIMIT: Final = 300
KEYS: Final = frozenset(
    ("nonce", "verdict", "reason", "field", "score", "quote", "source", "upstream")
)
JUDGED_REASONS: Final[tuple[Reason, ...]] = tuple(
    reason for reason in REASONS if reason != "prior_action_failed"
)

Said: TypeAlias = Literal["pass", "fail", "abstain"]
Abstained: TypeAlias = Literal[
    "abstained", "not_json", "keys", "nonce", "values", "too_long", "quote", "injection",
    "disagreement", "unavailable", "evidence_cut", "control",
]  # fmt: skip
ABSTAINED: Final[tuple[Abstained, ...]] = get_args(Abstained)
"""Why a judge gave no verdict; bounded, fit for a metric label."""
_HALF: Final = re.compile("[\ud800-\udfff]")


class Reply(NamedTuple):
    """A reply in the right form; its quote is not looked for yet."""

    verdict: Said
    reason: Reason | None
    field: str | None
    score: float
    quote: str
    source: int
    upstream: int | None


def read_reply(text: str, nonce: str) -> Reply | Abstained:
    """The reply, or why it is none.

    Refused: more than 4 KiB, anything beside one object, repeated, missing or further keys, a
    nonce that is not the call's own, numbers that are not finite, a score that contradicts the
    verdict, a reason without a failure, half a character. Nothing is repaired.
    """
    if len(text.encode("utf-8", "surrogatepass")) > REPLY_LIMIT_BYTES:
        return "too_long"
    try:
        document = json.loads(
            text, object_pairs_hook=_without_repeats, parse_constant=_refuse, parse_int=_small
        )
    except (ValueError, RecursionError):
        return "not_json"
    if not isinstance(document, dict):
        return "not_json"
    if document.keys() != KEYS:
        return "keys"
    if document["nonce"] != nonce:
        return "nonce"
    return _reply(document) or "values"


def _reply(given: dict[str, JsonValue]) -> Reply | None:
    """The reply when every value is of its kind and the values do not contradict each other."""
    verdict, reason, field = given["verdict"], given["reason"], given["field"]
    score, quote, upstream = given["score"], given["quote"], given["upstream"]
    sound = (
        verdict in get_args(Said)
        and _is_unit(score)
        and _is_text(quote)
        and (field is None or _is_text(field))
        and _is_number(given["source"])
        and (upstream is None or _is_number(upstream))
        and (reason in JUDGED_REASONS if verdict == "fail" else reason is None)
        and not (verdict == "pass" and score < 0.5)
        and not (verdict == "fail" and score > 0.5)
    )
    if not sound:
        return None
    return Reply(verdict, reason, field, float(score), quote, given["source"], upstream)


def _is_text(value: JsonValue) -> bool:
    # Half a character, which JSON can escape, can be written into no file.
    return isinstance(value, str) and len(value) <= QUOTE_LIMIT and not _HALF.search(value)


def _is_unit(value: JsonValue) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= 1


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _without_repeats(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is repeated")
    return found


def _refuse(constant: str) -> JsonValue:
    raise ValueError(f"{constant} is no JSON number")


def _small(digits: str) -> int:
    if len(digits) > 18:
        raise ValueError("a number is out of range")
    return int(digits)
