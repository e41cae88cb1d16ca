"""Formats of one's own: paths, mappings, and what is said about a bad one."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from document_decoder_conformance import conversations_of
from hypothesis import given
from hypothesis import strategies as st

from adapters.frameworks.generic import GenericDecoder
from adapters.frameworks.paths import Path
from monitor.errors import ConfigurationError
from monitor.model import ActionTurn, ResponseTurn, ToolCall

DOCUMENT = {"a": {"b": [{"c": 1}, {"c": 2}, {"d": 3}], "x y": {"*": 4}}, "n": None}
MAPPING: dict[str, Any] = {
    "records": "$.export.chats[*]",
    "session_id": "meta.chat",
    "turn_id": "meta.no",
    "messages": {
        "path": "$.log[*]",
        "role_field": "who.kind",
        "content_field": "body[0].text",
        "timestamp_field": "at",
    },
    "tool_calls": {
        "path": "actions[*]",
        "name_field": "tool",
        "arguments_field": "params",
        "result_field": "out",
        "error_field": "err",
        "timestamp_field": "at",
        "execution_time_field": "took",
    },
    "metadata": {"model": "meta.engine", "input_tokens": "use.in", "release": "meta['rel']"},
    "roles": {"Kunde": "user", "Berater": "assistant"},
}
CHAT: dict[str, Any] = {
    "meta": {"chat": "c-1", "no": 1, "engine": "m-1", "rel": "1.2"},
    "use": {"in": 9},
    "log": [
        {"who": {"kind": "kunde"}, "body": [{"text": "Wo ist meine Bestellung?"}], "at": 1000},
        {"who": {"kind": "berater"}, "body": [{"text": "Unterwegs."}], "at": 1004},
    ],
    "actions": [
        {"tool": "find", "params": '{"id": 7}', "out": None, "at": 1001, "took": 0.5},
        {"tool": "find", "params": {"id": 8}, "err": "no such order", "at": 1002},
        {"tool": "now", "at": 1003},
        {"tool": ""},
    ],
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$", [DOCUMENT]),
        ("$.a.b[0].c", [1]),
        ("a.b[-1].d", [3]),
        ("$.a.b[*].c", [1, 2]),
        ("$['a']['x y'][\"*\"]", [4]),
        ("a.b.*.c", [1, 2]),
        ("$.a.*[*].c", [1, 2]),
        ("n", [None]),
        ("missing", []),
        ("a.b.c", []),
        ("a.b[7]", []),
        ("n.deeper[*]", []),
    ],
)
def test_a_path_leads_to(path: str, found: list[Any]) -> None:
    assert Path(path, "test").all(DOCUMENT) == found


@pytest.mark.parametrize(
    "path",
    ["", "  ", "$..a", "a[", "a]", "a[x]", "$.a[?(@.b)]", "a[0:2]", "a b", None, 7, "a" * 501],
)
def test_a_bad_path_is_the_operators_to_mend(path: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"messages\.path"):
        Path(path, "messages.path")


@given(path=st.text(max_size=20))
def test_any_path_is_compiled_or_refused(path: str) -> None:
    with contextlib.suppress(ConfigurationError):
        Path(path, "test").all(DOCUMENT)


def test_a_wildcard_path_has_an_end() -> None:
    wide: Any = [0] * 400
    for _ in range(2):
        wide = [wide] * 400
    assert len(Path("$[*][*][*]", "test").all(wide)) == 100_000


def test_a_mapping_reads_a_format_of_ones_own() -> None:
    document = {"export": {"chats": [CHAT]}}
    decoded = GenericDecoder(mapping=MAPPING).decode(
        json.dumps(document).encode(), "application/json"
    )
    assert decoded.rejections == []
    [conversation] = conversations_of(decoded.spans)
    assert conversation.conversation_id == "c-1"
    assert conversation.queries == ("Wo ist meine Bestellung?",)
    assert conversation.release == "1.2@m-1"
    assert conversation.usage is not None
    assert conversation.usage.input_tokens == 9
    first, second, third, reply = conversation.turns
    assert isinstance(first, ActionTurn)
    assert isinstance(second, ActionTurn)
    assert isinstance(third, ActionTurn)
    assert isinstance(reply, ResponseTurn)
    assert (first.call.arguments, first.result, first.has_result) == ({"id": 7}, None, True)
    assert (first.start_ns, first.end_ns) == (1_001_000_000_000, 1_001_500_000_000)
    assert (second.result, second.error_type) == ("no such order", "error")
    assert third.call == ToolCall("now", None, None, "absent")
    assert not third.has_result
    assert reply.text == "Unterwegs."


def test_turns_of_one_conversation_may_come_in_records_of_their_own() -> None:
    later = {**CHAT, "meta": {**CHAT["meta"], "no": 2}}
    document = {"export": {"chats": [later, CHAT]}}
    decoded = GenericDecoder(mapping=MAPPING).decode(
        json.dumps(document).encode(), "application/json"
    )
    [conversation] = conversations_of(decoded.spans)
    assert len(conversation.queries) == 2


def test_a_query_and_a_reply_alone_are_a_conversation() -> None:
    decoder = GenericDecoder(mapping={"query": "q", "reply": "$.a.text"})
    decoded = decoder.decode(b'{"q": "Why?", "a": {"text": "Because."}}', "application/json")
    [conversation] = conversations_of(decoded.spans)
    assert conversation.queries == ("Why?",)
    [reply] = conversation.turns
    assert isinstance(reply, ResponseTurn)
    assert reply.text == "Because."


@pytest.mark.parametrize(
    ("mapping", "named"),
    [
        ({}, "messages.path"),
        ({"messages": {}}, "messages.path"),
        ({"messages": {"role_field": "r"}}, "messages.path is missing"),
        ({"messages": {"path": "$..m"}}, "messages.path"),
        ({"messages": {"path": "m", "rolefield": "r"}}, "rolefield"),
        ({"messages": {"path": "m", "role_field": "a["}}, "messages.role_field"),
        ({"messages": "m"}, "messages must be a table"),
        ({"messages": {"path": "m"}, "tool_call": {}}, "tool_call"),
        ({"messages": {"path": "m"}, "tool_calls": {"name_field": "n"}}, "tool_calls.path"),
        ({"messages": {"path": "m"}, "metadata": {"colour": "c"}}, "colour"),
        ({"messages": {"path": "m"}, "metadata": {"model": 7}}, "metadata.model"),
        ({"messages": {"path": "m"}, "roles": {"bot": "machine"}}, "roles.bot"),
        ({"messages": {"path": "m"}, "roles": {"bot": ["user"]}}, "roles.bot"),
        ({"messages": {"path": "m"}, "session_id": []}, "session_id"),
        ("text", "table"),
    ],
)
def test_a_bad_mapping_is_the_operators_to_mend(mapping: Any, named: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        GenericDecoder(mapping=mapping)
    assert named in str(caught.value)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["messages", "path", "role_field", "roles", "metadata", "query", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(mapping=ANY, document=ANY)
def test_any_mapping_works_or_is_refused(mapping: Any, document: Any) -> None:
    try:
        decoder = GenericDecoder(mapping=mapping)
    except ConfigurationError:
        return
    decoder.decode(json.dumps(document).encode(), "application/json")
