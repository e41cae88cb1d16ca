"""OpenTelemetry's own instrumentation of the OpenAI client: content in log events."""

from __future__ import annotations

import os

from loop import talk
from openai import OpenAI
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
from opentelemetry.sdk._events import EventLoggerProvider
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

provider, logs = TracerProvider(), LoggerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "true"
OpenAIInstrumentor().instrument(
    tracer_provider=provider, event_logger_provider=EventLoggerProvider(logs)
)
talk(OpenAI(base_url=os.environ["OPENAI_BASE_URL"], api_key="none"))
provider.shutdown()
logs.shutdown()
