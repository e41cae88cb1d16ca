"""Export, collect and judge over Kafka, as the settings name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from aiokafka import AIOKafkaConsumer

from monitor.chosen import service_redaction
from monitor.config import Settings
from monitor.config.kafka import KafkaSettings
from monitor.errors import ConfigurationError
from monitor.exposition.collector import Collector
from monitor.exposition.judge_families import Judging
from monitor.exposition.live import Groups, LagGauge, Live
from monitor.hosted import hosted_receivers
from monitor.ledger.database import Database
from monitor.ledger.judge_book import JudgeBook
from monitor.ledger.snapshot import Totals
from monitor.roles.kafka.clients import connection, producer, reader
from monitor.roles.kafka.collect import Collecting
from monitor.roles.kafka.contact import Contact
from monitor.roles.kafka.export import Exporter
from monitor.roles.kafka.judging import JudgeRole
from monitor.roles.kafka.lags import GroupLags
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.sending import KafkaSending
from monitor.roles.kafka.serving import Beside, Role
from monitor.roles.kafka.told import Told
from monitor.roles.pages import Pages
from monitor.roles.release_pages import ReleasePages
from monitor.wiring.engines import VERSION, engine
from monitor.wiring.judge import judge_worker
from monitor.wiring.kafka import names_of, plan_of
from monitor.wiring.paging import observing, pager
from monitor.wiring.receivers import edge_counts, forwarder, otlp_receivers

NOTHING = Totals({}, (), (), {}, 0, 0, {})


def export(settings: Settings, *, standby: bool = False) -> tuple[Role, Pages]:
    """The export with its pages. A standby tells nobody of what it reads."""
    if standby:
        settings = _silent(settings)
    given, names = settings.kafka, names_of(settings)
    lag, lags = LagGauge(), _lags(given, names)
    parts = engine(
        settings,
        settings.ledger.path,
        durable=True,
        counts=lambda: {
            **edge_counts(beside),
            **role.counters,
            "fault:sink": parts.engine.sink_failures,
        },
        lag=lag,
        redaction=service_redaction(settings),
        build=Told,
        groups=lambda: Groups(lags.found, role.behind_s if lags.found else None, lags.age_s),
    )
    told = pager(settings, parts)
    beside = [each for each in (parts.label_reader, told) if each is not None]
    role = Exporter(
        given,
        names,
        parts.engine,
        parts.close,
        group=f"{names.export}.standby" if standby else names.export,
        lag=observing(lag, told),
    )
    running = Beside(role, beside, lags)
    token = settings.metrics.token
    pages = Pages(
        settings.metrics.listen,
        parts.render,
        parts.status,
        running.fault,
        running.unready,
        insecure=settings.metrics.insecure,
        routes=ReleasePages(
            parts.engine,
            parts.engine.orders.ask,
            None if token is None else token.get_secret_value(),
        ).routes(),
    )
    return running, pages


def collect(settings: Settings, say: Callable[[str], None]) -> tuple[Role, Pages]:
    """Receivers and pollers, with their pages."""
    given, names = settings.kafka, names_of(settings)
    sender = producer(given)
    sending = KafkaSending(sender, lambda: reader(given), names, given.send_s)
    onward = forwarder(settings)
    receivers = [*otlp_receivers(settings, onward), *hosted_receivers(settings)]
    redaction = service_redaction(settings)
    beside = [onward] if onward else []
    role = Collecting(
        plan_of(settings),
        sending,
        receivers,
        beside,
        settings.limits.in_flight_bytes,
        redaction.spans if redaction else list,
        say=say,
    )

    def counts() -> Mapping[str, int]:
        redacted = redaction.counters if redaction else {}
        return {
            **edge_counts([*receivers, *beside]),
            **role.counters,
            **{f"redacted:{kind}": count for kind, count in redacted.items()},
        }

    contact = Contact(given, [names.traces, names.reports], sender, sending, role.probe)
    running = Beside(role, [], contact)
    return running, _pages(settings, running, lambda: Live(counts=dict(counts()), version=VERSION))


def judge(settings: Settings) -> tuple[Role, Pages]:
    """The judge over its topics. Raises ConfigurationError."""
    if settings.judge.backend == "none":
        raise ConfigurationError("`judge.backend` is none: name what is to judge")
    given, names = settings.kafka, names_of(settings)
    database = Database.open(settings.ledger.path)
    keep_s = settings.conversation.late_s + settings.ledger.retain_s
    book = JudgeBook(database, settings.judge.queue, settings.judge.answers, keep_s)
    consumer = AIOKafkaConsumer(
        names.cases,
        **connection(given),
        group_id=names.judge,
        group_instance_id=given.instance,
        enable_auto_commit=False,
        auto_offset_reset="none",  # what is gone must not be passed over in silence
    )
    sender = producer(given)
    sending = KafkaSending(sender, lambda: reader(given), names, given.send_s)
    role = JudgeRole(names, database, book, consumer, sending, given.record_bytes)
    worker = role.worker = judge_worker(settings.judge, book, role.settle, lambda _: False)

    def live() -> Live:
        judging = Judging(
            dict(worker.counters), {}, worker.left_usd(), role.waiting, worker.circuit_open
        )
        return Live(counts=dict(role.counters), judging=judging, version=VERSION)

    contact = Contact(given, [names.cases, names.conversations], sender, sending)
    running = Beside(role, [], contact)
    return running, _pages(settings, running, live)


def _pages(settings: Settings, role: Beside, live: Callable[[], Live]) -> Pages:
    """Health and metrics of a role that has no ledger."""
    return Pages(
        settings.kafka.worker_listen,
        Collector(lambda: NOTHING, live).render,
        lambda: b"see /metrics\n",
        role.fault,
        role.unready,
        insecure=settings.metrics.insecure,
    )


def _silent(settings: Settings) -> Settings:
    return settings.model_copy(
        update={
            "sinks": settings.sinks.model_copy(update={"jsonl": None}),
            "langfuse": settings.langfuse.model_copy(update={"scores": False}),
            "alerts": settings.alerts.model_copy(update={"alertmanager_url": None}),
        }
    )


def _lags(given: KafkaSettings, names: Names) -> GroupLags:
    groups = {
        names.workers: [names.source, names.traces, names.conversations],
        names.export: [names.reports],
        names.judge: [names.cases],
    }
    return GroupLags(given, groups, [names.reports], [names.judge])
