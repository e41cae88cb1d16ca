"""LangSmith's OpenTelemetry export: a run's inputs and outputs as `gen_ai.prompt`, `.completion`.

`langsmith.span.kind` is the run's type. The operation names a prompt template a chat and a
retriever an embedding, so it is not asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from adapters.shapes.payload import Given, Said, read_given, read_said
from adapters.vocabularies import genai
from adapters.vocabularies.kept import model_of, plain, told_other, told_run, told_tool
from monitor.model import AgentSpan, JsonValue

KIND: Final = "langsmith.span.kind"
NAME: Final = "langsmith.trace.name"
INPUTS: Final = "gen_ai.prompt"
OUTPUTS: Final = "gen_ai.completion"
MODEL: Final = "langsmith.metadata.ls_model_name"


class LangSmith:
    """The vocabulary `langsmith`."""

    name = "langsmith"
    keys = frozenset({KIND, NAME, INPUTS, OUTPUTS, MODEL}) | genai.GenAi.keys
    marks = frozenset({KIND})
    scopes: frozenset[str] = frozenset()

    def read(
        self,
        attributes: Mapping[str, JsonValue],
        events: Sequence[tuple[str, Mapping[str, JsonValue]]],
        span: AgentSpan,
    ) -> AgentSpan | None:
        """None for spans without a LangSmith run type."""
        kind = attributes.get(KIND)
        if kind is None:
            return None
        # A run that failed or waits has no outputs, and they are written all the same.
        given, said = attributes.get(INPUTS), attributes.get(OUTPUTS)
        said = None if said == "{}" else said
        if kind == "tool":
            return told_tool(
                span,
                self.name,
                genai.text_or_none(attributes.get(genai.TOOL_NAME))
                or genai.text_or_none(attributes.get(NAME))
                or span.name,
                given,
                _unwrapped(said),
                has_result=said is not None,
                id_=attributes.get(genai.CALL_ID),
            )
        if kind != "llm" and span.parent_id is not None:
            return told_other(span, self.name)
        is_model = kind == "llm"
        answered = read_said(said, structured=is_model) if said is not None else Said()
        return told_run(
            span,
            "model" if is_model else "other",
            self.name,
            read_given(given) if given is not None else Given(),
            answered,
            model=answered.model
            or model_of(attributes)
            or genai.text_or_none(attributes.get(MODEL)),
            definitions=attributes.get(genai.DEFINITIONS),
            usage=genai.usage_of(attributes),
        )


def _unwrapped(said: JsonValue) -> JsonValue:
    """What a tool answered: a run's outputs hold it under `output` alone unless it is an object."""
    opened = plain(said)
    return opened["output"] if isinstance(opened, dict) and opened.keys() == {"output"} else said
