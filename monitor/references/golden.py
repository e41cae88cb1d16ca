"""Golden dialogs as a reference: found by id, or by what the user asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from monitor.errors import BackendUnavailable, InvalidInput
from monitor.model import Conversation, JsonValue
from monitor.ports import Comparator, Encoder, Hint
from monitor.references.contracts import ToolContracts
from monitor.references.dialogs import dialog_turns, gold_of, turn_label
from monitor.references.documents import text_of, texts_of
from monitor.references.typed_values import normalised, typed_values
from monitor.verdict import ExpectedAction, Reference

SIMILAR: Final = 0.8
"""Least cosine at which two requests may be one. Typed values must agree besides."""
_VETO: Final = 0.5


class Golden(NamedTuple):
    """One golden dialog: what users ask, and what the agent should do then."""

    reference: Reference
    conversation_id: str
    queries: tuple[str | None, ...]
    """The user's words by exchange."""
    tools: frozenset[str] | None = None
    """Names of all tools the agent should hold; None when the author does not say."""


class GoldenStore:
    """Finds the golden dialog of a conversation.

    First by conversation or dialog id. Else by the user's words: every exchange must ask the
    same, and the agent must hold the golden dialog's tools. Words that are only similar count when
    the encoder finds them close, all typed values are equal (order 12 is not order 34), and the
    comparator, where given, does not object (buying is not selling).
    """

    def __init__(
        self,
        goldens: Iterable[Golden] = (),
        encoder: Encoder | None = None,
        comparator: Comparator | None = None,
        contracts: ToolContracts | None = None,
        similar: float = SIMILAR,
    ) -> None:
        """Without an encoder only equal words match. `contracts` are the configured tools."""
        self._goldens = tuple(goldens)
        self._encoder = encoder
        self._comparator = comparator
        self._contracts = contracts or ToolContracts()
        self._similar = similar
        self.unavailable = 0
        """Look-ups that the encoder did not answer."""
        self.ambiguous = 0
        """Look-ups by words that found several golden dialogs and took none."""
        self._by_id: dict[str, Golden] = {}
        self._by_words: dict[tuple[str | None, ...], list[Golden]] = {}
        self._by_values: dict[tuple[tuple[str, ...], ...], list[Golden]] = {}
        self._vectors: dict[tuple[tuple[str, ...], ...], npt.NDArray[np.float32]] = {}
        for golden in self._goldens:
            self._by_id.setdefault(golden.conversation_id, golden)
            self._by_id.setdefault(golden.reference.reference_id, golden)
            if any(golden.queries):
                self._by_words.setdefault(_words(golden.queries), []).append(golden)
                self._by_values.setdefault(_values(golden.queries), []).append(golden)

    def __len__(self) -> int:
        return len(self._goldens)

    def reference(self, conversation: Conversation) -> Reference | None:
        """The golden dialog's expected turns; id and match stand in the reference."""
        golden = self._by_id.get(conversation.conversation_id)
        if golden is not None:
            return _matched(golden, "conversation_id")
        if not self._by_words or not any(conversation.queries):
            return None
        equal = self._fitting(self._by_words.get(_words(conversation.queries), ()), conversation)
        if equal:
            return self._only(equal)
        return self._only(self._close(conversation))

    def _only(self, found: Sequence[Golden]) -> Reference | None:
        if not found:
            return None
        # Golden dialogs that expect the same are no contradiction; others cannot be chosen from.
        if any(golden.reference.turns != found[0].reference.turns for golden in found[1:]):
            self.ambiguous += 1
            return None
        return _matched(found[0], "query")

    def _close(self, conversation: Conversation) -> list[Golden]:
        """The closest golden dialog by vector, and those that come as close."""
        if self._encoder is None:
            return []
        key = _values(conversation.queries)
        known = self._by_values.get(key, [])
        candidates = set(map(id, self._fitting(known, conversation, similar=True)))
        if not candidates:
            return []
        try:
            cosines = self._cosines(key, known, conversation.queries)
        except BackendUnavailable:
            self.unavailable += 1
            return []
        close = [
            (float(cosine), golden)
            for cosine, golden in zip(cosines, known, strict=True)
            if cosine >= self._similar
            and id(golden) in candidates
            and self._agreed(golden, conversation)
        ]
        best = max((cosine for cosine, _ in close), default=0.0)
        return [golden for cosine, golden in close if best - cosine < 1e-3]

    def _cosines(
        self,
        key: tuple[tuple[str, ...], ...],
        known: Sequence[Golden],
        queries: Sequence[str | None],
    ) -> npt.NDArray[np.float32]:
        """For each golden dialog the least cosine over the exchanges."""
        encoder = self._encoder
        if encoder is None:
            return np.zeros(len(known), dtype=np.float32)
        table = self._vectors.get(key)
        if table is None:
            texts = [query or "" for golden in known for query in golden.queries]
            table = encoder.encode(texts).reshape(len(known), len(queries), -1)
            self._vectors[key] = table
        asked = encoder.encode([query or "" for query in queries])
        cosines = np.einsum("gqd,qd->gq", table, asked)
        silent = np.array([query is None for query in queries])
        return np.asarray(np.where(silent, 1, cosines).min(axis=1), dtype=np.float32)

    def _agreed(self, golden: Golden, conversation: Conversation) -> bool:
        if self._comparator is None:
            return True
        for expected, actual in zip(golden.queries, conversation.queries, strict=True):
            if expected is None or actual is None:
                continue
            score = self._comparator.compare(expected, actual, Hint(kind="text")).score
            if score is not None and score < _VETO:
                return False
        return True

    def _fitting(
        self, goldens: Iterable[Golden], conversation: Conversation, similar: bool = False
    ) -> list[Golden]:
        """Those within the conversation's tool set, which must be known for mere similarity."""
        held = self._contracts.with_definitions(conversation.tools)
        if held.empty:
            return [] if similar else list(goldens)
        names = frozenset(tool.name for tool in conversation.tools)
        return [golden for golden in goldens if _within(golden, held, names)]


def parse_golden(source: bytes | str | JsonValue, where: str) -> Golden:
    """The gold side of a dialog file's line, whether or not it has a predicted side.

    `tools` may list the names of the agent's tools. Raises InvalidInput naming dialog, turn and
    key.
    """
    document = dialog_turns(source, where)
    gold = gold_of(document)
    if not gold.turns:
        raise InvalidInput(f"{document.where}: no turn has a gold_turn, so nothing is expected")
    queries: list[str | None] = []
    for position, entry in enumerate(document.turns):
        query = text_of(entry, "user", turn_label(document, position))
        if query is not None or not queries:
            queries.append(query)
    tools = texts_of(document.head, "tools", document.where)
    reference = Reference(document.dialog_id, match="conversation_id", turns=gold.turns)
    named = None if tools is None else frozenset(tools)
    return Golden(reference, document.conversation_id, tuple(queries), named)


def _matched(golden: Golden, match: Literal["conversation_id", "query"]) -> Reference:
    return msgspec.structs.replace(golden.reference, match=match)


def _within(golden: Golden, held: ToolContracts, names: frozenset[str]) -> bool:
    if golden.tools is not None and names:
        return golden.tools == names
    return all(
        held.find(turn.action or "", turn.tool_id, turn.action) is not None
        for turn in golden.reference.turns
        if isinstance(turn, ExpectedAction)
    )


def _words(queries: Iterable[str | None]) -> tuple[str | None, ...]:
    return tuple(None if query is None else normalised(query) for query in queries)


def _values(queries: Iterable[str | None]) -> tuple[tuple[str, ...], ...]:
    return tuple(typed_values(query or "") for query in queries)
