"""Attribute content in every shape that instrumentations give it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.vocabularies.content import arguments, decode, result
from adapters.vocabularies.definitions import read_definitions, read_instructions
from adapters.vocabularies.messages import media_digest, read_messages
from monitor.errors import PayloadTooLarge
from monitor.model import Message, ToolCall, ToolDefinition, ToolResult

ARGUMENTS = {"city": "Paris", "days": 2}


@pytest.mark.parametrize(
    "given_",
    [
        ARGUMENTS,
        '{"city": "Paris", "days": 2}',
        json.dumps(json.dumps(ARGUMENTS)),
        json.dumps(json.dumps(json.dumps(ARGUMENTS))),
        "{'city': 'Paris', 'days': 2}",
        json.dumps("{'city': 'Paris', 'days': 2}"),
        '  {"city": "Paris", "days": 2}\n',
    ],
)
def test_arguments_are_decoded_however_often_they_were_encoded(given_: Any) -> None:
    assert arguments(given_) == (ARGUMENTS, "parsed")


def test_arguments_encoded_four_times_stay_text() -> None:
    text = json.dumps(json.dumps(json.dumps(json.dumps(ARGUMENTS))))
    assert arguments(text) == (text, "raw")


@pytest.mark.parametrize("nothing", [None, "", "  ", "null", "None", '""'])
def test_absent_arguments_are_not_an_empty_object(nothing: Any) -> None:
    assert arguments(nothing) == (None, "absent")
    assert arguments("{}") == ({}, "parsed")


@pytest.mark.parametrize("text", ["N/A", "Paris", "5", "{city: Paris}", "[1, 2", "lookup(x)"])
def test_arguments_that_are_no_json_stay_as_they_are(text: str) -> None:
    assert arguments(text) == (text, "truncated" if text == "[1, 2" else "raw")


@pytest.mark.parametrize("cut", [8, 10, 12, 16, 18, 19])
def test_cut_json_arguments_are_known_as_cut(cut: int) -> None:
    text = '{"city": "Paris", "days": 2}'[:cut]
    assert arguments(text) == (text, "truncated")


@pytest.mark.parametrize(
    "hostile",
    [
        "{'a': __import__('os').getcwd()}",
        "[1] * 10**9",
        "{'a': " + "[" * 5_000 + "]" * 5_000 + "}",
        "{'a': 1e999}",
        "{'a': {1, 2}}",
        "{'a': b'x'}",
        "{(1, 2): 3}",
        "{'a': 1j}",
        "{'a': '" + "x" * 20_000 + "'}",
        "{'\\d': " + "9" * 5_000 + "}",
    ],
)
def test_a_literal_is_never_evaluated_and_never_followed_far(hostile: str) -> None:
    assert arguments(hostile) == (hostile, "raw")


def test_tuples_and_numeric_keys_of_a_repr_become_json() -> None:
    assert arguments("{'at': (1.5, None), 2: True}") == (
        {"at": [1.5, None], "2": True},
        "parsed",
    )


def test_json_that_only_python_writes_is_read() -> None:
    assert decode('{"a": NaN, "b": -Infinity, "c": 1e999, "d": "x\ty"}') == {
        "a": "NaN",
        "b": "-Infinity",
        "c": "1e999",
        "d": "x\ty",
    }


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_kept() -> None:
    assert decode(r'["\ud83d", "\ud83d\ude00", "\\ud83d", "\udc00\ud800"]') == [
        "�",
        "😀",
        "\\ud83d",
        "��",
    ]


def test_large_integers_keep_every_digit() -> None:
    assert decode("[9007199254740993, 123456789012345678901234567890]") == [
        9007199254740993,
        123456789012345678901234567890,
    ]


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("rainy, 57°F", "rainy, 57°F"),
        ('{"sky": "sunny"}', {"sky": "sunny"}),
        ("{'sky': 'sunny'}", {"sky": "sunny"}),
        ('"{\\"sky\\": 1}"', {"sky": 1}),
        ('"plain"', "plain"),
        ("[cut", "[cut"),
        ("18.50", "18.50"),
        ("0012", "0012"),
        ("1E5", "1E5"),
        ("true", True),
        ("null", None),
        ({"a": 1}, {"a": 1}),
        (None, None),
        ("", ""),
    ],
)
def test_a_result_is_json_or_the_text_itself(given_: Any, expected: Any) -> None:
    assert result(given_) == expected


def test_a_flood_of_brackets_is_refused() -> None:
    with pytest.raises(PayloadTooLarge) as caught:
        arguments("[" + "{}," * 60_000 + "{}]")
    assert caught.value.limit == "value_items"


@settings(max_examples=200, deadline=None)
@given(text=st.text(max_size=60) | st.text(alphabet="{}[]\",:\\u d8'1e", max_size=40))
def test_any_text_gives_arguments_and_a_result_that_can_be_kept(text: str) -> None:
    for value in (arguments(text)[0], result(text)):
        json.dumps(value).encode()
        json.dumps(value, ensure_ascii=False).encode()


TEXT = {"type": "text", "content": "hello"}


def messages_of(value: Any, role: str = "user") -> Any:
    """The same from JSON text and from a structured value."""
    structured, cut = read_messages(value, role)
    assert (structured, cut) == read_messages(json.dumps(value), role)
    assert not cut
    return structured


def test_the_standard_form_is_read() -> None:
    assert messages_of(
        [
            {"role": "system", "parts": [TEXT]},
            {"role": "user", "name": "ann", "parts": [TEXT, {"type": "text", "content": "again"}]},
            {
                "role": "assistant",
                "parts": [
                    {"type": "reasoning", "content": "hm"},
                    TEXT,
                    {"type": "tool_call", "id": " call_1", "name": "f", "arguments": {"a": [1]}},
                    {"type": "tool_call", "id": None, "name": "g", "arguments": '{"b": 2}'},
                    {"type": "tool_call", "name": "h"},
                ],
                "finish_reason": "stop",
            },
            {
                "role": "tool",
                "parts": [
                    {"type": "tool_call_response", "id": "call_1", "response": {"ok": True}},
                    {"type": "tool_call_response", "id": "2", "name": "g", "result": "fine"},
                ],
            },
        ]
    ) == (
        Message("system", "hello"),
        Message("user", "hello\nagain", name="ann"),
        Message(
            "assistant",
            "hello",
            calls=(
                ToolCall("f", {"a": [1]}, "call_1"),
                ToolCall("g", {"b": 2}),
                ToolCall("h", None, None, "absent"),
            ),
        ),
        Message(
            "tool",
            results=(ToolResult({"ok": True}, "call_1"), ToolResult("fine", "2", "g")),
        ),
    )


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ({"text": "hello"}, Message("user", "hello")),
        ({"content": "hello"}, Message("user", "hello")),
        ({"type": "text", "text": "hello"}, Message("user", "hello")),
        ({"type": "output_text", "text": "hello"}, Message("user", "hello")),
        ({"type": "thinking", "content": "hm"}, Message("user")),
        ({"type": "redacted_thinking", "content": "hm"}, Message("user")),
        ({"type": "brand_new", "x": {"y": 1}}, Message("user")),
        ({"type": "compaction", "content": "so far"}, Message("user", compacted=True)),
        (
            {"functionCall": {"name": "f", "args": {"a": 1}}},
            Message("user", calls=(ToolCall("f", {"a": 1}),)),
        ),
        (
            {"functionResponse": {"name": "f", "response": {"r": 1}}},
            Message("user", results=(ToolResult({"r": 1}, None, "f"),)),
        ),
        (
            {
                "type": "server_tool_call",
                "id": "s",
                "name": "search",
                "server_tool_call": {"type": "web", "query": "q"},
            },
            Message("user", calls=(ToolCall("search", {"query": "q"}, "s"),)),
        ),
        (
            {"type": "server_tool_call_response", "id": "s", "server_tool_call_response": {"n": 1}},
            Message("user", results=(ToolResult({"n": 1}, "s"),)),
        ),
        (
            {"type": "tool_call_response", "id": "<not specified>", "response": "x"},
            Message("user", results=(ToolResult("x"),)),
        ),
        (
            {"type": "tool_call_response", "id": "c", "response": "no", "is_error": True},
            Message("user", results=(ToolResult("no", "c", is_error=True),)),
        ),
        (
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
            Message("user", calls=(ToolCall("f", {"a": 1}, "t"),)),
        ),
        (
            {"type": "tool_result", "tool_use_id": "t", "content": "fine"},
            Message("user", results=(ToolResult("fine", "t"),)),
        ),
        (7, Message("user")),
        ("hello", Message("user", "hello")),
    ],
)
def test_deviating_parts_are_read(part: Any, expected: Message) -> None:
    assert messages_of([{"role": "user", "parts": [part]}]) == (expected,)


def test_one_message_may_stand_without_a_list() -> None:
    assert messages_of({"role": "assistant", "parts": [TEXT]}) == (Message("assistant", "hello"),)


def test_messages_may_be_wrapped_in_an_object() -> None:
    assert messages_of({"messages": [{"role": "user", "content": "hello"}]}) == (
        Message("user", "hello"),
    )


def test_openai_messages_are_read() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    assert messages_of(
        [
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": '{"r": 2}'},
        ]
    ) == (
        Message("user", "hello"),
        Message("assistant", calls=(ToolCall("f", {"a": 1}, "c1"),)),
        Message("tool", results=(ToolResult({"r": 2}, "c1"),)),
    )


def test_a_message_without_a_role_takes_the_sides_role() -> None:
    assert read_messages([{"parts": [TEXT]}], "assistant") == (
        (Message("assistant", "hello"),),
        False,
    )


@pytest.mark.parametrize("cut", [1, 20, 45, 60])
def test_cut_messages_are_unknown_and_known_as_cut(cut: int) -> None:
    text = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "hello there"}]}])
    assert read_messages(text[:cut], "user") == (None, True)


def test_cut_arguments_inside_whole_messages_are_the_models_own() -> None:
    part = {"type": "tool_call", "id": "c", "name": "f", "arguments": '{"a": 1, "b'}
    assert messages_of([{"role": "assistant", "parts": [part]}]) == (
        Message("assistant", calls=(ToolCall("f", '{"a": 1, "b', "c", "truncated"),)),
    )


@pytest.mark.parametrize("nothing", [None, 5, True, "{}x", "[1]x"])
def test_what_holds_no_messages_is_unknown(nothing: Any) -> None:
    assert read_messages(nothing, "user") == (None, False)


def test_an_empty_list_of_messages_is_known_to_be_empty() -> None:
    assert read_messages("[]", "user") == ((), False)
    assert read_messages([], "user") == ((), False)


def test_media_become_digests() -> None:
    image = {"type": "blob", "modality": "image", "mime_type": "image/png", "content": "aGVsbG8="}
    # The digest of the five bytes of "hello".
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert messages_of([{"role": "user", "parts": [TEXT, image]}]) == (
        Message("user", "hello", media=(f"image:image/png:{digest}:5",)),
    )


def test_a_medium_that_only_points_elsewhere_has_no_size() -> None:
    part = {"type": "uri", "modality": "image", "mime_type": None, "uri": "hello"}
    digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    assert media_digest(part) == f"image::{digest}:"


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.mark.parametrize(
    "definition",
    [
        {"type": "function", "name": "f", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": SCHEMA}},
        {"name": "f", "description": "d", "inputSchema": {"json": SCHEMA}},
        {"name": " f ", "description": "d", "input_schema": SCHEMA},
        {"name": "f", "description": "d", "parameters": json.dumps(SCHEMA)},
    ],
)
def test_tool_definitions_are_read_in_every_shape(definition: Any) -> None:
    expected = (ToolDefinition("f", parameters=SCHEMA, description="d"),)
    assert read_definitions([definition]) == expected
    assert read_definitions(json.dumps([definition])) == expected


@pytest.mark.parametrize("nothing", [None, "cut [", 5, "7"])
def test_definitions_that_cannot_be_read_are_unknown(nothing: Any) -> None:
    assert read_definitions(nothing) is None


def test_a_definition_without_a_schema_leaves_it_unknown() -> None:
    assert read_definitions([{"name": "f"}, {"type": "x"}, 3]) == (ToolDefinition("f"),)


@pytest.mark.parametrize(
    "given_",
    [
        "be kind\nand brief",
        '[{"type": "text", "content": "be kind"}, {"type": "text", "content": "and brief"}]',
        [{"type": "text", "content": "be kind"}, {"text": "and brief"}],
        '["be kind", "and brief"]',
        {"content": "be kind\nand brief"},
    ],
)
def test_instructions_are_the_joined_text(given_: Any) -> None:
    assert read_instructions(given_) == "be kind\nand brief"


@pytest.mark.parametrize("nothing", [None, "", []])
def test_no_instructions_are_unknown(nothing: Any) -> None:
    assert read_instructions(nothing) is None
