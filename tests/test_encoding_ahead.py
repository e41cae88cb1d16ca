"""Slow encoders: asked once a conversation, and spared while they are down."""

from __future__ import annotations

import time

import numpy as np
import pytest
from embedding_server import EmbeddingServer

from monitor import chosen
from monitor.backends.ahead import ForesightedEvaluator
from monitor.comparison import CachedEncoder, Ladder
from monitor.comparison.gathering import GatheringEncoder, NotYetEncoded
from monitor.config import load
from monitor.evaluator import Evaluator
from monitor.references.contracts import ToolContracts
from monitor.references.dialogs import parse_dialog

REPLIES = [
    ("Your parcel arrives tomorrow morning.", "The package will be there early next day."),
    ("We refunded the money to the card.", "The amount was paid back."),
    ("Please call again if it is late.", "Ring us when there is a delay."),
]


class Asked:
    """Two dimensions; remembers each question."""

    version = "asked-1"
    dimensions = 2

    def __init__(self):
        self.questions = []

    def encode(self, texts):
        self.questions.append(list(texts))
        rows = np.array([[len(text) % 7 + 1.0, 1.0] for text in texts], dtype=np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def dialog():
    turns = [
        {
            "turn_no": number,
            "turn": "Agent",
            "user": "Where is it?",
            "gold_turn": {"response": expected},
            "predict_turn": {"response": actual},
        }
        for number, (expected, actual) in enumerate(REPLIES, 1)
    ]
    return parse_dialog({"dialog_id": "d", "turns": turns}, "here")


def test_all_texts_of_a_conversation_are_asked_for_in_few_batches():
    inner, plain = Asked(), Asked()
    gathering = GatheringEncoder(CachedEncoder(inner))
    parts = (), ToolContracts(())
    ahead = ForesightedEvaluator(*parts, Ladder(encoder=gathering), encoder=gathering)
    straight = Evaluator(*parts, Ladder(encoder=CachedEncoder(plain)))
    given = dialog()

    def evaluated(evaluator):
        return evaluator.evaluate(
            given.conversation, closed=True, revision=1, reference=given.reference
        )

    assert evaluated(ahead) == evaluated(straight)
    assert sum(map(len, inner.questions)) >= 2
    assert len(inner.questions) < len(plain.questions)
    asked = len(inner.questions)
    evaluated(ahead)
    assert len(inner.questions) == asked


def test_while_gathering_nothing_is_asked():
    inner = Asked()
    gathering = GatheringEncoder(CachedEncoder(inner))
    with gathering.gathering() as wanted, pytest.raises(NotYetEncoded):
        gathering.encode(["a", "b", "a"])
    assert (list(wanted), inner.questions) == (["a", "b"], [])
    gathering.encode(["a", "b"])
    with gathering.gathering() as wanted:
        assert gathering.encode(["b"]).shape == (1, 2)
    assert not wanted


@pytest.fixture
def server():
    found = EmbeddingServer(16)
    yield found
    found.close()


def test_a_backend_that_is_down_leaves_turns_unscored_until_it_is_back(
    server, tmp_path, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    config = tmp_path / "monitor.toml"
    config.write_text(
        f'[embedding]\nbackend = "http"\nurl = "{server.url}"\nmodel = "m"\n'
        f'persist_path = "vectors.sqlite3"\n'
    )
    found = chosen.evaluation(load(config))
    given = dialog()

    def verdicts():
        report = found.evaluator.evaluate(
            given.conversation, closed=True, revision=1, reference=given.reference
        )
        return [turn.why for turn in report.turns]

    server.answer = (503, {}, b"")
    assert "unsure" in verdicts()
    assert (len(server.requests), found.circuit.failures) == (1, 1)
    verdicts()
    assert len(server.requests) == 1
    assert found.circuit.unanswered > 1

    server.answer, unanswered = None, found.circuit.unanswered
    now[0] = 5.0
    back = verdicts()
    assert found.circuit.unanswered == unanswered
    assert found.encoder.misses > 0

    asked = len(server.requests)
    again = chosen.evaluation(load(config))
    found = again
    assert verdicts() == back
    assert len(server.requests) == asked
    assert again.encoder.misses == 0 < again.encoder.hits
