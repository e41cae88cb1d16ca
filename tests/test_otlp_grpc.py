"""The OTLP/gRPC receiver, over a real loopback socket."""

from __future__ import annotations

import asyncio
import gzip
import resource
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from opentelemetry._logs import LogRecord
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context
from otlp_building import PROTOBUF, SPAN, TRACE, body, span
from otlp_receiving import CHAT, GOOD, Accepting, gzip_bomb

from adapters.otlp.grpc import METHODS, OtlpGrpcReceiver
from adapters.otlp.grpc_channel import Transport
from adapters.vocabularies.genai import DETAILS_EVENT
from monitor.errors import ConfigurationError, Overloaded

TRACES = next(iter(METHODS))
# The transport packs only what becomes smaller by it.
MANY = body(*(span(CHAT, span_id=f"{number:016x}") for number in range(1, 51)))
NO_IDS = span(CHAT, span_id="")


class Caller:
    """Calls a running receiver with raw bytes."""

    def __init__(self, receiver: OtlpGrpcReceiver, accept: Accepting, address: str) -> None:
        self.receiver = receiver
        self.accept = accept
        self.address = address.removeprefix("grpc://")
        self.channel: Any = grpc.aio.insecure_channel(self.address)

    async def call(self, message: bytes, method: str = TRACES, **options: Any) -> bytes:
        return bytes(await self.channel.unary_unary(method)(message, **options))

    async def refusal(self, message: bytes, method: str = TRACES, **options: Any) -> Any:
        """The error that a call ends with."""
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await self.call(message, method, **options)
        return caught.value


@asynccontextmanager
async def calling(**options: Any) -> AsyncIterator[Caller]:
    """A receiver on a free port. When it stops nothing may be in flight and no defect counted."""
    accept = Accepting()
    receiver = OtlpGrpcReceiver("127.0.0.1:0", **options)
    found = Caller(receiver, accept, await receiver.start(accept))
    try:
        yield found
    finally:
        await found.channel.close()
        await receiver.stop()
    assert receiver.in_flight_bytes == 0
    assert receiver.counters.get("defects", 0) == 0


@pytest.fixture
async def caller(request: pytest.FixtureRequest) -> AsyncIterator[Caller]:
    async with calling(**getattr(request, "param", {})) as found:
        yield found


def options(**given: Any) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("caller", [given], indirect=True)


def retry_after_s(error: grpc.aio.AioRpcError) -> int | None:
    """Seconds of the RetryInfo, which real senders look for in the trailing metadata."""
    trailers = dict(error.trailing_metadata() or ())
    found = Status.FromString(trailers["grpc-status-details-bin"])
    assert (found.code, found.message) == (error.code().value[0], error.details())
    for detail in found.details:
        info = RetryInfo()
        if detail.Unpack(info):
            return int(info.retry_delay.seconds)
    return None


async def test_a_good_export_is_accepted(caller: Caller) -> None:
    assert await caller.call(GOOD[PROTOBUF]) == b""
    assert [item.span_id for item in caller.accept.taken[0].spans] == [SPAN]
    assert caller.accept.sizes == [len(GOOD[PROTOBUF])]


async def test_a_gzip_export_is_inflated(caller: Caller) -> None:
    assert await caller.call(MANY, compression=grpc.Compression.Gzip) == b""
    assert caller.accept.sizes == [len(MANY)]
    assert len(caller.accept.taken[0].spans) == 50


async def test_a_partial_success_tells_how_many_spans_were_refused(caller: Caller) -> None:
    answer = ExportTraceServiceResponse.FromString(await caller.call(body(span(CHAT), NO_IDS)))
    assert answer.partial_success.rejected_spans == 1
    assert "trace id must be 16 bytes" in answer.partial_success.error_message
    assert caller.receiver.counters["rejected:invalid_id"] == 1


async def test_text_that_is_not_utf8_is_salvaged(caller: Caller) -> None:
    broken = GOOD[PROTOBUF].replace(b"chat", b"ch\xfft")
    answer = ExportTraceServiceResponse.FromString(await caller.call(broken))
    assert answer.partial_success.rejected_spans == 0
    assert "invalid UTF-8" in answer.partial_success.error_message


async def test_an_empty_export_is_a_success_that_nothing_is_accepted_of(caller: Caller) -> None:
    assert await caller.call(b"") == b""
    assert caller.accept.taken == []


async def test_malformed_bytes_are_an_invalid_argument_that_is_not_to_be_sent_again(
    caller: Caller,
) -> None:
    error = await caller.refusal(b"\x0a\xff")
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert retry_after_s(error) is None
    assert caller.receiver.counters["refused:malformed"] == 1


