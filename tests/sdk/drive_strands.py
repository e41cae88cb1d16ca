"""Strands Agents, as it traces by default."""

from __future__ import annotations

import os

from shared import QUERIES, convert_temp, get_weather
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.telemetry import StrandsTelemetry

telemetry = StrandsTelemetry().setup_otlp_exporter()
model = OpenAIModel(
    client_args={"base_url": os.environ["OPENAI_BASE_URL"], "api_key": "none"},
    model_id="gpt-4o-mini",
)
agent = Agent(
    model=model,
    tools=[tool(get_weather), tool(convert_temp)],
    callback_handler=None,
    trace_attributes={"session.id": "strands-session"},
)
for query in QUERIES:
    agent(query)
telemetry.tracer_provider.force_flush()
telemetry.tracer_provider.shutdown()
