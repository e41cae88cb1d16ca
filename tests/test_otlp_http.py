"""The OTLP/HTTP receiver, over a real loopback socket."""

from __future__ import annotations

import asyncio
import gzip
import json
import zlib
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from otlp_building import JSON, PARENT, PROTOBUF, SPAN, body, json_body, logs, span
from otlp_receiving import CHAT, GOOD, Accepting, Client, check_status, receiving

from adapters.otlp.http import OtlpHttpReceiver
from adapters.vocabularies.genai import DETAILS_EVENT
from monitor.errors import ConfigurationError, Overloaded

NO_IDS = span(CHAT, span_id="")


@pytest.fixture
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    async with receiving(**getattr(request, "param", {})) as found:
        yield found


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
async def test_a_good_export_is_accepted_and_answered_in_its_own_type(
    client: Client, kind: str
) -> None:
    answer = await client.post(GOOD[kind], kind)
    assert (answer.status, answer.type) == (200, kind)
    assert answer.content == (b"{}" if kind == JSON else b"")
    assert [item.span_id for item in client.accept.taken[0].spans] == [SPAN]
    assert client.accept.sizes == [len(GOOD[kind])]


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
async def test_a_gzip_export_is_inflated(client: Client, kind: str) -> None:
    answer = await client.post(gzip.compress(GOOD[kind]), kind, Content_Encoding="gzip")
    assert answer.status == 200
    assert client.accept.sizes == [len(GOOD[kind])]


async def test_a_gzip_body_may_have_several_members(client: Client) -> None:
    half = len(GOOD[JSON]) // 2
    packed = gzip.compress(GOOD[JSON][:half]) + gzip.compress(GOOD[JSON][half:])
    assert (await client.post(packed, JSON, Content_Encoding="gzip")).status == 200


async def test_parameters_of_the_content_type_do_not_matter(client: Client) -> None:
    answer = await client.post(GOOD[JSON], "application/json; charset=utf-8")
    assert (answer.status, answer.type) == (200, JSON)


async def test_an_empty_export_is_a_success_that_nothing_is_accepted_of(client: Client) -> None:
    assert (await client.post(b"")).status == 200
    assert client.accept.taken == []


async def test_a_partial_success_tells_in_json_how_many_spans_were_refused(
    client: Client,
) -> None:
    payload = json_body(span(CHAT), NO_IDS, span(CHAT, trace_id="00" * 16))
    answer = await client.post(payload, JSON)
    partial = json.loads(answer.content)["partialSuccess"]
    assert (answer.status, partial["rejectedSpans"]) == (200, "2")
    assert "trace id must be 16 bytes" in partial["errorMessage"]
    assert client.receiver.counters["rejected:invalid_id"] == 2
    assert len(client.accept.taken[0].rejections) == 2


async def test_a_partial_success_tells_in_protobuf_how_many_spans_were_refused(
    client: Client,
) -> None:
    answer = await client.post(body(span(CHAT), NO_IDS))
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert partial.rejected_spans == 1
    assert "trace id must be 16 bytes" in partial.error_message


async def test_log_records_are_accepted_and_refused_under_their_own_name(client: Client) -> None:
    deep: Any = "x"
    for _ in range(66):
        deep = [deep]
    fine = {"event": DETAILS_EVENT, "attributes": {"gen_ai.input.messages": "[]"}}
    call = {"role": "assistant", "parts": [{"type": "tool_call", "name": "f", "arguments": deep}]}
    content = {"gen_ai.output.messages": json.dumps([call])}
    bad = {"event": DETAILS_EVENT, "attributes": content, "span_id": PARENT}
    answer = await client.post(logs(fine, bad).SerializeToString(), path="/v1/logs")
    partial = ExportLogsServiceResponse.FromString(answer.content).partial_success
    assert (answer.status, partial.rejected_log_records) == (200, 1)
    assert [item.detail for item in client.accept.taken[0].spans] == [True]


