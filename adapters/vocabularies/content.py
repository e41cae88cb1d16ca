"""The decoding of attribute values, under the name by which vocabularies call it."""

from __future__ import annotations

from adapters.shapes.content import (
    NESTING,
    REPR_CHARACTERS,
    Undecodable,
    arguments,
    check_depth,
    decode,
    decode_shape,
    is_flat,
    mend_surrogates,
    result,
)

__all__ = [
    "NESTING",
    "REPR_CHARACTERS",
    "Undecodable",
    "arguments",
    "check_depth",
    "decode",
    "decode_shape",
    "is_flat",
    "mend_surrogates",
    "result",
]
