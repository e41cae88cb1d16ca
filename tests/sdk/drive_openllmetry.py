"""OpenLLMetry's instrumentation of the OpenAI client: each model call its own trace, no ids."""

from __future__ import annotations

import os

from loop import talk
from openai import OpenAI
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
OpenAIInstrumentor().instrument(tracer_provider=provider)
talk(OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none"))
provider.shutdown()
