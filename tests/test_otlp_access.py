"""Who may send: tokens, TLS and client certificates, the same over HTTP and gRPC."""

from __future__ import annotations

import asyncio
import base64
import ssl
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import grpc
import grpc.aio
import pytest
from certificates import Authority, Pair
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult
from otlp_building import PROTOBUF
from otlp_receiving import CHAT, GOOD, Accepting

from adapters.otlp.access import Access, Tokens, access_of
from adapters.otlp.grpc import METHODS, OtlpGrpcReceiver
from adapters.otlp.http import OtlpHttpReceiver
from monitor.errors import ConfigurationError

TOKEN = "s3cret-token"
KINDS = ("http", "grpc")
Send = Callable[..., Awaitable[str]]


@asynccontextmanager
async def guarded(kind: str, listen: str = "127.0.0.1:0", **access: Any) -> AsyncIterator[Any]:
    """A running receiver of either kind, with its address as `where`."""
    accept = Accepting()
    chosen = {"http": OtlpHttpReceiver, "grpc": OtlpGrpcReceiver}[kind]
    receiver: Any = chosen(listen, access=access)
    receiver.where = await receiver.start(accept)
    receiver.accept = accept
    try:
        yield receiver
    finally:
        await receiver.stop()


async def send(receiver: Any, context: Any = None, authorization: str | None = None) -> str:
    """How one export on a connection of its own ends: `ok`, `unauthorised` or `refused`.

    `context` is an SSLContext for HTTP, channel credentials for gRPC.
    """
    if isinstance(receiver, OtlpHttpReceiver):
        return await _send_http(receiver, context, authorization)
    return await _send_grpc(receiver, context, authorization)


async def _send_http(receiver: Any, context: Any, authorization: str | None) -> str:
    headers = {"Content-Type": PROTOBUF}
    if authorization is not None:
        headers["Authorization"] = authorization
    try:
        async with (
            aiohttp.ClientSession() as session,
            session.post(
                receiver.where + "/v1/traces",
                data=GOOD[PROTOBUF],
                headers=headers,
                ssl=context or True,
            ) as answer,
        ):
            return {200: "ok", 401: "unauthorised"}[answer.status]
    except (aiohttp.ClientError, OSError):
        return "refused"


async def _send_grpc(receiver: Any, context: Any, authorization: str | None) -> str:
    address = receiver.where.partition("://")[2]
    channel: Any = (
        grpc.aio.secure_channel(address, context) if context else grpc.aio.insecure_channel(address)
    )
    metadata = (("authorization", authorization),) if authorization is not None else ()
    async with channel:
        call = channel.unary_unary(next(iter(METHODS)))
        try:
            await call(GOOD[PROTOBUF], metadata=metadata, timeout=10)
        except grpc.aio.AioRpcError as error:
            found = error.code() is grpc.StatusCode.UNAUTHENTICATED
            return "unauthorised" if found else "refused"
    return "ok"


def trusting(kind: str, authority: Authority, shown: Pair | None = None) -> Any:
    """What a sender needs to trust the authority, and to show a certificate of its own."""
    if kind == "http":
        return authority.client_context(shown)
    return grpc.ssl_channel_credentials(
        authority.file.read_bytes(),
        shown.key.read_bytes() if shown else None,
        shown.certificate.read_bytes() if shown else None,
    )


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"pk-lf-1:{password}".encode()).decode()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("shown", "outcome"),
    [
        (f"Bearer {TOKEN}", "ok"),
        (f"bearer  {TOKEN}", "ok"),
        (basic(TOKEN), "ok"),
        (None, "unauthorised"),
        ("", "unauthorised"),
        ("Bearer ", "unauthorised"),
        (f"Bearer {TOKEN}x", "unauthorised"),
        (f"Bearer {TOKEN[:-1]}", "unauthorised"),
        (TOKEN, "unauthorised"),
        (basic(""), "unauthorised"),
        ("Basic \x20!!!", "unauthorised"),
        ("Bearer " + "x" * 5_000, "unauthorised"),
    ],
)
async def test_a_sender_must_show_the_token(kind: str, shown: str | None, outcome: str) -> None:
    async with guarded(kind, token=TOKEN) as receiver:
        assert await send(receiver, authorization=shown) == outcome
        refused = receiver.counters.get("refused:token", 0)
    assert refused == (outcome == "unauthorised")
    assert bool(receiver.accept.taken) == (outcome == "ok")


