"""The parts of this package from plain settings, for hosts that know no class of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime
from typing import Any

from adapters.langfuse.address import BASE_URL, HOST, keys_from
from adapters.langfuse.backfill import Progress, backfill
from adapters.langfuse.blob import BlobExport
from adapters.langfuse.blob_receiver import INTERVAL_S, LangfuseBlobReceiver
from adapters.langfuse.client import Clock, LangfuseClient, Notice, Sleeper
from adapters.langfuse.labels import HumanLabel as Annotation
from adapters.langfuse.labels import human_labels
from adapters.langfuse.opinions import human_opinions
from adapters.langfuse.poller import Keep, LangfusePoller, PollTimes
from adapters.langfuse.score_sink import LangfuseScoreSink
from adapters.langfuse.scores import ScoreWriter
from monitor.errors import ConfigurationError
from monitor.ports import Accept
from monitor.verdict import HumanLabel, LabelledMetric


def client(
    url: str | None, variables: Mapping[str, str], *, clock: Clock, **options: Any
) -> LangfuseClient:
    """A client of the server at `url`, else at LANGFUSE_BASE_URL or LANGFUSE_HOST.

    The keys are LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY among the `variables`; `options` are
    those of LangfuseClient. Raises ConfigurationError that names what is missing.
    """
    address = url or variables.get(BASE_URL) or variables.get(HOST)
    if not address:
        raise ConfigurationError(
            f"no Langfuse address is configured; the operator must set `url` or {BASE_URL}"
        )
    return LangfuseClient(address, *keys_from(variables), clock=clock, **options)


def poller(
    url: str | None,
    variables: Mapping[str, str],
    *,
    clock: Clock,
    keep: Keep,
    position: bytes | None = None,
    insecure: bool = False,
    environment: str | None = None,
    times: Mapping[str, float] | None = None,
    conversation_attribute: str | None = None,
    release_attribute: str | None = None,
    sleep: Sleeper = asyncio.sleep,
) -> LangfusePoller:
    """The poller; `times` are fields of PollTimes. Raises ConfigurationError."""
    return LangfusePoller(
        client(url, variables, clock=clock, insecure=insecure, sleep=sleep),
        clock=clock,
        keep=keep,
        position=position,
        times=_times(times or {}),
        environment=environment,
        conversation_attribute=conversation_attribute,
        release_attribute=release_attribute,
        sleep=sleep,
    )


def _times(told: Mapping[str, float]) -> PollTimes:
    unknown = set(told) - set(PollTimes.__struct_fields__)
    if unknown or any(value <= 0 for value in told.values()):
        raise ConfigurationError(
            f"times of the Langfuse poller are positive, and are named "
            f"{', '.join(PollTimes.__struct_fields__)}; the operator must mend them"
        )
    given: dict[str, Any] = dict(told)
    if "sweep_every" in given:
        given["sweep_every"] = int(given["sweep_every"])
    return PollTimes(**given)


def blob_receiver(
    bucket: str,
    project_id: str,
    *,
    keep: Keep,
    prefix: str = "",
    position: bytes | None = None,
    interval_s: float = INTERVAL_S,
    region: str | None = None,
    endpoint_url: str | None = None,
    conversation_attribute: str | None = None,
    release_attribute: str | None = None,
    sleep: Sleeper = asyncio.sleep,
) -> LangfuseBlobReceiver:
    """The reader of exports in S3, with boto3's usual credentials. Raises ConfigurationError."""
    export = BlobExport(_store(region, endpoint_url), bucket, project_id, prefix, position=position)
    return LangfuseBlobReceiver(
        export,
        keep=keep,
        interval_s=interval_s,
        conversation_attribute=conversation_attribute,
        release_attribute=release_attribute,
        sleep=sleep,
    )


def _store(region: str | None, endpoint_url: str | None) -> Any:
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError
    except ImportError as error:
        raise ConfigurationError(
            "exports in object storage need the extra `aws`; the operator must install it"
        ) from error
    patience = Config(connect_timeout=10, read_timeout=60, retries={"max_attempts": 3})
    try:
        return boto3.client("s3", region_name=region, endpoint_url=endpoint_url, config=patience)
    except (BotoCoreError, ValueError) as error:
        raise ConfigurationError(
            f"object storage cannot be used ({type(error).__name__}); the operator must check "
            "its region and address"
        ) from error


def score_sink(
    url: str | None,
    variables: Mapping[str, str],
    *,
    clock: Clock,
    insecure: bool = False,
    environment: str = "default",
    uuid_ids: bool = False,
    write_s: float = 2.0,
) -> LangfuseScoreSink:
    """The sink of scores. Raises ConfigurationError."""
    return LangfuseScoreSink(
        client(url, variables, clock=clock, insecure=insecure, attempts=1, timeout_s=write_s),
        ScoreWriter(environment, uuid_ids=uuid_ids),
        clock=clock,
        write_s=write_s,
    )


async def read_past(
    url: str | None,
    variables: Mapping[str, str],
    accept: Accept,
    start: datetime,
    end: datetime,
    *,
    clock: Clock,
    progress: Callable[[Progress], None] = lambda _: None,
    notice: Notice = lambda _: None,
    insecure: bool = False,
    **options: Any,
) -> Progress:
    """A backfill with a client of its own; `options` are those of `backfill`.

    `notice` is told what a person who waits should know, see LangfuseClient.
    """
    found = client(url, variables, clock=clock, insecure=insecure, notice=notice)
    try:
        return await backfill(found, accept, start, end, progress=progress, **options)
    finally:
        await found.close()


async def read_labels(
    url: str | None,
    variables: Mapping[str, str],
    *,
    clock: Clock,
    insecure: bool = False,
    **options: Any,
) -> AsyncIterator[Annotation]:
    """What people said, with a client of its own; `options` are those of `human_labels`.

    Give the service's own `redaction` among them, or ids are not those of its reports.
    """
    found = client(url, variables, clock=clock, insecure=insecure)
    try:
        async for label in human_labels(found, **options):
            yield label
    finally:
        await found.close()


async def read_opinions(
    url: str | None,
    variables: Mapping[str, str],
    sub_metrics: Mapping[str, LabelledMetric],
    *,
    clock: Clock,
    insecure: bool = False,
    **options: Any,
) -> AsyncIterator[HumanLabel]:
    """What people said of verdicts, with a client of its own; see `human_opinions`.

    Give the service's own `redaction` among the `options`, or ids are not those of its reports.
    """
    found = client(url, variables, clock=clock, insecure=insecure)
    try:
        async for label in human_opinions(found, sub_metrics, **options):
            yield label
    finally:
        await found.close()
