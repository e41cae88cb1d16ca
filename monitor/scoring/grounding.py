"""What a reply says beside its values: ids, states, denials and deeds that must hold as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import Final

from monitor.scoring.deeds import deeds_in
from monitor.scoring.words import TEXT_LIMIT

_ID: Final = re.compile(r"(?<![\w-])[a-z]{1,8}[-_]\d[\w-]{2,40}")
_STATE: Final = re.compile(
    r"\b(?:delivered|shipped|cancell?ed|pending|returned|refunded|exchanged|expired|approved|rejected"
    r"|declined|delayed|departed|landed|unavailable|disabled|locked|inactive|unpaid)\b"
)
_SENTENCE: Final = re.compile(r"[^.!?\n;]{1,400}")
_DENIAL: Final = re.compile(r"\b(?:not|never|no longer|cannot|without|neither|nor)\b|n't\b")
_LOOKED: Final = frozenset(("locat", "found", "verif", "authe", "check", "revie", "ident", "retri"))
"""Stems of what is done by reading."""
_WORKED: Final = frozenset(
    ("proce", "initi", "compl", "appli", "updat", "confi", "submi", "chang", "modif")
)
"""Stems that any deed may be told with, once there is one."""


def ids_in(reply: str) -> list[str]:
    """The ids of a reply that are letters, a hyphen and figures, in small letters."""
    return _ID.findall(reply[:TEXT_LIMIT].casefold())


def states_more(reply: str, is_known: Callable[[str], bool], done: Collection[str]) -> bool:
    """Whether a reply denies a state, names one that no tool had named, or claims a deed.

    Values that were all said prove nothing of these. `done`: verb stems of the calls that went
    right.
    """
    text = reply[:TEXT_LIMIT].casefold()
    sentences = _SENTENCE.findall(text)
    if any(_STATE.search(said) and _DENIAL.search(said) for said in sentences):
        return True
    claimed = {verb for verb, _ in deeds_in(text)} - _LOOKED - (_WORKED if done else frozenset())
    if not claimed <= {*done}:
        return True
    return any(not is_known(state) and state[:5] not in done for state in set(_STATE.findall(text)))
