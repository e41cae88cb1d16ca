"""LangGraph's prebuilt agent under OpenInference, with a checkpointer's thread id."""

from __future__ import annotations

import os

from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import MemorySaver
from langgraph.prebuilt import create_react_agent
from openinference.instrumentation.langchain import LangChainInstrumentor
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from shared import QUERIES, convert_temp, get_weather

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
LangChainInstrumentor().instrument(tracer_provider=provider)
model = ChatOpenAI(model="gpt-4o-mini", base_url=os.environ["OPENAI_BASE_URL"], api_key="none")
agent = create_react_agent(
    model, [tool(get_weather), tool(convert_temp)], checkpointer=MemorySaver()
)
config = {"configurable": {"thread_id": "langgraph-thread"}}
for query in QUERIES:
    agent.invoke({"messages": [("user", query)]}, config)
provider.shutdown()
