"""What every reference source keeps to; an implementation inherits the class and builds itself."""

from __future__ import annotations

import pytest

from monitor.model import Conversation, ToolDefinition
from monitor.ports import ReferenceSource
from monitor.verdict import Reference

STRANGERS = [
    Conversation(""),
    Conversation("nobody knows this one"),
    Conversation("c", queries=(None, "", "🙂 \ud800")),
    Conversation("c", queries=("what is the weather on Mars?",), tools=(ToolDefinition("x"),)),
]


class ReferenceSourceConformance:
    """Inherit, and set the source and a conversation that it knows."""

    source: ReferenceSource
    known: Conversation

    def test_a_known_conversation_has_a_reference(self):
        reference = self.source.reference(self.known)
        assert isinstance(reference, Reference)
        assert reference.turns
        assert reference.reference_id

    def test_asking_twice_gives_the_same(self):
        assert self.source.reference(self.known) == self.source.reference(self.known)

    @pytest.mark.parametrize("stranger", STRANGERS)
    def test_a_stranger_has_none(self, stranger):
        assert self.source.reference(stranger) is None
