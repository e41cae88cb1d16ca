"""LangChain's agent results: messages, actions with their observations, inputs and outputs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from adapters.frameworks import langchain_runs
from adapters.frameworks.documents import (
    DocumentDecoder,
    UnreadableDocument,
    conversation_id,
    document_key,
    list_in,
    object_in,
    text_or_none,
)
from adapters.frameworks.listed_calls import with_listed_calls
from adapters.frameworks.transcript import Step, Transcript
from adapters.shapes import content, langchain
from adapters.shapes.parts import call_id, first, tool_call
from monitor.model import AgentSpan, JsonValue, Message, ToolCall, ToolResult

_INPUT_KEYS: Final = ("input", "question", "query", "human_input")
_OUTPUT_KEYS: Final = ("output", "answer", "text", "result", "response")
_HISTORY_KEYS: Final = ("chat_history", "history")
_SAID: Final = ("messages", *_HISTORY_KEYS)


class LangChainDecoder(DocumentDecoder):
    """The result of an agent's run, a list of such results, or a tracer's `runs`."""

    name = "langchain"

    def records(self, document: JsonValue) -> Iterable[Any]:
        """A list holds one record per run, or the messages of one conversation."""
        if langchain.is_conversation(document):
            return ({"messages": document},)
        return document if isinstance(document, list) else (document,)

    def spans(self, record: Any) -> Iterable[AgentSpan]:
        """A tracer's runs are spans already; anything else is told as a transcript."""
        if isinstance(record, Mapping) and isinstance(record.get("runs"), list):
            return langchain_runs.spans_of_runs(record, self.name)
        return super().spans(record)

    def transcript(self, record: Any) -> Transcript:
        """See DocumentDecoder."""
        if not isinstance(record, Mapping):
            raise UnreadableDocument("neither an object nor a list of objects")
        steps = with_listed_calls(list(_messages(record)), list(_ran(record)))
        if not steps:
            raise UnreadableDocument("no `messages`, `inputs`, `outputs` or `intermediate_steps`")
        metadata = object_in(record, "metadata")
        keys = ("session_id", "thread_id", "conversation_id")
        output = object_in(record, "llm_output")
        return Transcript(
            source=self.name,
            key=text_or_none(first(record, ("run_id", "trace_id"))) or document_key(record),
            steps=tuple(steps),
            conversation_id=conversation_id(
                *(found.get(key) for found in (record, metadata) for key in keys)
            ),
            model=text_or_none(first(output, ("model_name", "model"))),
            usage=langchain.usage_of(first(output, ("token_usage", "usage"))),
        )


def _messages(record: Mapping[str, Any]) -> Iterator[Step]:
    """What was said, whichever of the fields tells it."""
    inputs, outputs = record.get("inputs"), record.get("outputs")
    said = record.get("messages")
    if isinstance(said, list) and said:
        yield from _steps(said)
        return
    yield from _fields(record if inputs is None else inputs, "user", _INPUT_KEYS, _SAID)
    yield from _fields(record if outputs is None else outputs, "assistant", _OUTPUT_KEYS, _SAID[:1])


def _fields(
    source: JsonValue, role: str, keys: tuple[str, ...], lists: tuple[str, ...]
) -> Iterator[Step]:
    if isinstance(source, str):
        yield Step(message=Message(role, source))
    if not isinstance(source, Mapping):
        return
    for key in lists:
        yield from _steps(source.get(key))
    given = first(source, keys)
    if isinstance(given, str):
        yield Step(message=Message(role, given))
    else:
        yield from _steps(given if isinstance(given, list) else [given])


def _steps(messages: JsonValue) -> Iterator[Step]:
    for item in messages if isinstance(messages, list) else ():
        if (
            not isinstance(item, Mapping | list)
            or (message := langchain.read_message(item)) is None
        ):
            continue
        told = langchain.told(item)
        yield Step(message=message, model=told.model, usage=told.usage)


def _ran(record: Mapping[str, Any]) -> Iterator[Step]:
    """The actions that an executor kept, with what was observed where it says so."""
    outputs = object_in(record, "outputs")
    pairs = list_in(record, "intermediate_steps") or list_in(outputs, "intermediate_steps")
    for pair in pairs:
        if isinstance(pair, Mapping):
            pair = [pair.get("action"), pair.get("observation")]
        if isinstance(pair, list) and len(pair) == 2 and (call := _call(pair[0])) is not None:
            result = ToolResult(content.result(pair[1]), call.call_id, call.name)
            yield Step(message=Message("tool", None, (call,), (result,)))
    for action in () if pairs else list_in(record, "actions"):
        if (call := _call(action)) is not None:
            yield Step(message=Message("tool", None, (call,)))


def _call(action: JsonValue) -> ToolCall | None:
    fields = action.get("kwargs", action) if isinstance(action, Mapping) else None
    name = fields.get("tool") if isinstance(fields, Mapping) else None
    if not isinstance(fields, Mapping) or not isinstance(name, str) or not name:
        return None
    return tool_call(name, fields.get("tool_input"), call_id(fields.get("tool_call_id")))
