"""Makes a screenshot small: at most 160 colours, the most frequent ones, in a palette."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
COLOURS = 160
_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def smaller(png: bytes) -> bytes:
    """The same picture; for screenshots of eight bits and three channels."""
    pixels = _decoded(png)
    height, width, _ = pixels.shape
    packed = pixels.astype(np.uint32) @ np.array([65536, 256, 1], np.uint32)
    found, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    kept = found[np.argsort(-counts, kind="stable")[:COLOURS]]
    colours, palette = _channels(found), _channels(kept)
    nearest = np.array(
        [int(((palette - colour) ** 2).sum(axis=1).argmin()) for colour in colours], np.uint8
    )
    indexed = nearest[places].reshape(height, width)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), indexed], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    return (
        _SIGNATURE
        + _chunk(b"IHDR", header)
        + _chunk(b"PLTE", palette.astype(np.uint8).tobytes())
        + _chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def _channels(packed: NDArray[np.uint32]) -> NDArray[np.int64]:
    parts = [(packed >> shift) & 255 for shift in (16, 8, 0)]
    return np.stack(parts, axis=1).astype(np.int64)


def _chunk(name: bytes, content: bytes) -> bytes:
    checked = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checked


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        size, name = struct.unpack(">I4s", png[at : at + 8])
        yield name, png[at + 8 : at + 8 + size]
        at += size + 12


def _decoded(png: bytes) -> Pixels:
    chunks = list(_chunks(png))
    width, height, depth, kind, *_ = struct.unpack(">IIBBBBB", dict(chunks)[b"IHDR"])
    assert (depth, kind) == (8, 2), "no picture of eight bits and three channels"
    packed = zlib.decompress(b"".join(content for name, content in chunks if name == b"IDAT"))
    lines = np.frombuffer(packed, np.uint8).reshape(height, 1 + 3 * width)
    above = np.zeros((width, 3), np.uint8)
    found = np.empty((height, width, 3), np.uint8)
    for number, line in enumerate(lines):
        above = found[number] = _unfiltered(int(line[0]), line[1:].reshape(width, 3), above)
    return found


def _unfiltered(kind: int, line: Pixels, above: Pixels) -> Pixels:
    """One row, from what its filter left of it and the row above."""
    if kind == 0:
        return line
    if kind == 1:
        return np.cumsum(line, axis=0, dtype=np.uint8)
    if kind == 2:
        return line + above
    left, corner = [0, 0, 0], [0, 0, 0]
    rows = []
    for given, up in zip(line.tolist(), above.tolist(), strict=True):
        guesses = [_average, _paeth][kind - 3](left, up, corner)
        left = [(value + guess) & 255 for value, guess in zip(given, guesses, strict=True)]
        corner = up
        rows.append(left)
    return np.array(rows, np.uint8)


def _average(left: list[int], up: list[int], _: list[int]) -> list[int]:
    return [(a + b) // 2 for a, b in zip(left, up, strict=True)]


def _paeth(left: list[int], up: list[int], corner: list[int]) -> list[int]:
    found = []
    for a, b, c in zip(left, up, corner, strict=True):
        guess = a + b - c
        from_left, from_up, from_corner = abs(guess - a), abs(guess - b), abs(guess - c)
        if from_left <= from_up and from_left <= from_corner:
            found.append(a)
        else:
            found.append(b if from_up <= from_corner else c)
    return found
