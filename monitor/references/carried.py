"""The reference that a trace itself carries, in any of the layouts that files use."""

from __future__ import annotations

from typing import Final

from monitor.errors import InvalidInput
from monitor.model import Conversation, JsonValue
from monitor.references.by_id import reference_of
from monitor.references.dialogs import dialog_turns, gold_of
from monitor.references.documents import decoded
from monitor.references.expected import is_action
from monitor.verdict import Reference

_LISTS: Final = ("expected_actions", "expected_responses", "required_outputs")


class CarriedReference:
    """Reads `Conversation.expected`: a dialog, a bare list of turns, or lists of expectations."""

    def __init__(self) -> None:
        """Malformed references are counted here, since a trace's author sees no exception."""
        self.malformed: dict[str, int] = {}
        """How many references were refused: `json`, `layout` or `turns`."""

    def reference(self, conversation: Conversation) -> Reference | None:
        """The carried reference; None when there is none or it is malformed."""
        if conversation.expected is None:
            return None
        why = "json"
        try:
            document = decoded(conversation.expected, "carried")
            why = "turns"
            if isinstance(document, dict | list):
                found = _reference(document, conversation.conversation_id)
                if found is not None:
                    return found
            why = "layout"
        except InvalidInput:
            pass
        self.malformed[why] = self.malformed.get(why, 0) + 1
        return None


def _reference(document: JsonValue, conversation_id: str) -> Reference | None:
    if isinstance(document, dict) and "turns" not in document:
        if not any(key in document for key in _LISTS):
            return None
        return reference_of(document, conversation_id, "carried", "carried")
    turns = dialog_turns(document, "carried", conversation_id)
    # A list of expected turns needs no wrapping into `gold_turn`.
    entries = [
        {"gold_turn": entry} if is_action(entry) is not None else entry for entry in turns.turns
    ]
    gold = gold_of(turns._replace(turns=entries))
    if not gold.turns:
        return None
    return Reference(turns.dialog_id, match="carried", turns=gold.turns)
