"""References by conversation id: what a store of expected behaviour holds, one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from monitor.errors import InvalidInput
from monitor.model import Conversation, JsonValue
from monitor.references.documents import (
    decoded,
    flag_of,
    list_at,
    object_at,
    shown,
    text_of,
)
from monitor.references.expected import expected_turn, numbers_of
from monitor.verdict import ExpectedTurn, Reference

_SCOPES: Final[dict[str, Literal["all", "writes"]]] = {
    "all": "all",
    "all tool calls": "all",
    "writes": "writes",
    "write actions only": "writes",
}
_KEYS: Final = (
    "conversation_id",
    "expected_actions",
    "expected_responses",
    "required_outputs",
    "ordered",
    "scope",
)
_REMARKS: Final = frozenset(
    [
        "task_id",
        "dialog_id",
        "source",
        "license",
        "licence",
        "domain",
        "agent_model",
        "description",
        "note",
        "notes",
        "comment",
        "tags",
        "meta",
        "metadata",
    ]
)
"""Keys by which authors remember where a reference came from; nothing is read from them."""


class ReferenceStore:
    """References looked up by conversation id."""

    def __init__(self, references: Iterable[Reference] = ()) -> None:
        """Keep the references by their `reference_id`, which is the conversation's.

        Raises InvalidInput when two of one id expect different things: neither can be chosen.
        """
        self._by_id: dict[str, Reference] = {}
        for reference in references:
            known = self._by_id.setdefault(reference.reference_id, reference)
            if known != reference:
                name = shown(reference.reference_id)
                raise InvalidInput(f"conversation {name}: two references that differ; keep one")

    def __len__(self) -> int:
        return len(self._by_id)

    def reference(self, conversation: Conversation) -> Reference | None:
        """The reference of this conversation id."""
        return self._by_id.get(conversation.conversation_id)


def parse_reference(source: bytes | str | JsonValue, where: str) -> Reference:
    """One line of a references file. Raises InvalidInput naming conversation and key.

    A list that is absent or null says nothing; an empty one says that nothing is expected.
    """
    entry = object_at(decoded(source, where), where)
    conversation_id = text_of(entry, "conversation_id", where)
    if not conversation_id:
        raise InvalidInput(f"{where}: no conversation_id")
    where = f"{where}: {shown(conversation_id)}"
    for key in entry:
        if key not in _KEYS and key not in _REMARKS:
            raise InvalidInput(f"{where}: unknown key {shown(key)}; known are {', '.join(_KEYS)}")
    return reference_of(entry, conversation_id, "conversation_id", where)


def reference_of(
    entry: dict[str, JsonValue],
    reference_id: str,
    match: Literal["conversation_id", "carried"],
    where: str,
) -> Reference:
    """The reference of an object with `expected_actions` and `expected_responses`."""
    actions = _expected(entry, "expected_actions", where)
    replies = _expected(entry, "expected_responses", where)
    ordered = flag_of(entry, "ordered", where)
    return Reference(
        reference_id,
        match=match,
        turns=(*actions, *replies),
        ordered=True if ordered is None else ordered,
        interleaved=False,
        scope=_scope(entry, where),
        required_outputs=_outputs(entry, where),
        tells_actions=entry.get("expected_actions") is not None,
    )


def _expected(entry: dict[str, JsonValue], key: str, where: str) -> list[ExpectedTurn]:
    turns = []
    for number, item in enumerate(_list_of(entry, key, where), start=1):
        at = f"{where}: {key} {number}"
        gold = {"response": item} if isinstance(item, str) else object_at(item, at)
        turn = expected_turn(gold, {}, at, numbers_of(gold, "depends_on", at))
        if ("response" in gold) != (key == "expected_responses"):
            raise InvalidInput(f"{at}: belongs into the other list")
        turns.append(turn)
    return turns


def _list_of(entry: dict[str, JsonValue], key: str, where: str) -> list[JsonValue]:
    value = entry.get(key)
    return [] if value is None else list_at(value, f"{where}: {key}")


def _scope(entry: dict[str, JsonValue], where: str) -> Literal["all", "writes"]:
    written = text_of(entry, "scope", where)
    scope = _SCOPES.get(written or "all")
    if scope is None:
        raise InvalidInput(f"{where}: scope must be one of {', '.join(map(repr, _SCOPES))}")
    return scope


def _outputs(entry: dict[str, JsonValue], where: str) -> tuple[str, ...]:
    outputs = _list_of(entry, "required_outputs", where)
    for output in outputs:
        if isinstance(output, bool) or not isinstance(output, str | int | float):
            raise InvalidInput(f"{where}: required_outputs must be texts or numbers")
    return tuple(map(str, outputs))
