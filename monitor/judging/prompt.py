"""The prompt: rubric in the system role, customers' text as JSON data, the nonce after it."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from monitor.judging.rubric import RUBRIC, RUBRIC_VERSION
from monitor.judging.sight import Item, Sight
from monitor.ports import JudgePrompt

NONCE: Final = re.compile(r"[0-9a-f]{32}")
REFERENCE_LIMIT: Final = 4_000


def prompt(
    seen: Sight, nonce: str, reference: str | None = None, shared: int | None = None
) -> JudgePrompt:
    """The question about one turn. `nonce` is 32 hex digits, new for every call.

    `shared`: how many items of evidence earlier questions had as well; None: all.

    All text passes through a JSON encoder that escapes more than JSON must: no tag, control token,
    code fence or invisible character of the data reaches the model as itself.
    """
    if not NONCE.fullmatch(nonce):
        raise ValueError("a nonce is 32 hex digits")
    items = [_item(item) for item in seen.evidence]
    before, whole = ",".join(items[:shared]), ",".join(items)
    known = "" if reference is None else f',"reference":{_quoted(reference[:REFERENCE_LIMIT])}'
    document = f'{whole[len(before) :]}],"turn":{_item(seen.turn)}{known}}}'
    own = f"{document}\n\nnonce: {nonce}\nGrade turn {seen.turn.number}."
    begun = f'{{"evidence":[{before}'
    return JudgePrompt(RUBRIC, begun, own, f"{RUBRIC_VERSION}\n{begun}{document}")


def _item(item: Item) -> str:
    return f'{{"number":{item.number},"role":"{item.role}","text":{_quoted(item.text)}}}'


def _quoted(text: str) -> str:
    """A JSON string in which what templates are made of, and what nobody sees, is escaped."""
    encoded = msgspec.json.encode(text.encode("utf-8", "replace").decode()).decode()
    return _UNSAFE.sub(lambda found: _escaped(found[0]), encoded)


_UNSAFE: Final = re.compile(
    "[<>|&`\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2039\\u203a\\u2060-\\u206f"
    "\\u2329\\u232a\\u3008-\\u300b\\ue000-\\uf8ff\\ufe00-\\ufe0f\\ufeff\\uff06\\uff1c\\uff1e\\uff40"
    "\\uff5c\\ufff0-\\uffff\\U000e0000-\\U0010ffff]"
)
"""Signs of tags, chat-template tokens and code fences with their look-alikes; invisible, private
and direction-changing characters."""


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
