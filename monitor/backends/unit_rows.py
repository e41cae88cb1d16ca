"""Rows of numbers from outside, brought to unit length or refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from monitor.errors import BackendUnavailable

_TINY: Final = 1e-12


def unit_rows(rows: npt.ArrayLike) -> npt.NDArray[np.float32]:
    """Rows of length one; what is not finite counts as nought."""
    found = np.asarray(rows, dtype=np.float32)
    finite = np.where(np.isfinite(found), found, np.float32(0))
    lengths = np.linalg.norm(finite, axis=1, keepdims=True)
    return np.asarray(finite / np.maximum(lengths, _TINY), dtype=np.float32)


def foreign_rows(rows: Sequence[object], dimensions: int | None, whose: str) -> list[list[float]]:
    """Vectors from a reply. Raises BackendUnavailable unless all are numbers of one length."""
    width = dimensions
    for row in rows:
        if not isinstance(row, list) or not row:
            raise BackendUnavailable(f"{whose} sent no vector for a text", "garbage")
        width = width or len(row)
        numbers = all(isinstance(x, int | float) and not isinstance(x, bool) for x in row)
        if len(row) != width or not numbers:
            raise BackendUnavailable(
                f"{whose} sent a vector of {len(row)} values where {width} numbers are due",
                "garbage",
            )
    return list(rows)  # type: ignore[arg-type]


def clean(text: str, limit: int) -> str:
    """A text that every tokenizer takes: not empty, without lone surrogates, not too long."""
    return text[:limit].encode("utf-8", "replace").decode() or " "
