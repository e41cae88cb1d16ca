"""References by conversation id: what a store of expected behaviour holds, one per line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from monitor.errors import InvalidInput
from monitor.model import Conversation, JsonValue
from monitor.references.documents import decoded, flag_of, list_at, object_at, text_of
from monitor.references.expected import expected_turn, numbers_of
from monitor.verdict import ExpectedTurn, Reference

_SCOPES: Final[dict[str, Literal["all", "writes"]]] = {
    "all": "all",
    "all tool calls": "all",
    "writes": "writes",
    "write actions only": "writes",
}


class ReferenceStore:
    """References looked up by conversation id. Of two with one id the later counts."""

    def __init__(self, references: Iterable[Reference] = ()) -> None:
        """Keep the references by their `reference_id`, which is the conversation's."""
        self._by_id = {reference.reference_id: reference for reference in references}

    def __len__(self) -> int:
        return len(self._by_id)

    def reference(self, conversation: Conversation) -> Reference | None:
        """The reference of this conversation id."""
        return self._by_id.get(conversation.conversation_id)


def parse_reference(source: bytes | str | JsonValue, where: str) -> Reference:
    """One line of a references file. Raises InvalidInput naming conversation and key."""
    entry = object_at(decoded(source, where), where)
    conversation_id = text_of(entry, "conversation_id", where)
    if not conversation_id:
        raise InvalidInput(f"{where}: no conversation_id")
    return reference_of(entry, conversation_id, "conversation_id", f"{where}: {conversation_id}")


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
    )


def _expected(entry: dict[str, JsonValue], key: str, where: str) -> list[ExpectedTurn]:
    turns = []
    for number, item in enumerate(list_at(entry.get(key) or [], f"{where}: {key}"), start=1):
        at = f"{where}: {key} {number}"
        gold = {"response": item} if isinstance(item, str) else object_at(item, at)
        turn = expected_turn(gold, {}, at, numbers_of(gold, "depends_on", at))
        if ("response" in gold) != (key == "expected_responses"):
            raise InvalidInput(f"{at}: belongs into the other list")
        turns.append(turn)
    return turns


def _scope(entry: dict[str, JsonValue], where: str) -> Literal["all", "writes"]:
    written = text_of(entry, "scope", where)
    scope = _SCOPES.get(written or "all")
    if scope is None:
        raise InvalidInput(f"{where}: scope must be one of {', '.join(map(repr, _SCOPES))}")
    return scope


def _outputs(entry: dict[str, JsonValue], where: str) -> tuple[str, ...]:
    outputs = list_at(entry.get("required_outputs") or [], f"{where}: required_outputs")
    for output in outputs:
        if isinstance(output, bool) or not isinstance(output, str | int | float):
            raise InvalidInput(f"{where}: required_outputs must be texts or numbers")
    return tuple(map(str, outputs))
