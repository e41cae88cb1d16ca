"""OTLP exports as the rows that a Langfuse server derives from them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

KINDS = {
    "chat": "GENERATION",
    "generate_content": "GENERATION",
    "text_completion": "GENERATION",
    "execute_tool": "TOOL",
    "invoke_agent": "AGENT",
    "embeddings": "EMBEDDING",
    "LLM": "GENERATION",
    **{name: name for name in ("TOOL", "AGENT", "CHAIN", "RETRIEVER", "EMBEDDING", "GUARDRAIL")},
}
INPUTS = (
    *("langfuse.observation.input", "traceloop.entity.input", "input.value", "tool_arguments"),
    *("gen_ai.input.messages", "gen_ai.tool.call.arguments"),
)
OUTPUTS = (
    *("langfuse.observation.output", "traceloop.entity.output", "output.value", "tool_response"),
    *("gen_ai.output.messages", "gen_ai.tool.call.result"),
)
SESSIONS = ("langfuse.session.id", "session.id", "gen_ai.conversation.id")
MODELS = (
    *("langfuse.observation.model.name", "gen_ai.response.model", "gen_ai.request.model"),
    "llm.model_name",
)
USAGE = {
    "gen_ai.usage.input_tokens": "input",
    "gen_ai.usage.output_tokens": "output",
    "gen_ai.usage.prompt_tokens": "input",
    "gen_ai.usage.completion_tokens": "output",
    "llm.token_count.prompt": "input",
    "llm.token_count.completion": "output",
}


def derived_rows(export: dict[str, Any], *, keeps: bool) -> Iterator[dict[str, Any]]:
    """One row for each span; `keeps` whether what became a field stays among the attributes."""
    for group in export["resourceSpans"]:
        resource = attributes_of(group.get("resource", {}))
        for scoped in group["scopeSpans"]:
            for span in scoped["spans"]:
                name = scoped.get("scope", {}).get("name", "")
                yield _row(span, resource, name, keeps)


def attributes_of(record: dict[str, Any]) -> dict[str, Any]:
    return {pair["key"]: _value(pair.get("value")) for pair in record.get("attributes", ())}


def _value(value: dict[str, Any] | None) -> Any:
    if not value:
        return None
    kind, inner = next(iter(value.items()))
    if kind == "arrayValue":
        return [_value(item) for item in inner.get("values", ())]
    if kind == "kvlistValue":
        return {pair["key"]: _value(pair.get("value")) for pair in inner.get("values", ())}
    return int(inner) if kind == "intValue" else inner


def _row(span: dict[str, Any], resource: Any, scope: str, keeps: bool) -> dict[str, Any]:
    told = attributes_of(span)
    given, said = (_first(told, names) for names in (INPUTS, OUTPUTS))
    fields = {name for name in (given, said) if name and not keeps}
    left = {
        name: _text(value)
        for name, value in told.items()
        if name not in fields and not name.startswith("langfuse.")
    }
    session, model = _first(told, SESSIONS), _first(told, MODELS)
    return {
        "id": span["spanId"].lower(),
        "traceId": span["traceId"].lower(),
        "parentObservationId": span.get("parentSpanId", "").lower() or None,
        "type": _type(told),
        "name": span.get("name"),
        "startTime": _iso(span.get("startTimeUnixNano")),
        "endTime": _iso(span.get("endTimeUnixNano")),
        "input": _text(told[given]) if given else _from_events(span)[0],
        "output": _text(told[said]) if said else _from_events(span)[1],
        "level": "ERROR" if span.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR") else "",
        "sessionId": told[session] if session else None,
        "providedModelName": told[model] if model else None,
        "usageDetails": _usage(told),
        "metadata": {
            "attributes": json.dumps(left),
            "resourceAttributes": json.dumps(resource),
            "scope": json.dumps({"name": scope}),
        },
    }


def _usage(told: dict[str, Any]) -> dict[str, Any]:
    named = told.get("langfuse.observation.usage_details")
    if named:
        details = json.loads(named)
        names = {"prompt_tokens": "input", "completion_tokens": "output"}
        return {names.get(key, key): value for key, value in details.items()}
    return {key: told[name] for name, key in USAGE.items() if name in told}


def _type(told: dict[str, Any]) -> str:
    named = told.get("langfuse.observation.type")
    if named:
        return str(named).upper()
    kind = told.get("openinference.span.kind") or told.get("gen_ai.operation.name")
    if kind in KINDS:
        return KINDS[kind]
    return (
        "TOOL" if "gen_ai.tool.name" in told else "GENERATION" if _first(told, MODELS) else "SPAN"
    )


def _from_events(span: dict[str, Any]) -> tuple[str | None, str | None]:
    events = [(event.get("name", ""), attributes_of(event)) for event in span.get("events", ())]
    asked = [
        {"role": name.split(".")[1], **told}
        for name, told in events
        if name.startswith("gen_ai.") and name.endswith(".message")
    ]
    said = [told for name, told in events if name == "gen_ai.choice"]
    answer = said[0] if len(said) == 1 else said
    return json.dumps(asked) if asked else None, json.dumps(answer) if said else None


def _first(told: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in told), None)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _iso(nanoseconds: Any) -> str | None:
    moment = int(nanoseconds or 0)
    if not moment:
        return None
    second = datetime.fromtimestamp(moment // 10**9, UTC)
    return f"{second:%Y-%m-%dT%H:%M:%S}.{moment // 1000 % 10**6:06d}Z"
