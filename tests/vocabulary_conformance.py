"""What every vocabulary keeps to; a vocabulary inherits the class and names itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from monitor.codec import encode_spans
from monitor.errors import PayloadTooLarge
from monitor.model import AgentSpan
from monitor.ports import Vocabulary

SHARED = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.differing_executors]
)
Events = Sequence[tuple[str, Mapping[str, Any]]]
TEXTS = (
    *("", " ", "hello", "null", "None", "{}", "[]", "{", '{"a": 1', "__REDACTED__", "chat", "LLM"),
    *("execute_tool", "invoke_agent", "TOOL", "AGENT", "CHAIN", "tool", "workflow", "agent"),
    *('{"messages": [{"role": "user", "content": "hi"}]}', "{'city': 'Paris'}", '"text"'),
    *('[{"role": "assistant", "parts": [{"type": "text", "content": "hi"}]}]', "user", "assistant"),
    *('{"args": [], "kwargs": {"a": 1}}', '{"input": "x", "output": null}', "content='x'"),
)
TAILS = (
    *("0", "1", "10", "0.role", "0.content", "1.role", "1.content", "0.message.role", "x.y", ""),
    *("0.message.content", "0.message.content.0", "0.message.contents.0.message_content.type"),
    *("0.message.contents.0.message_content.text", "0.message.tool_call_id", "0.text"),
    *("0.message.tool_calls.0.tool_call.function.name", "0.tool_calls.0.name", "0.name"),
    *("0.message.tool_calls.0.tool_call.function.arguments", "0.tool_calls.0.arguments"),
    *("0.tool.json_schema", "0.prompt.text", "0.completion.text", "0.parameters", "0.tool_call_id"),
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(TEXTS)
    | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["role", "content", "parts", "type", "text", "id", "name", "messages", "kwargs"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


class Watched(dict[str, Any]):
    """Attributes that remember for which names they were asked."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.asked: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.asked.add(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.asked.add(str(key))
        return super().__contains__(key)

    def _looked_up(self, key: str, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    get = _looked_up


class VocabularyConformance:
    """The promises of port Vocabulary."""

    event_names: ClassVar[tuple[str, ...]] = ("exception",)
    """Events that it may look at."""
    scopes: ClassVar[tuple[str, ...]] = ("", "shop")
    """Scopes that it may look at."""

    def vocabulary(self) -> Vocabulary:
        raise NotImplementedError

    def _names(self) -> list[str]:
        names = []
        for key in sorted(self.vocabulary().keys):
            names += [key + tail for tail in TAILS] if key.endswith(".") else [key]
        return names

    def _attributes(self) -> st.SearchStrategy[dict[str, Any]]:
        names = st.sampled_from(self._names() or ["unknown"])
        return st.dictionaries(names | st.just("unknown"), VALUES, max_size=8)

    def _spans(self) -> st.SearchStrategy[tuple[dict[str, Any], Events, AgentSpan]]:
        events = st.tuples(st.sampled_from([*self.event_names, "other"]), self._attributes())
        return st.tuples(
            self._attributes(),
            st.lists(events, max_size=3),
            st.builds(
                AgentSpan,
                st.just("0" * 31 + "1"),
                st.just("0" * 15 + "2"),
                st.just("other"),
                st.sampled_from(["", "chat", "handoff to b", "execute_tool a", "a.tool"]),
                scope=st.sampled_from(self.scopes),
                user_id=st.just("u-1"),
                service=st.just("eu/shop"),
            ),
        )

    def _read(
        self, attributes: Mapping[str, Any], events: Events, span: AgentSpan
    ) -> AgentSpan | None:
        """What the vocabulary reads; None also where the content is beyond a limit."""
        try:
            return self.vocabulary().read(attributes, events, span)
        except PayloadTooLarge:
            return None

    @SHARED
    @given(data=st.data())
    def test_arbitrary_values_give_a_span_that_can_be_kept(self, data: st.DataObject) -> None:
        attributes, events, span = data.draw(self._spans())
        found = self._read(attributes, events, span)
        if found is not None:
            encode_spans([found])
            assert (found.trace_id, found.span_id) == (span.trace_id, span.span_id)
            assert found.vocabulary
            assert (found.user_id, found.service) == (span.user_id, span.service)
            hash((found.kind, found.agent, found.model, found.conversation_id))

    @SHARED
    @given(data=st.data())
    def test_the_order_of_the_names_makes_no_difference(self, data: st.DataObject) -> None:
        attributes, events, span = data.draw(self._spans())
        backwards = dict(reversed(list(attributes.items())))
        turned = [(name, dict(reversed(list(fields.items())))) for name, fields in events]
        assert self._read(backwards, turned, span) == self._read(attributes, events, span)
        assert self._read(attributes, events, span) == self._read(attributes, events, span)

    @SHARED
    @given(data=st.data())
    def test_nothing_is_read_but_what_is_declared(self, data: st.DataObject) -> None:
        attributes, events, span = data.draw(self._spans())
        watched = Watched(attributes)
        fields = [(name, Watched(told)) for name, told in events]
        self._read(watched, fields, span)
        keys = self.vocabulary().keys
        prefixes = tuple(key for key in keys if key.endswith("."))
        asked = watched.asked.union(*[told.asked for _, told in fields])
        assert {key for key in asked if key not in keys and not key.startswith(prefixes)} == set()

    @SHARED
    @given(data=st.data())
    def test_what_is_not_told_stays_unknown(self, data: st.DataObject) -> None:
        attributes, events, span = data.draw(self._spans())
        found = self._read(attributes, events, span)
        if found is None:
            return
        for name in ("agent", "model", "conversation_id", "error_type"):
            assert getattr(found, name) is None or getattr(found, name).strip()
        for name in ("messages_in", "messages_out", "tool_definitions"):
            told = getattr(found, name)
            assert told is None or isinstance(told, tuple)
        if found.call is not None:
            assert (found.call.arguments is None) or found.call.arguments_state != "absent"
        if not found.has_result:
            assert found.result is None

    def test_a_span_without_attributes_tells_nothing(self) -> None:
        span = AgentSpan("0" * 31 + "1", "0" * 15 + "2", "other")
        found = self._read({}, (), span)
        assert found is None or list(_told(found, span)) in ([], ["vocabulary"])


def _told(found: AgentSpan, span: AgentSpan) -> Iterator[str]:
    for name in span.__struct_fields__:
        if getattr(found, name) != getattr(span, name):
            yield name