async def test_a_salvaged_export_is_a_success_with_a_warning(client: Client) -> None:
    payload = body(span({**CHAT, "gen_ai.agent.name": "a~b"})).replace(b"~", b"\xff")
    answer = await client.post(payload)
    partial = ExportTraceServiceResponse.FromString(answer.content).partial_success
    assert (answer.status, partial.rejected_spans) == (200, 0)
    assert "UTF-8" in partial.error_message
    assert client.accept.taken[0].spans[0].agent == "a�b"
    assert client.receiver.counters["salvaged"] == 1


@pytest.mark.parametrize("content", [b"\xff\xff\xff", b"{", b"[" * 100_000, b"\x0a\x05ab"])
@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
async def test_a_malformed_export_is_refused_for_good(
    client: Client, content: bytes, kind: str
) -> None:
    answer = await client.post(content, kind)
    assert (answer.status, answer.type) == (400, kind)
    check_status(answer, 3)
    assert client.accept.taken == []
    assert client.receiver.counters["refused:malformed"] == 1
    # The receiver is alive.
    assert (await client.post(GOOD[PROTOBUF])).status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
async def test_another_content_type_is_unsupported(client: Client, kind: str) -> None:
    answer = await client.post(GOOD[JSON], kind)
    assert (answer.status, answer.type) == (415, JSON)


@pytest.mark.parametrize("encoding", ["deflate", "zstd", "br", "gzip, gzip", "identity, gzip"])
async def test_another_content_encoding_is_unsupported(client: Client, encoding: str) -> None:
    packed = zlib.compress(GOOD[PROTOBUF])
    answer = await client.post(packed, Content_Encoding=encoding)
    assert (answer.status, answer.type) == (415, PROTOBUF)
    check_status(answer, 3)


@pytest.mark.parametrize(
    "content", [GOOD[PROTOBUF], gzip.compress(GOOD[PROTOBUF])[:-9], gzip.compress(b"") * 40]
)
async def test_a_body_that_is_not_whole_gzip_is_malformed(client: Client, content: bytes) -> None:
    answer = await client.post(content, Content_Encoding="gzip")
    assert answer.status == 400
    assert client.accept.taken == []


async def test_other_addresses_and_methods_are_told_so(client: Client) -> None:
    assert (await client.post(b"", path="/v1/metrics")).status == 404
    assert (await client.post(b"", path="/")).status == 404
    for method in ("GET", "PUT", "DELETE"):
        answer = await client.post(b"", method=method)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")


def overloaded(client: Client, retry_after_s: int = 7) -> None:
    client.accept.error = Overloaded("the spool is full", retry_after_s)


@pytest.mark.parametrize("kind", [PROTOBUF, JSON])
async def test_overload_asks_the_sender_to_come_again(client: Client, kind: str) -> None:
    overloaded(client)
    answer = await client.post(GOOD[kind], kind)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "7")
    check_status(answer, 14)
    client.accept.error = None
    assert (await client.post(GOOD[kind], kind)).status == 200
    assert client.receiver.counters["refused:overloaded"] == 1


async def test_a_defect_inside_is_counted_and_asks_the_sender_to_come_again() -> None:
    accept = Accepting()
    accept.error = KeyError("a defect")
    receiver = OtlpHttpReceiver("127.0.0.1:0")
    found = Client(receiver, accept, await receiver.start(accept))
    answer = await found.post(GOOD[PROTOBUF])
    await found.session.close()
    await receiver.stop()
    assert answer.status == 503
    assert int(answer.headers["Retry-After"]) >= 1
    assert receiver.counters["defects"] == 1


async def test_a_client_that_waits_for_the_go_ahead_gets_it(client: Client) -> None:
    host, port = client.url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = (
        f"POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: {PROTOBUF}\r\n"
        f"Content-Length: {len(GOOD[PROTOBUF])}\r\nExpect: 100-continue\r\n\r\n"
    )
    writer.write(head.encode())
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    writer.write(GOOD[PROTOBUF])
    assert (await reader.readuntil(b"\r\n")).startswith(b"HTTP/1.1 200 ")
    writer.close()


