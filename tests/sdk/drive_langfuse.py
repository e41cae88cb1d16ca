"""Langfuse's SDK with its host pointed at the monitor, over the wrapped OpenAI client."""

from __future__ import annotations

import os

os.environ |= {
    "LANGFUSE_HOST": os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    "LANGFUSE_BASE_URL": os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"],
    "LANGFUSE_PUBLIC_KEY": "pk-lf-test",
    "LANGFUSE_SECRET_KEY": "sk-lf-test",
}

from langfuse import get_client, observe, propagate_attributes
from langfuse.openai import OpenAI
from loop import exchange
from shared import QUERIES, TOOLS

client = OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
for name, function in list(TOOLS.items()):
    TOOLS[name] = observe(name=name, as_type="tool")(function)
messages: list = []


@observe(name="weather", as_type="agent")
def answer(query: str) -> str:
    exchange(client, messages, query)
    return messages[-1]["content"]


for query in QUERIES:
    with propagate_attributes(session_id="langfuse-session"):
        answer(query)
get_client().flush()
get_client().shutdown()
