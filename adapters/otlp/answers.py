"""Bodies of OTLP/HTTP answers, in the encoding that the sender spoke."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

from adapters.otlp.media import JSON, PROTOBUF
from adapters.otlp.status import status
from monitor.ports import Rejection

INVALID_ARGUMENT: Final = 3
NOT_FOUND: Final = 5
RESOURCE_EXHAUSTED: Final = 8
UNIMPLEMENTED: Final = 12
UNAVAILABLE: Final = 14
UNAUTHENTICATED: Final = 16
_MESSAGES_SHOWN: Final = 3


class Signal(NamedTuple):
    """What differs between the two addresses."""

    path: str
    rejected: str
    """Name of the count of refused records, in JSON."""


TRACES: Final = Signal("/v1/traces", "rejectedSpans")
LOGS: Final = Signal("/v1/logs", "rejectedLogRecords")
METRICS: Final = Signal("/v1/metrics", "rejectedDataPoints")
"""Not for the monitor: taken only to be sent on."""
LANGFUSE_TRACES: Final = "/api/public/otel/v1/traces"
LANGFUSE_INGESTION: Final = "/api/public/ingestion"


def success(signal: Signal, media: str, rejections: list[Rejection], salvaged: bool) -> bytes:
    """An export response; a partial success when records were refused.

    A salvaged payload is a success with a warning: nothing refused, and a message.
    """
    message = _summary(rejections)
    if salvaged and not message:
        message = "invalid UTF-8 was replaced; the sender should mend its encoding"
    if not message:
        return b"{}" if media == JSON else b""
    if media == JSON:
        partial = {"errorMessage": message}
        if rejections:
            # Proto3 JSON writes 64-bit integers as strings.
            partial[signal.rejected] = str(len(rejections))
        return msgspec.json.encode({"partialSuccess": partial})
    if signal is TRACES:
        traces = ExportTraceServiceResponse()
        traces.partial_success.rejected_spans = len(rejections)
        traces.partial_success.error_message = message
        return traces.SerializeToString()
    logs = ExportLogsServiceResponse()
    logs.partial_success.rejected_log_records = len(rejections)
    logs.partial_success.error_message = message
    return logs.SerializeToString()


def _summary(rejections: list[Rejection]) -> str:
    messages = list(dict.fromkeys(rejection.message for rejection in rejections))
    shown = "; ".join(messages[:_MESSAGES_SHOWN])
    more = len(messages) - _MESSAGES_SHOWN
    return f"{shown}; and {more} other kinds" if more > 0 else shown


def failure(media: str, code: int, message: str) -> bytes:
    """A google.rpc.Status message."""
    if media != PROTOBUF:
        return msgspec.json.encode({"code": code, "message": message})
    return status(code, message)
