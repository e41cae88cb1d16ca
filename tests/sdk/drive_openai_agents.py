"""The OpenAI Agents SDK under OpenInference, one conversation over three runs."""

from __future__ import annotations

import asyncio
import os

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    function_tool,
    set_trace_processors,
)
from openai import AsyncOpenAI
from openinference.instrumentation import using_session
from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from shared import QUERIES, convert_temp, get_weather

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
set_trace_processors([])
OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
client = AsyncOpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
agent = Agent(
    name="weather",
    model=OpenAIChatCompletionsModel("gpt-4o-mini", client),
    tools=[function_tool(get_weather), function_tool(convert_temp)],
)


async def talk() -> None:
    history = []
    for query in QUERIES:
        with using_session("openai-agents-session"):
            result = await Runner.run(agent, [*history, {"role": "user", "content": query}])
        history = result.to_input_list()


asyncio.run(talk())
provider.shutdown()
