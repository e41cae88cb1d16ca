"""Spans, JSON values and references redacted alike, and what scoring makes of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from adapters.redaction.redactor import Redactor
from monitor.codec import decode_spans, encode_spans
from monitor.comparison.ladder import Ladder
from monitor.evaluator import Evaluator
from monitor.model import (
    ActionTurn,
    AgentSpan,
    Conversation,
    Message,
    ResponseTurn,
    ToolCall,
    ToolDefinition,
    ToolResult,
)
from monitor.ports import Hint
from monitor.references.by_id import ReferenceStore, parse_reference
from monitor.references.contracts import ToolContracts
from monitor.references.typed_values import typed_values

REDACTOR = Redactor(b"k" * 32)
CANARIES = {
    "EMAIL": "canary.bird@example.com",
    "PHONE": "+49 170 5550199",
    "CARD": "4012 8888 8888 1881",
    "IBAN": "DE89 3704 0044 0532 0130 00",
    "SSN": "123-45-6789",
    "NATIONAL_ID": "11010519491231002X",
    "IP": "203.0.113.77",
    "JWT": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.Y2FuYXJ5Y2FuYXJ5",
    "KEY": "sk-proj-canary0123456789abcdef",
    "PEM": "-----BEGIN RSA PRIVATE KEY-----\nY2FuYXJ5\n-----END RSA PRIVATE KEY-----",
    "SECRET": "password=canary-4711",
    "LANGFUSE": "sk-lf-0a1b2c3d-1111-4222-8333-444455556666",
}
CORE = {"SECRET": "canary-4711", "PEM": "Y2FuYXJ5"}


def everywhere(value: str) -> AgentSpan:
    """A span that holds the value in every place there is."""
    nested = {"a": [{"b": value}], value: 1, "text": json.dumps({"c": value})}
    message = Message(
        "user",
        f"see {value} please",
        (ToolCall(f"find {value}", nested, f"call {value}"),),
        (ToolResult([value], f"call {value}", value),),
        f"name {value}",
    )
    return AgentSpan(
        "0" * 32,
        "1" * 16,
        "model",
        name=f"chat {value}",
        conversation_id=f"thread {value}",
        agent=value,
        release=value,
        model=value,
        system=f"You serve {value}.",
        messages_in=(message,),
        messages_out=(message, message),
        call=ToolCall("find", {"query": value}),
        result={"rows": [value, {"deep": {"deeper": value}}]},
        has_result=True,
        error_type=f"not found: {value}",
        tool_definitions=(
            ToolDefinition(value, value, value, {"enum": [value], value: {}}, f"finds {value}"),
        ),
        expected={"expected_actions": [{"action": "find", "args": {"query": value}}]},
        scope=value,
    )


@pytest.mark.parametrize("kind", CANARIES)
def test_no_canary_is_left_in_any_place_of_a_span(kind):
    value = CANARIES[kind]
    stored = encode_spans(REDACTOR.spans([everywhere(value)]))
    core = CORE.get(kind, value).encode()
    assert core in encode_spans([everywhere(value)])
    assert core not in stored
    assert core not in msgspec.json.encode(decode_spans(stored))


def test_a_clean_span_is_the_same_object_and_its_ids_and_media_stay():
    span = AgentSpan(
        "4bf92f3577b34da6a3ce929d0e0e4736",
        "00f067aa0ba902b7",
        "model",
        messages_in=(Message("user", "Hello", media=("image:image/png:4111111111111111:9",)),),
        result={"order_id": "4111111111111111", "when": "2024-05-15", "rows": list(range(50))},
    )
    assert REDACTOR.span(span) is span


def test_a_key_tells_what_a_bare_number_is():
    value = {"phone": "5552345678", "order_id": "4111111111111111", "card": 4111111111111111}
    clean = REDACTOR.value(value)
    phone = REDACTOR.text("call me at (555) 234-5678").rpartition(" ")[2]
    card = REDACTOR.text("4111 1111 1111 1111")
    assert clean == {"phone": phone, "order_id": "4111111111111111", "card": card}


def test_a_password_under_its_key_is_the_password_in_a_text():
    hidden = REDACTOR.value({"password": "hunter2"})["password"]
    assert REDACTOR.text("my password is hunter2") == f"my password is {hidden}"
    assert REDACTOR.value({"max_tokens": 4096, "token": None, "password": ""}) == {
        "max_tokens": 4096,
        "token": None,
        "password": "",
    }


def test_two_spellings_of_one_key_stay_two_entries():
    clean = REDACTOR.value({"a.b@example.com": 1, "A.B@example.com": 2})
    mail = REDACTOR.text("a.b@example.com")
    assert clean == {mail: 1, f"{mail}~": 2}


def test_a_conversations_name_is_long_enough_for_all_of_them():
    span = AgentSpan("0" * 32, "1" * 16, "agent", conversation_id="anna@example.com")
    name = REDACTOR.span(span).conversation_id
    assert name is not None
    assert name.startswith("<EMAIL:")
    assert len(name) == len("<EMAIL:>") + 16
    assert REDACTOR.document({"conversation_id": "ANNA@example.com"}) == {"conversation_id": name}


def test_order_batches_and_repeats_change_nothing():
    spans = [everywhere(value) for value in CANARIES.values()]
    whole = encode_spans(REDACTOR.spans(spans))
    fresh = Redactor(b"k" * 32)
    backwards = [fresh.spans([span])[0] for span in reversed(spans)][::-1]
    assert encode_spans(backwards) == whole


@pytest.mark.parametrize("field", [None, "email", "to", "user_id"])
@pytest.mark.parametrize("frame", ["{}", "I have sent it to {} today."])
def test_placeholders_compare_as_their_values_would(field, frame):
    ladder = Ladder()
    anna, ben = (
        REDACTOR.text(frame.format(mail)) for mail in ("anna@example.com", "ben@example.com")
    )
    assert ladder.compare(anna, anna, Hint(field=field)).score == 1
    apart = ladder.compare(anna, ben, Hint(field=field)).score
    assert apart is not None
    assert apart < 0.5


def test_every_placeholder_counts_as_a_value_of_a_request():
    for number in range(300):
        mail = REDACTOR.text(f"user{number}@example.com")
        other = REDACTOR.text(f"user{number}@example.org")
        assert typed_values(f"write to {mail}") == (f"placeholder:{mail.lower()}",)
        score = Ladder().compare(f"to {mail}", f"to {other}", Hint()).score
        assert score is not None
        assert score < 0.5


@dataclass
class Shop:
    """A conversation in which the agent changes an e-mail address."""

    mail: str = "ANNA@example.com"

    def conversation(self) -> Conversation:
        call = ToolCall("set_mail", {"mail": self.mail, "phone": "5552345678"})
        turns = (
            ActionTurn("t1", REDACTOR.value({"c": msgspec.to_builtins(call)}) and self._call(call)),
            ResponseTurn("t2", REDACTOR.text(f"I have noted {self.mail}.")),
        )
        return Conversation("c1", turns, (REDACTOR.text("I am anna@example.com"),))

    def _call(self, call: ToolCall) -> ToolCall:
        span = AgentSpan("0" * 32, "1" * 16, "tool", call=call)
        redacted = REDACTOR.span(span).call
        assert redacted is not None
        return redacted


REFERENCE: dict[str, Any] = {
    "conversation_id": "c1",
    "expected_actions": [
        {"action": "set_mail", "args": {"mail": "anna@example.com", "phone": "555-234-5678"}}
    ],
    "expected_responses": [{"response": "I have noted anna@example.com."}],
}
MAIL_TOOL = ToolDefinition(
    "set_mail",
    parameters={
        "type": "object",
        "properties": {
            "mail": {"type": "string", "format": "email", "maxLength": 12},
            "phone": {"type": "integer"},
        },
        "required": ["mail"],
    },
)


def verdicts(mail: str) -> list[tuple[str, str | None]]:
    reference = parse_reference(REDACTOR.document(REFERENCE), "here")
    evaluator = Evaluator([ReferenceStore([reference])], ToolContracts([MAIL_TOOL]), Ladder())
    report = evaluator.evaluate(Shop(mail).conversation(), closed=True, revision=1)
    return [(turn.verdict, turn.field) for turn in report.turns]


def test_a_right_address_still_passes_and_a_wrong_one_still_fails():
    assert verdicts("ANNA@example.com") == [("pass", None), ("pass", None)]
    assert verdicts("anna@example.org")[0] == ("fail", "mail")


def test_a_schema_says_nothing_about_what_was_redacted():
    evaluator = Evaluator([], ToolContracts([MAIL_TOOL]), Ladder())
    report = evaluator.evaluate(Shop().conversation(), closed=True, revision=1)
    assert report.turns[0].verdict == "pass"


def test_a_reference_in_a_text_is_opened():
    text = json.dumps([{"gold_turn": {"action": "a", "args": {"mail": "anna@example.com"}}}])
    mail = REDACTOR.text("anna@example.com")
    assert REDACTOR.document(text) == [{"gold_turn": {"action": "a", "args": {"mail": mail}}}]
