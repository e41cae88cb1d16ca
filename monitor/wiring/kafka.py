"""The roles apart, as the settings name them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from monitor.chosen import evaluation, service_redaction
from monitor.config import Settings
from monitor.pipeline import PipelineLimits
from monitor.ports import Redaction
from monitor.roles.kafka.clients import producer, reader
from monitor.roles.kafka.contact import Contact
from monitor.roles.kafka.drawing import Drawing
from monitor.roles.kafka.failpoints import Failpoints
from monitor.roles.kafka.lane import Lane
from monitor.roles.kafka.names import Names
from monitor.roles.kafka.sending import KafkaSending
from monitor.roles.kafka.serving import Beside, Role
from monitor.roles.kafka.stages import ConverseStage, DecodeStage, GatherStage, Plan, Stage
from monitor.roles.kafka.state import PartitionState
from monitor.roles.kafka.topics import wanted
from monitor.roles.kafka.worker import Worker
from monitor.roles.kafka.worker_metrics import WorkerMetrics
from monitor.roles.pages import Pages
from monitor.wiring.comparing import compared
from monitor.wiring.decoders import trace_decoder
from monitor.wiring.engines import pipeline_limits
from monitor.wiring.judge import sampler_of

CACHE_BYTES = 2 * 1024 * 1024
"""Of decoded conversations, at least, for each partition."""


def names_of(settings: Settings) -> Names:
    """The topics and groups."""
    return Names(settings.kafka.source, settings.kafka.prefix)


def plan_of(settings: Settings) -> Plan:
    """What stages are told of the topics."""
    given = settings.kafka
    return Plan(names_of(settings), given.partitions, given.record_bytes)


def worker(settings: Settings) -> tuple[Role, Pages]:
    """The score role with its pages. Raises ConfigurationError."""
    given, names, plan = settings.kafka, names_of(settings), plan_of(settings)
    sender = producer(given)
    sending = KafkaSending(sender, lambda: reader(given), names, given.session_s * 2)
    needed = [topic.name for topic in wanted(given)]
    contact = Contact(given, needed, sender, sending)
    failpoints = Failpoints()
    redaction = service_redaction(settings)
    build = _stages(settings, plan, redaction)

    def lanes(topic: str) -> Callable[[int], Lane]:
        def lane(partition: int) -> Lane:
            return Lane(
                topic,
                partition,
                _short(names)[topic],
                lambda state: build[topic](partition, state),
                sending,
                names,
                partitions=given.partitions,
                record_bytes=given.record_bytes,
                stateful=topic != names.source,
                keep_payloads=given.dead_letter_payloads,
                failpoints=failpoints,
                held_up_s=given.session_s / 2,
                after_source=lambda: found.app.consumer.commit(),
            )

        return lane

    stateful = (names.traces, names.conversations)
    found = Worker(
        given,
        names.workers,
        sending,
        {topic: lanes(topic) for topic in (names.source, *stateful)},
        stateful,
    )
    metrics = WorkerMetrics(found, lambda: redaction.counters if redaction else {})
    role = Beside(found, [], contact)
    return role, _pages(settings, role, metrics)


def _short(names: Names) -> dict[str, str]:
    """What origins call the inputs."""
    return {names.source: "s", names.traces: "t", names.conversations: "c"}


def _stages(
    settings: Settings, plan: Plan, redaction: Redaction | None
) -> dict[str, Callable[[int, PartitionState], Stage]]:
    chosen = evaluation(settings, redaction)
    evaluate, _ = compared(settings, chosen)
    decoder, limits = trace_decoder(settings), apart(settings)
    names = plan.names

    def drawing(state: PartitionState) -> Drawing | None:
        if settings.judge.backend == "none":
            return None
        keep_s = limits.idle_s + limits.late_s + limits.remember_s
        sampler = sampler_of(settings.judge)
        return Drawing(evaluate, sampler, state, keep_s, chosen.evaluator.reference)

    return {
        names.source: lambda _, __: DecodeStage(
            plan, decoder, redaction.spans if redaction else list
        ),
        names.traces: lambda _, state: GatherStage(plan, state, limits),
        names.conversations: lambda partition, state: ConverseStage(
            plan, partition, state, limits, evaluate, drawing(state)
        ),
    }


def apart(settings: Settings) -> PipelineLimits:
    """The pipeline's limits for one of several partitions."""
    limits = pipeline_limits(settings)
    share = max(CACHE_BYTES, limits.cache_bytes // settings.kafka.partitions)
    return msgspec.structs.replace(limits, keep_turns=False, cache_bytes=share)


def _pages(settings: Settings, running: Beside, metrics: WorkerMetrics) -> Pages:
    """Health and metrics of a worker."""
    return Pages(
        settings.kafka.worker_listen,
        metrics.render,
        lambda: b"see /metrics\n",
        running.fault,
        running.unready,
        insecure=settings.metrics.insecure,
    )
