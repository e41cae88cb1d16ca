"""What a message of one agent to the others says about itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from monitor.model import PLACEHOLDER

WORDS_COUNTED: Final = 20
_FENCE: Final = "```"


class _Phrase(NamedTuple):
    """Words to look for, in lower case; `cues` are quick to find, and one is in every match."""

    cues: tuple[str, ...]
    pattern: re.Pattern[str]

    def is_in(self, lowered: str) -> bool:
        """Whether the text says so."""
        cued = any(cue in lowered for cue in self.cues)
        return cued and self.pattern.search(lowered) is not None


_ASSUMES: Final = _Phrase(
    (
        "assum",
        "hypothetical",
        "placeholder",
        "mock",
        "simulat",
        "stration",
        "data",
        "value",
        "gene",
    ),
    re.compile(
        r"\b(?:assum(?:e[sd]?|ing|ptions?)|hypothetical(?:ly)?|placeholders?|mock"
        r"|simulat(?:e[sd]?|ing|ion)|for (?:demonstration|illustration)"
        r"|(?:example|sample|dummy) (?:data|values?)|general(?:ly)? (?:knowledge|speaking))\b"
    ),
)
_MADE_UP: Final = _Phrase(
    ("mock", "simulate", "placeholder", "dummy", "hypothetical", "fabricated", "ficti", "made-up"),
    re.compile(
        r"\b(?:(?:mock|simulated|placeholder|dummy|hypothetical|fabricated|fictitious|made-up)"
        r" (?:data|dataset|values?|numbers?|figures?|results?|ids?)"
        r"|simulate the (?:data|values?|numbers?|results?))\b"
    ),
)
_LIMIT: Final = _Phrase(
    ("reached", "exceeded", "exhausted"),
    re.compile(
        r"\bmax(?:imum)?[ _](?:number of )?(?:rounds?|turns?|steps?|iterations?|messages?)\b"
        r"[^.\n]{0,30}(?:reached|exceeded)"
        r"|\b(?:step|round|turn|iteration|recursion|time|token) (?:limit|budget)\b"
        r"[^.\n]{0,30}(?:reached|exceeded|exhausted)"
    ),
)
_GIVES_UP: Final = _Phrase(
    ("cannot", "can't", "could not", "couldn't", "able to", "failed to"),
    re.compile(
        r"\b(?:cannot|can't|could not|couldn't|unable to|not able to|failed to)"
        r" (?:complete|finish|answer|solve|determine|fulfil+|retrieve|access|proceed)\b"
        r"|\bcould not be (?:determined|found|completed|verified|retrieved)\b"
    ),
)
_PROMISES: Final = _Phrase(
    ("i will", "i'll", "hold on", "stand", "be back"),
    re.compile(
        r"\bi(?: wi|')ll (?:now |then )?"
        r"(?:review|visit|watch|access|check|perform|gather|report|search)\b"
        r"|\b(?:hold on|stand ?by|will be back)\b"
    ),
)
_ASKS_TO_RUN: Final = _Phrase(
    ("run", "execut"),
    re.compile(
        r"\b(?:please|let us|let's|let me|i will|i'll|we will|once|terminal)\b[^.\n]{0,80}"
        r"\b(?:re-?)?(?:runs?|running|execut(?:e[sd]?|ing))\b"
    ),
)
_CRASHES: Final = _Phrase(
    ("traceback", "unhandled", "panic"),
    re.compile(
        r"^[ \t]*(?:traceback \(most recent call last\):|unhandled exception\b|panic: )",
        re.MULTILINE,
    ),
)
_CLOSES: Final = _Phrase(
    ("terminate", "final answer", "request satisfied"),
    re.compile(r"\b(?:terminate|final answer|request satisfied)\b"),
)
_DECLARES: Final = re.compile(r"\W{0,9}(?:the )?(?:request|task) (?:is )?(?:satisfied|complete)")
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
    r"exit ?code: ?(\d+) ?(?:\([^)\n]*\))?\s*(?:code output:)?", re.IGNORECASE
)
_CLOSING_WORDS: Final = 3
_CODE_DIGITS: Final = 9


class Saying(NamedTuple):
    """One message, read once."""

    words: int
    """No more than WORDS_COUNTED are counted."""
    has_code: bool
    asks_to_run: bool
    """It has code that it wants to be run."""
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
    lowered = text.lower().replace("\u2019", "'")
    prose = "".join(lowered.split(_FENCE)[::2])
    words = sum(1 for _ in islice(_WORD.finditer(text), WORDS_COUNTED))
    return Saying(
        words=words,
        has_code=_FENCE in text,
        asks_to_run=_FENCE in text and _ASKS_TO_RUN.is_in(prose),
        assumes=_ASSUMES.is_in(prose),
        makes_up=_MADE_UP.is_in(lowered),
        crashes=_CRASHES.is_in(prose),
        meets_limit=_LIMIT.is_in(lowered),
        gives_up=_GIVES_UP.is_in(prose),
        promises=_PROMISES.is_in(prose),
        closes=words <= _CLOSING_WORDS or _CLOSES.is_in(lowered),
        declares=_DECLARES.match(lowered) is not None,
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
    return set(vocabulary("".join(text.split(_FENCE)[::2])))


def vocabulary(text: str) -> Iterator[str]:
    """All that a text gives to later ones to take up: its specifics, code included."""
    bare = PLACEHOLDER.sub(" ", text)
    yield from PLACEHOLDER.findall(text)
    yield from (number.replace(",", "").rstrip(".") for number in _NUMBER.findall(bare))
    yield from (name.casefold() for name in _NAME.findall(bare))


def exit_code(text: str) -> int | None:
    """What a run ended with, where the text is a report of one."""
    head = _RUN_HEAD.match(text)
    return None if head is None else min(int(head[1][:_CODE_DIGITS]), 255)


def is_nothing(result: str) -> bool:
    """Whether a run printed nothing that says anything."""
    printed = result.strip()
    head = _RUN_HEAD.match(printed)
    return printed[head.end() if head else 0 :].strip().casefold() in _NOTHING