async def test_another_method_is_not_implemented(caller: Caller) -> None:
    error = await caller.refusal(
        b"", "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
    )
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert caller.receiver.counters["refused:path"] == 1


async def test_overload_is_unavailable_with_the_time_to_come_again(caller: Caller) -> None:
    caller.accept.error = Overloaded("full", 7)
    error = await caller.refusal(GOOD[PROTOBUF])
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert retry_after_s(error) == 7
    assert caller.receiver.counters["refused:overloaded"] == 1
    caller.accept.error = None
    assert await caller.call(GOOD[PROTOBUF]) == b""


async def test_a_defect_is_unavailable_and_never_internal() -> None:
    accept = Accepting()
    accept.error = ZeroDivisionError("secret text of a customer")
    receiver = OtlpGrpcReceiver("127.0.0.1:0")
    found = Caller(receiver, accept, await receiver.start(accept))
    error = await found.refusal(GOOD[PROTOBUF])
    await found.channel.close()
    await receiver.stop()
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert "secret" not in (error.details() or "")
    assert receiver.counters["defects"] == 1


@options(message_bytes=1_000)
async def test_a_message_over_the_limit_is_refused_for_good(caller: Caller) -> None:
    error = await caller.refusal(bytes(1_001))
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert retry_after_s(error) is None
    assert caller.receiver.counters["refused:message_bytes"] == 1
    absurd = await caller.refusal(bytes(2_001))
    assert absurd.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert not dict(absurd.trailing_metadata() or ()).get("grpc-status-details-bin")
    assert caller.receiver.counters["refused:cut_off"] == 1
    assert await caller.call(GOOD[PROTOBUF]) == b""


async def test_a_call_without_a_message_is_an_invalid_argument(caller: Caller) -> None:
    async def nothing() -> AsyncIterator[bytes]:
        for message in list[bytes]():
            yield message

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await caller.channel.stream_unary(TRACES)(nothing())
    assert caught.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert caller.receiver.counters["refused:no_message"] == 1


async def test_a_gzip_bomb_is_stopped_at_the_limit(caller: Caller) -> None:
    # The receiver looks at the message itself, so a packed one may be sent as it is.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    error = await caller.refusal(gzip_bomb())
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert retry_after_s(error) is None
    assert caller.receiver.counters["refused:body_bytes"] == 1
    assert (after - before) / 1_024 < 64


async def test_a_broken_gzip_message_is_an_invalid_argument(caller: Caller) -> None:
    error = await caller.refusal(gzip.compress(GOOD[PROTOBUF])[:-9])
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_gzip_within_gzip_is_malformed(caller: Caller) -> None:
    error = await caller.refusal(gzip.compress(gzip.compress(GOOD[PROTOBUF])))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_deflate_is_not_spoken(caller: Caller) -> None:
    error = await caller.refusal(GOOD[PROTOBUF] * 50, compression=grpc.Compression.Deflate)
    assert error.code() is grpc.StatusCode.UNIMPLEMENTED
    assert caller.accept.taken == []


@options(transport=Transport(streams=1))
async def test_calls_on_one_connection_are_bounded_and_wait_for_each_other(
    caller: Caller,
) -> None:
    caller.accept.wait = asyncio.Event()
    calls = [asyncio.create_task(caller.call(GOOD[PROTOBUF])) for _ in range(5)]
    await caller.accept.entered.wait()
    assert caller.receiver.counters["requests"] == 1
    caller.accept.wait.set()
    assert await asyncio.gather(*calls) == [b""] * 5


@options(transport=Transport(age_s=0.1, age_grace_s=5.0))
async def test_a_connection_ends_in_peace_at_its_age(caller: Caller) -> None:
    last = asyncio.get_running_loop().time() + 0.5
    calls = 0
    while asyncio.get_running_loop().time() < last:
        assert await caller.call(GOOD[PROTOBUF]) == b""
        calls += 1
    assert len(caller.accept.taken) == calls


@options(in_flight_bytes=10_000)
async def test_bytes_in_flight_are_bounded_before_they_are_parsed(caller: Caller) -> None:
    caller.accept.wait = asyncio.Event()
    # An export, and an unknown field that fills it up to 6,000 bytes.
    padding = b"\x7a" + bytes([0xF0, 0x2E]) + bytes(6_000)
    first = asyncio.create_task(caller.call(GOOD[PROTOBUF] + padding))
    await caller.accept.entered.wait()
    error = await caller.refusal(GOOD[PROTOBUF])
    caller.accept.wait.set()
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    assert (retry_after_s(error) or 0) >= 1
    assert await first == b""
    assert await caller.call(GOOD[PROTOBUF]) == b""


