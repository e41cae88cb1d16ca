"""The control: a question of known answer that every verdict must survive."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_asking import answered, document_of, reply_to

from monitor.judging.control import Control, control, upheld
from monitor.judging.hidden import VALUE
from monitor.judging.interview import Answer, Interview, interview
from monitor.judging.planting import planted
from monitor.judging.readback import TEXT_LIMIT, readback
from monitor.judging.sight import Item, sight
from monitor.model import ActionTurn, Conversation, ResponseTurn, ToolCall
from monitor.verdict import Judgement, Outcome

NONCES = ("0123456789abcdef0123456789abcdef", "f" * 32)
OWN = "00112233445566778899aabbccddeeff"
REPLY = "Order W-1205 has left. It comes on 2024-05-15."
TALK = Conversation(
    "c",
    (
        ActionTurn("t1", ToolCall("order", {"id": "W-1205"}), 0, {"due": "2024-05-15"}, True),
        ResponseTurn("t2", REPLY, 0),
    ),
    ("Where is my order W-1205?",),
)
KNOWN = ("Where is my order W-1205?", '{"due":"2024-05-15"}')


def put(asked: Interview, verdict: Outcome, nonce: str = OWN) -> Control:
    said = Judgement(asked.turn_id, verdict, None, 0.9, REPLY, "m")
    found = control(asked, Answer(said, suspected=False), nonce, "always")
    assert found is not None
    return found


def test_a_passed_turn_is_asked_about_again_with_one_more_sentence_that_is_wrong():
    asked = interview(TALK, 1, NONCES, "the order is on its way")
    known = put(asked, "pass")
    document, first = document_of(known.question), document_of(asked.questions[0])
    assert known.expected == "fail"
    assert document["evidence"] == first["evidence"]
    assert document["reference"] == first["reference"]
    assert document["turn"]["number"] == first["turn"]["number"]
    assert document["turn"]["text"].startswith(f"{REPLY} ")


def test_a_failed_turn_is_read_back_behind_the_whole_case():
    asked = interview(TALK, 1, NONCES, "the order is on its way")
    known = put(asked, "fail")
    document, first = document_of(known.question), document_of(asked.questions[0])
    assert known.expected == "pass"
    assert document["evidence"][: len(first["evidence"]) + 1] == [*first["evidence"], first["turn"]]
    assert [item["role"] for item in document["evidence"][-3:]] == ["user", "call", "result"]
    assert REPLY in document["turn"]["text"]
    # What is expected of the real turn says nothing of this one.
    assert "reference" not in document


def test_a_failed_call_is_given_by_the_user_and_made_as_given():
    known = put(interview(TALK, 0, NONCES), "fail")
    document = document_of(known.question)
    name, _, arguments = document["turn"]["text"].partition(" ")
    assert document["turn"]["role"] == "call"
    assert "_" in name
    assert all(
        value in document["evidence"][-1]["text"] for value in json.loads(arguments).values()
    )
    assert 'order {"id":"W-1205"}' in json.loads(arguments).values()


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_the_evidence_that_a_prompt_cache_holds_comes_first_as_it_was(verdict: Outcome):
    asked = interview(TALK, 1, NONCES)
    assert put(asked, verdict).question.prompt.shared == asked.questions[0].prompt.shared


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_asking_again_with_the_kept_answer_asks_the_same(verdict: Outcome):
    asked = interview(TALK, 1, NONCES)
    first, again = put(asked, verdict), put(asked, verdict, "a" * 32)
    assert first.question.prompt.key == again.question.prompt.key
    question = asked.questions[0]._replace(nonce="00000000000000000000000000003e82")
    other = put(asked._replace(questions=(question,)), verdict)
    assert other.question.prompt.key != first.question.prompt.key


def test_only_the_right_answer_in_the_right_form_upholds_a_verdict():
    asked = interview(TALK, 1, NONCES)
    known = put(asked, "pass")
    answer = Answer(Judgement("t2", "pass", None, 0.9, REPLY, "m"), suspected=False)
    right = reply_to(known.question, "fail")
    assert upheld(answer, known, right) == answer
    assert upheld(answer, known, None).result == "unavailable"
    for wrong in (
        reply_to(known.question, "pass"),
        right.replace(OWN, NONCES[0]),
        reply_to(known.question, "fail", "words that stand nowhere"),
        "",
    ):
        assert upheld(answer, known, wrong).result == "control"


def test_controls_can_be_left_to_suspected_texts_or_out():
    asked = interview(TALK, 1, NONCES)
    passed = Judgement("t2", "pass", None, 0.9, REPLY, "m")
    assert control(asked, Answer(passed, suspected=False), OWN, "suspected") is None
    assert control(asked, Answer(passed, suspected=True), OWN, "suspected") is not None
    assert control(asked, Answer(passed, suspected=True), OWN, "never") is None
    assert control(asked, Answer("quote", suspected=False), OWN, "always") is None


def test_what_a_rule_decided_is_put_to_no_control():
    asked = interview(Conversation("c", (ResponseTurn("t", ":", 0),), ("Hello?",)), 0, NONCES)
    assert isinstance(answered(asked, lambda question: "").result, Judgement)


def test_a_planted_value_stands_in_a_sentence_of_the_reply_said_again():
    # An even number changes a value: the second place, every figure moved on by one.
    turn = planted(Item(4, "agent", REPLY), KNOWN, 2)
    assert turn.text == f"{REPLY} It comes on 3135-16-26."


def test_a_planted_value_takes_the_place_of_one_in_a_call():
    turn = planted(Item(2, "call", 'order {"id":"W-1205"}'), KNOWN, 0)
    assert turn.text == 'order {"id":"W-2316"}'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("list {}", 'list {"approval_code":"AA-10000"}'),
        ('list {"all":true}', 'list {"all":true,"approval_code":"AA-10000"}'),
        ("list ", 'list  {"approval_code":"AA-10000"}'),
    ],
)
def test_a_call_without_a_known_value_gets_one_argument_more(text: str, wanted: str):
    assert planted(Item(2, "call", text), KNOWN, 1).text == wanted


@given(st.text(max_size=300), st.text(max_size=300), st.integers(0, 2**128 - 1))
def test_a_planted_error_is_a_value_that_nothing_holds(text: str, known: str, chance: int):
    said = planted(Item(4, "agent", text), [known], chance).text
    assert said.startswith(text)
    added = VALUE.findall(said[len(text) :])
    assert set(added) - set(VALUE.findall(known))


@given(st.text(max_size=2 * TEXT_LIMIT), st.integers(0, 2**128 - 1))
def test_what_is_read_back_is_what_was_found(text: str, chance: int):
    talk = Conversation("c", (ResponseTurn("t", f"{text}\ud800", 0),), ("Hello?",))
    said = readback(sight(talk, 0), chance)
    found = json.loads(said.evidence[-1].text)
    assert all(value in said.turn.text for value in found.values())
    assert [item.number for item in (*said.evidence, said.turn)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("piece", ["a", "1", "1.", "a1-", "_", "a-", "9:a"])
def test_no_text_keeps_the_search_for_values_busy(piece: str):
    assert VALUE.findall(piece * 40_000) is not None
