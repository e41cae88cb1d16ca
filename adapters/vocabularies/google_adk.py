"""Google's Agent Development Kit: request and response of a model as one JSON each.

`call_llm` carries them; the `generate_content` span inside it is the same call in the GenAI
conventions, without content. With content off every value is `{}`, which means nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.shapes.payload import Given, Said, opened, read_given, read_said
from adapters.vocabularies import genai
from adapters.vocabularies.kept import told_other, told_run, told_tool
from monitor.model import AgentSpan, JsonValue

SCOPE: Final = "gcp.vertex.agent"
REQUEST: Final = "gcp.vertex.agent.llm_request"
RESPONSE: Final = "gcp.vertex.agent.llm_response"
ARGUMENTS: Final = "gcp.vertex.agent.tool_call_args"
ANSWER: Final = "gcp.vertex.agent.tool_response"
MERGED: Final = "(merged tools)"
ROOT: Final = "invocation"
_NOTHING: Final = "{}"
_NOT_SPECIFIED: Final = "<not specified>"


class GoogleAdk:
    """The vocabulary `google_adk`."""

    name = "google_adk"
    marks = frozenset({REQUEST, RESPONSE, ARGUMENTS, ANSWER})
    scopes = frozenset({SCOPE})
    keys = marks | genai.GenAi.keys

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans of the kit that speak the GenAI conventions alone."""
        if attributes.get(genai.TOOL_NAME) == MERGED:
            # Each of the merged calls has a span of its own.
            return told_other(span, self.name)
        if ARGUMENTS in attributes or ANSWER in attributes:
            return self._tool(attributes, span)
        if REQUEST not in attributes and RESPONSE not in attributes:
            # The root has no attributes: the kit's scope and the name are all there is.
            is_root = span.name == ROOT and genai.OPERATION not in attributes
            return told_run(span, "agent", self.name, Given(), Said()) if is_root else None
        return told_run(
            span,
            "model",
            self.name,
            read_given(_content(attributes, REQUEST)),
            read_said(_content(attributes, RESPONSE)),
            agent=genai.text_or_none(attributes.get(genai.AGENT)),
            model=genai.text_or_none(attributes.get(genai.RESPONSE_MODEL)),
            usage=genai.usage_of(attributes),
        )

    def _tool(self, attributes: Mapping[str, JsonValue], span: AgentSpan) -> AgentSpan:
        answer = _content(attributes, ANSWER)
        # A tool that answers has an object at least: without one, content was off for both.
        arguments = attributes.get(ARGUMENTS)
        if answer is None and arguments == _NOTHING:
            arguments = None
        given, _ = opened(answer)
        if isinstance(given, dict) and given == {"result": _NOT_SPECIFIED}:
            answer = None
        return told_tool(
            span,
            self.name,
            genai.text_or_none(attributes.get(genai.TOOL_NAME)) or span.name,
            arguments,
            answer,
            has_result=answer is not None,
            id_=attributes.get(genai.CALL_ID),
            agent=genai.text_or_none(attributes.get(genai.AGENT)),
        )


def _content(attributes: Mapping[str, JsonValue], key: str) -> JsonValue:
    value = attributes.get(key)
    return None if value == _NOTHING or value == {} else value
