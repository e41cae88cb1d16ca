"""Text beyond a judge's sight: which goes first, and which verdicts it keeps from counting."""

from __future__ import annotations

import json

import pytest
from judge_asking import answered, document_of, reply_to

from monitor.judging.interview import Question, interview
from monitor.judging.sight import CUT, SIGHT_TEXT_LIMIT, sight
from monitor.model import ActionTurn, Conversation, ResponseTurn, ToolCall, Turn
from monitor.verdict import Judgement

NONCES = ("0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210")
ROWS = json.dumps([{"row": n, "price": f"{100 + n} EUR"} for n in range(500)])


def asking(result: str, reply: str) -> Conversation:
    turns = (
        ActionTurn("t1", ToolCall("prices", {}), 0, result=result, has_result=True),
        ResponseTurn("t2", reply, 0),
    )
    return Conversation("c", turns, ("What does row 250 cost?",))


def judged(conversation: Conversation, verdict: str, quote: str) -> object:
    """What comes of a judge that says so first, and answers the control rightly."""
    asked = interview(conversation, len(conversation.turns) - 1, NONCES)

    def ask(question: Question) -> str:
        first = question == asked.questions[0]
        opposite = "pass" if verdict == "fail" else "fail"
        words = quote if first else document_of(question)["turn"]["text"][:40]
        return reply_to(question, verdict if first else opposite, words)

    return answered(asked, ask, NONCES[0]).result


def test_a_value_that_stood_where_text_was_left_out_is_no_fault():
    right = asking(ROWS, "Row 250 costs 350 EUR.")
    assert CUT in sight(right, 1).evidence[-1].text
    assert judged(right, "fail", "Row 250 costs 350 EUR.") == "evidence_cut"


def test_a_value_that_nothing_held_is_a_fault_also_when_text_was_left_out():
    result = judged(asking(ROWS, "Row 250 costs 999 EUR."), "fail", "Row 250 costs 999 EUR.")
    assert isinstance(result, Judgement)
    assert result.verdict == "fail"


@pytest.mark.parametrize(("looks", "passes"), [(3, True), (12, False)])
def test_a_value_on_peoples_word_alone_passes_only_while_every_result_is_in_sight(looks, passes):
    reply = "Row 250 costs 999 EUR, as you say."
    rows = json.dumps([{"row": n, "price": f"{100 + n} EUR"} for n in range(230)])
    found = [
        ActionTurn(f"t{n}", ToolCall("prices", {}), 0, result=rows, has_result=True)
        for n in range(looks)
    ]
    turns: tuple[Turn, ...] = (*found, ResponseTurn("r", reply, 0))
    talk = Conversation("c", turns, ("Row 250 costs 999 EUR, right?",))
    said = judged(talk, "pass", reply)
    assert isinstance(said, Judgement) if passes else said == "evidence_cut"


def test_what_people_say_is_left_out_before_what_tools_found():
    diary = "We sang all night. " * 400
    price = ActionTurn("p", ToolCall("price", {}), 0, result="80 EUR", has_result=True)
    talk = tuple(ResponseTurn(f"r{n}", "Noted.", n) for n in range(10))
    asked = ("What is it?", *[diary] * 9)
    seen = sight(Conversation("c", (price, *talk), asked), 10)
    assert sum(len(item.text) for item in seen.evidence) <= SIGHT_TEXT_LIMIT
    assert [item.text for item in seen.evidence if item.role == "result"] == ["80 EUR"]
    assert seen.evidence[0].text == CUT
    assert seen.evidence[-1].text == diary[: len(seen.evidence[-1].text)]
    assert not seen.result_gone