async def test_large_bodies_are_read_too(client: Client) -> None:
    spans = [
        span({**CHAT, "note": "x" * 4_000}, span_id=f"{number:016x}") for number in range(1, 201)
    ]
    answers = await asyncio.gather(*(client.post(body(*spans)) for _ in range(4)))
    assert [answer.status for answer in answers] == [200] * 4
    assert [len(decoded.spans) for decoded in client.accept.taken] == [200] * 4


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"])
async def test_an_address_for_all_the_world_needs_the_operators_word(listen: str) -> None:
    with pytest.raises(ConfigurationError, match="insecure"):
        await OtlpHttpReceiver(listen).start(Accepting())


async def test_the_operators_word_opens_every_address() -> None:
    receiver = OtlpHttpReceiver("0.0.0.0:0", access={"insecure": True})
    url = await receiver.start(Accepting())
    await receiver.stop()
    assert url.startswith("http://0.0.0.0:")


@pytest.mark.parametrize("listen", ["4318", "127.0.0.1", "127.0.0.1:many", "127.0.0.1:99999", ""])
def test_what_is_no_address_is_the_operators_mistake(listen: str) -> None:
    with pytest.raises(ConfigurationError, match="host:port"):
        OtlpHttpReceiver(listen)


async def test_a_port_in_use_is_the_operators_to_free(client: Client) -> None:
    taken = client.url.removeprefix("http://")
    with pytest.raises(ConfigurationError, match="cannot listen"):
        await OtlpHttpReceiver(taken).start(Accepting())


async def test_requests_under_way_are_answered_before_the_receiver_stops() -> None:
    accept = Accepting()
    accept.wait = asyncio.Event()
    receiver = OtlpHttpReceiver("127.0.0.1:0")
    found = Client(receiver, accept, await receiver.start(accept))
    under_way = asyncio.create_task(found.post(GOOD[PROTOBUF]))
    await accept.entered.wait()
    stopping = asyncio.create_task(receiver.stop())
    await asyncio.sleep(0)
    accept.wait.set()
    assert (await under_way).status == 200
    await stopping
    with pytest.raises(aiohttp.ClientError):
        await found.post(GOOD[PROTOBUF])
    await found.session.close()


async def test_nothing_that_a_client_sends_becomes_a_counters_name(client: Client) -> None:
    for number in range(20):
        await client.post(b"", f"x/{number}", path=f"/p{number}", Content_Encoding=f"e{number}")
        await client.post(b"", f"x/{number}", Content_Encoding=f"e{number}")
    assert set(client.receiver.counters) <= {"requests", "refused:path", "refused:unsupported"}


async def test_the_real_opentelemetry_exporter_is_understood(client: Client) -> None:
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExportResult
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import Status, StatusCode

    memory = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource({"service.version": "9"}))
    provider.add_span_processor(SimpleSpanProcessor(memory))
    tracer = provider.get_tracer("shop")
    with tracer.start_as_current_span("invoke_agent shop") as root:
        root.set_attribute("gen_ai.operation.name", "invoke_agent")
        with tracer.start_as_current_span("execute_tool f") as tool:
            tool.set_attribute("gen_ai.operation.name", "execute_tool")
            tool.set_attribute("gen_ai.tool.name", "f")
            tool.set_attribute("gen_ai.tool.call.arguments", '{"a": [1, 2]}')
            tool.set_status(Status(StatusCode.ERROR, "no such city"))
    exporter = OTLPSpanExporter(client.url + "/v1/traces", compression=Compression.Gzip)
    result = await asyncio.to_thread(exporter.export, memory.get_finished_spans())
    exporter.shutdown()
    assert result is SpanExportResult.SUCCESS
    tool_span, agent_span = client.accept.taken[0].spans
    assert (tool_span.kind, agent_span.kind) == ("tool", "agent")
    assert tool_span.parent_id == agent_span.span_id
    assert agent_span.parent_id is None
    assert tool_span.call.arguments == {"a": [1, 2]}
    assert (tool_span.error_type, tool_span.release) == ("error", "9")
    assert tool_span.start_ns <= tool_span.end_ns
    assert PARENT not in {tool_span.span_id, agent_span.span_id}
