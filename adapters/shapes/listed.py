"""Messages out of a JSON list, one by one, each of which may have been read before."""

from __future__ import annotations

from typing import Final

import msgspec

from adapters.shapes import content, mixed, responses
from adapters.shapes.remembered import Remembered
from monitor.model import Message

_items: Final = msgspec.json.Decoder(list[msgspec.Raw])
_plain: Final = msgspec.json.Decoder()
_remembered: Final[dict[str, Remembered[Message]]] = {
    "user": Remembered(),
    "assistant": Remembered(),
}


def read_listed(text: str, role: str) -> tuple[Message, ...] | None:
    """The messages of a list in which each stands for itself; None for any other text.

    What `mixed.read_messages` makes of the same list, at a fraction of the time where a history
    repeats. `role` is that of a message that tells none. Raises PayloadTooLarge for a bomb.
    """
    raws = content.decode_shape(text, _items)
    if not raws:
        return None
    remembered, levels = _remembered[role], content.nesting()
    found = []
    for raw in raws:
        written = bytes(raw)
        message = remembered.known((levels, written))
        if message is None:
            message = _read(written, role, levels)
            if message is None:
                return None
            remembered.keep((levels, written), message, len(written))
        found.append(message)
    return tuple(found)


def _read(written: bytes, role: str, levels: int) -> Message | None:
    """None for what is no message, or no message by itself, or may be nested too deep."""
    if written.count(b"{") + written.count(b"[") >= levels:
        return None
    try:
        item = _plain.decode(written)
    except (msgspec.MsgspecError, ValueError):
        return None
    if not isinstance(item, dict) or not isinstance(item.get("role"), str):
        return None
    return None if responses.is_item(item) else mixed.read_message(item, role)
