"""Lines of a labels file, as people or their tools write them."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any, Final

import msgspec

from monitor.errors import InvalidInput
from monitor.verdict import HumanLabel, LabelledMetric


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a line; one of `label` and `score` tells the opinion."""

    sub_metric: LabelledMetric = "overall"
    label: bool | int | None = None
    score: float | None = None
    conversation_id: str | None = None
    turn_no: int | None = None
    turn_id: str | None = None
    trace_id: str | None = None
    span_id: str | None = None
    annotator: str | None = None
    label_id: str | None = None
    comment: Any = None
    """For people; it is not read."""


_DECODER: Final = msgspec.json.Decoder(_Line)


def parse_human_label(line: bytes, where: str) -> HumanLabel:
    """The label of one JSON line. Raises InvalidInput that names the place and the key.

    A line without a `label_id` gets one made of all that it says but the opinion, so that a second
    line about the same thing by the same person is the same label.
    """
    try:
        told = _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInput(f"{where}: is no label: {error}; its author must mend it") from None
    if told.conversation_id is None and told.trace_id is None:
        raise InvalidInput(f"{where}: names neither a conversation_id nor a trace_id")
    return HumanLabel(
        told.label_id or _identity(told),
        told.sub_metric,
        _value(told, where),
        told.conversation_id,
        told.turn_no,
        told.turn_id,
        told.trace_id,
        told.span_id,
        told.annotator,
    )


def _value(told: _Line, where: str) -> float:
    if (told.label is None) == (told.score is None):
        raise InvalidInput(f"{where}: needs `label` (0 or 1) or `score` (0 to 1), one of them")
    if told.label is not None:
        if told.label not in (0, 1):
            raise InvalidInput(f"{where}: label is neither 0 nor 1")
        return float(told.label)
    value = told.score
    if value is None or not math.isfinite(value) or not 0 <= value <= 1:
        raise InvalidInput(f"{where}: score is not 0 to 1")
    return value


def _identity(told: _Line) -> str:
    parts = (
        *(told.sub_metric, told.conversation_id, told.turn_no, told.turn_id),
        *(told.trace_id, told.span_id, told.annotator),
    )
    return blake2b(msgspec.json.encode(parts), digest_size=12, person=b"label").hexdigest()
