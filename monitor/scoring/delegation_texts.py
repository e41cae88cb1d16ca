"""What a message of one agent to the others says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

_FENCE: Final = "```"
_ASSUMES: Final = re.compile(
    r"\b(?:assum(?:e[sd]?|ing|ptions?)|hypothetical(?:ly)?|placeholders?|mock|simulat(?:e[sd]?|ing)"
    r"|simulation|for (?:demonstration|illustration)|(?:example|sample|dummy) (?:data|values?)"
    r"|general(?:ly)? (?:knowledge|speaking))\b",
    re.IGNORECASE,
)
_MADE_UP: Final = re.compile(
    r"\b(?:(?:mock|simulated|placeholder|dummy|hypothetical|fabricated|fictitious|made-up)"
    r" (?:data|dataset|values?|numbers?|figures?|results?|ids?)"
    r"|simulate the (?:data|values?|numbers?|results?))\b",
    re.IGNORECASE,
)
_CRASHES: Final = re.compile(
    r"^[ \t]*(?:Traceback \(most recent call last\):|Unhandled exception\b|panic: )",
    re.IGNORECASE | re.MULTILINE,
)
_LIMIT: Final = re.compile(
    r"\bmax(?:imum)?[ _](?:number of )?(?:rounds?|turns?|steps?|iterations?|messages?)\b"
    r"[^.\n]{0,30}(?:reached|exceeded)"
    r"|\b(?:step|round|turn|iteration|recursion|time|token) (?:limit|budget)\b"
    r"[^.\n]{0,30}(?:reached|exceeded|exhausted)",
    re.IGNORECASE,
)
_GIVES_UP: Final = re.compile(
    r"\b(?:cannot|can't|could not|couldn't|unable to|not able to|failed to)"
    r" (?:complete|finish|answer|solve|determine|fulfil+|retrieve|access|proceed)\b"
    r"|\bcould not be (?:determined|found|completed|verified|retrieved)\b",
    re.IGNORECASE,
)
_PROMISES: Final = re.compile(
    r"\b(?:i will (?:now |then )?(?:review|visit|watch|access|check|perform|gather|report|search)"
    r"|i'll (?:now |then )?(?:review|visit|watch|access|check|perform|gather|report|search)"
    r"|hold on|stand ?by|will be back)\b",
    re.IGNORECASE,
)
_CLOSES: Final = re.compile(r"\bTERMINATE\b|\bFINAL ANSWER\b|\brequest satisfied\b", re.IGNORECASE)
_DECLARES: Final = re.compile(r"\W*(?:the )?(?:request|task) (?:is )?(?:satisfied|complete)", re.I)
_WORD: Final = re.compile(r"\w+")
_NUMBER: Final = re.compile(r"\d[\d,.]*\d")
_NAME: Final = re.compile(r"(?<=[a-z,(] )[A-Z][a-z]+(?: [A-Z][a-z]+)+")
_ANSWER: Final = re.compile(r'"answer"\s*:\s*(?:(true|false)\b|"((?:[^"\\]|\\.)*)")')
_LEDGER: Final = (
    "is_request_satisfied",
    "is_in_loop",
    "is_progress_being_made",
    "instruction_or_question",
)
_ASKS: Final = re.compile(
    r"\b(?:please|calculate|compare|count|search|find|look up|check|visit|open|scroll|navigate"
    r"|verify|extract|click|summari[sz]e|run|write|ask)\b",
    re.IGNORECASE,
)
_NOTHING: Final = frozenset({"", "[]", "{}", "none", "null", "nan"})
_RUN_HEAD: Final = re.compile(
    r"exit ?code: ?\d+ ?(?:\([^)\n]*\))?\s*(?:code output:)?", re.IGNORECASE
)
_CLOSING_WORDS: Final = 3


class Saying(NamedTuple):
    """One message, read once."""

    words: int
    has_code: bool
    assumes: bool
    """It says that something is assumed, simulated or made up, outside of its code."""
    makes_up: bool
    """It says so of data, wherever in the message."""
    crashes: bool
    """It holds the trace of an exception that nobody caught, not quoted as code."""
    meets_limit: bool
    gives_up: bool
    promises: bool
    """It says that it will do something itself, and hold on."""
    closes: bool
    """It ends the talk."""
    declares: bool
    """It opens by saying that the work is done."""
    cites: bool
    """It shows an address, as an observation of the world does."""


class Ledger(NamedTuple):
    """A leader's account of the work, in the form that Magentic-One made common."""

    satisfied: bool
    stalled: bool
    """In a loop, or without progress, by the leader's own word."""
    open_work: bool
    """It still tells somebody what to do."""


def saying(text: str) -> Saying:
    """What the text says. Linear in its length."""
    prose = "".join(text.split(_FENCE)[::2])
    words = sum(1 for _ in _WORD.finditer(text))
    return Saying(
        words=words,
        has_code=_FENCE in text,
        assumes=_ASSUMES.search(prose) is not None,
        makes_up=_MADE_UP.search(text) is not None,
        crashes=_CRASHES.search(prose) is not None,
        meets_limit=_LIMIT.search(text) is not None,
        gives_up=_GIVES_UP.search(prose) is not None,
        promises=_PROMISES.search(prose) is not None,
        closes=words <= _CLOSING_WORDS or _CLOSES.search(text) is not None,
        declares=_DECLARES.match(text) is not None,
        cites="http://" in text or "https://" in text,
    )


def ledger(text: str) -> Ledger | None:
    """The ledger in the text, broken JSON included; None where there is none."""
    answers: dict[str, str | None] = {}
    for key in _LEDGER:
        at = text.find(f'"{key}"')
        found = None if at < 0 else _ANSWER.search(text, at)
        answers[key] = None if found is None else (found[1] or found[2])
    if answers["is_request_satisfied"] is None:
        return None
    instruction = answers["instruction_or_question"] or ""
    asks = _ASKS.search(instruction) is not None
    return Ledger(
        satisfied=answers["is_request_satisfied"] == "true",
        stalled=answers["is_progress_being_made"] == "false" or answers["is_in_loop"] == "true",
        open_work=asks,
    )


def specifics(text: str) -> set[str]:
    """The numbers of two digits and more, and the names, that the prose of a text states."""
    prose = "".join(text.split(_FENCE)[::2])
    numbers = {number.replace(",", "").rstrip(".") for number in _NUMBER.findall(prose)}
    return numbers | {name.casefold() for name in _NAME.findall(prose)}


def vocabulary(text: str) -> Iterable[str]:
    """All that a text gives to later ones to take up: its specifics, code included."""
    yield from (number.replace(",", "").rstrip(".") for number in _NUMBER.findall(text))
    yield from (name.casefold() for name in _NAME.findall(text))


def is_nothing(result: str) -> bool:
    """Whether a run printed nothing that says anything."""
    printed = result.strip()
    head = _RUN_HEAD.match(printed)
    return printed[head.end() if head else 0 :].strip().casefold() in _NOTHING
