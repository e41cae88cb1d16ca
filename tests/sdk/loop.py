"""A tool loop written by hand over the OpenAI client, for SDKs that trace model calls only."""

from __future__ import annotations

import json
from typing import Any

from shared import QUERIES, TOOL_SCHEMAS, TOOLS


def exchange(client: Any, messages: list[dict[str, Any]], query: str, **options: Any) -> None:
    """Ask, run the tools that the model wants, and ask again until it replies."""
    messages.append({"role": "user", "content": query})
    while True:
        answer = client.chat.completions.create(
            model="gpt-4o-mini", messages=messages, tools=TOOL_SCHEMAS, **options
        )
        message = answer.choices[0].message
        if not message.tool_calls:
            messages.append({"role": "assistant", "content": message.content})
            return
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = TOOLS[call.function.name](**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})


def talk(client: Any) -> None:
    """The whole conversation, its history carried along."""
    messages: list[dict[str, Any]] = []
    for query in QUERIES:
        exchange(client, messages, query)