@pytest.mark.parametrize("kind", KINDS)
async def test_tokens_are_rotated_by_writing_the_file_anew(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("old\n")
    async with guarded(kind, token_file=path) as receiver:
        assert await send(receiver, authorization="Bearer old") == "ok"
        path.write_text("old\nnew\n")
        assert await send(receiver, authorization="Bearer new") == "ok"
        assert await send(receiver, authorization="Bearer old") == "ok"
        path.write_text("new\n")
        assert await send(receiver, authorization="Bearer old") == "unauthorised"
        path.write_text("")
        assert await send(receiver, authorization="Bearer new") == "ok"
        path.unlink()
        assert await send(receiver, authorization="Bearer new") == "ok"
    assert receiver.counters["reload_failed:token"] == 2


@pytest.mark.parametrize("kind", KINDS)
async def test_tls_is_spoken_from_version_1_2_on(kind: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ca")
    pair = authority.issue("server")
    tls: dict[str, Any] = {"tls_cert_file": pair.certificate, "tls_key_file": pair.key}
    async with guarded(kind, **tls) as receiver:
        assert receiver.where.startswith(f"{kind}s://")
        assert await send(receiver, trusting(kind, authority)) == "ok"
        assert await send(receiver, trusting(kind, Authority(tmp_path, "other"))) == "refused"
        assert await _spoken(receiver, ssl.TLSVersion.TLSv1_2) == "TLSv1.2"
        assert await _spoken(receiver, ssl.TLSVersion.TLSv1_1) is None


async def _spoken(receiver: Any, version: ssl.TLSVersion) -> str | None:
    """The version of a connection that speaks this one only; None when there is none."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    # The client's own security level would not offer the older version.
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        context.minimum_version = context.maximum_version = version
    host, port = receiver.where.partition("://")[2].split(":")
    try:
        _, writer = await asyncio.open_connection(host, int(port), ssl=context)
    except (ssl.SSLError, ConnectionError):
        return None
    found = str(writer.get_extra_info("ssl_object").version())
    writer.close()
    return found


@pytest.mark.parametrize("kind", KINDS)
async def test_a_sender_must_show_a_certificate_of_the_client_authority(
    kind: str, tmp_path: Path
) -> None:
    servers, clients = Authority(tmp_path, "servers"), Authority(tmp_path, "clients")
    pair = servers.issue("server")
    tls: dict[str, Any] = {
        "tls_cert_file": pair.certificate,
        "tls_key_file": pair.key,
        "tls_client_ca_file": clients.file,
    }
    async with guarded(kind, **tls) as receiver:
        good, bad = clients.issue("good"), servers.issue("bad")
        assert await send(receiver, trusting(kind, servers, good)) == "ok"
        assert await send(receiver, trusting(kind, servers)) == "refused"
        assert await send(receiver, trusting(kind, servers, bad)) == "refused"
    assert len(receiver.accept.taken) == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_certificates_are_renewed_without_a_restart(kind: str, tmp_path: Path) -> None:
    old, new = Authority(tmp_path, "old"), Authority(tmp_path, "new")
    pair = old.issue("server")
    tls: dict[str, Any] = {"tls_cert_file": pair.certificate, "tls_key_file": pair.key}
    async with guarded(kind, **tls) as receiver:
        assert await send(receiver, trusting(kind, old)) == "ok"
        new.issue("server")
        assert await send(receiver, trusting(kind, new)) == "ok"
        assert await send(receiver, trusting(kind, old)) == "refused"
        pair.key.write_text("half a k")
        assert await send(receiver, trusting(kind, new)) == "ok"
    assert receiver.counters["reload_failed:tls"] == 1


@pytest.mark.parametrize("kind", KINDS)
async def test_the_client_authority_is_renewed_without_a_restart(kind: str, tmp_path: Path) -> None:
    servers, old, new = (Authority(tmp_path, name) for name in ("servers", "old", "new"))
    pair, accepted = servers.issue("server"), tmp_path / "accepted.crt"
    accepted.write_bytes(old.file.read_bytes())
    tls: dict[str, Any] = {
        "tls_cert_file": pair.certificate,
        "tls_key_file": pair.key,
        "tls_client_ca_file": accepted,
    }
    async with guarded(kind, **tls) as receiver:
        assert await send(receiver, trusting(kind, servers, old.issue("a"))) == "ok"
        accepted.write_bytes(new.file.read_bytes())
        assert await send(receiver, trusting(kind, servers, new.issue("b"))) == "ok"
        assert await send(receiver, trusting(kind, servers, old.issue("c"))) == "refused"


@pytest.mark.parametrize("kind", KINDS)
async def test_an_open_address_starts_with_a_token_or_client_certificates(
    kind: str, tmp_path: Path
) -> None:
    authority = Authority(tmp_path, "ca")
    pair = authority.issue("server")
    tls: dict[str, Any] = {"tls_cert_file": pair.certificate, "tls_key_file": pair.key}
    async with guarded(kind, "0.0.0.0:0", token=TOKEN):
        pass
    async with guarded(kind, "0.0.0.0:0", tls_client_ca_file=authority.file, **tls):
        pass
    with pytest.raises(ConfigurationError, match="insecure"):
        async with guarded(kind, "0.0.0.0:0", **tls):
            pass


@pytest.mark.parametrize("kind", KINDS)
async def test_the_real_exporter_shows_its_token_over_tls(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The exporter's HTTP library would trust this bundle instead of the given file.
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    authority = Authority(tmp_path, "ca")
    pair = authority.issue("server")
    tls: dict[str, Any] = {"tls_cert_file": pair.certificate, "tls_key_file": pair.key}
    async with guarded(kind, token=TOKEN, **tls) as receiver:
        result = await asyncio.to_thread(_exported, kind, receiver.where, authority)
    assert result is SpanExportResult.SUCCESS
    assert [item.model for item in receiver.accept.taken[0].spans] == ["m"]


def _exported(kind: str, where: str, authority: Authority) -> SpanExportResult:
    exporter: Any
    if kind == "http":
        exporter = HttpExporter(
            where + "/v1/traces",
            certificate_file=str(authority.file),
            headers={"authorization": f"Bearer {TOKEN}"},
        )
    else:
        exporter = GrpcExporter(
            where.partition("://")[2],
            credentials=grpc.ssl_channel_credentials(authority.file.read_bytes()),
            headers=(("authorization", f"Bearer {TOKEN}"),),
        )
    ended = TracerProvider().get_tracer("test").start_span("chat m", attributes=CHAT)
    ended.end()
    assert isinstance(ended, ReadableSpan)
    try:
        found: SpanExportResult = exporter.export([ended])
        return found
    finally:
        exporter.shutdown()


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"tls_cert_file": Path("a")}, "need each other"),
        ({"tls_client_ca_file": Path("a")}, "needs `tls_cert_file`"),
        ({"tokn": "x"}, "tokn"),
    ],
)
def test_settings_that_cannot_work_together_are_refused(given: Any, what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        access_of(given)


@pytest.mark.parametrize("token", ["", "two\nlines", "ünicode", "x" * 5_000])
def test_a_token_that_no_header_can_carry_is_refused_without_showing_it(token: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Tokens(Access(token=token), lambda: None)
    assert not token or token not in str(refused.value)


def test_a_missing_token_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"`token_file`: .*tokens cannot be read"):
        Tokens(Access(token_file=tmp_path / "tokens"), lambda: None)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_certificate_that_cannot_be_used_is_named(kind: str, tmp_path: Path) -> None:
    pair = Authority(tmp_path, "ca").issue("server")
    pair.key.write_text("no key")
    with pytest.raises(ConfigurationError, match=r"TLS: .*server\.crt"):
        async with guarded(kind, tls_cert_file=pair.certificate, tls_key_file=pair.key):
            pass


def test_the_token_is_not_shown_with_the_settings() -> None:
    assert TOKEN not in repr(Access(token=TOKEN))


@pytest.mark.parametrize("token", ["", " ", "\t", " token", "token\n", "tokén"])
def test_a_token_that_no_sender_could_show_is_refused(token: str) -> None:
    for receiver in (OtlpHttpReceiver, OtlpGrpcReceiver):
        with pytest.raises(ConfigurationError, match="`token`: a token is"):
            receiver("127.0.0.1:0", access=Access(token=token))