@options(body_timeout_s=0.05)
async def test_a_message_that_does_not_come_is_given_up(caller: Caller) -> None:
    async def silence() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await caller.channel.stream_unary(TRACES)(silence())
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert caller.receiver.counters["refused:body_timeout"] == 1


async def test_a_caller_who_hangs_up_leaves_nothing_in_flight(caller: Caller) -> None:
    caller.accept.wait = asyncio.Event()
    task = asyncio.create_task(caller.call(GOOD[PROTOBUF]))
    await caller.accept.entered.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    while caller.receiver.in_flight_bytes:
        await asyncio.sleep(0)
    caller.accept.wait.set()


@options(transport=Transport(connections=2))
async def test_connections_are_bounded(caller: Caller) -> None:
    channels: list[Any] = [
        grpc.aio.insecure_channel(caller.address, [("grpc.use_local_subchannel_pool", 1)])
        for _ in range(3)
    ]
    answers = await asyncio.gather(
        *(each.unary_unary(TRACES)(GOOD[PROTOBUF], timeout=3) for each in channels),
        return_exceptions=True,
    )
    for each in channels:
        await each.close()
    assert sum(isinstance(answer, bytes) for answer in answers) == 2


async def test_an_address_for_all_the_world_needs_the_operators_word() -> None:
    with pytest.raises(ConfigurationError, match="insecure"):
        await OtlpGrpcReceiver("0.0.0.0:0").start(Accepting())


async def test_a_port_in_use_is_the_operators_to_free(caller: Caller) -> None:
    with pytest.raises(ConfigurationError, match="cannot listen"):
        await OtlpGrpcReceiver(caller.address).start(Accepting())


async def test_calls_under_way_are_answered_before_the_receiver_stops() -> None:
    accept = Accepting()
    accept.wait = asyncio.Event()
    receiver = OtlpGrpcReceiver("127.0.0.1:0")
    found = Caller(receiver, accept, await receiver.start(accept))
    under_way = asyncio.create_task(found.call(GOOD[PROTOBUF]))
    await accept.entered.wait()
    stopping = asyncio.create_task(receiver.stop())
    await asyncio.sleep(0)
    accept.wait.set()
    assert await under_way == b""
    await stopping
    await found.channel.close()


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
async def test_the_real_exporter_delivers(caller: Caller, compression: Any) -> None:
    exporter = OTLPSpanExporter(
        endpoint=caller.address, insecure=True, compression=compression, timeout=10
    )
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))

    def trace() -> None:
        with provider.get_tracer("test").start_as_current_span("chat m", attributes=CHAT):
            pass
        provider.shutdown()

    await asyncio.to_thread(trace)
    (decoded,) = caller.accept.taken
    assert [item.model for item in decoded.spans] == ["m"]


async def test_the_real_exporter_comes_again_after_an_overload(caller: Caller) -> None:
    caller.accept.error = Overloaded("full", 1)
    exporter = OTLPSpanExporter(endpoint=caller.address, insecure=True, timeout=10)
    tracer = TracerProvider().get_tracer("test")
    ended = tracer.start_span("chat m", attributes=CHAT)
    ended.end()
    assert isinstance(ended, ReadableSpan)

    async def recover() -> None:
        while "refused:overloaded" not in caller.receiver.counters:
            await asyncio.sleep(0.01)
        caller.accept.error = None

    result, _ = await asyncio.gather(asyncio.to_thread(exporter.export, [ended]), recover())
    await asyncio.to_thread(exporter.shutdown)
    assert result is SpanExportResult.SUCCESS
    assert len(caller.accept.taken) == 1


async def test_the_real_log_exporter_delivers(caller: Caller) -> None:
    exporter = OTLPLogExporter(endpoint=caller.address, insecure=True, timeout=10)
    provider = LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    within = SpanContext(int(TRACE, 16), int(SPAN, 16), is_remote=False)
    record = LogRecord(
        event_name=DETAILS_EVENT,
        attributes={"gen_ai.operation.name": "chat"},
        context=set_span_in_context(NonRecordingSpan(within)),
    )

    def emit() -> None:
        provider.get_logger("test").emit(record)
        provider.shutdown()

    await asyncio.to_thread(emit)
    (decoded,) = caller.accept.taken
    assert [(item.span_id, item.detail) for item in decoded.spans] == [(SPAN, True)]
