"""MLflow's tracing: every attribute is JSON, so even a plain text has quotes around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.shapes.langchain import usage_of
from adapters.shapes.payload import Given, Said, read_given, read_said
from adapters.vocabularies.genai import text_or_none
from adapters.vocabularies.kept import plain, told_other, told_run, told_tool
from monitor.model import AgentSpan, JsonValue, SpanKind

TYPE: Final = "mlflow.spanType"
INPUTS: Final = "mlflow.spanInputs"
OUTPUTS: Final = "mlflow.spanOutputs"
FUNCTION: Final = "mlflow.spanFunctionName"
TOOLS: Final = "mlflow.chat.tools"
USAGE: Final = "mlflow.chat.tokenUsage"
MODEL: Final = "mlflow.llm.model"
CALL_ID: Final = "tool_call_id"

_KINDS: Final[dict[str, SpanKind]] = {
    "LLM": "model",
    "CHAT_MODEL": "model",
    "AGENT": "agent",
    "TOOL": "tool",
}


class MLflow:
    """The vocabulary `mlflow`."""

    name = "mlflow"
    keys = frozenset({TYPE, INPUTS, OUTPUTS, FUNCTION, TOOLS, USAGE, MODEL, CALL_ID})
    marks = frozenset({TYPE, INPUTS, OUTPUTS})
    scopes: frozenset[str] = frozenset()

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans without any of its own names."""
        if self.marks.isdisjoint(attributes):
            return None
        kind = _KINDS.get(str(plain(attributes.get(TYPE))), "other")
        given, said = plain(attributes.get(INPUTS)), plain(attributes.get(OUTPUTS))
        if kind == "tool":
            return told_tool(
                span,
                self.name,
                _tool_name(attributes, span),
                given,
                said,
                has_result=OUTPUTS in attributes,
                id_=plain(attributes.get(CALL_ID)),
            )
        if kind == "other" and span.parent_id is not None:
            return told_other(span, self.name)
        return told_run(
            span,
            kind,
            self.name,
            read_given(given) if given is not None else Given(),
            read_said(said, structured=kind != "other") if said is not None else Said(),
            agent=span.name or None if kind == "agent" else None,
            model=text_or_none(plain(attributes.get(MODEL))),
            definitions=plain(attributes.get(TOOLS)),
            usage=usage_of(plain(attributes.get(USAGE))),
        )


def _tool_name(attributes: Mapping[str, JsonValue], span: AgentSpan) -> str:
    """The span's name, which the library numbers when a trace has several of it."""
    name, _, number = span.name.rpartition("_")
    known = text_or_none(plain(attributes.get(FUNCTION)))
    if known is not None and name == known and number.isdecimal():
        return known
    return span.name
