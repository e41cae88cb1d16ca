"""The operator's own patterns: only such as take time in proportion to the text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, Final

from monitor.errors import ConfigurationError

LENGTH_LIMIT: Final = 256
REPEAT_LIMIT: Final = 128
"""Most repeats of one part."""
WAYS_LIMIT: Final = 128
"""Most ways in which the repeats of a pattern can share a text out among themselves."""
COUNT_LIMIT: Final = 50

_LABEL: Final = re.compile(r"[A-Z][A-Z_]{1,15}")
_TAKEN: Final = frozenset(
    ("EMAIL", "PHONE", "CARD", "IBAN", "SSN", "NATIONAL_ID", "IP", "JWT", "KEY", "PEM", "SECRET")
)


def compiled(patterns: Mapping[str, str]) -> dict[str, re.Pattern[str]]:
    """The patterns by label, ready to use.

    Raises ConfigurationError for a label that is not capitals or is taken, a pattern that is none,
    that can match nothing, or whose repeats could take time beyond the text's length.
    """
    if len(patterns) > COUNT_LIMIT:
        raise ConfigurationError(f"redaction: {len(patterns)} patterns; at most {COUNT_LIMIT}")
    return {label: _compiled(label, pattern) for label, pattern in patterns.items()}


def _compiled(label: str, pattern: str) -> re.Pattern[str]:
    where = f"redaction pattern {label!r}"
    if not _LABEL.fullmatch(label) or label in _TAKEN:
        raise ConfigurationError(
            f"{where}: the name must be 2 to 16 capitals or underscores, and none of "
            + ", ".join(sorted(_TAKEN))
        )
    if len(pattern) > LENGTH_LIMIT:
        raise ConfigurationError(f"{where}: longer than {LENGTH_LIMIT} characters")
    try:
        ready = re.compile(pattern)
        tree = parser.parse(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ConfigurationError(f"{where}: is no regular expression: {error}") from None
    ways = _ways(tree, where)
    if ways > WAYS_LIMIT:
        raise ConfigurationError(
            f"{where}: its repeats can share a text out in {ways} ways, and {WAYS_LIMIT} are "
            "allowed; narrow the ranges, such as {6,10} for {1,64}"
        )
    if tree.getwidth()[0] == 0:
        raise ConfigurationError(f"{where}: matches an empty text")
    return ready


def _ways(tree: Any, where: str, *, repeated: bool = False) -> int:
    """An upper bound of the tries at one position, by the parsed pattern."""
    ways = 1
    for code, argument in tree:
        if code in _REPEATS:
            ways *= _ways_of_repeat(argument, where, repeated=repeated)
        elif code is codes.BRANCH:
            ways *= sum(_ways(part, where, repeated=repeated) for part in argument[1])
        elif code is codes.SUBPATTERN:
            ways *= _ways(argument[-1], where, repeated=repeated)
        elif code in (codes.ASSERT, codes.ASSERT_NOT):
            ways *= _ways(argument[1], where, repeated=repeated)
        elif code is codes.ATOMIC_GROUP:
            ways *= _ways(argument, where, repeated=repeated)
        elif code not in _SIMPLE:
            raise ConfigurationError(f"{where}: back references and conditions are not allowed")
    return ways


def _ways_of_repeat(argument: Any, where: str, *, repeated: bool) -> int:
    low, high, part = argument
    if high is codes.MAXREPEAT or int(high) > REPEAT_LIMIT:
        raise ConfigurationError(
            f"{where}: every repeat needs an end of at most {REPEAT_LIMIT}; write "
            f"{{1,{REPEAT_LIMIT // 2}}} for + and {{0,{REPEAT_LIMIT // 2}}} for *"
        )
    within = _ways(part, where, repeated=True)
    if high > 1 and (repeated or within > 1):
        raise ConfigurationError(
            f"{where}: a repeat within a repeat, or a choice within one, can take exponential time"
        )
    return (int(high) - int(low) + 1) * within


_REPEATS: Final = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_SIMPLE: Final = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN, codes.AT)
