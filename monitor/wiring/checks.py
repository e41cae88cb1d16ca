"""A configuration tried without serving it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from monitor.chosen import evaluation, tried_redaction
from monitor.config import Settings
from monitor.config.kafka import KafkaSettings
from monitor.errors import Overloaded
from monitor.hosted import hosted_receivers, score_sinks
from monitor.ports import Decoded
from monitor.roles.files import require_place
from monitor.roles.kafka.security import require_safe, tls
from monitor.roles.pages import require_loopback, split_address
from monitor.roles.service import Companion
from monitor.wiring.decoders import trace_decoder
from monitor.wiring.judge import judge_model
from monitor.wiring.paging import alertmanager
from monitor.wiring.receivers import forwarder, otlp_receivers


def checked(settings: Settings) -> Iterator[str]:
    """Read every file that the settings name; a line about each part. Raises at the first fault."""
    chosen = evaluation(settings)
    trace_decoder(settings)
    onward = forwarder(settings)
    addresses = (settings.otlp.listen, settings.otlp.grpc_listen)
    references = settings.references
    require_place(settings.ledger.path, "ledger.path")
    if settings.sinks.jsonl:
        require_place(settings.sinks.jsonl, "sinks.jsonl")
    host, _ = split_address(settings.metrics.listen, "metrics.listen")
    require_loopback(host, "metrics.listen", insecure=settings.metrics.insecure)
    tried_redaction(settings)
    asyncio.run(_try_sources(settings, onward))
    for receiver, listen in zip(otlp_receivers(settings, onward), addresses, strict=False):
        yield f"receiver    {receiver.name} on {listen}"
    if onward:
        yield f"forward     {settings.forward.url or settings.forward.langfuse_url}"
    if alertmanager(settings):
        yield f"alerts      {settings.alerts.alertmanager_url}"
    yield f"pages       {settings.metrics.listen}"
    yield f"ledger      {settings.ledger.path}"
    if settings.kafka != KafkaSettings():
        require_safe(settings.kafka)
        tls(settings.kafka)
        yield f"kafka       {settings.kafka.protocol} to {', '.join(settings.kafka.bootstrap)}"
    if settings.judge.backend != "none":
        where = settings.judge.url or settings.judge.backend
        yield f"judge       {judge_model(settings.judge).version} at {where}"
    yield f"references  {len(references.by_id)} files by id, {len(references.golden)} golden"
    yield f"tools       {len(chosen.contracts.definitions)} contracts"
    yield f"composition {settings.composition.rule}"
    yield f"evaluator   {chosen.evaluator.version}"


async def _try_sources(settings: Settings, onward: Companion | None) -> None:
    """Build what reads and writes hosted backends, and listen for a moment as the service would.

    On free ports, since the real ones may be in use.
    """

    def free(listen: str | None) -> str | None:
        return listen and f"{listen.rpartition(':')[0]}:0"

    otlp = settings.otlp
    ports = {"listen": free(otlp.listen), "grpc_listen": free(otlp.grpc_listen)}
    trial = settings.model_copy(update={"otlp": otlp.model_copy(update=ports)})
    hosted_receivers(settings)
    score_sinks(settings)
    for receiver in otlp_receivers(trial, None):
        await receiver.start(_refuse_all)
        await receiver.stop()
    if onward:
        await onward.start()
        await onward.stop()


async def _refuse_all(decoded: Decoded, payload_bytes: int) -> None:
    raise Overloaded("this is only a check of the configuration", 1)
