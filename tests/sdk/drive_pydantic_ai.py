"""Pydantic AI with its own instrumentation, the history passed on from run to run."""

from __future__ import annotations

import os

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from shared import QUERIES, convert_temp, get_weather

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
model = OpenAIChatModel(
    "gpt-4o-mini", provider=OpenAIProvider(base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
)
settings = InstrumentationSettings(tracer_provider=provider)
Agent.instrument_all(settings)
agent = Agent(model, name="weather", tools=[get_weather, convert_temp])
history = []
for query in QUERIES:
    result = agent.run_sync(query, message_history=history)
    history = result.all_messages()
provider.shutdown()
