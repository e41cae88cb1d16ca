"""Damages payloads: as bytes, and as JSON trees whose syntax stays whole."""

from __future__ import annotations

import json
from random import Random
from typing import Any

MAX_BYTES = 64 * 1024
TEXTS = (
    *("", "null", "N/A", "{}", "[]", '"', "{", "[", "\ud800", "\x00", "\u202e", "<not specified>"),
    *('{"a": 1', '"\\"{}\\""', "{'a': 1}", "{'a': {1, 2}}", "__import__('os')", "a" * 5_000),
    *("[" * 200, '{"a":' * 200, "(" * 300, "-" * 300 + "1", "9" * 5_000, "1e999", "NaN", "tool"),
    *('{"type": "text"}', '[{"role": "user", "parts": [{"type": "text"}]}]', '{"messages": [{}]}'),
    *("2026-11-30T10:00:00Z", "0001-01-01", "execute_tool", "TOOL", "=\ud83d", "jane@example.com"),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30),
    *(0.0, -0.0, 1e308, float("nan"), float("inf"), float("-inf"), [], {}, [[]], [{}], {"": None}),
    *([None], [0], [""], {"type": 1}, {"type": "text", "text": None}, {"role": None}),
    *({"stringValue": 5}, {"intValue": "x"}, {"intValue": {}}, {"arrayValue": {"values": {}}}),
    *({"kvlistValue": {"values": [None]}}, {"bytesValue": "!"}, {"doubleValue": "Infinity"}),
)
# Kept as text, so that no change to one document ends up in the next.
VALUES = tuple(json.dumps(value) for value in _VALUES)
BYTES = (
    *(
        b"\xff",
        b"\xc3\x28",
        b"\xed\xa0\x80",
        b"\x00",
        b"\xef\xbb\xbf",
        b"\\ud800",
        b"{",
        b"[",
        b'"',
    ),
    *(
        b"\x80" * 9 + b"\x01",
        b"\xff" * 10,
        b"\x0a\xff\xff\xff\xff\x0f",
        b"\x0b",
        b"\x0c",
        b"999999",
    ),
)


def damaged(random: Random, payload: bytes, other: bytes) -> bytes:
    """One to four faults in the bytes; `other` is what a part may be taken from."""
    found = bytearray(payload)
    for _ in range(random.randint(1, 4)):
        place = random.randint(0, len(found))
        end = min(len(found), place + (1 << random.randint(0, 8)))
        fault = random.randrange(7)
        if fault == 0 and place < len(found):
            found[place] ^= 1 << random.randrange(8)
        elif fault == 1 and place < len(found):
            found[place] = random.randrange(256)
        elif fault == 2:
            del found[place:end]
        elif fault == 3:
            found[place:place] = found[place:end]
        elif fault == 4:
            found[place:place] = random.choice(BYTES)
        elif fault == 5:
            start = random.randint(0, len(other))
            found[place:end] = other[start : start + random.randint(0, 64)]
        elif random.random() < 0.3:
            del found[place:]
    return bytes(found[:MAX_BYTES])


def altered(random: Random, payload: bytes) -> bytes:
    """One to six changes somewhere in a JSON document; not JSON: as it is."""
    try:
        holder = [json.loads(payload)]
    except ValueError:
        return payload
    for _ in range(random.randint(1, 6)):
        _change(random, holder)
    return written(holder[0])


def written(document: Any) -> bytes:
    """JSON as a careless sender writes it: NaN, Infinity and lone surrogates stay."""
    return json.dumps(document).encode()[:MAX_BYTES]


def value(random: Random) -> Any:
    """A JSON value of an unexpected type or size."""
    return json.loads(random.choice(VALUES))


def _change(random: Random, tree: Any) -> None:
    """Change one place below the root."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        if not keys:
            return
        key = random.choice(keys)
        below = tree[key]
        if not (isinstance(below, dict | list) and below and random.random() < 0.9):
            break
        tree = below
    _apply(random, tree, key, below)


def _apply(random: Random, tree: Any, key: Any, below: Any) -> None:
    fault = random.randrange(9)
    if fault <= 1:
        tree[key] = value(random)
    elif fault == 2:
        tree[key] = random.choice(TEXTS)
    elif fault == 3:
        tree[key] = json.dumps(below) if random.random() < 0.5 else repr(below)
    elif fault == 4:
        tree[key] = [below] if random.random() < 0.5 else {random.choice(TEXTS)[:50]: below}
    elif fault == 5:
        tree[key] = _nested(below, random.choice((3, 60, 70, 200)))
    elif fault == 6 and isinstance(tree, dict):
        tree[random.choice((*tree, *TEXTS))[:99]] = below
    elif fault == 7 and isinstance(tree, list):
        tree.extend([below] * random.choice((1, 2, 50 if len(written(below)) < 500 else 3)))
    elif isinstance(tree, dict):
        del tree[key]
    else:
        tree.reverse()


def _nested(inner: Any, depth: int) -> Any:
    for level in range(depth):
        inner = [inner] if level % 2 else {"a": inner}
    return inner
